/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says who allocated how much memory, on which device of which process, and how much of it is in
 * use at the end: from events of a framework's allocator, backwards, or from calls of cudaMalloc
 * and its kin. A *place* here is a device of a process, or a kind of memory of the driver.
 */
#ifndef REPORT_MEMORY_MEMORY_H
#define REPORT_MEMORY_MEMORY_H

#include "report/model/model.h"
#include "report/ops/op_walk.h"
#include "report/stats/min_max_sum.h"
#include "report/util/buf.h"
#include "report/util/hash.h"

/*
 * The memory of a device (or of a kind) of a process over time: the peak, what is left at the end,
 * and a curve that fits a terminal. From the totals that allocators report after each event.
 */

#define MEMORY_TIMELINE_POINTS 64u

struct memory_timeline {
	uint64_t nr_allocs, nr_frees;
	uint64_t nr_without_total; /* allocations without a total from the allocator */
	uint64_t peak_bytes, peak_tick;
	uint64_t peak_reserved_bytes; /* 0: not known */
	uint64_t reserved_at_peak_bytes;
	uint64_t last_tick, last_bytes;
	uint64_t first, end; /* ticks that the curve is for: the process's events */
	uint64_t curve[MEMORY_TIMELINE_POINTS]; /* the most in each part of the time */
	bool is_set[MEMORY_TIMELINE_POINTS];
};

void memory_timeline_init(struct memory_timeline *pool, uint64_t first, uint64_t end);

/* The index of the part, of nr_parts equal parts of its time, that contains a tick. */
unsigned int memory_timeline_part(
	const struct memory_timeline *pool, uint64_t tick, unsigned int nr_parts);

/* Is `in_use` a total, after an event of so many bytes? */
static inline bool memory_timeline_is_known(int64_t bytes, uint64_t in_use)
{
	return bytes <= 0 || in_use >= (uint64_t)bytes;
}

/* Did the allocator report a total? If not, there is neither peak nor curve. */
bool memory_timeline_has_totals(const struct memory_timeline *pool);

/* Bytes in a unit that fits, with one decimal: "26.2 MB". */
void memory_timeline_add_bytes(struct buf *out, uint64_t bytes);

/* The curve, `title` above it. */
void memory_timeline_draw(const struct memory_timeline *pool, const char *title, struct buf *out);

#define MEMORY_DRIVER 128u

/* Peaks of a process, each of the GPU that has the most. */
enum memory_peak {
	MEMORY_PEAK_ALLOCATED,	 /* by a framework's allocator */
	MEMORY_PEAK_RESERVED,	 /* likewise */
	MEMORY_PEAK_CUDA_MALLOC, /* by calls, where no allocator reports */
	NR_MEMORY_PEAKS,
};

/* The memory that an operator allocated on a device. */
struct memory_row {
	struct {
		uint32_t place; /* in memory.places */
		uint32_t name;	/* of string_pool.h, 0 outside of operators */
	} key;
	struct min_max_sum allocs; /* bytes */
	uint64_t nr_live, live_bytes;
	uint64_t at_peak_bytes; /* of these in use at the peak of its place */
	uint64_t seen_peak;	/* the place's peak when that was found, see memory_replay */
	UT_hash_handle hh;
};

struct memory_place {
	struct process *process;
	uint8_t device_type, device; /* types from MEMORY_DRIVER on: enum gprof_space + that */
	struct memory_timeline pool;
	uint64_t live_bytes;	/* of all rows, see memory_add_live */
	bool has_nameless_free; /* see memory_is_nameless_free */
};

/* The index of a place in memory.places. */
struct memory_number {
	struct {
		const struct process *process;
		uint64_t device; /* type << 8 | device */
	} key;
	uint32_t place;
	UT_hash_handle hh;
};

/* An address that is freed later, see memory_freed; or one in use, see memory_replay. */
struct memory_block {
	struct {
		uint64_t address;
		uint64_t place;
	} key;
	uint64_t bytes;
	uint64_t tick, freed; /* when it was allocated, when it was freed */
	struct memory_row *row;
	UT_hash_handle hh;
};

struct memory_total {
	uint64_t tick, in_use;
	uint64_t reserved; /* 0: not known */
};

/* A call of cudaMalloc and its kin. */
struct memory_call {
	uint64_t tick, address, bytes;
	uint32_t call;
	uint8_t space;
	bool is_free;
};

struct memory {
	struct memory_row *rows;
	struct memory_block *blocks; /* of the current process */
	struct memory_place *places;
	size_t nr_places, place_capacity;
	struct memory_number *numbers;
	/* The ticks of the events of the process that they were last looked up of. */
	const struct process *ticks_of;
	uint64_t first_tick, last_tick;
	/* NULL, or who wants to know what is in use after each event with a total. */
	void (*on_change)(void *context, uint32_t place, const struct memory_total *total);
	/* The same of each block of a replay; freed: a tick or MEMORY_LEFT. */
	void (*block)(void *context, const struct memory_block *block, uint64_t freed);
	void *context;
};

/* Starts with all zeros. */
void memory_fini(struct memory *memory);

/* The next process: no addresses yet. */
void memory_forget(struct memory *memory);

/* The number of a device's (or kind's) place, and the row of a name there. */
uint32_t memory_place(
	struct memory *memory, struct process *process, uint8_t device_type, uint8_t device);
struct memory_row *memory_row(struct memory *memory, uint32_t place, uint32_t name);

/* An event at a place: see memory_timeline_take. */
void memory_take(
	struct memory *memory, uint32_t place, int64_t bytes, const struct memory_total *after);

/* Sets the name of a place: "CPU", "GPU 0", "pinned host memory". */
#define MEMORY_NAME_BYTES 64u
void memory_place_name(const struct memory_place *place, char *text);

/* A free without an address: it is unknown which allocation it frees. */
static inline bool memory_is_nameless_free(const struct op_alloc *alloc)
{
	return alloc->bytes < 0 && !alloc->address;
}
#define MEMORY_NAMELESS "frees have no address, so it is unknown what they free"

/*
 * For events from the last to the first: a free comes before its allocation. Returns when an
 * allocation is freed; MEMORY_LEFT if no free came for it: it is left at the end unless the place
 * has nameless frees. Returns 0 for a free.
 */
#define MEMORY_LEFT UINT64_MAX
uint64_t memory_freed(struct memory *memory, uint32_t place, const struct op_alloc *alloc);

/* Adds up what the rows of each place have in use at the end. */
void memory_add_live(struct memory *memory);

/*
 * Returns a sentence why the memory in use at the end of a place is unknown, or NULL if it is
 * known. Frees without an address match no allocation; and more than the device has means that
 * frees are missing.
 */
const char *memory_live_unknown(const struct memory_place *place);

/* The next call, in the order of time; and the end of them, for what was in use at the peaks. */
void memory_replay(struct memory *memory, struct process *process, const struct memory_call *call);
void memory_replay_end(struct memory *memory);

#endif
