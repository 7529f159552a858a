/* SPDX-License-Identifier: Apache-2.0 */
#include "report/api.h"

#include <stddef.h>

#include "collector/format.h"

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

const char *api_memory_name(uint32_t memory_kind)
{
	static const char *const names[] = {"Unknown", "Pageable", "Pinned", "Device", "Array",
		"Managed", "Device Static", "Managed Static"};

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
	/* CUPTI counts the driver's compiler as 1 and its own in the upper half. */
	static const char *const names[] = {"Unknown", "Buffer Flush", "Instrumentation",
		"Resource", "Module Loading", "Lazy Function Loading", "Command Buffer Full",
		"Activity Buffer Request", "UVM Activity Init"};

	if (kind == 1) {
		return "Driver Compiler";
	}
	return kind & 0xffffu ? "Unknown" : PICK(names, kind >> 16, "Unknown");
}
