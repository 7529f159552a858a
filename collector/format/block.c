/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows become columns (rows_to_columns.c), columns become differences and byte planes (column.h),
 * and each plane passes through zstd. Values below 2^31 take the narrow path, which moves half the
 * memory. All of it is inlined into encode(), which is compiled twice: for any CPU, and for AVX2.
 */
#include "collector/format/block.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <stdbool.h>
#include <string.h>

#define ZSTD_STATIC_LINKING_ONLY /* for a context in our own memory and stable buffers */
#include <zstd.h>

#include "collector/format/correlation.h"

#define MAX_COLUMNS 24u
#define TIME_LEVEL  (-30)
/* Compiled into each variant of block_encode. */
#define HOT inline __attribute__((always_inline))

struct block_encoder {
	ZSTD_CCtx *zstd;
	int level;
	bool has_avx2;
	uint64_t nr_reversed;
	union column_values values[MAX_COLUMNS];
	unsigned char planes[sizeof(uint64_t) * BLOCK_ENCODE_ROWS];
};

/* The state of one call of block_encode(). */
struct job {
	struct block_encoder *encoder;
	const struct block_table *table;
	const struct block_input *input;
	union column_values *values; /* a column each */
	uint32_t nr_rows;
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

/*
 * Not __builtin_cpu_supports: its constructor executes CPUID in every process that loads us, which
 * takes microseconds in a virtual machine.
 */
static bool has_avx2(void)
{
#if defined(__x86_64__)
	uint32_t a, b, c, d, states, high;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) {
		return false;
	}
	__asm__("xgetbv" : "=a"(states), "=d"(high) : "c"(0));
	return (states & 6) == 6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX2);
#else
	return false;
#endif
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
	encoder->has_avx2 = has_avx2();
	encoder->nr_reversed = 0;
	return encoder;
}

uint64_t block_encoder_take_reversed(struct block_encoder *encoder)
{
	uint64_t nr_reversed = encoder->nr_reversed;

	encoder->nr_reversed = 0;
	return nr_reversed;
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

static HOT void scale(uint64_t *values, uint32_t n, const struct block_ticks *ticks)
{
	for (uint32_t i = 0; i < n; i++) {
		values[i] = block_tick(ticks, values[i]);
	}
}

/* CPUs whose clocks differ may give an end before its begin, which then took no time. */
static HOT uint64_t subtract_begins(uint64_t *ends, const uint64_t *begins, uint32_t n)
{
	uint64_t nr_reversed = 0;

	for (uint32_t i = 0; i < n; i++) {
		int64_t span = (int64_t)(ends[i] - begins[i]);

		nr_reversed += span < 0;
		ends[i] = span < 0 ? 0 : (uint64_t)span;
	}
	return nr_reversed;
}

/* Host times become ticks, ends become durations. */
static HOT void normalise_times(struct job *job)
{
	for (unsigned int c = 0; c < job->table->nr_columns; c++) {
		const struct block_column *column = &job->table->columns[c];
		uint64_t *values = job->values[c].wide;

		if (column->kind == GPROF_KIND_TICK) {
			scale(values, job->nr_rows, job->input->ticks);
		}
		if (column->kind == GPROF_KIND_SPAN) {
			if (column[-1].kind == GPROF_KIND_TICK) {
				scale(values, job->nr_rows, job->input->ticks);
			}
			job->encoder->nr_reversed +=
				subtract_begins(values, job->values[c - 1].wide, job->nr_rows);
		}
	}
}

/*
 * Compares differences from the first time, which are small and signed: vector instructions compare
 * only signed numbers. `spans` may be NULL.
 */
static HOT void find_range(struct job *job, const uint64_t *begins, const uint64_t *spans)
{
	const uint64_t first = begins[0];
	int64_t min = 0, max = 0;

	for (uint32_t i = 0; i < job->nr_rows; i++) {
		int64_t begin = (int64_t)(begins[i] - first);
		int64_t end = (int64_t)(begins[i] - first + (spans ? spans[i] : 0));

		min = begin < min ? begin : min;
		max = end > max ? end : max;
	}
	job->time_min = first + (uint64_t)min;
	job->time_max = first + (uint64_t)max;
}

/* Takes the range from the first time column of the table. */
static HOT void find_times(struct job *job)
{
	for (unsigned int c = 0; c < job->table->nr_columns; c++) {
		const struct block_column *column = &job->table->columns[c];

		if (column->kind == GPROF_KIND_TICK || column->kind == GPROF_KIND_DEVTIME) {
			bool has_span =
				c + 1 < job->table->nr_columns && column[1].kind == GPROF_KIND_SPAN;

			find_range(job, job->values[c].wide,
				has_span ? job->values[c + 1].wide : NULL);
			return;
		}
	}
}

/* ---- columns to bytes ---- */

#define COLUMN_HOT   HOT
#define COLUMN_VALUE uint64_t
#define COLUMN(name) wide_##name
#include "collector/format/column.h"
#undef COLUMN_VALUE
#undef COLUMN
#define COLUMN_VALUE uint32_t
#define COLUMN(name) narrow_##name
#include "collector/format/column.h"

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

static HOT bool counts_up(const struct block_column *column)
{
	return column->kind == GPROF_KIND_ID || column->kind == GPROF_KIND_CORRELATION;
}

/* Makes the planes of a column whose values are not all the same; any: bits that any value has. */
static HOT void encode_wide(
	struct job *job, unsigned int c, uint64_t any, struct gprof_column_entry *entry)
{
	const struct block_column *column = &job->table->columns[c];
	uint64_t *values = job->values[c].wide;
	bool has_span = c + 1 < job->table->nr_columns && column[1].kind == GPROF_KIND_SPAN;

	if (is_time(column) && column->kind != GPROF_KIND_SPAN && has_span) {
		entry->codec = GPROF_CODEC_GAP;
		any = wide_delta(values, job->nr_rows, job->values[c + 1].wide);
	} else if (column->kind == GPROF_KIND_TICK || column->kind == GPROF_KIND_DEVTIME ||
		   counts_up(column)) {
		entry->codec = GPROF_CODEC_DELTA;
		any = wide_delta(values, job->nr_rows, NULL);
	} else {
		entry->codec = GPROF_CODEC_PLAIN;
		any = wide_subtract_min(values, job->nr_rows, any, &entry->base);
	}
	entry->width = wide_nr_planes(any);
	wide_split(values, job->nr_rows, entry->width, job->encoder->planes);
}

/* Does the same for values below 2^31, which no time is. */
static HOT void encode_narrow(
	struct job *job, unsigned int c, uint32_t any, struct gprof_column_entry *entry)
{
	uint32_t *values = job->values[c].narrow;

	if (counts_up(&job->table->columns[c])) {
		entry->codec = GPROF_CODEC_DELTA;
		any = narrow_delta(values, job->nr_rows, NULL);
	} else {
		entry->codec = GPROF_CODEC_PLAIN;
		any = narrow_subtract_min(values, job->nr_rows, any, &entry->base);
	}
	entry->width = narrow_nr_planes(any);
	narrow_split(values, job->nr_rows, entry->width, job->encoder->planes);
}

/* Converts in place, from the last: a wide value overlaps two narrow ones. */
static void widen(union column_values *values, uint32_t n, bool is_signed)
{
	while (n--) {
		uint32_t value = values->narrow[n];

		values->wide[n] = is_signed ? (uint64_t)(int32_t)value : value;
	}
}

/* Converts in place, from the last, as widen() does. */
static void unwrap(union column_values *values, uint32_t n, uint64_t newest)
{
	while (n--) {
		values->wide[n] = correlation_unwrap(newest, values->narrow[n]);
	}
}

static HOT bool is_narrow(const struct block_column *column)
{
	return column->width < sizeof(uint64_t);
}

/* Lays the planes out in `planes`; false if all values are the same, which is entry->base. */
static HOT bool find_planes(struct job *job, unsigned int c, struct gprof_column_entry *entry)
{
	const struct block_column *column = &job->table->columns[c];
	union column_values *values = &job->values[c];
	uint64_t newest = job->input->newest_correlation;
	uint32_t narrow_any = 0;
	uint64_t any;

	if (column->kind == GPROF_KIND_CORRELATION && newest >= 1u << 31) {
		unwrap(values, job->nr_rows, newest);
	} else if (is_narrow(column)) {
		uint32_t first = values->narrow[0];

		entry->base = column->is_signed ? (uint64_t)(int32_t)first : first;
		if (!narrow_find_difference(values->narrow, job->nr_rows, &narrow_any)) {
			return false;
		}
		if (narrow_any < 1u << 31) {
			encode_narrow(job, c, narrow_any, entry);
			return true;
		}
		widen(values, job->nr_rows, column->is_signed);
	}
	entry->base = values->wide[0];
	if (!wide_find_difference(values->wide, job->nr_rows, &any)) {
		return false;
	}
	encode_wide(job, c, any, entry);
	return true;
}

static HOT bool encode_numbers(struct job *job, unsigned int c, struct gprof_column_entry *entry)
{
	if (!find_planes(job, c, entry)) {
		entry->codec = GPROF_CODEC_CONST;
		return true;
	}
	if (!entry->width) {
		return true;
	}
	entry->stored_bytes = (uint32_t)compress(job, job->encoder->planes, job->nr_rows,
		entry->width, is_time(&job->table->columns[c]));
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

		memcpy(&text, (const char *)job->input->rows[i] + job->table->columns[c].offset,
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

/*
 * The payload comes behind the room for the header and the entries, which are complete only at the
 * end. Returns 0 if the block has no room or zstd fails; the caller counts its rows as lost.
 */
static HOT size_t encode(
	struct block_encoder *encoder, const struct block_input *input, void *out, size_t capacity)
{
	struct gprof_column_entry entries[MAX_COLUMNS] = {0};
	struct gprof_block_header header = {
		.magic = GPROF_BLOCK_MAGIC, .table = (uint16_t)input->table};
	struct job job = {.encoder = encoder,
		.table = block_table(input->table),
		.input = input,
		.values = input->values ? input->values : encoder->values,
		.nr_rows = input->nr_rows};
	size_t head_bytes, bytes;

	if (!job.table || !job.nr_rows || job.nr_rows > BLOCK_ENCODE_ROWS) {
		return 0;
	}
	head_bytes = sizeof(header) + job.table->nr_columns * sizeof(entries[0]);
	if (capacity < head_bytes + GPROF_ALIGN) {
		return 0;
	}
	job.out = (unsigned char *)out + head_bytes;
	job.end = (unsigned char *)out + capacity - GPROF_ALIGN;
	if (!input->values) {
		rows_to_columns(input->table, input->rows, job.nr_rows, job.values, 0);
	}
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
		if (input->between) {
			input->between();
		}
	}
	bytes = (size_t)(job.out - (unsigned char *)out);
	header.nr_columns = job.table->nr_columns;
	header.nr_rows = job.nr_rows;
	header.payload_bytes = (uint32_t)(bytes - head_bytes);
	header.sequence = input->sequence;
	header.rows_before = input->rows_before;
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
__attribute__((target("avx2"))) static size_t encode_avx2(
	struct block_encoder *encoder, const struct block_input *input, void *out, size_t capacity)
{
	return encode(encoder, input, out, capacity);
}
#endif

size_t block_encode(
	struct block_encoder *encoder, const struct block_input *input, void *out, size_t capacity)
{
#if defined(__x86_64__)
	if (encoder->has_avx2) {
		return encode_avx2(encoder, input, out, capacity);
	}
#endif
	return encode(encoder, input, out, capacity);
}
