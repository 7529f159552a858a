/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of links from a calling module to its target, each with at most one handle. A module is
 * known by its address and path, since another one may take its place.
 */
#include "preload/hook/link.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <string.h>

#include "collector/util/hash.h"
#include "preload/hook/hook.h"
#include "preload/hook/route.h"

/* Distinguishes a module from another one that is opened at its address. */
struct identity {
	uintptr_t low, span;
	uint64_t path_hash;
};

/* Promises the caller that its target stays as long as the caller does. */
struct link {
	struct identity caller, target; /* caller.low 0: free */
	void *handle;			/* our handle of the target; NULL: none, or not yet */
	const void *dynamic;		/* the target's dynamic section, until a handle is taken */
	bool is_over;			/* the caller is gone: give the handle back */
	struct link *next;
};

static struct link *links;

static struct identity identity_of(const struct module *module)
{
	return (struct identity){module->low, module->high - module->low, hash_text(module->path)};
}

static bool has_identity(const struct modules *modules, const struct identity *identity)
{
	return modules_has(modules, identity->low, identity->span) &&
	       hash_text(modules_of(modules, identity->low)->path) == identity->path_hash;
}

/*
 * The handle is given back only once the caller is gone, as a library that leaves too early crashes
 * the program. If the caller was opened again meanwhile, the target stays until that one leaves.
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

void link_drop(const struct modules *modules)
{
	for (struct link *link = links; link; link = link->next) {
		end_link(modules, link);
	}
}

/* Does the target outlive the caller anyway, or is the caller not bound to it? */
static bool stays(const struct modules *modules, uint32_t nr_first, const char *name,
	const struct module *caller, const struct module *target)
{
	const char *version;

	return (uint32_t)(target - modules->all) < nr_first ||
	       modules_reaches(modules, caller, target) || !caller->has_symbols ||
	       !elf_refers(&caller->elf, name, &version);
}

static struct link *find_link(const struct module *caller, const struct module *target)
{
	struct link *link = links;

	while (link && !(link->caller.low == caller->low && link->target.low == target->low)) {
		link = link->next;
	}
	return link;
}

/* Returns a free or new link; NULL if there is no memory. */
static struct link *take_link(void)
{
	struct link *link = links;

	while (link && (link->caller.low || link->is_over)) {
		link = link->next;
	}
	if (!link) {
		link = route_memory(sizeof(*link));
		if (link) {
			link->next = links;
			links = link;
		}
	}
	return link;
}

bool link_keeps(const struct modules *modules, uint32_t nr_first, const char *name,
	const struct module *caller, const struct module *target)
{
	struct link *link;

	if (modules_needs(modules, caller, target) || find_link(caller, target) ||
		stays(modules, nr_first, name, caller, target)) {
		return true;
	}
	link = take_link();
	if (!link) {
		return false; /* calls still go the right way, only slower */
	}
	*link = (struct link){.caller = identity_of(caller),
		.target = identity_of(target),
		.dynamic = target->elf.dynamic,
		.next = link->next};
	return true;
}

/* ---- handles ---- */

void *link_take_handle(void)
{
	void *handle = NULL;

	for (struct link *link = links; link && !handle; link = link->next) {
		if (link->is_over) {
			handle = link->handle;
			*link = (struct link){.next = link->next};
		}
	}
	return handle;
}

bool link_wants_handle(void)
{
	struct link *link = links;

	while (link && !link->dynamic) {
		link = link->next;
	}
	return link != NULL;
}

/* A target that needs a handle, and the handle once it is open. */
struct wish {
	const void *dynamic;
	char path[PATH_MAX];
	void *handle;
};

static void find_wish(const struct modules *modules, void *context)
{
	struct wish *wish = context;
	const struct module *target;

	link_drop(modules);
	for (struct link *link = links; link && !wish->dynamic; link = link->next) {
		target = link->dynamic ? modules_of(modules, (uintptr_t)link->dynamic) : NULL;
		if (target && strlen(target->path) < PATH_MAX) {
			wish->dynamic = link->dynamic;
			strcpy(wish->path, target->path);
		}
	}
}

/* Gives the handle to one link. Other links to the same target get their own in later rounds. */
static void give_handle(const struct modules *modules, void *context)
{
	struct wish *wish = context;
	bool is_right =
		wish->handle && ((const struct link_map *)wish->handle)->l_ld == wish->dynamic;

	(void)modules;
	for (struct link *link = links; link && wish->dynamic; link = link->next) {
		if (link->dynamic == wish->dynamic) {
			link->dynamic = wish->dynamic = NULL;
			link->handle = is_right ? wish->handle : NULL;
			wish->handle = is_right ? NULL : wish->handle;
		}
	}
}

void link_take_handles(void)
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
