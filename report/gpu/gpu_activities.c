/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hands out activities in one order of time, to all views of a pass at once. view.c puts the scans
 * of this file before those of the views. A scan turns a batch of rows into activities with names,
 * times of the host's clock and kinds, gives them to external_sort.c, which hands out what no
 * later block can precede: each block's header has its earliest time.
 *
 *   blocks      |b0: 10..50|b1: 20..60|b2: 45..90|
 *   later_min    20         45         never        bound of what is handed out after each
 */
#include "report/gpu/gpu_activities.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/comm/host_collectives.h"
#include "report/model/activity.h"
#include "report/model/device_records.h"
#include "report/model/kernel_class.h"
#include "report/model/select.h"

bool gpu_activities_needs(void *context, struct process *process, unsigned int table)
{
	(void)context;
	(void)table;
	return process_has_device_records(process, NULL);
}

/* The earliest begin in later blocks, from the last block to the first. */
static void find_later(struct gpu_activities *activities)
{
	struct process *process = activities->process;
	const struct stream *stream = process->stream;
	uint64_t min = UINT64_MAX;

	activities->later_min = mem_zeroed(stream->nr_blocks + 1, sizeof(*activities->later_min));
	for (size_t i = stream->nr_blocks; i-- > 0;) {
		unsigned int table = stream_block_table(stream, i);
		bool is_host = table == GPROF_TABLE_op && activities->has_host;

		activities->later_min[i] = min;
		if (is_host || gprof_table_is(table, GPROF_IS_ACTIVITY)) {
			uint64_t first = clock_map_time(
				is_host ? &process->host_clock : &process->device_clock,
				stream->blocks[i].time_min);

			min = first < min ? first : min;
		}
	}
}

static void hand_out(void *context, const void *activity)
{
	const struct gpu_activities *activities = context;

	activities->take(activities->context, activity);
}

/*
 * has_host: batches of table op come, too (HOST_COLLECTIVE_MASK). Calls that the host carries out
 * then come among the activities, with device UINT32_MAX and place 0. For a process that has such
 * calls and no device records, the operators that compute come as well.
 */
static void begin(struct gpu_activities *activities, struct process *process, bool has_host,
	void (*take)(void *context, const struct gpu_activity *work), void *context)
{
	*activities = (struct gpu_activities){.process = process,
		.waiting = external_sort_create(
			sizeof(struct gpu_activity), 0, GPU_ACTIVITIES_WAIT_BYTES),
		.has_host = has_host && host_collective_is_in(process),
		.has_operators = has_host && gpu_activities_has_operators(process),
		.take = take,
		.context = context};
	external_sort_hand_out(activities->waiting, hand_out, activities);
	find_later(activities);
}

void gpu_activities_begin(struct gpu_activities *activities, struct process *process,
	void (*take)(void *context, const struct gpu_activity *work), void *context)
{
	begin(activities, process, false, take, context);
}

bool gpu_activities_has_operators(const struct process *process)
{
	return host_collective_is_in(process) && !process_has_device_records(process, NULL);
}

/* ---- batches ---- */

static void describe(
	struct gpu_activity *work, struct process *process, const struct batch *b, uint32_t i)
{
	bool is_kernel = b->table == GPROF_TABLE_kernel;

	if (gprof_table_is(b->table, GPROF_IS_COPYING)) {
		work->bytes = b->col[COL_memcpy_bytes][i];
		work->copy = activity_copy(b, i);
	}
	work->name = activity_name(process, b->table,
		is_kernel ? (uint32_t)b->col[COL_kernel_shape][i] : 0, work->copy,
		b->col[COL_kernel_graph] ? b->col[COL_kernel_graph][i] : 0);
	work->is_communication = is_kernel && kernel_class_of(work->name) == KERNEL_COMMUNICATION;
}

static void take_host(void *context, const struct host_collective *comm)
{
	struct gpu_activities *activities = context;
	struct clock_map *clock = &activities->process->host_clock;

	*(struct gpu_activity *)external_sort_add(activities->waiting) = (struct gpu_activity){
		.begin = clock_map_time(clock, comm->begin),
		.end = clock_map_time(clock, comm->end),
		.bytes = comm->bytes,
		.device = UINT32_MAX,
		.table = GPROF_TABLE_op,
		.is_communication = comm->library != HOST_COLLECTIVE_NONE,
		.is_not_chosen = !select_has_tick(activities->process, comm->begin),
	};
}

static void take_device_batch(struct gpu_activities *activities, const struct batch *b)
{
	struct process *process = activities->process;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t begin = b->col[COL_kernel_begin][i], dur = b->col[COL_kernel_dur][i];
		uint64_t place = b->col[COL_kernel_place][i];
		struct gpu_activity *work = external_sort_add(activities->waiting);

		work->begin = clock_map_time(&process->device_clock, begin);
		/* The duration is the device's own, whatever the rate between the clocks is. */
		work->end = work->begin + dur < work->begin ? UINT64_MAX : work->begin + dur;
		work->correlation = b->col[COL_kernel_correlation][i];
		work->place = (uint32_t)place;
		work->device = process_place(process, place).device;
		work->table = (uint8_t)b->table;
		describe(work, process, b, i);
	}
}

void gpu_activities_take(struct gpu_activities *activities, const struct batch *b)
{
	if (b->table == GPROF_TABLE_op) {
		host_collective_scan(
			activities->process, b, activities->has_operators, take_host, activities);
	} else {
		take_device_batch(activities, b);
	}
	external_sort_release(activities->waiting, activities->later_min[b->block]);
}

void gpu_activities_end(struct gpu_activities *activities)
{
	if (activities->waiting) {
		external_sort_finish(activities->waiting);
	}
	external_sort_destroy(activities->waiting);
	free(activities->later_min);
	*activities = (struct gpu_activities){0};
}

/* ---- one order for several views ---- */

static bool is_reader(const struct gpu_activities_order *order, const struct scan_view *view,
	const struct process *process)
{
	/* Without a selection, views that ignore it can share the order of the others. */
	bool ignores_selection = view->ignores_selection || !process->select;

	return view->on_activity && ignores_selection == order->ignores_selection;
}

/* Does any view want this order of the process? has_host: with what the host carries out. */
static bool has_reader(
	const struct gpu_activities_order *order, const struct process *process, bool has_host)
{
	for (size_t i = 0; i < order->nr_scans; i++) {
		const struct scan_view *view = order->scans[i].view;

		if (is_reader(order, view, process) && (!has_host || view->has_host_activities)) {
			return true;
		}
	}
	return false;
}

static bool order_needs(void *context, struct process *process, unsigned int table)
{
	const struct gpu_activities_order *order = context;
	bool is_host = table == GPROF_TABLE_op;

	return has_reader(order, process, is_host) &&
	       (is_host ? host_collective_is_in(process)
			: gpu_activities_needs(context, process, table));
}

static void order_take(void *context, const struct gpu_activity *activity)
{
	const struct gpu_activities_order *order = context;
	bool is_host = activity->table == GPROF_TABLE_op;

	for (size_t i = 0; i < order->nr_readers; i++) {
		const struct scan *reader = order->readers[i];

		if (!is_host || reader->view->has_host_activities) {
			reader->view->on_activity(reader->context, activity);
		}
	}
}

static void find_readers(struct gpu_activities_order *order, const struct process *process)
{
	order->readers = mem_resize(NULL, order->nr_scans, sizeof(const struct scan *));
	order->nr_readers = 0;
	for (size_t i = 0; i < order->nr_scans; i++) {
		if (is_reader(order, order->scans[i].view, process)) {
			order->readers[order->nr_readers++] = &order->scans[i];
		}
	}
}

/*
 * The order has the host's activities if any of its readers wants them; order_take() keeps them
 * from the others.
 */
static void order_begin(void *context, struct process *process)
{
	struct gpu_activities_order *order = context;

	find_readers(order, process);
	if (has_reader(order, process, true)) {
		begin(&order->activities, process, true, order_take, order);
	} else if (has_reader(order, process, false)) {
		begin(&order->activities, process, false, order_take, order);
	}
}

static void order_batch(void *context, struct process *process, const struct batch *batch)
{
	(void)process;
	gpu_activities_take(&((struct gpu_activities_order *)context)->activities, batch);
}

static void order_end(void *context, struct process *process)
{
	struct gpu_activities_order *order = context;

	(void)process;
	gpu_activities_end(&order->activities);
	free(order->readers);
	order->readers = NULL;
}

struct scan gpu_activities_order_scan(struct gpu_activities_order *order)
{
	static const struct scan_want wants[] = {
		GPU_ACTIVITIES_WANTS, {GPROF_TABLE_op, HOST_COLLECTIVE_MASK, 0}};
#define ORDER_SCAN(ignores)                                                                     \
	{                                                                                       \
		wants, sizeof(wants) / sizeof(wants[0]), order_needs, order_begin, order_batch, \
			order_end, ignores, NULL, false                                         \
	}
	static const struct scan_view views[] = {ORDER_SCAN(false), ORDER_SCAN(true)};
#undef ORDER

	return (struct scan){&views[order->ignores_selection], order};
}
