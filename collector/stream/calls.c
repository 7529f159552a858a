/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hooks' names are one piece of text in preload/, found by offsets. CUPTI's other functions are
 * added while callback.c initialises. The table `call` then lists all of them, once, before the
 * first event.
 */
#include "collector/stream/calls.h"

#include <string.h>

#include "collector/stream/batch.h"
#include "collector/stream/dictionary.h"
#include "collector/util/notice.h"

#define MAX_ADDED 1280u

static struct calls_hooks {
	const char *names;
	const struct calls_hook *calls;
	uint32_t nr;
} hooks COMPAT_AT_START;

static struct calls_state {
	const char *added[MAX_ADDED];
	uint8_t added_api[MAX_ADDED];
	uint32_t nr_added;
	atomic_uint told_in;
} state;

COMPAT_START_CODE void calls_init(
	const char *names, const struct calls_hook *calls, uint32_t nr_calls)
{
	hooks = (struct calls_hooks){names, calls, nr_calls};
}

static const char *name_of(uint32_t index)
{
	return index < hooks.nr ? hooks.names + hooks.calls[index].name_at
				: state.added[index - hooks.nr];
}

static uint32_t find(const char *name, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		if (!strcmp(name_of(i), name)) {
			return i + 1;
		}
	}
	return 0;
}

uint32_t calls_find_hook(const char *name)
{
	return find(name, hooks.nr);
}

uint32_t calls_counted(unsigned int counted)
{
	for (uint32_t i = 0; i < hooks.nr; i++) {
		if (hooks.calls[i].counted == counted + 1) {
			return i + 1;
		}
	}
	return 0;
}

const char *calls_name(uint32_t id)
{
	return name_of(id - 1);
}

uint32_t calls_find_or_add(const char *name, uint8_t api)
{
	uint32_t id = find(name, hooks.nr + state.nr_added);

	if (!id && state.nr_added < MAX_ADDED) {
		state.added[state.nr_added] = name;
		state.added_api[state.nr_added] = api;
		id = hooks.nr + ++state.nr_added;
	} else if (!id && notice_is_first(&state.told_in)) {
		notice_add("callbacks", 0,
			"CUPTI has more than %u functions that gprof has no hook for; calls of "
			"further ones are recorded without a name",
			MAX_ADDED);
	}
	return id;
}

void calls_add_rows(void)
{
	for (uint32_t i = 0; i < hooks.nr + state.nr_added; i++) {
		uint32_t name = dictionary_text(name_of(i), strlen(name_of(i)));
		struct gprof_row_call *row = batch_add(GPROF_TABLE_call);

		row->id = i + 1;
		row->name = name;
		row->api = i < hooks.nr ? hooks.calls[i].api : state.added_api[i - hooks.nr];
	}
}

void calls_forget(void)
{
	state.nr_added = 0;
}
