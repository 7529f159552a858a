/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the function that a caller would have reached without us. It depends on the caller's
 * module: a Python extension's CUDA runtime is often RTLD_LOCAL, and one process may hold several
 * runtimes, or several copies of NCCL. choice.c finds the function, route.c remembers it, and
 * link.c keeps its module loaded.
 */
#include <string.h>

#include "collector/util/notice.h"
#include "collector/util/target.h"
#include "preload/hook/choice.h"
#include "preload/hook/link.h"
#include "preload/hook/route.h"

/*
 * The function that code outside of all modules reaches from those addresses, as long as the list
 * is the same.
 */
struct outside {
	struct modules_count count;
	uintptr_t low, high;
	void *function; /* NULL: not known */
};

/* For the thread that changes it while it visits the modules. */
static struct resolve_state {
	struct outside outsides[HOOK_NR];
	uint32_t nr_closing;	    /* calls of dlclose that are going on */
	uint32_t nr_first;	    /* modules that came with the program */
	struct modules_count count; /* of the last visit */
	/* When hook_before_global came last: modules removed until then, and modules. */
	uint64_t nr_removed_bound;
	uint32_t nr_bound;
	atomic_uint told_full_in; /* for the notice that there is no memory to remember more */
} state;

/* ---- functions that answer for missing ones ---- */

static int missing_cuda(void)
{
	return CUDA_CODE_NOT_FOUND;
}

static int missing_cupti(void)
{
	return CUPTI_NOT_SUPPORTED;
}

static int missing_nccl(void)
{
	return NCCL_SYSTEM_ERROR;
}

/* Not remembered: the library may still be loaded. */
static void *missing(uint8_t api)
{
	return api == HOOK_API_CXX     ? NULL
	       : api == HOOK_API_CUPTI ? (void *)missing_cupti
	       : api == GPROF_API_NCCL ? (void *)missing_nccl
				       : (void *)missing_cuda;
}

/* ---- the search ---- */

struct search {
	enum hook_id id;
	struct choice choice;
	bool is_forgotten; /* there was no memory to remember the result */
};

/*
 * If the loader has removed something since the last visit, routes from or to it are wrong. If
 * nothing was added since then, a module at an unchanged address is the same one.
 */
static void forget_removed(const struct modules *modules)
{
	if (!state.nr_first) {
		state.nr_first = modules_count_first(modules, hook_nr_at_start);
	}
	if (modules->count.nr_removed != state.count.nr_removed) {
		route_drop(modules, modules->count.nr_added == state.count.nr_added);
		link_drop(modules);
		if (!state.nr_closing) {
			route_show();
		}
	}
	state.count = modules->count;
}

static bool came_with_the_program(const struct modules *modules, const struct module *module)
{
	return (uint32_t)(module - modules->all) < state.nr_first;
}

static void remember(const struct modules *modules, struct search *search,
	const struct module *caller, const struct module *target)
{
	bool is_lasting =
		came_with_the_program(modules, caller) && came_with_the_program(modules, target);
	const struct choice *choice = &search->choice;

	if (!route_known(search->id, choice->caller) && (is_lasting || !state.nr_closing)) {
		search->is_forgotten = !((is_lasting || link_keeps(modules, state.nr_first,
								choice->name, caller, target)) &&
					 route_add(modules, search->id, caller, target,
						 choice->function, is_lasting));
	}
}

static void remember_outside(const struct modules *modules, const struct search *search)
{
	struct outside outside = {modules->count, 0, UINTPTR_MAX, search->choice.function};

	for (uint32_t i = 0; i < modules->nr; i++) {
		const struct module *module = &modules->all[i];

		if (module->high <= search->choice.caller && module->high > outside.low) {
			outside.low = module->high;
		}
		if (module->low > search->choice.caller && module->low < outside.high) {
			outside.high = module->low;
		}
	}
	state.outsides[search->id] = outside;
}

/*
 * Without the list: also what is hidden is true until something is removed. So a thread that a
 * destructor waits for does not ask the loader, which runs the destructor under its lock.
 */
static void recall(const struct modules_count *count, void *context)
{
	struct search *search = context;
	const struct outside *outside = &state.outsides[search->id];
	const struct hook_route *route;

	if (count->nr_removed != state.count.nr_removed) {
		return;
	}
	route = route_known(search->id, search->choice.caller);
	if (route) {
		search->choice.function = atomic_load(&route->function);
	} else if (count->nr_added == outside->count.nr_added &&
		   count->nr_removed == outside->count.nr_removed &&
		   search->choice.caller >= outside->low && search->choice.caller < outside->high) {
		search->choice.function = outside->function;
	}
}

static void look(const struct modules *modules, void *context)
{
	struct search *search = context;
	const struct module *caller = modules_of(modules, search->choice.caller);
	const struct module *target;

	forget_removed(modules);
	search->choice.function = NULL;
	recall(&modules->count, search);
	if (search->choice.function) {
		return;
	}
	target = choice_find(modules, &search->choice, caller);
	if (!target) {
		search->choice.function = NULL;
	} else if (caller) {
		remember(modules, search, caller, target);
	} else {
		remember_outside(modules, search);
	}
}

/*
 * `look` must not call the loader. Where a choice needs the loader's answer, the search stops, asks
 * the loader, and starts again with that answer.
 */
static void search_modules(struct search *search)
{
	struct choice *choice = &search->choice;

	modules_hold(recall, search);
	if (choice->function) {
		return;
	}
	if (!modules_look(look, search)) {
		choice_ask_loader(choice);
		search->is_forgotten = true;
		return;
	}
	if (choice->needs_global) {
		choice_ask_global(choice);
		if (!modules_look(look, search)) {
			choice_ask_loader(choice);
		}
	}
	if (!choice->function && choice_ask_indirect(choice)) {
		modules_look(look, search);
	}
}

static void report_forgotten(void)
{
	if (notice_is_first(&state.told_full_in)) {
		notice_add("calls", 0,
			"no memory to remember which library the calls of a module reach; each of "
			"them takes longer (raise RLIMIT_AS or vm.max_map_count)");
	}
}

static void *resolve(enum hook_id id, uintptr_t caller)
{
	struct search search = {.id = id, .choice = {.name = hook_name(id), .caller = caller}};
	struct ring_mark mark;
	TARGET_KEEP_ERRNO;

	ring_enter_profiler(&ring_tls, &mark);
	search_modules(&search);
	if (search.is_forgotten) {
		report_forgotten();
	}
	ring_leave_profiler(&ring_tls, &mark);
	return search.choice.function ? search.choice.function : missing(hook_calls[id - 1].api);
}

void *hook_resolve(enum hook_id id, uintptr_t caller)
{
	const struct hook_route *route = route_shown(id, caller);

	return route ? atomic_load(&route->function) : resolve(id, caller);
}

static void look_for_removed(const struct modules *modules, void *unused)
{
	(void)unused;
	forget_removed(modules);
}

static void look_for_change(const struct modules_count *count, void *has_changed)
{
	*(bool *)has_changed = count->nr_removed != state.count.nr_removed;
}

void hook_forget_removed(void)
{
	bool has_changed = false;

	if (!route_is_any()) {
		return;
	}
	modules_hold(look_for_change, &has_changed);
	if (has_changed) {
		modules_look(look_for_removed, NULL);
	}
}

/* ---- before more becomes global ---- */

/* A module that is bound to one of our functions, which several others define. */
struct binding {
	uint32_t module; /* where to go on */
	uint64_t place;
	uint64_t nr_removed; /* when these were right */
	enum hook_id id;     /* HOOK_NONE: there are no more */
	uintptr_t caller;
	bool has_begun;
};

static enum hook_id id_of(const char *name)
{
	unsigned int id = HOOK_NR - 1;

	while (id != HOOK_NONE && strcmp(hook_name(id), name)) {
		id--;
	}
	return id;
}

/* Those of one module, from the place on. */
static bool find_in_module(
	const struct modules *modules, const struct module *module, struct binding *binding)
{
	const uintptr_t low = modules->ours->low, span = modules->ours->high - low;
	const char *name;

	while (module != modules->ours && module->has_symbols &&
		(name = elf_next_bound(&module->elf, low, span, &binding->place))) {
		enum hook_id id = id_of(name);

		if (id && !route_known(id, module->low) && choice_is_ambiguous(modules, name)) {
			binding->id = id;
			binding->caller = module->low;
			return true;
		}
	}
	binding->place = 0;
	return false;
}

/* Modules of the last visit are bound since then, if all of them are still there. */
static void find_binding(const struct modules *modules, void *context)
{
	struct binding *binding = context;

	forget_removed(modules);
	binding->id = HOOK_NONE;
	if (!binding->has_begun) {
		binding->has_begun = true;
		binding->nr_removed = modules->count.nr_removed;
		binding->module =
			binding->nr_removed == state.nr_removed_bound ? state.nr_bound : 0;
	}
	if (modules->count.nr_removed != binding->nr_removed || !modules->ours) {
		return;
	}
	for (; binding->module < modules->nr; binding->module++) {
		if (find_in_module(modules, &modules->all[binding->module], binding)) {
			return;
		}
	}
	state.nr_removed_bound = binding->nr_removed;
	state.nr_bound = modules->nr;
}

void hook_before_global(void)
{
	struct binding binding = {.id = HOOK_NONE};

	while (modules_look(find_binding, &binding) && binding.id != HOOK_NONE) {
		hook_resolve(binding.id, binding.caller);
	}
}

/* ---- dlclose ---- */

/* If another thread has removed a module since, the next look puts right what is shown. */
static void end_close(const struct modules_count *count, void *unused)
{
	(void)unused;
	state.nr_closing -= state.nr_closing != 0; /* a forked child has begun anew */
	if (!state.nr_closing && count->nr_removed == state.count.nr_removed) {
		route_show();
	}
}

/* Takes one of the handles that nobody needs any more. */
static void take_handle(const struct modules *modules, void *handle)
{
	forget_removed(modules);
	*(void **)handle = link_take_handle();
}

/*
 * As long as nothing was removed, the known routes are right, whatever was added. Only modules
 * added while this call removes something make a visit unsure.
 */
static void begin_close(const struct modules_count *count, void *has_wish)
{
	if (count->nr_removed == state.count.nr_removed) {
		state.count.nr_added = count->nr_added;
	}
	if (!state.nr_closing++) {
		route_hide();
	}
	*(bool *)has_wish = link_wants_handle();
}

void hook_begin_close(void)
{
	bool has_wish = false;
	TARGET_KEEP_ERRNO;

	modules_hold(begin_close, &has_wish);
	if (has_wish) {
		link_take_handles();
	}
}

void hook_end_close(bool is_closed)
{
	bool has_changed = false;
	TARGET_KEEP_ERRNO;
	void *handle;

	modules_hold(look_for_change, &has_changed);
	/* Not where the program's call has failed: it may ask dlerror why. */
	for (handle = NULL;
		has_changed && is_closed && modules_look(take_handle, &handle) && handle;
		handle = NULL) {
		HOOK_NEXT(dlclose)(handle);
	}
	modules_hold(end_close, NULL);
}

void hook_after_fork(void)
{
	state.nr_closing = 0;
	route_show();
}
