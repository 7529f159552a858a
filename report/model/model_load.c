/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/model_load.h"

#include <stdio.h>
#include <string.h>

#include "report/util/buf.h"

#define APPEND(process, array)                                                  \
	((process)->array = array_grow((process)->array, (process)->nr_##array, \
		 &(process)->array##_capacity, sizeof(*(process)->array)),      \
		&(process)->array[(process)->nr_##array++])

static uint32_t intern(const struct decode_text *text)
{
	return string_pool_intern(text->bytes, text->nr_bytes);
}

static void take_string(struct process *p, const struct batch *b, uint32_t i)
{
	uint32_t *name = idmap_put(&p->strings, (uint32_t)b->col[COL_string_id][i]);

	*name = intern(&b->text[COL_string_text][i]);
}

static void take_info(struct process *p, const struct batch *b, uint32_t i)
{
	uint32_t key = intern(&b->text[COL_info_key][i]);
	size_t *place = idmap_put(&p->fact_of, key);

	if (!*place) {
		*APPEND(p, facts) = (struct model_fact){.key = key};
		*place = p->nr_facts;
	}
	p->facts[*place - 1].value = intern(&b->text[COL_info_value][i]);
}

static void take_anchor(struct process *p, const struct batch *b, uint32_t i)
{
	uint64_t monotonic_ns = b->col[COL_anchor_monotonic_ns][i];
	uint64_t cupti_ns = b->col[COL_anchor_cupti_ns][i];

	clock_map_add(&p->host_clock, b->col[COL_anchor_tick][i], monotonic_ns);
	if (cupti_ns) {
		clock_map_add(&p->device_clock, cupti_ns, monotonic_ns);
	}
	if (!p->has_anchors) {
		p->has_anchors = true;
		p->realtime_offset_ns = (int64_t)(b->col[COL_anchor_realtime_ns][i] - monotonic_ns);
	}
}

static void take_loss(struct process *p, const struct batch *b, uint32_t i)
{
	uint32_t cause = process_string(p, b->col[COL_loss_cause][i]);
	size_t *place = idmap_put(&p->loss_of, cause);

	if (!*place) {
		*APPEND(p, losses) = (struct model_loss){.cause = cause,
			.is_harmless =
				strstr(string_pool_text(cause, NULL), "the event is kept") != NULL};
		*place = p->nr_losses;
	}
	p->losses[*place - 1].count += b->col[COL_loss_count][i];
}

static void take_notice(struct process *p, const struct batch *b, uint32_t i)
{
	*APPEND(p, notices) = (struct model_notice){.tick = b->col[COL_notice_tick][i],
		.code = (int64_t)b->col[COL_notice_code][i],
		.cause = process_string(p, b->col[COL_notice_cause][i]),
		.text = process_string(p, b->col[COL_notice_text][i])};
}

static void take_thread(struct process *p, const struct batch *b, uint32_t i)
{
	uint32_t id = (uint32_t)b->col[COL_thread_thread][i];
	struct model_thread *thread = idmap_put(&p->threads, id);
	uint64_t tick = b->col[COL_thread_tick][i];
	uint32_t name = process_string(p, b->col[COL_thread_name][i]);

	thread->id = id;
	if (b->col[COL_thread_tid][i]) {
		thread->tid = (uint32_t)b->col[COL_thread_tid][i];
	}
	if (b->col[COL_thread_parent][i]) {
		thread->parent = (uint32_t)b->col[COL_thread_parent][i];
	}
	/* What NVTX names a thread stays; the kernel does not know of it. */
	if (name && (!thread->is_named || b->col[COL_thread_what][i] == GPROF_THREAD_NAMED)) {
		thread->name = name;
	}
	switch (b->col[COL_thread_what][i]) {
	case GPROF_THREAD_SEEN:
		thread->seen_tick = tick;
		break;
	case GPROF_THREAD_CREATED:
		thread->created_tick = tick;
		thread->is_created = true;
		break;
	case GPROF_THREAD_ENDED:
		thread->ended_tick = tick;
		thread->is_ended = true;
		break;
	case GPROF_THREAD_NAMED:
		thread->is_named = true;
		break;
	default:
		break;
	}
}

static void take_call(struct process *p, const struct batch *b, uint32_t i)
{
	struct model_call *call = idmap_put(&p->calls, (uint32_t)b->col[COL_call_id][i]);

	call->name = process_string(p, b->col[COL_call_name][i]);
	call->api = (uint8_t)b->col[COL_call_api][i];
}

static void take_function(struct process *p, const struct batch *b, uint32_t i)
{
	*APPEND(p, functions) = (struct model_function){.address = b->col[COL_function_address][i],
		.name = process_string(p, b->col[COL_function_name][i])};
}

static void take_shape(struct process *p, const struct batch *b, uint32_t i)
{
	struct model_shape *shape = idmap_put(&p->shapes, (uint32_t)b->col[COL_shape_id][i]);

	shape->string = (uint32_t)b->col[COL_shape_name][i];
	shape->function = b->col[COL_shape_function][i];
	for (unsigned int k = 0; k < 3; k++) {
		shape->grid[k] = (uint32_t)b->col[COL_shape_grid_x + k][i];
		shape->block[k] = (uint32_t)b->col[COL_shape_block_x + k][i];
		shape->cluster[k] = (uint32_t)b->col[COL_shape_cluster_x + k][i];
	}
	shape->registers = (uint32_t)b->col[COL_shape_registers][i];
	shape->static_shared_bytes = (uint32_t)b->col[COL_shape_static_shared_bytes][i];
	shape->dynamic_shared_bytes = (uint32_t)b->col[COL_shape_dynamic_shared_bytes][i];
	shape->local_bytes = (uint32_t)b->col[COL_shape_local_bytes][i];
}

static void take_place(struct process *p, const struct batch *b, uint32_t i)
{
	struct model_place *place = idmap_put(&p->places, (uint32_t)b->col[COL_place_id][i]);

	place->device = (uint32_t)b->col[COL_place_device][i];
	place->context = (uint32_t)b->col[COL_place_context][i];
	place->stream = (uint32_t)b->col[COL_place_stream][i];
}

/* As nvidia-smi -L prints it. */
static void format_uuid(char *out, size_t out_bytes, const unsigned char *u)
{
	snprintf(out, out_bytes,
		"GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0],
		u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13],
		u[14], u[15]);
}

static void take_device(struct process *p, const struct batch *b, uint32_t i)
{
	const struct decode_text *uuid = &b->text[COL_device_uuid][i];
	struct model_device *device;
	uint32_t id = (uint32_t)b->col[COL_device_id][i];
	size_t *place = idmap_put(&p->device_of, id);

	if (!*place) {
		(void)APPEND(p, devices);
		*place = p->nr_devices;
	}
	device = &p->devices[*place - 1];
	*device = (struct model_device){
		.id = id, .name = process_string(p, b->col[COL_device_name][i])};
	if (uuid->nr_bytes == 16) {
		format_uuid(device->uuid, sizeof(device->uuid), (const unsigned char *)uuid->bytes);
	}
}

static void take_attribute(struct process *p, const struct batch *b, uint32_t i)
{
	*APPEND(p, attributes) =
		(struct model_attribute){.device = (uint32_t)b->col[COL_attribute_device][i],
			.name = process_string(p, b->col[COL_attribute_name][i]),
			.value = b->col[COL_attribute_value][i]};
}

static void take_stream(struct process *p, const struct batch *b, uint32_t i)
{
	*APPEND(p, streams) =
		(struct model_stream){.context = (uint32_t)b->col[COL_stream_context][i],
			.stream = (uint32_t)b->col[COL_stream_stream][i],
			.priority = (uint32_t)b->col[COL_stream_priority][i],
			.flags = (uint32_t)b->col[COL_stream_flags][i]};
}

static void take_context(struct process *p, const struct batch *b, uint32_t i)
{
	*APPEND(p, contexts) = (struct model_context){.id = (uint32_t)b->col[COL_context_id][i],
		.device = (uint32_t)b->col[COL_context_device][i]};
}

static void take_step(struct process *p, const struct batch *b, uint32_t i)
{
	*APPEND(p, steps) = (struct model_step){.tick = b->col[COL_step_time][i],
		.step = b->col[COL_step_step][i],
		.thread = (uint32_t)b->col[COL_step_thread][i],
		.how = (uint8_t)b->col[COL_step_how][i]};
}

static void take_window(struct process *p, const struct batch *b, uint32_t i)
{
	*APPEND(p, windows) = (struct model_window){.tick = b->col[COL_window_time][i],
		.step = b->col[COL_window_step][i],
		.window = (uint32_t)b->col[COL_window_window][i],
		.state = (uint8_t)b->col[COL_window_state][i]};
}

/* No process runs for so long. */
#define MOST_STEP_TICKS (10 * 365 * 86400 * (uint64_t)1000000000u)

/*
 * Old recorders wrote ends of steps without a time, under Paddle's own profiler. The step that ends
 * there and the one that begins there are as if they were none.
 */
static void drop_lost_ends(struct process *p)
{
	for (size_t i = 1; i < p->nr_steps && !p->stream->is_trace; i++) {
		struct model_step *step = &p->steps[i];

		if (step->tick > step[-1].tick && step->tick - step[-1].tick > MOST_STEP_TICKS) {
			step->tick = step[-1].tick;
			step->how = step[-1].how = MODEL_STEP_END;
			p->nr_lost_ends++;
		}
	}
}

static void take_op_name(struct process *p, const struct batch *b, uint32_t i)
{
	uint32_t *name = idmap_put(&p->op_names, (uint32_t)b->col[COL_op_name_id][i]);

	*name = process_string(p, b->col[COL_op_name_name][i]);
}

static void take_op_shape(struct process *p, const struct batch *b, uint32_t i)
{
	uint32_t *shape = idmap_put(&p->op_shapes, (uint32_t)b->col[COL_op_shape_id][i]);

	*shape = process_string(p, b->col[COL_op_shape_name][i]);
}

static void take_py_file(struct process *p, const struct batch *b, uint32_t i)
{
	uint32_t *name = idmap_put(&p->py_files, (uint32_t)b->col[COL_py_file_id][i]);

	*name = process_string(p, b->col[COL_py_file_name][i]);
}

static void take_py_code(struct process *p, const struct batch *b, uint32_t i)
{
	struct model_py_code *code = idmap_put(&p->py_codes, (uint32_t)b->col[COL_py_code_id][i]);
	const uint32_t *file = idmap_get(&p->py_files, (uint32_t)b->col[COL_py_code_py_file][i]);

	*code = (struct model_py_code){.file = file ? *file : 0,
		.name = process_string(p, b->col[COL_py_code_name][i]),
		.line = (uint32_t)b->col[COL_py_code_line][i]};
}

static void take_py_stack(struct process *p, const struct batch *b, uint32_t i)
{
	struct model_py_stack *stack =
		idmap_put(&p->py_stacks, (uint32_t)b->col[COL_py_stack_id][i]);

	*stack = (struct model_py_stack){.parent = (uint32_t)b->col[COL_py_stack_parent][i],
		.code = (uint32_t)b->col[COL_py_stack_py_code][i],
		.line = (uint32_t)b->col[COL_py_stack_line][i]};
}

static void take_nccl_comm(struct process *p, const struct batch *b, uint32_t i)
{
	struct model_nccl_comm *comm =
		idmap_put(&p->nccl_comms, (uint32_t)b->col[COL_nccl_comm_id][i]);

	*comm = (struct model_nccl_comm){.key = b->col[COL_nccl_comm_key][i],
		.rank = (int32_t)b->col[COL_nccl_comm_rank][i],
		.nr_ranks = (uint32_t)b->col[COL_nccl_comm_nr_ranks][i]};
}

/* In this order: texts first, since all others name them. */
static const struct {
	uint8_t table;
	uint8_t nr_columns;
	void (*take)(struct process *process, const struct batch *batch, uint32_t row);
} loads[] = {
#define LOAD(name)                                             \
	{                                                      \
		GPROF_TABLE_##name, NR_COL_##name, take_##name \
	}
	LOAD(string),
	LOAD(info),
	LOAD(anchor),
	LOAD(loss),
	LOAD(notice),
	LOAD(thread),
	LOAD(call),
	LOAD(function),
	LOAD(shape),
	LOAD(place),
	LOAD(device),
	LOAD(attribute),
	LOAD(stream),
	LOAD(context),
	LOAD(step),
	LOAD(window),
	LOAD(op_name),
	LOAD(op_shape),
	LOAD(py_file),
	LOAD(py_code),
	LOAD(py_stack),
	LOAD(nccl_comm),
#undef LOAD
};

void model_load(struct process *process)
{
	struct stream *stream = process->stream;

	for (size_t k = 0; k < sizeof(loads) / sizeof(loads[0]); k++) {
		uint32_t mask = COL_ALL(loads[k].nr_columns);

		for (size_t i = 0; i < stream->nr_blocks; i++) {
			struct batch batch;

			if (stream_block_table(stream, i) != loads[k].table ||
				stream_load(stream, i, mask, 0, &batch)) {
				continue;
			}
			for (uint32_t row = 0; row < batch.nr_rows; row++) {
				loads[k].take(process, &batch, row);
			}
		}
	}
	drop_lost_ends(process);
	/* A lone row says only where recording began: loader workers and launchers have no steps.
	 */
	if (process->nr_steps == 1 && !stream->is_trace) {
		process->nr_steps = 0;
	}
}
