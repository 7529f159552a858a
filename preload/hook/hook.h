/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How to hook a function: add one line to hooks.def. Everything else follows: its id and name, its
 * wrapper, its entry in the version script, its stand-in in the simulator; test_hooks checks that
 * they agree. A HOOK_MANUAL line needs a wrapper written by hand (hooks_*.c).
 *
 * A wrapper costs one load and one branch while nothing is recorded. While recording, it reads the
 * clock before and after the real call and writes one row into its thread's ring. It never changes
 * arguments, result, errno or the order of calls, and calls nothing else of CUDA.
 */
#ifndef PRELOAD_HOOK_HOOK_H
#define PRELOAD_HOOK_HOOK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/collector.h"
#include "collector/cupti/cupti_share.h"
#include "preload/abi/cuda_abi.h"
#include "preload/abi/nccl_abi.h"

#define HOOK_EXPORT __attribute__((visibility("default")))

enum hook_id {
	HOOK_NONE = 0,
#define HOOK(api, need, ret, name, params, args, facts) HOOK_##name,
#define HOOK_MANUAL(api, need, ret, name, params, args) HOOK_##name,
#include "preload/hook/hooks.def"
	HOOK_NR_CALLS, /* the recorder knows the ids before; later ones leave no rows */
	HOOK_BEFORE_CUPTI = HOOK_NR_CALLS - 1,
#define CUPTI_HOOK(name, params)	     HOOK_##name,
#define NCCL_HOOK(name, params, args, facts) HOOK_##name,
#define CXX(symbol)			     HOOK_##symbol,
#include "preload/hook/hooks.def"
	HOOK_NR,
};

/* The indexes of counted functions in ring_thread.counts; hooks.def says which. */
enum hook_counted {
#define HOOK_COUNTED(api, need, ret, name, params, args) HOOK_COUNTED_##name,
#include "preload/hook/hooks.def"
	HOOK_NR_COUNTED,
};
_Static_assert((int)HOOK_NR_COUNTED <= (int)RING_NR_COUNTS, "more counted functions than places");

/* For finding real functions; in addition to enum gprof_api, and never in a stream. */
#define HOOK_API_CUPTI 0xff
#define HOOK_API_CXX   0xfe

/* Functions of the C library, of which every caller reaches the same; see next.c. */
enum hook_next_id {
#define NEXT_RT(name)
#define NEXT_DRV(name)
#define NEXT_THR(name)					HOOK_NEXT_##name,
#define HOOK_MANUAL(api, need, ret, name, params, args) NEXT_##api(name)
#define END(ret, name, params)				HOOK_NEXT_##name,
#define LOADER(ret, name, params)			HOOK_NEXT_##name,
#define READS(ret, name, params)			HOOK_NEXT_##name,
#include "preload/hook/hooks.def"
	HOOK_NEXT_NR,
};

/* Prototypes under the API's own names. */
#define HOOK(api, need, ret, name, params, args, facts) HOOK_EXPORT ret name params;
#define HOOK_MANUAL(api, need, ret, name, params, args) HOOK_EXPORT ret name params;
#define CUPTI_HOOK(name, params)			HOOK_EXPORT uint32_t name params;
#define NCCL_HOOK(name, params, args, facts)		HOOK_EXPORT int name params;
#include "preload/hook/hooks.def"

/*
 * Says where calls from the module at [low, low + span) go. Once it is visible, `span` never
 * changes, `next` leads to the routes of other modules, and the others change only when the module
 * is gone, the function first.
 */
struct hook_route {
	_Atomic uintptr_t low;
	uintptr_t span;
	void *_Atomic function;
	struct hook_route *_Atomic next;
	/* Only route.c uses the fields below. */
	struct hook_route *next_dropped;
	atomic_bool is_shown; /* not dropped */
	uint16_t id;
};

static inline __attribute__((always_inline)) bool hook_leads(
	const struct hook_route *route, uintptr_t caller)
{
	return caller - atomic_load_explicit(&route->low, memory_order_acquire) < route->span;
}

/* Hidden at the declaration too: reached relative to the code, not through a table. */
extern struct hook_route *_Atomic hook_routes[HOOK_NR] __attribute__((visibility("hidden")));

/* The modules that routes lead to. */
struct hook_range {
	_Atomic uintptr_t low, span; /* low 0: none */
	atomic_bool is_nccl;
	struct hook_range *_Atomic next;
};
extern struct hook_range *_Atomic hook_targets __attribute__((visibility("hidden")));

/*
 * The Python stack of the calling thread, as an id of the stream; 0 if there is none, or none is
 * due. NULL where no such stacks are wanted. It keeps errno.
 */
extern uint32_t (*_Atomic hook_python_stack)(void) __attribute__((visibility("hidden")));

/* Names and APIs by id - 1, for the recorder. */
extern const char *const hook_names;
extern const struct calls_hook hook_calls[HOOK_NR - 1];

static inline const char *hook_name(enum hook_id id)
{
	return hook_names + hook_calls[id - 1].name_at;
}

/* Is that an address in NCCL? False also in one that no route leads to. */
bool hook_is_nccl(uintptr_t address);

/*
 * Finds the real function for a caller, and remembers it for the caller's module. If there is none,
 * returns a function that returns the API's own error (500 for CUDA, 2 for NCCL); NULL for C++,
 * which has no such error. Calls the loader, under its lock, only if several modules define the
 * function.
 */
void *hook_resolve(enum hook_id id, uintptr_t caller);

/*
 * Something other than our dlclose may have removed modules: drops their routes before other
 * modules take their addresses.
 */
void hook_forget_removed(void);

/*
 * Before a dlopen with RTLD_GLOBAL: finds, and remembers, what the modules were bound to that are
 * there. Afterwards a library that was there before them may come first in the global scope.
 */
void hook_before_global(void);

/*
 * Around each dlclose: in between, no call follows or stores a remembered route, so a destructor's
 * first call leaves none behind. is_closed: the call has succeeded.
 */
void hook_begin_close(void);
void hook_end_close(bool is_closed);

/* In a forked child, which has only one thread. */
void hook_after_fork(void);

/* For the constructor: finds the functions of the C library. */
void hook_find_nexts(void);

/* The number of modules that there were then, which stay as long as the process. */
extern uint32_t hook_nr_at_start __attribute__((visibility("hidden")));

extern void *_Atomic hook_nexts[HOOK_NEXT_NR] __attribute__((visibility("hidden")));

/* The slow half of hook_next. */
void *hook_find_next(enum hook_next_id id);

/* The C library's function, or that of an interposer loaded after us; NULL if there is none. */
static inline void *hook_next(enum hook_next_id id)
{
	void *function = atomic_load_explicit(&hook_nexts[id], memory_order_relaxed);

	return __builtin_expect(function != NULL, 1) ? function : hook_find_next(id);
}

/* The same in the version that the caller requests, if versions differ in behaviour. */
void *hook_next_for(enum hook_next_id id, uintptr_t caller);

#define HOOK_NEXT(name) ((__typeof__(&name))hook_next(HOOK_NEXT_##name))

/* The route for this caller, NULL if it has not been found yet, or is not the first. */
static inline __attribute__((always_inline)) const struct hook_route *hook_route(
	enum hook_id id, uintptr_t caller)
{
	const struct hook_route *route =
		atomic_load_explicit(&hook_routes[id], memory_order_acquire);

	return route && hook_leads(route, caller) ? route : NULL;
}

static inline __attribute__((always_inline)) void *hook_real(enum hook_id id, uintptr_t caller)
{
	const struct hook_route *route = hook_route(id, caller);

	return __builtin_expect(route != NULL, 1)
		       ? atomic_load_explicit(&route->function, memory_order_acquire)
		       : hook_resolve(id, caller);
}

#define HOOK_CALLER	((uintptr_t)__builtin_return_address(0))
#define HOOK_REAL(name) ((__typeof__(&name))hook_real(HOOK_##name, HOOK_CALLER))

static inline uint32_t hook_mode(void)
{
	return atomic_load_explicit(&collector_mode, memory_order_relaxed);
}

/* Starts the recorder; the first hooked call of the process, or another sign of CUDA or the like.
 */
void recorder_ensure_started(void);

/*
 * The same for an event, which counts as lost if it comes too early. caller: the return address of
 * the called function; 0 for an event that gprof's own code cannot cause. Returns the mode
 * afterwards.
 */
uint32_t recorder_ensure_started_counting_loss(uintptr_t caller);

/* Is that an address in a library of CUDA? Calls from there are part of the program's call. */
bool hook_is_cuda(uintptr_t address);

/*
 * The slow half of hook_enter, for a thread that is in a hook or in gprof itself. Returns true if
 * this call is the program's own, made by a signal handler or a callback, or if the thread has left
 * the code it was in; false if the call is part of that code.
 */
bool hook_enter_again(
	struct ring_tls *self, struct ring_mark *mark, uintptr_t stack, uintptr_t caller);

/*
 * Should this call be recorded? If so, marks it as the thread's outermost call, in whose frame a
 * CUPTI callback stores the correlation ID; hook_leave must follow, once its row is written. The
 * mark is on the stack of the wrapper, whose RING_STACK is `stack`.
 */
static inline __attribute__((always_inline)) bool hook_enter(struct ring_tls *self,
	struct ring_mark *mark, uint32_t mode, uintptr_t caller, uintptr_t stack)
{
	if (__builtin_expect(mode & COLLECTOR_COLD, 0)) {
		mode = recorder_ensure_started_counting_loss(caller);
	}
	mark->before = 0;
	if (!(mode & COLLECTOR_RECORD) || (__builtin_expect(self->frame != 0, 0) &&
						  !hook_enter_again(self, mark, stack, caller))) {
		return false;
	}
	self->frame = (uintptr_t)mark;
	atomic_signal_fence(memory_order_seq_cst);
	self->correlation = 0;
	return true;
}

static inline __attribute__((always_inline)) void hook_leave(
	struct ring_tls *self, const struct ring_mark *mark)
{
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(self->frame != (uintptr_t)mark, 0)) {
		ring_came_back();
		return;
	}
	if (__builtin_expect(mark->before != 0, 0)) {
		self->correlation = mark->correlation;
		self->cuda = mark->cuda;
		atomic_signal_fence(memory_order_seq_cst);
	}
	self->frame = mark->before;
}

#endif
