/* SPDX-License-Identifier: Apache-2.0 */
/* Is a stream whole? Reads every byte of it and says where it is damaged and what is lost. */
#include <inttypes.h>
#include <string.h>

#include "report/session/common_options.h"
#include "report/session/options.h"
#include "report/util/progress.h"
#include "report/util/text.h"

struct check {
	struct process *process;
	struct buf *out;
	size_t block;
	uint64_t nr_bad_columns;
	uint64_t nr_bad_ids;
};

static void bad_column(
	void *context, const char *column, uint64_t offset, enum decode_status status)
{
	struct check *check = context;
	const struct stream *stream = check->process->stream;
	const struct stream_block *block = &stream->blocks[check->block];

	check->nr_bad_columns++;
	buf_printf(check->out, "  block %zu (number %" PRIu64 ", byte %" PRIu64 ", table ",
		check->block, block->sequence, block->offset);
	text_add_shown(check->out, stream->tables[block->table].name,
		strlen(stream->tables[block->table].name), 64);
	buf_text(check->out, "), column ");
	text_add_shown(check->out, column, strlen(column), 64);
	buf_printf(check->out, " at byte %" PRIu64 ": %s; %u rows damaged\n", offset,
		decode_status_text(status), block->nr_rows);
}

/* ---- ids that no row defines ---- */

/* A column that names rows of another table by id. */
static const struct {
	uint8_t table, column;
	uint16_t facts; /* of all tables with one of these instead */
	size_t map;	/* offset of the idmap in struct process */
	const char *what;
} references[] = {
#define MAP(name) offsetof(struct process, name)
	{0, COL_api_call, GPROF_IS_CALL, MAP(calls), "call"},
	{GPROF_TABLE_api_nested, COL_api_call, 0, MAP(calls), "call"},
	{GPROF_TABLE_api_launch, COL_api_launch_shape, 0, MAP(shapes), "shape"},
	{GPROF_TABLE_kernel, COL_kernel_shape, 0, MAP(shapes), "shape"},
	{0, COL_kernel_place, GPROF_IS_ACTIVITY, MAP(places), "place"},
	{GPROF_TABLE_shape, COL_shape_name, 0, MAP(strings), "string"},
	{GPROF_TABLE_call, COL_call_name, 0, MAP(strings), "string"},
	{GPROF_TABLE_nvtx, COL_nvtx_name, 0, MAP(strings), "string"},
#undef MAP
};

/* Id 0 refers to nothing, so it is never undefined. */
static void check_reference(struct check *check, size_t k)
{
	struct stream *stream = check->process->stream;
	const struct idmap *map =
		(const struct idmap *)((const char *)check->process + references[k].map);
	unsigned int column = references[k].column;
	uint64_t nr_bad = 0, first = 0;
	struct batch batch;

	if (stream_load(stream, check->block, COL_BIT(column), 0, &batch)) {
		return; /* reported as damage */
	}
	for (uint32_t i = 0; i < batch.nr_rows; i++) {
		uint64_t id = batch.col[column][i];

		if (id && (id > UINT32_MAX || idmap_find(map, (uint32_t)id) < 0)) {
			first = nr_bad++ ? first : id;
		}
	}
	if (nr_bad) {
		check->nr_bad_ids += nr_bad;
		buf_printf(check->out,
			"  block %zu, table %s: %" PRIu64
			" rows refer to an undefined %s, such as %" PRIu64 "\n",
			check->block, schema_table(batch.table)->name, nr_bad, references[k].what,
			first);
	}
}

static void check_references(struct check *check)
{
	unsigned int table = stream_block_table(check->process->stream, check->block);

	for (size_t k = 0; table && k < sizeof(references) / sizeof(references[0]); k++) {
		if (references[k].table == table || gprof_table_is(table, references[k].facts)) {
			check_reference(check, k);
		}
	}
}

/* ---- a stream ---- */

static void list_places(const struct process *process, struct buf *out)
{
	const struct stream *stream = process->stream;

	for (size_t i = 0; i < stream->nr_damages; i++) {
		const struct stream_damage *damage = &stream->damages[i];

		buf_printf(out, "  after block %" PRIu64 ", byte %" PRIu64 " to %" PRIu64 ": %s\n",
			damage->block, damage->offset, damage->offset + damage->nr_bytes,
			damage->what);
	}
	if (stream->blocks_missing) {
		buf_printf(out, "  %" PRIu64 " %s missing\n", stream->blocks_missing,
			text_many(stream->blocks_missing, "block is", "blocks are"));
	}
	if (stream->blocks_repeated) {
		buf_printf(out, "  %" PRIu64 " %s skipped\n", stream->blocks_repeated,
			text_many(stream->blocks_repeated,
				"block is repeated or out of order and was",
				"blocks are repeated or out of order and were"));
	}
	if (stream->is_schema_assumed) {
		buf_printf(out,
			"  the schema is incomplete; the schema of version %u.%u replaces it\n",
			GPROF_FORMAT_MAJOR, GPROF_FORMAT_MINOR);
	}
	for (size_t i = 0; i < stream->nr_tables; i++) {
		const struct stream_table *table = &stream->tables[i];
		uint64_t rows[3] = {
			table->rows_missing, table->rows_damaged, table->rows_unwritten};
		static const char *const what[3] = {"missing", "damaged", "never written"};

		for (int k = 0; k < 3; k++) {
			if (rows[k]) {
				buf_text(out, "  table ");
				text_add_shown(out, table->name, strlen(table->name), 64);
				buf_printf(out, ": %" PRIu64 " rows %s\n", rows[k], what[k]);
			}
		}
	}
	if (stream->ring_rows_damaged) {
		buf_printf(out, "  %" PRIu64 " damaged places in the ring file\n",
			stream->ring_rows_damaged);
	}
	/* Lists what an imported file lacks, and what of it is not read. */
	for (size_t i = 0; stream->is_trace && i < process->nr_notices; i++) {
		const char *text = string_pool_text(process->notices[i].text, NULL);

		buf_text(out, "  ");
		text_add_shown(out, text, strlen(text), 0);
		buf_char(out, '\n');
	}
	for (size_t i = 0; i < process->nr_losses; i++) {
		const struct model_loss *loss = &process->losses[i];
		const char *cause = string_pool_text(loss->cause, NULL);

		buf_printf(out, "  %" PRIu64 " %s: ", loss->count, model_loss_unit(loss));
		text_add_shown(out, cause, strlen(cause), 0);
		buf_char(out, '\n');
	}
}

/* Returns true if the stream is whole, nothing was lost, and it was ended. */
static bool check_process(struct process *process, struct buf *out)
{
	struct stream *stream = process->stream;
	struct check check = {.process = process, .out = out};
	struct buf details = {0};
	bool is_whole;

	check.out = &details;
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		check.block = i;
		stream_verify(stream, i, bad_column, &check);
		check_references(&check);
		progress_add(stream->blocks[i].nr_rows);
	}
	list_places(process, &details);
	is_whole = process_is_complete(process) && !check.nr_bad_columns && !check.nr_bad_ids;
	text_add_shown(out, stream->path, strlen(stream->path), 0);
	if (stream->nr_parts > 1) {
		buf_printf(out, ", process %" PRIu32, stream->header.pid);
	}
	buf_printf(out, ": %s%s, %zu blocks, %" PRIu64 " events\n",
		is_whole ? "passed" : "incomplete", process->is_ended ? "" : ", unfinished",
		stream->nr_blocks, process->nr_events);
	buf_add(out, details.bytes, details.nr_bytes);
	buf_fini(&details);
	return is_whole;
}

static const struct option_line options[] = {
	COMMON_OPTIONS_RUN("check these runs of a folder: 2, 1-3, -2 for the last two,\n"
			   "an ID, or all (default: all)"),
	COMMON_OPTIONS_HELP_OPTION,
	{0},
};

static enum cmd_exit check_all(const struct common_options *asked, char *const *paths, int nr_paths)
{
	struct cmd_input input;
	struct buf out = {0};
	uint64_t nr_rows = 0;
	enum cmd_exit status, written;

	/* Checks all runs unless the user names some: a folder is checked as a whole. */
	if (cmd_open(&input, paths, nr_paths, asked->filter.run ? &asked->filter : NULL)) {
		cmd_close(&input);
		return CMD_FAILED;
	}
	status = input.status;
	for (size_t i = 0; i < input.nr_processes; i++) {
		for (size_t k = 0; k < input.processes[i]->stream->nr_blocks; k++) {
			nr_rows += input.processes[i]->stream->blocks[k].nr_rows;
		}
	}
	progress_start("checking", nr_rows);
	for (size_t i = 0; i < input.nr_processes; i++) {
		if (!check_process(input.processes[i], &out)) {
			status = CMD_INCOMPLETE;
		}
	}
	progress_stop();
	written = cmd_write(NULL, &out);
	buf_fini(&out);
	cmd_close(&input);
	return written ? written : status;
}

static int run(int argc, char **argv)
{
	struct common_options asked = {.command = &cmd_check};
	int option, status = 0;

	while (!status && (option = options_get(&cmd_check, argc, argv)) >= 0) {
		status = common_options_take(&asked, option);
	}
	status = status ? status : (int)check_all(&asked, argv + optind, argc - optind);
	common_options_fini(&asked);
	return status == COMMON_OPTIONS_HELP ? CMD_GOOD : status;
}

const struct command cmd_check = {
	.name = "check",
	.arguments = "[OPTION]... [PATH]...",
	.help = "check whether streams are whole: damage and losses",
	.options = options,
	.run = run,
};
