/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two kinds of buffers. One with chains of frame pointers has small records: it is read ten times
 * a second, and grows for threads that run all the time in deep stacks. In one with copies of
 * stacks a record has 8 KiB, whatever is in it: it wakes the drain when it is half full, and grows
 * if the drain comes so late that it is three quarters full. The first thread, which mostly has the
 * training loop, has room for a second at once. These leave the first kind the memory that many
 * threads need, or three quarters of all: threads have that kind when there is no more for copies.
 */
#include "collector/sample/cpu_room.h"

#include <unistd.h>

#include "collector/sample/cpu_ring.h"

/* Reads per second of buffers with chains. */
#define SECOND_READS 10u
/* Their first size fits a stack of some 20 frames, and leaves memory for so many threads. */
#define USUAL_RECORD_BYTES 192u
#define USUAL_THREADS	   128u
/* First bytes for context switches, and most: half of them last for 1,365 and 21,845 switches. */
#define SWITCHES_BYTES	    (64u << 10)
#define MOST_SWITCHES_BYTES (1u << 20)
/* A roomy buffer has room for so many intervals between reads, and takes that part of all. */
#define ROOMY_READS 16u

/*
 * One with copies has room for that part of a second: where CPUs are scarce, the drain comes late.
 * A larger one, for a whole second, takes at most that part of their memory.
 */
#define COPY_SECOND_PARTS 4u
#define COPY_PARTS	  4u
/* A buffer holds so many where samples are rare: the drain comes when it is half full. */
#define MIN_RECORDS 4u
/* All of a process. */
#define COPY_BYTES (10u << 20)

static struct {
	uint64_t locked_bytes, max_locked_bytes;
	uint64_t copy_bytes, max_copy_bytes; /* the part of these that buffers with copies have */
	uint32_t first_bytes, roomy_bytes, most_bytes;
	uint32_t first_copy_bytes, most_copy_bytes;
	uint32_t page_bytes;
} room;

/* The size of a buffer with room for that, which leaves enough for as many others as `parts`. */
static uint32_t size_for(uint64_t wanted_bytes, uint64_t bytes, uint64_t parts)
{
	return cpu_ring_bytes(wanted_bytes, room.page_bytes, bytes / parts);
}

static void size_copies(uint64_t hz)
{
	const uint64_t second = hz * CPU_RING_RECORD_BYTES;
	const uint64_t chain_bytes = USUAL_THREADS * cpu_ring_locked_bytes(room.first_bytes);
	const uint64_t least = MIN_RECORDS * CPU_RING_RECORD_BYTES;
	uint64_t wanted = second / COPY_SECOND_PARTS;

	room.max_copy_bytes = room.max_locked_bytes / 4;
	if (room.max_locked_bytes > room.max_copy_bytes + chain_bytes) {
		room.max_copy_bytes = room.max_locked_bytes - chain_bytes;
	}
	room.max_copy_bytes = room.max_copy_bytes < COPY_BYTES ? room.max_copy_bytes : COPY_BYTES;
	wanted = wanted > least ? wanted : least;
	room.first_copy_bytes = size_for(wanted, UINT32_MAX, 1);
	room.most_copy_bytes = size_for(second, room.max_copy_bytes, COPY_PARTS);
	if (room.most_copy_bytes < room.first_copy_bytes) {
		room.most_copy_bytes = room.first_copy_bytes;
	}
}

void cpu_room_begin(uint64_t hz, bool is_asked, bool has_switches)
{
	const uint64_t switches_bytes = has_switches ? SWITCHES_BYTES : 0;
	const uint64_t most_switches_bytes = has_switches ? MOST_SWITCHES_BYTES : 0;
	const uint64_t second_bytes = hz * USUAL_RECORD_BYTES;

	room.locked_bytes = room.copy_bytes = 0;
	room.page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	room.max_locked_bytes = cpu_ring_most_locked_bytes() / (is_asked ? 1 : 2);
	room.first_bytes = size_for(
		second_bytes / SECOND_READS + switches_bytes, room.max_locked_bytes, USUAL_THREADS);
	/* A program that forks all the time hardly lets this thread read what its first one does.
	 */
	room.roomy_bytes = size_for(ROOMY_READS * second_bytes / SECOND_READS + switches_bytes,
		room.max_locked_bytes, ROOMY_READS);
	/* Two reads may lie twice as far apart where CPUs are scarce. */
	room.most_bytes =
		size_for(2 * hz * CPU_RING_CHAIN_BYTES / SECOND_READS + most_switches_bytes,
			room.max_locked_bytes, 1);
	size_copies(hz);
}

bool cpu_room_has_copies(void)
{
	return cpu_ring_locked_bytes(room.first_copy_bytes) <= room.max_copy_bytes;
}

uint32_t cpu_room_first(bool is_main, bool copies_stack)
{
	if (copies_stack) {
		return is_main ? room.most_copy_bytes : room.first_copy_bytes;
	}
	return is_main ? room.roomy_bytes : room.first_bytes;
}

uint32_t cpu_room_least(void)
{
	return room.page_bytes;
}

uint32_t cpu_room_larger(uint32_t ring_bytes, bool copies_stack)
{
	uint64_t bytes = 2 * (uint64_t)ring_bytes;

	return bytes <= (copies_stack ? room.most_copy_bytes : room.most_bytes) ? (uint32_t)bytes
										: 0;
}

bool cpu_room_take(uint32_t ring_bytes, bool copies_stack)
{
	uint64_t nr_bytes = cpu_ring_locked_bytes(ring_bytes);

	if (room.locked_bytes + nr_bytes > room.max_locked_bytes ||
		(copies_stack && room.copy_bytes + nr_bytes > room.max_copy_bytes)) {
		return false;
	}
	room.locked_bytes += nr_bytes;
	room.copy_bytes += copies_stack ? nr_bytes : 0;
	return true;
}

void cpu_room_give_back(uint32_t ring_bytes, bool copies_stack)
{
	uint64_t nr_bytes = cpu_ring_locked_bytes(ring_bytes);

	room.locked_bytes -= nr_bytes;
	room.copy_bytes -= copies_stack ? nr_bytes : 0;
}

bool cpu_room_is_free(void)
{
	return !room.locked_bytes;
}
