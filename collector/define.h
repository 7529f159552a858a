/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids for what many rows share, with the rows that define them. The drain thread's own.
 */
#ifndef COLLECTOR_DEFINE_H
#define COLLECTOR_DEFINE_H

#include "collector/format.h"

/* Returns 0 or -ENOMEM. */
int define_init(void);

/* The id of a text (0 for none); longer than GPROF_TEXT_BYTES it is cut, and counted as such. */
uint32_t define_text(const char *bytes, uint64_t nr_bytes);

/*
 * The same for a C string that lies where it lay before, as CUPTI's kernel names do: the address
 * is looked up first, and the text compared with what is known of it.
 */
uint32_t define_name(const char *name);

/* The ids of a shape, whose head, id and padding are 0, and of a place. */
uint32_t define_shape(const struct gprof_row_shape *shape);
uint32_t define_place(uint32_t device, uint32_t context, uint32_t stream);

#endif
