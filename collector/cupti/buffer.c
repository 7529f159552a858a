/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI requests and completes buffers on threads of the target, so that side only moves indexes
 * between stacks without locks: free, in CUPTI, full, at the drain, free. A completed buffer is
 * recognised by its address: ours, a scratch that stood in for one while the pool was empty, or the
 * client's.
 */
#include "collector/cupti/buffer.h"

#include <stdatomic.h>
#include <string.h>

#include "collector/cupti/cupti.h"
#include "collector/ring/ring.h"
#include "collector/util/loss.h"
#include "collector/util/memory.h"
#include "collector/util/pace.h"
#include "collector/util/stack.h"

/* Small enough that many threads can hold one each, large enough for 1,200 kernels. */
#define BUFFER_BYTES (256u << 10)
#define MAX_BUFFERS  65536u
/* From this API version (CUDA 12.9) on a refused buffer does not crash CUPTI. */
#define MAY_REFUSE    27u
#define SCRATCH_BYTES (64u << 10)
#define NR_SCRATCHES  256u
#define NR_CLIENTS    16u

/* The buffer functions of another client; written before they are published, then only read. */
struct client {
	cupti_buffer_requested_fn requested;
	cupti_buffer_completed_fn completed;
};

/* The state of other clients, which a forked child keeps. */
static struct lent_state {
	struct client clients[NR_CLIENTS];
	_Atomic uint32_t nr_clients;
	const struct client
		*_Atomic client; /* the last one that registered, unless CUPTI was ended */
	const struct client *_Atomic giver; /* the same, whose buffers may still return */
	atomic_bool is_lent;		    /* its function is called for buffers */
	_Atomic uint32_t nr_theirs;	    /* buffers of its that CUPTI has */
	_Atomic uint64_t nr_records;	    /* in them that we would have taken */
	bool (*is_wanted)(const struct cupti_record *record);
} lent;

static struct buffer_state {
	char *pool;		     /* NULL: not made */
	_Atomic uint32_t nr_buffers; /* the drain may look while they are made */
	_Atomic uint32_t *links;
	_Atomic size_t *valid_bytes;
	struct stack free;
	struct stack full;
	struct stack ordered; /* full ones, the oldest on top; only the drain uses it */
	_Atomic uint32_t nr_full;
	_Atomic uint32_t nr_out; /* of gprof's buffers that CUPTI has */
	char *scratch;		 /* NULL where CUPTI may be refused a buffer */
	struct stack free_scratches;
	_Atomic uint32_t *scratch_links;
	_Atomic uint32_t nr_asked; /* CUPTI has taken all buffers below this index */
	_Atomic uint32_t nr_touched;
} state;

/* So many buffers have their page faults before CUPTI first takes them. */
#define TOUCH_AHEAD 8u

/* ---- CUPTI's side: any thread, no lock, no CUPTI call ---- */

static bool is_in(const char *area, size_t area_bytes, const uint8_t *buffer, size_t *offset)
{
	*offset = (size_t)((uintptr_t)buffer - (uintptr_t)area);
	return area && *offset < area_bytes;
}

/* Returns room for records that will be counted as lost and thrown away. */
static uint8_t *take_scratch(void)
{
	uint32_t index =
		state.scratch ? stack_pop(&state.free_scratches, state.scratch_links) : STACK_NONE;

	return index == STACK_NONE ? NULL
				   : (uint8_t *)state.scratch + (size_t)index * SCRATCH_BYTES;
}

/* Buffers with lower indexes are taken first, so all below this one were in use. */
static void note_asked(uint32_t index)
{
	uint32_t nr_asked = atomic_load(&state.nr_asked);

	while (index >= nr_asked) {
		if (atomic_compare_exchange_weak(&state.nr_asked, &nr_asked, index + 1)) {
			if (index + TOUCH_AHEAD / 2 >= atomic_load(&state.nr_touched)) {
				ring_wake();
			}
			return;
		}
	}
}

static void request_ours(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	uint32_t index = state.pool ? stack_pop(&state.free, state.links) : STACK_NONE;

	*max_records = 0;
	if (index != STACK_NONE) {
		atomic_fetch_add(&state.nr_out, 1);
		note_asked(index);
		*buffer = (uint8_t *)state.pool + (size_t)index * BUFFER_BYTES;
		*bytes = BUFFER_BYTES;
		return;
	}
	/* Without a buffer CUPTI drops records and counts them, see count_dropped in activity.c. */
	ring_wake();
	*buffer = take_scratch();
	*bytes = *buffer ? SCRATCH_BYTES : 0;
}

static void on_requested(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	const struct client *client = atomic_load(&lent.client);

	if (!atomic_load(&lent.is_lent) || !client) {
		request_ours(buffer, bytes, max_records);
		return;
	}
	client->requested(buffer, bytes, max_records);
	if (*buffer) {
		atomic_fetch_add(&lent.nr_theirs, 1);
	}
}

static void complete_scratch(uint32_t index, uint8_t *buffer, size_t valid_bytes)
{
	struct cupti_record *record = NULL;
	uint64_t n = 0;

	while (valid_bytes && !cupti.cuptiActivityGetNextRecord(buffer, valid_bytes, &record)) {
		n++;
	}
	loss_add(LOSS_CUPTI_BUFFER, n);
	memset(buffer, 0, valid_bytes < SCRATCH_BYTES ? valid_bytes : SCRATCH_BYTES);
	stack_push(&state.free_scratches, state.scratch_links, index);
}

static void complete_ours(uint32_t index, size_t valid_bytes)
{
	atomic_store(&state.valid_bytes[index], valid_bytes);
	stack_push(&state.full, state.links, index);
	atomic_fetch_sub(&state.nr_out, 1);
	/* Early enough that CUPTI does not run out of buffers while the drain catches up. */
	if (atomic_fetch_add(&state.nr_full, 1) + 1 >= state.nr_buffers / 4) {
		ring_wake();
	}
}

static uint64_t count_wanted(uint8_t *buffer, size_t valid_bytes)
{
	struct cupti_record *record = NULL;
	uint64_t n = 0;

	/* Before the first lending, gprof would have wanted none of its records. */
	while (state.pool && lent.is_wanted && valid_bytes &&
		!cupti.cuptiActivityGetNextRecord(buffer, valid_bytes, &record)) {
		n += lent.is_wanted(record);
	}
	return n;
}

static void complete_theirs(
	void *context, uint32_t stream_id, uint8_t *buffer, size_t bytes, size_t valid_bytes)
{
	const struct client *client = atomic_load(&lent.giver);
	uint32_t n = atomic_load(&lent.nr_theirs);

	if (!client || !buffer) {
		return;
	}
	atomic_fetch_add(&lent.nr_records, count_wanted(buffer, valid_bytes));
	client->completed(context, stream_id, buffer, bytes, valid_bytes);
	/* Those that CUPTI had before it knew us were not counted. */
	while (n && !atomic_compare_exchange_weak(&lent.nr_theirs, &n, n - 1)) {
	}
}

/* A buffer returns to its provider, whichever client records now. */
static void on_completed(
	void *context, uint32_t stream_id, uint8_t *buffer, size_t bytes, size_t valid_bytes)
{
	size_t at;

	if (is_in(state.pool, (size_t)state.nr_buffers * BUFFER_BYTES, buffer, &at)) {
		complete_ours((uint32_t)(at / BUFFER_BYTES), valid_bytes);
	} else if (is_in(state.scratch, (size_t)NR_SCRATCHES * SCRATCH_BYTES, buffer, &at)) {
		complete_scratch((uint32_t)(at / SCRATCH_BYTES), buffer, valid_bytes);
	} else {
		complete_theirs(context, stream_id, buffer, bytes, valid_bytes);
	}
}

/* ---- our side ---- */

static bool make_scratches(void)
{
	state.scratch_links = memory_map(NR_SCRATCHES * sizeof(*state.scratch_links));
	state.scratch =
		state.scratch_links ? memory_map((size_t)NR_SCRATCHES * SCRATCH_BYTES) : NULL;
	stack_init(&state.free_scratches);
	for (uint32_t n = NR_SCRATCHES; state.scratch && n--;) {
		stack_push(&state.free_scratches, state.scratch_links, n);
	}
	return state.scratch != NULL;
}

/* Sets state.pool last, since other threads look at it to see whether there are buffers. */
bool buffer_init(uint64_t pool_bytes)
{
	uint32_t n = (uint32_t)(pool_bytes / BUFFER_BYTES);
	char *pool;

	if (state.pool) {
		return true;
	}
	n = n < MAX_BUFFERS ? n : MAX_BUFFERS;
	state.links = memory_map(n * sizeof(*state.links));
	state.valid_bytes = memory_map(n * sizeof(*state.valid_bytes));
	pool = memory_map((size_t)n * BUFFER_BYTES);
	if (!state.links || !state.valid_bytes || !pool ||
		(cupti.version < MAY_REFUSE && !make_scratches())) {
		return false;
	}
	atomic_store(&state.nr_buffers, n);
	stack_init(&state.free);
	stack_init(&state.full);
	stack_init(&state.ordered);
	while (n--) {
		stack_push(&state.free, state.links, n); /* the lowest is used first */
	}
	state.pool = pool;
	return true;
}

uint32_t buffer_register(void)
{
	return cupti.cuptiActivityRegisterCallbacks(on_requested, on_completed);
}

bool buffer_is_ready(void)
{
	return state.pool != NULL;
}

void buffer_touch(void)
{
	uint32_t until = atomic_load(&state.nr_asked) + TOUCH_AHEAD;
	uint32_t nr = atomic_load(&state.nr_buffers);

	until = until < nr ? until : nr;
	for (uint32_t i = atomic_load(&state.nr_touched); state.pool && i < until; i++) {
		memory_touch(state.pool + (size_t)i * BUFFER_BYTES, BUFFER_BYTES);
		atomic_store(&state.nr_touched, i + 1);
		pace_look();
	}
}

/* Steps that kernels end are in the order of their records. */
bool buffer_take(struct buffer *buffer)
{
	uint32_t index = state.pool ? stack_pop_oldest(&state.ordered, &state.full, state.links)
				    : STACK_NONE;

	if (index == STACK_NONE) {
		return false;
	}
	buffer->index = index;
	buffer->bytes = (uint8_t *)state.pool + (size_t)index * BUFFER_BYTES;
	buffer->valid_bytes = atomic_load(&state.valid_bytes[index]);
	return true;
}

void buffer_give_back(const struct buffer *buffer)
{
	memset(buffer->bytes, 0,
		buffer->valid_bytes < BUFFER_BYTES ? buffer->valid_bytes : BUFFER_BYTES);
	atomic_fetch_sub(&state.nr_full, 1);
	stack_push(&state.free, state.links, buffer->index);
}

unsigned int buffer_fill(void)
{
	uint32_t n = atomic_load(&state.nr_buffers);

	return n ? atomic_load(&state.nr_full) * 256u / n : 0;
}

uint32_t buffer_nr_ours(void)
{
	return atomic_load(&state.nr_out);
}

/* ---- with another client ---- */

void buffer_client_register(
	cupti_buffer_requested_fn requested, cupti_buffer_completed_fn completed)
{
	uint32_t n = atomic_load(&lent.nr_clients);
	struct client *client = NULL;

	for (uint32_t i = 0; i < n && i < NR_CLIENTS; i++) {
		if (lent.clients[i].requested == requested &&
			lent.clients[i].completed == completed) {
			client = &lent.clients[i];
		}
	}
	if (!client) {
		client = &lent.clients[atomic_fetch_add(&lent.nr_clients, 1) % NR_CLIENTS];
		client->requested = requested;
		client->completed = completed;
	}
	atomic_store(&lent.giver, client);
	atomic_store(&lent.client, client);
}

void buffer_lend(bool is_lent, bool (*is_wanted)(const struct cupti_record *record))
{
	lent.is_wanted = is_wanted;
	atomic_store(&lent.is_lent, is_lent);
}

uint32_t buffer_nr_theirs(void)
{
	return atomic_load(&lent.nr_theirs);
}

uint64_t buffer_take_nr_records(void)
{
	return atomic_exchange(&lent.nr_records, 0);
}

void buffer_lost(void)
{
	atomic_store(&lent.client, NULL);
	atomic_store(&lent.nr_theirs, 0);
}

void buffer_forget(void)
{
	state = (struct buffer_state){0};
}
