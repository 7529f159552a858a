/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies calls of CUDA and HIP by their names: waits, loading of code, memory. */
#include "report/budget/call_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "report/util/string_pool.h"
#include "report/util/text.h"

/* CUDA's runtime, its driver and HIP name the same calls alike behind their prefixes. */
static const char *without_prefix(const char *text)
{
	static const char *const prefixes[] = {"cuda", "hip", "cu"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t nr_bytes = strlen(prefixes[i]);

		if (strncmp(text, prefixes[i], nr_bytes) == 0) {
			return text + nr_bytes;
		}
	}
	return text;
}

enum call_kind call_kind_of(uint32_t name)
{
	static const char *const loads[] = {"ModuleLoad", "LibraryLoad", "Link",
		"ModuleGetFunction", "LibraryGetKernel", "KernelGetFunction", "FuncGetAttributes",
		"nvrtcCompileProgram", "hiprtcCompileProgram", NULL};
	static const char *const allocs[] = {"Malloc", "Free", "HostAlloc", "HostMalloc",
		"HostFree", "HostRegister", "HostUnregister", "MemAlloc", "MemFree", "MemHostAlloc",
		"MemHostRegister", "MemHostUnregister", "MemCreate", "MemMap", "MemUnmap",
		"MemRelease", "MemSetAccess", NULL};
	const char *text = without_prefix(string_pool_text(name, NULL));

	if (strstr(text, "Synchronize")) {
		return CALL_WAIT;
	}
	if (text_begins_with_any(text, loads)) {
		return CALL_LOAD;
	}
	if (text_begins_with_any(text, allocs) && !strstr(text, "Async") && !strstr(text, "Prop")) {
		return CALL_ALLOC;
	}
	return CALL_OTHER;
}
