/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How to hook a function: add one line to hooks.def. Everything else follows: its id and name, its
 * wrapper, its place in the version script, its stand-in in the simulator; test_hooks proves that
 * they agree. A CUSTOM line wants its wrapper written by hand (wrap_*.c).
 *
 * A wrapper costs one load and one branch while nothing is recorded. While something is, it reads
 * the clock twice around the real call and writes one row into its thread's ring. It never changes
 * arguments, result, errno or the order of calls, and calls nothing else of CUDA.
 */
#ifndef PRELOAD_HOOK_H
#define PRELOAD_HOOK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/collector.h"
#include "collector/share.h"
#include "preload/cuda_abi.h"
#include "preload/nccl_abi.h"

#define HOOK_EXPORT __attribute__((visibility("default")))

enum hook_id {
	HOOK_NONE = 0,
#define HOOK(api, need, ret, name, params, args, facts) HOOK_##name,
#define CUSTOM(api, need, ret, name, params, args)	HOOK_##name,
#include "preload/hooks.def"
	HOOK_NR_CALLS, /* the recorder knows those before; what follows leaves no rows */
	HOOK_BEFORE_CUPTI = HOOK_NR_CALLS - 1,
#define HOOK(api, need, ret, name, params, args, facts)
#define CUSTOM(api, need, ret, name, params, args)
#define CUPTI_HOOK(name, params)	     HOOK_##name,
#define NCCL_HOOK(name, params, args, facts) HOOK_##name,
#include "preload/hooks.def"
	HOOK_NR,
};

/* For finding the real functions of CUPTI; beside enum gprof_api, and never in a stream. */
#define HOOK_API_CUPTI 0xff

/* Prototypes under the API's own names. */
#define HOOK(api, need, ret, name, params, args, facts) HOOK_EXPORT ret name params;
#define CUSTOM(api, need, ret, name, params, args)	HOOK_EXPORT ret name params;
#define CUPTI_HOOK(name, params)			HOOK_EXPORT uint32_t name params;
#define NCCL_HOOK(name, params, args, facts)		HOOK_EXPORT int name params;
#include "preload/hooks.def"

/*
 * Where calls from [low, low + span) go. Never changed once it is visible; all of them for one hook
 * hang together by `next`.
 */
struct hook_route {
	uintptr_t low;
	uintptr_t span;
	void *function;
	const struct hook_route *next;
};

/* Hidden where it is declared too: reached relative to the code, not through a table. */
extern const struct hook_route *_Atomic hook_routes[HOOK_NR] __attribute__((visibility("hidden")));

/* Names and APIs by id - 1, for the recorder. */
extern const char *const hook_names;
extern const struct collector_call hook_calls[HOOK_NR - 1];

static inline const char *hook_name(enum hook_id id)
{
	return hook_names + hook_calls[id - 1].name_at;
}

/*
 * Finds the real function for a caller and remembers it. Where there is none, the function returned
 * gives back the API's own error (500 for CUDA, EAGAIN for threads, 2 for NCCL). Never NULL.
 */
void *hook_resolve(enum hook_id id, uintptr_t caller);

/* The C library's function, or that of an interposer behind us; NULL if there is none. */
void *hook_find_next(const char *name);

/*
 * Finds pthread's functions and their like, for the constructor: later the loader's lock may be
 * held by a thread that waits for ours, or by one that a forked child does not have.
 */
void hook_resolve_threads(void);

/* A module that calls CUDA was loaded: looks whether there are several CUDA runtimes now. */
void hook_modules_changed(void);

/* The route for this caller, NULL if it has not been found yet. */
static inline __attribute__((always_inline)) const struct hook_route *hook_route(
	enum hook_id id, uintptr_t caller)
{
	const struct hook_route *route =
		atomic_load_explicit(&hook_routes[id], memory_order_acquire);

	return route && caller - route->low < route->span ? route : NULL;
}

static inline __attribute__((always_inline)) void *hook_real(enum hook_id id, uintptr_t caller)
{
	const struct hook_route *route = hook_route(id, caller);

	return __builtin_expect(route != NULL, 1) ? route->function : hook_resolve(id, caller);
}

#define HOOK_CALLER	((uintptr_t)__builtin_return_address(0))
#define HOOK_REAL(name) ((__typeof__(&name))hook_real(HOOK_##name, HOOK_CALLER))

static inline uint32_t hook_mode(void)
{
	return atomic_load_explicit(&collector_mode, memory_order_relaxed);
}

/* Starts the recorder; the first hooked call of the process, or another sign of CUDA or the like.
 */
void hook_start(void);

/* The same for an event, which is counted as lost if it comes too early. Returns the mode then. */
uint32_t hook_start_slow(void);

/*
 * Should this call be recorded? If so, marks it as the thread's outermost call, in whose frame a
 * CUPTI callback leaves the correlation id; hook_leave must follow.
 */
static inline __attribute__((always_inline)) bool hook_enter(struct ring_self *self, uint32_t mode)
{
	if (__builtin_expect(mode & COLLECTOR_COLD, 0)) {
		mode = hook_start_slow();
	}
	if (!(mode & COLLECTOR_RECORD) || self->depth) {
		return false;
	}
	self->depth = 1;
	self->correlation = 0;
	return true;
}

static inline void hook_leave(struct ring_self *self)
{
	self->depth = 0;
}

#endif
