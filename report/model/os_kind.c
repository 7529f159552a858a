/* SPDX-License-Identifier: Apache-2.0 */
/* Rows name functions, so the list of functions is looked up by the numbers of their names. */
#include "report/model/os_kind.h"

#include <string.h>

#include "collector/format/format.h"
#include "report/util/idmap.h"
#include "report/util/string_pool.h"

static void add_functions(struct idmap *kinds)
{
	static const struct {
		const char *name;
		uint32_t kind;
	} functions[] = {
#define OS_CALL(name, kind) {#name, GPROF_OS_##kind},
#include "collector/format/os_calls.def"
	};

	idmap_init(kinds, sizeof(uint32_t));
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		const char *name = functions[i].name;

		*(uint32_t *)idmap_put(kinds, string_pool_intern(name, strlen(name))) =
			functions[i].kind;
	}
}

unsigned int os_kind_of(uint32_t name)
{
	static struct idmap kinds; /* uint32_t, by the names of functions */
	const uint32_t *kind;

	if (!kinds.nr) {
		add_functions(&kinds);
	}
	kind = idmap_get(&kinds, name);
	return kind ? *kind : GPROF_OS_UNKNOWN;
}

bool os_kind_waits(unsigned int kind)
{
	switch (kind) {
	case GPROF_OS_POLL:
	case GPROF_OS_SLEEP:
	case GPROF_OS_LOCK:
	case GPROF_OS_WAIT:
	case GPROF_OS_JOIN:
	case GPROF_OS_GIL:
		return true;
	default:
		return false;
	}
}

const char *os_kind_name(unsigned int kind)
{
	static const char *const names[] = {
		[GPROF_OS_UNKNOWN] = "other",
		[GPROF_OS_OPEN] = "open",
		[GPROF_OS_CLOSE] = "close",
		[GPROF_OS_READ] = "read",
		[GPROF_OS_WRITE] = "write",
		[GPROF_OS_SYNC] = "sync",
		[GPROF_OS_CONNECT] = "connect",
		[GPROF_OS_SEND] = "send",
		[GPROF_OS_RECEIVE] = "receive",
		[GPROF_OS_POLL] = "poll",
		[GPROF_OS_SLEEP] = "sleep",
		[GPROF_OS_LOCK] = "lock",
		[GPROF_OS_WAIT] = "wait",
		[GPROF_OS_JOIN] = "join",
		[GPROF_OS_PROCESS] = "process",
		[GPROF_OS_GIL] = "GIL",
		[GPROF_OS_FAULT] = "page fault",
	};

	return names[kind < sizeof(names) / sizeof(names[0]) ? kind : GPROF_OS_UNKNOWN];
}
