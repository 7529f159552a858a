/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/*
 * The ring file as the recorder writes it and a reader of an unfinished stream finds it. Its rows
 * are the row structs of format.h.
 */
#ifndef COLLECTOR_FORMAT_RING_FILE_H
#define COLLECTOR_FORMAT_RING_FILE_H

#include <stdint.h>

#define GPROF_RINGS_MAGIC "GPROFRNG"
#define GPROF_CHUNK_MAGIC 0x4b435047u /* "GPCK" */

/*
 * The ring file (`NAME.gprof.rings`) that lies beside an unfinished stream: a header, then
 * nr_chunks chunks of chunk_bytes, the first at header_bytes. A chunk belongs to one thread and
 * is filled once, front to back, with rows (gprof_row_head first). A row counts when `committed`
 * covers it. See FORMAT.md on how it joins the stream.
 */
struct gprof_rings_header {
	char magic[8]; /* GPROF_RINGS_MAGIC */
	uint16_t major;
	uint16_t minor;
	uint32_t header_bytes;
	uint64_t stream_id;
	uint32_t chunk_bytes;
	uint32_t nr_chunks;
	/* since 1.1, in files whose header_bytes leave room; written as one word, 0 before the end */
	uint32_t end_kind; /* enum gprof_end_kind */
	uint32_t end_code; /* exit status, or the number of the signal */
};

struct gprof_chunk_header {
	uint32_t magic;	    /* GPROF_CHUNK_MAGIC once it was ever used */
	uint32_t thread;    /* owner, 0 = free */
	uint32_t chunk_seq; /* counts per thread from 1 */
	uint32_t reserved;
	uint32_t committed; /* bytes of rows, from the end of this header */
	uint32_t drained;   /* bytes of rows that are in the stream */
	uint64_t lost;	    /* rows of the thread that found no room, not yet in a `loss` row */
	uint64_t padding[4];
};

_Static_assert(sizeof(struct gprof_rings_header) == 40, "on disk");
_Static_assert(sizeof(struct gprof_chunk_header) == 64, "on disk");

#endif
