/* SPDX-License-Identifier: Apache-2.0 */
/* What programs of several ranks share: NCCL's functions, and a process a rank. */
#ifndef TEST_PROG_RANKS_H
#define TEST_PROG_RANKS_H

#include "test/prog/prog.h"
#include "test/prog/must.h"

#include <sys/wait.h>
#include <unistd.h>

typedef struct nccl_comm_handle *nccl_comm;
struct nccl_unique_id {
	char bytes[128];
};
int ncclGetUniqueId(struct nccl_unique_id *id);
int ncclCommInitRank(nccl_comm *comm, int nr_ranks, struct nccl_unique_id id, int rank);
int ncclCommInitAll(nccl_comm *comms, int nr, const int *devices);
int ncclCommSplit(nccl_comm comm, int color, int key, nccl_comm *out, void *config);
int ncclCommFinalize(nccl_comm comm);
int ncclCommDestroy(nccl_comm comm);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclGroupSimulateEnd(void *info);
int ncclAllReduce(const void *send, void *recv, size_t count, int type, int op, nccl_comm comm,
	cudaStream_t stream);
int ncclReduceScatter(const void *send, void *recv, size_t count, int type, int op, nccl_comm comm,
	cudaStream_t stream);
int ncclAllGather(
	const void *send, void *recv, size_t count, int type, nccl_comm comm, cudaStream_t stream);
int ncclAlltoAll(
	const void *send, void *recv, size_t count, int type, nccl_comm comm, cudaStream_t stream);
int ncclSend(
	const void *send, size_t count, int type, int peer, nccl_comm comm, cudaStream_t stream);
int ncclRecv(void *recv, size_t count, int type, int peer, nccl_comm comm, cudaStream_t stream);

enum { MAX_RANKS = 8, TYPE_FLOAT = 7, OP_SUM = 0 };

#define NCCL(call) MUST_BE_0(call, #call)

static inline nccl_comm ranks_join(int rank, int nr_ranks, int id_fd)
{
	struct nccl_unique_id id;
	nccl_comm comm = NULL;

	if (read(id_fd, &id, sizeof(id)) != sizeof(id)) {
		exit(1);
	}
	NCCL(ncclCommInitRank(&comm, nr_ranks, id, rank));
	return comm;
}

/*
 * Starts one process a rank, PROGRAM HOW RANK RANKS FD, and gives each the id that this one has
 * made, to be read from that file. prepare, or NULL: called in the child before that.
 */
static inline int ranks_start(const char *program, int nr_ranks, const char *how,
	void (*prepare)(const char *how, int rank))
{
	struct nccl_unique_id id;
	pid_t children[MAX_RANKS];
	int failed = 0;

	NCCL(ncclGetUniqueId(&id));
	for (int rank = 0; rank < nr_ranks; rank++) {
		int ends[2];
		char rank_text[16], nr_text[16], fd_text[16];

		if (pipe(ends) != 0) {
			return 1;
		}
		snprintf(rank_text, sizeof(rank_text), "%d", rank);
		snprintf(nr_text, sizeof(nr_text), "%d", nr_ranks);
		snprintf(fd_text, sizeof(fd_text), "%d", ends[0]);
		children[rank] = fork();
		if (children[rank] == 0) {
			setenv("RANK", rank_text, 1);
			setenv("WORLD_SIZE", nr_text, 1);
			if (prepare) {
				prepare(how, rank);
			}
			execl(program, program, how, rank_text, nr_text, fd_text, (char *)NULL);
			_exit(127);
		}
		close(ends[0]);
		if (write(ends[1], &id, sizeof(id)) != sizeof(id)) {
			return 1;
		}
		close(ends[1]);
	}
	for (int rank = 0; rank < nr_ranks; rank++) {
		int status = 0;

		waitpid(children[rank], &status, 0);
		failed |= status != 0;
	}
	return failed;
}

#endif
