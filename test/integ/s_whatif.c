/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training loop whose parts take what is asked for:
 *
 *	s_whatif [NAME=VALUE]...
 *
 *	loader_ms   what a batch takes in the loader's worker; the loop waits for it
 *	host_us     what each operator takes on the host before it launches its kernel
 *	kernels     how many kernels a step launches; SIM_KERNEL_NS is what each takes
 *	copy        blocking: COPY_BYTES of pageable memory by cudaMemcpy before the forward pass;
 *	            overlapped: the same of pinned memory on another stream; else none
 *	sync        1: the loop waits for its stream after the forward pass
 *	graph       1: the kernels are one CUDA graph, one operator launches it
 *	optimizer   none: no optimizer steps
 *	update      1: each step ends with update_kernel, of the optimizer if there is one
 *	steps       how many of them; 20
 *	rank        of so many ranks, which reduce their gradients after the kernels
 *
 * Each step begins with cudaStreamQuery. Prints the lower quartile of the times from one to the
 * next, ns, since a busy machine only makes steps longer; of ranks the first one does. The first
 * steps are not counted.
 */
#include "test/integ/training.h"
#include "test/prog/ranks.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { MOST_STEPS = 200, WARM_UP = 8, N = 1024, COPY_BYTES = 4 << 20 };

KERNEL2(work_kernel, float *, x, int, by)
{
	if (index == 0) {
		x[0] += (float)by;
	}
}

KERNEL2(update_kernel, float *, x, int, by)
{
	if (index == 0) {
		x[0] += (float)by;
	}
}

struct loop {
	int loader_ms, host_us, nr_kernels, nr_ranks, nr_steps;
	bool has_sync, is_graph, has_update, lacks_optimizer;
	char copy[16];
	cudaStream_t stream, copies;
	cudaGraphExec_t graph;
	float *data, *all;
	char *from, *to;
	nccl_comm comm;
	int rank;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sleep_us(int us)
{
	struct timespec t = {us / 1000000, us % 1000000 * 1000L};

	if (us) {
		nanosleep(&t, NULL);
	}
}

static void make_batch(void *context)
{
	sleep_us(((const struct loop *)context)->loader_ms * 1000);
}

static void launch(struct loop *loop)
{
	int by = 1;

	LAUNCH(work_kernel, 1, 1, loop->stream, &loop->data, &by);
}

static void launch_half(struct loop *loop)
{
	for (int i = 0; i < loop->nr_kernels / 2; i++) {
		sleep_us(loop->host_us);
		launch(loop);
	}
}

static void forward(void *context)
{
	struct loop *loop = context;

	if (loop->is_graph) {
		CHECK(cudaGraphLaunch(loop->graph, loop->stream));
	} else {
		launch_half(loop);
	}
	if (loop->has_sync) {
		CHECK(cudaStreamSynchronize(loop->stream));
	}
}

static void backward(void *context)
{
	struct loop *loop = context;

	if (!loop->is_graph) {
		launch_half(loop);
	}
	if (loop->comm) {
		NCCL(ncclAllReduce(
			loop->data, loop->all, N, TYPE_FLOAT, OP_SUM, loop->comm, loop->stream));
	}
}

static void update(void *context)
{
	struct loop *loop = context;
	int by = 1;

	if (loop->has_update) {
		LAUNCH(update_kernel, 1, 1, loop->stream, &loop->data, &by);
	}
}

static void copy(struct loop *loop)
{
	if (strcmp(loop->copy, "blocking") == 0) {
		CHECK(cudaMemcpy(loop->to, loop->from, COPY_BYTES, cudaMemcpyHostToDevice));
	} else if (strcmp(loop->copy, "overlapped") == 0) {
		CHECK(cudaMemcpyAsync(
			loop->to, loop->from, COPY_BYTES, cudaMemcpyHostToDevice, loop->copies));
	}
}

static void step(struct loop *loop)
{
	(void)cudaStreamQuery(loop->stream);
	if (loop->loader_ms) {
		training_run(TRAINING_LOADER, NULL, NULL);
	}
	copy(loop);
	training_run(TRAINING_FORWARD, forward, loop);
	training_run(TRAINING_BACKWARD, backward, loop);
	if (loop->lacks_optimizer) {
		update(loop);
	} else {
		training_run(TRAINING_OPTIMIZER, update, loop);
	}
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void run(struct loop *loop)
{
	uint64_t begins[MOST_STEPS], times[MOST_STEPS];
	cudaEvent_t ends[MOST_STEPS];
	int nr = loop->nr_steps;

	for (int i = 0; i < nr; i++) {
		CHECK(cudaEventCreate(&ends[i]));
	}
	for (int i = 0; i < nr; i++) {
		step(loop);
		CHECK(cudaEventRecord(ends[i], loop->stream));
		/* The host is at most two steps ahead. */
		if (i >= 2) {
			CHECK(cudaEventSynchronize(ends[i - 2]));
		}
		begins[i] = now_ns();
	}
	CHECK(cudaStreamSynchronize(loop->stream));
	for (int i = WARM_UP; i < nr; i++) {
		times[i - WARM_UP] = begins[i] - begins[i - 1];
	}
	qsort(times, (size_t)(nr - WARM_UP), sizeof(*times), by_value);
	if (loop->rank == 0) {
		printf("%llu\n", (unsigned long long)times[(nr - WARM_UP) / 4]);
	}
	for (int i = 0; i < nr; i++) {
		CHECK(cudaEventDestroy(ends[i]));
	}
}

static void capture(struct loop *loop)
{
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(loop->stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < loop->nr_kernels; i++) {
		launch(loop);
	}
	CHECK(cudaStreamEndCapture(loop->stream, &graph));
	CHECK(cudaGraphInstantiateWithFlags(&loop->graph, graph, 0));
	CHECK(cudaGraphDestroy(graph));
}

static void take(struct loop *loop, const char *argument)
{
	const char *value = strchr(argument, '=');
	const struct {
		const char *name;
		int *number;
	} numbers[] = {{"loader_ms", &loop->loader_ms}, {"host_us", &loop->host_us},
		{"kernels", &loop->nr_kernels}, {"ranks", &loop->nr_ranks},
		{"steps", &loop->nr_steps}};

	if (!value) {
		exit(2);
	}
	loop->has_update |= strcmp(argument, "update=1") == 0;
	loop->lacks_optimizer |= strcmp(argument, "optimizer=none") == 0;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (strncmp(argument, numbers[i].name, (size_t)(value - argument)) == 0) {
			*numbers[i].number = atoi(value + 1);
		}
	}
	if (loop->nr_steps <= WARM_UP || loop->nr_steps > MOST_STEPS) {
		exit(2);
	}
	loop->has_sync |= strcmp(argument, "sync=1") == 0;
	loop->is_graph |= strcmp(argument, "graph=1") == 0;
	if (strncmp(argument, "copy=", 5) == 0) {
		snprintf(loop->copy, sizeof(loop->copy), "%s", value + 1);
	}
}

/* The arguments as one, which ranks are given. */
static void take_all(struct loop *loop, const char *how)
{
	char text[256], *rest = text;

	snprintf(text, sizeof(text), "%s", how);
	for (char *argument; (argument = strsep(&rest, " "));) {
		take(loop, argument);
	}
}

static void train(struct loop *loop)
{
	training_open("loader");
	if (loop->loader_ms) {
		training_start_worker(make_batch, loop);
	}
	CHECK(cudaStreamCreateWithFlags(&loop->stream, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&loop->copies, cudaStreamNonBlocking));
	CHECK(cudaMalloc((void **)&loop->data, N * sizeof(float)));
	CHECK(cudaMalloc((void **)&loop->all, N * sizeof(float)));
	CHECK(cudaMalloc((void **)&loop->to, COPY_BYTES));
	if (strcmp(loop->copy, "overlapped") == 0) {
		CHECK(cudaMallocHost((void **)&loop->from, COPY_BYTES));
	} else {
		loop->from = calloc(1, COPY_BYTES);
	}
	if (loop->is_graph) {
		capture(loop);
	}
	run(loop);
	if (loop->loader_ms) {
		training_stop_worker();
	}
}

/* SLOW_NS is what kernels of rank 1 take instead. */
static void prepare(const char *how, int rank)
{
	(void)how;
	if (rank == 1 && getenv("SLOW_NS")) {
		setenv("SIM_KERNEL_NS", getenv("SLOW_NS"), 1);
	}
}

int main(int argc, char **argv)
{
	struct loop loop = {.nr_kernels = 20, .nr_steps = 20};
	bool is_rank = argc == 5 && strchr(argv[1], '=') && !strchr(argv[4], '=');

	take_all(&loop, argc > 1 ? argv[1] : "kernels=20");
	if (is_rank) {
		loop.rank = atoi(argv[2]);
		loop.comm = ranks_join(loop.rank, atoi(argv[3]), atoi(argv[4]));
	} else if (loop.nr_ranks) {
		return ranks_start(argv[0], loop.nr_ranks, argv[1], prepare);
	}
	train(&loop);
	if (loop.comm) {
		NCCL(ncclCommDestroy(loop.comm));
	}
	return 0;
}
