/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread takes the set of counters that the address of its thread-local data leads to. Additions
 * are atomic, and whoever takes a count replaces it by 0, so nothing is lost or counted twice.
 */
#include "collector/ring/os_counts.h"

#include <stddef.h>
#include <string.h>

#include "collector/format/format.h"
#include "collector/ring/ring.h"
#include "collector/util/config.h"
#include "collector/util/own_code.h"

enum {
#define OS_CALL(name, kind) CALL_##name,
#include "collector/format/os_calls.def"
	NR_CALLS,
};

#define NR_SETS 32u

struct count {
	_Atomic uint64_t nr, bytes;
};

static struct os_counts_state {
	struct count counts[NR_SETS][NR_CALLS];
	uint32_t first_call;
} state;

static const struct own_code *_Atomic os_code COMPAT_AT_START; /* NULL: it is not there */

_Atomic uint64_t os_counts_min_raw;

void os_counts_want(const struct own_code *code)
{
	atomic_store(&os_code, code);
}

COMPAT_START_CODE bool os_counts_are_wanted(void)
{
	return atomic_load(&os_code) != NULL;
}

bool os_counts_is_code(uintptr_t address)
{
	const struct own_code *code = atomic_load(&os_code);

	return code && own_code_contains(code, address);
}

const char *os_counts_name(unsigned int call)
{
	/* One text: pointers to each would be relocated in each process. */
	static const char names[] =
#define OS_CALL(name, kind) #name "\0"
#include "collector/format/os_calls.def"
		;
	const char *name = names;

	if (call >= NR_CALLS) {
		return NULL;
	}
	while (call--) {
		name += strlen(name) + 1;
	}
	return name;
}

void os_counts_start(uint64_t tick_mult, uint32_t first_call)
{
	unsigned __int128 ticks = (unsigned __int128)config_number(CONFIG_OS_MIN_NS) << 32;

	state.first_call = first_call;
	atomic_store(&os_counts_min_raw, (uint64_t)((ticks + tick_mult - 1) / tick_mult));
}

uint32_t os_counts_first_call(void)
{
	return state.first_call;
}

void os_counts_add(unsigned int call, uint64_t bytes)
{
	uint64_t set = ((uint64_t)(uintptr_t)&ring_tls * 0x9e3779b97f4a7c15u) >> 59;
	struct count *count = &state.counts[set][call];

	_Static_assert(NR_SETS == 1u << (64 - 59), "the hash numbers the sets");
	atomic_fetch_add_explicit(&count->nr, 1, memory_order_relaxed);
	if (bytes) {
		atomic_fetch_add_explicit(&count->bytes, bytes, memory_order_relaxed);
	}
}

/* Most counters are 0, and their pages untouched. */
static uint64_t take(_Atomic uint64_t *count)
{
	return atomic_load_explicit(count, memory_order_relaxed) ? atomic_exchange(count, 0) : 0;
}

void os_counts_take(
	void (*count)(void *context, unsigned int call, uint64_t nr, uint64_t bytes), void *context)
{
	for (unsigned int call = 0; call < NR_CALLS && os_counts_are_wanted(); call++) {
		uint64_t nr = 0, bytes = 0;

		for (unsigned int set = 0; set < NR_SETS; set++) {
			nr += take(&state.counts[set][call].nr);
			bytes += take(&state.counts[set][call].bytes);
		}
		if (nr || bytes) {
			count(context, call, nr, bytes);
		}
	}
}

static void drop(void *context, unsigned int call, uint64_t nr, uint64_t bytes)
{
	(void)context;
	(void)call;
	(void)nr;
	(void)bytes;
}

void os_counts_forget(void)
{
	os_counts_take(drop, NULL);
}
