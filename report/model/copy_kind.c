/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names copies and sets, and finds the memory kind of an address for processes that have calls but
 * no device records, so that no activity says which kind of memory a copy read or wrote. Callers
 * create one replay of table api_alloc for a process, then look up addresses of its copies. The
 * replay is a list of lives, sorted by address and then by birth: an allocation lives from the call
 * that made it to the call that freed it.
 */
#include "report/model/copy_kind.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/model/api.h"
#include "report/util/buf.h"
#include "report/util/sort.h"

/*
 * Addresses are reused, so many dead lives may stand below an address: the search gives up after
 * this many.
 */
#define MAX_STEPS 256u

uint32_t copy_name(uint32_t kind)
{
	char text[128];
	const char *source = api_memory_name(copy_source_of(kind));
	const char *target = api_memory_name(copy_target_of(kind));
	const char *call = kind & COPY_IS_HOST_CALL ? ", host call" : "";
	const char *whole =
		api_whole_name(kind & COPY_IS_SET ? copy_target_of(kind) : copy_kind_of(kind));
	int length;

	if (whole) {
		return string_pool_intern(whole, strlen(whole));
	}
	if (copy_is_bare(kind)) {
		length = snprintf(
			text, sizeof(text), "%s%s", kind & COPY_IS_SET ? "Memset" : "Memcpy", call);
	} else if (kind & COPY_IS_SET) {
		length = snprintf(text, sizeof(text), "Memset (%s)%s", target, call);
	} else {
		length = snprintf(text, sizeof(text), "Memcpy %s (%s -> %s)%s",
			api_copy_name(copy_kind_of(kind)), source, target, call);
	}
	return string_pool_intern(text, (size_t)length);
}

struct life {
	uint64_t address, end;
	uint64_t born, died; /* ticks */
	uint8_t space;	     /* enum gprof_space */
	bool is_free;	     /* while reading: this call frees */
};

struct address_kinds {
	struct life *lives;
	size_t nr_lives, capacity;
};

/* At the same address and tick, the allocation comes before the free that ends it. */
static int by_address_then_time(const void *a, const void *b)
{
	const struct life *x = a, *y = b;

	return ORDER(COMPARE(x->address, y->address), COMPARE(x->born, y->born),
		x->is_free - y->is_free);
}

uint64_t address_kinds_tick(const struct batch *batch, uint32_t row)
{
	uint64_t begin = batch->col[COL_api_alloc_begin][row];
	uint64_t end = begin + batch->col[COL_api_alloc_dur][row];

	return batch->col[COL_api_alloc_op][row] || end < begin ? begin : end;
}

/*
 * Calls that failed allocate and free nothing. A free is a row of the list too, until pair_up() has
 * used it.
 */
static void add_batch(struct address_kinds *pointers, const struct batch *batch)
{
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		uint64_t address = batch->col[COL_api_alloc_address][i];
		uint64_t bytes = batch->col[COL_api_alloc_bytes][i];
		bool is_free = batch->col[COL_api_alloc_op][i] != 0;

		if (!address || batch->col[COL_api_alloc_result][i]) {
			continue;
		}
		pointers->lives = array_grow(pointers->lives, pointers->nr_lives,
			&pointers->capacity, sizeof(*pointers->lives));
		pointers->lives[pointers->nr_lives++] = (struct life){.address = address,
			.end = address + bytes < address ? UINT64_MAX : address + bytes,
			.born = address_kinds_tick(batch, i),
			.died = UINT64_MAX,
			.space = (uint8_t)batch->col[COL_api_alloc_space][i],
			.is_free = is_free};
	}
}

/* Each call that frees ends the previous allocation at its address. */
static void pair_up(struct address_kinds *pointers)
{
	size_t nr_kept = 0;

	for (size_t i = 0; i < pointers->nr_lives; i++) {
		struct life *life = &pointers->lives[i];
		struct life *before = nr_kept ? &pointers->lives[nr_kept - 1] : NULL;

		if (before && before->address == life->address && before->died == UINT64_MAX) {
			before->died = life->born;
		}
		if (!life->is_free) {
			pointers->lives[nr_kept++] = *life;
		}
	}
	pointers->nr_lives = nr_kept;
}

struct address_kinds *address_kinds_create(struct process *process)
{
	struct address_kinds *pointers = mem_zeroed(1, sizeof(*pointers));
	struct stream *stream = process->stream;

	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_block_table(stream, i) == GPROF_TABLE_api_alloc &&
			!stream_load(stream, i, COL_ALL(NR_COL_api_alloc), 0, &batch)) {
			add_batch(pointers, &batch);
		}
	}
	if (pointers->nr_lives) {
		qsort(pointers->lives, pointers->nr_lives, sizeof(struct life),
			by_address_then_time);
		pair_up(pointers);
	}
	return pointers;
}

void address_kinds_destroy(struct address_kinds *pointers)
{
	if (pointers) {
		free(pointers->lives);
		free(pointers);
	}
}

static uint32_t memory_kind(uint8_t space)
{
	switch (space) {
	case GPROF_SPACE_HOST:
		return API_MEMORY_PINNED;
	case GPROF_SPACE_MANAGED:
		return API_MEMORY_MANAGED;
	case GPROF_SPACE_ARRAY:
		return API_MEMORY_ARRAY;
	default:
		return API_MEMORY_DEVICE;
	}
}

/*
 * Starts at the last life that begins at the address or below, and walks down. The nearest one that
 * contains the address may be dead at that tick, so the walk goes on behind it.
 */
uint32_t address_kinds_find(const struct address_kinds *pointers, uint64_t address, uint64_t tick)
{
	size_t at;

	BISECT(at, 0, pointers->nr_lives, pointers->lives[at].address <= address);
	for (size_t steps = 0; at-- > 0 && steps < MAX_STEPS; steps++) {
		const struct life *life = &pointers->lives[at];

		if (address < life->end && life->born <= tick && tick < life->died) {
			return memory_kind(life->space);
		}
	}
	return API_MEMORY_UNKNOWN;
}
