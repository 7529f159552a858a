/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/flame.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/analysis/gpu_activities.h"
#include "report/model/py_stack.h"
#include "report/ops/op_walk.h"
#include "report/util/hash.h"
#include "report/util/string_pool.h"

const char *const flame_weight_names[NR_FLAME_WEIGHTS + 1] = {"gpu", "cpu", "launches", NULL};

/* A damaged stream may have cycles. */
#define MOST_STACK 256u

/* Recent operators and their frames: few are open at once. */
#define NR_RECENT 256u

struct key {
	uint32_t parent, name;
};

struct item {
	struct key key;
	uint32_t frame;
	UT_hash_handle hh;
};

struct recent {
	const struct op *op;
	uint64_t begin;
	uint32_t name, frame;
};

struct reading {
	struct flame *flame;
	size_t capacity;
	struct item *items; /* by key */
	bool has_stacks, has_processes;
	struct process *process;
	uint32_t root;	    /* frame of the process */
	uint32_t unsampled; /* of what has no Python stack */
	struct recent recent[NR_RECENT];
	uint32_t last_launch; /* correlation id of the last activity's call */
	uint64_t *cpu;	      /* of each frame, ns; below 0, modulo 2^64, until all is added */
	size_t cpu_capacity;
};

/* ---- frames ---- */

static uint32_t add_frame(struct reading *reading, uint32_t parent, uint32_t name, uint8_t kind)
{
	struct flame *flame = reading->flame;
	struct flame_frame *frame;

	reading->cpu = array_grow(
		reading->cpu, flame->nr_frames, &reading->cpu_capacity, sizeof(uint64_t));
	reading->cpu[flame->nr_frames] = 0;
	flame->frames = array_grow(
		flame->frames, flame->nr_frames, &reading->capacity, sizeof(*flame->frames));
	frame = &flame->frames[flame->nr_frames];
	*frame = (struct flame_frame){.parent = parent, .name = name, .kind = kind};
	if (kind != FLAME_ROOT) {
		frame->depth = (uint16_t)(flame->frames[parent].depth + 1);
	}
	return (uint32_t)flame->nr_frames++;
}

static uint32_t find_frame(struct reading *reading, uint32_t parent, uint32_t name, uint8_t kind)
{
	struct key key = {parent, name};
	struct item *item;

	if (reading->flame->frames[parent].depth >= FLAME_MOST_DEPTH) {
		return parent;
	}
	HASH_FIND(hh, reading->items, &key, sizeof(key), item);
	if (!item) {
		item = mem_zeroed(1, sizeof(*item));
		item->key = key;
		item->frame = add_frame(reading, parent, name, kind);
		HASH_ADD(hh, reading->items, key, sizeof(key), item);
	}
	return item->frame;
}

static uint32_t find_text(struct reading *reading, uint32_t parent, const char *text, uint8_t kind)
{
	return find_frame(reading, parent, string_pool_intern(text, strlen(text)), kind);
}

/* ---- paths ---- */

static uint32_t stack_frame(struct reading *reading, uint32_t stack)
{
	uint32_t codes[MOST_STACK], nr = 0, frame = reading->root;

	while (stack && nr < MOST_STACK) {
		const struct model_py_stack *at = idmap_get(&reading->process->py_stacks, stack);

		if (!at) {
			break;
		}
		codes[nr++] = at->code;
		stack = at->parent;
	}
	while (nr > 0) {
		uint32_t name = py_code_text(reading->process, codes[--nr]);

		frame = find_frame(reading, frame, name, FLAME_PYTHON);
	}
	return frame;
}

/* What the outermost operator or call lies in. */
static uint32_t base_frame(struct reading *reading, uint32_t stack)
{
	if (!reading->has_stacks) {
		return reading->root;
	}
	return stack ? stack_frame(reading, stack) : reading->unsampled;
}

/* "layers.1.fc (Linear)", or "Linear_1" where the place in the outermost module is not known. */
static uint32_t module_name(const struct op *op)
{
	size_t nr_bytes;
	const char *name = op_module_name(op->name, &nr_bytes), *attribute = name + nr_bytes;
	const char *number = memrchr(name, '_', nr_bytes);
	struct buf text = {0};
	uint32_t shown;

	if (!*attribute || !number) {
		return string_pool_intern(name, nr_bytes);
	}
	buf_text(&text, attribute + 1);
	buf_text(&text, " (");
	buf_add(&text, name, (size_t)(number - name));
	buf_text(&text, ")");
	shown = string_pool_intern(text.bytes, text.nr_bytes);
	buf_fini(&text);
	return shown;
}

/* Steps are many and alike. Python stacks name what modules would. */
static bool is_left_out(const struct reading *reading, const struct op *op)
{
	return op->is & OP_IS_MODULE ? reading->has_stacks
				     : op_is_step(op->name, op->framework, op->scope);
}

static uint32_t frame_around(struct reading *reading, const struct op *op, uint32_t stack);

static uint32_t op_frame(struct reading *reading, const struct op *op)
{
	struct recent *recent = &reading->recent[(uintptr_t)op / sizeof(*op) % NR_RECENT];

	if (recent->op != op || recent->begin != op->begin || recent->name != op->name) {
		uint32_t outer = frame_around(reading, op->parent, op->py_stack);
		bool is_module = op->is & OP_IS_MODULE;
		uint32_t frame = find_frame(reading, outer, is_module ? module_name(op) : op->name,
			is_module ? FLAME_MODULE : FLAME_OPERATOR);

		*recent = (struct recent){op, op->begin, op->name, frame};
	}
	return recent->frame;
}

/* op: what something lies in, or NULL; stack: its own one. Nesting is as deep as in the stream. */
static uint32_t frame_around(struct reading *reading, const struct op *op, uint32_t stack)
{
	while (op && is_left_out(reading, op)) {
		op = op->parent;
	}
	return op ? op_frame(reading, op) : base_frame(reading, stack);
}

/* ---- the pass ---- */

static uint32_t process_frame(struct reading *reading, const struct process *process)
{
	char text[64];

	if (process->rank >= 0) {
		snprintf(text, sizeof(text), "rank %lld, PID %u", (long long)process->rank,
			process->pid);
	} else {
		snprintf(text, sizeof(text), "PID %u", process->pid);
	}
	return find_text(reading, 0, text, FLAME_PROCESS);
}

static void begin(void *context, struct process *process)
{
	struct reading *reading = context;

	reading->process = process;
	reading->root = reading->has_processes ? process_frame(reading, process) : 0;
	memset(reading->recent, 0, sizeof(reading->recent));
	reading->last_launch = 0;
}

static uint64_t duration_ns(const struct reading *reading, uint64_t begin, uint64_t end)
{
	return clock_map_duration(&reading->process->host_clock, end - begin);
}

/* Time of its own: all of it, less what lies in it. */
static void add_cpu(struct reading *reading, uint32_t frame, uint32_t outer, uint64_t ns)
{
	if (frame != outer) {
		reading->cpu[frame] += ns;
		reading->cpu[outer] -= ns;
	}
}

static void on_op(void *context, const struct op *op)
{
	struct reading *reading = context;
	uint32_t outer;

	if (is_left_out(reading, op)) {
		return;
	}
	outer = frame_around(reading, op->parent, op->py_stack);
	add_cpu(reading, op_frame(reading, op), outer, duration_ns(reading, op->begin, op->end));
}

static void on_call(void *context, const struct op_call *call, const struct op *op)
{
	struct reading *reading = context;
	uint32_t outer = frame_around(reading, op, call->py_stack);
	uint32_t name = process_call_name(reading->process, call->call, NULL);

	add_cpu(reading, find_frame(reading, outer, name, FLAME_CALL), outer,
		duration_ns(reading, call->begin, call->end));
}

static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct reading *reading = context;
	uint32_t outer = frame_around(reading, op, call ? call->py_stack : 0), frame;
	uint64_t *self;

	if (!op) {
		outer = find_text(reading, outer, call ? "(no operator)" : "(no launch recorded)",
			FLAME_OPERATOR);
	}
	frame = find_frame(
		reading, outer, gpu_activity_name(reading->process, record), FLAME_ACTIVITY);
	self = reading->flame->frames[frame].self;
	if (record->is_timed && record->end_ns >= record->begin_ns) {
		self[FLAME_GPU] += record->end_ns - record->begin_ns;
	} else {
		reading->flame->nr_untimed++;
	}
	self[FLAME_LAUNCHES] += !call || call->correlation != reading->last_launch;
	reading->last_launch = call ? call->correlation : 0;
}

/* Time was also taken off frames that have none of their own: stacks and processes. */
static void set_cpu(struct reading *reading)
{
	for (size_t i = 0; i < reading->flame->nr_frames; i++) {
		struct flame_frame *frame = &reading->flame->frames[i];
		bool has_time = frame->kind == FLAME_MODULE || frame->kind == FLAME_OPERATOR ||
				frame->kind == FLAME_CALL;

		frame->self[FLAME_CPU] =
			has_time && (int64_t)reading->cpu[i] > 0 ? reading->cpu[i] : 0;
	}
}

static void add_totals(struct reading *reading)
{
	struct flame *flame = reading->flame;

	for (size_t i = flame->nr_frames; i-- > 1;) {
		struct flame_frame *frame = &flame->frames[i];
		uint64_t *outer = flame->frames[frame->parent].total;

		for (unsigned int w = 0; w < NR_FLAME_WEIGHTS; w++) {
			frame->total[w] += frame->self[w];
			outer[w] += i == reading->unsampled ? 0 : frame->total[w];
		}
	}
}

static void leave_out_unsampled(struct reading *reading)
{
	struct flame *flame = reading->flame;
	bool *is_unsampled = mem_zeroed(flame->nr_frames, sizeof(*is_unsampled));

	memcpy(flame->unsampled, flame->frames[reading->unsampled].total, sizeof(flame->unsampled));
	for (size_t i = 0; i < flame->nr_frames; i++) {
		struct flame_frame *frame = &flame->frames[i];

		is_unsampled[i] = i == reading->unsampled || is_unsampled[frame->parent];
		if (is_unsampled[i]) {
			memset(frame->self, 0, sizeof(frame->self));
			memset(frame->total, 0, sizeof(frame->total));
		}
	}
	free(is_unsampled);
}

void flame_read(struct flame *flame, struct process *const *processes, size_t nr_processes,
	unsigned int form)
{
	static const struct op_view view = {
		.begin = begin, .op = on_op, .call = on_call, .record = on_record};
	struct reading reading = {.flame = flame,
		.has_stacks = form & FLAME_STACKS,
		.has_processes = nr_processes > 1 && !(form & FLAME_MERGED)};
	const struct op_walk walk = {&view, &reading};

	*flame = (struct flame){0};
	add_frame(&reading, 0, 0, FLAME_ROOT);
	reading.unsampled = find_text(&reading, 0, "(no Python stack)", FLAME_ROOT);
	op_walk_run(processes, nr_processes, &walk, 1);
	set_cpu(&reading);
	add_totals(&reading);
	leave_out_unsampled(&reading);
	hash_free(reading.items);
	free(reading.cpu);
}

void flame_fini(struct flame *flame)
{
	free(flame->frames);
}
