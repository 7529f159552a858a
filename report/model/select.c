/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/select.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/model/select_nvtx.h"

/* A batch of chosen rows; arrays are made as they are needed. */
struct select_scratch {
	uint32_t rows[GPROF_BLOCK_ROWS];
	uint64_t *col[SCHEMA_COLUMNS];
	uint32_t *small[SCHEMA_COLUMNS];
	struct decode_text *text[SCHEMA_COLUMNS];
};

/* One for all: a cut batch lasts until the next one. */
static struct select_scratch *scratch;
static size_t nr_users;

enum select_rule select_rule_of(unsigned int table, unsigned int *column)
{
	*column = 0;
	switch (table) {
	case GPROF_TABLE_api:
	case GPROF_TABLE_api_launch:
	case GPROF_TABLE_api_copy:
	case GPROF_TABLE_api_set:
	case GPROF_TABLE_api_alloc:
	case GPROF_TABLE_api_sync:
	case GPROF_TABLE_op:
	case GPROF_TABLE_alloc:
	case GPROF_TABLE_sample:
	case GPROF_TABLE_py_call:
	case GPROF_TABLE_nccl:
		return SELECT_TICK;
	case GPROF_TABLE_kernel:
	case GPROF_TABLE_memcpy:
	case GPROF_TABLE_memset:
	case GPROF_TABLE_graph:
		*column = COL_kernel_correlation;
		return SELECT_LAUNCH;
	case GPROF_TABLE_untimed:
		*column = COL_untimed_correlation;
		return SELECT_LAUNCH;
	case GPROF_TABLE_sync:
		*column = COL_sync_correlation;
		return SELECT_LAUNCH;
	case GPROF_TABLE_memory:
		*column = COL_memory_correlation;
		return SELECT_LAUNCH;
	case GPROF_TABLE_overhead:
		*column = COL_overhead_correlation;
		return SELECT_LAUNCH;
	case GPROF_TABLE_event:
		*column = COL_event_correlation;
		return SELECT_LAUNCH;
	case GPROF_TABLE_nvtx:
		return SELECT_NVTX;
	default:
		return SELECT_ALL;
	}
}

/* ---- steps and windows ---- */

bool select_is_asked(const struct select_ask *ask)
{
	return !numbers_is_empty(&ask->steps) || !numbers_is_empty(&ask->windows);
}

/* The last -N of those that ended. */
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

/* Of the window that a row opens: the next row that changes it. */
static size_t window_end(const struct process *process, size_t row)
{
	size_t end = row + 1;

	while (end < process->nr_windows && process->windows[end].state == GPROF_WINDOW_RECORD &&
		process->windows[end].window == process->windows[row].window) {
		end++;
	}
	return end;
}

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

static void find_spans(struct select *select, const struct select_ask *ask)
{
	struct intervals steps = {0}, both = {0};
	bool has_windows = !numbers_is_empty(&ask->windows);

	choose_steps(select, &ask->steps);
	if (has_windows) {
		keep_steps_of_windows(select, &ask->windows);
	}
	add_steps(select, &steps);
	if (numbers_is_empty(&ask->steps)) {
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

/* ---- what was launched in them ---- */

static bool has_tick(const struct select *select, uint64_t tick)
{
	const struct busy_interval *items = select->spans.items;
	size_t low = 0, high = select->spans.nr;

	while (low < high) { /* the first that begins later */
		size_t middle = low + (high - low) / 2;

		if (items[middle].begin <= tick) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low && tick < items[low - 1].end;
}

static void take_calls(struct select *select, struct idset *called, const struct batch *batch)
{
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		uint32_t id = (uint32_t)batch->col[COL_api_correlation][i];

		idset_add(called, id);
		if (id && has_tick(select, batch->col[COL_api_begin][i])) {
			idset_add(select->launched, id);
		}
	}
}

static void count_lone(
	struct select *select, const struct idset *called, const uint64_t *ids, uint32_t nr_rows)
{
	select->nr_works += nr_rows;
	for (uint32_t i = 0; i < nr_rows; i++) {
		select->nr_lone += !ids[i] || !idset_has(called, (uint32_t)ids[i]);
	}
}

static bool is_call(unsigned int table)
{
	return table >= GPROF_TABLE_api && table <= GPROF_TABLE_api_sync;
}

static bool is_work(unsigned int table)
{
	return table == GPROF_TABLE_kernel || table == GPROF_TABLE_memcpy ||
	       table == GPROF_TABLE_memset || table == GPROF_TABLE_graph ||
	       table == GPROF_TABLE_untimed;
}

/* Calls first: work may be written before the call that launched it. */
static void read_launches(struct select *select, struct stream *stream)
{
	static const uint32_t mask = COL_BIT(COL_api_begin) | COL_BIT(COL_api_correlation);
	struct idset *called = idset_create();

	select->launched = idset_create();
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch batch;

		if (is_call(stream_block_table(stream, i)) &&
			!stream_load(stream, i, mask, 0, &batch)) {
			take_calls(select, called, &batch);
		}
	}
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		unsigned int table = stream_block_table(stream, i), column;
		struct batch batch;

		select_rule_of(table, &column);
		if (is_work(table) && !stream_load(stream, i, COL_BIT(column), 0, &batch)) {
			count_lone(select, called, batch.col[column], batch.nr_rows);
		}
	}
	idset_destroy(called);
}

/* ---- a process ---- */

void select_make(struct process *process, const struct select_ask *ask)
{
	struct select *select = mem_zeroed(1, sizeof(*select));

	select->process = process;
	select->has_step = mem_zeroed(process->nr_steps + 1, sizeof(*select->has_step));
	find_spans(select, ask);
	process->select = select;
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
	if (!--nr_users) {
		drop_scratch();
	}
	select_nvtx_destroy(select->kept, process->stream->nr_blocks);
	idset_destroy(select->launched);
	intervals_fini(&select->spans);
	free(select->has_step);
	free(select);
	process->select = NULL;
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
			is_chosen =
				idset_has(select->launched, wide ? (uint32_t)wide[i] : small[i]);
		}
		nr += is_chosen;
	}
	return nr;
}

static void *room(void *array, size_t bytes)
{
	return array ? array : mem_zeroed(GPROF_BLOCK_ROWS, bytes);
}

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
