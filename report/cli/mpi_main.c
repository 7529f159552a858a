/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gprof-report-mpi: `reduce` by the processes of an MPI job, on as many hosts as it has. The first
 * one finds the streams, all take their share of them, and what they kept is put together by twos:
 * log2(processes) messages one after the other. It adds up in any order (reduced.h), so that the
 * file is the one that gprof-report would have written.
 */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/session/common_options.h"
#include "report/cli/cmd_reduce.h"
#include "report/util/err.h"

#define MESSAGE_BYTES (1u << 30) /* counts of MPI are ints */

enum { TAG_HEAD, TAG_BYTES };

/* A failure of MPI ends the job; it says why itself. */

static void send_bytes(const char *bytes, uint64_t nr_bytes, int to)
{
	for (uint64_t at = 0; at < nr_bytes; at += MESSAGE_BYTES) {
		uint64_t nr = nr_bytes - at < MESSAGE_BYTES ? nr_bytes - at : MESSAGE_BYTES;

		MPI_Send(bytes + at, (int)nr, MPI_CHAR, to, TAG_BYTES, MPI_COMM_WORLD);
	}
}

static void receive_bytes(char *bytes, uint64_t nr_bytes, int from)
{
	for (uint64_t at = 0; at < nr_bytes; at += MESSAGE_BYTES) {
		uint64_t nr = nr_bytes - at < MESSAGE_BYTES ? nr_bytes - at : MESSAGE_BYTES;

		MPI_Recv(bytes + at, (int)nr, MPI_CHAR, from, TAG_BYTES, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
	}
}

static void send_reduced(struct reduced *reduced, enum cmd_exit status, int to)
{
	struct buf bytes = {0};
	uint64_t head[2] = {(uint64_t)status};

	reduced_write(reduced, &bytes);
	head[1] = bytes.nr_bytes;
	MPI_Send(head, 2, MPI_UINT64_T, to, TAG_HEAD, MPI_COMM_WORLD);
	send_bytes(bytes.bytes, bytes.nr_bytes, to);
	buf_fini(&bytes);
}

static enum cmd_exit receive_reduced(struct reduced *into, enum cmd_exit status, int from)
{
	struct reduced other;
	enum cmd_exit result;
	uint64_t head[2];
	char *bytes;

	MPI_Recv(head, 2, MPI_UINT64_T, from, TAG_HEAD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	bytes = mem_zeroed(head[1], 1);
	receive_bytes(bytes, head[1], from);
	if (reduced_read_bytes(&other, bytes, head[1])) {
		cmd_error("cannot read what process %d sent: %s", from, err_text());
		result = CMD_FAILED;
	} else {
		result = cmd_reduce_merge(into, &other, status, (enum cmd_exit)head[0]);
	}
	free(bytes);
	reduced_fini(&other);
	return result;
}

/* Adds all up in the first process; the others have nothing of their own afterwards. */
static enum cmd_exit add_up(struct reduced *reduced, enum cmd_exit status, int me, int nr)
{
	for (int step = 1; step < nr; step *= 2) {
		if (me & step) {
			send_reduced(reduced, status, me - step);
			return CMD_GOOD;
		}
		if (me + step < nr) {
			status = receive_reduced(reduced, status, me + step);
		}
	}
	return status;
}

/* The paths of the first process, as text behind text. */
static void share_paths(struct dumpdir *paths, int me)
{
	struct buf texts = {0};
	uint64_t nr_bytes;

	for (size_t i = 0; !me && i < paths->nr_paths; i++) {
		buf_add(&texts, paths->paths[i], strlen(paths->paths[i]) + 1);
	}
	nr_bytes = texts.nr_bytes;
	MPI_Bcast(&nr_bytes, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
	if (nr_bytes > INT_MAX) {
		MPI_Abort(MPI_COMM_WORLD, CMD_FAILED); /* a hundred million streams */
	}
	if (me) {
		texts.bytes = mem_zeroed(nr_bytes, 1);
	}
	MPI_Bcast(texts.bytes, (int)nr_bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
	for (const char *text = texts.bytes; me && text < texts.bytes + nr_bytes;
		text += strlen(text) + 1) {
		dumpdir_add_file(paths, text);
	}
	free(texts.bytes);
}

static int run(int argc, char **argv, int me, int nr)
{
	struct cmd_reduce asked = {0};
	struct reduced reduced = {0};
	int status = me ? 0 : cmd_reduce_take(&asked, argc, argv);

	MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (!status) {
		share_paths(&asked.paths, me);
		status = (int)cmd_reduce_share(&reduced, &asked.paths, (size_t)me, (size_t)nr);
		status = (int)add_up(&reduced, (enum cmd_exit)status, me, nr);
	}
	if (!me && (!status || status == CMD_INCOMPLETE)) {
		status = (int)cmd_reduce_write(&asked, &reduced, (enum cmd_exit)status);
	}
	reduced_fini(&reduced);
	dumpdir_fini(&asked.paths);
	/* One process prints the error; the same line of the others would only hide the launcher's.
	 */
	return me || status == COMMON_OPTIONS_HELP ? CMD_GOOD : status;
}

int main(int argc, char **argv)
{
	int status, me, nr;

	if (argc < 2 || strcmp(argv[1], "reduce") != 0) {
		fprintf(stderr, "usage: mpirun -n N gprof-report-mpi reduce -o FILE PATH...\n");
		return CMD_USAGE;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &nr);
	status = run(argc - 1, argv + 1, me, nr);
	MPI_Finalize();
	return status;
}
