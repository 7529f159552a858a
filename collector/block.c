/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/block.h"

#include <stdbool.h>
#include <string.h>

#define ZSTD_STATIC_LINKING_ONLY /* for a context in our own memory and stable buffers */
#include <zstd.h>

#define MAX_COLUMNS 24u
/* Rows are taken apart in tiles that stay in the first-level cache while every column reads them.
 */
#define TILE_ROWS  128u
#define TIME_LEVEL (-10)
/* Compiled into each variant of block_encode. */
#define HOT inline __attribute__((always_inline))

struct block_encoder {
	ZSTD_CCtx *zstd;
	int level;
	uint64_t values[MAX_COLUMNS][BLOCK_ENCODE_ROWS];
	unsigned char planes[sizeof(uint64_t) * BLOCK_ENCODE_ROWS];
};

/* What one call of block_encode works on. */
struct job {
	struct block_encoder *encoder;
	const struct block_table *table;
	const void *const *rows;
	uint32_t nr_rows;
	const struct block_ticks *ticks;
	unsigned char *out; /* where the next payload byte goes */
	unsigned char *end;
	uint64_t time_min, time_max;
};

uint32_t block_crc32(const void *bytes, size_t nr_bytes)
{
	const unsigned char *p = bytes;
	uint32_t crc = 0xffffffffu;

	/* Headers only, a few hundred bytes a block: no table is worth its cache lines. */
	while (nr_bytes--) {
		crc ^= *p++;
		for (int bit = 0; bit < 8; bit++) {
			crc = (crc >> 1) ^ (0xedb88320u & -(crc & 1u));
		}
	}
	return ~crc;
}

static size_t zstd_bytes(void)
{
	return (ZSTD_estimateCStreamSize(3) + 63u) & ~(size_t)63u;
}

size_t block_encoder_bytes(void)
{
	return sizeof(struct block_encoder) + 64u + zstd_bytes();
}

struct block_encoder *block_encoder_init(void *memory, int level)
{
	struct block_encoder *encoder = memory;
	size_t used = (sizeof(*encoder) + 63u) & ~(size_t)63u;
	ZSTD_CCtx *zstd = ZSTD_initStaticCCtx((char *)memory + used, zstd_bytes());

	if (!zstd) {
		return NULL;
	}
	if (ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, level)) ||
		ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1)) ||
		ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_stableInBuffer, 1)) ||
		ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_stableOutBuffer, 1))) {
		return NULL;
	}
	encoder->zstd = zstd;
	encoder->level = level;
	return encoder;
}

size_t block_bound(unsigned int table, uint32_t nr_rows, size_t text_bytes)
{
	const struct block_table *t = block_table(table);
	size_t bytes = sizeof(struct gprof_block_header) + GPROF_ALIGN;

	for (unsigned int c = 0; t && c < t->nr_columns; c++) {
		/* a frame's header and checksum, and a block header for each plane */
		bytes += sizeof(struct gprof_column_entry) + 64u;
		bytes += ZSTD_compressBound((size_t)nr_rows * sizeof(uint64_t));
	}
	return bytes + ZSTD_compressBound(text_bytes + 64u);
}

/* ---- rows to columns ---- */

#define GATHER(type)                                                                   \
	do {                                                                           \
		for (uint32_t i = 0; i < n; i++) {                                     \
			type value;                                                    \
			memcpy(&value, (const char *)rows[i] + offset, sizeof(value)); \
			out[i] = (uint64_t)value;                                      \
		}                                                                      \
	} while (0)

static HOT void gather(
	uint64_t *out, const void *const *rows, uint32_t n, const struct block_column *c)
{
	const uint16_t offset = c->offset;

	switch (c->width) {
	case 1:
		GATHER(uint8_t);
		break;
	case 2:
		GATHER(uint16_t);
		break;
	case 4:
		if (c->is_signed) {
			GATHER(int32_t);
		} else {
			GATHER(uint32_t);
		}
		break;
	case 8:
		GATHER(uint64_t);
		break;
	default:
		break; /* text, see encode_text */
	}
}

/* Rows of rings were written last by another core: their way here is long. */
static HOT void prefetch(const struct job *job, uint32_t first)
{
	for (uint32_t i = first; i < first + TILE_ROWS && i < job->nr_rows; i++) {
		__builtin_prefetch(job->rows[i]);
	}
}

static HOT void gather_all(struct job *job)
{
	for (uint32_t first = 0; first < job->nr_rows; first += TILE_ROWS) {
		uint32_t n = job->nr_rows - first;

		n = n < TILE_ROWS ? n : TILE_ROWS;
		prefetch(job, first + TILE_ROWS);
		for (unsigned int c = 0; c < job->table->nr_columns; c++) {
			gather(job->encoder->values[c] + first, job->rows + first, n,
				&job->table->columns[c]);
		}
	}
}

static HOT void scale(uint64_t *values, uint32_t n, const struct block_ticks *ticks)
{
	for (uint32_t i = 0; i < n; i++) {
		values[i] = block_tick(ticks, values[i]);
	}
}

/* Host times become ticks, ends become durations. */
static HOT void normalise_times(struct job *job)
{
	for (unsigned int c = 0; c < job->table->nr_columns; c++) {
		const struct block_column *column = &job->table->columns[c];
		uint64_t *values = job->encoder->values[c];

		if (column->kind == GPROF_KIND_TICK) {
			scale(values, job->nr_rows, job->ticks);
		}
		if (column->kind == GPROF_KIND_SPAN) {
			const uint64_t *begin = job->encoder->values[c - 1];

			if (column[-1].kind == GPROF_KIND_TICK) {
				scale(values, job->nr_rows, job->ticks);
			}
			for (uint32_t i = 0; i < job->nr_rows; i++) {
				values[i] -= begin[i];
			}
		}
	}
}

/*
 * Four chains of comparisons at once: one alone would wait for itself. `spans` may be NULL.
 */
static HOT void find_range(struct job *job, const uint64_t *begins, const uint64_t *spans)
{
	uint64_t min[4], max[4];

	for (int k = 0; k < 4; k++) {
		min[k] = UINT64_MAX;
		max[k] = 0;
	}
	for (uint32_t i = 0; i < job->nr_rows; i += 4) {
		for (uint32_t k = 0; k < 4; k++) {
			uint32_t at = i + k < job->nr_rows ? i + k : job->nr_rows - 1;
			uint64_t end = begins[at] + (spans ? spans[at] : 0);

			min[k] = begins[at] < min[k] ? begins[at] : min[k];
			max[k] = end > max[k] ? end : max[k];
		}
	}
	job->time_min = min[0];
	job->time_max = max[0];
	for (int k = 1; k < 4; k++) {
		job->time_min = min[k] < job->time_min ? min[k] : job->time_min;
		job->time_max = max[k] > job->time_max ? max[k] : job->time_max;
	}
}

/* By the first time column of the table. */
static HOT void find_times(struct job *job)
{
	for (unsigned int c = 0; c < job->table->nr_columns; c++) {
		const struct block_column *column = &job->table->columns[c];

		if (column->kind == GPROF_KIND_TICK || column->kind == GPROF_KIND_DEVTIME) {
			bool has_span =
				c + 1 < job->table->nr_columns && column[1].kind == GPROF_KIND_SPAN;

			find_range(job, job->encoder->values[c],
				has_span ? job->encoder->values[c + 1] : NULL);
			return;
		}
	}
}

/* ---- columns to bytes ---- */

static HOT uint64_t zigzag(uint64_t difference)
{
	return (difference << 1) ^ -(difference >> 63);
}

static HOT uint64_t delta(uint64_t *values, uint32_t n, const uint64_t *span)
{
	uint64_t before = values[0];
	uint64_t any = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t value = values[i];

		values[i] = zigzag(value - before);
		any |= values[i];
		before = value + (span ? span[i] : 0);
	}
	return any;
}

/* Bits in which any value differs from the first, and bits that any value has. */
static HOT uint64_t find_difference(const uint64_t *values, uint32_t n, uint64_t *any)
{
	uint64_t difference = 0;
	uint64_t bits = 0;

	for (uint32_t i = 0; i < n; i++) {
		difference |= values[i] ^ values[0];
		bits |= values[i];
	}
	*any = bits;
	return difference;
}

/* Makes the values small by taking off their minimum where that may save a plane. */
static HOT uint64_t subtract_min(uint64_t *values, uint32_t n, uint64_t any, uint64_t *base)
{
	uint64_t min = UINT64_MAX;

	*base = 0;
	if (any < 1u << 16) {
		return any;
	}
	for (uint32_t i = 0; i < n; i++) {
		min = values[i] < min ? values[i] : min;
	}
	any = 0;
	for (uint32_t i = 0; i < n; i++) {
		values[i] -= min;
		any |= values[i];
	}
	*base = min;
	return any;
}

static HOT unsigned int nr_planes(uint64_t any)
{
	return any ? (71u - (unsigned int)__builtin_clzll(any)) / 8u : 0;
}

static HOT void split_planes(
	const uint64_t *values, uint32_t n, unsigned int width, unsigned char *out)
{
	for (unsigned int plane = 0; plane < width; plane++) {
		for (uint32_t i = 0; i < n; i++) {
			out[i] = (unsigned char)(values[i] >> (8u * plane));
		}
		out += n;
	}
}

/*
 * Each part of part_bytes becomes zstd blocks of its own, so that a plane of noise and a plane of
 * zeros do not share one Huffman table. Returns the frame's bytes, 0 on failure.
 */
static size_t compress(
	struct job *job, const unsigned char *bytes, size_t part_bytes, size_t parts, bool is_time)
{
	ZSTD_CCtx *zstd = job->encoder->zstd;
	ZSTD_outBuffer out = {.dst = job->out, .size = (size_t)(job->end - job->out), .pos = 0};
	ZSTD_inBuffer in = {.src = bytes, .size = 0, .pos = 0};

	ZSTD_CCtx_reset(zstd, ZSTD_reset_session_only);
	/* Times repeat nothing: do not look for it, only code their bytes by how often they come.
	 */
	ZSTD_CCtx_setParameter(
		zstd, ZSTD_c_compressionLevel, is_time ? TIME_LEVEL : job->encoder->level);
	ZSTD_CCtx_setParameter(
		zstd, ZSTD_c_literalCompressionMode, is_time ? ZSTD_lcm_huffman : ZSTD_lcm_auto);
	if (ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(zstd, part_bytes * parts))) {
		return 0;
	}
	for (size_t i = 0; i < parts; i++) {
		ZSTD_EndDirective how = i + 1 < parts ? ZSTD_e_flush : ZSTD_e_end;

		in.size += part_bytes;
		if (ZSTD_compressStream2(zstd, &out, &in, how) != 0) {
			return 0; /* an error, or no room */
		}
	}
	return out.pos;
}

static HOT bool is_time(const struct block_column *column)
{
	return column->kind == GPROF_KIND_TICK || column->kind == GPROF_KIND_DEVTIME ||
	       column->kind == GPROF_KIND_SPAN;
}

static HOT bool encode_numbers(struct job *job, unsigned int c, struct gprof_column_entry *entry)
{
	const struct block_column *column = &job->table->columns[c];
	uint64_t *values = job->encoder->values[c];
	uint32_t n = job->nr_rows;
	uint64_t any;

	entry->base = values[0];
	if (!find_difference(values, n, &any)) {
		entry->codec = GPROF_CODEC_CONST;
		return true;
	}
	switch (column->kind) {
	case GPROF_KIND_TICK:
	case GPROF_KIND_DEVTIME:
		if (c + 1 < job->table->nr_columns && column[1].kind == GPROF_KIND_SPAN) {
			entry->codec = GPROF_CODEC_GAP;
			any = delta(values, n, job->encoder->values[c + 1]);
			break;
		}
		/* fall through */
	case GPROF_KIND_ID:
		entry->codec = GPROF_CODEC_DELTA;
		any = delta(values, n, NULL);
		break;
	default:
		entry->codec = GPROF_CODEC_PLAIN;
		any = subtract_min(values, n, any, &entry->base);
		break;
	}
	entry->width = (uint8_t)nr_planes(any);
	if (!entry->width) {
		return true;
	}
	split_planes(values, n, entry->width, job->encoder->planes);
	entry->stored_bytes =
		(uint32_t)compress(job, job->encoder->planes, n, entry->width, is_time(column));
	return entry->stored_bytes > 0;
}

/* Lengths, then bytes, are laid out in `planes`. */
static bool encode_text(struct job *job, unsigned int c, struct gprof_column_entry *entry)
{
	unsigned char *content = job->encoder->planes;
	size_t used = (size_t)job->nr_rows * sizeof(uint32_t);

	for (uint32_t i = 0; i < job->nr_rows; i++) {
		struct gprof_text text;
		uint32_t nr_bytes;

		memcpy(&text, (const char *)job->rows[i] + job->table->columns[c].offset,
			sizeof(text));
		nr_bytes = (uint32_t)text.nr_bytes;
		if (used + nr_bytes > sizeof(job->encoder->planes)) {
			return false;
		}
		memcpy(content + (size_t)i * sizeof(uint32_t), &nr_bytes, sizeof(nr_bytes));
		if (nr_bytes) {
			memcpy(content + used, text.bytes, nr_bytes);
		}
		used += nr_bytes;
		entry->base += nr_bytes;
	}
	entry->codec = GPROF_CODEC_TEXT;
	entry->stored_bytes = (uint32_t)compress(job, content, used, 1, false);
	return entry->stored_bytes > 0;
}

static HOT size_t encode(struct block_encoder *encoder, unsigned int table, const void *const *rows,
	uint32_t nr_rows, const struct block_ticks *ticks, uint64_t sequence, uint64_t rows_before,
	void *out, size_t capacity)
{
	struct gprof_column_entry entries[MAX_COLUMNS] = {0};
	struct gprof_block_header header = {.magic = GPROF_BLOCK_MAGIC, .table = (uint16_t)table};
	struct job job = {.encoder = encoder, .table = block_table(table), .rows = rows};
	size_t head_bytes, bytes;

	if (!job.table || !nr_rows || nr_rows > BLOCK_ENCODE_ROWS) {
		return 0;
	}
	head_bytes = sizeof(header) + job.table->nr_columns * sizeof(entries[0]);
	if (capacity < head_bytes + GPROF_ALIGN) {
		return 0;
	}
	job.nr_rows = nr_rows;
	job.ticks = ticks;
	job.out = (unsigned char *)out + head_bytes;
	job.end = (unsigned char *)out + capacity - GPROF_ALIGN;
	gather_all(&job);
	normalise_times(&job);
	find_times(&job);
	for (unsigned int c = 0; c < job.table->nr_columns; c++) {
		entries[c].column = (uint16_t)c;
		if (!(job.table->columns[c].kind == GPROF_KIND_TEXT
				    ? encode_text(&job, c, &entries[c])
				    : encode_numbers(&job, c, &entries[c]))) {
			return 0;
		}
		job.out += entries[c].stored_bytes;
	}
	bytes = (size_t)(job.out - (unsigned char *)out);
	header.nr_columns = job.table->nr_columns;
	header.nr_rows = nr_rows;
	header.payload_bytes = (uint32_t)(bytes - head_bytes);
	header.sequence = sequence;
	header.rows_before = rows_before;
	header.time_min = job.time_min;
	header.time_max = job.time_max;
	memcpy(out, &header, sizeof(header));
	memcpy((char *)out + sizeof(header), entries, head_bytes - sizeof(header));
	header.crc = block_crc32(out, head_bytes);
	memcpy(out, &header, sizeof(header));
	while (bytes % GPROF_ALIGN) {
		((unsigned char *)out)[bytes++] = 0;
	}
	return bytes;
}

/* The same code for CPUs with wider vectors: a quarter fewer instructions a row. */
#if defined(__x86_64__)
__attribute__((target("avx2"))) static size_t encode_avx2(struct block_encoder *encoder,
	unsigned int table, const void *const *rows, uint32_t nr_rows,
	const struct block_ticks *ticks, uint64_t sequence, uint64_t rows_before, void *out,
	size_t capacity)
{
	return encode(encoder, table, rows, nr_rows, ticks, sequence, rows_before, out, capacity);
}
#endif

size_t block_encode(struct block_encoder *encoder, unsigned int table, const void *const *rows,
	uint32_t nr_rows, const struct block_ticks *ticks, uint64_t sequence, uint64_t rows_before,
	void *out, size_t capacity)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2")) {
		return encode_avx2(
			encoder, table, rows, nr_rows, ticks, sequence, rows_before, out, capacity);
	}
#endif
	return encode(encoder, table, rows, nr_rows, ticks, sequence, rows_before, out, capacity);
}
