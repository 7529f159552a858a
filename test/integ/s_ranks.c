/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job of 8 processes of which one is slow:
 *
 *	s_ranks PATTERN-CAUSE [PROGRAM]
 *
 * PATTERN is what a step's ranks do together: `data` (AllReduce), `pipeline` (forward along the
 * ranks, and back), `experts` (AlltoAll). CAUSE is why the slow rank is: `host` sleeps before it
 * launches, `kernels` and `copies` take longer, `clock` has kernels at a lower one. With `network`
 * no rank is slow, but what two of them send each other is (`pipeline`), or from a step on what all
 * do together is. PROGRAM is started for each rank in the place of this one, which it starts. STEPS
 * is how many (5). Each rank prints how long its own work took in each step, the times before and
 * after its launch in ns of CLOCK_REALTIME as the system has it, and when it met which rank (-1:
 * all), in us:
 *
 *	RANK STEP US BEFORE AFTER
 *	send|receive|all RANK STEP PEER BEGIN END
 */
#include "test/prog/ranks.h"

#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>

enum { NR = 8, SLOW = 5, N = 1024, BLOCKS = 400000, COPY_BYTES = 20 << 20 };
enum { SLEEP_MS = 500, SLOW_NETWORK_STEP = 3 };

/* 500 ms for N floats, and 1.5 s. */
#define GBPS	  "0.000008192"
#define SLOW_GBPS "0.000002731"

KERNEL2(work_kernel, float *, x, int, by)
{
	if (index == 0) {
		x[0] += (float)by;
	}
}

struct job {
	nccl_comm comm;
	cudaStream_t stream;
	float *data, *all;
	char *from, *to;
	int rank, step;
	const char *cause;
};

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static long system_ns(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

static void work(struct job *job)
{
	long begin = now_us();
	long before_ns, after_ns;
	int by = 1;

	if (job->rank == SLOW && strcmp(job->cause, "host") == 0) {
		struct timespec t = {0, SLEEP_MS * 1000000};

		nanosleep(&t, NULL);
	}
	before_ns = system_ns();
	if (strcmp(job->cause, "copies") == 0) {
		CHECK(cudaMemcpyAsync(
			job->to, job->from, COPY_BYTES, cudaMemcpyHostToDevice, job->stream));
	} else {
		LAUNCH(work_kernel, BLOCKS, 1, job->stream, &job->data, &by);
	}
	after_ns = system_ns();
	CHECK(cudaStreamSynchronize(job->stream));
	printf("%d %d %ld %ld %ld\n", job->rank, job->step, now_us() - begin, before_ns, after_ns);
}

/* Waits until it is through. */
static void tell(struct job *job, const char *what, int peer, long begin)
{
	CHECK(cudaStreamSynchronize(job->stream));
	printf("%s %d %d %d %ld %ld\n", what, job->rank, job->step, peer, begin, now_us());
}

static void receive_of(struct job *job, int peer)
{
	long begin = now_us();

	if (peer >= 0 && peer < NR) {
		NCCL(ncclRecv(job->all, N, TYPE_FLOAT, peer, job->comm, job->stream));
		tell(job, "receive", peer, begin);
	}
}

static void send_to(struct job *job, int peer)
{
	long begin = now_us();

	if (peer >= 0 && peer < NR) {
		NCCL(ncclSend(job->data, N, TYPE_FLOAT, peer, job->comm, job->stream));
		tell(job, "send", peer, begin);
	}
}

static void meet_all(struct job *job, bool is_reducing)
{
	long begin = now_us();

	if (is_reducing) {
		NCCL(ncclAllReduce(
			job->data, job->all, N, TYPE_FLOAT, OP_SUM, job->comm, job->stream));
	} else {
		NCCL(ncclAlltoAll(job->data, job->all, N / NR, TYPE_FLOAT, job->comm, job->stream));
	}
	tell(job, "all", -1, begin);
}

static void step(struct job *job, const char *pattern)
{
	if (*pattern != 'p' && job->step == SLOW_NETWORK_STEP &&
		strcmp(job->cause, "network") == 0) {
		setenv("SIM_NCCL_GBPS", SLOW_GBPS, 1);
	}
	if (*pattern == 'p') {
		receive_of(job, job->rank - 1);
		work(job);
		send_to(job, job->rank + 1);
		receive_of(job, job->rank + 1);
		send_to(job, job->rank - 1);
	} else {
		work(job);
		meet_all(job, *pattern == 'd');
	}
	CHECK(cudaDeviceSynchronize());
}

static int run(const char *how, int rank, int nr_ranks, int id_fd)
{
	struct job job = {.rank = rank, .cause = strchr(how, '-') + 1};
	const char *steps = getenv("STEPS");
	int nr_steps = steps ? atoi(steps) : 5;

	job.comm = ranks_join(rank, nr_ranks, id_fd);
	CHECK(cudaStreamCreateWithFlags(&job.stream, cudaStreamNonBlocking));
	CHECK(cudaMalloc((void **)&job.data, N * sizeof(float)));
	CHECK(cudaMalloc((void **)&job.all, N * sizeof(float)));
	CHECK(cudaMalloc((void **)&job.to, COPY_BYTES));
	job.from = calloc(1, COPY_BYTES);
	for (; job.step < nr_steps; job.step++) {
		step(&job, how);
	}
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
