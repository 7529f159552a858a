/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns numbers of CUDA and CUPTI into the words that tables show. The copy views, the event tree,
 * the SQL tables and the importers call it. The words of CUPTI's numbers are fixed. Traces of other
 * devices bring words of their own, which importers add before anyone reads them: these get the
 * numbers from API_OTHER up, for all processes together, and live until the program ends.
 */
#include "report/model/api.h"

#include <stddef.h>
#include <string.h>

#include "collector/format/format.h"
#include "report/util/buf.h"
#include "report/util/text.h"

#define PICK(names, index, otherwise)                                                    \
	((index) < sizeof(names) / sizeof((names)[0]) && (names)[index] ? (names)[index] \
									: (otherwise))

/* cudaErrorNotReady and CUDA_ERROR_NOT_READY */
#define NOT_READY 600

const char *api_name(uint32_t api)
{
	static const char *const names[] = {
		[GPROF_API_RUNTIME] = "runtime",
		[GPROF_API_DRIVER] = "driver",
		[GPROF_API_THREAD] = "thread",
		[GPROF_API_NCCL] = "nccl",
	};

	return PICK(names, api, "other");
}

bool api_is_failure(uint64_t result)
{
	return result != 0 && result != NOT_READY;
}

const char *api_copy_name(uint32_t copy_kind)
{
	static const char *const names[] = {"copy", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
		"DtoA", "DtoD", "HtoH", "PtoP"};

	return PICK(names, copy_kind, "copy");
}

const char *api_copy_long_name(uint32_t copy_kind)
{
	static const char *const names[] = {"copy", "Host-to-Device", "Device-to-Host",
		"Host-to-Array", "Array-to-Host", "Array-to-Array", "Array-to-Device",
		"Device-to-Array", "Device-to-Device", "Host-to-Host", "Peer-to-Peer"};

	return PICK(names, copy_kind, "copy");
}

/* A kind has eight bits in a packed copy kind (copy_kind.h): API_OTHER and 127 more fit. */
#define MAX_OTHERS 127u

static struct {
	char *texts[MAX_OTHERS];
	bool is_whole[MAX_OTHERS];
	uint32_t nr;
} others;

/* Searches linearly, as traces use few kinds. */
uint32_t api_add_name(const char *text, size_t nr_bytes, bool is_whole)
{
	for (uint32_t i = 0; i < others.nr; i++) {
		if (others.is_whole[i] == is_whole && text_is(text, nr_bytes, others.texts[i])) {
			return API_OTHER + i;
		}
	}
	if (others.nr == MAX_OTHERS || memchr(text, '\0', nr_bytes) ||
		nr_bytes > (is_whole ? GPROF_TEXT_BYTES : API_MAX_MEMORY_NAME)) {
		return 0;
	}
	others.texts[others.nr] = mem_zeroed(nr_bytes + 1, 1);
	memcpy(others.texts[others.nr], text, nr_bytes);
	others.is_whole[others.nr] = is_whole;
	return API_OTHER + others.nr++;
}

const char *api_whole_name(uint32_t kind)
{
	bool is_other = kind >= API_OTHER && kind - API_OTHER < others.nr;

	return is_other && others.is_whole[kind - API_OTHER] ? others.texts[kind - API_OTHER]
							     : NULL;
}

const char *api_memory_name(uint32_t memory_kind)
{
	static const char *const names[] = {"Unknown", "Pageable", "Pinned", "Device", "Array",
		"Managed", "Device Static", "Managed Static"};

	if (memory_kind >= API_OTHER && memory_kind - API_OTHER < others.nr) {
		return others.texts[memory_kind - API_OTHER];
	}
	return PICK(names, memory_kind, "Unknown");
}

const char *api_sync_name(uint32_t type)
{
	static const char *const names[] = {
		"Sync", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"};

	return PICK(names, type, "Sync");
}

const char *api_overhead_name(uint32_t kind)
{
	/* CUPTI numbers the driver's compiler 1, and its own overheads in the upper half. */
	static const char *const names[] = {"Unknown", "Buffer Flush", "Instrumentation",
		"Resource", "Module Loading", "Lazy Function Loading", "Command Buffer Full",
		"Activity Buffer Request", "UVM Activity Init"};

	if (kind == 1) {
		return "Driver Compiler";
	}
	return kind & 0xffffu ? "Unknown" : PICK(names, kind >> 16, "Unknown");
}
