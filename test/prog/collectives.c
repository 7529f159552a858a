/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL collectives. Without arguments: every device of this process, from one thread. With
 * "ranks N": N processes of one rank each, which this one starts; "wrong N": the last of them calls
 * in another order than the others; "pairs N": sends and receives along the ranks and around them;
 * "unequal N": those along the ranks receive less than is sent; "stuck N": the last one does not
 * come to the second collective before the others give up; "killed N": it is killed then; "graph
 * N": a CUDA graph reduces and gathers, also in a group, four times; "grouped
 * N": the communicator is made in a group, and a group that is only simulated comes first; one rank
 * alone splits it, too; "mixed N": the last one sends in place of the second collective, and nobody
 * gets on.
 */
#include "test/prog/ranks.h"

#include <signal.h>

enum { N = 1024, NR_LAUNCHES = 4 };

/* One rank's buffers. */
struct rank {
	nccl_comm comm;
	cudaStream_t stream;
	float *data, *all;
};

static void rank_open(struct rank *r, int rank, int nr_ranks)
{
	static float host[N];

	CHECK(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
	CHECK(cudaMalloc((void **)&r->data, sizeof(host)));
	CHECK(cudaMalloc((void **)&r->all, sizeof(host) * (size_t)nr_ranks));
	for (int i = 0; i < N; i++) {
		host[i] = (float)(i + rank);
	}
	CHECK(cudaMemcpyAsync(r->data, host, sizeof(host), cudaMemcpyHostToDevice, r->stream));
	CHECK(cudaStreamSynchronize(r->stream));
}

static void rank_show(struct rank *r, int rank, int nr_ranks)
{
	static float host[N * MAX_RANKS];
	double sum = 0;

	CHECK(cudaMemcpyAsync(host, r->all, sizeof(float) * N * (size_t)nr_ranks,
		cudaMemcpyDeviceToHost, r->stream));
	CHECK(cudaStreamSynchronize(r->stream));
	for (int i = 0; i < N * nr_ranks; i++) {
		sum += host[i];
	}
	printf("rank %d of %d: gathered %.0f\n", rank, nr_ranks, sum);
	CHECK(cudaFree(r->data));
	CHECK(cudaFree(r->all));
	CHECK(cudaStreamDestroy(r->stream));
	NCCL(ncclCommDestroy(r->comm));
}

static void one_process(int nr)
{
	struct rank ranks[MAX_RANKS];
	nccl_comm comms[MAX_RANKS];

	NCCL(ncclCommInitAll(comms, nr, NULL));
	for (int i = 0; i < nr; i++) {
		CHECK(cudaSetDevice(i));
		ranks[i].comm = comms[i];
		rank_open(&ranks[i], i, nr);
	}
	NCCL(ncclGroupStart());
	for (int i = 0; i < nr; i++) {
		NCCL(ncclAllReduce(ranks[i].data, ranks[i].data, N, TYPE_FLOAT, OP_SUM,
			ranks[i].comm, ranks[i].stream));
	}
	NCCL(ncclGroupEnd());
	NCCL(ncclGroupStart());
	for (int i = 0; i < nr; i++) {
		NCCL(ncclAllGather(ranks[i].data, ranks[i].all, N, TYPE_FLOAT, ranks[i].comm,
			ranks[i].stream));
	}
	NCCL(ncclGroupEnd());
	/* Around a ring: everybody gives its data to the next, into the first part of all. */
	NCCL(ncclGroupStart());
	for (int i = 0; i < nr; i++) {
		NCCL(ncclSend(ranks[i].data, N, TYPE_FLOAT, (i + 1) % nr, ranks[i].comm,
			ranks[i].stream));
		NCCL(ncclRecv(ranks[i].all, N, TYPE_FLOAT, (i + nr - 1) % nr, ranks[i].comm,
			ranks[i].stream));
	}
	NCCL(ncclGroupEnd());
	for (int i = 0; i < nr; i++) {
		CHECK(cudaSetDevice(i));
		rank_show(&ranks[i], i, nr);
	}
}

/* nr_wanted of what the rank before gives, then what all give the next one at once. */
static void rank_pass(struct rank *r, int rank, int nr_ranks, size_t nr_wanted)
{
	int before = (rank + nr_ranks - 1) % nr_ranks, next = (rank + 1) % nr_ranks;

	if (rank > 0) {
		NCCL(ncclRecv(r->all, nr_wanted, TYPE_FLOAT, before, r->comm, r->stream));
	}
	if (rank < nr_ranks - 1) {
		NCCL(ncclSend(r->data, N, TYPE_FLOAT, next, r->comm, r->stream));
	}
	NCCL(ncclGroupStart());
	NCCL(ncclSend(r->data, N, TYPE_FLOAT, next, r->comm, r->stream));
	NCCL(ncclRecv(r->all, N, TYPE_FLOAT, before, r->comm, r->stream));
	NCCL(ncclGroupEnd());
}

/* Of "stuck", "killed" and "mixed", once the first collective is over. */
static void stay_away(struct rank *r, const char *how)
{
	int is_stuck = strcmp(how, "stuck") == 0, is_killed = strcmp(how, "killed") == 0;
	int is_mixed = strcmp(how, "mixed") == 0;

	if (is_stuck || is_killed || is_mixed) {
		CHECK(cudaStreamSynchronize(r->stream));
	}
	if (is_killed) {
		kill(getpid(), SIGKILL);
	}
	if (is_stuck) {
		sleep(100); /* the others give up before */
	}
	if (is_mixed) {
		NCCL(ncclSend(r->data, N, TYPE_FLOAT, 0, r->comm, r->stream));
		CHECK(cudaStreamSynchronize(r->stream));
	}
}

static nccl_comm join(int rank, int nr_ranks, int id_fd, int is_grouped)
{
	nccl_comm comm;

	if (is_grouped) {
		NCCL(ncclGroupStart());
	}
	comm = ranks_join(rank, nr_ranks, id_fd);
	if (is_grouped) {
		NCCL(ncclGroupEnd());
	}
	return comm;
}

static void simulate(struct rank *r)
{
	NCCL(ncclGroupStart());
	NCCL(ncclAllReduce(r->data, r->data, N, TYPE_FLOAT, OP_SUM, r->comm, r->stream));
	NCCL(ncclGroupSimulateEnd(NULL));
}

static void split_alone(struct rank *r)
{
	nccl_comm part = NULL;

	NCCL(ncclCommSplit(r->comm, 0, 0, &part, NULL));
	NCCL(ncclReduceScatter(r->data, r->data, N, TYPE_FLOAT, OP_SUM, part, r->stream));
	CHECK(cudaStreamSynchronize(r->stream));
	NCCL(ncclCommFinalize(part));
	NCCL(ncclCommDestroy(part));
}

static void rank_replay(struct rank *r)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	CHECK(cudaStreamBeginCapture(r->stream, cudaStreamCaptureModeGlobal));
	NCCL(ncclAllReduce(r->data, r->data, N, TYPE_FLOAT, OP_SUM, r->comm, r->stream));
	NCCL(ncclGroupStart());
	NCCL(ncclAllGather(r->data, r->all, N, TYPE_FLOAT, r->comm, r->stream));
	NCCL(ncclGroupEnd());
	CHECK(cudaStreamEndCapture(r->stream, &graph));
	CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	for (int i = 0; i < NR_LAUNCHES; i++) {
		CHECK(cudaGraphLaunch(exec, r->stream));
	}
	CHECK(cudaStreamSynchronize(r->stream));
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
}

static int one_rank(int rank, int nr_ranks, int id_fd, const char *how)
{
	int is_wrong = strcmp(how, "wrong") == 0, is_grouped = strcmp(how, "grouped") == 0;
	struct rank r = {.comm = join(rank, nr_ranks, id_fd, is_grouped)};

	rank_open(&r, rank, nr_ranks);
	if (is_grouped) {
		simulate(&r);
	}
	if (is_grouped && nr_ranks == 1) {
		split_alone(&r);
	}
	if (strcmp(how, "pairs") == 0 || strcmp(how, "unequal") == 0) {
		rank_pass(&r, rank, nr_ranks, *how == 'u' ? N / 2 : N);
		rank_show(&r, rank, nr_ranks);
		return 0;
	}
	if (strcmp(how, "graph") == 0) {
		NCCL(ncclAllReduce(r.data, r.data, N, TYPE_FLOAT, OP_SUM, r.comm, r.stream));
		rank_replay(&r);
		rank_show(&r, rank, nr_ranks);
		return 0;
	}
	if (is_wrong && rank == nr_ranks - 1) {
		NCCL(ncclAllGather(r.data, r.all, N, TYPE_FLOAT, r.comm, r.stream));
	}
	NCCL(ncclAllReduce(r.data, r.data, N, TYPE_FLOAT, OP_SUM, r.comm, r.stream));
	if (rank == nr_ranks - 1) {
		stay_away(&r, how);
	}
	if (!is_wrong || rank < nr_ranks - 1) {
		NCCL(ncclAllGather(r.data, r.all, N, TYPE_FLOAT, r.comm, r.stream));
	}
	rank_show(&r, rank, nr_ranks);
	return 0;
}

int main(int argc, char **argv)
{
	int nr = 0;

	if (argc == 5) {
		return one_rank(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), argv[1]);
	}
	if (argc == 3) {
		nr = atoi(argv[2]);
		return nr < 1 || nr > MAX_RANKS ? 2 : ranks_start(argv[0], nr, argv[1], NULL);
	}
	CHECK(cudaGetDeviceCount(&nr));
	one_process(nr < MAX_RANKS ? nr : MAX_RANKS);
	return 0;
}
