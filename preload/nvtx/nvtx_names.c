/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/nvtx/nvtx_names.h"

#include <stdatomic.h>
#include <string.h>

#include "collector/collector.h"

#define MAX_NAMES 4096u
#define MAX_BYTES (256u << 10)

static struct names_state {
	struct nvtx_name names[MAX_NAMES];
	atomic_bool is_there[MAX_NAMES];
	char bytes[MAX_BYTES];
	_Atomic uint32_t nr_names, nr_bytes;
} state;

/* Takes `n` of those that there are; false if there are not so many. */
static bool take(_Atomic uint32_t *nr, uint32_t max, uint32_t n, uint32_t *at)
{
	*at = atomic_load(nr);
	do {
		if (n > max - *at) {
			return false;
		}
	} while (!atomic_compare_exchange_weak(nr, at, *at + n));
	return true;
}

void nvtx_names_keep(uint32_t domain, uint32_t registered, const struct nvtx_text *text)
{
	uint32_t place, at;

	if (text->nr_bytes > GPROF_TEXT_BYTES ||
		!take(&state.nr_bytes, MAX_BYTES, (uint32_t)text->nr_bytes, &at) ||
		!take(&state.nr_names, MAX_NAMES, 1, &place)) {
		return;
	}
	memcpy(state.bytes + at, text->bytes, text->nr_bytes);
	state.names[place] =
		(struct nvtx_name){domain, registered, state.bytes + at, (uint32_t)text->nr_bytes};
	atomic_store(&state.is_there[place], true);
}

bool nvtx_names_next(uint32_t *place, struct nvtx_name *name)
{
	uint32_t nr_names = atomic_load(&state.nr_names);

	while (*place < nr_names && !atomic_load(&state.is_there[*place])) {
		++*place; /* another thread was about to keep it */
	}
	if (*place >= nr_names) {
		return false;
	}
	*name = state.names[(*place)++];
	return true;
}
