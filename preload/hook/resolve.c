/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the function that a caller would have reached without us. It depends on the caller's
 * module: the loader searches the global scope first, then the scope that the module was loaded
 * with, for the version that the module requests. A Python extension's CUDA runtime is often
 * RTLD_LOCAL, and one process may hold several runtimes, or several copies of NCCL.
 *
 * So a route is remembered for the calls of one module to one function, as the loader binds them,
 * for as long as both are mapped. All changes of the routes happen while the loader's list of
 * modules cannot change (modules.h); reading them takes no lock.
 */
#include "preload/hook/hook.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <string.h>

#include "collector/util/memory.h"
#include "collector/util/notice.h"
#include "preload/base/modules.h"

#define FIRST_BYTES (64u << 10)
#define MORE_BYTES  (256u << 10)
#define NR_KNOWN    4096u /* a power of two */

/* A module, as far as it can be distinguished from one opened again in its place. */
struct identity {
	uintptr_t low, span;
	uint64_t path_hash;
};

/* How long a module that calls may count on the one that it calls. */
struct link {
	struct identity caller, target; /* caller.low 0: free */
	void *handle;			/* ours, which keeps the target; NULL: none, or not yet */
	const void *dynamic;		/* of the target, which has no handle yet */
	bool is_over;			/* the caller is gone, the handle is to be given back */
	struct link *next;
};

/* What code of no module reaches from those addresses, as long as the list is that one. */
struct outside {
	struct modules_count count;
	uintptr_t low, high;
	void *function; /* NULL: not known */
};

/* For the thread that changes it while it visits the modules. */
static struct resolve_state {
	/*
	 * The routes of each hook, also while hook_routes hides them. Last are those between
	 * modules that came with the program, of which neither ever goes.
	 */
	struct hook_route *_Atomic chains[HOOK_NR];
	struct hook_route *lasting[HOOK_NR];
	struct hook_route *dropped[HOOK_NR]; /* readers may still be looking at them */
	atomic_bool is_hidden;		     /* all but the lasting ones */
	/* Found last, by hook and return address: a chain is long where many modules call. */
	const struct hook_route *_Atomic known[NR_KNOWN];
	struct outside outsides[HOOK_NR];
	atomic_bool has_routes;
	uint32_t nr_closing;	    /* calls of dlclose that are going on */
	uint32_t nr_first;	    /* modules that came with the program */
	struct modules_count count; /* of the last visit */
	/* When hook_before_global came last: modules removed until then, and modules. */
	uint64_t nr_removed_bound;
	uint32_t nr_bound;
	struct link *links;
	/* Routes, links and targets, which are never freed: what is there, and the rest of it. */
	char first[FIRST_BYTES] __attribute__((aligned(16)));
	char *memory;
	size_t nr_left;
	atomic_bool is_full; /* there was no more, which was said */
} state;

struct hook_range *_Atomic hook_targets;

/* NULL if there is none. What lasts no longer is used again, so their number has a bound. */
static void *take_memory(size_t nr_bytes)
{
	void *taken;

	if (!state.memory) {
		state.memory = state.first;
		state.nr_left = FIRST_BYTES;
	} else if (state.nr_left < nr_bytes) {
		char *more = memory_map(MORE_BYTES);

		state.memory = more ? more : state.memory;
		state.nr_left = more ? MORE_BYTES : state.nr_left;
	}
	if (state.nr_left < nr_bytes) {
		return NULL;
	}
	taken = state.memory;
	state.memory += nr_bytes;
	state.nr_left -= nr_bytes;
	return taken;
}

/* ---- what is there in place of a function that is nowhere ---- */

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

/* ---- routes ---- */

static const struct hook_route *find_route(struct hook_route *_Atomic *first, uintptr_t caller)
{
	const struct hook_route *route = atomic_load(first);

	while (route && !hook_leads(route, caller)) {
		route = atomic_load(&route->next);
	}
	return route;
}

/* While a module may be going, calls from or to it find no route, and look where their function is.
 */
static void hide_routes(void)
{
	atomic_store(&state.is_hidden, true);
	for (unsigned int id = 1; id < HOOK_NR; id++) {
		atomic_store(&hook_routes[id], state.lasting[id]);
	}
}

static void show_routes(void)
{
	for (unsigned int id = 1; id < HOOK_NR; id++) {
		atomic_store(&hook_routes[id], atomic_load(&state.chains[id]));
	}
	atomic_store(&state.is_hidden, false);
}

static void add_target(const struct module *target, bool is_nccl)
{
	struct hook_range *free_one = NULL, *range = atomic_load(&hook_targets);

	for (; range && atomic_load(&range->low) != target->low;
		range = atomic_load(&range->next)) {
		free_one = atomic_load(&range->low) ? free_one : range;
	}
	if (range) {
		return;
	}
	range = free_one ? free_one : take_memory(sizeof(*range));
	if (!range) {
		return; /* calls that this library makes count as the program's */
	}
	atomic_store(&range->is_nccl, is_nccl);
	atomic_store(&range->span, target->high - target->low);
	atomic_store(&range->low, target->low);
	if (!free_one) {
		atomic_store(&range->next, atomic_load(&hook_targets));
		atomic_store(&hook_targets, range);
	}
}

static bool is_covered(const struct modules *modules, uintptr_t low, uintptr_t span)
{
	for (uint32_t i = 0; i < modules->nr; i++) {
		if (modules->all[i].low < low + span && modules->all[i].high > low) {
			return true;
		}
	}
	return false;
}

static bool is_same(
	const struct hook_route *route, const struct module *caller, const void *function)
{
	return atomic_load(&route->low) == caller->low &&
	       route->span == caller->high - caller->low &&
	       atomic_load(&route->function) == function;
}

/*
 * One that was dropped, at which readers may still be looking. The best is one that says the same.
 * Else one of the same span, from where no module is any more: as readers come from modules that
 * are there, it holds for none of them until its start is the new one, which is written after the
 * function and read before it.
 */
static struct hook_route *take_dropped(const struct modules *modules, enum hook_id id,
	const struct module *caller, const void *function)
{
	struct hook_route **from = &state.dropped[id], *route;

	while ((route = *from) && !is_same(route, caller, function)) {
		from = &route->next_dropped;
	}
	if (!route) {
		from = &state.dropped[id];
		while ((route = *from) &&
			(route->span != caller->high - caller->low ||
				is_covered(modules, atomic_load(&route->low), route->span))) {
			from = &route->next_dropped;
		}
	}
	if (route) {
		*from = route->next_dropped;
	}
	return route;
}

/* NULL if there is no memory: the call is still right, only slow. */
static struct hook_route *make_route(
	const struct modules *modules, enum hook_id id, const struct module *caller, void *function)
{
	struct hook_route *route = take_dropped(modules, id, caller, function);

	if (!route) {
		route = take_memory(sizeof(*route));
		if (!route) {
			return NULL;
		}
		route->span = caller->high - caller->low;
		route->id = (uint16_t)id;
	}
	atomic_store(&route->function, function);
	atomic_store(&route->low, caller->low);
	atomic_store(&route->is_shown, true);
	return route;
}

static bool add_route(const struct modules *modules, enum hook_id id, const struct module *caller,
	const struct module *target, void *function, bool is_lasting)
{
	struct hook_route *_Atomic *from = &state.chains[id];
	struct hook_route *route = make_route(modules, id, caller, function);

	if (!route) {
		return false;
	}
	while (is_lasting && atomic_load(from) != state.lasting[id]) {
		from = &atomic_load(from)->next;
	}
	atomic_store(&route->next, atomic_load(from));
	atomic_store(from, route);
	if (is_lasting) {
		state.lasting[id] = route;
	}
	atomic_store(&hook_routes[id], state.nr_closing ? route : atomic_load(&state.chains[id]));
	atomic_store(&state.has_routes, true);
	if (hook_calls[id - 1].api != HOOK_API_CXX) {
		add_target(target, hook_calls[id - 1].api == GPROF_API_NCCL);
	}
	return true;
}

/* ---- modules that are gone ---- */

static bool is_there(const struct modules *modules, uintptr_t low, uintptr_t span)
{
	const struct module *module = modules_of(modules, low);

	return module && module->low == low && (!span || module->high - low == span);
}

/* As FNV-1a makes it. */
static uint64_t hash_of(const char *path)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *path; path++) {
		hash = (hash ^ (unsigned char)*path) * 0x100000001b3u;
	}
	return hash;
}

static struct identity identity_of(const struct module *module)
{
	return (struct identity){module->low, module->high - module->low, hash_of(module->path)};
}

static bool has_identity(const struct modules *modules, const struct identity *identity)
{
	const struct module *module = modules_of(modules, identity->low);
	struct identity now;

	if (!module) {
		return false;
	}
	now = identity_of(module);
	return now.low == identity->low && now.span == identity->span &&
	       now.path_hash == identity->path_hash;
}

static void drop_route(enum hook_id id, struct hook_route *_Atomic *from)
{
	struct hook_route *route = atomic_load(from);

	atomic_store(&route->is_shown, false);
	atomic_store(from, atomic_load(&route->next));
	route->next_dropped = state.dropped[id];
	state.dropped[id] = route;
}

static void drop_routes(const struct modules *modules, bool is_sure, unsigned int id)
{
	struct hook_route *_Atomic *from = &state.chains[id];
	struct hook_route *route;

	while ((route = atomic_load(from)) != state.lasting[id]) {
		if (is_sure && is_there(modules, atomic_load(&route->low), route->span) &&
			modules_of(modules, (uintptr_t)atomic_load(&route->function))) {
			from = &route->next;
		} else {
			drop_route(id, from);
		}
	}
}

/*
 * Its handle is given back only if the caller is gone: a library that goes too early takes the
 * program with it, and one that stays too long for a caller that came again goes with that.
 */
static void end_link(const struct modules *modules, struct link *link)
{
	if (link->caller.low &&
		!(has_identity(modules, &link->caller) && has_identity(modules, &link->target))) {
		link->is_over = link->handle != NULL;
		link->caller.low = 0;
		link->dynamic = NULL;
	}
}

/*
 * If the loader has removed something since the last visit, routes from or to it are wrong. If
 * nothing was added since then, a module at an unchanged address is the same one.
 */
static void forget_removed(const struct modules *modules)
{
	bool is_sure = modules->count.nr_added == state.count.nr_added;

	if (!state.nr_first) {
		state.nr_first = modules_count_first(modules, hook_nr_at_start);
	}
	if (modules->count.nr_removed != state.count.nr_removed) {
		for (unsigned int id = 1; id < HOOK_NR; id++) {
			drop_routes(modules, is_sure, id);
		}
		for (struct hook_range *range = atomic_load(&hook_targets); range;
			range = atomic_load(&range->next)) {
			if (!is_there(
				    modules, atomic_load(&range->low), atomic_load(&range->span))) {
				atomic_store(&range->low, 0);
			}
		}
		for (struct link *link = state.links; link; link = link->next) {
			end_link(modules, link);
		}
		if (!state.nr_closing) {
			show_routes();
		}
	}
	state.count = modules->count;
}

/* ---- how long the target stays ---- */

/*
 * The loader keeps a module for as long as another one is bound to it. Those that are bound to us
 * in its place must not lose it either.
 */
struct search {
	enum hook_id id;
	const char *name;
	uintptr_t caller;
	/* What was found: */
	void *function;
	/* The first in the global scope behind us, if the loader had to be called: */
	bool needs_global, has_global;
	void *global, *global_exact; /* whatever its version; of the caller's version */
	const char *version;	     /* that the caller requests */
	void *indirect;		     /* the loader's, where all that define it are indirect */
	bool is_forgotten;	     /* there was no memory to remember it */
};

static bool is_module(const struct module *module, void *wanted)
{
	return module == wanted;
}

/* Is it there as long as the caller is, or is the caller bound to nothing? */
static bool stays(const struct modules *modules, const struct search *search,
	const struct module *caller, const struct module *target)
{
	const char *version;

	return (uint32_t)(target - modules->all) < state.nr_first ||
	       modules_visit(modules, caller, is_module, (void *)(uintptr_t)target) ||
	       !caller->has_symbols || !elf_refers(&caller->elf, search->name, &version);
}

static struct link *find_link(const struct module *caller, const struct module *target)
{
	struct link *link = state.links;

	while (link && !(link->caller.low == caller->low && link->target.low == target->low)) {
		link = link->next;
	}
	return link;
}

/* One that is free, or new; NULL if there is no memory. */
static struct link *take_link(void)
{
	struct link *link = state.links;

	while (link && (link->caller.low || link->is_over)) {
		link = link->next;
	}
	if (!link) {
		link = take_memory(sizeof(*link));
		if (link) {
			link->next = state.links;
			state.links = link;
		}
	}
	return link;
}

/*
 * May the route be remembered? If only the caller's use keeps the target loaded, the next dlclose
 * first takes a handle of it: nothing is unloaded before that, and here we must not wait for the
 * loader's lock.
 */
static bool is_kept(const struct modules *modules, const struct search *search,
	const struct module *caller, const struct module *target)
{
	struct link *link;

	if (modules_needs(modules, caller, target) || find_link(caller, target) ||
		stays(modules, search, caller, target)) {
		return true;
	}
	link = take_link();
	if (!link) {
		return false; /* still right, only slow */
	}
	*link = (struct link){.caller = identity_of(caller),
		.target = identity_of(target),
		.dynamic = target->elf.dynamic,
		.next = link->next};
	return true;
}

/* ---- the loader's choice ---- */

static bool has_function(const struct module *module, void *context)
{
	struct search *search = context;
	void *function = module_find(module, search->name, search->version);

	search->function = function ? function : search->function;
	return function != NULL;
}

/*
 * The module whose loading has loaded this one: the first earlier module that needs it. A module
 * that needs it and was loaded before it cannot come from another call.
 */
static const struct module *root_of(const struct modules *modules, const struct module *module)
{
	const struct module *root = module;

	for (const struct module *m = module; m-- > modules->all;) {
		if (modules_needs(modules, m, root) || modules_needs(modules, m, module)) {
			root = m;
		}
	}
	return root;
}

/* In what it was loaded with; then in what was loaded later and needs it. */
static const struct module *find_local(
	const struct modules *modules, struct search *search, const struct module *caller)
{
	const struct module *root = root_of(modules, caller);
	const struct module *found = modules_visit(modules, root, has_function, search);

	for (root = caller + 1; !found && root < modules->all + modules->nr; root++) {
		if (modules_visit(modules, root, is_module, (void *)(uintptr_t)caller)) {
			found = modules_visit(modules, root, has_function, search);
		}
	}
	return found;
}

static const struct module *find_first(const struct modules *modules, struct search *search)
{
	for (uint32_t i = 0; i < modules->nr; i++) {
		if (&modules->all[i] != modules->ours && has_function(&modules->all[i], search)) {
			return &modules->all[i];
		}
	}
	return NULL;
}

/*
 * The first in the global scope that the caller may be bound to. dlvsym ignores symbols without a
 * version, which match any version for the loader; dlsym takes those, but otherwise the default
 * version.
 */
static const struct module *find_in_global(
	const struct modules *modules, const struct search *search, void **function)
{
	const struct module *any = modules_of(modules, (uintptr_t)search->global);
	const struct module *exact = modules_of(modules, (uintptr_t)search->global_exact);
	bool fits = any && module_find(any, search->name, search->version);

	if (fits && (!exact || any < exact)) {
		*function = search->global;
		return any;
	}
	*function = search->global_exact;
	return exact;
}

/*
 * Several modules have it. The global scope comes first; but what was loaded after the caller was
 * not there when the caller was bound, unless it was bound to nothing else. Code of no module has
 * looked the function up itself.
 */
static const struct module *choose(
	const struct modules *modules, struct search *search, const struct module *caller)
{
	void *function;
	const struct module *global = find_in_global(modules, search, &function);
	bool is_later = global > caller && global >= modules->all + hook_nr_at_start;
	const struct module *local =
		caller && (!global || is_later) ? find_local(modules, search, caller) : NULL;

	if (local) {
		return local;
	}
	if (global) {
		search->function = function;
		return global;
	}
	return find_first(modules, search);
}

/* The one module that has it; NULL, with their number, if there are none or several. */
static const struct module *find_only(
	const struct modules *modules, struct search *search, uint32_t *nr)
{
	const struct module *found = NULL;

	*nr = 0;
	for (uint32_t i = 0; i < modules->nr; i++) {
		const struct module *module = &modules->all[i];

		if (module != modules->ours && has_function(module, search)) {
			found = (*nr)++ ? NULL : module;
		}
	}
	return found;
}

static const struct module *find(
	const struct modules *modules, struct search *search, const struct module *caller)
{
	const struct module *found;
	uint32_t nr;

	search->version = NULL;
	found = find_only(modules, search, &nr);
	if (found) {
		return found;
	}
	/* The version is slow to find, so only if it matters. */
	if (caller && caller->has_symbols) {
		elf_refers(&caller->elf, search->name, &search->version);
		found = search->version ? find_only(modules, search, &nr) : NULL;
	}
	if (!found && !nr && search->indirect) {
		search->function = search->indirect;
		return modules_of(modules, (uintptr_t)search->indirect);
	}
	if (found || !nr) {
		return found;
	}
	search->needs_global = !search->has_global;
	return search->has_global ? choose(modules, search, caller) : NULL;
}

/* Both came with the program? */
static bool is_lasting(
	const struct modules *modules, const struct module *caller, const struct module *target)
{
	return (uint32_t)(caller - modules->all) < state.nr_first &&
	       (uint32_t)(target - modules->all) < state.nr_first;
}

static void remember(const struct modules *modules, struct search *search,
	const struct module *caller, const struct module *target)
{
	bool lasts = is_lasting(modules, caller, target);

	if (!find_route(&state.chains[search->id], search->caller) &&
		(lasts || !state.nr_closing)) {
		search->is_forgotten = !(
			(lasts || is_kept(modules, search, caller, target)) &&
			add_route(modules, search->id, caller, target, search->function, lasts));
	}
}

static void remember_outside(const struct modules *modules, const struct search *search)
{
	struct outside outside = {modules->count, 0, UINTPTR_MAX, search->function};

	for (uint32_t i = 0; i < modules->nr; i++) {
		const struct module *module = &modules->all[i];

		if (module->high <= search->caller && module->high > outside.low) {
			outside.low = module->high;
		}
		if (module->low > search->caller && module->low < outside.high) {
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
	route = find_route(&state.chains[search->id], search->caller);
	if (route) {
		search->function = atomic_load(&route->function);
	} else if (count->nr_added == outside->count.nr_added &&
		   count->nr_removed == outside->count.nr_removed &&
		   search->caller >= outside->low && search->caller < outside->high) {
		search->function = outside->function;
	}
}

static void look(const struct modules *modules, void *context)
{
	struct search *search = context;
	const struct module *caller = modules_of(modules, search->caller);
	const struct module *target;

	forget_removed(modules);
	search->needs_global = false;
	search->function = NULL;
	recall(&modules->count, search);
	if (search->function) {
		return;
	}
	target = find(modules, search, caller);
	if (!target) {
		search->function = NULL;
	} else if (caller) {
		remember(modules, search, caller, target);
	} else {
		remember_outside(modules, search);
	}
}

/* ---- asking the loader ---- */

/* In the global scope behind us. Takes the loader's lock: only if several modules define it. */
static void *find_global(const char *name)
{
	return dlsym ? dlsym(RTLD_NEXT, name) : NULL;
}

static void *find_in(void *handle, const struct search *search)
{
	void *function =
		search->version && dlvsym ? dlvsym(handle, search->name, search->version) : NULL;

	return function ? function : dlsym(handle, search->name);
}

/*
 * Without a list of modules, by the loader's own rules: its global scope behind us, then what the
 * caller's module was loaded with, which is the program's global scope once more.
 */
static void *ask_loader(struct search *search)
{
	struct link_map *map = NULL;
	void *function = NULL;
	Dl_info info;

	search->version = modules_version(search->caller, search->name);
	if (dlsym) {
		function = find_in(RTLD_NEXT, search);
	}
	if (!function && dladdr1 &&
		dladdr1((void *)search->caller, &info, (void **)&map, RTLD_DL_LINKMAP) && map &&
		*map->l_name) {
		function = find_in(map, search);
	}
	return function ? function : modules_find(NULL, search->name);
}

static bool look_for_indirect(const struct module *module, bool is_ours, void *context)
{
	const struct search *search = context;

	return !is_ours && module->has_symbols && elf_has_indirect(&module->elf, search->name);
}

static void search_modules(struct search *search)
{
	modules_hold(recall, search);
	if (search->function) {
		return;
	}
	if (!modules_look(look, search)) {
		search->function = ask_loader(search);
		search->is_forgotten = true;
		return;
	}
	if (search->needs_global) {
		search->global = find_global(search->name);
		search->global_exact = search->version && dlvsym
					       ? dlvsym(RTLD_NEXT, search->name, search->version)
					       : search->global;
		search->has_global = true;
		if (!modules_look(look, search)) {
			search->function = ask_loader(search);
		}
	}
	if (!search->function && modules_each(look_for_indirect, search)) {
		search->indirect = ask_loader(search);
		modules_look(look, search);
	}
}

static void report_forgotten(void)
{
	if (!atomic_exchange(&state.is_full, true)) {
		notice_add("calls", 0,
			"no memory to remember which library the calls of a module reach; each of "
			"them takes longer (raise RLIMIT_AS or vm.max_map_count)");
	}
}

static void *resolve(enum hook_id id, uintptr_t caller)
{
	struct search search = {.id = id, .name = hook_name(id), .caller = caller};
	struct ring_mark mark;
	int error = errno;

	ring_enter_profiler(&ring_tls, &mark);
	search_modules(&search);
	if (search.is_forgotten) {
		report_forgotten();
	}
	ring_leave_profiler(&ring_tls, &mark);
	errno = error;
	return search.function ? search.function : missing(hook_calls[id - 1].api);
}

static const struct hook_route *find_shown(enum hook_id id, uintptr_t caller)
{
	uint64_t hash = (caller ^ (uint64_t)id << 48) * 0x9e3779b97f4a7c15u;
	const struct hook_route *_Atomic *known = &state.known[hash >> 32 & (NR_KNOWN - 1)];
	const struct hook_route *route = atomic_load(known);

	if (route && route->id == id && !atomic_load(&state.is_hidden) &&
		atomic_load(&route->is_shown) && hook_leads(route, caller)) {
		return route;
	}
	route = find_route(&hook_routes[id], caller);
	if (route) {
		atomic_store(known, route);
	}
	return route;
}

void *hook_resolve(enum hook_id id, uintptr_t caller)
{
	const struct hook_route *route = find_shown(id, caller);

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

	if (!atomic_load(&state.has_routes)) {
		return;
	}
	modules_hold(look_for_change, &has_changed);
	if (has_changed) {
		modules_look(look_for_removed, NULL);
	}
}

void *hook_resolve_anew(enum hook_id id, uintptr_t caller)
{
	hook_forget_removed();
	return hook_resolve(id, caller);
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

static bool is_ambiguous(const struct modules *modules, enum hook_id id)
{
	struct search search = {.name = hook_name(id)};
	uint32_t nr;

	find_only(modules, &search, &nr);
	return nr > 1;
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

		if (id && !find_route(&state.chains[id], module->low) &&
			is_ambiguous(modules, id)) {
			binding->id = id;
			binding->caller = module->low;
			return true;
		}
	}
	binding->place = 0;
	return false;
}

/* What was there the last time is bound since then, if it is all still there. */
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

/* Where another thread has removed something since, the next look puts right what is shown. */
static void end_close(const struct modules_count *count, void *unused)
{
	(void)unused;
	state.nr_closing -= state.nr_closing != 0; /* a forked child has begun anew */
	if (!state.nr_closing && count->nr_removed == state.count.nr_removed) {
		show_routes();
	}
}

/* Takes one of the handles that nobody needs any more. */
static void take_handle(const struct modules *modules, void *handle)
{
	forget_removed(modules);
	for (struct link *link = state.links; link && !*(void **)handle; link = link->next) {
		if (link->is_over) {
			*(void **)handle = link->handle;
			*link = (struct link){.next = link->next};
		}
	}
}

/* A link whose target wants a handle, and then that. */
struct wish {
	const void *dynamic;
	char path[PATH_MAX];
	void *handle;
};

static void find_wish(const struct modules *modules, void *context)
{
	struct wish *wish = context;
	const struct module *target;

	forget_removed(modules);
	for (struct link *link = state.links; link && !wish->dynamic; link = link->next) {
		target = link->dynamic ? modules_of(modules, (uintptr_t)link->dynamic) : NULL;
		if (target && strlen(target->path) < PATH_MAX) {
			wish->dynamic = link->dynamic;
			strcpy(wish->path, target->path);
		}
	}
}

/* One handle does for one link; of several that wait for it the others take one of their own. */
static void give_handle(const struct modules *modules, void *context)
{
	struct wish *wish = context;
	bool is_right =
		wish->handle && ((const struct link_map *)wish->handle)->l_ld == wish->dynamic;

	(void)modules;
	for (struct link *link = state.links; link && wish->dynamic; link = link->next) {
		if (link->dynamic == wish->dynamic) {
			link->dynamic = wish->dynamic = NULL;
			link->handle = is_right ? wish->handle : NULL;
			wish->handle = is_right ? NULL : wish->handle;
		}
	}
}

/* In the caller's dlclose, which waits for the loader as well. */
static void take_handles(void)
{
	struct wish wish = {0};

	while (modules_look(find_wish, &wish) && wish.dynamic) {
		wish.handle = HOOK_NEXT(dlopen)(wish.path, RTLD_LAZY | RTLD_NOLOAD);
		modules_look(give_handle, &wish);
		if (wish.handle) {
			HOOK_NEXT(dlclose)(wish.handle);
		}
		wish = (struct wish){0};
	}
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
		hide_routes();
	}
	for (const struct link *link = state.links; link; link = link->next) {
		*(bool *)has_wish |= link->dynamic != NULL;
	}
}

void hook_begin_close(void)
{
	bool has_wish = false;
	int error = errno;

	modules_hold(begin_close, &has_wish);
	if (has_wish) {
		take_handles();
	}
	errno = error;
}

void hook_end_close(bool is_closed)
{
	bool has_changed = false;
	int error = errno;
	void *handle;

	modules_hold(look_for_change, &has_changed);
	/* Not where the program's call has failed: it may ask dlerror why. */
	for (handle = NULL;
		has_changed && is_closed && modules_look(take_handle, &handle) && handle;
		handle = NULL) {
		HOOK_NEXT(dlclose)(handle);
	}
	modules_hold(end_close, NULL);
	errno = error;
}

void hook_after_fork(void)
{
	state.nr_closing = 0;
	show_routes();
}
