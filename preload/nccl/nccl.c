/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_begin() decides whether a call is the program's or a part of another call of NCCL, and
 * nccl_return() takes its end. The functions after these write its row, by what the call did: move
 * data, make a communicator, begin or end a group. Calls of a group share its number, and the end
 * of the group has a row of its own.
 */
#include "preload/nccl/nccl.h"

#include "preload/hook/hook.h"

/* State of the calling thread. */
static __thread struct {
	uintptr_t frame;      /* where the outermost call of NCCL is on the stack, 0: in none */
	uint64_t begin;	      /* of that call, 0: not recorded */
	bool is_hooked;	      /* it is known from its hook, not from its range */
	uint32_t group_depth; /* of groups */
	uint64_t group;	      /* the number of the outermost */
	uint32_t correlation; /* the last that was seen before it */
} self __attribute__((tls_model("initial-exec")));

static struct nccl_state {
	_Atomic uint64_t nr_groups;
} state;

/*
 * The thread is in a call of NCCL: is this one a part of it? Not that of a signal handler, or after
 * that call was left (ring.h).
 */
static bool is_part(uintptr_t stack, uintptr_t caller)
{
	bool is_nccl = hook_is_nccl(caller);

	/* A library that contains NCCL calls that from outside, too. */
	if (is_nccl && stack <= self.frame) {
		return true;
	}
	if (ring_is_left(self.frame, stack)) {
		loss_add(LOSS_LEFT, self.begin != 0);
		self.frame = 0;
		return false;
	}
	return is_nccl || !caller;
}

/* A range (caller 0) has no struct on the stack that could mark where it began: stack - 1 does. */
bool nccl_begin(struct nccl_call *call, const void *function, const char *name, uintptr_t stack,
	uintptr_t caller)
{
	uint32_t mode = hook_mode();

	if (ring_in_profiler(&ring_tls) || (self.frame && is_part(stack, caller))) {
		return false;
	}
	if (mode & COLLECTOR_COLD) {
		mode = recorder_ensure_started_counting_loss(caller);
	}
	call->before = self.frame;
	call->begin_before = self.begin;
	call->was_hooked = self.is_hooked;
	call->interrupted = ring_tls.nccl;
	/*
	 * NCCL's functions all begin their ranges in the same way: one at the same stack address is
	 * another one.
	 */
	self.frame = caller ? (uintptr_t)call : stack - 1;
	call->function = function;
	call->correlation_before = ring_tls.last;
	call->begin = mode & COLLECTOR_RECORD ? clock_raw() : 0;
	/* The drain finds the call by the thread's slot in the rings. */
	if (call->begin && !ring_enter(&ring_tls)) {
		call->begin = 0;
	}
	if (call->begin) {
		ring_call_begin(&ring_tls.nccl, name, call->begin);
	}
	self.begin = call->begin;
	self.is_hooked = function != NULL;
	return true;
}

void nccl_return(struct nccl_call *call, int result)
{
	call->end = call->begin ? clock_raw() : 0;
	if (call->begin) {
		ring_call_end(&ring_tls.nccl, call->end);
	}
	call->correlation = ring_tls.last;
	call->result = result;
}

void nccl_drop(const struct nccl_call *call)
{
	if (call->before) {
		ring_tls.nccl = call->interrupted;
	}
	self.frame = call->before;
	self.begin = call->begin_before;
	self.is_hooked = call->was_hooked;
}

struct nccl_now nccl_now(void)
{
	struct nccl_now now = {0};

	if (self.frame) {
		now.begin = self.begin;
		now.is_hooked = self.is_hooked;
	}
	return now;
}

static uint64_t next_group(void)
{
	return atomic_fetch_add_explicit(&state.nr_groups, 1, memory_order_relaxed) + 1;
}

void nccl_end(const struct nccl_call *call, const struct nccl_facts *facts)
{
	struct gprof_row_nccl row = {.begin = call->begin,
		.dur = call->end,
		.correlation = call->correlation,
		.correlation_before = call->correlation_before,
		.result = call->result,
		.comm = facts->comm,
		.sequence = facts->sequence,
		.group = self.group_depth ? self.group : next_group(),
		.bytes = facts->bytes,
		.stream = (uintptr_t)facts->stream,
		.peer = facts->peer,
		.kind = facts->kind,
		.datatype = facts->datatype,
		.redop = facts->redop};

	if (call->begin) {
		row.thread = ring_tls.id;
		ring_emit(&row, GPROF_TABLE_nccl, NULL, 0);
	}
	nccl_drop(call);
}

bool nccl_may_ask(const struct nccl_call *call)
{
	return call->result == NCCL_SUCCESS && !self.group_depth;
}

uint32_t nccl_id(const struct nccl_call *call, struct nccl_comm_entry *comm, bool may_ask)
{
	return call->begin ? nccl_comm_id(comm, call->function, may_ask) : 0;
}

uint8_t nccl_small(int64_t number, uint8_t otherwise)
{
	return number >= 0 && number < otherwise ? (uint8_t)number : otherwise;
}

uint8_t nccl_small_redop(int64_t redop)
{
	return redop == NCCL_NO_REDOP	? NCCL_NO_REDOP
	       : redop < NCCL_NR_REDOPS ? nccl_small(redop, NCCL_OWN_REDOP)
					: NCCL_OWN_REDOP;
}

/* Was it accepted? A communicator that does not block is still at it then. */
static bool is_good(const struct nccl_call *call)
{
	return call->result == NCCL_SUCCESS || call->result == NCCL_IN_PROGRESS;
}

void nccl_move(const struct nccl_call *call, struct nccl_facts facts, struct nccl_comm_entry *comm)
{
	facts.comm = nccl_id(call, comm, nccl_may_ask(call));
	if (is_good(call)) {
		facts.sequence = nccl_comm_count(comm, facts.kind, facts.peer);
	}
	nccl_end(call, &facts);
}

void nccl_made(
	const struct nccl_call *call, enum gprof_nccl kind, const struct nccl_new *communicator)
{
	struct nccl_facts facts = NCCL_FACTS(kind, 0);
	struct nccl_comm_entry *comm = NULL;

	if (communicator->made && is_good(call)) {
		comm = nccl_comm_add(*communicator->made, communicator->key, communicator->rank,
			communicator->nr_ranks > 0 ? (uint32_t)communicator->nr_ranks : 0,
			communicator->parent);
	}
	/* A communicator that is not complete yet is identified at its first use. */
	if (communicator->rank >= 0 || nccl_may_ask(call)) {
		facts.comm = nccl_id(call, comm, nccl_may_ask(call));
	}
	nccl_end(call, &facts);
}

void nccl_group_start(const struct nccl_call *call)
{
	if (call->result == NCCL_SUCCESS && self.group_depth++ == 0) {
		self.group = next_group();
		self.correlation = call->correlation_before;
	}
	nccl_drop(call);
}

void nccl_group_end(const struct nccl_call *call)
{
	static const struct nccl_facts facts = NCCL_FACTS(GPROF_NCCL_GROUP_END, 0);
	struct nccl_call group = *call;

	if (self.group_depth == 1) {
		group.correlation_before = self.correlation;
		nccl_end(&group, &facts);
	}
	nccl_group_leave(call);
}

void nccl_group_leave(const struct nccl_call *call)
{
	self.group_depth -= self.group_depth ? 1 : 0;
	nccl_drop(call);
}
