/* SPDX-License-Identifier: Apache-2.0 */
#include "test/gen/gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/format/block.h"

struct waiting {
	char *rows;
	uint32_t nr_rows, capacity;
	uint64_t rows_before;
};

struct gen {
	FILE *file;
	struct block_encoder *encoder;
	void *encoder_memory;
	char *out;
	size_t out_bytes;
	uint64_t sequence;
	uint64_t newest_correlation;
	struct waiting tables[GPROF_NR_TABLES];
	const void *pointers[BLOCK_ENCODE_ROWS];
	uint32_t nr_strings, nr_places, nr_op_names, nr_op_shapes;
	uint16_t nr_calls;
	int64_t device_ppm;
	bool is_of_ticks; /* all clocks count so, ticks do not */
	uint64_t host_base_ns,
		device_base_ns; /* where all clocks show the same: the first anchor */
	char **texts;		/* of TEXT fields until they are written */
	size_t nr_texts;
};

static const struct block_ticks ticks = {.base = 0, .mult = 1ull << 32};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Does not clear the memory: most pages of large pieces are never touched. */
static void *get_room(size_t bytes)
{
	void *memory = aligned_alloc(64, (bytes + 63u) & ~(size_t)63u);

	if (!memory) {
		fail("gen: memory");
	}
	return memory;
}

static void *get_memory(size_t bytes)
{
	return memset(get_room(bytes), 0, bytes);
}

static uint32_t most_rows(const struct block_table *table)
{
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		if (table->columns[c].kind == GPROF_KIND_TEXT) {
			return 256; /* so that their bytes fit into one block, too */
		}
	}
	return BLOCK_ENCODE_ROWS;
}

/* ---- the clock of the device ---- */

static uint64_t at_rate(const struct gen *gen, uint64_t ns, uint64_t base_ns)
{
	int64_t since = (int64_t)(ns - base_ns);

	return gen->device_ppm ? ns + (uint64_t)(since * gen->device_ppm / 1000000) : ns;
}

static uint64_t device_time(const struct gen *gen, uint64_t ns)
{
	return at_rate(gen, ns, gen->device_base_ns);
}

static void convert(const struct gen *gen, char *row, const struct block_column *column)
{
	uint64_t ns;

	memcpy(&ns, row + column->offset, sizeof(ns));
	ns = device_time(gen, ns);
	memcpy(row + column->offset, &ns, sizeof(ns));
}

/* Times of the device, and the ends beside them. */
static void convert_row(const struct gen *gen, const struct block_table *table, char *row)
{
	if (gen->device_ppm && table->columns[0].kind == GPROF_KIND_DEVTIME) {
		convert(gen, row, &table->columns[0]);
		if (table->columns[1].kind == GPROF_KIND_SPAN) {
			convert(gen, row, &table->columns[1]);
		}
	}
}

void gen_device_rate(struct gen *gen, int64_t ppm)
{
	gen->device_ppm = ppm;
}

void gen_tick_rate(struct gen *gen, int64_t ppm)
{
	gen->device_ppm = ppm;
	gen->is_of_ticks = true;
}

/* ---- tables ---- */

static void write_table(struct gen *gen, unsigned int table)
{
	struct waiting *waiting = &gen->tables[table];
	const struct block_input input = {.table = table,
		.rows = gen->pointers,
		.nr_rows = waiting->nr_rows,
		.ticks = &ticks,
		.newest_correlation = gen->newest_correlation,
		.sequence = gen->sequence,
		.rows_before = waiting->rows_before};
	size_t bytes;

	if (!waiting->nr_rows) {
		return;
	}
	for (uint32_t i = 0; i < waiting->nr_rows; i++) {
		char *row = waiting->rows + (size_t)i * block_table(table)->row_bytes;

		convert_row(gen, block_table(table), row);
		gen->pointers[i] = row;
	}
	bytes = block_encode(gen->encoder, &input, gen->out, gen->out_bytes);
	if (!bytes || fwrite(gen->out, 1, bytes, gen->file) != bytes) {
		fail("gen: block");
	}
	gen->sequence++;
	waiting->rows_before += waiting->nr_rows;
	waiting->nr_rows = 0;
}

void *gen_row(struct gen *gen, unsigned int table)
{
	const struct block_table *t = block_table(table);
	struct waiting *waiting = &gen->tables[table];
	char *row;

	if (waiting->nr_rows == most_rows(t)) {
		gen_flush(gen);
	}
	if (waiting->nr_rows == waiting->capacity) {
		waiting->capacity = waiting->capacity ? 2 * waiting->capacity : 64;
		waiting->rows = realloc(waiting->rows, (size_t)waiting->capacity * t->row_bytes);
		if (!waiting->rows) {
			fail("gen: rows");
		}
	}
	row = waiting->rows + (size_t)waiting->nr_rows++ * t->row_bytes;
	memset(row, 0, t->row_bytes);
	return row;
}

static struct gprof_text text(struct gen *gen, const char *bytes, uint32_t nr_bytes)
{
	char *copy = get_memory(nr_bytes + 1u);

	memcpy(copy, bytes, nr_bytes);
	gen->texts = realloc(gen->texts, (gen->nr_texts + 1) * sizeof(char *));
	gen->texts[gen->nr_texts++] = copy;
	return (struct gprof_text){.bytes = copy, .nr_bytes = nr_bytes};
}

static void write_schema(struct gen *gen)
{
	for (unsigned int table = 1; table < GPROF_NR_TABLES; table++) {
		const struct block_table *t = block_table(table);

		for (unsigned int c = 0; t && c < t->nr_columns; c++) {
			struct gprof_row_schema *row = gen_row(gen, GPROF_TABLE_schema);

			row->table = (uint16_t)table;
			row->column = (uint16_t)c;
			row->kind = t->columns[c].kind;
			row->width = t->columns[c].width;
			row->offset = t->columns[c].offset;
			row->row_bytes = t->row_bytes;
			row->table_name = (struct gprof_text){t->name, strlen(t->name)};
			row->name =
				(struct gprof_text){t->columns[c].name, strlen(t->columns[c].name)};
		}
	}
	gen_flush(gen);
}

struct gen *gen_open(const char *path)
{
	struct gprof_file_header header = {.major = GPROF_FORMAT_MAJOR,
		.minor = GPROF_FORMAT_MINOR,
		.header_bytes = sizeof(header),
		.stream_id = GEN_STREAM_ID,
		.pid = GEN_PID,
		.start_realtime_ns = GEN_START_NS,
		.tick_mult = ticks.mult};
	struct gen *gen = get_memory(sizeof(*gen));

	memcpy(header.magic, GPROF_FILE_MAGIC, sizeof(header.magic));
	header.crc = block_crc32(&header, offsetof(struct gprof_file_header, crc));
	gen->file = fopen(path, "w");
	if (!gen->file || fwrite(&header, sizeof(header), 1, gen->file) != 1) {
		fail(path);
	}
	gen->encoder_memory = get_room(block_encoder_bytes());
	gen->encoder = block_encoder_init(gen->encoder_memory, 1);
	gen->out_bytes = block_bound(GPROF_TABLE_shape, BLOCK_ENCODE_ROWS, 1u << 20);
	gen->out = get_room(gen->out_bytes);
	if (!gen->encoder) {
		fail("gen: encoder");
	}
	write_schema(gen);
	return gen;
}

uint32_t gen_string_bytes(struct gen *gen, const char *bytes, uint32_t nr_bytes)
{
	struct gprof_row_string *row = gen_row(gen, GPROF_TABLE_string);

	row->id = ++gen->nr_strings;
	row->text = text(gen, bytes, nr_bytes);
	return row->id;
}

uint32_t gen_string(struct gen *gen, const char *string)
{
	return gen_string_bytes(gen, string, (uint32_t)strlen(string));
}

uint16_t gen_call(struct gen *gen, const char *name, uint8_t api)
{
	uint32_t string = gen_string(gen, name);
	struct gprof_row_call *row = gen_row(gen, GPROF_TABLE_call);

	row->id = ++gen->nr_calls;
	row->name = string;
	row->api = api;
	return gen->nr_calls;
}

uint32_t gen_place(struct gen *gen, uint32_t device, uint32_t context, uint32_t stream)
{
	struct gprof_row_place *row = gen_row(gen, GPROF_TABLE_place);

	row->id = ++gen->nr_places;
	row->device = device;
	row->context = context;
	row->stream = stream;
	return row->id;
}

void gen_thread(struct gen *gen, uint32_t thread, uint32_t tid, const char *name)
{
	uint32_t string = name ? gen_string(gen, name) : 0;
	struct gprof_row_thread *row = gen_row(gen, GPROF_TABLE_thread);

	row->thread = thread;
	row->tid = tid;
	row->name = string;
}

void gen_py_file(struct gen *gen, uint32_t id, const char *path)
{
	uint32_t string = gen_string(gen, path);
	struct gprof_row_py_file *row = gen_row(gen, GPROF_TABLE_py_file);

	row->id = id;
	row->name = string;
}

void gen_py_code(struct gen *gen, uint32_t id, uint32_t file, uint32_t line, const char *name)
{
	uint32_t string = gen_string(gen, name);
	struct gprof_row_py_code *row = gen_row(gen, GPROF_TABLE_py_code);

	row->id = id;
	row->py_file = file;
	row->line = line;
	row->name = string;
}

void gen_py_stack(struct gen *gen, uint32_t id, uint32_t parent, uint32_t code, uint32_t line)
{
	struct gprof_row_py_stack *row = gen_row(gen, GPROF_TABLE_py_stack);

	row->id = id;
	row->parent = parent;
	row->py_code = code;
	row->line = line;
}

struct gprof_row_os_call *gen_os_call(
	struct gen *gen, const char *function, uint32_t thread, uint64_t begin, uint64_t end)
{
	uint16_t call = gen_call(gen, function, GPROF_API_THREAD);
	struct gprof_row_os_call *row = gen_row(gen, GPROF_TABLE_os_call);

	row->begin = begin;
	row->dur = end;
	row->thread = thread;
	row->call = call;
	return row;
}

uint32_t gen_op_name(struct gen *gen, const char *name)
{
	uint32_t string = gen_string(gen, name);
	struct gprof_row_op_name *row = gen_row(gen, GPROF_TABLE_op_name);

	row->id = ++gen->nr_op_names;
	row->name = string;
	return row->id;
}

struct gprof_row_op *gen_op(struct gen *gen, const char *name, uint64_t begin, uint64_t end)
{
	uint32_t id = gen_op_name(gen, name);
	struct gprof_row_op *row = gen_row(gen, GPROF_TABLE_op);

	row->begin = begin;
	row->dur = end;
	row->thread = row->end_thread = 1;
	row->op_name = id;
	return row;
}

struct gprof_row_nvtx *gen_nvtx(struct gen *gen, uint32_t thread, uint8_t op, uint64_t time)
{
	struct gprof_row_nvtx *row = gen_row(gen, GPROF_TABLE_nvtx);

	row->time = time;
	row->thread = thread;
	row->op = op;
	return row;
}

struct gen_launched gen_kernel(
	struct gen *gen, uint64_t at, uint64_t begin, uint64_t end, uint32_t id)
{
	uint32_t place = gen_place(gen, 0, 1, 7);
	uint16_t call = gen_call(gen, "cudaLaunchKernel", GPROF_API_RUNTIME);
	struct gen_launched rows = {.launch = gen_row(gen, GPROF_TABLE_api_launch)};

	rows.kernel = gen_row(gen, GPROF_TABLE_kernel);
	rows.launch->begin = at;
	rows.launch->dur = at + 5000;
	rows.launch->thread = 1;
	rows.launch->call = call;
	rows.launch->correlation = id;
	rows.kernel->begin = begin + GEN_CUPTI_OFFSET_NS;
	rows.kernel->dur = end + GEN_CUPTI_OFFSET_NS;
	rows.kernel->place = place;
	rows.kernel->correlation = id;
	return rows;
}

void gen_launch(struct gen *gen, uint64_t at, uint32_t delay_us, uint32_t work_us, uint32_t id)
{
	uint64_t begin = at + delay_us * 1000ull;

	gen_kernel(gen, at, begin, begin + work_us * 1000ull, id);
}

void gen_step(struct gen *gen, uint32_t number, uint64_t at)
{
	struct gprof_row_step *row = gen_row(gen, GPROF_TABLE_step);

	row->time = at;
	row->step = number;
	row->thread = 1;
	row->how = GPROF_STEP_NVTX;
}

uint32_t gen_op_shape(struct gen *gen, const char *shape)
{
	uint32_t string = gen_string(gen, shape);
	struct gprof_row_op_shape *row = gen_row(gen, GPROF_TABLE_op_shape);

	row->id = ++gen->nr_op_shapes;
	row->name = string;
	return row->id;
}

void gen_info_bytes(struct gen *gen, const char *key, const char *value, uint32_t nr_bytes)
{
	struct gprof_row_info *row = gen_row(gen, GPROF_TABLE_info);

	row->key = text(gen, key, (uint32_t)strlen(key));
	row->value = text(gen, value, nr_bytes);
}

void gen_info(struct gen *gen, const char *key, const char *value)
{
	gen_info_bytes(gen, key, value, (uint32_t)strlen(value));
}

void gen_device(struct gen *gen, uint32_t id, const char *name)
{
	uint32_t string = gen_string(gen, name);
	struct gprof_row_device *row = gen_row(gen, GPROF_TABLE_device);

	row->id = id;
	row->name = string;
	row->uuid = text(gen, "0123456789abcdef", 16);
}

void gen_anchor(struct gen *gen, uint64_t tick, uint64_t monotonic_ns, uint64_t cupti_ns)
{
	struct gprof_row_anchor *row = gen_row(gen, GPROF_TABLE_anchor);

	gen->host_base_ns = gen->host_base_ns ? gen->host_base_ns : monotonic_ns;
	gen->device_base_ns = gen->device_base_ns ? gen->device_base_ns : cupti_ns;
	row->tick = tick;
	row->monotonic_ns =
		gen->is_of_ticks ? at_rate(gen, monotonic_ns, gen->host_base_ns) : monotonic_ns;
	row->realtime_ns = row->monotonic_ns + GEN_REALTIME_OFFSET_NS;
	row->cupti_ns = device_time(gen, cupti_ns);
	row->error_ns = 40;
}

void gen_flush(struct gen *gen)
{
	static const uint8_t first[] = {GPROF_TABLE_schema, GPROF_TABLE_string, GPROF_TABLE_info,
		GPROF_TABLE_call, GPROF_TABLE_function, GPROF_TABLE_shape, GPROF_TABLE_place,
		GPROF_TABLE_op_name, GPROF_TABLE_op_shape};

	for (size_t i = 0; i < sizeof(first); i++) {
		write_table(gen, first[i]);
	}
	for (unsigned int table = 1; table < GPROF_NR_TABLES; table++) {
		write_table(gen, table);
	}
	for (size_t i = 0; i < gen->nr_texts; i++) {
		free(gen->texts[i]);
	}
	gen->nr_texts = 0;
}

void gen_newest_correlation(struct gen *gen, uint64_t id)
{
	gen_flush(gen);
	gen->newest_correlation = id;
}

void gen_close(struct gen *gen, const char *how)
{
	if (how) {
		gen_info(gen, "end.how", how);
	}
	gen_flush(gen);
	if (fclose(gen->file)) {
		fail("gen: close");
	}
	for (unsigned int table = 0; table < GPROF_NR_TABLES; table++) {
		free(gen->tables[table].rows);
	}
	free(gen->texts);
	free(gen->encoder_memory);
	free(gen->out);
	free(gen);
}
