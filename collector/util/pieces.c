/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads reserve bytes at the end of the newest piece. The rest of an older piece stays unused,
 * since nothing is ever given back.
 */
#include "collector/util/pieces.h"

#include <stdbool.h>
#include <sys/mman.h>

#include "collector/util/memory.h"

struct piece {
	_Atomic uint32_t nr_taken;
	char bytes[] __attribute__((aligned(8)));
};

/* Unmaps the new piece if another thread has added one first. */
static bool add_piece(struct pieces *pieces, struct piece *before, uint32_t max_pieces)
{
	struct piece *piece;

	if (atomic_load(&pieces->nr) >= max_pieces) {
		return false;
	}
	piece = memory_map(PIECES_BYTES);
	if (piece && atomic_compare_exchange_strong(&pieces->last, &before, piece)) {
		atomic_fetch_add(&pieces->nr, 1);
	} else if (piece) {
		munmap(piece, PIECES_BYTES);
	}
	return piece != NULL;
}

/* Only the last piece has room: what is left in the others is not used any more. */
void *pieces_take(struct pieces *pieces, uint32_t nr_bytes, uint32_t max_pieces)
{
	const uint32_t room = PIECES_BYTES - sizeof(struct piece);
	struct piece *piece;

	nr_bytes = (nr_bytes + 7) & ~7u;
	if (nr_bytes > room) {
		return NULL;
	}
	do {
		uint32_t at;

		piece = atomic_load(&pieces->last);
		at = piece ? atomic_load(&piece->nr_taken) : room;
		while (nr_bytes <= room - at) {
			if (atomic_compare_exchange_weak(&piece->nr_taken, &at, at + nr_bytes)) {
				return piece->bytes + at;
			}
		}
	} while (add_piece(pieces, piece, max_pieces));
	return NULL;
}
