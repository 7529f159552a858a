/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two sorts are filled first: ranges as their ends are read, and records of work with their calls.
 * nsys_walk_run() then merges both by the begins of ranges and calls. Each thread has a list of its
 * open ranges; whatever ended is closed only when the thread's next range or call comes.
 *
 *     range a          [-------------------------]
 *     range b              [--------]
 *     calls                   1          2          3
 *     open at the call       a, b        a         none    (2 closes b, 3 closes a)
 */
#include "report/styles/nsys_walk.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/hash.h"

const struct scan_want nsys_walk_wants[1] = {
	{GPROF_TABLE_nvtx, RANGES_MASK, 0},
};

/* A thread and its open ranges, by their begins. */
struct nsys_threads {
	uint64_t key; /* process << 32 | thread */
	struct nsys_range *open;
	size_t nr_open, capacity;
	UT_hash_handle hh;
};

struct nsys_walk *nsys_walk_create(const struct view_input *input)
{
	struct nsys_walk *walk = mem_zeroed(1, sizeof(*walk));
	struct view_input all = *input;

	all.nr_rows = 0;
	walk->records = trace_create(&all, TRACE_BY_CALL);
	walk->ranges = external_sort_create(sizeof(struct nsys_range), 0, 0);
	return walk;
}

void nsys_walk_destroy(struct nsys_walk *walk)
{
	struct nsys_threads *thread, *next;

	if (!walk) {
		return;
	}
	HASH_ITER(hh, walk->threads, thread, next)
	{
		HASH_DEL(walk->threads, thread);
		free(thread->open);
		free(thread);
	}
	ranges_destroy(walk->pairs);
	trace_destroy(walk->records);
	external_sort_destroy(walk->ranges);
	free(walk);
}

/* ---- ranges, as they are read ---- */

void nsys_walk_begin(void *view, struct process *process)
{
	struct nsys_walk *walk = *(struct nsys_walk **)view;

	walk->process = process;
	walk->pairs = ranges_create();
	trace_begin(walk->records, process);
}

void nsys_walk_end(void *view, struct process *process)
{
	struct nsys_walk *walk = *(struct nsys_walk **)view;

	(void)process;
	ranges_destroy(walk->pairs);
	walk->pairs = NULL;
}

uint32_t nsys_range_name(const struct range *range)
{
	struct buf text = {0};
	const char *bytes;
	size_t nr_bytes;
	uint32_t name;

	if (range->domain) {
		return range_full_name(range);
	}
	bytes = string_pool_text(range->name, &nr_bytes);
	buf_char(&text, ':');
	buf_add(&text, bytes, nr_bytes);
	name = string_pool_intern(text.bytes, text.nr_bytes);
	buf_fini(&text);
	return name;
}

static void take_range(void *context, const struct range *range)
{
	struct nsys_walk *walk = context;
	struct clock_map *clock = &walk->process->host_clock;
	uint64_t begin = clock_map_time(clock, range->begin);
	uint64_t end = clock_map_time(clock, range->end);
	struct nsys_range *row;

	if (range->op != GPROF_NVTX_PUSH) {
		return;
	}
	row = external_sort_add(walk->ranges);
	/*
	 * Ranges come in the order of their ends: of those that begin together the last encloses
	 * the others.
	 */
	row->head.order = UINT64_MAX - row->head.order;
	row->head.key = trace_time(walk->records, begin);
	row->end_ns = trace_time(walk->records, end > begin ? end : begin);
	row->process = walk->records->place;
	row->thread = range->thread;
	row->domain = range->domain;
	row->name = nsys_range_name(range);
}

void nsys_walk_take(void *view, struct process *process, const struct batch *batch)
{
	struct nsys_walk *walk = *(struct nsys_walk **)view;

	ranges_add_batch(walk->pairs, process, batch, take_range, walk);
}

void nsys_walk_begin_ops(void *view, struct process *process)
{
	trace_begin((*(struct nsys_walk **)view)->records, process);
}

void nsys_walk_take_record(
	void *view, const struct op_record *record, const struct op_call *call, const struct op *op)
{
	trace_record((*(struct nsys_walk **)view)->records, record, call, op);
}

/* ---- all in the order of time ---- */

struct run {
	struct nsys_walk *walk;
	void (*launch)(void *context, const struct trace_event *event,
		const struct nsys_range *ranges, size_t nr_ranges);
	void (*closed)(void *context, const struct nsys_range *range);
	void *context;
};

static struct nsys_threads *find_thread(struct nsys_walk *walk, uint32_t process, uint32_t thread)
{
	uint64_t key = (uint64_t)process << 32 | thread;
	struct nsys_threads *found;

	hash_put(walk->threads, key, &key, found);
	return found;
}

/* Removes the ranges that ended at that time or before. */
static void close_until(const struct run *run, struct nsys_threads *thread, uint64_t ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < thread->nr_open; i++) {
		if (thread->open[i].end_ns > ns) {
			thread->open[kept++] = thread->open[i];
		} else if (run->closed) {
			run->closed(run->context, &thread->open[i]);
		}
	}
	thread->nr_open = kept;
}

static struct nsys_range *find_parent(struct nsys_threads *thread, uint32_t domain)
{
	for (size_t i = thread->nr_open; i-- > 0;) {
		if (thread->open[i].domain == domain) {
			return &thread->open[i];
		}
	}
	return NULL;
}

/* A stack holds the NSYS_STACK innermost ranges; `level` counts all. */
static void put_on_stack(struct nsys_range *range, const struct nsys_range *parent)
{
	uint32_t nr = parent->level < NSYS_STACK ? parent->level : NSYS_STACK;

	memcpy(range->stack, parent->stack, sizeof(range->stack));
	if (nr == NSYS_STACK) { /* the outermost one goes */
		memmove(range->stack, range->stack + 1, sizeof(range->stack[0]) * (nr - 1));
		nr--;
	}
	range->stack[nr] = parent->id;
}

static void open_range(const struct run *run, const struct nsys_range *row)
{
	struct nsys_threads *thread = find_thread(run->walk, row->process, row->thread);
	struct nsys_range *parent, *range;

	close_until(run, thread, row->head.key);
	thread->open =
		array_grow(thread->open, thread->nr_open, &thread->capacity, sizeof(*thread->open));
	range = &thread->open[thread->nr_open];
	*range = *row;
	range->id = ++run->walk->next_id;
	parent = find_parent(thread, row->domain);
	if (parent) {
		range->parent = parent->id;
		range->level = parent->level + 1;
		parent->nr_children++;
		parent->child_ns += row->end_ns - row->head.key;
		put_on_stack(range, parent);
	}
	thread->nr_open++;
}

static void project(struct nsys_range *range, const struct trace_event *event)
{
	uint64_t end_ns = event->begin_ns + event->dur_ns;

	if (!range->nr_activities || event->begin_ns < range->proj_begin_ns) {
		range->proj_begin_ns = event->begin_ns;
	}
	if (end_ns > range->proj_end_ns) {
		range->proj_end_ns = end_ns;
	}
	range->nr_activities++;
}

/* A range counts all activities of its calls, also those of ranges within it. */
static void take_launch(const struct run *run, const struct trace_event *event)
{
	uint64_t end_ns = event->api_begin_ns + event->api_dur_ns;
	struct nsys_threads *thread;
	size_t nr = 0;

	if (!event->has_call) {
		if (run->launch) {
			run->launch(run->context, event, NULL, 0);
		}
		return;
	}
	thread = find_thread(run->walk, event->process, event->thread);
	/* A call is in a range or beside it: a range that ended before the call did is over. */
	close_until(run, thread, end_ns ? end_ns - 1 : 0);
	for (nr = 0; nr < thread->nr_open; nr++) {
		if (event->is_timed) {
			project(&thread->open[nr], event);
		}
	}
	if (run->launch) {
		run->launch(run->context, event, thread->open, nr);
	}
}

/* If a range and a call begin together, the range comes first, so the call lies in it. */
void nsys_walk_run(struct nsys_walk *walk,
	void (*launch)(void *context, const struct trace_event *event,
		const struct nsys_range *ranges, size_t nr_ranges),
	void (*closed)(void *context, const struct nsys_range *range), void *context)
{
	const struct run run = {walk, launch, closed, context};
	struct external_sort *ranges = walk->ranges, *records = walk->records->spool;
	size_t r = 0, e = 0;

	external_sort_finish(ranges);
	external_sort_finish(records);
	while (r < external_sort_nr(ranges) || e < external_sort_nr(records)) {
		const struct nsys_range *range =
			r < external_sort_nr(ranges) ? external_sort_at(ranges, r) : NULL;
		const struct trace_event *event =
			e < external_sort_nr(records) ? external_sort_at(records, e) : NULL;

		if (range && (!event || range->head.key <= event->head.key)) {
			open_range(&run, range);
			r++;
		} else {
			take_launch(&run, event);
			e++;
		}
	}
	for (struct nsys_threads *thread = walk->threads; thread; thread = thread->hh.next) {
		close_until(&run, thread, UINT64_MAX);
	}
}
