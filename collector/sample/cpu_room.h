/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How large the kernel's buffers of threads are (cpu_ring.h): the memory in them counts against
 * what the user may lock, which others of the user want, too. For the drain thread.
 */
#ifndef COLLECTOR_SAMPLE_CPU_ROOM_H
#define COLLECTOR_SAMPLE_CPU_ROOM_H

#include <stdbool.h>
#include <stdint.h>

/*
 * hz: samples of a thread per second. is_asked: the user wants them; else others keep half.
 * has_switches: buffers have room for context switches, too.
 */
void cpu_room_begin(uint64_t hz, bool is_asked, bool has_switches);

/* Is there room for copies of stacks at that rate, of one thread at least? */
bool cpu_room_has_copies(void);

/* The size of a thread's first buffer, without its first page; is_main: of the process's first. */
uint32_t cpu_room_first(bool is_main, bool copies_stack);

/* The least size. */
uint32_t cpu_room_least(void);

/* The size after that one; 0: none is larger. */
uint32_t cpu_room_larger(uint32_t ring_bytes, bool copies_stack);

/* Counts a buffer; false if the user may not lock so much more. */
bool cpu_room_take(uint32_t ring_bytes, bool copies_stack);
void cpu_room_give_back(uint32_t ring_bytes, bool copies_stack);

/* Does no thread have a buffer? */
bool cpu_room_is_free(void);

#endif
