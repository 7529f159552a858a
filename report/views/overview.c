/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long each kind of event was going on, in the layout of Paddle's Overview Summary: on the
 * host steps, phases, operators, users' ranges and calls of CUDA, on devices kernels, copies, sets
 * and communication. Times of a kind that overlap count once, over all threads, streams and
 * devices of a process; only what lies in steps that count (counted_steps.h) does, so a share is
 * at most 100 % of them; in Paddle's own tables all whole steps count.
 * Where steps are chosen, work of devices is what they launched, whenever it ran.
 * Without steps the whole recording is the base.
 *
 * Bounds of memory: see step_time.h; of users' ranges 16 bytes for each stretch that stands alone
 * until the end of its process.
 */
#include <stdlib.h>

#include "report/model/kernel_class.h"
#include "report/ops/op.h"
#include "report/analysis/view.h"
#include "report/ops/step_time.h"
#include "report/util/text.h"

enum overview_work {
	OVERVIEW_KERNEL,
	OVERVIEW_COPY,
	OVERVIEW_SET,
	OVERVIEW_COMMUNICATION, /* these two are among the kernels */
	OVERVIEW_COMPUTATION,
	NR_OVERVIEW_WORKS,
};

/* Rows of the host: phases, calls of CUDA, and the kinds of operators (op.h). */
enum {
	OVERVIEW_CALLS = PHASE_OTHERS,
	OVERVIEW_EVENTS,
	NR_OVERVIEW_HOST = OVERVIEW_EVENTS + NR_EVENT_TYPES,
};

struct overview_sum {
	uint64_t nr, ns;
};

/* Sums of the processes with a training loop; if there are none, of the others. */
struct overview {
	struct overview_sum steps, host[NR_OVERVIEW_HOST], work[NR_OVERVIEW_WORKS];
	bool has_work, has_steps;
	size_t nr_processes, nr_warm_up, nr_outliers; /* of steps */
};

/* The kernels of a device of a process. */
struct overview_device {
	const struct overview *of;
	const struct process *process;
	uint32_t device;
	struct overview_sum kernels;
	uint64_t steps_ns; /* of its process */
};

/* The sums of all processes. */
struct overview_result {
	struct overview loops, others;
	struct overview_device *devices;
	size_t nr_devices, capacity;
	uint64_t nr_untimed;
	bool is_selected; /* steps were chosen */
};

/* The scan fills it for a process, before the walk finds the steps. */
struct part {
	struct counted_steps counted;
	struct step_span ticks, ns;
	struct step_time calls;			  /* ticks */
	struct step_time work[NR_OVERVIEW_WORKS]; /* ns */
	struct step_time *kernels;		  /* ns, by device */
	uint32_t *devices;
	size_t nr_devices, device_capacity, kernel_capacity;
};

struct overview_view {
	struct overview_result result;
	struct part *parts; /* by process */
	struct view_input input;
	uint64_t *later_calls, *later_work;	 /* by block: the earliest begin in later blocks */
	struct step_time events[NR_EVENT_TYPES]; /* ticks, of the walk */
};

static const struct scan_want wants[] = {
	{SCAN_WITH(GPROF_IS_ACTIVITY), COLS(kernel, begin, dur), 0},
	{SCAN_WITH(GPROF_IS_COMPUTING), COLS(kernel, place), 0},
	{GPROF_TABLE_kernel, COLS(kernel, shape), 0},
	{GPROF_TABLE_untimed, COLS(untimed, table), 0},
	{SCAN_WITH(GPROF_IS_CALL), COLS(api, begin, dur), 0},
};

static void init(void *state)
{
	struct overview_view *view = state;

	view->parts = mem_zeroed(view->input.nr_processes, sizeof(*view->parts));
}

/* The part of the process that is read. */
static struct part *part_of(struct overview_view *view)
{
	return &view->parts[view->input.number];
}

/* ---- the scan: calls and work ---- */

static void begin(void *context, struct process *process)
{
	struct overview_view *view = context;
	struct part *part = part_of(view);

	counted_steps_init(&part->counted, process, view->input.has_all_steps);
	step_span_init(&part->ticks, process, &part->counted, false);
	if (process->select) {
		view->result.is_selected = true;
		step_span_init_all(&part->ns); /* it is what the chosen steps launched */
	} else {
		step_span_init(&part->ns, process, &part->counted, true);
	}
	free(view->later_calls);
	free(view->later_work);
	view->later_calls = stream_later_begins(process->stream, table_set_with(GPROF_IS_CALL));
	view->later_work = stream_later_begins(process->stream, table_set_with(GPROF_IS_ACTIVITY));
}

static struct step_time *kernels_of(struct part *part, struct process *process, uint64_t place)
{
	uint32_t device = process_place(process, place).device;
	size_t i = part->nr_devices;

	while (i-- > 0) {
		if (part->devices[i] == device) {
			return &part->kernels[i];
		}
	}
	part->devices = array_grow(
		part->devices, part->nr_devices, &part->device_capacity, sizeof(*part->devices));
	part->kernels = array_grow(
		part->kernels, part->nr_devices, &part->kernel_capacity, sizeof(*part->kernels));
	part->devices[part->nr_devices] = device;
	part->kernels[part->nr_devices] = (struct step_time){0};
	return &part->kernels[part->nr_devices++];
}

/* Is this kernel, or graph, a computation? */
static bool computes(struct process *process, const struct batch *b, uint32_t i)
{
	return b->table != GPROF_TABLE_kernel ||
	       kernel_class_of(process_shape_name(process, b->col[COL_kernel_shape][i])) ==
		       KERNEL_COMPUTATION;
}

static void take_work(struct overview_view *view, struct process *process, const struct batch *b)
{
	struct part *part = part_of(view);
	enum overview_work type = b->table == GPROF_TABLE_memcpy   ? OVERVIEW_COPY
				  : b->table == GPROF_TABLE_memset ? OVERVIEW_SET
								   : OVERVIEW_KERNEL;
	uint64_t until = view->later_work[b->block];

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t start = b->col[COL_kernel_begin][i];
		uint64_t from = clock_map_time(&process->device_clock, start);
		uint64_t to = from + b->col[COL_kernel_dur][i];

		to = to < from ? from : to;
		step_time_add(&part->work[type], &part->ns, from, to);
		if (type == OVERVIEW_KERNEL) {
			step_time_add(kernels_of(part, process, b->col[COL_kernel_place][i]),
				&part->ns, from, to);
		}
		if (type == OVERVIEW_KERNEL) {
			step_time_add(&part->work[computes(process, b, i) ? OVERVIEW_COMPUTATION
									  : OVERVIEW_COMMUNICATION],
				&part->ns, from, to);
		}
	}
	until = until == UINT64_MAX ? until : clock_map_time(&process->device_clock, until);
	for (unsigned int k = 0; k < NR_OVERVIEW_WORKS; k++) {
		step_time_advance(&part->work[k], until);
	}
	for (size_t i = 0; i < part->nr_devices; i++) {
		step_time_advance(&part->kernels[i], until);
	}
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct overview_view *view = context;
	struct part *part = part_of(view);

	if (batch->table == GPROF_TABLE_untimed) {
		view->result.nr_untimed += batch->nr_rows;
		return;
	}
	if (gprof_table_is(batch->table, GPROF_IS_ACTIVITY)) {
		take_work(view, process, batch);
		return;
	}
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		uint64_t start = batch->col[COL_api_begin][i];
		uint64_t end = start + batch->col[COL_api_dur][i];

		step_time_add(&part->calls, &part->ticks, start, end < start ? start : end);
	}
	step_time_advance(&part->calls, view->later_calls[batch->block]);
}

/* ---- the walk: operators and phases ---- */

/* Ranges come by their begins, operators by their ends. */
static void enter(void *context, const struct op *op)
{
	struct overview_view *view = context;
	const struct step_span *ticks = &part_of(view)->ticks;
	enum event_type type = event_type_of(op);

	if (type == EVENT_USER_DEFINED) {
		step_time_add_backward(&view->events[type], ticks, op->begin, op->end);
	} else if (type != EVENT_NONE) {
		step_time_add_by_end(&view->events[type], ticks, op->begin, op->end);
	}
}

static void on_range(void *context, const struct op_range *range)
{
	struct overview_view *view = context;

	step_time_add_backward(
		&view->events[EVENT_USER_DEFINED], &part_of(view)->ticks, range->begin, range->end);
}

static void add_sum(struct overview_sum *sum, struct step_time *time, const struct clock_map *clock)
{
	step_time_finish(time);
	sum->nr += time->nr;
	sum->ns += clock ? clock_map_duration(clock, time->time) : time->time;
	step_time_fini(time);
}

/* Counted as in the view model; what two of a kind share of the time counts once. */
static void add_phases(struct overview *all, const struct phases *phases, const struct part *part)
{
	for (unsigned int k = 0; k < PHASE_OTHERS; k++) {
		struct step_time time = {0};
		uint64_t nr = 0;

		for (size_t i = 0; i < phases->nr_segments; i++) {
			const struct phase_segment *segment = &phases->segments[i];

			if (segment->phase == k && part->counted.counts[segment->step]) {
				step_time_add(&time, &part->ticks, segment->begin, segment->end);
				nr += !segment->is_rest; /* of one that counts already */
			}
		}
		step_time_finish(&time);
		all->host[k].nr += nr;
		all->host[k].ns += clock_map_duration(&phases->process->host_clock, time.time);
		step_time_fini(&time);
	}
}

static struct overview *overview_of(struct overview_view *view, const struct phases *phases)
{
	return phases_has_loop(phases) ? &view->result.loops : &view->result.others;
}

static void add_devices(struct overview_view *view, const struct overview *all, uint64_t steps_ns)
{
	struct part *part = part_of(view);

	for (size_t i = 0; i < part->nr_devices; i++) {
		struct overview_device *row;

		view->result.devices = array_grow(view->result.devices, view->result.nr_devices,
			&view->result.capacity, sizeof(*view->result.devices));
		row = &view->result.devices[view->result.nr_devices++];
		*row = (struct overview_device){.of = all,
			.process = view->input.process,
			.device = part->devices[i],
			.steps_ns = steps_ns};
		add_sum(&row->kernels, &part->kernels[i], NULL);
	}
}

/* Returns the time of the steps, or of the whole recording if there are none. */
static uint64_t steps_of(
	const struct counted_steps *counted, const struct phases *phases, uint64_t *nr)
{
	const struct process *process = phases->process;
	uint64_t ns;

	*nr = counted_steps_sum(counted, phases, &ns);
	if (phases_has_steps(phases)) {
		return ns;
	}
	return process->last_ns > process->first_ns ? process->last_ns - process->first_ns : 0;
}

static void end_walk(void *context, struct process *process, const struct phases *phases)
{
	struct overview_view *view = context;
	struct part *part = part_of(view);
	struct overview *all = overview_of(view, phases);
	const struct clock_map *clock = &process->host_clock;
	uint64_t nr;
	uint64_t steps_ns = steps_of(&part->counted, phases, &nr);

	all->nr_processes++;
	all->has_steps |= phases_has_steps(phases);
	all->has_work |= process_has_device_records(process, NULL);
	all->steps.nr += nr;
	all->steps.ns += steps_ns;
	all->nr_warm_up += part->counted.nr_warm_up;
	all->nr_outliers += part->counted.nr_outliers;
	add_phases(all, phases, part);
	add_sum(&all->host[OVERVIEW_CALLS], &part->calls, clock);
	for (unsigned int k = 0; k < NR_EVENT_TYPES; k++) {
		add_sum(&all->host[OVERVIEW_EVENTS + k], &view->events[k], clock);
	}
	for (unsigned int k = 0; k < NR_OVERVIEW_WORKS; k++) {
		add_sum(&all->work[k], &part->work[k], NULL);
	}
	add_devices(view, all, steps_ns);
	counted_steps_fini(&part->counted);
	step_span_fini(&part->ticks);
	step_span_fini(&part->ns);
}

/* ---- the table ---- */

struct shown_row {
	const char *name, *side;
	const struct process *process; /* NULL, unless the row is that of a GPU */
	uint32_t device;
	struct overview_sum sum;
	uint64_t steps_ns;
};

static void add_row(struct table *table, uint64_t steps_ns, const char *name, const char *side,
	const struct overview_sum *sum)
{
	table_add(table, &(struct shown_row){name, side, NULL, UINT32_MAX, *sum, steps_ns});
}

static const char *host_name(unsigned int row)
{
	return row < PHASE_OTHERS      ? phase_names[row]
	       : row == OVERVIEW_CALLS ? "CudaRuntime"
				       : event_type_names[row - OVERVIEW_EVENTS];
}

/* By time, falling; what there is none of is left out. */
static void add_host(struct table *table, const struct overview *all)
{
	bool is_told[NR_OVERVIEW_HOST] = {false};

	for (unsigned int k = 0; k < NR_OVERVIEW_HOST; k++) {
		unsigned int best = NR_OVERVIEW_HOST;

		for (unsigned int i = 0; i < NR_OVERVIEW_HOST; i++) {
			if (!is_told[i] && all->host[i].nr &&
				(best == NR_OVERVIEW_HOST ||
					all->host[i].ns > all->host[best].ns)) {
				best = i;
			}
		}
		if (best == NR_OVERVIEW_HOST) {
			return;
		}
		is_told[best] = true;
		add_row(table, all->steps.ns, host_name(best), "CPU", &all->host[best]);
		table_set_level(table, 1);
	}
}

static void add_work(struct table *table, const struct overview *all)
{
	static const char *const names[] = {
		"Kernel", "Memcpy", "Memset", "Communication", "Computation"};
	bool is_split = all->work[OVERVIEW_COMMUNICATION].nr != 0;

	for (unsigned int k = 0; k < NR_OVERVIEW_WORKS; k++) {
		if (k < OVERVIEW_COMMUNICATION ? all->work[k].nr || all->has_work : is_split) {
			add_row(table, all->steps.ns, names[k], "GPU", &all->work[k]);
			table_set_level(table, 1);
		}
	}
}

/* The utilization of each: its share is of the steps of its own process. */
static void add_device_rows(
	const struct overview_result *result, struct table *table, const struct overview *all)
{
	for (size_t i = 0; i < result->nr_devices; i++) {
		const struct overview_device *row = &result->devices[i];

		if (row->of != all || row->device == UINT32_MAX) {
			continue; /* the stream does not say which */
		}
		table_add(table, &(struct shown_row){"Kernel of one GPU", "GPU", row->process,
					 row->device, row->kernels, row->steps_ns});
		table_set_level(table, 1);
	}
}

static void add_note(
	const struct overview_view *view, struct table *table, const struct overview *all)
{
	const struct overview_result *result = &view->result;

	if (!all->has_steps) {
		table_note(table, "There are no steps: shares are of the whole recording.");
	}
	counted_steps_note(all->nr_warm_up, all->nr_outliers, table);
	if (result->is_selected) {
		table_note(table,
			"GPU rows are of what the selected steps launched, whenever it ran.");
	}
	view_note_devices(table, &view->input, "");
	if (result->nr_untimed) {
		table_note(table, "%llu GPU %s excluded.", (unsigned long long)result->nr_untimed,
			text_many(result->nr_untimed, "activity without times is",
				"activities without times are"));
	}
	if (all->nr_processes > 1) {
		table_note(table, "Times are sums over %zu processes.", all->nr_processes);
	}
	if (all == &result->loops) {
		view_note_stepless(table, result->others.nr_processes);
	}
}

static const struct table_column columns[] = {
	TABLE_COLUMN("name", "Event type", TABLE_TEXT, TABLE_MEMBER(shown_row, name)),
	TABLE_COLUMN("side", "On", TABLE_TEXT, .help = "CPU or GPU", TABLE_MEMBER(shown_row, side)),
	TABLE_COLUMN("pid", "PID", TABLE_ID, .is_wide_only = true, VIEW_PID(shown_row, process)),
	TABLE_COLUMN(
		"device", "GPU", TABLE_ID, .is_wide_only = true, TABLE_MEMBER(shown_row, device)),
	TABLE_COLUMN("calls", "Calls", TABLE_COUNT, TABLE_MEMBER(shown_row, sum.nr)),
	TABLE_COLUMN("total_ns", "Time", TABLE_TIME, .help = "union of the events of this kind",
		TABLE_MEMBER(shown_row, sum.ns)),
	TABLE_COLUMN("ratio_pct", "% of steps", TABLE_PERCENT, .help = "of the steps that count",
		TABLE_SHARE(shown_row, sum.ns, steps_ns)),
};

static void fill_table(void *state, struct table *table)
{
	const struct overview_view *view = state;
	const struct overview_result *result = &view->result;
	const struct overview *all = result->loops.nr_processes ? &result->loops : &result->others;
	struct overview_sum steps = all->steps;

	if (!all->nr_processes) {
		return;
	}
	steps.nr = all->has_steps ? steps.nr : UINT64_MAX;
	add_row(table, steps.ns, all->has_steps ? "ProfileStep" : "(whole recording)", "CPU",
		&steps);
	add_host(table, all);
	add_work(table, all);
	add_device_rows(result, table, all);
	add_note(view, table, all);
}

static void fini(void *state)
{
	struct overview_view *view = state;

	for (size_t i = 0; i < view->input.nr_processes; i++) {
		free(view->parts[i].devices);
		free(view->parts[i].kernels);
	}
	free(view->parts);
	free(view->result.devices);
	free(view->later_calls);
	free(view->later_work);
}

VIEW(overview, 20) = {
	.name = "overview",
	.subject = VIEW_ABOUT_STEPS,
	.help = "time of each kind of event, as a share of the steps",
	.about = "Covers the steps that count, see `help headline`, and in Paddle's layout all "
		 "whose start and end are known. Events of one kind that overlap count once; "
		 "different kinds can "
		 "overlap, so their times do not add up; in the view budget each time is once.",
	.title = "Overview",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct overview_view),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, on_batch, NULL},
	.ops = {.enter = enter, .range = on_range, .end = end_walk},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
