/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two profilers write events as Kineto does and give GPU activities no category: that of PyTorch
 * before Kineto, by the texts in "pid", and Ascend's, by the names of processes. Their activities
 * wait in linked.h until the trace has ended.
 */
#include "report/import/kineto/convert_dialect.h"

#include <string.h>

#include "report/import/call.h"
#include "report/model/api.h"
#include "report/util/hash.h"

/* The pid of a process of Ascend's has the host's, what it shows, and the device. */
#define ASCEND_PID_SHIFT   10u
#define ASCEND_DEVICE_MASK 31u
/* Its collectives have threads with the numbers of streams. */
#define ASCEND_COLLECTIVES 1u

static bool is_of_process(
	const struct kineto_convert *convert, const struct kineto_event *event, const char *name)
{
	return event->pid && kineto_json_is(&convert->json, event->pid, name, strlen(name));
}

void kineto_dialect_find(struct kineto_convert *convert, const struct kineto_event *event)
{
	if (event->phase == 'X' && event->category == KINETO_NONE &&
		(is_of_process(convert, event, "CPU functions") ||
			is_of_process(convert, event, "CUDA functions"))) {
		convert->dialect = KINETO_OLD_TORCH;
	} else if (event->phase == 'M' && event->name && event->label &&
		   kineto_json_is(&convert->json, event->name, "process_name", 12) &&
		   kineto_json_is(&convert->json, event->label, "Ascend Hardware", 15)) {
		convert->dialect = KINETO_ASCEND;
	}
}

static uint64_t where_of(const struct kineto_convert *convert, const struct kineto_event *event)
{
	struct kineto_thread_key key = kineto_threads_key(&convert->json, event);

	return kineto_linked_key(key.pid, key.tid, event->begin);
}

void kineto_dialect_link(struct kineto_convert *convert, const struct kineto_event *event)
{
	const struct kineto_json *json = &convert->json;
	uint64_t id;

	if (!event->has_begin || !event->id) {
		convert->nr_incomplete++;
		return;
	}
	id = hash_fnv_add(HASH_FNV_BEGIN, json->bytes + json->tokens[event->id].start,
		     kineto_json_length(json, event->id)) |
	     1ull << 63;
	if (event->phase == 's') {
		kineto_linked_from(&convert->linked, id,
			kineto_threads_id(&convert->threads, json, event),
			kineto_convert_string(convert, event->name), event->begin);
	} else if (event->phase == 'f') {
		kineto_linked_to(&convert->linked, id, where_of(convert, event));
	}
}

static struct kineto_activity *add_linked(
	struct kineto_convert *convert, const struct kineto_event *event, uint32_t name)
{
	struct kineto_activity *activity = kineto_linked_add(&convert->linked);

	activity->where = where_of(convert, event);
	activity->begin = event->begin;
	activity->end = event->begin + event->dur;
	activity->name = name;
	activity->connection = event->numbers[KINETO_connection];
	return activity;
}

/* "hcom_allReduce__586_0_1": the group and its count are no part of the name. */
static bool is_collective(
	struct kineto_convert *convert, const struct kineto_event *event, size_t *nr_name)
{
	size_t nr_bytes;
	const char *text = kineto_json_text(&convert->json, event->name, &nr_bytes);
	const char *rest = memmem(text, nr_bytes, "__", 2);

	*nr_name = rest ? (size_t)(rest - text) : nr_bytes;
	return nr_bytes > 5 && !memcmp(text, "hcom_", 5);
}

/* The types of tasks that compute or copy; all others are marks of streams, and waits. */
static bool is_work(
	const struct kineto_convert *convert, const struct kineto_event *event, bool *is_copy)
{
	static const char *const computes[] = {"AI_", "AIV", "AIC", "MIX_", "KERNEL_", "DSA", NULL};
	const char *type = convert->json.bytes + convert->json.tokens[event->task_type].start;
	size_t nr_bytes = kineto_json_length(&convert->json, event->task_type);

	*is_copy = memmem(type, nr_bytes, "DMA", 3) || memmem(type, nr_bytes, "MEMCPY", 6);
	for (size_t i = 0; computes[i] && !*is_copy; i++) {
		if (nr_bytes >= strlen(computes[i]) &&
			!memcmp(type, computes[i], strlen(computes[i]))) {
			return true;
		}
	}
	return *is_copy;
}

/* A trace has neither direction nor size of a copy: its name is all. */
static uint8_t copy_kind(struct kineto_convert *convert, const struct kineto_event *event)
{
	size_t nr_bytes;
	const char *name = kineto_json_text(&convert->json, event->name, &nr_bytes);

	return (uint8_t)api_add_name(name, nr_bytes, true);
}

/* An event without a category: a call of CANN, a task of the NPU, or a collective. */
static void add_of_ascend(struct kineto_convert *convert, struct kineto_event *event)
{
	uint64_t pid = event->numbers[KINETO_pid];
	const char *process = kineto_threads_process(&convert->threads, pid);
	uint32_t device = pid >> ASCEND_PID_SHIFT ? (uint32_t)(pid & ASCEND_DEVICE_MASK)
						  : UINT32_MAX,
		 stream = kineto_convert_stream(convert, event);
	struct kineto_activity *activity;
	size_t nr_bytes;
	bool is_copy;

	if (!strcmp(process, "CANN")) {
		event->numbers[KINETO_pid] = pid >> ASCEND_PID_SHIFT;
		kineto_convert_call(convert, event);
	} else if (!strcmp(process, "Ascend Hardware") && event->task_type &&
		   is_work(convert, event, &is_copy)) {
		activity = add_linked(convert, event, kineto_convert_string(convert, event->name));
		activity->is_copy = is_copy;
		activity->copy_kind = is_copy ? copy_kind(convert, event) : 0;
		activity->place = import_out_place(convert->out, device, 0, stream);
	} else if (is_collective(convert, event, &nr_bytes)) {
		const char *text = convert->json.bytes + convert->json.tokens[event->name].start;

		activity =
			add_linked(convert, event, import_out_string(convert->out, text, nr_bytes));
		activity->is_collective = true;
		activity->place =
			import_out_place(convert->out, device, ASCEND_COLLECTIVES, stream);
	} else {
		convert->nr_other++; /* what HCCL did within, and Ascend's own analysis */
	}
}

static void add_of_old_torch(struct kineto_convert *convert, const struct kineto_event *event)
{
	if (is_of_process(convert, event, "CUDA functions")) {
		struct kineto_activity *activity =
			add_linked(convert, event, kineto_convert_string(convert, event->name));

		activity->place =
			import_out_place(convert->out, kineto_convert_stream(convert, event), 0, 0);
	} else {
		kineto_convert_op(convert, event);
	}
}

void kineto_dialect_add(struct kineto_convert *convert, struct kineto_event *event)
{
	if (convert->dialect == KINETO_ASCEND) {
		add_of_ascend(convert, event);
	} else {
		add_of_old_torch(convert, event);
	}
}

/* A launch is at the begin of the operator: the trace has no time of its own for it. */
static void add_launch(
	struct kineto_convert *convert, const struct kineto_activity *activity, uint32_t id)
{
	uint32_t name =
		import_out_string(convert->out, IMPORT_CALL_FLOW, sizeof(IMPORT_CALL_FLOW) - 1);
	struct kineto_row *row = kineto_convert_row(
		convert, GPROF_TABLE_api_launch, activity->op_begin, activity->op_begin);

	row->thread = activity->op_thread;
	row->call.call = (uint16_t)import_out_call(convert->out, name, GPROF_API_RUNTIME);
	row->call.correlation = id;
}

void kineto_convert_linked(struct kineto_convert *convert)
{
	struct kineto_linked *linked = &convert->linked;

	kineto_linked_join(linked);
	for (size_t i = 0; i < linked->nr; i++) {
		const struct kineto_activity *activity = &linked->activities[i];
		struct gprof_row_shape shape;
		struct kineto_row *row;
		uint32_t id;

		if (activity->is_left_out) {
			continue;
		}
		memset(&shape, 0, sizeof(shape)); /* its padding is part of the key */
		shape.name = activity->name;
		id = activity->is_copy ? 0 : import_out_shape(convert->out, &shape);
		row = kineto_convert_row(convert,
			activity->is_copy ? GPROF_TABLE_memcpy : GPROF_TABLE_kernel,
			activity->begin, activity->end);
		row->activity.place = activity->place;
		row->kind = activity->copy_kind;
		row->activity.shape = id;
		if (activity->op_thread) {
			row->activity.correlation = (uint32_t)i + 1;
			add_launch(convert, activity, (uint32_t)i + 1);
		}
	}
}
