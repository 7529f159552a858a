/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace names its calls and has none of their arguments. So the name decides: the first match
 * below is the table, and copies get their flags from the names of the calls with their correlation
 * ID.
 */
#include "report/import/call.h"

#include <stdbool.h>
#include <string.h>

#include "collector/format/format.h"
#include "report/util/text.h"

static bool contains(const char *text, size_t nr_bytes, const char *part)
{
	return memmem(text, nr_bytes, part, strlen(part)) != NULL;
}

uint8_t import_call_table(const char *name, size_t nr_bytes)
{
	if (contains(name, nr_bytes, "Launch") || text_is(name, nr_bytes, IMPORT_CALL_LAUNCH)) {
		return GPROF_TABLE_api_launch;
	}
	if (contains(name, nr_bytes, "Memcpy")) {
		return GPROF_TABLE_api_copy;
	}
	if (contains(name, nr_bytes, "Memset")) {
		return GPROF_TABLE_api_set;
	}
	if (contains(name, nr_bytes, "ynchronize") || contains(name, nr_bytes, "WaitEvent") ||
		contains(name, nr_bytes, "EventQuery") || contains(name, nr_bytes, "StreamQuery")) {
		return GPROF_TABLE_api_sync;
	}
	return GPROF_TABLE_api;
}

uint32_t import_copy_flags(
	const struct idset *called, const struct idset *async, uint32_t correlation)
{
	return idset_has(async, correlation)	? GPROF_COPY_ASYNC
	       : idset_has(called, correlation) ? 0
						: GPROF_COPY_NO_CALL;
}
