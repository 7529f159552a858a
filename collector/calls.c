/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/calls.h"

#include <string.h>

#include "collector/batch.h"
#include "collector/define.h"

#define MAX_CALLS 2048u

static struct calls_state {
	struct collector_call calls[MAX_CALLS];
	uint32_t nr_calls;
	uint32_t nr_hooks;
} state;

void calls_init(const struct collector_call *calls, uint32_t nr_calls)
{
	state.nr_hooks = nr_calls < MAX_CALLS ? nr_calls : MAX_CALLS;
	memcpy(state.calls, calls, state.nr_hooks * sizeof(*calls));
	state.nr_calls = state.nr_hooks;
}

uint32_t calls_find(const char *name)
{
	for (uint32_t i = 0; i < state.nr_calls; i++) {
		if (!strcmp(state.calls[i].name, name)) {
			return i + 1;
		}
	}
	return 0;
}

uint32_t calls_find_or_add(const char *name, uint8_t api)
{
	uint32_t id = calls_find(name);

	if (!id && state.nr_calls < MAX_CALLS) {
		state.calls[state.nr_calls] = (struct collector_call){.name = name, .api = api};
		id = ++state.nr_calls;
	}
	return id;
}

void calls_add_rows(void)
{
	for (uint32_t i = 0; i < state.nr_calls; i++) {
		uint32_t name = define_text(state.calls[i].name, strlen(state.calls[i].name));
		struct gprof_row_call *row = batch_add(GPROF_TABLE_call);

		row->id = i + 1;
		row->name = name;
		row->api = state.calls[i].api;
	}
}

void calls_forget(void)
{
	state.nr_calls = state.nr_hooks;
}
