/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is kept until the process ends, taken in pieces. Any thread; no lock. */
#ifndef COLLECTOR_UTIL_PIECES_H
#define COLLECTOR_UTIL_PIECES_H

#include <stdatomic.h>
#include <stdint.h>

#define PIECES_BYTES (256u << 10)

struct pieces {
	struct piece *_Atomic last;
	_Atomic uint32_t nr;
};

/*
 * Returns nr_bytes, fewer than PIECES_BYTES, for the caller alone. Returns NULL if there is no
 * memory, or if that takes more than max_pieces.
 */
void *pieces_take(struct pieces *pieces, uint32_t nr_bytes, uint32_t max_pieces);

#endif
