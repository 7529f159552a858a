/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks_paddle.c calls these functions around Paddle's own. A row is written when its event ends,
 * from the frame on the thread's stack of operators, where ranges of other frameworks nest as well.
 * An event or a place that no known Paddle has switches its part off, with a notice.
 */
#include "preload/paddle/paddle.h"

#include <string.h>

#include "collector/util/config.h"
#include "collector/util/target.h"
#include "preload/torch/worker.h"

/* phi::AllocationType, and c10::DeviceType, which the stream counts in. */
enum { KIND_CPU = 1, KIND_GPU = 2, KIND_PINNED = 3, NR_KINDS = 32 };
enum { DEVICE_CPU = 0, DEVICE_CUDA = 1, DEVICE_OTHER = 20 };
#define NR_DEVICES 128u /* paddle_place.device has 7 bits */

/* Bytes that the allocators have given out and not got back, and bytes that they hold. */
struct totals {
	_Atomic int64_t nr_allocated_bytes, nr_reserved_bytes;
};

static struct totals totals[3][NR_DEVICES]; /* of CPU, GPU and others */
static atomic_bool is_off, is_memory_off;   /* something was not as expected */

static void expect_workers(void)
{
	if (config_number(CONFIG_PADDLE) != PADDLE_OFF) {
		worker_expect();
	}
}

static bool is_wanted(uint32_t mode)
{
	if (__builtin_expect(mode & COLLECTOR_COLD, 0)) {
		recorder_ensure_started_counting_loss(0); /* reads the variables */
		expect_workers();
	}
	return config_number(CONFIG_PADDLE) != PADDLE_OFF && !ring_in_profiler(&ring_tls) &&
	       !atomic_load_explicit(&is_off, memory_order_relaxed);
}

bool paddle_is_recording(void)
{
	return (hook_mode() & COLLECTOR_RECORD) && is_wanted(0) &&
	       config_number(CONFIG_PADDLE) >= PADDLE_OPS;
}

uint32_t paddle_name(const char *text)
{
	uint32_t name = op_name_intern(OP_NAME_NAMES, text);
	static atomic_uint reported_in;

	if (__builtin_expect(name != 0, 1)) {
		return name;
	}
	if (notice_is_first(&reported_in)) {
		notice_add("many names", 0,
			"Paddle uses too many event names, or memory is short; later ones share "
			"the first id");
	}
	return 1;
}

/* ---- events ---- */

static void refuse(const char *name, uint32_t type)
{
	if (!atomic_exchange(&is_off, true)) {
		notice_add("no Paddle operators", (int)type,
			"event %.100s has a type that no known Paddle uses; operators are not "
			"recorded, NVTX ranges are",
			name);
	}
}

static bool keeps(uint8_t type)
{
	return paddle_is_recording() ||
	       (type == PADDLE_DATALOADER && collector_times_fetch(PADDLE_FETCH));
}

/*
 * Some events have a frame even while nothing is recorded, since steps are detected from them:
 * fetches, optimizers, and runs of a static program.
 */
void paddle_begin_slow(const void *event, const char *name, uint32_t type)
{
	struct ring_tls *self = &ring_tls;
	TARGET_KEEP_ERRNO;
	struct op_stack *stack;
	struct op_frame *frame;
	uint32_t id;

	if (!is_wanted(hook_mode()) || !(stack = op_stack_of(self))) {
		return;
	}
	if (__builtin_expect(type >= PADDLE_NR_TYPES, 0)) {
		refuse(name, type);
		return;
	}
	if (__builtin_expect(config_number(CONFIG_PADDLE) == PADDLE_RANGES, 0)) {
		paddle_python_try(name);
	}
	id = paddle_name(name);
	paddle_step_begin(stack, name, id, type);
	if (paddle_is_recording() || type == PADDLE_DATALOADER || type == PADDLE_OPTIMIZATION ||
		(type == PADDLE_USER && !strcmp(name, PADDLE_EXECUTOR))) {
		frame = op_stack_push(stack, event);
		loss_add(LOSS_OP, !frame && keeps((uint8_t)type));
		if (frame) {
			frame->name = id;
			frame->scope = (uint8_t)type;
			frame->shape = 0;
		}
	}
}

void paddle_emit(struct ring_tls *self, const struct op_ended *ended)
{
	struct gprof_row_op *row = (struct gprof_row_op *)ring_reserve(self, sizeof(*row));

	if (!row) {
		return;
	}
	*row = (struct gprof_row_op){.head = {.bytes = sizeof(*row), .table = GPROF_TABLE_op},
		.begin = ended->begin,
		.dur = ended->end,
		.thread = ended->thread,
		.op_name = ended->name,
		.end_thread = self->id,
		.py_stack = ended->py_stack,
		.depth = (uint16_t)ended->depth,
		.framework = GPROF_FRAMEWORK_PADDLE,
		.scope = ended->scope};
	ring_commit(self, row, sizeof(*row));
}

static bool is_stage(uint8_t type)
{
	return type == PADDLE_INNER || type == PADDLE_DYNAMIC_LAUNCH ||
	       type == PADDLE_STATIC_LAUNCH;
}

/* Paddle forgets the stages of an operator that an exception leaves. */
static void drop_stages(struct op_stack *stack, const void *event)
{
	struct op_frame *top = op_stack_top(stack);

	if (!top || top->object == event || !is_stage(top->scope) || !op_stack_has(stack, event)) {
		return;
	}
	while (top && top->object != event && is_stage(top->scope)) {
		op_stack_pop(stack, top->object);
		top = op_stack_top(stack);
	}
}

/* An event that began on another thread has a row here, but no part in the detection of steps. */
void paddle_end_slow(const void *event)
{
	struct ring_tls *self = &ring_tls;
	uint64_t end = clock_raw();
	struct op_ended ended;
	struct op_stack *stack;
	TARGET_KEEP_ERRNO;

	if (!is_wanted(0) || !(stack = op_stack_of(self))) {
		return;
	}
	paddle_step_before_end(stack, event);
	drop_stages(stack, event);
	ended = op_stack_pop(stack, event);
	ended.end = end;
	if (ended.begin) { /* else it was ended before, or began while nothing was recorded */
		if (keeps(ended.scope)) {
			paddle_emit(self, &ended);
		}
		if (ended.thread == self->id) {
			paddle_step_end(stack, &ended);
		}
	}
}

void paddle_stop(void)
{
	struct op_stack *stack = op_stack_have(&ring_tls);

	if (stack && !ring_in_profiler(&ring_tls)) {
		paddle_step_finish(stack);
	}
}

/* ---- the data loader ---- */

uint64_t paddle_fetch_begin(void)
{
	struct op_stack *stack;
	const struct op_frame *top = NULL;
	TARGET_KEEP_ERRNO;

	stack = is_wanted(hook_mode()) ? op_stack_of(&ring_tls) : NULL;
	if (stack) {
		paddle_step_before_end(stack, NULL);
		top = op_stack_top(stack);
	}
	/* A fetch that Paddle marks by an event of its own is recorded by that event. */
	return !stack || (top && top->scope == PADDLE_DATALOADER) ? 0 : clock_raw();
}

void paddle_fetch_end(uint64_t begin)
{
	struct op_stack *stack = op_stack_have(&ring_tls);
	struct op_ended ended = {.begin = begin,
		.end = clock_raw(),
		.thread = ring_tls.id,
		.scope = PADDLE_DATALOADER};
	TARGET_KEEP_ERRNO;

	if (!begin || !stack) {
		return;
	}
	ended.depth = op_stack_trim(stack, op_stack_load(&stack->depth));
	if (keeps(PADDLE_DATALOADER)) {
		ended.name = paddle_name("MultiDeviceFeedReader::ReadNextList");
		paddle_emit(&ring_tls, &ended);
	}
	paddle_step_end(stack, &ended);
}

/* ---- memory ---- */

static void refuse_memory(const struct paddle_place *place, uint32_t type)
{
	if (!atomic_exchange(&is_memory_off, true)) {
		notice_add("no Paddle memory", (int)type,
			"place %d of kind %d is unknown in Paddle; allocations are not recorded",
			place->device, place->kind);
	}
}

static uint8_t device_type(int8_t kind)
{
	switch (kind) {
	case KIND_CPU:
	case KIND_PINNED:
		return DEVICE_CPU;
	case KIND_GPU:
		return DEVICE_CUDA;
	default:
		return DEVICE_OTHER;
	}
}

/* Counted while nothing is recorded too, so that totals are whole. */
static struct totals *add_up(const struct paddle_place *place, int64_t nr_bytes, bool is_reserved)
{
	uint8_t type = device_type(place->kind);
	struct totals *sum = &totals[type < 2 ? type : 2][place->device];

	atomic_fetch_add_explicit(is_reserved ? &sum->nr_reserved_bytes : &sum->nr_allocated_bytes,
		nr_bytes, memory_order_relaxed);
	return sum;
}

static void emit_memory(const void *address, const struct paddle_place *place, int64_t nr_bytes,
	const struct totals *sum)
{
	struct ring_tls *self = &ring_tls;
	uint64_t time = clock_raw();
	struct gprof_row_alloc *row = (struct gprof_row_alloc *)ring_reserve(self, sizeof(*row));

	if (!row) {
		return;
	}
	*row = (struct gprof_row_alloc){.head = {.bytes = sizeof(*row), .table = GPROF_TABLE_alloc},
		.time = time,
		.address = (uintptr_t)address,
		.bytes = nr_bytes,
		.allocated_bytes = (uint64_t)sum->nr_allocated_bytes,
		.reserved_bytes = (uint64_t)sum->nr_reserved_bytes,
		.thread = self->id,
		.device_type = device_type(place->kind),
		.device = (uint8_t)place->device,
		.framework = GPROF_FRAMEWORK_PADDLE};
	ring_commit(self, row, sizeof(*row));
}

void paddle_memory(
	const void *address, const struct paddle_place *place, uint64_t nr_bytes, uint32_t type)
{
	bool is_reserved = type >= PADDLE_RESERVED_ALLOCATE;
	bool is_free = type == PADDLE_FREE || type == PADDLE_RESERVED_FREE;
	int64_t change = is_free ? -(int64_t)nr_bytes : (int64_t)nr_bytes;
	TARGET_KEEP_ERRNO;
	const struct totals *sum;

	if (!is_wanted(hook_mode()) || atomic_load_explicit(&is_memory_off, memory_order_relaxed)) {
		return;
	}
	if (type >= PADDLE_NR_MEMORY_TYPES || place->kind <= 0 || place->kind >= NR_KINDS ||
		place->device < 0) {
		refuse_memory(place, type);
		return;
	}
	sum = add_up(place, change, is_reserved);
	if (!is_reserved && paddle_is_recording()) {
		emit_memory(address, place, change, sum);
	}
}
