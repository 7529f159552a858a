/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU samples look at the loader's list several times a second. Between these looks an address may
 * be in an object that was loaded since: then the list is looked at here.
 */
#include "collector/sample/call_site.h"

#include "collector/sample/code_map.h"
#include "collector/sample/native_stack.h"
#include "collector/sample/stack_walk.h"
#include "collector/util/clock.h"

#define LOOK_NS 100000000u

/* The call's last byte is in the function that makes it, even if that never goes on. */
static bool find(uint64_t address, struct code_place *place)
{
	return code_map_find(address - 1, place) && place->file;
}

/* Code of a just-in-time compiler is in no object: its calls would look each time. */
static void look(void)
{
	static uint64_t due_ns;
	uint64_t now_ns = clock_monotonic_ns();

	if (now_ns >= due_ns) {
		code_map_look();
		due_ns = now_ns + LOOK_NS;
	}
}

uint32_t call_site_id(uint64_t address)
{
	struct code_place place;

	if (!address || !native_stack_is_on()) {
		return 0;
	}
	if (!find(address, &place)) {
		look();
		if (!find(address, &place)) {
			return 0;
		}
	}
	return native_stack_add(0, place.file, place.address);
}

void call_site_fini(void)
{
	native_stack_fini();
	stack_walk_fini();
	code_map_fini();
}
