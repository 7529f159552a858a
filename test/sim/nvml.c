/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated libnvidia-ml: as many devices as SIM_DEVICES says, memory as the process's simulated
 * driver has it, and readings that move slowly with time so that a sampler has something to see.
 * SIM_NVML=NAME:CODE,... makes functions return a code; `mig` and `mps` among them divide the GPUs,
 * or have them shared by two processes, `part` makes each a part of one, `slow` has a power cap,
 * and `sm:MHZ` a clock; with `falls` it is lower at each reading. `old` GPUs have no counters
 * (GPM).
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test/sim/sim.h"

enum nvml_code {
	NVML_OK = 0,
	NVML_UNINITIALIZED = 1,
	NVML_INVALID_ARGUMENT = 2,
	NVML_NOT_SUPPORTED = 3,
	NVML_NOT_FOUND = 6,
	NVML_INSUFFICIENT_SIZE = 7,
};

enum { PERIOD_S = 20, POWER_IDLE_MW = 75000, POWER_SPAN_MW = 500000 };

static struct nvml_device {
	int index;
	bool was_read;
} devices[SIM_MAX_DEVICES];
static int nr_devices;
static _Atomic bool is_open;

/* What SIM_NVML says behind `name`, up to the next comma; NULL if it does not name it. */
static const char *find_setting(const char *name)
{
	const char *at = getenv("SIM_NVML");
	size_t length = strlen(name);

	while (at) {
		if (!strncmp(at, name, length) && strchr(":,", at[length])) {
			return at + length;
		}
		at = strchr(at, ',');
		at = at ? at + 1 : NULL;
	}
	return NULL;
}

static int failure(const char *name)
{
	const char *code = find_setting(name);

	return code && *code == ':' ? atoi(code + 1) : NVML_OK;
}

#define FAIL_IF_ASKED()                       \
	do {                                  \
		int code = failure(__func__); \
                                              \
		if (code) {                   \
			return code;          \
		}                             \
	} while (0)

#define NVML_EXPORT(name, params)   \
	SIM_EXPORT int name params; \
	SIM_EXPORT int name params

/* An H200's first calls take that much CPU, in us. */
enum { BEGIN_US = 11000, FIRST_READING_US = 3800 };

static void burn_if_asked_us(long us)
{
	struct timespec begin, now;

	if (!find_setting("costly")) {
		return;
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

/* 0 to 100, up and down over the period. */
static unsigned int wave(int phase)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	long tenths = (t.tv_sec * 10 + t.tv_nsec / 100000000 + phase * 13L) % (PERIOD_S * 10);
	long half = PERIOD_S * 5;

	return (unsigned int)((tenths < half ? tenths : 2 * half - tenths) * 100 / half);
}

static const struct nvml_device *check(const void *device)
{
	const struct nvml_device *d = device;

	return atomic_load(&is_open) && d >= devices && d < devices + nr_devices ? d : NULL;
}

NVML_EXPORT(nvmlInit_v2, (void))
{
	const char *text = getenv("SIM_DEVICES");

	FAIL_IF_ASKED();

	burn_if_asked_us(BEGIN_US);
	nr_devices = text ? atoi(text) : 1;
	if (nr_devices < 0 || nr_devices > SIM_MAX_DEVICES) {
		nr_devices = 1;
	}
	for (int i = 0; i < nr_devices; i++) {
		devices[i].index = i;
	}
	atomic_store(&is_open, true);
	return NVML_OK;
}

NVML_EXPORT(nvmlInitWithFlags, (unsigned int flags))
{
	(void)flags;
	return nvmlInit_v2();
}

NVML_EXPORT(nvmlShutdown, (void))
{
	atomic_store(&is_open, false);
	return NVML_OK;
}

SIM_EXPORT const char *nvmlErrorString(int code);
SIM_EXPORT const char *nvmlErrorString(int code)
{
	static const char *const texts[] = {"Success", "Uninitialized", "Invalid Argument",
		"Not Supported", "Insufficient Permissions", "Already Initialized", "Not Found",
		"Insufficient Size"};

	return code >= 0 && code < 8 ? texts[code] : "Unknown Error";
}

NVML_EXPORT(nvmlSystemGetDriverVersion, (char *text, unsigned int bytes))
{
	snprintf(text, bytes, "580.65.06");
	return atomic_load(&is_open) ? NVML_OK : NVML_UNINITIALIZED;
}

NVML_EXPORT(nvmlDeviceGetCount_v2, (unsigned int *count))
{
	*count = (unsigned int)nr_devices;
	return atomic_load(&is_open) ? NVML_OK : NVML_UNINITIALIZED;
}

NVML_EXPORT(nvmlDeviceGetHandleByIndex_v2, (unsigned int index, void **device))
{
	if (!atomic_load(&is_open)) {
		return NVML_UNINITIALIZED;
	}
	if (index >= (unsigned int)nr_devices) {
		return NVML_INVALID_ARGUMENT;
	}
	*device = &devices[index];
	return NVML_OK;
}

/* The UUID as the simulated driver gives it, in NVML's text form. */
static void uuid_text(const struct nvml_device *d, char *text, size_t bytes)
{
	snprintf(text, bytes, "%s-5e5e514d-0000-0000-0000-0000000000%02x",
		find_setting("part") ? "MIG" : "GPU", d->index);
}

NVML_EXPORT(nvmlDeviceGetUUID, (void *device, char *text, unsigned int bytes))
{
	const struct nvml_device *d = check(device);

	if (!d) {
		return NVML_INVALID_ARGUMENT;
	}
	if (bytes < 41) {
		return NVML_INSUFFICIENT_SIZE;
	}
	uuid_text(d, text, bytes);
	return NVML_OK;
}

NVML_EXPORT(nvmlDeviceGetHandleByUUID, (const char *uuid, void **device))
{
	char text[64];

	FAIL_IF_ASKED();

	for (int i = 0; atomic_load(&is_open) && i < nr_devices; i++) {
		uuid_text(&devices[i], text, sizeof(text));
		if (strcmp(text, uuid) == 0) {
			*device = &devices[i];
			return NVML_OK;
		}
	}
	return atomic_load(&is_open) ? NVML_NOT_FOUND : NVML_UNINITIALIZED;
}

NVML_EXPORT(nvmlDeviceGetHandleByPciBusId_v2, (const char *bus_id, void **device))
{
	unsigned int domain, bus;

	if (!atomic_load(&is_open)) {
		return NVML_UNINITIALIZED;
	}
	if (sscanf(bus_id, "%x:%x", &domain, &bus) != 2 || bus < 0x18 ||
		bus >= 0x18 + (unsigned int)nr_devices) {
		return NVML_NOT_FOUND;
	}
	*device = &devices[bus - 0x18];
	return NVML_OK;
}

NVML_EXPORT(nvmlDeviceGetIndex, (void *device, unsigned int *index))
{
	const struct nvml_device *d = check(device);

	if (d) {
		*index = (unsigned int)d->index;
	}
	return d ? NVML_OK : NVML_INVALID_ARGUMENT;
}

NVML_EXPORT(nvmlDeviceGetName, (void *device, char *text, unsigned int bytes))
{
	if (!check(device)) {
		return NVML_INVALID_ARGUMENT;
	}
	snprintf(text, bytes, "NVIDIA H200");
	return NVML_OK;
}

struct utilization {
	unsigned int gpu_pct, memory_pct;
};

NVML_EXPORT(nvmlDeviceGetUtilizationRates, (void *device, struct utilization *u))
{
	const struct nvml_device *d = check(device);

	FAIL_IF_ASKED();

	if (d) {
		if (!devices[d->index].was_read) {
			devices[d->index].was_read = true;
			burn_if_asked_us(FIRST_READING_US);
		}
		u->gpu_pct = wave(d->index);
		u->memory_pct = u->gpu_pct / 2;
	}
	return d ? NVML_OK : NVML_INVALID_ARGUMENT;
}

/* What the simulated driver of this process has handed out; nothing where there is none. */
static uint64_t used_bytes(const struct nvml_device *d)
{
	int (*get_table)(const void **table, const void *uuid);
	void *driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
	const void *table = NULL;

	*(void **)&get_table = driver ? dlsym(driver, "cuGetExportTable") : NULL;
	if (!get_table || get_table(&table, "simulated-cuda-1") != 0) {
		return 0;
	}
	const struct sim_core *core = table;
	const struct sim_device *device = core->is_initialized() ? core->device(d->index) : NULL;

	return device ? __atomic_load_n(&device->used_bytes, __ATOMIC_RELAXED) : 0;
}

struct memory {
	unsigned long long total_bytes, free_bytes, used_bytes;
};

struct memory_v2 {
	unsigned int version;
	unsigned long long total_bytes, reserved_bytes, free_bytes, used_bytes;
};

enum { TOTAL_MIB = 143771, RESERVED_MIB = 605 };

NVML_EXPORT(nvmlDeviceGetMemoryInfo, (void *device, struct memory *m))
{
	const struct nvml_device *d = check(device);

	if (d) {
		m->total_bytes = (unsigned long long)TOTAL_MIB << 20;
		m->used_bytes = used_bytes(d) + ((unsigned long long)RESERVED_MIB << 20);
		m->free_bytes = m->total_bytes - m->used_bytes;
	}
	return d ? NVML_OK : NVML_INVALID_ARGUMENT;
}

NVML_EXPORT(nvmlDeviceGetMemoryInfo_v2, (void *device, struct memory_v2 *m))
{
	const struct nvml_device *d = check(device);

	FAIL_IF_ASKED();

	if (d) {
		m->total_bytes = (unsigned long long)TOTAL_MIB << 20;
		m->reserved_bytes = (unsigned long long)RESERVED_MIB << 20;
		m->used_bytes = used_bytes(d);
		m->free_bytes = m->total_bytes - m->used_bytes - m->reserved_bytes;
	}
	return d ? NVML_OK : NVML_INVALID_ARGUMENT;
}

NVML_EXPORT(nvmlDeviceGetPowerUsage, (void *device, unsigned int *milliwatts))
{
	const struct nvml_device *d = check(device);

	FAIL_IF_ASKED();

	if (d) {
		*milliwatts = POWER_IDLE_MW + POWER_SPAN_MW / 100 * wave(d->index);
	}
	return d ? NVML_OK : NVML_INVALID_ARGUMENT;
}

NVML_EXPORT(nvmlDeviceGetTotalEnergyConsumption, (void *device, unsigned long long *millijoules))
{
	struct timespec t;

	FAIL_IF_ASKED();

	/* At half its power all the time. */
	clock_gettime(CLOCK_MONOTONIC, &t);
	*millijoules = (unsigned long long)(t.tv_sec * 1000 + t.tv_nsec / 1000000) *
		       (POWER_IDLE_MW + POWER_SPAN_MW / 2) / 1000;
	return check(device) ? NVML_OK : NVML_INVALID_ARGUMENT;
}

NVML_EXPORT(nvmlDeviceGetTemperature, (void *device, int sensor, unsigned int *celsius))
{
	const struct nvml_device *d = check(device);

	FAIL_IF_ASKED();

	if (d && sensor == 0) {
		*celsius = 35 + wave(d->index) / 3;
	}
	return d && sensor == 0 ? NVML_OK : NVML_INVALID_ARGUMENT;
}

NVML_EXPORT(nvmlDeviceGetClockInfo, (void *device, int type, unsigned int *mhz))
{
	static const unsigned int clocks[] = {1980, 1980, 3201, 1605};
	static atomic_uint nr_readings;
	const char *slow = find_setting("sm");

	FAIL_IF_ASKED();

	if (!check(device) || type < 0 || type > 3) {
		return NVML_INVALID_ARGUMENT;
	}
	*mhz = type == 1 && slow ? (unsigned int)atoi(slow + 1) : clocks[type];
	if (type == 1 && find_setting("falls")) {
		unsigned int nr = atomic_fetch_add(&nr_readings, 1);

		*mhz = nr < 11 ? *mhz - 150 * nr : 330;
	}
	return NVML_OK;
}

NVML_EXPORT(nvmlDeviceGetCurrentClocksEventReasons, (void *device, unsigned long long *reasons))
{
	FAIL_IF_ASKED();
	*reasons = find_setting("slow") ? 0x4 : 0;
	return check(device) ? NVML_OK : NVML_INVALID_ARGUMENT;
}

NVML_EXPORT(nvmlDeviceGetCurrentClocksThrottleReasons, (void *device, unsigned long long *reasons))
{
	return nvmlDeviceGetCurrentClocksEventReasons(device, reasons);
}

NVML_EXPORT(nvmlDeviceGetMigMode, (void *device, unsigned int *now, unsigned int *later))
{
	*now = *later = find_setting("mig") != NULL;
	return check(device) && !find_setting("part") ? NVML_OK : NVML_INVALID_ARGUMENT;
}

NVML_EXPORT(nvmlDeviceGetGpuInstanceId, (void *device, unsigned int *id))
{
	FAIL_IF_ASKED();
	*id = 7;
	return check(device) && find_setting("part") ? NVML_OK : NVML_INVALID_ARGUMENT;
}

NVML_EXPORT(nvmlDeviceGetDeviceHandleFromMigDeviceHandle, (void *device, void **gpu))
{
	*gpu = device;
	return check(device) && find_setting("part") ? NVML_OK : NVML_INVALID_ARGUMENT;
}

/* ---- GPM ---- */

/*
 * Counters that rise at constant rates, by their numbers: from two samples follow the rates again,
 * whatever lies between them. NVML has no value where the samples are too near to each other.
 */
struct gpm_sample {
	const struct nvml_device *device; /* NULL: never taken */
	double ns;
	double counters[64];
};

static const struct {
	unsigned int id;
	double rate;
} gpm_rates[] = {{1, 90}, {2, 62.5}, {3, 31.25}, {4, 5}, {5, 12.5}, {7, 12.5}, {10, 43.75}, {11, 0},
	{12, 8}, {13, 2}, {20, 100}, {21, 2000}, {60, 512}, {61, 256}};

enum { GPM_LEAST_NS = 100000000, MIG_INSTANCE = 7 };

struct gpm_support {
	unsigned int version, is_supported;
};

struct gpm_metrics {
	unsigned int version, nr;
	struct gpm_sample *samples[2];
	struct {
		unsigned int id;
		int code;
		double value;
		const char *names[3];
	} metrics[];
};

NVML_EXPORT(nvmlGpmQueryDeviceSupport, (void *device, struct gpm_support *support))
{
	FAIL_IF_ASKED();
	if (!check(device) || support->version != 1) {
		return NVML_INVALID_ARGUMENT;
	}
	support->is_supported = !find_setting("old");
	return NVML_OK;
}

NVML_EXPORT(nvmlGpmSampleAlloc, (struct gpm_sample * *sample))
{
	static struct gpm_sample samples[2 * SIM_MAX_DEVICES];
	static atomic_uint nr;
	unsigned int i = atomic_fetch_add(&nr, 1);

	FAIL_IF_ASKED();
	*sample = i < 2 * SIM_MAX_DEVICES ? &samples[i] : NULL;
	return *sample ? NVML_OK : NVML_INVALID_ARGUMENT;
}

static int take_gpm(const struct nvml_device *d, struct gpm_sample *sample)
{
	struct timespec t;

	if (!d || !sample || find_setting("old")) {
		return NVML_INVALID_ARGUMENT;
	}
	clock_gettime(CLOCK_MONOTONIC, &t);
	sample->device = d;
	sample->ns = (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
	for (size_t i = 0; i < sizeof(gpm_rates) / sizeof(gpm_rates[0]); i++) {
		sample->counters[gpm_rates[i].id] = gpm_rates[i].rate * sample->ns;
	}
	return NVML_OK;
}

NVML_EXPORT(nvmlGpmSampleGet, (void *device, struct gpm_sample *sample))
{
	FAIL_IF_ASKED();
	return find_setting("part") ? NVML_NOT_SUPPORTED : take_gpm(check(device), sample);
}

NVML_EXPORT(nvmlGpmMigSampleGet, (void *device, unsigned int instance, struct gpm_sample *sample))
{
	FAIL_IF_ASKED();
	return instance == MIG_INSTANCE ? take_gpm(check(device), sample) : NVML_INVALID_ARGUMENT;
}

NVML_EXPORT(nvmlGpmMetricsGet, (struct gpm_metrics * metrics))
{
	const struct gpm_sample *first = metrics->samples[0], *last = metrics->samples[1];
	double ns;

	FAIL_IF_ASKED();
	if (metrics->version != 1 || !first || !last || !first->device ||
		first->device != last->device) {
		return NVML_INVALID_ARGUMENT;
	}
	ns = last->ns - first->ns;
	for (unsigned int i = 0; i < metrics->nr; i++) {
		unsigned int id = metrics->metrics[i].id;

		metrics->metrics[i].code = NVML_INVALID_ARGUMENT;
		for (size_t k = 0; k < sizeof(gpm_rates) / sizeof(gpm_rates[0]); k++) {
			if (gpm_rates[k].id == id && ns >= GPM_LEAST_NS) {
				metrics->metrics[i].code = NVML_OK;
				metrics->metrics[i].value =
					(last->counters[id] - first->counters[id]) / ns;
			}
		}
	}
	return NVML_OK;
}

/* Asked for their number, as *count is 0. */
NVML_EXPORT(nvmlDeviceGetMPSComputeRunningProcesses_v3,
	(void *device, unsigned int *count, void *processes))
{
	(void)processes;
	*count = find_setting("mps") ? 2 : 0;
	if (!check(device)) {
		return NVML_INVALID_ARGUMENT;
	}
	return *count ? NVML_INSUFFICIENT_SIZE : NVML_OK;
}

NVML_EXPORT(nvmlDeviceGetMaxPcieLinkGeneration, (void *device, unsigned int *generation))
{
	FAIL_IF_ASKED();
	*generation = 5;
	return check(device) ? NVML_OK : NVML_INVALID_ARGUMENT;
}

NVML_EXPORT(nvmlDeviceGetMaxPcieLinkWidth, (void *device, unsigned int *lanes))
{
	FAIL_IF_ASKED();
	*lanes = 16;
	return check(device) ? NVML_OK : NVML_INVALID_ARGUMENT;
}

/* Blocks for 20 ms, as the real one does. */
NVML_EXPORT(nvmlDeviceGetPcieThroughput, (void *device, int counter, unsigned int *kb_per_s))
{
	struct timespec t = {0, 20000000};
	const struct nvml_device *d = check(device);

	if (!d || counter < 0 || counter > 1) {
		return NVML_INVALID_ARGUMENT;
	}
	nanosleep(&t, NULL);
	*kb_per_s = wave(d->index) * 10000;
	return NVML_OK;
}

NVML_EXPORT(nvmlSystemGetCudaDriverVersion_v2, (int *version))
{
	*version = 13000;
	return NVML_OK;
}

NVML_EXPORT(nvmlDeviceGetCurrPcieLinkGeneration, (void *device, unsigned int *generation))
{
	return nvmlDeviceGetMaxPcieLinkGeneration(device, generation);
}

NVML_EXPORT(nvmlDeviceGetCurrPcieLinkWidth, (void *device, unsigned int *lanes))
{
	return nvmlDeviceGetMaxPcieLinkWidth(device, lanes);
}

/* What frameworks look up and do without: links between GPUs, and who else is on them. */
#define REST(name)                         \
	SIM_EXPORT int name(void);         \
	SIM_EXPORT int name(void)          \
	{                                  \
		return NVML_NOT_SUPPORTED; \
	}
REST(nvmlDeviceGetComputeRunningProcesses)
REST(nvmlDeviceGetFieldValues)
REST(nvmlDeviceGetGpuFabricInfo)
REST(nvmlDeviceGetGpuFabricInfoV)
REST(nvmlDeviceGetNvLinkCapability)
REST(nvmlDeviceGetNvLinkRemoteDeviceType)
REST(nvmlDeviceGetNvLinkRemotePciInfo_v2)
REST(nvmlDeviceGetNvLinkState)
REST(nvmlDeviceGetP2PStatus)
