/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assigns ids to values that many rows share, and adds the rows that define them. For the drain
 * thread.
 */
#ifndef COLLECTOR_STREAM_DICTIONARY_H
#define COLLECTOR_STREAM_DICTIONARY_H

#include <stdbool.h>

#include "collector/format/format.h"

/* Returns 0 or -ENOMEM. */
int dictionary_init(void);

/*
 * Definitions may be missing in the stream: all is defined again, by new ids, when it is used the
 * next time.
 */
void dictionary_forget(void);

/* Counts these, for whoever assigns ids of its own to what the stream defines. */
uint32_t dictionary_era(void);

/* At each flush: a notice if there is more of something than is remembered. */
void dictionary_look(void);

/* The id of a text (0 for none); longer than GPROF_TEXT_BYTES it is cut, and counted as such. */
uint32_t dictionary_text(const char *bytes, uint64_t nr_bytes);

/* C strings by address, whose text was compared with our copy since dictionary_names_may_change. */
#define DICTIONARY_NR_KNOWN_NAMES 1024u
struct dictionary_known_name {
	const char *name;
	uint32_t era; /* when it was compared last */
	uint32_t id;
};

struct dictionary_names {
	struct dictionary_known_name known[DICTIONARY_NR_KNOWN_NAMES];
	uint32_t era; /* never 0 */
};

extern struct dictionary_names dictionary_names __attribute__((visibility("hidden")));

static inline struct dictionary_known_name *dictionary_known_name(const char *name)
{
	return &dictionary_names.known[((uint64_t)(uintptr_t)name * 0x9e3779b97f4a7c15u) >> 54];
}

uint32_t dictionary_name_slow(const char *name);

/*
 * As dictionary_text, for a C string (NULL: none) that neither moves nor changes until
 * dictionary_names_may_change: CUPTI keeps the name of a kernel while records use it.
 */
static inline uint32_t dictionary_name(const char *name)
{
	const struct dictionary_known_name *known = dictionary_known_name(name);

	return known->name == name && known->era == dictionary_names.era
		       ? known->id
		       : dictionary_name_slow(name);
}

void dictionary_names_may_change(void);

/* The id of a shape, with head, id and padding 0. */
uint32_t dictionary_shape(const struct gprof_row_shape *shape);

/*
 * Adds the name of the kernel that the CPU function at `address` launched at the time `raw`, once,
 * if it is known. Returns 0, or the name for the shape of that launch, where the address has meant
 * another kernel before. *is_lasting: later launches by the address are the same kernel's, until
 * kernel_names_era changes.
 */
uint32_t dictionary_function(uint64_t address, uint64_t raw, bool *is_lasting);

/* The places met last, by context and stream. */
#define DICTIONARY_NR_KNOWN_PLACES 64u
struct dictionary_known_place {
	uint32_t device, context, stream;
	uint32_t id; /* 0: none yet */
};

extern struct dictionary_known_place dictionary_known_places[DICTIONARY_NR_KNOWN_PLACES]
	__attribute__((visibility("hidden")));

static inline struct dictionary_known_place *dictionary_known_place(
	uint32_t context, uint32_t stream)
{
	return &dictionary_known_places[(stream ^ context << 3) % DICTIONARY_NR_KNOWN_PLACES];
}

uint32_t dictionary_place_slow(uint32_t device, uint32_t context, uint32_t stream);

/* The id of a place. */
static inline uint32_t dictionary_place(uint32_t device, uint32_t context, uint32_t stream)
{
	const struct dictionary_known_place *known = dictionary_known_place(context, stream);

	if (known->id && known->device == device && known->context == context &&
		known->stream == stream) {
		return known->id;
	}
	return dictionary_place_slow(device, context, stream);
}

#endif
