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

/* The id of a shape, whose head, id and padding are 0. */
uint32_t define_shape(const struct gprof_row_shape *shape);

/* The places met last, by context and stream. */
#define DEFINE_NR_KNOWN_PLACES 64u
struct define_known_place {
	uint32_t device, context, stream;
	uint32_t id; /* 0: none yet */
};

extern struct define_known_place define_known_places[DEFINE_NR_KNOWN_PLACES]
	__attribute__((visibility("hidden")));

static inline struct define_known_place *define_known_place(uint32_t context, uint32_t stream)
{
	return &define_known_places[(stream ^ context << 3) % DEFINE_NR_KNOWN_PLACES];
}

uint32_t define_place_slow(uint32_t device, uint32_t context, uint32_t stream);

/* The id of a place. */
static inline uint32_t define_place(uint32_t device, uint32_t context, uint32_t stream)
{
	const struct define_known_place *known = define_known_place(context, stream);

	if (known->id && known->device == device && known->context == context &&
		known->stream == stream) {
		return known->id;
	}
	return define_place_slow(device, context, stream);
}

#endif
