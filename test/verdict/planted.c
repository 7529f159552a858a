/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training loop with one trouble:
 *
 *	planted CAUSE [STEPS]
 *
 *	sync      waits for the device after each kernel
 *	handover  the same in two threads that take turns, outside of every operator
 *	readback  reads four bytes back after every few kernels
 *	alloc     allocates and frees around every few kernels; planted_slow.c makes that take long
 *	small     launches many kernels, each after a little work in its operator
 *	upload    copies pageable memory to the device before the kernels of a step
 *	code      computes something outside of every operator
 *	lock      takes a lock there that another thread has for 30 ms
 *	none      none of these: the queue is full all the time
 *
 * SIM_KERNEL_NS is what a kernel takes. Each step begins with cudaStreamQuery, and so the last one
 * ends. Work of the host spins for the time that is asked for, so a busy machine can only make it
 * longer.
 */
#include "test/integ/training.h"
#include "test/prog/prog.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <time.h>

enum { STEPS = 16, MOST_STEPS = 64, N = 1024, UPLOAD_BYTES = 64 << 20 };

/* Without a version for the CPU, so that its begin depends on no thread of the simulator. */
static void work_kernel(void)
{
}

__attribute__((constructor(200))) static void register_kernel(void)
{
	static char name[] = "_Z11work_kernelPfi";

	__cudaRegisterFunction(__cudaRegisterFatBinary(NULL), (const char *)work_kernel, name, name,
		-1, NULL, NULL, NULL, NULL, NULL);
}

struct loop {
	const char *cause;
	int nr_steps;
	pthread_t other;
	sem_t go, done; /* its turn; ours */
	pthread_mutex_t lock;
	cudaStream_t stream;
	float *data;
	char *from, *to;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void spin_us(uint64_t us)
{
	uint64_t end = now_ns() + us * 1000;

	while (now_ns() < end) {
	}
}

static void launch(struct loop *loop, int nr, uint64_t work_us)
{
	int by = 1;

	for (int i = 0; i < nr; i++) {
		spin_us(work_us);
		LAUNCH(work_kernel, 1, 1, loop->stream, &loop->data, &by);
	}
}

static void sync_each(void *context)
{
	struct loop *loop = context;

	for (int i = 0; i < 20; i++) {
		launch(loop, 1, 200);
		CHECK(cudaDeviceSynchronize());
	}
}

static void take_turn(struct loop *loop)
{
	launch(loop, 1, 200);
	CHECK(cudaDeviceSynchronize());
}

static void *take_turns(void *context)
{
	struct loop *loop = context;

	while (sem_wait(&loop->go) == 0) {
		take_turn(loop);
		sem_post(&loop->done);
	}
	return NULL;
}

/* Once. */
static void begin_other(struct loop *loop, void *(*other)(void *loop))
{
	if (!loop->other) {
		sem_init(&loop->go, 0, 0);
		sem_init(&loop->done, 0, 0);
		pthread_mutex_init(&loop->lock, NULL);
		pthread_create(&loop->other, NULL, other, loop);
	}
}

static void hand_over(void *context)
{
	struct loop *loop = context;

	begin_other(loop, take_turns);
	for (int i = 0; i < 10; i++) {
		take_turn(loop);
		sem_post(&loop->go);
		sem_wait(&loop->done);
	}
}

static void *hold_lock(void *context)
{
	struct loop *loop = context;
	const struct timespec for_30_ms = {.tv_nsec = 30000000};

	pthread_setname_np(pthread_self(), "writer");
	while (sem_wait(&loop->go) == 0) {
		pthread_mutex_lock(&loop->lock);
		sem_post(&loop->done);
		nanosleep(&for_30_ms, NULL);
		pthread_mutex_unlock(&loop->lock);
	}
	return NULL;
}

static void take_lock(void *context)
{
	struct loop *loop = context;

	begin_other(loop, hold_lock);
	sem_post(&loop->go);
	sem_wait(&loop->done);
	pthread_mutex_lock(&loop->lock);
	pthread_mutex_unlock(&loop->lock);
}

static void compute(void *context)
{
	(void)context;
	spin_us(30000);
}

static void do_nothing(void *context)
{
	(void)context;
}

static void read_back(void *context)
{
	struct loop *loop = context;
	float loss;

	for (int i = 0; i < 10; i++) {
		launch(loop, 2, 200);
		CHECK(cudaMemcpyAsync(
			&loss, loop->data, sizeof(loss), cudaMemcpyDeviceToHost, loop->stream));
	}
}

static void allocate(void *context)
{
	struct loop *loop = context;
	void *memory;

	for (int i = 0; i < 5; i++) {
		CHECK(cudaMalloc(&memory, N));
		launch(loop, 4, 0);
		CHECK(cudaFree(memory));
	}
}

static void launch_small(void *context)
{
	launch(context, 1000, 10);
}

static void upload(void *context)
{
	struct loop *loop = context;

	CHECK(cudaMemcpy(loop->to, loop->from, UPLOAD_BYTES, cudaMemcpyHostToDevice));
	launch(loop, 10, 0);
}

static void launch_some(void *context)
{
	launch(context, 20, 0);
}

static const struct {
	const char *cause;
	void (*outside)(void *loop); /* of every operator */
	void (*forward)(void *loop);
} troubles[] = {
	{"sync", do_nothing, sync_each},
	{"handover", hand_over, do_nothing},
	{"readback", do_nothing, read_back},
	{"alloc", do_nothing, allocate},
	{"small", do_nothing, launch_small},
	{"upload", do_nothing, upload},
	{"code", compute, launch_some},
	{"lock", take_lock, launch_some},
	{"none", do_nothing, launch_some},
};

static void run(struct loop *loop, void (*outside)(void *loop), void (*forward)(void *loop))
{
	cudaEvent_t ends[MOST_STEPS];

	for (int i = 0; i < loop->nr_steps; i++) {
		CHECK(cudaEventCreate(&ends[i]));
	}
	for (int i = 0; i < loop->nr_steps; i++) {
		(void)cudaStreamQuery(loop->stream);
		outside(loop);
		training_run(TRAINING_FORWARD, forward, loop);
		CHECK(cudaEventRecord(ends[i], loop->stream));
		/* The host is at most two steps ahead. */
		if (i >= 2) {
			CHECK(cudaEventSynchronize(ends[i - 2]));
		}
	}
	(void)cudaStreamQuery(loop->stream);
	CHECK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
	static struct loop loop; /* a thread of it may outlive main */

	loop.cause = argc > 1 ? argv[1] : "none";
	loop.nr_steps = argc > 2 ? atoi(argv[2]) : STEPS;
	if (loop.nr_steps < 1 || loop.nr_steps > MOST_STEPS) {
		fprintf(stderr, "steps: 1 to %d\n", MOST_STEPS);
		return 2;
	}
	training_open("forward");
	CHECK(cudaStreamCreateWithFlags(&loop.stream, cudaStreamNonBlocking));
	CHECK(cudaMalloc((void **)&loop.data, N * sizeof(float)));
	if (strcmp(loop.cause, "upload") == 0) {
		CHECK(cudaMalloc((void **)&loop.to, UPLOAD_BYTES));
		loop.from = calloc(1, UPLOAD_BYTES);
	}
	for (size_t i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++) {
		if (strcmp(loop.cause, troubles[i].cause) == 0) {
			run(&loop, troubles[i].outside, troubles[i].forward);
			return 0;
		}
	}
	fprintf(stderr, "no such cause: %s\n", loop.cause);
	return 2;
}
