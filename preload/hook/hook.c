/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wrappers of every HOOK line of hooks.def. One macro makes the body; the facts of a line are
 * macros too, which write the row of the call's class (format.h) straight into the ring.
 *
 * Rules of this file: nothing that may block, allocate or set errno between the two clock reads or
 * after them; the slow paths (first call, full chunk) keep errno themselves.
 */
#include "preload/hook/hook.h"

#include <stddef.h>
#include <string.h>

#include "collector/ring/call_stack.h"
#include "collector/util/own_code.h"
#include "preload/hook/kernels.h"

struct hook_route *_Atomic hook_routes[HOOK_NR];
uint32_t (*_Atomic hook_python_stack)(void);

#define API_RT	GPROF_API_RUNTIME
#define API_DRV GPROF_API_DRIVER
#define API_THR GPROF_API_THREAD

/* The names in one piece: a table of pointers would be relocated in every process. */
#define HOOK(api, need, ret, name, params, args, facts) char name[sizeof(#name)];
#define HOOK_MANUAL(api, need, ret, name, params, args) char name[sizeof(#name)];
#define CUPTI_HOOK(name, params)			char name[sizeof(#name)];
#define NCCL_HOOK(name, params, args, facts)		char name[sizeof(#name)];
#define CXX(symbol)					char symbol[sizeof(#symbol)];
static const struct names {
#include "preload/hook/hooks.def"
} names = {
#define HOOK(api, need, ret, name, params, args, facts) #name,
#define HOOK_MANUAL(api, need, ret, name, params, args) #name,
#define CUPTI_HOOK(name, params)			#name,
#define NCCL_HOOK(name, params, args, facts)		#name,
#define CXX(symbol)					#symbol,
#include "preload/hook/hooks.def"
};
_Static_assert(sizeof(names) <= UINT16_MAX, "for collector_call.name_at");

const char *const hook_names = (const char *)&names;

#define CALL(name, api) {offsetof(struct names, name), api, 0},
const struct calls_hook hook_calls[HOOK_NR - 1] = {
#define HOOK(api, need, ret, name, params, args, facts) CALL(name, API_##api)
#define HOOK_MANUAL(api, need, ret, name, params, args) CALL(name, API_##api)
#define HOOK_COUNTED(api, need, ret, name, params, args) \
	{offsetof(struct names, name), API_##api, HOOK_COUNTED_##name + 1},
#include "preload/hook/hooks.def"
#define CUPTI_HOOK(name, params)	     CALL(name, HOOK_API_CUPTI)
#define NCCL_HOOK(name, params, args, facts) CALL(name, GPROF_API_NCCL)
#define CXX(symbol)			     CALL(symbol, HOOK_API_CXX)
#include "preload/hook/hooks.def"
};

/* The facts of a call when it returns, on the wrapper's stack. */
struct call {
	struct ring_tls *self;
	uint64_t begin;
	uint64_t end;
	int32_t result;
	uint16_t id;
};

/* ---- calls in calls ---- */

/* The target module of a route that contains the address; NULL if there is none. */
static struct hook_range *find_target(uintptr_t address)
{
	struct hook_range *range = atomic_load(&hook_targets);

	for (; range; range = atomic_load(&range->next)) {
		uintptr_t low = atomic_load(&range->low);

		if (low && address - low < atomic_load(&range->span)) {
			break;
		}
	}
	return range;
}

bool hook_is_nccl(uintptr_t address)
{
	struct hook_range *target = find_target(address);

	return target && atomic_load(&target->is_nccl);
}

bool hook_is_cuda(uintptr_t address)
{
	struct hook_range *target = find_target(address);

	return target ? !atomic_load(&target->is_nccl) : collector_is_cupti(address);
}

bool hook_enter_again(
	struct ring_tls *self, struct ring_mark *mark, uintptr_t stack, uintptr_t caller)
{
	uintptr_t frame = self->frame;
	bool is_cuda = hook_is_cuda(caller);

	/* A library that contains the runtime calls that from outside, too. */
	if (frame == UINTPTR_MAX || (is_cuda && stack <= frame)) {
		return false;
	}
	if (ring_is_left(frame, stack)) {
		ring_recover(self, stack);
		return true;
	}
	if (is_cuda) {
		return false;
	}
	if (frame & RING_IN_PROFILER) {
		/* A signal handler's: what gprof itself calls of CUDA is called by CUPTI. */
		loss_add(LOSS_SIGNAL, 1);
		return false;
	}
	mark->before = frame;
	mark->correlation = self->correlation;
	mark->cuda = self->cuda;
	return true;
}

/* ---- rows ---- */

/* The seven columns that every api table begins with. */
#define FILL_COMMON(row, call, table_id)                                                     \
	do {                                                                                 \
		const uint64_t head_word = sizeof(*(row)) | (uint64_t)GPROF_TABLE_##table_id \
								    << 16;                   \
                                                                                             \
		memcpy(&(row)->head, &head_word, sizeof(head_word)); /* one store */         \
		(row)->begin = (call)->begin;                                                \
		(row)->dur = (call)->end;                                                    \
		(row)->thread = (call)->self->id;                                            \
		(row)->correlation = (call)->self->correlation;                              \
		(row)->result = (call)->result;                                              \
		(row)->call = (call)->id;                                                    \
		(row)->source = GPROF_SOURCE_HOOK;                                           \
	} while (0)

/* A row of a table in the ring, with its common columns; the statement after it fills the rest. */
#define ADD_ROW(row, call, table_id)                                                         \
	const uint32_t native_stack = call_stack_of((call)->begin, (call)->end);             \
	struct gprof_row_##table_id *row = (void *)ring_reserve((call)->self, sizeof(*row)); \
	if (!row) {                                                                          \
		return;                                                                      \
	}                                                                                    \
	FILL_COMMON(row, call, table_id);                                                    \
	(row)->native_stack = native_stack

static __attribute__((noinline)) void emit_event(
	const struct call *call, const void *event, const void *stream)
{
	ADD_ROW(row, call, api);
	row->event = (uintptr_t)event;
	row->stream = (uintptr_t)stream;
	ring_commit(call->self, row, sizeof(*row));
}

static inline __attribute__((always_inline)) void emit_launch(const struct call *call,
	const void *function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x,
	uint32_t block_y, uint32_t block_z, uint64_t shared_bytes, const void *stream)
{
	uint32_t (*stack_of_launch)(void) =
		atomic_load_explicit(&hook_python_stack, memory_order_relaxed);
	uint32_t py_stack = __builtin_expect(stack_of_launch != NULL, 0) ? stack_of_launch() : 0;

	ADD_ROW(row, call, ring_launch);
	row->py_stack = py_stack;
	row->shared_bytes = (uint32_t)shared_bytes;
	row->stream = (uintptr_t)stream;
	row->function = (uintptr_t)function;
	row->grid_x = grid_x;
	row->grid_y = grid_y;
	row->grid_z = grid_z;
	row->block_x = block_x;
	row->block_y = block_y;
	row->block_z = block_z;
	ring_commit(call->self, row, sizeof(*row));
}

static __attribute__((noinline)) void emit_copy(const struct call *call, uint64_t dst, uint64_t src,
	uint64_t bytes, int kind, const void *stream)
{
	ADD_ROW(row, call, api_copy);
	row->copy_kind = (uint8_t)kind;
	row->bytes = bytes;
	row->stream = (uintptr_t)stream;
	row->dst = dst;
	row->src = src;
	ring_commit(call->self, row, sizeof(*row));
}

static __attribute__((noinline)) void emit_set(
	const struct call *call, uint64_t dst, uint64_t bytes, const void *stream)
{
	ADD_ROW(row, call, api_set);
	row->bytes = bytes;
	row->stream = (uintptr_t)stream;
	row->dst = dst;
	ring_commit(call->self, row, sizeof(*row));
}

static __attribute__((noinline)) void emit_alloc(const struct call *call, uint8_t op,
	uint64_t address, uint64_t bytes, uint8_t space, const void *stream)
{
	ADD_ROW(row, call, api_alloc);
	row->op = op;
	row->bytes = bytes;
	row->address = address;
	row->stream = (uintptr_t)stream;
	row->space = space;
	ring_commit(call->self, row, sizeof(*row));
}

static __attribute__((noinline)) void emit_sync(const struct call *call, const void *object)
{
	ADD_ROW(row, call, api_sync);
	row->object = (uintptr_t)object;
	ring_commit(call->self, row, sizeof(*row));
}

static __attribute__((noinline)) void emit_kernel(
	const struct call *call, const void *handle, const void *function)
{
	kernels_add_handle(handle, function);
	emit_event(call, NULL, NULL);
}

#define ADDRESS(value) ((uint64_t)(uintptr_t)(value))

/* The facts of hooks.def; this_* are the names of the wrapper, which no parameter has. */
#define PLAIN emit_event(&this_call, NULL, NULL)
#define EVENT(event, stream) \
	emit_event(&this_call, (const void *)(uintptr_t)(event), (const void *)(uintptr_t)(stream))
#define LAUNCH(func, gx, gy, gz, bx, by, bz, shared_bytes, stream)                       \
	emit_launch(&this_call, (const void *)(uintptr_t)(func), gx, gy, gz, bx, by, bz, \
		shared_bytes, (const void *)(uintptr_t)(stream))
#define COPY(dst, src, bytes, kind, stream)                            \
	emit_copy(&this_call, ADDRESS(dst), ADDRESS(src), bytes, kind, \
		(const void *)(uintptr_t)(stream))
#define SET(dst, bytes, stream) \
	emit_set(&this_call, ADDRESS(dst), bytes, (const void *)(uintptr_t)(stream))
#define ALLOC(addr, bytes, space, stream)                                   \
	emit_alloc(&this_call, 0, r == 0 ? ADDRESS(addr) : 0, bytes, space, \
		(const void *)(uintptr_t)(stream))
#define FREE(addr, space, stream) \
	emit_alloc(&this_call, 1, ADDRESS(addr), 0, space, (const void *)(uintptr_t)(stream))
#define SYNC(object)	     emit_sync(&this_call, (const void *)(uintptr_t)(object))
#define KERNEL(handle, func) emit_kernel(&this_call, r == 0 ? (handle) : NULL, func)

#define SPACE_DEVICE  GPROF_SPACE_DEVICE
#define SPACE_HOST    GPROF_SPACE_HOST
#define SPACE_MANAGED GPROF_SPACE_MANAGED
#define SPACE_ARRAY   GPROF_SPACE_ARRAY
#define SPACE_POOL    GPROF_SPACE_POOL
#define SPACE_VIRTUAL GPROF_SPACE_VIRTUAL

/* `mode` is the mode after the call, which may have started the recorder. */
static inline void end_step(uint32_t mode, enum hook_id id)
{
	if (__builtin_expect(mode & COLLECTOR_STEP_API, 0) && collector_step_call == id) {
		collector_step(GPROF_STEP_API);
	}
}

/*
 * The wrapper itself is a few instructions without a frame; for everything else it jumps to its
 * hook_record_ half, so that the return address is still the caller's. A compiler that emits a call
 * here would send every call to the runtime of the first module, so the tests check the
 * instructions.
 */
#if !defined(__OPTIMIZE__)
#error "hooks find their callers by a tail call: compile with -O1 or more"
#endif
#if defined(__has_attribute)
#if __has_attribute(musttail)
#define TAIL_CALL __attribute__((musttail))
#endif
#endif
#ifndef TAIL_CALL
#define TAIL_CALL
#endif

/*
 * aarch64 passes a large structure by its address, so a wrapper with such a parameter makes a copy
 * and calls its hook_record_ half instead of jumping. That one's return address is then gprof's
 * own, and the program's is in the wrapper's frame, which has a frame pointer there.
 */
#if defined(__x86_64__)
#define RECORDED_CALLER HOOK_CALLER
#else
/* A frame begins with the address of the outer one and the return address, which may be signed. */
static inline uintptr_t outer_caller(const uintptr_t *frame)
{
	uintptr_t address = ((const uintptr_t *)frame[0])[1];

#if defined(__aarch64__)
	__asm__("mov x30, %0\n\thint #7\n\tmov %0, x30" : "+r"(address) : : "x30");
#endif
	return address;
}

#define RECORDED_CALLER \
	(own_code_has(HOOK_CALLER) ? outer_caller(__builtin_frame_address(0)) : HOOK_CALLER)
#endif

/*
 * Finds the real function, and begins the recorded call, whose mark is on the wrapper's stack;
 * `self` is NULL if it is not recorded. stack: RING_STACK of the wrapper.
 */
static inline __attribute__((always_inline)) void *begin_call(struct call *call,
	struct ring_mark *mark, enum hook_id id, uintptr_t caller, uintptr_t stack)
{
	void *real = hook_real(id, caller);
	struct ring_tls *self = &ring_tls;

	call->id = (uint16_t)id;
	call->self = NULL;
	if (hook_enter(self, mark, hook_mode(), caller, stack)) {
		call->self = self;
		call->begin = clock_raw();
		ring_call_begin(&self->cuda, hook_name(id), call->begin);
	}
	return real;
}

static inline void end_call(const struct call *call, const struct ring_mark *mark)
{
	if (call->self) {
		hook_leave(call->self, mark);
	}
	end_step(hook_mode(), call->id);
}

/* The two in one copy, for the other calls: a wrapper is then a third as long. */
static __attribute__((noinline)) void *begin_rare_call(struct call *call, struct ring_mark *mark,
	enum hook_id id, uintptr_t caller, uintptr_t stack)
{
	return begin_call(call, mark, id, caller, stack);
}

static __attribute__((noinline)) void end_rare_call(
	const struct call *call, const struct ring_mark *mark)
{
	end_call(call, mark);
}

/*
 * The calls that frameworks make by the million: launches, copies, and the events that order
 * streams and the allocator's blocks. Each has its own copy of the code that begins and ends a
 * call, which saves 2 ns a call.
 */
#define IS_FREQUENT(id)                                                                 \
	((id) == HOOK_cudaLaunchKernel || (id) == HOOK___cudaLaunchKernel ||            \
		(id) == HOOK_cudaLaunchKernelExC || (id) == HOOK_cuLaunchKernel ||      \
		(id) == HOOK_cuLaunchKernelEx || (id) == HOOK_cudaMemcpyAsync ||        \
		(id) == HOOK_cudaMemsetAsync || (id) == HOOK_cudaEventRecord ||         \
		(id) == HOOK_cudaEventRecordWithFlags || (id) == HOOK_cudaEventQuery || \
		(id) == HOOK_cudaStreamWaitEvent)

/* The half of a hook that records. */
#define RECORD(ret, name, params, args, facts)                                                \
	static __attribute__((noinline)) ret hook_record_##name params                        \
	{                                                                                     \
		struct call this_call;                                                        \
		struct ring_mark this_mark; /* apart: its address is kept */                  \
		const __typeof__(&name) this_real =                                           \
			(__typeof__(&name))(IS_FREQUENT(HOOK_##name)                          \
						    ? begin_call(&this_call, &this_mark,      \
							      HOOK_##name, RECORDED_CALLER,   \
							      RING_STACK)                     \
						    : begin_rare_call(&this_call, &this_mark, \
							      HOOK_##name, RECORDED_CALLER,   \
							      RING_STACK));                   \
		ret r = this_real args;                                                       \
                                                                                              \
		if (this_call.self) {                                                         \
			this_call.end = clock_raw();                                          \
			this_call.result = (int32_t)r;                                        \
			ring_call_end(&this_call.self->cuda, this_call.end);                  \
			facts;                                                                \
		}                                                                             \
		if (IS_FREQUENT(HOOK_##name)) {                                               \
			end_call(&this_call, &this_mark);                                     \
		} else {                                                                      \
			end_rare_call(&this_call, &this_mark);                                \
		}                                                                             \
		return r;                                                                     \
	}

#define HOOK(api, need, ret, name, params, args, facts)                                     \
	RECORD(ret, name, params, args, facts)                                              \
	ret name params                                                                     \
	{                                                                                   \
		const struct hook_route *this_route = hook_route(HOOK_##name, HOOK_CALLER); \
                                                                                            \
		if (__builtin_expect(!hook_mode() && this_route, 1)) {                      \
			return ((__typeof__(&name))this_route->function)args;               \
		}                                                                           \
		TAIL_CALL return hook_record_##name args;                                   \
	}

/*
 * Two readings of the clock and a row would take longer than such a call. Where it fails, it has a
 * row after all, without a duration.
 */
static __attribute__((noinline)) void record_failure(enum hook_id id, int32_t result)
{
	struct call this_call = {
		.self = &ring_tls, .begin = clock_raw(), .result = result, .id = (uint16_t)id};

	this_call.self->correlation = 0;
	this_call.end = this_call.begin;
	PLAIN;
}

/* The thread, if the call is only counted; NULL if it must be recorded, or belongs to another. */
static inline struct ring_thread *find_counting(enum hook_counted counted)
{
	/* Read once: a signal handler that forks leaves its child no thread. */
	struct ring_thread *thread = __atomic_load_n(&ring_tls.thread, __ATOMIC_RELAXED);

	return hook_mode() == COLLECTOR_RECORD && thread && !ring_tls.frame &&
			       thread->counts[counted]
		       ? thread
		       : NULL;
}

/*
 * Adds with one instruction, so that a signal handler of the thread cannot count in between. The
 * drain may read the count at any time.
 */
static inline void add_one(uint64_t *count)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	__asm__("incq %0" : "+m"(*count) : : "cc");
#else
	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
#endif
}

/* For a report of a hang. */
static inline void begin_counted(struct ring_thread *thread, enum hook_counted counted)
{
	atomic_store_explicit(&thread->counting, (uint8_t)(counted + 1), memory_order_relaxed);
}

static inline int32_t end_counted(
	struct ring_thread *thread, enum hook_counted counted, enum hook_id id, int32_t result)
{
	atomic_store_explicit(&thread->counting, 0, memory_order_relaxed);
	if (__builtin_expect(result != 0, 0)) {
		record_failure(id, result);
	} else {
		add_one(&thread->counts[counted]);
	}
	return result;
}

#define COUNTED(ret, name, args)                          \
	(begin_counted(this_thread, HOOK_COUNTED_##name), \
		(ret)end_counted(                         \
			this_thread, HOOK_COUNTED_##name, HOOK_##name, (int32_t)this_real args))

/* The count comes first: the route of a module that was not the first to call is found slowly. */
#define HOOK_COUNTED(api, need, ret, name, params, args)                                         \
	RECORD(ret, name, params, args, PLAIN; ring_count_first(&ring_tls, HOOK_COUNTED_##name)) \
	static __attribute__((noinline)) ret hook_seek_##name params                             \
	{                                                                                        \
		const __typeof__(&name) this_real =                                              \
			(__typeof__(&name))hook_real(HOOK_##name, RECORDED_CALLER);              \
		struct ring_thread *this_thread = find_counting(HOOK_COUNTED_##name);            \
                                                                                                 \
		if (this_thread) {                                                               \
			return COUNTED(ret, name, args);                                         \
		}                                                                                \
		TAIL_CALL return hook_record_##name args;                                        \
	}                                                                                        \
	ret name params                                                                          \
	{                                                                                        \
		const struct hook_route *this_route = hook_route(HOOK_##name, HOOK_CALLER);      \
		struct ring_thread *this_thread = find_counting(HOOK_COUNTED_##name);            \
                                                                                                 \
		if (__builtin_expect(this_route && (this_thread || !hook_mode()), 1)) {          \
			const __typeof__(&name) this_real =                                      \
				(__typeof__(&name))this_route->function;                         \
                                                                                                 \
			return this_thread ? COUNTED(ret, name, args) : this_real args;          \
		}                                                                                \
		TAIL_CALL return hook_seek_##name args;                                          \
	}
#include "preload/hook/hooks.def"
