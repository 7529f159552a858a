/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sink for CSV and JSON lines: folders TABLE/rank=R/step=S, as engines for data frames
 * partition, with a file for each process. One file of a table is open at a time; rows of a step
 * that comes again are appended to its file.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/cli/export.h"
#include "report/util/text.h"

/* Engines read this as an unknown value of a partition. */
#define NOWHERE "__HIVE_DEFAULT_PARTITION__"

/* The file of a table that rows go to; rows come mostly by their steps, so there is one at a time.
 */
struct part {
	FILE *file;
	int64_t rank, step; /* -1 unknown */
	uint32_t pid;
	size_t process; /* two processes may have the same pid, on two hosts */
};

struct folder {
	const char *path;
	bool is_json;
	struct part parts[GPROF_NR_TABLES]; /* by GPROF_TABLE_... */
	const struct process *process;
	size_t nr_processes; /* that have come */
	struct buf line;
	int error; /* errno */
};

static int make_folder(const char *path)
{
	return mkdir(path, 0777) && errno != EEXIST ? errno : 0;
}

static void add_partition(struct buf *path, const char *key, int64_t value)
{
	if (value < 0) {
		buf_printf(path, "/%s=" NOWHERE, key);
	} else {
		buf_printf(path, "/%s=%lld", key, (long long)value);
	}
}

/* The folder path/TABLE/rank=R/step=S, made from the top. */
static void find_path(struct folder *folder, const struct event_table *table,
	const struct part *part, struct buf *path)
{
	buf_printf(path, "%s", folder->path);
	for (int level = 0; level < 3 && !folder->error; level++) {
		if (level == 0) {
			buf_printf(path, "/%s", table->name);
		} else {
			add_partition(path, level == 1 ? "rank" : "step",
				level == 1 ? part->rank : part->step);
		}
		buf_char(path, '\0');
		folder->error = make_folder(path->bytes);
		path->nr_bytes--;
	}
	buf_printf(path, "/%u-%zu.%s", part->pid, part->process, folder->is_json ? "jsonl" : "csv");
	buf_char(path, '\0');
}

static void close_part(struct folder *folder, struct part *part)
{
	if (part->file && fclose(part->file) && !folder->error) {
		folder->error = errno;
	}
	part->file = NULL;
}

static void write_head(const struct event_table *table, FILE *file)
{
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		if (c == EVENT_PID || c >= EVENT_NR_FIRST) {
			fprintf(file, "%s%s", c ? "," : "", table->columns[c].name);
		}
	}
	fputc('\n', file);
}

static void open_part(struct folder *folder, const struct event_table *table, struct part *part)
{
	struct buf path = {0};

	find_path(folder, table, part, &path);
	if (!folder->error) {
		part->file = fopen(path.bytes, "a");
		folder->error = part->file ? 0 : errno;
	}
	if (part->file && !folder->is_json && ftello(part->file) == 0) {
		write_head(table, part->file);
	}
	buf_fini(&path);
}

/* Returns the file of a row, open; NULL on an error. */
static FILE *find_part(
	struct folder *folder, const struct event_table *table, const struct export_cell *cells)
{
	struct part *part = &folder->parts[table->number];
	int64_t rank = cells[EVENT_RANK].is_known ? cells[EVENT_RANK].value : -1;
	int64_t step = cells[EVENT_STEP].is_known ? cells[EVENT_STEP].value : -1;

	if (!part->file || part->step != step || part->process != folder->nr_processes) {
		close_part(folder, part);
		*part = (struct part){.rank = rank,
			.step = step,
			.pid = (uint32_t)cells[EVENT_PID].value,
			.process = folder->nr_processes};
		open_part(folder, table, part);
	}
	return part->file;
}

static void add_text(struct folder *folder, uint32_t name)
{
	size_t nr_bytes;
	const char *text = string_pool_text(name, &nr_bytes);

	if (folder->is_json) {
		text_add_json(&folder->line, text, nr_bytes);
	} else {
		text_add_csv(&folder->line, text, nr_bytes);
	}
}

static void add_cell(struct folder *folder, const struct event_column *column,
	const struct export_cell *cell, bool is_first)
{
	buf_text(&folder->line, is_first ? "" : ",");
	if (folder->is_json) {
		buf_printf(&folder->line, "\"%s\":", column->name);
	}
	if (!cell->is_known) {
		buf_text(&folder->line, folder->is_json ? "null" : "");
	} else if (column->type == EVENT_COLUMN_TEXT) {
		add_text(folder, (uint32_t)cell->value);
	} else {
		buf_printf(&folder->line, "%lld", (long long)cell->value);
	}
}

static bool take_row(void *context, const struct event_table *table, const struct process *process,
	const struct export_cell *cells)
{
	struct folder *folder = context;
	FILE *file;

	if (folder->process != process) {
		folder->process = process;
		folder->nr_processes++;
	}
	file = find_part(folder, table, cells);
	if (!file) {
		return false;
	}
	folder->line.nr_bytes = 0;
	buf_text(&folder->line, folder->is_json ? "{" : "");
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		if (c == EVENT_PID || c >= EVENT_NR_FIRST) {
			add_cell(folder, &table->columns[c], &cells[c], c == 0);
		}
	}
	buf_text(&folder->line, folder->is_json ? "}\n" : "\n");
	if (fwrite(folder->line.bytes, 1, folder->line.nr_bytes, file) != folder->line.nr_bytes) {
		folder->error = errno;
	}
	return !folder->error;
}

/* Rows are appended, so the folder must have no files from before. */
static const char *prepare(const char *path)
{
	DIR *directory;
	const struct dirent *entry;
	const char *why = NULL;

	if (make_folder(path)) {
		return strerror(errno);
	}
	directory = opendir(path);
	if (!directory) {
		return strerror(errno);
	}
	while (!why && (entry = readdir(directory))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
			why = "the folder is not empty";
		}
	}
	closedir(directory);
	return why;
}

const char *export_files(const char *path, enum export_format format, struct process **processes,
	size_t nr_processes)
{
	struct folder folder = {.path = path, .is_json = format == EXPORT_JSONL};
	struct export_sink sink = {take_row, &folder};
	const char *why = prepare(path);

	if (why) {
		return why;
	}
	export_run(processes, nr_processes, &sink);
	for (unsigned int i = 0; i < GPROF_NR_TABLES; i++) {
		close_part(&folder, &folder.parts[i]);
	}
	buf_fini(&folder.line);
	return folder.error ? strerror(folder.error) : NULL;
}
