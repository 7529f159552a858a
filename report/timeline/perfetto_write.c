/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "report/timeline/perfetto.h"
#include "report/model/py_stack.h"

/* ---- arguments ---- */

static uint32_t three(const uint32_t numbers[3])
{
	char text[48];

	return string_pool_intern(text, (size_t)snprintf(text, sizeof(text), "%u x %u x %u",
						numbers[0], numbers[1], numbers[2]));
}

static void add_occupancy(
	struct perfetto *pftrace, const struct model_shape *shape, struct perfetto_event *args)
{
	struct occupancy occupancy;

	if (!occupancy_compute(&pftrace->timeline.device, shape, &occupancy)) {
		return;
	}
	perfetto_event_double(
		args, PERFETTO_KEY_BLOCKS_PER_SM, occupancy.blocks_per_multiprocessor);
	perfetto_event_double(args, PERFETTO_KEY_WARPS_PER_SM, occupancy.warps_per_multiprocessor);
	if (occupancy.has_estimate) {
		perfetto_event_uint(args, PERFETTO_KEY_OCCUPANCY, occupancy.percent);
		perfetto_event_text(
			args, PERFETTO_KEY_LIMITER, occupancy_limit_name(occupancy.limits));
	}
}

/* What depends on the launch's shape only, packed once. */
static const struct buf *shape_args(struct perfetto *pftrace, uint32_t id, uint32_t device)
{
	struct timeline *timeline = &pftrace->timeline;
	const struct model_shape *shape = idmap_get(&timeline->process->shapes, id);
	struct perfetto_event args = {0};
	struct buf *packed;

	if (!shape) {
		return NULL;
	}
	packed = idmap_put(&pftrace->shapes, id);
	if (packed->nr_bytes) {
		return packed;
	}
	if (timeline->device_id != device) {
		timeline->device_id = device;
		timeline->device = occupancy_device(timeline->process, device);
	}
	perfetto_event_text(&args, PERFETTO_KEY_GRID, three(shape->grid));
	perfetto_event_text(&args, PERFETTO_KEY_BLOCK, three(shape->block));
	if (shape->cluster[0]) {
		perfetto_event_text(&args, PERFETTO_KEY_CLUSTER, three(shape->cluster));
	}
	perfetto_event_uint(&args, PERFETTO_KEY_REGISTERS, shape->registers);
	perfetto_event_uint(&args, PERFETTO_KEY_STATIC_SHARED, shape->static_shared_bytes);
	perfetto_event_uint(&args, PERFETTO_KEY_DYNAMIC_SHARED, shape->dynamic_shared_bytes);
	add_occupancy(pftrace, shape, &args);
	perfetto_out_pack(&pftrace->out, &args, packed);
	return packed;
}

static void add_payload(struct perfetto_event *event, const struct perfetto_slice *slice)
{
	double number;
	float small;

	memcpy(&number, &slice->value, sizeof(number));
	memcpy(&small, &slice->value, sizeof(small));
	switch (slice->shape) { /* NVTX's types, as in timeline_host.c */
	case 1:
	case 4:
		perfetto_event_uint(event, PERFETTO_KEY_PAYLOAD, slice->value);
		break;
	case 2:
		perfetto_event_int(event, PERFETTO_KEY_PAYLOAD, (int64_t)slice->value);
		break;
	case 5:
		perfetto_event_int(event, PERFETTO_KEY_PAYLOAD, (int32_t)slice->value);
		break;
	case 3:
		perfetto_event_double(event, PERFETTO_KEY_PAYLOAD, number);
		break;
	case 6:
		perfetto_event_double(event, PERFETTO_KEY_PAYLOAD, (double)small);
		break;
	default:
		break;
	}
}

static void add_stack(struct perfetto *pftrace, struct perfetto_event *event, uint32_t stack)
{
	if (stack) {
		perfetto_event_text(
			event, PERFETTO_KEY_STACK, py_stack_text(pftrace->timeline.process, stack));
	}
}

static void add_call(
	struct perfetto *pftrace, struct perfetto_event *event, const struct perfetto_slice *slice)
{
	if (slice->correlation) {
		perfetto_event_uint(event, PERFETTO_KEY_CORRELATION, slice->correlation);
	}
	if (slice->shape) {
		perfetto_event_int(event, PERFETTO_KEY_RESULT, (int32_t)slice->shape);
	}
	add_stack(pftrace, event, slice->place);
	if (slice->correlation && idset_has(pftrace->timeline.worked, slice->correlation)) {
		perfetto_event_flow(event, pftrace->timeline.first_id + slice->correlation);
		perfetto_count_launch(pftrace, slice->correlation, event->ns);
	}
}

static void add_op(
	struct perfetto *pftrace, struct perfetto_event *event, const struct perfetto_slice *slice)
{
	if (slice->value) {
		perfetto_event_uint(event, PERFETTO_KEY_SEQUENCE, slice->value - 1);
	}
	if (slice->shape) {
		perfetto_event_text(event, PERFETTO_KEY_INPUTS, slice->shape);
	}
	add_stack(pftrace, event, slice->place);
	/* An operator that begins with its first child in the same ns is the longer one, and first.
	 */
	for (size_t i = 0; i < pftrace->nr_arrows; i++) {
		if (pftrace->arrows[i].row == slice->row && pftrace->arrows[i].value) {
			perfetto_event_flow(event, pftrace->arrows[i].value);
			if (event->nr_flows < PERFETTO_FLOWS) {
				pftrace->arrows[i].value = 0;
			}
		}
	}
}

static void add_bytes(struct perfetto_event *event, const struct perfetto_slice *slice)
{
	perfetto_event_uint(event, PERFETTO_KEY_BYTES, slice->value);
	if (slice->dur_ns) {
		perfetto_event_double(
			event, PERFETTO_KEY_RATE, (double)slice->value / (double)slice->dur_ns);
	}
}

static void add_work(
	struct perfetto *pftrace, struct perfetto_event *event, const struct perfetto_slice *slice)
{
	struct model_place place = process_place(pftrace->timeline.process, slice->place);

	perfetto_event_uint(event, PERFETTO_KEY_DEVICE, place.device);
	perfetto_event_uint(event, PERFETTO_KEY_CONTEXT, place.context);
	perfetto_event_uint(event, PERFETTO_KEY_STREAM, place.stream);
	perfetto_event_uint(event, PERFETTO_KEY_CORRELATION, slice->correlation);
	if (slice->graph) {
		perfetto_event_uint(event, PERFETTO_KEY_GRAPH, slice->graph);
	}
	if (slice->kind == PERFETTO_WORK_KERNEL) {
		event->packed = shape_args(pftrace, slice->shape, place.device);
		if (slice->graph) {
			perfetto_event_uint(event, PERFETTO_KEY_GRAPH_NODE, slice->value);
		}
	} else if (slice->kind != PERFETTO_WORK_GRAPH) {
		add_bytes(event, slice);
	}
	if (slice->kind == PERFETTO_WORK_COPY) {
		perfetto_count_copy(
			pftrace, place.device, event->ns, event->ns + slice->dur_ns, slice->value);
	}
	if (slice->correlation && idset_has(pftrace->timeline.called, slice->correlation)) {
		perfetto_event_flow(event, pftrace->timeline.first_id + slice->correlation);
		perfetto_count_work(pftrace, slice->correlation, &place, event->ns);
	}
}

/* ---- slices ---- */

static void keep_arrow(struct perfetto *pftrace, const struct perfetto_slice *arrow)
{
	pftrace->arrows = array_grow(pftrace->arrows, pftrace->nr_arrows, &pftrace->arrow_capacity,
		sizeof(*pftrace->arrows));
	pftrace->arrows[pftrace->nr_arrows++] = *arrow;
}

static void write_slice(struct perfetto *pftrace, const struct perfetto_slice *slice)
{
	struct perfetto_event event = {.ns = slice->head.key,
		.dur_ns = slice->dur_ns,
		.name = slice->name,
		.category = slice->category};

	if (pftrace->arrow_ns != slice->head.key) {
		pftrace->arrow_ns = slice->head.key;
		pftrace->nr_arrows = 0;
	}
	switch (slice->kind) {
	case PERFETTO_ARROW:
		keep_arrow(pftrace, slice);
		return;
	case PERFETTO_CALL:
		add_call(pftrace, &event, slice);
		break;
	case PERFETTO_OP:
		add_op(pftrace, &event, slice);
		break;
	case PERFETTO_RANGE:
		add_payload(&event, slice);
		break;
	case PERFETTO_WAIT:
		perfetto_event_uint(&event, PERFETTO_KEY_CORRELATION, slice->correlation);
		break;
	case PERFETTO_COLLECTIVE:
		perfetto_comm_args(pftrace, &event, slice);
		break;
	case PERFETTO_NCCL_CALL:
		perfetto_comm_call_args(pftrace, &event, slice);
		break;
	case PERFETTO_SLICE:
		break;
	default:
		add_work(pftrace, &event, slice);
		break;
	}
	event.track = perfetto_rows_place(
		&pftrace->rows, slice->row, &pftrace->out, event.ns, event.ns + slice->dur_ns);
	perfetto_out_slice(&pftrace->out, &event);
}

void perfetto_write_slices(struct perfetto *pftrace)
{
	size_t nr;

	external_sort_finish(pftrace->spool);
	nr = external_sort_nr(pftrace->spool);
	for (size_t i = 0; i < nr; i++) {
		write_slice(pftrace, external_sort_at(pftrace->spool, i));
	}
	perfetto_count_copies_until(pftrace, UINT64_MAX);
	perfetto_queues_end(&pftrace->queues, &pftrace->out);
	perfetto_rows_close(&pftrace->rows, &pftrace->out);
}
