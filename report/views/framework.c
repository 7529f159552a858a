/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Paddle's old profiler (paddle.fluid.profiler) reported: how much of the time of operators is
 * computation and how much the framework's own, copies with their calls, and every operator with
 * what lies in it, of all threads or of each.
 *
 * The total of an event is its time on the CPU and that of the work it launched on GPUs, as there;
 * both may pass at once, so it is no time on a clock. All time is that of events that lie in no
 * other one. Ratios of CPU and GPU are those of the sums.
 *
 * Computation is that of the operators' compute stages (one in another one counts once, twice
 * there); the rest is the framework's. Only Paddle records stages. Of other frameworks, the
 * outermost operators that spend more time themselves than in the operators they call compute;
 * nodes of autograd only if they launch. A process without operators has its CUDA calls as events,
 * named by the kernel that they launch; those compute.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/copy_kind.h"
#include "report/analysis/event_rows.h"
#include "report/ops/op.h"
#include "report/util/sort.h"

/* How deep rows are separate; what lies deeper counts in the last one. */
#define MAX_DEPTH 16u

struct sum {
	uint64_t nr, ns;
};

/* Computation in operators that are not complete, by the number of operators around them. */
struct nesting {
	struct sum *levels;
	size_t nr_levels;
};

struct framework_view {
	struct view_input input;
	struct event_rows rows;
	bool is_gpu;		       /* the current process has device records */
	bool is_plain;		       /* it has no operators */
	struct sum compute, copies[2]; /* synchronous, asynchronous */
	uint64_t nr_lone_copies;       /* without a call of their own */
	bool is_estimated;	       /* some operators were taken for computing ones */
	bool has_plain;		       /* there was a process without operators */
	struct idmap nestings;	       /* struct nesting, by thread; of the current process */
	struct op_call call;	       /* of a plain process: the last one, end 0: none */
};

static void init(void *state)
{
	struct framework_view *view = state;

	event_rows_init(&view->rows, &view->input);
}

static void begin(void *context, struct process *process)
{
	struct framework_view *view = context;

	event_rows_begin(&view->rows, process);
	view->is_gpu = process_has_device_records(process, NULL);
	view->is_plain = !op_has_any(process);
	view->has_plain |= view->is_plain;
	view->call.end = 0;
	idmap_init(&view->nestings, sizeof(struct nesting));
}

/* Returns a time on the CPU (and, below, on GPUs) if the user wants it; UINT64_MAX is unknown. */
static uint64_t cpu_part(const struct framework_view *view, uint64_t ns)
{
	return view->input.times == VIEW_TIMES_GPU ? UINT64_MAX : ns;
}

static uint64_t gpu_part(const struct framework_view *view, uint64_t ns)
{
	return view->input.times == VIEW_TIMES_CPU || !view->is_gpu ? UINT64_MAX : ns;
}

static void sum_add(struct sum *sum, uint64_t cpu_ns, uint64_t gpu_ns)
{
	sum->nr++;
	sum->ns += (cpu_ns == UINT64_MAX ? 0 : cpu_ns) + (gpu_ns == UINT64_MAX ? 0 : gpu_ns);
}

/*
 * Without details those are left out that say how another one is computed: Paddle's stages, and
 * what operators of PyTorch call.
 */
static bool has_row(const struct framework_view *view, const struct op *op)
{
	return event_is_operator(op) &&
	       (view->rows.input.detail != VIEW_DETAIL_DEFAULT || !event_outer_operator(op) ||
		       event_type_of(op) == EVENT_OPERATOR);
}

/* The row of the innermost one around `op` (or its own) that has one; 0 none. */
static uint32_t row_of(struct framework_view *view, const struct op *op,
	const struct op **outermost, uint32_t *top)
{
	const struct op *around[MAX_DEPTH];
	unsigned int nr = 0;
	uint32_t row = 0;

	/* If there are too many, the outermost stay: they are met last. */
	for (; op; op = op->parent) {
		if (has_row(view, op)) {
			around[nr++ % MAX_DEPTH] = op;
			*outermost = op;
		}
	}
	for (unsigned int i = 0; i < nr && i < MAX_DEPTH; i++) {
		const struct op *at = around[(nr - 1 - i) % MAX_DEPTH];

		row = event_rows_find(&view->rows, row, EVENT_KIND_OP, at->name, at->thread);
		*top = i ? *top : row;
	}
	return row;
}

/* Does the operator compute? For a framework that records no stages. */
static bool computes(const struct op *op)
{
	uint64_t ticks = op->end - op->begin;

	return event_is_operator(op) && ticks >= op->child_ticks &&
	       ticks - op->child_ticks >= op->child_ticks &&
	       (op->nr_activities || op_class(op->name, op->framework, op->scope) != OP_BACKWARD);
}

static struct sum *nesting_level(struct nesting *nesting, size_t level)
{
	if (level >= nesting->nr_levels) {
		nesting->levels = mem_resize(nesting->levels, level + 1, sizeof(*nesting->levels));
		memset(nesting->levels + nesting->nr_levels, 0,
			(level + 1 - nesting->nr_levels) * sizeof(*nesting->levels));
		nesting->nr_levels = level + 1;
	}
	return &nesting->levels[level];
}

/* Adds what computes in an operator, or that operator, to what computes in the one around it. */
static void add_computing(
	struct framework_view *view, const struct op *op, uint64_t cpu_ns, uint64_t gpu_ns)
{
	struct nesting *nesting = idmap_put(&view->nestings, op->thread);
	struct sum sum, *inner, *outer;
	size_t level = 0;

	for (const struct op *at = op->parent; at; at = at->parent) {
		level++;
	}
	inner = nesting_level(nesting, level + 1);
	sum = *inner;
	*inner = (struct sum){0};
	if (computes(op)) {
		sum = (struct sum){0};
		sum_add(&sum, cpu_ns, gpu_ns);
	}
	outer = level ? nesting_level(nesting, level) : &view->compute;
	outer->nr += sum.nr;
	outer->ns += sum.ns;
}

static void on_op(void *context, const struct op *op)
{
	struct framework_view *view = context;
	uint64_t cpu_ns = cpu_part(
		view, clock_map_duration(&view->rows.process->host_clock, op->end - op->begin));
	uint64_t gpu_ns = gpu_part(view, op->gpu_total_ns);
	const struct op *outermost = NULL;
	uint32_t top = 0, row;

	if (op->framework != GPROF_FRAMEWORK_PADDLE) {
		add_computing(view, op, cpu_ns, gpu_ns);
		view->is_estimated = true;
	} else if (event_is_compute(op)) {
		sum_add(&view->compute, cpu_ns, gpu_ns);
	}
	if (has_row(view, op)) {
		row = row_of(view, op, &outermost, &top);
		event_rows_add(&view->rows, outermost, top, row, cpu_ns, gpu_ns);
	}
}

/*
 * What a launch of a graph ran of an operator, in the row of its call. It computes, as the rest of
 * the operator ran at its capture.
 */
static void on_replay(void *context, const struct op *op)
{
	struct framework_view *view = context;
	uint64_t gpu_ns = gpu_part(view, op->gpu_self_ns);
	const struct op *outermost = NULL;
	uint32_t top = 0;

	if (gpu_ns == UINT64_MAX) {
		return;
	}
	view->compute.ns += gpu_ns;
	if (has_row(view, op)) {
		event_tree_add_replay(
			&view->rows.tree, row_of(view, op, &outermost, &top), op->gpu_total_ns);
	}
}

/* ---- processes without operators ---- */

static void add_plain(struct framework_view *view, enum event_kind kind, uint32_t name,
	uint32_t thread, uint64_t cpu_ns, uint64_t gpu_ns)
{
	uint32_t row = event_rows_find(&view->rows, 0, kind, name, thread);

	event_rows_add(&view->rows, NULL, 0, row, cpu_ns, gpu_ns);
}

static uint64_t call_ns(const struct framework_view *view, const struct op_call *call)
{
	return cpu_part(
		view, clock_map_duration(&view->rows.process->host_clock, call->end - call->begin));
}

/* Counts the last call, of which no work is known. */
static void finish_call(struct framework_view *view)
{
	const struct op_call *call = &view->call;
	uint64_t cpu_ns = call_ns(view, call), gpu_ns = gpu_part(view, 0);
	uint32_t name;
	uint8_t api;

	if (!call->end) {
		return;
	}
	name = process_call_name(view->rows.process, call->call, &api);
	if (api == GPROF_API_RUNTIME || api == GPROF_API_DRIVER) {
		add_plain(view, EVENT_KIND_OP, name, call->thread, cpu_ns, gpu_ns);
	}
	if (call->table == GPROF_TABLE_api_launch) {
		sum_add(&view->compute, cpu_ns, gpu_ns);
	}
	view->call.end = 0;
}

static void on_call(void *context, const struct op_call *call, const struct op *op)
{
	struct framework_view *view = context;

	(void)op;
	if (view->is_plain) {
		finish_call(view);
		view->call = *call;
	}
}

/* All that one call launched (the nodes of a graph) shares its time on the CPU. */
static void add_launched(
	struct framework_view *view, const struct op_record *record, const struct op_call *call)
{
	bool is_first = view->call.end != 0, is_set = record->table == GPROF_TABLE_memset;
	uint64_t cpu_ns = is_first ? call_ns(view, call) : cpu_part(view, 0);
	uint64_t gpu_ns =
		record->is_timed ? gpu_part(view, record->end_ns - record->begin_ns) : UINT64_MAX;

	uint32_t name = is_set ? event_copy_name(view->rows.process, record, call)
			       : op_record_name(view->rows.process, record);

	view->call.end = 0;
	add_plain(view, EVENT_KIND_ACTIVITY, name, call->thread, cpu_ns, gpu_ns);
	if (gprof_table_is(record->table, GPROF_IS_COMPUTING)) {
		sum_add(&view->compute, cpu_ns, gpu_ns);
	}
}

/* ---- copies ---- */

static void add_copy(struct framework_view *view, const struct op_record *record,
	const struct op_call *call, const struct op *op)
{
	const struct op *outermost = NULL;
	uint32_t top = 0, row, name;
	uint64_t cpu_ns = call_ns(view, call);
	uint64_t gpu_ns =
		record->is_timed ? gpu_part(view, record->end_ns - record->begin_ns) : UINT64_MAX;

	name = event_copy_name(view->rows.process, record, call);
	row = row_of(view, op, &outermost, &top);
	row = event_rows_find(&view->rows, row, EVENT_KIND_COPY, name, call->thread);
	event_rows_add(&view->rows, outermost, top, row, cpu_ns, gpu_ns);
	sum_add(&view->copies[strstr(string_pool_text(name, NULL), "Async") != NULL], cpu_ns,
		gpu_ns);
}

static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct framework_view *view = context;

	if (record->table == GPROF_TABLE_memcpy) {
		if (call && call->table == GPROF_TABLE_api_copy) {
			add_copy(view, record, call, op);
			view->call.end = 0;
		} else {
			view->nr_lone_copies++;
		}
	} else if (view->is_plain && call) {
		add_launched(view, record, call);
	}
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	struct framework_view *view = context;

	(void)process;
	(void)phases;
	finish_call(view);
	event_rows_end(&view->rows);
	for (size_t i = 0; i < view->nestings.nr; i++) {
		free(((struct nesting *)idmap_at(&view->nestings, i))->levels);
	}
	idmap_fini(&view->nestings);
}

/* ---- the table ---- */

/* Times and numbers with all bits set are unknown. */
struct shown_row {
	const char *section;
	const struct process *process; /* NULL, unless the row has one thread alone */
	uint64_t nr, total_ns, cpu_ns, gpu_ns, min_ns, max_ns;
	uint64_t whole_ns; /* the total is a share of it */
	double avg_ns;
	uint32_t thread;
	uint8_t level;
	struct buf name;
};

static void add_shown(struct table *table, struct shown_row *row)
{
	table_add(table, row);
	table_set_level(table, row->level);
	buf_fini(&row->name);
}

static void add_sum(struct table *table, const char *section, const char *name, uint8_t level,
	const struct sum *sum, uint64_t whole_ns)
{
	struct shown_row row = {.section = section,
		.nr = sum->nr,
		.total_ns = sum->ns,
		.cpu_ns = UINT64_MAX,
		.gpu_ns = UINT64_MAX,
		.min_ns = UINT64_MAX,
		.max_ns = UINT64_MAX,
		.whole_ns = whole_ns,
		.avg_ns = NAN,
		.thread = UINT32_MAX,
		.level = level};

	buf_text(&row.name, name);
	add_shown(table, &row);
}

/* The time of rows that lie in none: of all threads, or of the one of `row`. */
static uint64_t total_of(const struct framework_view *view, const struct event_row *row)
{
	uint64_t ns = 0;

	for (uint32_t at = view->rows.tree.first; at;
		at = event_tree_row(&view->rows.tree, at)->next) {
		const struct event_row *other = event_tree_row(&view->rows.tree, at);

		if (!row || (other->key.process == row->key.process &&
				    other->key.thread == row->key.thread)) {
			ns += other->both.sum;
		}
	}
	return ns;
}

static bool has_compute(const struct framework_view *view)
{
	return view->compute.nr || view->is_estimated || view->has_plain;
}

static void add_sums(const struct framework_view *view, struct table *table)
{
	static const char *const names[] = {"GpuMemcpySync", "GpuMemcpyAsync"};
	const struct sum *copies = view->copies;
	struct sum all = {UINT64_MAX, total_of(view, NULL)},
		   both = {copies[0].nr + copies[1].nr, copies[0].ns + copies[1].ns};
	struct sum compute = {UINT64_MAX, UINT64_MAX}, rest = compute;

	if (has_compute(view)) {
		compute.ns = view->compute.ns;
		rest.ns = compute.ns < all.ns ? all.ns - compute.ns : 0;
	}
	add_sum(table, "overhead", "Total time", 0, &all, all.ns);
	add_sum(table, "overhead", "Computation time", 1, &compute, all.ns);
	add_sum(table, "overhead", "Framework overhead", 1, &rest, all.ns);
	add_sum(table, "memcpy", "GpuMemcpy", 0, &both, all.ns);
	for (unsigned int i = 2; i-- > 0;) {
		add_sum(table, "memcpy", names[i], 1, &copies[i], all.ns);
	}
}

static void add_event(const struct framework_view *view, const struct event_row *event,
	uint64_t whole_ns, uint8_t level, struct table *table)
{
	struct shown_row row = {.section = "event",
		.nr = event->both.nr,
		.total_ns = event->both.sum,
		.cpu_ns = event->cpu.nr ? event->cpu.sum : UINT64_MAX,
		.gpu_ns = event->gpu.nr ? event->gpu.sum : UINT64_MAX,
		.min_ns = event->both.min,
		.max_ns = event->both.max,
		.whole_ns = whole_ns,
		.avg_ns = min_max_sum_mean(&event->both),
		.thread = UINT32_MAX,
		.level = level};

	if (event->key.process) {
		row.process = view->rows.input.processes[event->key.process - 1];
		row.thread = event->key.thread ? event->key.thread - 1 : 0;
	}
	if (event->key.process && !event->key.outer) {
		buf_printf(&row.name, "thread%u::", row.thread);
	}
	event_row_name(event, &row.name);
	add_shown(table, &row);
}

/* By thread, then by time, falling; those by their place in the step by that, last. */
static int by_total(const void *a, const void *b)
{
	const struct event_row *const *x = a, *const *y = b;
	const struct event_key *p = &(*x)->key, *q = &(*y)->key;

	return ORDER(COMPARE(p->process, q->process), COMPARE(p->thread, q->thread),
		COMPARE(p->place, q->place), COMPARE((*y)->both.sum, (*x)->both.sum),
		(*x)->number < (*y)->number ? -1 : 1);
}

static void add_rows(const struct framework_view *view, struct table *table, uint32_t first,
	uint64_t whole, uint8_t level)
{
	const struct event_row **rows = NULL;
	size_t nr = 0, capacity = 0;

	for (uint32_t at = first; at; at = event_tree_row(&view->rows.tree, at)->next) {
		rows = array_grow(rows, nr, &capacity, sizeof(*rows));
		rows[nr] = event_tree_row(&view->rows.tree, at);
		nr += rows[nr]->both.nr != 0;
	}
	if (nr) {
		qsort(rows, nr, sizeof(*rows), by_total);
	}
	for (size_t i = 0; i < nr; i++) {
		bool is_other_thread =
			!level && (!i || rows[i]->key.thread != rows[i - 1]->key.thread ||
					  rows[i]->key.process != rows[i - 1]->key.process);

		whole = is_other_thread ? total_of(view, rows[i]) : whole;
		add_event(view, rows[i], whole, level, table);
		add_rows(view, table, rows[i]->first, whole, (uint8_t)(level + 1));
	}
	free(rows);
}

static void add_note(const struct framework_view *view, struct table *table)
{
	view_note_devices(table, &view->input, "");
	if (view->is_estimated) {
		table_note(table,
			"Computation is estimated: the time of operators that spend more of it "
			"themselves than in the operators they call.");
	} else if (!has_compute(view)) {
		table_note(table, "No stages of operators were recorded; computation is unknown.");
	}
	if (view->nr_lone_copies) {
		table_note(table, "Copies without a recorded call are excluded.");
	}
}

static const struct table_column columns[] = {
	TABLE_COLUMN("section", "Section", TABLE_TEXT, .is_wide_only = true,
		.help = "overhead, memcpy or event", TABLE_MEMBER(shown_row, section)),
	TABLE_COLUMN("level", "Level", TABLE_ID, .is_wide_only = true,
		.help = "depth; the row lies in the last row above with a lower level",
		TABLE_MEMBER(shown_row, level)),
	TABLE_COLUMN("pid", "PID", TABLE_ID, .is_wide_only = true, VIEW_PID(shown_row, process)),
	TABLE_COLUMN("thread", "Thread", TABLE_ID, .is_wide_only = true,
		TABLE_MEMBER(shown_row, thread)),
	TABLE_COLUMN("calls", "Calls", TABLE_COUNT, TABLE_MEMBER(shown_row, nr)),
	TABLE_COLUMN("total_ns", "Total", TABLE_TIME, .help = "CPU time plus GPU time",
		TABLE_MEMBER(shown_row, total_ns)),
	TABLE_COLUMN("cpu_ns", "CPU time", TABLE_TIME, TABLE_MEMBER(shown_row, cpu_ns)),
	TABLE_COLUMN("cpu_pct", "CPU %", TABLE_PERCENT, .help = "CPU time, as a share of the total",
		TABLE_SHARE(shown_row, cpu_ns, total_ns)),
	TABLE_COLUMN("gpu_ns", "GPU time", TABLE_TIME, TABLE_MEMBER(shown_row, gpu_ns)),
	TABLE_COLUMN("gpu_pct", "GPU %", TABLE_PERCENT, .help = "GPU time, as a share of the total",
		TABLE_SHARE(shown_row, gpu_ns, total_ns)),
	TABLE_COLUMN(
		"min_ns", "Min", TABLE_TIME, .is_minor = true, TABLE_MEMBER(shown_row, min_ns)),
	TABLE_COLUMN(
		"max_ns", "Max", TABLE_TIME, .is_minor = true, TABLE_MEMBER(shown_row, max_ns)),
	TABLE_COLUMN("avg_ns", "Avg", TABLE_MEAN_TIME, TABLE_MEMBER(shown_row, avg_ns)),
	TABLE_COLUMN("ratio_pct", "Ratio %", TABLE_PERCENT,
		.help = "total, as a share of the outermost events",
		TABLE_SHARE(shown_row, total_ns, whole_ns)),
	TABLE_COLUMN("name", "Event", TABLE_TEXT, TABLE_BUF(shown_row, name)),
};

static void fill_table(void *state, struct table *table)
{
	struct framework_view *view = state;

	if (view->rows.tree.nr_rows) {
		add_sums(view, table);
		add_rows(view, table, view->rows.tree.first, 0, 0);
		add_note(view, table);
	}
}

static void fini(void *state)
{
	struct framework_view *view = state;

	event_rows_fini(&view->rows);
}

VIEW(framework, 60) = {
	.name = "framework",
	.subject = VIEW_ABOUT_HOST,
	.help = "computation and overhead of the framework, copies, and operators inside operators",
	.about = "Total is CPU time plus GPU time, which can overlap. Ratio is a share of the "
		 "outermost events (with --per-thread, of those of the thread). Computation is the "
		 "time of the operators' computing parts, framework overhead the rest of the "
		 "total. In a program without operators the events are CUDA calls, named by the "
		 "kernel that they launch.",
	.title = "Framework overhead",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct framework_view),
	.ops = {.begin = begin,
		.op = on_op,
		.replay = on_replay,
		.call = on_call,
		.record = on_record,
		.end = end},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
