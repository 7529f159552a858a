/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job of 8 processes of which one is slow:
 *
 *	s_ranks PATTERN-CAUSE
 *
 * PATTERN is what a step's ranks do together: `data` (AllReduce), `pipeline` (forward along the
 * ranks, and back), `experts` (AlltoAll). CAUSE is why the slow rank is: `host` sleeps before it
 * launches, `kernels` and `copies` take longer. Each rank prints how long its own work took in
 * each step, in us.
 */
#include "test/prog/ranks.h"

#include <time.h>

enum { NR = 8, SLOW = 5, NR_STEPS = 5, N = 1024, BLOCKS = 400000, COPY_BYTES = 20 << 20 };
enum { SLEEP_MS = 500 };

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
	int rank;
	const char *cause;
};

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void work(struct job *job, int step)
{
	long begin = now_us();
	int by = 1;

	if (job->rank == SLOW && strcmp(job->cause, "host") == 0) {
		struct timespec t = {0, SLEEP_MS * 1000000};

		nanosleep(&t, NULL);
	}
	if (strcmp(job->cause, "copies") == 0) {
		CHECK(cudaMemcpyAsync(
			job->to, job->from, COPY_BYTES, cudaMemcpyHostToDevice, job->stream));
	} else {
		LAUNCH(work_kernel, BLOCKS, 1, job->stream, &job->data, &by);
	}
	CHECK(cudaStreamSynchronize(job->stream));
	printf("%d %d %ld\n", job->rank, step, now_us() - begin);
}

static void pass(struct job *job, int from, int to)
{
	if (from >= 0 && from < NR) {
		NCCL(ncclRecv(job->all, N, TYPE_FLOAT, from, job->comm, job->stream));
	}
	if (to >= 0 && to < NR) {
		NCCL(ncclSend(job->data, N, TYPE_FLOAT, to, job->comm, job->stream));
	}
	CHECK(cudaStreamSynchronize(job->stream));
}

static void step(struct job *job, const char *pattern, int number)
{
	if (*pattern == 'p') {
		pass(job, job->rank - 1, -1);
	}
	work(job, number);
	if (*pattern == 'p') {
		pass(job, -1, job->rank + 1);
		pass(job, job->rank + 1, job->rank - 1);
	} else if (*pattern == 'e') {
		NCCL(ncclAlltoAll(job->data, job->all, N / NR, TYPE_FLOAT, job->comm, job->stream));
	} else {
		NCCL(ncclAllReduce(
			job->data, job->all, N, TYPE_FLOAT, OP_SUM, job->comm, job->stream));
	}
	CHECK(cudaDeviceSynchronize());
}

static int run(const char *how, int rank, int nr_ranks, int id_fd)
{
	struct job job = {.rank = rank, .cause = strchr(how, '-') + 1};

	job.comm = ranks_join(rank, nr_ranks, id_fd);
	CHECK(cudaStreamCreateWithFlags(&job.stream, cudaStreamNonBlocking));
	CHECK(cudaMalloc((void **)&job.data, N * sizeof(float)));
	CHECK(cudaMalloc((void **)&job.all, N * sizeof(float)));
	CHECK(cudaMalloc((void **)&job.to, COPY_BYTES));
	job.from = calloc(1, COPY_BYTES);
	for (int i = 0; i < NR_STEPS; i++) {
		step(&job, how, i);
	}
	free(job.from);
	NCCL(ncclCommDestroy(job.comm));
	return 0;
}

/* Everything on its device takes so much longer. */
static void prepare(const char *how, int rank)
{
	if (rank == SLOW && !strstr(how, "-host")) {
		setenv("SIM_TIME_SCALE", "250", 1);
	}
}

int main(int argc, char **argv)
{
	if (argc == 5) {
		return run(argv[1], atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
	}
	return argc != 2 || !strchr(argv[1], '-') ? 2 : ranks_start(argv[0], NR, argv[1], prepare);
}
