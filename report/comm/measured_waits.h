/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long an operation of NCCL waited for another rank, as NCCL's profiler plugin measured it on
 * one rank. No other rank is needed, nor a common clock.
 *
 * A receive over the network waits for data all the time: buffers are ready before data come, and
 * data take their time. What tells a rank that is late from a network at work is one wait that is
 * much longer than the others of the same receive: then nothing came, and later all came at the
 * usual pace. A receive has up to two of these, the one for its first data and the longest later
 * one (FORMAT.md, nccl_channel). An operation waits while each of its receives that is under way is
 * in a long wait; at all other times data come.
 *
 *   receive of channel 0   |---long wait---|==data==|--long--|===|
 *   receive of channel 1      |--long wait----|===data===|
 *   the operation          |-waits---------|  comes          |
 *
 * A send that no receive goes along with waits likewise, until its receiver is ready.
 */
#ifndef REPORT_COMM_MEASURED_WAITS_H
#define REPORT_COMM_MEASURED_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/table/table.h"

/* The transfer of a row of nccl_channel, with its times in ns of CLOCK_MONOTONIC. */
struct measured_transfer {
	uint32_t op; /* index of its operation */
	uint32_t steps;
	uint64_t begin_ns, end_ns;
	uint64_t first_ns, first_after_ns, later_ns, pause_ns, pause_after_ns;
	bool is_receive;
};

/* The transfers of a process. Zero-initialized. */
struct measured_transfers {
	struct measured_transfer *items;
	size_t nr, capacity;
};

void measured_transfers_add(
	struct measured_transfers *transfers, const struct measured_transfer *transfer);
void measured_transfers_fini(struct measured_transfers *transfers);

struct measured_wait {
	uint64_t begin_ns, end_ns;
};

/* The waits of all operations. Zero-initialized. */
struct measured_waits {
	struct measured_wait *items;
	size_t nr, capacity;
};

/* An operation's waits, within the time in which it had transfers. */
struct measured_op {
	uint64_t begin_ns, end_ns; /* of its transfers; equal: nothing is known */
	uint64_t data_ns;	   /* by then each of its receives had its first data */
	size_t first, nr;	   /* waits, in the order of time */
	/* Set by nccl_ops.c, of its kernel: the time in which it had transfers, and waited. */
	uint64_t known_ns, wait_ns;
};

/*
 * Sorts the transfers, adds the waits of their operations and calls set(context, op, measured) for
 * each operation of which they are known. takes_sends: is it a send, without any receive?
 */
void measured_waits_find(struct measured_waits *waits, struct measured_transfers *transfers,
	bool (*takes_sends)(void *context, uint32_t op),
	void (*set)(void *context, uint32_t op, const struct measured_op *measured), void *context);
void measured_waits_fini(struct measured_waits *waits);

/* Says below a table that its waits are, of so many operations, what one rank measured. */
void measured_waits_note(struct table *table, uint64_t nr_ops);

#endif
