/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies --steps and --window. A session calls select_all() after the clocks are aligned; from
 * then on scan.c and op_walk.c cut what they hand out, so no view knows of it. Everything that
 * decides is computed once in advance and fits in bits: the spans of ticks, the correlation IDs of
 * the calls in them, and which NVTX rows go with a selected begin. Choosing the rows of a block is
 * then a lookup a row.
 *
 *   steps    |--7--|--8--|--9--|          --steps 8
 *   calls       c1    c2    c3            launched = {c2}
 *   GPU             k1           k2       k2 stays though it runs in step 9
 */
#include "report/model/select.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/hash.h"
#include "report/model/ranges.h"
#include "report/util/sort.h"

/* ---- NVTX rows ---- */

/*
 * Finds the selected NVTX rows: the end of a range follows its begin; rows that only name something
 * always stay.
 */

#define MASK COLS(nvtx, time, thread, range, domain, op)

/* The end of a started range, by its id. */
struct end_row {
	uint64_t range, row;
	UT_hash_handle hh;
};

struct read {
	const struct process *process;
	uint64_t **kept;
	struct range_walk pushed; /* a mark's tick is the row of the pop */
	struct end_row *ends;
};

/* A row of the stream as one number. */
static uint64_t row_number(const struct batch *b, uint32_t i)
{
	return (uint64_t)b->block << 16 | i;
}

_Static_assert(GPROF_BLOCK_ROWS <= 1u << 16, "row_number");

static void keep(struct read *read, uint64_t row)
{
	uint64_t **bits = &read->kept[row >> 16];
	uint32_t i = row & 0xffffu;

	if (!*bits) {
		*bits = mem_zeroed(GPROF_BLOCK_ROWS / 64, sizeof(**bits));
	}
	(*bits)[i / 64] |= 1ull << (i % 64);
}

static void add_end(struct read *read, uint64_t range, uint64_t row)
{
	struct end_row *end;

	hash_put(read->ends, range, &range, end);
	end->row = row;
}

static void add_start(struct read *read, uint64_t range, bool is_chosen)
{
	struct end_row *end;

	HASH_FIND(hh, read->ends, &range, sizeof(range), end);
	if (end && is_chosen) {
		keep(read, end->row);
	}
	if (end) {
		HASH_DEL(read->ends, end);
		free(end);
	}
}

/* A pop or an end waits: its begin, which comes later in this direction, decides for both. */
static void add_row(struct read *read, const struct batch *b, uint32_t i)
{
	uint32_t thread = (uint32_t)b->col[COL_nvtx_thread][i];
	uint32_t domain = (uint32_t)b->col[COL_nvtx_domain][i];
	bool is_chosen = select_has_tick(read->process, b->col[COL_nvtx_time][i]);
	struct range_mark pop = {.tick = row_number(b, i)};

	switch (b->col[COL_nvtx_op][i]) {
	case GPROF_NVTX_POP:
		range_walk_pop(&read->pushed, thread, domain, &pop);
		return;
	case GPROF_NVTX_END:
		add_end(read, b->col[COL_nvtx_range][i], row_number(b, i));
		return;
	case GPROF_NVTX_PUSH:
		if (range_walk_push(&read->pushed, thread, domain, &pop) && is_chosen) {
			keep(read, pop.tick);
		}
		break;
	case GPROF_NVTX_START:
		add_start(read, b->col[COL_nvtx_range][i], is_chosen);
		break;
	case GPROF_NVTX_MARK:
		break;
	default: /* a name */
		is_chosen = true;
		break;
	}
	if (is_chosen) {
		keep(read, row_number(b, i));
	}
}

/* Reads backwards, so that an end comes before its begin, which decides for both. */
static uint64_t **select_nvtx_read(struct process *process)
{
	struct stream *stream = process->stream;
	struct read read = {
		.process = process, .kept = mem_zeroed(stream->nr_blocks + 1, sizeof(*read.kept))};

	for (size_t block = stream->nr_blocks; block-- > 0;) {
		struct batch batch;

		if (stream_block_table(stream, block) != GPROF_TABLE_nvtx ||
			stream_load(stream, block, MASK, 0, &batch)) {
			continue;
		}
		for (uint32_t i = batch.nr_rows; i-- > 0;) {
			add_row(&read, &batch, i);
		}
	}
	range_walk_fini(&read.pushed);
	hash_free(read.ends);
	return read.kept;
}

static void select_nvtx_destroy(uint64_t **kept, size_t nr_blocks)
{
	for (size_t i = 0; kept && i < nr_blocks; i++) {
		free(kept[i]);
	}
	free(kept);
}

/* ---- one process ---- */

/* A batch of selected rows; arrays are allocated when needed. */
struct select_scratch {
	uint32_t rows[GPROF_BLOCK_ROWS];
	uint64_t *col[SCHEMA_COLUMNS];
	uint32_t *small[SCHEMA_COLUMNS];
	struct decode_text *text[SCHEMA_COLUMNS];
};

/* One for all: a cut batch lasts until the next one. */
static struct select_scratch *scratch;
static size_t nr_users;

/*
 * The tables of GPU activities begin with the same columns (format.h), so that one number of a
 * column serves them all.
 */
enum select_rule select_rule_of(unsigned int table, unsigned int *column)
{
	*column = 0;
	if (gprof_table_is(table, GPROF_IN_LAUNCH_STEP)) {
		*column = schema_column_of_kind(table, GPROF_KIND_CORRELATION);
		return SELECT_LAUNCH;
	}
	if (table == GPROF_TABLE_nvtx) {
		return SELECT_NVTX;
	}
	return gprof_table_is(table, GPROF_IN_OWN_STEP) ? SELECT_TICK : SELECT_ALL;
}

/* ---- steps and windows ---- */

bool select_is_set(const struct select_options *options)
{
	return !numbers_is_empty(&options->steps) || !numbers_is_empty(&options->windows);
}

/* The last N steps that ended, for -N. */
static void choose_steps(struct select *select, const struct numbers *steps)
{
	const struct process *process = select->process;
	size_t nr_ended = process->nr_steps ? process->nr_steps - 1 : 0;
	uint64_t nr_from_last = 0;

	for (size_t i = nr_ended; i-- > 0;) {
		if (model_step_is_gap(&process->steps[i])) {
			continue;
		}
		nr_from_last++;
		select->has_step[i] = numbers_is_empty(steps) || nr_from_last <= steps->nr_last ||
				      numbers_has(steps, process->steps[i].step);
	}
}

/* The row that ends a window: the next one that changes it. */
static size_t window_end(const struct process *process, size_t row)
{
	size_t end = row + 1;

	while (end < process->nr_windows && process->windows[end].state == GPROF_WINDOW_RECORD &&
		process->windows[end].window == process->windows[row].window) {
		end++;
	}
	return end;
}

/*
 * A window is a run of rows with the same number. Its span of ticks selects events; its steps are
 * chosen by the numbers that the rows of windows have.
 */
static void choose_windows(struct select *select, const struct numbers *windows, bool *in_window)
{
	const struct process *process = select->process;

	for (size_t i = 0; i < process->nr_windows; i++) {
		const struct model_window *window = &process->windows[i];
		size_t end = window_end(process, i);
		bool is_open = end == process->nr_windows;

		if (window->state != GPROF_WINDOW_RECORD || !numbers_has(windows, window->window)) {
			continue;
		}
		intervals_add(&select->spans, window->tick,
			is_open ? UINT64_MAX : process->windows[end].tick);
		for (size_t k = 0; k < process->nr_steps; k++) {
			uint64_t step = process->steps[k].step;

			in_window[k] |= step >= window->step &&
					(is_open || step < process->windows[end].step);
		}
		i = end - 1;
	}
	intervals_merge(&select->spans);
}

static void keep_steps_of_windows(struct select *select, const struct numbers *windows)
{
	bool *in_window = mem_zeroed(select->process->nr_steps + 1, sizeof(*in_window));

	choose_windows(select, windows, in_window);
	for (size_t i = 0; i < select->process->nr_steps; i++) {
		select->has_step[i] &= in_window[i];
	}
	free(in_window);
}

static void add_steps(struct select *select, struct intervals *spans)
{
	const struct model_step *steps = select->process->steps;

	for (size_t i = 0; i + 1 < select->process->nr_steps; i++) {
		if (!select->has_step[i]) {
			continue;
		}
		select->nr_steps++;
		select->nr_empty += steps[i + 1].tick <= steps[i].tick;
		intervals_add(spans, steps[i].tick, steps[i + 1].tick);
	}
	intervals_merge(spans);
}

/*
 * With windows alone, the spans are those of the windows, also between steps; with steps, they are
 * the steps, cut to the windows if there are any.
 */
static void find_spans(struct select *select, const struct select_options *options)
{
	struct intervals steps = {0}, both = {0};
	bool has_windows = !numbers_is_empty(&options->windows);

	choose_steps(select, &options->steps);
	if (has_windows) {
		keep_steps_of_windows(select, &options->windows);
	}
	add_steps(select, &steps);
	if (numbers_is_empty(&options->steps)) {
		intervals_fini(&steps);
		return;
	}
	if (has_windows) {
		intervals_intersect(&select->spans, &steps, &both);
		intervals_fini(&steps);
		steps = both;
	}
	intervals_fini(&select->spans);
	select->spans = steps;
}

/* ---- launches in steps ---- */

static bool has_tick(const struct select *select, uint64_t tick)
{
	const struct interval *items = select->spans.items;
	size_t at;

	BISECT(at, 0, select->spans.nr, items[at].begin <= tick);
	return at && tick < items[at - 1].end;
}

static void add_calls(struct select *select, struct idset *called, const struct batch *batch)
{
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		uint64_t id = batch->col[COL_api_correlation][i];

		idset_add(called, id);
		if (id && has_tick(select, batch->col[COL_api_begin][i])) {
			idset_add(select->launched, id);
		}
	}
}

static void count_no_call(
	struct select *select, const struct idset *called, const uint64_t *ids, uint32_t nr_rows)
{
	select->nr_activities += nr_rows;
	for (uint32_t i = 0; i < nr_rows; i++) {
		select->nr_no_call += !ids[i] || !idset_has(called, ids[i]);
	}
}

/* Reads all calls before the activities: the recorder may write an activity before its call. */
static void read_launches(struct select *select, struct stream *stream)
{
	static const uint32_t mask = COLS(api, begin, correlation);
	struct idset *called = idset_create();

	select->launched = idset_create();
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch batch;

		if (gprof_table_is(stream_block_table(stream, i), GPROF_IS_CALL) &&
			!stream_load(stream, i, mask, 0, &batch)) {
			add_calls(select, called, &batch);
		}
	}
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		unsigned int table = stream_block_table(stream, i), column;
		struct batch batch;

		select_rule_of(table, &column);
		if (gprof_table_is(table, GPROF_IS_ACTIVITY | GPROF_IS_UNTIMED) &&
			!stream_load(stream, i, COL_BIT(column), 0, &batch)) {
			count_no_call(select, called, batch.col[column], batch.nr_rows);
		}
	}
	idset_destroy(called);
}

/* ---- a process ---- */

/* Before the first selected window and after the last one no time passes. */
static void cut_time(struct process *process)
{
	struct select *select = process->select;
	const struct intervals *spans = &select->spans;
	uint64_t begin_ns, end_ns = process->last_ns;

	if (!spans->nr || process->first_ns > process->last_ns) {
		return;
	}
	begin_ns = clock_map_time(&process->host_clock, spans->items[0].begin);
	if (spans->items[spans->nr - 1].end != UINT64_MAX) {
		end_ns = clock_map_time(&process->host_clock, spans->items[spans->nr - 1].end);
	}
	if (begin_ns > process->first_ns && begin_ns <= process->last_ns) {
		select->cut_begin_ns = begin_ns - process->first_ns;
	}
	if (end_ns < process->last_ns && end_ns >= process->first_ns + select->cut_begin_ns) {
		select->cut_end_ns = process->last_ns - end_ns;
	}
	process->first_ns += select->cut_begin_ns;
	process->last_ns -= select->cut_end_ns;
}

/* With windows, the process's own first and last time shrink, too; select_drop() restores them. */
void select_make(struct process *process, const struct select_options *options)
{
	struct select *select = mem_zeroed(1, sizeof(*select));

	select->process = process;
	select->has_step = mem_zeroed(process->nr_steps + 1, sizeof(*select->has_step));
	find_spans(select, options);
	process->is_closed_selected = !numbers_is_empty(&options->windows) && select->spans.nr &&
				      select->spans.items[select->spans.nr - 1].end != UINT64_MAX;
	process->select = select;
	if (!numbers_is_empty(&options->windows)) {
		cut_time(process);
	}
	read_launches(select, process->stream);
	select->kept = select_nvtx_read(process);
	if (!nr_users++) {
		scratch = mem_zeroed(1, sizeof(*scratch));
	}
}

static void drop_scratch(void)
{
	for (unsigned int c = 0; c < SCHEMA_COLUMNS; c++) {
		free(scratch->col[c]);
		free(scratch->small[c]);
		free(scratch->text[c]);
	}
	free(scratch);
	scratch = NULL;
}

void select_drop(struct process *process)
{
	struct select *select = process->select;

	if (!select) {
		return;
	}
	process->first_ns -= select->cut_begin_ns;
	process->last_ns += select->cut_end_ns;
	if (!--nr_users) {
		drop_scratch();
	}
	select_nvtx_destroy(select->kept, process->stream->nr_blocks);
	idset_destroy(select->launched);
	intervals_fini(&select->spans);
	free(select->has_step);
	free(select);
	process->select = NULL;
	process->is_closed_selected = false;
}

bool select_has_tick(const struct process *process, uint64_t tick)
{
	return !process->select || has_tick(process->select, tick);
}

bool select_has_step(const struct process *process, size_t place)
{
	return !process->select || (place < process->nr_steps && process->select->has_step[place]);
}

bool select_cut_time(const struct process *process, uint64_t *begin, uint64_t *end)
{
	struct intervals chosen = {0};
	bool is_any;

	if (!process->select) {
		return true;
	}
	intervals_clip(&process->select->spans, *begin, *end, &chosen);
	is_any = chosen.nr > 0;
	if (is_any) {
		*begin = chosen.items[0].begin;
		*end = chosen.items[chosen.nr - 1].end;
	}
	intervals_fini(&chosen);
	return is_any;
}

/* ---- batches ---- */

uint32_t select_mask(const struct process *process, unsigned int table)
{
	unsigned int column;
	enum select_rule rule = process->select ? select_rule_of(table, &column) : SELECT_ALL;

	return rule == SELECT_ALL || rule == SELECT_NVTX ? 0 : COL_BIT(column);
}

/* Writes each index and advances only past chosen ones, so the loop has no branch to mispredict. */
static uint32_t choose_rows(const struct select *select, const struct batch *b,
	enum select_rule rule, unsigned int column)
{
	const uint64_t *wide = b->col[column];
	const uint32_t *small = b->small[column];
	const uint64_t *kept = select->kept[b->block];
	uint32_t *rows = scratch->rows, nr = 0;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		bool is_chosen;

		rows[nr] = i;
		if (rule == SELECT_NVTX) {
			is_chosen = kept && (kept[i / 64] >> (i % 64) & 1);
		} else if (rule == SELECT_TICK) {
			is_chosen = has_tick(select, wide ? wide[i] : small[i]);
		} else {
			is_chosen = idset_has(select->launched, wide ? wide[i] : small[i]);
		}
		nr += is_chosen;
	}
	return nr;
}

static void *room(void *array, size_t bytes)
{
	return array ? array : mem_zeroed(GPROF_BLOCK_ROWS, bytes);
}

/*
 * Rows move to the scratch arrays, never within the block: views that ignore the selection get the
 * same block whole.
 */
static void gather(unsigned int c, struct batch *b, uint32_t nr)
{
	if (b->col[c]) {
		scratch->col[c] = room(scratch->col[c], sizeof(uint64_t));
		for (uint32_t i = 0; i < nr; i++) {
			scratch->col[c][i] = b->col[c][scratch->rows[i]];
		}
		b->col[c] = scratch->col[c];
	}
	if (b->small[c]) {
		scratch->small[c] = room(scratch->small[c], sizeof(uint32_t));
		for (uint32_t i = 0; i < nr; i++) {
			scratch->small[c][i] = b->small[c][scratch->rows[i]];
		}
		b->small[c] = scratch->small[c];
	}
	if (b->text[c]) {
		scratch->text[c] = room(scratch->text[c], sizeof(struct decode_text));
		for (uint32_t i = 0; i < nr; i++) {
			scratch->text[c][i] = b->text[c][scratch->rows[i]];
		}
		b->text[c] = scratch->text[c];
	}
}

void select_cut(const struct process *process, struct batch *batch)
{
	const struct select *select = process->select;
	unsigned int column;
	enum select_rule rule = select ? select_rule_of(batch->table, &column) : SELECT_ALL;
	uint32_t nr;

	if (rule == SELECT_ALL) {
		return;
	}
	nr = choose_rows(select, batch, rule, column);
	if (nr == batch->nr_rows) {
		return;
	}
	for (unsigned int c = 0; c < SCHEMA_COLUMNS; c++) {
		gather(c, batch, nr);
	}
	batch->nr_rows = nr;
}

/* ---- all processes ---- */

#define MAX_SPANS 20u

/* ---- which numbers exist ---- */

/* The numbers that exist in any process. */
struct known {
	uint64_t *numbers;
	size_t nr, capacity;
};

static void add_known(struct known *known, uint64_t number)
{
	known->numbers =
		array_grow(known->numbers, known->nr, &known->capacity, sizeof(*known->numbers));
	known->numbers[known->nr++] = number;
}

/* Each part of the list must match something; -N matches if there is anything. */
static bool is_found(const struct numbers *numbers, const struct known *known)
{
	for (size_t i = 0; i < numbers->nr_spans; i++) {
		size_t k = 0;

		while (k < known->nr && (known->numbers[k] < numbers->spans[i].first ||
						known->numbers[k] > numbers->spans[i].last)) {
			k++;
		}
		if (k == known->nr) {
			return false;
		}
	}
	return known->nr || numbers_is_empty(numbers);
}

/* The sentence lists what exists, so that the user can correct the option. */
static bool check(struct process *const *processes, size_t nr_processes,
	const struct select_options *options, struct buf *why)
{
	struct known steps = {0}, windows = {0};

	for (size_t i = 0; i < nr_processes; i++) {
		const struct process *process = processes[i];

		for (size_t k = 0; k + 1 < process->nr_steps; k++) {
			add_known(&steps, process->steps[k].step);
		}
		for (size_t k = 0; k < process->nr_windows; k++) {
			if (process->windows[k].state == GPROF_WINDOW_RECORD) {
				add_known(&windows, process->windows[k].window);
			}
		}
	}
	if (!is_found(&options->steps, &steps)) {
		buf_text(why, steps.nr ? "--steps: there are steps "
				       : "--steps: no step has a known start and end");
		numbers_print(steps.numbers, steps.nr, MAX_SPANS, why);
	} else if (!is_found(&options->windows, &windows)) {
		buf_text(why, windows.nr ? "--window: there are windows "
					 : "--window: the schedule has no windows");
		numbers_print(windows.numbers, windows.nr, MAX_SPANS, why);
	}
	free(steps.numbers);
	free(windows.numbers);
	return !why->nr_bytes;
}

bool select_all(struct process *const *processes, size_t nr_processes,
	const struct select_options *options, struct buf *why)
{
	bool has_any = false;

	if (!select_is_set(options)) {
		return true;
	}
	if (!check(processes, nr_processes, options, why)) {
		return false;
	}
	for (size_t i = 0; i < nr_processes; i++) {
		select_make(processes[i], options);
		has_any |= processes[i]->select->spans.nr > 0;
	}
	if (!has_any) {
		buf_text(why, numbers_is_empty(&options->windows)
				      ? "--steps: the selected steps have zero length"
				      : "--steps and --window select no common step");
		select_drop_all(processes, nr_processes);
	}
	return has_any;
}

void select_drop_all(struct process *const *processes, size_t nr_processes)
{
	for (size_t i = 0; i < nr_processes; i++) {
		select_drop(processes[i]);
	}
}

/* ---- the selection as a table ---- */

struct selected_row {
	uint32_t pid;
	uint64_t rank, nr_steps; /* all bits set: unknown */
	struct buf list;
	uint64_t duration_ns, nr_activities, nr_no_call;
};

/* A window that is still open lasts to the last event. */
static uint64_t duration_ns(struct process *process)
{
	const struct intervals *spans = &process->select->spans;
	const struct interval *last = spans->nr ? &spans->items[spans->nr - 1] : NULL;
	uint64_t length = intervals_length(spans), begin_ns;

	if (!last || last->end != UINT64_MAX) {
		return clock_map_duration(&process->host_clock, length);
	}
	length -= last->end - last->begin;
	begin_ns = clock_map_time(&process->host_clock, last->begin);
	return clock_map_duration(&process->host_clock, length) +
	       (process->last_ns > begin_ns ? process->last_ns - begin_ns : 0);
}

static void add_selected(struct table *table, struct process *process)
{
	const struct select *select = process->select;
	uint64_t *numbers = mem_zeroed(process->nr_steps + 1, sizeof(*numbers));
	struct selected_row row = {.pid = process->pid,
		.rank = (uint64_t)(process->rank < 0 ? -1 : process->rank),
		.duration_ns = duration_ns(process),
		.nr_activities = select->nr_activities,
		.nr_no_call = select->nr_no_call};
	size_t nr = 0;

	for (size_t i = 0; i < process->nr_steps; i++) {
		if (select->has_step[i]) {
			numbers[nr++] = process->steps[i].step;
		}
	}
	numbers_print(numbers, nr, MAX_SPANS, &row.list);
	row.nr_steps = process->nr_steps ? nr : UINT64_MAX;
	table_add(table, &row);
	buf_fini(&row.list);
	free(numbers);
}

struct table *select_table(struct process *const *processes, size_t nr_processes)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("pid", "PID", TABLE_ID, TABLE_MEMBER(selected_row, pid)),
		TABLE_COLUMN("rank", "Rank", TABLE_ID, TABLE_MEMBER(selected_row, rank)),
		TABLE_COLUMN("steps", "Steps", TABLE_COUNT, TABLE_MEMBER(selected_row, nr_steps)),
		TABLE_COLUMN("list", "Step numbers", TABLE_TEXT, TABLE_BUF(selected_row, list)),
		TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME,
			TABLE_MEMBER(selected_row, duration_ns)),
		TABLE_COLUMN("gpu_activities", "GPU activities", TABLE_COUNT,
			TABLE_MEMBER(selected_row, nr_activities)),
		TABLE_COLUMN("without_launch", "Without recorded launch", TABLE_COUNT,
			TABLE_MEMBER(selected_row, nr_no_call)),
	};
	bool is_scattered = false, is_empty = false;
	struct table *table;

	if (!nr_processes || !processes[0]->select) {
		return NULL;
	}
	table = table_create(
		"selection", "Selection", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < nr_processes; i++) {
		add_selected(table, processes[i]);
		is_scattered |= processes[i]->select->spans.nr > 1;
		is_empty |= processes[i]->select->nr_empty > 0;
	}
	table_note(table, "The tables below cover what started in these steps, and the GPU "
			  "activities launched in them, whenever these ran.");
	table_note(table, "GPU activities without a recorded launch are in no step.");
	if (is_scattered) {
		table_note(
			table, "Spans and idle times of GPUs include the time between the steps.");
	}
	if (is_empty) {
		table_note(table,
			"Steps of zero length have no events (the clock went backwards, or "
			"several loops mark steps).");
	}
	return table;
}
