/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_read() passes each committed row to ring_to_rows_add(). Most rows stay in their chunk, and
 * the batch only points at them; a row is copied if a name or a launch shape must become an id
 * first. Launches are most of the rows: a cache by function, grid and block finds the shape of most
 * of them without the dictionary.
 */
#include "collector/ring_to_rows.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "collector/hang/hang.h"
#include "collector/ring/kernel_names.h"
#include "collector/sample/call_site.h"
#include "collector/sample/compiled_code.h"
#include "collector/sample/launch_stack.h"
#include "collector/sample/numa.h"
#include "collector/step/period.h"
#include "collector/stream/batch.h"
#include "collector/stream/calls.h"
#include "collector/stream/dictionary.h"
#include "collector/stream/stream.h"
#include "collector/util/loss.h"
#include "collector/util/redact.h"

#define NR_KNOWN_LAUNCHES 4096u
/* cudaMemcpyKind */
#define COPY_TO_DEVICE 1
#define COPY_TO_HOST   2

static uint32_t find_shape(const struct gprof_row_ring_launch *r, bool *is_lasting)
{
	struct gprof_row_shape shape;

	memset(&shape, 0, sizeof(shape)); /* it is hashed with its padding */
	shape.function = r->function;
	shape.grid_x = r->grid_x;
	shape.grid_y = r->grid_y;
	shape.grid_z = r->grid_z;
	shape.block_x = r->block_x;
	shape.block_y = r->block_y;
	shape.block_z = r->block_z;
	shape.dynamic_shared_bytes = r->shared_bytes;
	shape.name = dictionary_function(r->function, r->begin, is_lasting);
	return dictionary_shape(&shape);
}

/*
 * Most launches repeat an earlier one: the bytes of the row that make a shape identify them. One
 * cache line each.
 */
struct known_launch {
	uint64_t launch[4]; /* function, grid, block: neighbours in a row */
	uint32_t shared_bytes;
	uint32_t shape; /* 0: none yet */
	uint32_t era;	/* of the names of kernels */
} __attribute__((aligned(64)));

/*
 * A launch may be in either of two neighbouring entries; a new launch replaces one of them in turn.
 */
static struct take_state {
	struct known_launch launches[NR_KNOWN_LAUNCHES];
	uint32_t turn;
	uint32_t era;
} state;

static inline bool is_known(const struct known_launch *k, const struct gprof_row_ring_launch *r)
{
	return k->shape && k->era == state.era &&
	       !memcmp(k->launch, &r->function, sizeof(k->launch)) &&
	       k->shared_bytes == r->shared_bytes;
}

static __attribute__((noinline)) uint32_t new_launch(
	struct known_launch *k, const struct gprof_row_ring_launch *r)
{
	bool is_lasting;
	uint32_t shape = find_shape(r, &is_lasting);

	if (is_lasting) {
		memcpy(k->launch, &r->function, sizeof(k->launch));
		k->shared_bytes = r->shared_bytes;
		k->shape = shape;
		k->era = state.era;
	}
	return shape;
}

static uint32_t launch_shape(const struct gprof_row_ring_launch *r)
{
	uint64_t hash = r->function * 0x9e3779b97f4a7c15u +
			(r->grid_x | (uint64_t)r->block_x << 32) * 0xc2b2ae3d27d4eb4fu;
	uint32_t slot = hash >> 52;

	state.era = atomic_load_explicit(&kernel_names_era, memory_order_acquire);
	if (is_known(&state.launches[slot], r)) {
		return state.launches[slot].shape;
	}
	if (is_known(&state.launches[slot ^ 1], r)) {
		return state.launches[slot ^ 1].shape;
	}
	return new_launch(&state.launches[slot ^ (state.turn++ & 1)], r);
}

_Static_assert(offsetof(struct gprof_row_ring_launch, block_z) + sizeof(uint32_t) -
			       offsetof(struct gprof_row_ring_launch, function) ==
		       sizeof(((struct known_launch *)0)->launch),
	"compared as one piece");

/* ---- stacks ---- */

static inline uint32_t stack_id(uint32_t stack)
{
	return launch_stack_is_id(stack) ? stack : launch_stack_id(stack);
}

/* A row that stays in its chunk, unless its stack has no id there. */
#define TAKE_STACKED(table, head)                                                                 \
	do {                                                                                      \
		const struct gprof_row_##table *in_ring = (const struct gprof_row_##table *)head; \
		struct gprof_row_##table *row;                                                    \
		uint32_t id = in_ring->native_stack;                                              \
                                                                                                  \
		if (launch_stack_is_id(id)) {                                                     \
			batch_point(GPROF_TABLE_##table, head);                                   \
		} else {                                                                          \
			id = launch_stack_id(id);                                                 \
			row = batch_slot(GPROF_TABLE_##table);                                    \
			*row = *in_ring;                                                          \
			row->native_stack = id;                                                   \
		}                                                                                 \
	} while (0)

/* The common columns of both rows are the same bytes. */
static void take_launch(struct ring_thread *thread, const struct gprof_row_head *head)
{
	const struct gprof_row_ring_launch *r = (const struct gprof_row_ring_launch *)head;
	uint32_t shape = launch_shape(r), stack = stack_id(r->native_stack);
	struct gprof_row_api_launch *row = batch_slot(GPROF_TABLE_api_launch);

	memcpy(row, r, offsetof(struct gprof_row_api_launch, shape));
	thread->has_launched = true;
	row->shape = shape;
	row->stream = r->stream;
	row->py_stack = r->py_stack;
	row->native_stack = stack;
	if (period_is_wanted) {
		period_launched(r->thread, shape, r->begin);
	}
	if (hang_is_on) {
		hang_work_launched(row);
	}
}

_Static_assert(offsetof(struct gprof_row_api_launch, shape) ==
		       offsetof(struct gprof_row_ring_launch, shared_bytes),
	"copied as one piece");

static void take_copy(struct ring_thread *thread, const struct gprof_row_head *head)
{
	const struct gprof_row_api_copy *r = (const struct gprof_row_api_copy *)head;

	thread->has_launched = true;
	if (period_is_wanted && (r->copy_kind == COPY_TO_DEVICE || r->copy_kind == COPY_TO_HOST)) {
		period_launched(r->thread, PERIOD_COPY | r->copy_kind, r->begin);
	}
	TAKE_STACKED(api_copy, head);
}

/*
 * CUPTI alone sees the calls of a runtime that is linked statically; their names tell what they do.
 */
static bool starts_work(uint32_t call)
{
	const char *name = calls_name(call);

	return name && (strstr(name, "Launch") || strstr(name, "Memcpy") || strstr(name, "Memset"));
}

static void take_call(struct ring_thread *thread, const struct gprof_row_head *head)
{
	if (!thread->has_launched) {
		thread->has_launched = starts_work(((const struct gprof_row_api *)head)->call);
	}
	TAKE_STACKED(api, head);
}

static void take_nccl(const struct gprof_row_head *head)
{
	if (hang_is_on) {
		hang_work_called((const struct gprof_row_nccl *)head);
	}
	batch_point(head->table, head);
}

static uint32_t inline_text(const struct gprof_row_head *head, size_t row_bytes)
{
	return dictionary_text((const char *)head + row_bytes, head->text_bytes);
}

/* A row whose name follows it in the ring. Defines the text first, since that may write rows. */
#define TAKE_NAMED(table, head)                                                         \
	do {                                                                            \
		uint32_t name_id = inline_text(head, sizeof(struct gprof_row_##table)); \
		struct gprof_row_##table *row = batch_slot(GPROF_TABLE_##table);        \
                                                                                        \
		*row = *(const struct gprof_row_##table *)(head);                       \
		row->name = name_id;                                                    \
	} while (0)

static void take_py_file(const struct gprof_row_head *head)
{
	char path[GPROF_TEXT_BYTES];
	size_t nr_bytes = head->text_bytes < sizeof(path) ? head->text_bytes : sizeof(path) - 1;

	TAKE_NAMED(py_file, head);
	memcpy(path, (const char *)head + sizeof(struct gprof_row_py_file), nr_bytes);
	path[nr_bytes] = 0;
	compiled_code_look(path);
}

/*
 * The name of a file, a peer or a program may have a secret in it, such as a user and a password
 * before a host.
 */
static void take_os_call(const struct gprof_row_head *head)
{
	char text[GPROF_TEXT_BYTES];
	const struct gprof_row_os_call *call = (const struct gprof_row_os_call *)head;
	const char *name = (const char *)(call + 1);
	uint32_t id = 0, stack = stack_id(call->native_stack);
	struct gprof_row_os_call *row;

	if (head->text_bytes) {
		id = dictionary_text(
			text, redact_value(text, sizeof(text), "", name, head->text_bytes));
	}
	row = batch_slot(GPROF_TABLE_os_call);
	*row = *call;
	row->name = id;
	row->native_stack = stack ? stack : call_site_id(call->caller);
}

/*
 * The program may have overwritten the ring. Texts follow their rows there, so a row of a table
 * whose texts are addresses never comes from a ring.
 */
static bool is_whole(const struct gprof_row_head *head)
{
	const struct batch *batch = &batches[head->table];

	return head->table < GPROF_NR_TABLES && batch->values &&
	       batch->row_bytes + (uint64_t)head->text_bytes <= head->bytes;
}

/*
 * Texts that are each another one would fill a stream that has a limit, and leave no room for
 * events. The texts of threads are few.
 */
static bool is_refused(const struct gprof_row_head *head)
{
	return head->text_bytes && head->table != GPROF_TABLE_thread && !stream_takes_texts();
}

/*
 * A row whose name follows it in the ring is copied and gets the id of that name. All other tables
 * come as they are.
 */
void ring_to_rows_add(void *context, struct ring_thread *thread, const struct gprof_row_head *head)
{
	(void)context;
	if (!is_whole(head)) {
		loss_add(LOSS_DAMAGED, 1);
		return;
	}
	if (is_refused(head)) {
		loss_add(LOSS_LIMIT, 1);
		return;
	}
	switch (head->table) {
	case GPROF_TABLE_ring_launch:
		take_launch(thread, head);
		break;
	case GPROF_TABLE_api_copy:
		take_copy(thread, head);
		break;
	case GPROF_TABLE_api:
		take_call(thread, head);
		break;
	case GPROF_TABLE_api_launch: /* a graph's; those of kernels are ring_launch */
		thread->has_launched = true;
		TAKE_STACKED(api_launch, head);
		break;
	case GPROF_TABLE_api_set:
		TAKE_STACKED(api_set, head);
		break;
	case GPROF_TABLE_api_alloc:
		numa_saw((const struct gprof_row_api_alloc *)head);
		TAKE_STACKED(api_alloc, head);
		break;
	case GPROF_TABLE_api_sync:
		TAKE_STACKED(api_sync, head);
		break;
	case GPROF_TABLE_nccl:
		take_nccl(head);
		break;
	case GPROF_TABLE_nccl_comm:
		TAKE_NAMED(nccl_comm, head);
		break;
	case GPROF_TABLE_os_call:
		take_os_call(head);
		break;
	case GPROF_TABLE_nvtx:
		TAKE_NAMED(nvtx, head);
		break;
	case GPROF_TABLE_thread:
		TAKE_NAMED(thread, head);
		break;
	case GPROF_TABLE_op_name:
		TAKE_NAMED(op_name, head);
		break;
	case GPROF_TABLE_op_shape:
		TAKE_NAMED(op_shape, head);
		break;
	case GPROF_TABLE_py_file:
		take_py_file(head);
		break;
	case GPROF_TABLE_py_code:
		TAKE_NAMED(py_code, head);
		break;
	case GPROF_TABLE_op:
		if (head->text_bytes) {
			TAKE_NAMED(op, head);
		} else {
			batch_point(head->table, head);
		}
		break;
	default:
		batch_point(head->table, head);
		break;
	}
}

void ring_to_rows_init(void)
{
	memset(&state, 0, sizeof(state));
	period_begin();
}
