/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/*
 * The file of a stream: its first bytes, its blocks, and how a block stores its columns. FORMAT.md
 * says in words what this header declares; format.h has the tables.
 */
#ifndef COLLECTOR_FORMAT_STREAM_FILE_H
#define COLLECTOR_FORMAT_STREAM_FILE_H

#include <stdint.h>

/* Readers refuse a newer major and skip what they do not know of a newer minor. */
#define GPROF_FORMAT_MAJOR	  2
#define GPROF_FORMAT_MINOR	  5
#define GPROF_FORMAT_OLDEST_MAJOR 1

#define GPROF_FILE_MAGIC  "GPROFSTR"
#define GPROF_BLOCK_MAGIC 0x4b425047u /* "GPBK" */

/* Blocks, and chunks of a ring file, start at multiples of this many bytes. */
#define GPROF_ALIGN 8u

/* Rows a block holds at most; a writer may close a block earlier. */
#define GPROF_BLOCK_ROWS 65536u

/* First bytes of a stream file. */
struct gprof_file_header {
	char magic[8]; /* GPROF_FILE_MAGIC */
	uint16_t major;
	uint16_t minor;
	uint32_t header_bytes; /* where the first block starts */
	uint64_t stream_id;    /* random; the ring file carries the same */
	uint32_t pid;
	uint32_t reserved;
	uint64_t start_realtime_ns;
	/* raw clock -> ticks (about 1 ns): ((raw - tick_base) * tick_mult) >> 32, in 128 bits */
	uint64_t tick_base;
	uint64_t tick_mult;
	uint32_t crc; /* CRC-32 of the bytes before it */
	uint32_t reserved2;
};

/* A block: header, directory of nr_columns entries, payload, zeros to GPROF_ALIGN. */
struct gprof_block_header {
	uint32_t magic; /* GPROF_BLOCK_MAGIC */
	uint16_t table;
	uint16_t nr_columns;
	uint32_t nr_rows;
	uint32_t payload_bytes; /* without the padding */
	uint64_t sequence;	/* 0, 1, 2 ... over all tables of a stream */
	uint64_t rows_before;	/* rows of this table in the blocks before this one */
	uint64_t time_min;	/* of the first time column, in its clock; 0 if there is none */
	uint64_t time_max;	/* the latest end of a row */
	uint32_t reserved;
	uint32_t crc; /* CRC-32 of header (this field as 0) and directory */
};

/* One column of a block; payloads follow the directory in the same order. */
struct gprof_column_entry {
	uint16_t column; /* id within the table, see the schema */
	uint8_t codec;	 /* enum gprof_codec */
	uint8_t width;	 /* byte planes, 0..8 */
	uint32_t stored_bytes;
	uint64_t base;
};

/*
 * How a column's nr_rows values v[i] are stored. s[i] are the values in the payload: one zstd frame
 * with checksum whose content is `width` byte planes of nr_rows bytes, least significant first.
 */
enum gprof_codec {
	GPROF_CODEC_CONST = 0, /* v[i] = base; no payload */
	GPROF_CODEC_PLAIN = 1, /* v[i] = base + s[i] */
	GPROF_CODEC_DELTA = 2, /* v[i] = v[i-1] + unzigzag(s[i]), v[-1] = base */
	GPROF_CODEC_GAP = 3,   /* v[i] = v[i-1] + w[i-1] + unzigzag(s[i]), v[-1] + w[-1] = base; w is
				  the column with the next id */
	GPROF_CODEC_TEXT = 4,  /* frame of nr_rows uint32 lengths, then all bytes; base = their sum */
};

#endif
