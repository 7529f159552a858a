/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job of 8 processes of which one is slow:
 *
 *	s_ranks PATTERN-CAUSE[-PART] [PROGRAM]
 *
 * PATTERN is what a step's ranks do together: `data` (AllReduce), `pipeline` (forward along the
 * ranks, and back), `experts` (AlltoAll). CAUSE is why the slow rank is: `host` sleeps before it
 * launches, `kernels` and `copies` take longer, `clock` has kernels at a lower one. With `network`
 * no rank is slow, but what two of them send each other is (`pipeline`), or from a step on what all
 * do together is. With PART (`loader`, `forward`, `backward`, `optimizer`) the ranks train as
 * programs of PyTorch do, see training.h, and wait for their devices at the end of a step alone;
 * it is the part that this happens in. PROGRAM is started for each rank in the place of this one,
 * which it starts. STEPS is how many (5). Each rank prints the times before
 * and after the launch of its own work in each step, in ns of CLOCK_REALTIME as the system has it,
 * and when it met which rank (-1: all), in us of that clock by events of CUDA: these tell when the
 * device got there, however busy the host is:
 *
 *	RANK STEP BEFORE AFTER
 *	send|receive|all RANK STEP PEER BEGIN END
 */
#include "test/integ/training.h"
#include "test/prog/ranks.h"

#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>

enum { NR = 8, SLOW = 5, N = 1024, BLOCKS = 400000, COPY_BYTES = 20 << 20 };
enum { SLEEP_MS = 500, SLOW_NETWORK_STEP = 3, MOST_MEETINGS = 4, NEAR_US = 1000 };

/* 500 ms for N floats, and 1.5 s. */
#define GBPS	  "0.000008192"
#define SLOW_GBPS "0.000002731"

KERNEL2(work_kernel, float *, x, int, by)
{
	if (index == 0) {
		x[0] += (float)by;
	}
}

/* What it does with others, between two events. */
struct meeting {
	const char *what;
	int peer;
	cudaEvent_t begin, end;
};

struct job {
	nccl_comm comm;
	cudaStream_t stream;
	float *data, *all;
	char *from, *to;
	int rank, step;
	char pattern[16], cause[16];
	bool is_training;
	enum training_part part;  /* where its own work is */
	long before_ns, after_ns; /* the launch of its own work */
	struct meeting meetings[MOST_MEETINGS];
	int nr_meetings; /* in the step */
	cudaEvent_t base;
	long base_us; /* its time */
};

static long system_ns(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_if_slow(const struct job *job)
{
	if (job->rank == SLOW && strcmp(job->cause, "host") == 0) {
		struct timespec t = {0, SLEEP_MS * 1000000};

		nanosleep(&t, NULL);
	}
}

/* In the worker of the loader. */
static void make_batch(void *context)
{
	const struct job *job = context;

	if (job->part == TRAINING_LOADER) {
		sleep_if_slow(job);
	}
}

static void launch(struct job *job, int blocks)
{
	int by = 1;

	LAUNCH(work_kernel, blocks, 1, job->stream, &job->data, &by);
}

static void work(struct job *job)
{
	sleep_if_slow(job);
	job->before_ns = system_ns();
	if (strcmp(job->cause, "copies") == 0) {
		CHECK(cudaMemcpyAsync(
			job->to, job->from, COPY_BYTES, cudaMemcpyHostToDevice, job->stream));
	} else {
		launch(job, BLOCKS);
	}
	job->after_ns = system_ns();
	if (!job->is_training) {
		CHECK(cudaStreamSynchronize(job->stream));
	}
}

/* What is not its own work is short. */
static void work_in(struct job *job, enum training_part part)
{
	if (part == job->part) {
		work(job);
	} else if (job->is_training) {
		launch(job, 1);
	}
}

/* ---- meetings ---- */

static void begin_meeting(struct job *job, const char *what, int peer)
{
	struct meeting *meeting = &job->meetings[job->nr_meetings];

	meeting->what = what;
	meeting->peer = peer;
	CHECK(cudaEventRecord(meeting->begin, job->stream));
}

/* Waits until it is through, but in a training. */
static void end_meeting(struct job *job)
{
	CHECK(cudaEventRecord(job->meetings[job->nr_meetings++].end, job->stream));
	if (!job->is_training) {
		CHECK(cudaStreamSynchronize(job->stream));
	}
}

static void receive_of(struct job *job, int peer)
{
	if (peer >= 0 && peer < NR) {
		begin_meeting(job, "receive", peer);
		NCCL(ncclRecv(job->all, N, TYPE_FLOAT, peer, job->comm, job->stream));
		end_meeting(job);
	}
}

static void send_to(struct job *job, int peer)
{
	if (peer >= 0 && peer < NR) {
		begin_meeting(job, "send", peer);
		NCCL(ncclSend(job->data, N, TYPE_FLOAT, peer, job->comm, job->stream));
		end_meeting(job);
	}
}

static void meet_all(struct job *job, bool is_reducing)
{
	begin_meeting(job, "all", -1);
	if (is_reducing) {
		NCCL(ncclAllReduce(
			job->data, job->all, N, TYPE_FLOAT, OP_SUM, job->comm, job->stream));
	} else {
		NCCL(ncclAlltoAll(job->data, job->all, N / NR, TYPE_FLOAT, job->comm, job->stream));
	}
	end_meeting(job);
}

/* Of an event that is over. */
static long time_us(const struct job *job, cudaEvent_t event)
{
	float ms;

	CHECK(cudaEventElapsedTime(&ms, job->base, event));
	return job->base_us + (long)(ms * 1000);
}

static void print_step(struct job *job)
{
	printf("%d %d %ld %ld\n", job->rank, job->step, job->before_ns, job->after_ns);
	for (int i = 0; i < job->nr_meetings; i++) {
		const struct meeting *meeting = &job->meetings[i];

		printf("%s %d %d %d %ld %ld\n", meeting->what, job->rank, job->step, meeting->peer,
			time_us(job, meeting->begin), time_us(job, meeting->end));
	}
	job->nr_meetings = 0;
}

/* Again where something came between the two looks at the clock. */
static void make_events(struct job *job)
{
	long before_us, after_us;

	for (int i = 0; i < MOST_MEETINGS; i++) {
		CHECK(cudaEventCreate(&job->meetings[i].begin));
		CHECK(cudaEventCreate(&job->meetings[i].end));
	}
	CHECK(cudaEventCreate(&job->base));
	do {
		before_us = system_ns() / 1000;
		CHECK(cudaEventRecord(job->base, job->stream));
		after_us = system_ns() / 1000;
		CHECK(cudaStreamSynchronize(job->stream));
	} while (after_us - before_us > NEAR_US);
	job->base_us = (before_us + after_us) / 2;
}

static void destroy_events(struct job *job)
{
	for (int i = 0; i < MOST_MEETINGS; i++) {
		CHECK(cudaEventDestroy(job->meetings[i].begin));
		CHECK(cudaEventDestroy(job->meetings[i].end));
	}
	CHECK(cudaEventDestroy(job->base));
}

/* ---- steps ---- */

static void forward(void *context)
{
	struct job *job = context;
	bool is_pipeline = *job->pattern == 'p';

	if (is_pipeline) {
		receive_of(job, job->rank - 1);
	}
	work_in(job, TRAINING_FORWARD);
	if (is_pipeline) {
		send_to(job, job->rank + 1);
	} else if (*job->pattern == 'e') {
		meet_all(job, false);
	}
}

static void backward(void *context)
{
	struct job *job = context;
	bool is_pipeline = *job->pattern == 'p';

	if (is_pipeline) {
		receive_of(job, job->rank + 1);
	}
	work_in(job, TRAINING_BACKWARD);
	if (is_pipeline) {
		send_to(job, job->rank - 1);
	} else if (*job->pattern == 'd') {
		meet_all(job, true);
	}
}

static void optimize(void *context)
{
	work_in(context, TRAINING_OPTIMIZER);
}

static void train(struct job *job)
{
	training_run(TRAINING_LOADER, NULL, NULL);
	training_run(TRAINING_FORWARD, forward, job);
	training_run(TRAINING_BACKWARD, backward, job);
	training_run(TRAINING_OPTIMIZER, optimize, job);
}

/* What the first step has to start takes each rank another time; that is no step of the job. */
static void start_training(struct job *job)
{
	training_start_worker(make_batch, job);
	train(job);
	CHECK(cudaStreamSynchronize(job->stream));
	job->nr_meetings = 0;
}

static void step(struct job *job)
{
	if (*job->pattern != 'p' && job->step == SLOW_NETWORK_STEP &&
		strcmp(job->cause, "network") == 0) {
		setenv("SIM_NCCL_GBPS", SLOW_GBPS, 1);
	}
	if (job->is_training) {
		train(job);
	} else {
		forward(job);
		backward(job);
	}
	CHECK(cudaDeviceSynchronize());
	print_step(job);
}

static void prepare_job(struct job *job, const char *how)
{
	char part[16];

	job->is_training = sscanf(how, "%15[^-]-%15[^-]-%15s", job->pattern, job->cause, part) == 3;
	job->part = job->is_training ? training_open(part) : TRAINING_FORWARD;
	CHECK(cudaStreamCreateWithFlags(&job->stream, cudaStreamNonBlocking));
	make_events(job);
	CHECK(cudaMalloc((void **)&job->data, N * sizeof(float)));
	CHECK(cudaMalloc((void **)&job->all, N * sizeof(float)));
	CHECK(cudaMalloc((void **)&job->to, COPY_BYTES));
	job->from = calloc(1, COPY_BYTES);
}

static int run(const char *how, int rank, int nr_ranks, int id_fd)
{
	struct job job = {.rank = rank};
	const char *steps = getenv("STEPS");
	int nr_steps = steps ? atoi(steps) : 5;

	job.comm = ranks_join(rank, nr_ranks, id_fd);
	prepare_job(&job, how);
	if (job.is_training) {
		start_training(&job);
	}
	for (; job.step < nr_steps; job.step++) {
		step(&job);
	}
	if (job.is_training) {
		training_stop_worker();
	}
	destroy_events(&job);
	free(job.from);
	NCCL(ncclCommDestroy(job.comm));
	return 0;
}

/* Everything on its device takes so much longer. */
static void prepare(const char *how, int rank)
{
	if (strcmp(how, "pipeline-network") == 0) {
		setenv("SIM_NCCL_LINK", "4-5:" GBPS, 1);
	} else if (strstr(how, "-network")) {
		setenv("SIM_NCCL_GBPS", GBPS, 1);
	} else if (rank == SLOW && !strstr(how, "-host")) {
		setenv("SIM_TIME_SCALE", "250", 1);
		setenv("SIM_NVML", strstr(how, "-clock") ? "sm:1200" : "", 1);
	}
}

int main(int argc, char **argv)
{
	if (argc == 5) {
		return run(argv[1], atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
	}
	if ((argc != 2 && argc != 3) || !strchr(argv[1], '-')) {
		return 2;
	}
	return ranks_start(argv[argc == 3 ? 2 : 0], NR, argv[1], prepare);
}
