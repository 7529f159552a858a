/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the operators (flame_walk) adds to each frame what it has of its own; flame_end()
 * sums up and sorts. A frame is found by its parent and name, mostly in one of two caches. The time
 * of an inner frame is taken from the outer one as it comes, so the outer one's may be below 0 for
 * a while.
 */
#include "report/timeline/flame.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/budget/wait_samples.h"
#include "report/gpu/gpu_activities.h"
#include "report/model/mixed_stack.h"
#include "report/model/py_stack.h"
#include "report/model/scan.h"
#include "report/model/select.h"
#include "report/util/hash.h"
#include "report/util/string_pool.h"
#include "report/util/sort.h"

const char *const flame_weight_names[NR_FLAME_WEIGHTS + 1] = {"gpu", "cpu", "launches", NULL};

/* A damaged stream may have cycles. */
#define MAX_STACK 256u

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

/* Frames found before: most events are like one of the last ones. A power of two. */
#define NR_FOUND 1024u

struct found {
	struct key key;
	uint32_t frame; /* 0: none, as the root is in no frame */
};

struct flame_reading {
	struct flame *flame;
	size_t capacity, part_capacity;
	struct item *items; /* by key */
	struct found found[NR_FOUND];
	bool has_stacks, has_processes;
	bool has_phases, has_ranges; /* parts differ by these */
	enum phase phase;	     /* the others are left out, FLAME_ALL_PHASES: none */
	struct process *process;
	uint64_t last_launch; /* correlation ID of the last activity's call */
	uint32_t root;	      /* frame of the process */
	uint32_t unsampled;   /* frame of the events without a Python stack */
	struct recent recent[NR_RECENT];
	uint32_t last_step;  /* 1 + its index in process.steps; 0: before the first */
	uint16_t last_range; /* of last_step, as in flame_part */
};

/* The time, steps and phase of an operator, call or activity. */
struct place {
	uint64_t tick;
	uint16_t steps; /* as in flame_part */
	uint8_t phase;
};

/* ---- frames ---- */

static uint32_t add_frame(
	struct flame_reading *reading, uint32_t parent, uint32_t name, uint8_t kind)
{
	struct flame *flame = reading->flame;
	struct flame_frame *frame;

	flame->frames = array_grow(
		flame->frames, flame->nr_frames, &reading->capacity, sizeof(*flame->frames));
	frame = &flame->frames[flame->nr_frames];
	*frame = (struct flame_frame){
		.parent = parent, .name = name, .kind = kind, .first_tick = UINT64_MAX};
	if (kind != FLAME_ROOT) {
		frame->depth = (uint16_t)(flame->frames[parent].depth + 1);
	}
	return (uint32_t)flame->nr_frames++;
}

static uint32_t look_up_frame(
	struct flame_reading *reading, uint32_t parent, uint32_t name, uint8_t kind)
{
	struct key key = {parent, name};
	struct item *item;

	if (reading->flame->frames[parent].depth >= FLAME_MAX_DEPTH) {
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

static inline uint32_t find_frame(
	struct flame_reading *reading, uint32_t parent, uint32_t name, uint8_t kind)
{
	struct found *found = &reading->found[(parent * 31 + name) % NR_FOUND];

	if (found->key.parent != parent || found->key.name != name || !found->frame) {
		*found = (struct found){{parent, name}, look_up_frame(reading, parent, name, kind)};
	}
	return found->frame;
}

static uint32_t find_text(
	struct flame_reading *reading, uint32_t parent, const char *text, uint8_t kind)
{
	return find_frame(reading, parent, string_pool_intern(text, strlen(text)), kind);
}

/*
 * Returns what a frame has of its own in a phase of some steps. CPU time is below 0, modulo 2^64,
 * until all is added.
 */
static uint64_t *find_self(
	struct flame_reading *reading, uint32_t number, const struct place *place)
{
	struct flame *flame = reading->flame;
	struct flame_frame *frame = &flame->frames[number];
	struct flame_part *part;
	uint32_t at = frame->last_part;

	if (!at || flame->parts[at - 1].phase != place->phase ||
		flame->parts[at - 1].steps != place->steps) {
		for (at = frame->first_part; at; at = flame->parts[at - 1].next) {
			part = &flame->parts[at - 1];
			if (part->phase == place->phase && part->steps == place->steps) {
				break;
			}
		}
	}
	if (!at) {
		flame->parts = array_grow(flame->parts, flame->nr_parts, &reading->part_capacity,
			sizeof(*flame->parts));
		flame->parts[flame->nr_parts++] = (struct flame_part){
			.next = frame->first_part, .steps = place->steps, .phase = place->phase};
		frame->first_part = at = (uint32_t)flame->nr_parts;
	}
	frame->last_part = at;
	frame->first_tick = place->tick < frame->first_tick ? place->tick : frame->first_tick;
	return flame->parts[at - 1].self;
}

/* ---- phases and steps ---- */

/* The last row only ends a step. */
static bool is_step(const struct process *process, uint32_t step)
{
	return step && step < process->nr_steps && !model_step_is_gap(&process->steps[step - 1]);
}

static uint16_t range_of(const struct flame_reading *reading, uint32_t step)
{
	const struct flame_ranges *ranges = &reading->flame->ranges;

	if (!is_step(reading->process, step)) {
		return 0;
	}
	return (uint16_t)(1 + (reading->process->steps[step - 1].step - ranges->first) /
				      ranges->length);
}

/*
 * Returns the range of the step that a tick lies in, as in flame_part. Most are in the same as the
 * last.
 */
static uint16_t find_range(struct flame_reading *reading, uint64_t tick)
{
	const struct process *process = reading->process;
	uint32_t last = reading->last_step;

	if (!last || last >= process->nr_steps || process->steps[last - 1].tick > tick ||
		tick >= process->steps[last].tick) {
		reading->last_step = (uint32_t)process_steps_begun(process, tick);
		reading->last_range = range_of(reading, reading->last_step);
	}
	return reading->last_range;
}

/* A module is in the phase of what lies in it; one with nothing in it in that of the next one. */
static uint32_t segment_of(const struct op *op)
{
	while (op && (op->is & OP_IS_MODULE) && op->segment == UINT32_MAX) {
		if (op->inner_segment != UINT32_MAX) {
			return op->inner_segment;
		}
		op = op->parent;
	}
	return op ? op->segment : UINT32_MAX;
}

static struct place place_of(struct flame_reading *reading, uint64_t tick, uint32_t segment)
{
	struct place place = {.tick = tick};

	if (reading->has_phases) {
		place.phase = (uint8_t)phases_of_segment(reading->process, segment);
	}
	if (reading->has_ranges) {
		place.steps = find_range(reading, tick);
	}
	return place;
}

static bool is_chosen_step(const struct process *process, uint32_t step)
{
	return is_step(process, step) && select_has_step(process, step - 1);
}

void flame_ranges_add(
	struct flame_ranges *ranges, struct process *const *processes, size_t nr_processes)
{
	for (size_t i = 0; i < nr_processes; i++) {
		for (uint32_t step = 1; step < processes[i]->nr_steps; step++) {
			uint64_t number = processes[i]->steps[step - 1].step;

			if (is_chosen_step(processes[i], step)) {
				ranges->first = number < ranges->first ? number : ranges->first;
				ranges->last = number > ranges->last ? number : ranges->last;
			}
		}
	}
	if (ranges->first <= ranges->last) {
		ranges->length = (ranges->last - ranges->first) / FLAME_MAX_RANGES + 1;
	}
}

/* Counts the steps in each range. */
static void count_steps(struct flame_ranges *ranges, struct process *const *processes, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		for (uint32_t step = 1; step < processes[i]->nr_steps; step++) {
			uint64_t number = processes[i]->steps[step - 1].step;

			if (is_chosen_step(processes[i], step)) {
				ranges->nr_steps[(number - ranges->first) / ranges->length]++;
			}
		}
	}
}

/* ---- paths ---- */

static uint32_t stack_frame(struct flame_reading *reading, uint32_t stack)
{
	uint32_t codes[MAX_STACK], nr = 0, frame = reading->root;

	while (stack && nr < MAX_STACK) {
		const struct model_py_stack *at = idmap_get(&reading->process->py_stacks, stack);

		if (!at) {
			break;
		}
		codes[nr++] = at->code;
		stack = at->parent;
	}
	if (stack && nr == MAX_STACK) {
		frame = find_text(reading, frame, "(outer frames left out)", FLAME_PYTHON);
	}
	while (nr > 0) {
		uint32_t name = py_code_text(reading->process, codes[--nr]);

		frame = find_frame(reading, frame, name, FLAME_PYTHON);
	}
	return frame;
}

/* Returns the frame that the outermost operator or call lies in. */
static uint32_t base_frame(struct flame_reading *reading, uint32_t stack)
{
	if (!reading->has_stacks) {
		return reading->root;
	}
	return stack ? stack_frame(reading, stack) : reading->unsampled;
}

/*
 * Returns "layers.1.fc (Linear)", or "Linear_1" where the path in the outermost module is not
 * known.
 */
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
static bool is_left_out(const struct flame_reading *reading, const struct op *op)
{
	return op->is & OP_IS_MODULE ? reading->has_stacks
				     : op_is_step(op->name, op->framework, op->scope);
}

static uint32_t frame_around(struct flame_reading *reading, const struct op *op, uint32_t stack);

static uint32_t op_frame(struct flame_reading *reading, const struct op *op)
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

/*
 * Returns the frame around an operator, call or activity. op: the operator that it lies in, or
 * NULL; stack: its own one. Nesting is as deep as in the stream.
 */
static uint32_t frame_around(struct flame_reading *reading, const struct op *op, uint32_t stack)
{
	while (op && is_left_out(reading, op)) {
		op = op->parent;
	}
	return op ? op_frame(reading, op) : base_frame(reading, stack);
}

/* ---- the pass ---- */

static uint32_t process_frame(struct flame_reading *reading, const struct process *process)
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
	struct flame_reading *reading = context;

	reading->process = process;
	reading->root = reading->has_processes ? process_frame(reading, process) : 0;
	memset(reading->recent, 0, sizeof(reading->recent));
	reading->last_launch = 0;
	reading->last_step = 0;
	reading->last_range = 0;
}

static uint64_t duration_ns(const struct flame_reading *reading, uint64_t begin, uint64_t end)
{
	return clock_map_duration(&reading->process->host_clock, end - begin);
}

/* Time of its own: all of it, less what lies in it. op: what it lies in, with frame `outer`. */
static void add_cpu(struct flame_reading *reading, uint32_t frame, const struct place *place,
	const struct op *op, uint32_t outer, uint64_t ns)
{
	while (op && is_left_out(reading, op)) {
		op = op->parent;
	}
	if (frame != outer) {
		find_self(reading, frame, place)[FLAME_CPU] += ns;
	}
	if (frame != outer && op && select_has_tick(reading->process, op->begin)) {
		struct place outer_place = place_of(reading, op->begin, segment_of(op));

		find_self(reading, outer, &outer_place)[FLAME_CPU] -= ns;
	}
}

static void on_op(void *context, const struct op *op)
{
	struct flame_reading *reading = context;
	struct place place;
	uint32_t outer;

	if (is_left_out(reading, op)) {
		return;
	}
	place = place_of(reading, op->begin, segment_of(op));
	outer = frame_around(reading, op->parent, op->py_stack);
	add_cpu(reading, op_frame(reading, op), &place, op->parent, outer,
		duration_ns(reading, op->begin, op->end));
}

/* Adds the frames of a stack (mixed_stack.h); is_native_only: those below Python's. */
static uint32_t mixed_frame(
	struct flame_reading *reading, uint32_t frame, uint64_t stack, bool is_native_only)
{
	struct mixed_frame frames[MIXED_STACK_MAX_FRAMES];
	uint32_t nr = mixed_stack_frames(reading->process, stack, frames);

	while (nr > 0) {
		const struct mixed_frame *at = &frames[--nr];

		if (!at->py_code || !is_native_only) {
			frame = find_frame(reading, frame, at->function,
				at->py_code ? FLAME_PYTHON : FLAME_CALL);
		}
	}
	return frame;
}

/*
 * Adds the functions of C and C++ that lead to a call. Inside an operator they would repeat what
 * the framework is made of.
 */
static uint32_t native_frame(struct flame_reading *reading, uint32_t frame,
	const struct op_call *call, const struct op *op)
{
	return call && !op && native_stack_is_known(reading->process, call->native_stack)
		       ? mixed_frame(reading, frame,
				 mixed_stack_id(call->native_stack, call->py_stack), true)
		       : frame;
}

static void on_call(void *context, const struct op_call *call, const struct op *op)
{
	struct flame_reading *reading = context;
	struct place place = place_of(reading, call->begin, call->segment);
	uint32_t outer = native_frame(reading, frame_around(reading, op, call->py_stack), call, op);
	uint32_t name = process_call_name(reading->process, call->call, NULL);

	add_cpu(reading, find_frame(reading, outer, name, FLAME_CALL), &place, op, outer,
		duration_ns(reading, call->begin, call->end));
}

/* Activities of one call, such as the nodes of a graph, are one launch. */
static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct flame_reading *reading = context;
	uint32_t outer = frame_around(reading, op, call ? call->py_stack : 0), frame;
	struct place place = {.tick = UINT64_MAX, .phase = reading->has_phases ? PHASE_OTHERS : 0};
	uint64_t *self;

	if (call) {
		place = place_of(reading, call->begin, call->segment);
	}
	if (!op) {
		outer = call && native_stack_is_known(reading->process, call->native_stack)
				? native_frame(reading, outer, call, op)
				: find_text(reading, outer,
					  op_record_lacks_op(record, call != NULL), FLAME_OPERATOR);
	}
	frame = find_frame(
		reading, outer, op_record_name(reading->process, record), FLAME_ACTIVITY);
	self = find_self(reading, frame, &place);
	if (record->is_timed && record->end_ns >= record->begin_ns) {
		self[FLAME_GPU] += record->end_ns - record->begin_ns;
	} else {
		reading->flame->nr_untimed++;
	}
	self[FLAME_LAUNCHES] += !call || call->correlation != reading->last_launch;
	reading->last_launch = call ? call->correlation : 0;
}

/* ---- samples ---- */

/* The outermost frame is the thread, by its name. */
static uint32_t thread_frame(struct flame_reading *reading, uint64_t name)
{
	return name ? find_frame(reading, reading->root, process_string(reading->process, name),
			      FLAME_PROCESS)
		    : find_text(reading, reading->root, "(unnamed thread)", FLAME_PROCESS);
}

static void on_waits(void *context, struct process *process, const struct batch *b)
{
	struct flame_reading *reading = context;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		const struct place place = {.tick = b->col[COL_wait_sample_time][i]};
		const struct wait_key key = wait_key_of(b, i);
		uint64_t stack = mixed_stack_id(0, key.py_stack);
		uint32_t frame = thread_frame(reading, b->col[COL_wait_sample_name][i]);

		frame = stack ? mixed_frame(reading, frame, stack, false) : frame;
		frame = find_frame(reading, frame, wait_text(process, &key), FLAME_ACTIVITY);
		find_self(reading, frame, &place)[FLAME_CPU] += b->col[COL_wait_sample_ns][i];
	}
}

static void on_samples(void *context, struct process *process, const struct batch *b)
{
	struct flame_reading *reading = context;

	(void)process;
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		const struct place place = {.tick = b->col[COL_cpu_sample_time][i]};
		uint64_t stack = mixed_stack_id(
			b->col[COL_cpu_sample_native_stack][i], b->col[COL_cpu_sample_py_stack][i]);
		uint32_t frame = thread_frame(reading, b->col[COL_cpu_sample_name][i]);

		frame = mixed_frame(reading, frame, stack, false);
		find_self(reading, frame, &place)[FLAME_CPU] += b->col[COL_cpu_sample_ns][i];
	}
}

static void read_samples(struct flame_reading *reading, struct process *const *processes,
	size_t nr_processes, unsigned int of)
{
	static const struct scan_want want = {
		GPROF_TABLE_cpu_sample, COL_ALL(NR_COL_cpu_sample), 0};
	static const struct scan_want wait_want = {
		GPROF_TABLE_wait_sample, COL_ALL(NR_COL_wait_sample), 0};
	static const struct scan_view view = {
		.wants = &want, .nr_wants = 1, .begin = begin, .on_batch = on_samples};
	static const struct scan_view wait_view = {
		.wants = &wait_want, .nr_wants = 1, .begin = begin, .on_batch = on_waits};
	const struct scan scan = {of == FLAME_WAITS ? &wait_view : &view, reading};

	reading->flame->of = of;
	scan_run(processes, nr_processes, &scan, 1);
}

/* ---- sums ---- */

/*
 * Takes what a part lacks from the others: by rounding, and if the phase of a module was found
 * late.
 */
static void level_cpu(struct flame *flame, const struct flame_frame *frame)
{
	uint64_t lacking = 0;

	for (uint32_t at = frame->first_part; at; at = flame->parts[at - 1].next) {
		uint64_t *cpu = &flame->parts[at - 1].self[FLAME_CPU];

		if ((int64_t)*cpu < 0) {
			lacking -= *cpu;
			*cpu = 0;
		}
	}
	for (uint32_t at = frame->first_part; at && lacking; at = flame->parts[at - 1].next) {
		uint64_t *cpu = &flame->parts[at - 1].self[FLAME_CPU];
		uint64_t taken = *cpu < lacking ? *cpu : lacking;

		*cpu -= taken;
		lacking -= taken;
	}
}

static void set_self(struct flame_reading *reading)
{
	struct flame *flame = reading->flame;

	for (size_t i = 0; i < flame->nr_frames; i++) {
		struct flame_frame *frame = &flame->frames[i];

		level_cpu(flame, frame);
		for (uint32_t at = frame->first_part; at; at = flame->parts[at - 1].next) {
			struct flame_part *part = &flame->parts[at - 1];

			if (reading->phase != FLAME_ALL_PHASES && part->phase != reading->phase) {
				memset(part->self, 0, sizeof(part->self));
			}
			for (unsigned int w = 0; w < NR_FLAME_WEIGHTS; w++) {
				frame->self[w] += part->self[w];
			}
		}
	}
}

/* From the innermost frames on: an outer one begins with the first in it. */
static void add_totals(struct flame_reading *reading)
{
	struct flame *flame = reading->flame;

	for (size_t i = flame->nr_frames; i-- > 1;) {
		struct flame_frame *frame = &flame->frames[i];
		struct flame_frame *parent = &flame->frames[frame->parent];
		uint64_t *outer = parent->total;

		parent->first_tick = frame->first_tick < parent->first_tick ? frame->first_tick
									    : parent->first_tick;

		for (unsigned int w = 0; w < NR_FLAME_WEIGHTS; w++) {
			frame->total[w] += frame->self[w];
			outer[w] += i == reading->unsampled ? 0 : frame->total[w];
		}
	}
}

static void leave_out_unsampled(struct flame_reading *reading)
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
			frame->first_part = 0;
		}
	}
	free(is_unsampled);
}

/* ---- order ---- */

struct sibling {
	uint64_t first_tick;
	uint32_t parent, frame;
};

/* Sorts by parent, and those that began last first. */
static int by_parent(const void *a, const void *b)
{
	const struct sibling *x = a, *y = b;

	return ORDER(COMPARE(x->parent, y->parent), COMPARE(y->first_tick, x->first_tick),
		COMPARE(y->frame, x->frame));
}

/* Puts those in a frame behind it, in the order in which they began first. */
static void sort_frames(struct flame *flame)
{
	size_t nr = flame->nr_frames, nr_waiting = 1, nr_sorted = 0;
	struct sibling *siblings = mem_zeroed(nr, sizeof(*siblings));
	struct flame_frame *sorted = mem_zeroed(nr, sizeof(*sorted));
	uint32_t *first = mem_zeroed(nr + 1, sizeof(*first)); /* in `siblings`, by parent */
	uint32_t *place = mem_zeroed(nr, sizeof(*place)),
		 *waiting = mem_zeroed(nr, sizeof(*waiting));

	for (uint32_t i = 1; i < nr; i++) {
		const struct flame_frame *frame = &flame->frames[i];

		siblings[i - 1] = (struct sibling){frame->first_tick, frame->parent, i};
		first[frame->parent + 1]++;
	}
	for (size_t i = 1; i <= nr; i++) {
		first[i] += first[i - 1];
	}
	qsort(siblings, nr - 1, sizeof(*siblings), by_parent);
	while (nr_waiting) {
		uint32_t at = waiting[--nr_waiting];

		place[at] = (uint32_t)nr_sorted;
		sorted[nr_sorted] = flame->frames[at];
		sorted[nr_sorted++].parent = place[flame->frames[at].parent];
		for (uint32_t i = first[at]; i < first[at + 1]; i++) {
			waiting[nr_waiting++] = siblings[i].frame;
		}
	}
	free(flame->frames);
	flame->frames = sorted;
	free(siblings);
	free(first);
	free(place);
	free(waiting);
}

/* Phases are known when a walk over all operators has ended. */
static void find_phases(struct process *const *processes, size_t nr_processes)
{
	static const struct op_view view = {.ignores_selection = true};
	const struct op_walk walk = {&view, NULL};

	for (size_t i = 0; i < nr_processes; i++) {
		if (!processes[i]->segment_phases) {
			op_walk_run(&processes[i], 1, &walk, 1);
		}
	}
}

struct flame_reading *flame_begin(struct flame *flame, struct process *const *processes,
	size_t nr_processes, unsigned int form, enum phase phase, const struct flame_ranges *ranges)
{
	struct flame_reading *reading = mem_zeroed(1, sizeof(*reading));

	reading->flame = flame;
	reading->has_stacks = form & FLAME_STACKS;
	reading->has_processes = nr_processes > 1 && !(form & FLAME_MERGED);
	reading->has_phases = (form & FLAME_PARTED) || phase != FLAME_ALL_PHASES;
	reading->has_ranges = form & FLAME_PARTED;
	reading->phase = phase;
	*flame = (struct flame){.ranges = ranges ? *ranges : FLAME_NO_RANGES};
	if (reading->has_phases) {
		find_phases(processes, nr_processes);
	}
	if (reading->has_ranges) {
		flame_ranges_add(&flame->ranges, processes, nr_processes);
		count_steps(&flame->ranges, processes, nr_processes);
	}
	add_frame(reading, 0, 0, FLAME_ROOT);
	reading->unsampled = find_text(reading, 0, "(no Python stack)", FLAME_ROOT);
	return reading;
}

struct op_walk flame_walk(struct flame_reading *reading)
{
	static const struct op_view view = {
		.begin = begin, .op = on_op, .call = on_call, .record = on_record};

	return (struct op_walk){&view, reading};
}

void flame_end(struct flame_reading *reading)
{
	set_self(reading);
	add_totals(reading);
	leave_out_unsampled(reading);
	sort_frames(reading->flame);
	hash_free(reading->items);
	free(reading);
}

void flame_read(struct flame *flame, struct process *const *processes, size_t nr_processes,
	unsigned int form, enum phase phase, const struct flame_ranges *ranges)
{
	struct flame_reading *reading =
		flame_begin(flame, processes, nr_processes, form, phase, ranges);
	const struct op_walk walk = flame_walk(reading);

	if (form & (FLAME_SAMPLES | FLAME_WAITS)) {
		read_samples(reading, processes, nr_processes, form);
	} else {
		op_walk_run(processes, nr_processes, &walk, 1);
	}
	flame_end(reading);
}

void flame_fini(struct flame *flame)
{
	free(flame->frames);
	free(flame->parts);
}

const char *flame_title(const struct flame *flame, enum flame_weight weight)
{
	static const char *const titles[NR_FLAME_WEIGHTS] = {[FLAME_GPU] = "GPU time",
		[FLAME_CPU] = "CPU time of operators and calls",
		[FLAME_LAUNCHES] = "Launches"};

	return weight != FLAME_CPU || !flame->of ? titles[weight]
	       : flame->of == FLAME_WAITS	 ? "Waiting by samples"
						 : "CPU time by samples";
}
