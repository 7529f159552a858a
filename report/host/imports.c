/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports of Python, by samples: how long each statement of the program takes that imports
 * something, with all that this imports in turn. Programs start with minutes of them where files
 * come from a slow file system.
 *
 * An import is the outermost call of the interpreter's function that loads a module; the frame
 * around it is the statement. Modules run as "<module>".
 */
#include <inttypes.h>
#include <string.h>

#include "report/analysis/view.h"
#include "report/host/alike_samples.h"
#include "report/model/mixed_stack.h"
#include "report/model/py_stack.h"
#include "report/util/string_pool.h"

/* A damaged stream may have cycles of stacks. */
#define MAX_FRAMES 256u

/* All numbers of string_pool.h; 0: unknown. */
struct import {
	uint32_t statement; /* as "train.py(3): <module>" */
	uint32_t package;   /* the outermost module in it; 0 before that runs */
	uint32_t module;    /* the line of the innermost one */
};

struct row {
	struct {
		uint32_t statement;
	} key;
	uint64_t nr, cpu_ns, wait_ns;
	uint32_t package, module;	    /* with most of the time */
	uint64_t package_ns, module_ns, ns; /* ns: for the table */
	UT_hash_handle hh;
};

/* The time of a row in a package or module. */
struct part {
	struct {
		struct row *row;
		uint32_t name;
		uint32_t is_module;
	} key;
	uint64_t ns;
	UT_hash_handle hh;
};

struct imports_view {
	struct view_input input;
	struct alike_samples samples; /* the current process has these */
	struct row *rows;
	struct part *parts;
	uint64_t all_ns;      /* the time that all samples stand for, also those of no import */
	uint64_t nr_unread;   /* samples whose Python frames could not be read */
	uint32_t loads, runs; /* names of the interpreter's functions */
};

static const struct scan_want wants[] = {ALIKE_SAMPLES_WANTS};

/* ---- stacks ---- */

static bool is_importlib(uint32_t file)
{
	static const char frozen[] = "<frozen importlib";
	const char *path = file ? string_pool_text(file, NULL) : "";

	return !strncmp(path, frozen, strlen(frozen)) || strstr(path, "/importlib/__init__.py");
}

/* From the innermost frame outwards: each import that is found contains those before. */
static struct import find_import(
	const struct imports_view *view, struct process *process, uint32_t stack, bool *is_import)
{
	struct import found = {0}, inner = {0};
	bool wants_statement = false;

	for (uint32_t i = 0; stack && i < MAX_FRAMES; i++) {
		const struct model_py_stack *at = idmap_get(&process->py_stacks, stack);
		const struct model_py_code *code =
			at ? idmap_get(&process->py_codes, at->code) : NULL;

		if (!code) {
			break;
		}
		if (is_importlib(code->file)) {
			if (code->name == view->loads) {
				found = inner;
				wants_statement = *is_import = true;
			}
		} else {
			uint32_t place = py_frame_short_text(code->file, at->line, code->name);

			if (wants_statement) {
				found.statement = place;
				wants_statement = false;
			}
			if (code->name == view->runs) {
				inner.package = py_file_package(code->file);
				inner.module = inner.module ? inner.module : place;
			}
		}
		stack = at->parent;
	}
	return found;
}

/* ---- reading ---- */

static uint32_t name_of(const char *text)
{
	return string_pool_intern(text, strlen(text));
}

static void init(void *state)
{
	struct imports_view *view = state;

	view->loads = name_of("_find_and_load");
	view->runs = name_of("<module>");
}

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	(void)process;
	alike_samples_add(&((struct imports_view *)context)->samples, b);
}

static uint64_t add_part(
	struct imports_view *view, struct row *row, uint32_t name, bool is_module, uint64_t ns)
{
	struct part wanted, *part;

	memset(&wanted, 0, sizeof(wanted));
	wanted.key.row = row;
	wanted.key.name = name;
	wanted.key.is_module = is_module;
	hash_put(view->parts, key, &wanted.key, part);
	part->ns += ns;
	return part->ns;
}

/* Returns the row of an import; NULL: the sample is of none. */
static struct row *add(
	struct imports_view *view, struct process *process, const struct alike *alike)
{
	uint64_t stack = mixed_stack_id(0, alike->key.py_stack), ns;
	bool is_import = false;
	struct import import;
	struct row wanted, *row;

	view->all_ns += alike->ns;
	view->nr_unread += mixed_stack_lacks_python(stack) ? alike->nr : 0;
	if (!mixed_stack_has_python(stack)) {
		return NULL;
	}
	import = find_import(view, process, alike->key.py_stack, &is_import);
	if (!is_import) {
		return NULL;
	}
	memset(&wanted, 0, sizeof(wanted));
	wanted.key.statement = import.statement;
	hash_put(view->rows, key, &wanted.key, row);
	row->nr += alike->nr;
	ns = import.package ? add_part(view, row, import.package, false, alike->ns) : 0;
	if (ns > row->package_ns) {
		row->package_ns = ns;
		row->package = import.package;
	}
	ns = import.module ? add_part(view, row, import.module, true, alike->ns) : 0;
	if (ns > row->module_ns) {
		row->module_ns = ns;
		row->module = import.module;
	}
	return row;
}

static void end(void *context, struct process *process)
{
	struct imports_view *view = context;

	for (const struct alike *alike = view->samples.running; alike; alike = alike->hh.next) {
		struct row *row = add(view, process, alike);

		if (row) {
			row->cpu_ns += alike->ns;
		}
	}
	for (const struct alike *alike = view->samples.waiting; alike; alike = alike->hh.next) {
		struct row *row = add(view, process, alike);

		if (row) {
			row->wait_ns += alike->ns;
		}
	}
	alike_samples_fini(&view->samples);
}

/* ---- the table ---- */

static const struct table_column columns[] = {
	TABLE_COLUMN("share_pct", "% of time", TABLE_PERCENT,
		.help = "of the time of all samples: CPU time of all threads, and waits of those "
			"that are looked at",
		TABLE_SHARE_OF_STATE(row, ns, imports_view, all_ns)),
	TABLE_COLUMN("total_ns", "Total", TABLE_TIME,
		.help = "estimated time of the statement, with all that it imports in turn",
		TABLE_MEMBER(row, ns)),
	TABLE_COLUMN("cpu_ns", "CPU", TABLE_TIME, .help = "part of it on a CPU",
		TABLE_MEMBER(row, cpu_ns)),
	TABLE_COLUMN("wait_ns", "Waiting", TABLE_TIME,
		.help = "part of it in waits, mostly for files", TABLE_MEMBER(row, wait_ns)),
	TABLE_COLUMN("samples", "Samples", TABLE_COUNT, .is_minor = true, TABLE_MEMBER(row, nr)),
	TABLE_COLUMN("package", "Package", TABLE_NAME, .is_name = true,
		.help = "that it imports; of several, the one with most of the time",
		TABLE_IF(row, package, package)),
	TABLE_COLUMN("statement", "Imported at", TABLE_NAME, .is_major = true,
		.help = "the line that imports it; none: the interpreter itself, as it starts",
		TABLE_IF(row, key.statement, key.statement)),
	TABLE_COLUMN("module_pct", "% at the line", TABLE_PERCENT, .is_minor = true,
		.help = "part of the time of the import in that line",
		TABLE_SHARE(row, module_ns, ns)),
	TABLE_COLUMN("module", "Most at", TABLE_NAME, .is_minor = true,
		.help = "the line of a module with most of its time, of what the module itself "
			"runs and calls",
		TABLE_IF(row, module, module)),
};

static void fill_table(void *state, struct table *table)
{
	const struct imports_view *view = state;

	for (struct row *row = view->rows; row; row = row->hh.next) {
		row->ns = row->cpu_ns + row->wait_ns;
		row->module_ns = row->module ? row->module_ns : UINT64_MAX;
		table_add(table, row);
	}
	table_sort(table, "total");
	if (table->nr_rows) {
		table_note(table, "Times are estimates from samples.");
	}
	if (table->nr_rows && view->nr_unread) {
		table_note(table,
			"The Python frames of %" PRIu64 " sample%s could not be read; they are in "
			"no row.",
			view->nr_unread, view->nr_unread == 1 ? "" : "s");
	}
}

static void fini(void *state)
{
	struct imports_view *view = state;

	alike_samples_fini(&view->samples);
	hash_free(view->rows);
	hash_free(view->parts);
}

VIEW(imports, 358) = {
	.name = "imports",
	.subject = VIEW_ABOUT_HOST,
	.help = "what Python imports and how long that takes, by samples",
	.about = "A row is a statement of the program, with all imports within it. An import in "
		 "a function counts when that first runs.",
	.is_empty_hidden = true,
	.title = "Imports of Python",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct imports_view),
	.init = init,
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, NULL, on_batch, end},
	.fill = fill_table,
	.fini = fini,
};
