/* SPDX-License-Identifier: Apache-2.0 */
/* Exports of the simulated libcuda that are not hooked: look-ups, error texts, profiler control. */
#include "test/sim/model.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "test/sim/code.h"

SIM_EXPORT int cuGetExportTable(const void **table, const void *uuid);
SIM_EXPORT int cuGetProcAddress(const char *symbol, void **pfn, int version, uint64_t flags);
SIM_EXPORT int cuGetProcAddress_v2(
	const char *symbol, void **pfn, int version, uint64_t flags, int *status);
SIM_EXPORT int cuGetErrorName(int code, const char **text);
SIM_EXPORT int cuGetErrorString(int code, const char **text);
SIM_EXPORT int cuProfilerStart(void);
SIM_EXPORT int cuProfilerStop(void);

SIM_EXPORT int cuGetExportTable(const void **table, const void *uuid)
{
	if (!table || !uuid || memcmp(uuid, sim_core_uuid, sizeof(sim_core_uuid)) != 0) {
		return SIM_NOT_SUPPORTED;
	}
	*table = &sim_core;
	return SIM_OK;
}

/* The forms of each function, by the version that each came with. */
static const struct {
	const char *name;
	int since;
	const char *symbol;
} forms[] = {
#define SINCE(name, since, symbol) {name, since, symbol},
#include "driver_since.def"
};

enum { FOUND, NO_SUCH_SYMBOL, VERSION_TOO_OLD, PER_THREAD = 2 };

/* The newest form up to @version; a name without a form in the table is an export or nothing. */
static const char *symbol_of(const char *name, int version, int *status)
{
	const char *symbol = NULL;
	int newest = 0;

	*status = NO_SUCH_SYMBOL;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strcmp(forms[i].name, name) != 0) {
			continue;
		}
		if (forms[i].since > version) {
			*status = VERSION_TOO_OLD;
		} else if (forms[i].since >= newest) {
			newest = forms[i].since;
			symbol = forms[i].symbol;
		}
	}
	return symbol || *status == VERSION_TOO_OLD ? symbol : name;
}

static void *look_up(const char *name, int version, uint64_t flags, int *status)
{
	static const char *const twins[] = {"_ptsz", "_ptds", ""};
	static void *self;
	const char *symbol = symbol_of(name, version, status);
	char export[128];
	void *p = NULL;

	if (!self) {
		self = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
	}
	for (size_t i = flags & PER_THREAD ? 0 : 2; self && symbol && !p && i < 3; i++) {
		snprintf(export, sizeof(export), "%s%s", symbol, twins[i]);
		p = dlsym(self, export);
	}
	*status = p ? FOUND : *status;
	return p;
}

SIM_EXPORT int cuGetProcAddress_v2(
	const char *symbol, void **pfn, int version, uint64_t flags, int *status)
{
	int found;

	if (!symbol || !pfn) {
		return SIM_INVALID_VALUE;
	}
	*pfn = look_up(symbol, version, flags, &found);
	if (status) {
		*status = found;
	}
	return *pfn || status ? SIM_OK : SIM_SYMBOL_NOT_FOUND;
}

SIM_EXPORT int cuGetProcAddress(const char *symbol, void **pfn, int version, uint64_t flags)
{
	return cuGetProcAddress_v2(symbol, pfn, version, flags, NULL);
}

SIM_EXPORT int cuGetErrorName(int code, const char **text)
{
	*text = sim_code_name(code, "CUDA_ERROR_UNKNOWN");
	return SIM_OK;
}

SIM_EXPORT int cuGetErrorString(int code, const char **text)
{
	*text = sim_code_text(code);
	return SIM_OK;
}

SIM_EXPORT int cuProfilerStart(void)
{
	return SIM_OK;
}

SIM_EXPORT int cuProfilerStop(void)
{
	return SIM_OK;
}
