/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for what is kept to the end, in pieces; without a lock, for any thread. */
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
 * Returns nr_bytes, fewer than PIECES_BYTES, that nobody else gets; NULL if there is no memory, or
 * they would need more than max_pieces.
 */
void *pieces_take(struct pieces *pieces, uint32_t nr_bytes, uint32_t max_pieces);

#endif
