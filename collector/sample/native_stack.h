/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assigns ids to files of machine code and to stacks, and adds the rows that define them, as
 * dictionary.h does. For the drain thread.
 */
#ifndef COLLECTOR_SAMPLE_NATIVE_STACK_H
#define COLLECTOR_SAMPLE_NATIVE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A longer build ID is cut. Linkers write 20 bytes, and 32 at most. */
#define NATIVE_STACK_BUILD_ID_BYTES 32u

/* Returns 0 or -ENOMEM. In a forked child, uses the parent's memory again. */
int native_stack_init(void);

/* Has it memory? */
bool native_stack_is_on(void);

/* Releases the memory. */
void native_stack_fini(void);

/*
 * The id of a file; build_id: its bytes, of which there may be none. Ids are good until
 * dictionary_era changes, as those of stacks are.
 */
uint32_t native_stack_file(const char *path, const uint8_t *build_id, size_t nr_bytes);

/* The id of the stack whose innermost frame is at that address; see table native_stack. */
uint32_t native_stack_add(uint32_t parent, uint32_t file, uint64_t address);

/* The id of the stack that stands for outer frames which are unknown: it is their only caller. */
uint32_t native_stack_outer(void);

#endif
