/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records NCCL calls, from the wrappers of NCCL's functions or from its NVTX ranges: a row of table
 * nccl for each outermost call, and communicators at their first use. NCCL's own CUDA calls are
 * recorded like any others.
 *
 * Operations are counted whether or not they are recorded. A call costs two reads of the clock, a
 * search in a small table, and a row.
 */
#ifndef PRELOAD_NCCL_NCCL_H
#define PRELOAD_NCCL_NCCL_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/ring/ring.h"
#include "preload/nccl/nccl_comm.h"

#define NCCL_NO_REDOP  255
#define NCCL_OWN_REDOP 254 /* the program's own */
#define NCCL_NO_TYPE   255

/* On the wrapper's stack. */
struct nccl_call {
	/*
	 * State of the call that a signal handler's call has interrupted; before is 0 if there is
	 * none.
	 */
	uintptr_t before;
	uint64_t begin_before;
	bool was_hooked;
	struct ring_call interrupted;
	const void *function; /* the real function; NULL if the call is known from its range */
	uint64_t begin, end;  /* begin 0: not recorded */
	/* Ids of the last calls of CUDA that were seen on this thread before it, and in the end. */
	uint32_t correlation_before, correlation;
	int result;
};

/* The meaning of a call. */
struct nccl_facts {
	uint64_t bytes;
	const void *stream;
	uint32_t comm; /* id in the stream */
	uint32_t sequence;
	int32_t peer;
	uint8_t kind, datatype, redop; /* kind: enum gprof_nccl */
};

/* A call that is about a communicator, if about anything. */
#define NCCL_FACTS(call_kind, comm_id)                                                    \
	(struct nccl_facts)                                                               \
	{                                                                                 \
		.kind = call_kind, .comm = comm_id, .peer = -1, .datatype = NCCL_NO_TYPE, \
		.redop = NCCL_NO_REDOP                                                    \
	}

/*
 * name: of the function; must stay valid. stack: the stack pointer at the call of its hook or at
 * the begin of its range. caller: the hook's return address, 0 if unknown. Returns false inside
 * another NCCL call or gprof's own code: the caller then records nothing.
 */
bool nccl_begin(struct nccl_call *call, const void *function, const char *name, uintptr_t stack,
	uintptr_t caller);

/* The call of NCCL that this thread is in. Its `begin`, 0: none, or none that is recorded. */
struct nccl_now {
	uint64_t begin;
	bool is_hooked; /* known from its hook, not from its range */
};

struct nccl_now nccl_now(void);

/* Right after the real function. One of the functions below must follow. */
void nccl_return(struct nccl_call *call, int result);

/* The call is over, and is not recorded. */
void nccl_drop(const struct nccl_call *call);

/* Writes the row. */
void nccl_end(const struct nccl_call *call, const struct nccl_facts *facts);

/*
 * After the call: is its communicator complete, so that it may be queried? One made in a group, or
 * without blocking, may not be.
 */
bool nccl_may_ask(const struct nccl_call *call);

/* The id of a communicator for the row of this call; 0 if that is not recorded. */
uint32_t nccl_id(const struct nccl_call *call, struct nccl_comm_entry *comm, bool may_ask);

/* A type, and a reduction, for the row. */
uint8_t nccl_small(int64_t number, uint8_t otherwise);
uint8_t nccl_small_redop(int64_t redop);

/* An operation was requested: counts it, and writes the row. comm: NULL if unknown. */
void nccl_move(const struct nccl_call *call, struct nccl_facts facts, struct nccl_comm_entry *comm);

/* A communicator that a call may have made. */
struct nccl_new {
	nccl_comm *const *made; /* NULL if it makes none */
	uint64_t key;
	int rank; /* -1: unknown */
	int nr_ranks;
	const struct nccl_comm_entry *parent;
};

/* A call that may have made a communicator. */
void nccl_made(
	const struct nccl_call *call, enum gprof_nccl kind, const struct nccl_new *communicator);

/*
 * The thread's groups: how deep it is in them counts successful calls alone. The rows of all calls
 * of the outermost have one number.
 */
void nccl_group_start(const struct nccl_call *call);
void nccl_group_end(const struct nccl_call *call);

/* The innermost one ends, without a row. */
void nccl_group_leave(const struct nccl_call *call);

#endif
