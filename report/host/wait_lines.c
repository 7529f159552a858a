/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of waits by line of Python, call and object. They are first counted by stack, so that
 * each stack is walked once.
 */
#include <inttypes.h>

#include "report/analysis/view.h"
#include "report/budget/wait_samples.h"
#include "report/model/mixed_stack.h"
#include "report/model/py_stack.h"
#include "report/model/python_lines.h"
#include "report/util/hash.h"
#include "report/util/string_pool.h"

/* The samples of the process that is read. */
struct process_waits {
	struct wait_key key;
	uint64_t nr, ns;
	UT_hash_handle hh;
};

/* Numbers of string_pool.h, but for the line; 0: unknown, or none. */
struct row {
	struct {
		uint32_t file, line, function, name;
		uint32_t caller; /* differs where several lines call the same of a library */
		uint32_t call, object;
	} key;
	uint64_t nr, ns;
	UT_hash_handle hh;
};

struct wait_lines_view {
	struct view_input input;
	struct process_waits *waits;
	struct row *rows;
	uint64_t nr, nr_unread, ns;
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_wait_sample, COLS(wait_sample, ns) | WAIT_KEY_COLUMNS, 0},
};

/* ---- reading ---- */

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	struct wait_lines_view *view = context;

	(void)process;
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		const struct wait_key key = wait_key_of(b, i);
		struct process_waits *waits;

		hash_put(view->waits, key, &key, waits);
		waits->nr++;
		waits->ns += b->col[COL_wait_sample_ns][i];
	}
}

static const struct model_py_code *code_of(struct process *process, const struct model_py_stack *at)
{
	return at ? idmap_get(&process->py_codes, at->code) : NULL;
}

/* Returns the nearest frame outside of libraries that called the one at `stack`; 0: none. */
static uint32_t find_caller(struct process *process, uint32_t stack)
{
	const struct model_py_stack *at = idmap_get(&process->py_stacks, stack);
	const struct model_py_code *code = code_of(process, at);

	for (uint32_t i = 0; code && i < NATIVE_STACK_MAX_FRAMES; i++) {
		if (!py_file_is_library(code->file)) {
			return i ? py_frame_short_text(code->file, at->line, code->name) : 0;
		}
		at = idmap_get(&process->py_stacks, at->parent);
		code = code_of(process, at);
	}
	return 0;
}

static uint32_t word(const char *text)
{
	return string_pool_intern(text, strlen(text));
}

static void add_waits(
	struct wait_lines_view *view, struct process *process, const struct process_waits *waits)
{
	uint64_t stack = mixed_stack_id(0, waits->key.py_stack);
	const struct model_py_stack *at = idmap_get(&process->py_stacks, waits->key.py_stack);
	const struct model_py_code *code = code_of(process, at);
	struct row key, *row;

	memset(&key, 0, sizeof(key));
	if (code) {
		key.key.file = python_line_path(process, code->file);
		key.key.line = at->line;
		key.key.function = code->name;
		key.key.name = py_frame_short_text(key.key.file, at->line, code->name);
		key.key.caller = find_caller(process, waits->key.py_stack);
	} else {
		key.key.name = word(waits->key.py_stack ? "(unknown)" : "(no Python line)");
	}
	key.key.call = wait_call_name(process, &waits->key);
	key.key.object = wait_detail(process, &waits->key);
	hash_put(view->rows, key, &key.key, row);
	row->nr += waits->nr;
	row->ns += waits->ns;
	view->nr += waits->nr;
	view->ns += waits->ns;
	view->nr_unread += mixed_stack_lacks_python(stack) ? waits->nr : 0;
}

static void end(void *context, struct process *process)
{
	struct wait_lines_view *view = context;

	for (const struct process_waits *waits = view->waits; waits; waits = waits->hh.next) {
		add_waits(view, process, waits);
	}
	hash_free(view->waits);
}

/* ---- the table ---- */

static const struct table_column columns[] = {
	TABLE_COLUMN("share_pct", "% of waits", TABLE_PERCENT, .is_minor = true,
		TABLE_SHARE_OF_STATE(row, ns, wait_lines_view, ns)),
	TABLE_COLUMN("wait_ns", "Waiting", TABLE_TIME,
		.help = "estimated time in which a thread waited there", TABLE_MEMBER(row, ns)),
	TABLE_COLUMN("samples", "Samples", TABLE_COUNT, .is_minor = true,
		.help = "how often a thread was found there", TABLE_MEMBER(row, nr)),
	TABLE_COLUMN("name", "Line", TABLE_NAME,
		.help = "file, line and function; without folders but those of packages",
		TABLE_MEMBER(row, key.name)),
	TABLE_COLUMN("caller", "Called from", TABLE_NAME, .is_minor = true,
		.help = "the nearest line outside of Python's own library and packages, if the "
			"line is in one of these",
		TABLE_NONZERO(row, key.caller)),
	TABLE_COLUMN("call", "Call", TABLE_NAME, .is_major = true,
		.help = "of the system, in which the thread waited, or what it waited for",
		TABLE_MEMBER(row, key.call)),
	TABLE_COLUMN("object", "Of", TABLE_NAME, .is_major = true,
		.help = "the file, pipe, socket or the like of the call; who holds Python's lock",
		TABLE_NONZERO(row, key.object)),
	TABLE_COLUMN("file", "File", TABLE_NAME, .is_wide_only = true,
		TABLE_IF(row, key.file, key.function)),
	TABLE_COLUMN("line", "Number", TABLE_ID, .is_wide_only = true, .help = "of the line",
		TABLE_IF(row, key.line, key.function)),
	TABLE_COLUMN("function", "Function", TABLE_NAME, .is_wide_only = true,
		TABLE_NONZERO(row, key.function)),
};

static void add_notes(struct table *table, const struct wait_lines_view *view)
{
	if (!view->nr) {
		table_note(table, "No samples of waits were recorded (GPROF_CPU_HZ).");
		return;
	}
	table_note(table,
		"Times are estimates: %" PRIu64 " sample%s, each of which stands for the time "
		"since gprof looked before, or for a second of a longer wait.",
		view->nr, view->nr == 1 ? "" : "s");
	if (view->nr_unread) {
		table_note(table,
			"The lines of %" PRIu64 " samples are unknown: their Python frames could "
			"not be read.",
			view->nr_unread);
	}
}

static void fill_table(void *state, struct table *table)
{
	const struct wait_lines_view *view = state;

	for (const struct row *row = view->rows; row; row = row->hh.next) {
		table_add(table, row);
	}
	table_sort(table, "wait");
	add_notes(table, view);
}

static void fini(void *state)
{
	struct wait_lines_view *view = state;

	hash_free(view->waits);
	hash_free(view->rows);
}

VIEW(wait_lines, 356) = {
	.name = "wait-lines",
	.subject = VIEW_ABOUT_HOST,
	.help = "what threads waited for, and at which lines of Python, by samples",
	.about =
		"gprof looks 50 times a second at the first thread of a Python process, and at its "
		"threads that launch work; with gprof-record --cpu also at threads of other "
		"programs. If one waits in the kernel, the row says at which line, "
		"in which system call and for what. Waits for the GPU are among them.",
	.is_default = true,
	.is_empty_hidden = true,
	.title = "Waits by samples",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct wait_lines_view),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, NULL, on_batch, end},
	.fill = fill_table,
	.fini = fini,
};
