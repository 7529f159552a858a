/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks of PyTorch's CPU allocator that are in use: a report of a free does not say how large
 * the block was. A table of fixed size without locks; a block belongs to one caller at a time.
 */
#ifndef PRELOAD_TORCH_LIVE_BLOCKS_H
#define PRELOAD_TORCH_LIVE_BLOCKS_H

#include <stdint.h>

/*
 * A block that was just allocated. Returns the bytes in use with it; 0 if the table has no room,
 * which counts as a loss.
 */
uint64_t live_blocks_add(uintptr_t address, uint64_t nr_bytes);

/*
 * A block that is about to be freed. Returns its size, 0 if it is unknown; *in_use_bytes: without
 * it.
 */
uint64_t live_blocks_remove(uintptr_t address, uint64_t *in_use_bytes);

#endif
