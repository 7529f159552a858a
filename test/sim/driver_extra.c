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

/* Functions whose second or third form came later than 3.2, which renamed most of the rest. */
static const struct {
	const char *name;
	int since;
	const char *suffix;
} later[] = {
	{"cuStreamGetCaptureInfo", 12030, "_v3"},
	{"cuStreamGetCaptureInfo", 11030, "_v2"},
	{"cuStreamBeginCapture", 10010, "_v2"},
	{"cuMemcpyBatchAsync", 13000, "_v2"},
	{"cuMemcpy3DBatchAsync", 13000, "_v2"},
	{"cuMemPrefetchAsync", 12020, "_v2"},
	{"cuMemAdvise", 12020, "_v2"},
	{"cuGraphAddKernelNode", 12000, "_v2"},
	{"cuGraphExecUpdate", 12000, "_v2"},
	{"cuGraphAddNode", 12030, "_v2"},
	{"cuEventElapsedTime", 12080, "_v2"},
	{"cuDeviceGetUuid", 11040, "_v2"},
	{"cuCtxCreate", 12050, "_v4"},
	{"cuCtxCreate", 11040, "_v3"},
	{"cuCtxSynchronize", 13000, "_v2"},
	{"cuGetProcAddress", 12000, "_v2"},
};

static const char *suffix_of(const char *name, int version)
{
	bool is_later = false;

	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		if (strcmp(later[i].name, name) == 0) {
			is_later = true;
			if (version >= later[i].since) {
				return later[i].suffix;
			}
		}
	}
	return is_later ? "" : "_v2";
}

static void *look_up(const char *symbol, int version, uint64_t flags)
{
	static const char *const twins[] = {"_ptsz", "_ptds", ""};
	static void *self;
	const char *suffix = suffix_of(symbol, version);
	char name[128];
	void *p = NULL;

	if (!self) {
		self = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
	}
	for (int with_suffix = 1; self && !p && with_suffix >= 0; with_suffix--) {
		for (size_t i = flags & 2 ? 0 : 2; !p && i < 3; i++) {
			snprintf(name, sizeof(name), "%s%s%s", symbol, with_suffix ? suffix : "",
				twins[i]);
			p = dlsym(self, name);
		}
	}
	return p;
}

SIM_EXPORT int cuGetProcAddress_v2(
	const char *symbol, void **pfn, int version, uint64_t flags, int *status)
{
	if (!symbol || !pfn) {
		return SIM_INVALID_VALUE;
	}
	*pfn = look_up(symbol, version, flags);
	if (status) {
		*status = *pfn ? 0 : 1;
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
