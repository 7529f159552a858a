/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVML is opened before the first sample and stays open. GPUs are found by their UUID, since NVML
 * counts those of the machine and CUDA those that the process sees. A fork and a call of NVML
 * exclude each other for HOLD_NS: a child that was forked inside NVML would inherit its locks.
 */
#include "collector/sample/nvml.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "collector/cupti/cupti_share.h"
#include "collector/cupti/device.h"
#include "collector/cupti/cupti_pm.h"
#include "collector/format/format.h"
#include "collector/sample/gpm.h"
#include "collector/sample/nvml_abi.h"
#include "collector/util/clock.h"
#include "collector/util/config.h"
#include "collector/util/log.h"
#include "collector/util/notice.h"
#include "collector/util/target.h"

#define HOLD_NS 100000000u
/* Interval of checks whether the process uses another GPU; every time while it uses none. */
#define LOOK_NS 200000000u

struct gpu {
	nvml_device handle;
	bool is_known;	  /* looked for */
	uint32_t refused; /* a bit for each of `readings` */
	struct gpm gpm;
};

static struct nvml_state {
	bool is_there;
	bool is_begun, is_refused;
	atomic_bool is_inside;
	atomic_int nr_forks; /* going on */
	uint64_t look_ns;    /* 0: none is known yet */
	struct gpu gpus[DEVICE_MAX];
} state;

static struct nvml nvml;

void nvml_find(void)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);

	if (!library) {
		notice_add("no NVML", 0,
			"libnvidia-ml.so.1, which comes with the driver, was not found; GPU "
			"utilization, memory, power, clocks and temperature are not sampled");
		return;
	}
#define NVML(name, params) *(void **)&nvml.name = dlsym(library, #name);
	NVML_FUNCTIONS(NVML)
#undef NVML
	state.is_there = nvml.nvmlInit_v2 && nvml.nvmlDeviceGetHandleByUUID;
}

#define CALL(function, ...) NVML_CALL(&nvml, function, __VA_ARGS__)

/* ---- readings ---- */

/* Each fills in up to two values. */
static int read_busy(nvml_device gpu, uint64_t values[2])
{
	struct nvml_utilization now = {0};
	int code = CALL(nvmlDeviceGetUtilizationRates, gpu, &now);

	values[0] = now.gpu_percent;
	values[1] = now.memory_percent;
	return code;
}

static int read_memory(nvml_device gpu, uint64_t values[2])
{
	struct nvml_memory now = {.version = NVML_MEMORY_VERSION};
	int code = CALL(nvmlDeviceGetMemoryInfo_v2, gpu, &now);

	values[0] = now.used_bytes;
	return code;
}

static int read_power(nvml_device gpu, uint64_t values[2])
{
	unsigned int now = 0;
	int code = CALL(nvmlDeviceGetPowerUsage, gpu, &now);

	values[0] = now;
	return code;
}

static int read_clocks(nvml_device gpu, uint64_t values[2])
{
	unsigned int sm = 0, memory = 0;
	int code = CALL(nvmlDeviceGetClockInfo, gpu, NVML_NUMBER_CLOCK_SM, &sm);

	code = code ? code : nvml.nvmlDeviceGetClockInfo(gpu, NVML_NUMBER_CLOCK_MEMORY, &memory);
	values[0] = sm;
	values[1] = memory;
	return code;
}

static int read_temperature(nvml_device gpu, uint64_t values[2])
{
	unsigned int now = 0;
	int code = CALL(nvmlDeviceGetTemperature, gpu, NVML_NUMBER_SENSOR_GPU, &now);

	values[0] = now;
	return code;
}

/* Drivers before 535 know it by the older name. */
static int read_throttle(nvml_device gpu, uint64_t values[2])
{
	unsigned long long now = 0;
	int code = nvml.nvmlDeviceGetCurrentClocksEventReasons
			   ? nvml.nvmlDeviceGetCurrentClocksEventReasons(gpu, &now)
			   : CALL(nvmlDeviceGetCurrentClocksThrottleReasons, gpu, &now);

	values[0] = now;
	return code;
}

static int read_energy(nvml_device gpu, uint64_t values[2])
{
	unsigned long long now = 0;
	int code = CALL(nvmlDeviceGetTotalEnergyConsumption, gpu, &now);

	values[0] = now;
	return code;
}

static const struct reading {
	const char *name;
	int (*read)(nvml_device gpu, uint64_t values[2]);
	uint8_t metrics[2];
} readings[] = {
	{"utilisation", read_busy,
		{GPROF_METRIC_GPU_BUSY_PERCENT, GPROF_METRIC_GPU_MEMORY_PERCENT}},
	{"memory", read_memory, {GPROF_METRIC_GPU_MEMORY_BYTES}},
	{"power", read_power, {GPROF_METRIC_GPU_POWER_MW}},
	{"clocks", read_clocks, {GPROF_METRIC_GPU_SM_CLOCK_MHZ, GPROF_METRIC_GPU_MEMORY_CLOCK_MHZ}},
	{"temperature", read_temperature, {GPROF_METRIC_GPU_TEMPERATURE_C}},
	{"throttle reasons", read_throttle, {GPROF_METRIC_GPU_THROTTLE_REASONS}},
	{"energy", read_energy, {GPROF_METRIC_GPU_ENERGY_MJ}},
};
#define NR_READINGS (sizeof(readings) / sizeof(readings[0]))

/* ---- GPUs ---- */

static void report_shared(int device, nvml_device gpu, bool is_part)
{
	unsigned int is_mig = 0, later = 0, nr_clients = 0;
	int code = CALL(nvmlDeviceGetMPSComputeRunningProcesses_v3, gpu, &nr_clients, NULL);

	if (is_part) {
		notice_add("MIG", 0,
			"GPU %d is a MIG instance; NVML values cover this instance, or are missing",
			device);
	} else if (!CALL(nvmlDeviceGetMigMode, gpu, &is_mig, &later) && is_mig) {
		notice_add("MIG", 0,
			"GPU %d is divided by MIG; NVML values cover the whole GPU, or are missing",
			device);
	}
	if ((code == NVML_CODE_OK || code == NVML_CODE_INSUFFICIENT_SIZE) && nr_clients) {
		notice_add("MPS", 0,
			"several processes share GPU %d through MPS; its utilization and memory "
			"are "
			"those of all of them",
			device);
	}
}

/* Records the maximum speed of the link of GPU and board; the current speed drops when idle. */
static void add_link(int device, nvml_device gpu)
{
	unsigned int generation = 0, lanes = 0;

	if (!CALL(nvmlDeviceGetMaxPcieLinkGeneration, gpu, &generation) &&
		!CALL(nvmlDeviceGetMaxPcieLinkWidth, gpu, &lanes)) {
		device_add_attribute(device, "pcie_generation", generation);
		device_add_attribute(device, "pcie_lanes", lanes);
	}
}

/* The first reading of a kind takes up to 4 ms, later ones some us. */
static void read_first(const struct gpu *gpu)
{
	uint64_t values[2];

	for (uint32_t i = 0; i < NR_READINGS; i++) {
		readings[i].read(gpu->handle, values);
	}
}

/* NVML spells the UUID of a MIG instance with another prefix, which the second try has. */
static void find_gpu(int device)
{
	struct gpu *gpu = &state.gpus[device];
	uint8_t u[16];
	char uuid[64];
	int code = NVML_CODE_NOT_SUPPORTED;
	bool is_part = false;

	gpu->is_known = true;
	if (!device_uuid(device, u)) {
		return;
	}
	for (int i = 0; code && i < 2; i++) {
		size_t n = log_format(uuid, sizeof(uuid), i ? "MIG-" : "GPU-");

		for (int k = 0; k < 16; k++) {
			n += log_format(uuid + n, sizeof(uuid) - n, "%s%x%x",
				k == 4 || k == 6 || k == 8 || k == 10 ? "-" : "",
				(unsigned int)u[k] >> 4, (unsigned int)u[k] & 15);
		}
		code = nvml.nvmlDeviceGetHandleByUUID(uuid, &gpu->handle);
		is_part = i;
	}
	if (code) {
		gpu->handle = NULL;
		notice_add("NVML refused", code, "NVML does not know GPU %d; it is not sampled",
			device);
		return;
	}
	report_shared(device, gpu->handle, is_part);
	add_link(device, gpu->handle);
	read_first(gpu);
	if (!(config_number(CONFIG_METRICS) & 1u << METRICS_OFF)) {
		gpm_begin(&gpu->gpm, &nvml, device, gpu->handle, is_part);
	}
}

static void look_for_gpus(void)
{
	uint64_t now = clock_monotonic_ns();

	if (now < state.look_ns || !cupti_share_begin_call()) {
		return;
	}
	for (int device = 0; device < DEVICE_MAX; device++) {
		if (!state.gpus[device].is_known && device_is_used(device)) {
			find_gpu(device);
			state.look_ns = now;
		}
	}
	state.look_ns = state.look_ns ? now + LOOK_NS : 0;
	cupti_share_end_call();
}

static void refuse(int device, uint32_t reading, int code)
{
	state.gpus[device].refused |= 1u << reading;
	notice_add("NVML refused", code, "GPU %d: NVML does not report its %s; not sampled", device,
		readings[reading].name);
}

static void take_gpu(int device, void (*add)(uint8_t metric, uint8_t device, uint64_t value))
{
	struct gpu *gpu = &state.gpus[device];

	for (uint32_t i = 0; i < NR_READINGS; i++) {
		uint64_t values[2] = {0};
		int code;

		if (gpu->refused & 1u << i) {
			continue;
		}
		code = readings[i].read(gpu->handle, values);
		if (code) {
			refuse(device, i, code);
			continue;
		}
		for (int k = 0; k < 2 && readings[i].metrics[k]; k++) {
			add(readings[i].metrics[k], (uint8_t)device, values[k]);
		}
	}
	if (cupti_pm_has(device)) {
		gpm_restart(&gpu->gpm); /* CUPTI samples the same counters */
	} else {
		gpm_take(&gpu->gpm, &nvml, device, add);
	}
}

/* ---- in and out ---- */

/* It stays begun: ending it in a process that exits is a risk, and frees nothing for long. */
static bool begin(void)
{
	int code;

	if (!state.is_begun && !state.is_refused) {
		code = nvml.nvmlInit_v2();
		state.is_begun = !code;
		state.is_refused = code != 0;
		if (code) {
			notice_add("NVML refused", code,
				"nvmlInit failed; GPU utilization, memory, power, clocks and "
				"temperature are not sampled");
		}
	}
	return state.is_begun;
}

static void leave(void)
{
	atomic_store(&state.is_inside, false);
}

/* Returns false if NVML must not be called now. Otherwise the caller calls leave() afterwards. */
static bool enter(void)
{
	bool is_free;

	atomic_store(&state.is_inside, state.is_there);
	is_free = state.is_there && !atomic_load(&state.nr_forks) && begin();
	if (!is_free) {
		leave();
	}
	return is_free;
}

void nvml_look(void)
{
	if (enter()) {
		look_for_gpus();
		leave();
	}
}

void nvml_take(void (*add)(uint8_t metric, uint8_t device, uint64_t value))
{
	if (enter()) {
		for (int device = 0; device < DEVICE_MAX; device++) {
			if (state.gpus[device].handle) {
				take_gpu(device, add);
			}
		}
		leave();
	}
}

bool nvml_sm_clock(int device, uint64_t *mhz)
{
	uint64_t clocks[2];
	bool is_known = false;

	if (enter()) {
		is_known = state.gpus[device].handle &&
			   !read_clocks(state.gpus[device].handle, clocks);
		leave();
	}
	*mhz = is_known ? clocks[0] : 0;
	return is_known;
}

void nvml_restart(void)
{
	for (int device = 0; device < DEVICE_MAX; device++) {
		gpm_restart(&state.gpus[device].gpm);
	}
}

void nvml_hold(void)
{
	uint64_t begun = clock_monotonic_ns();

	atomic_fetch_add(&state.nr_forks, 1);
	while (atomic_load(&state.is_inside) && clock_monotonic_ns() - begun < HOLD_NS) {
		target_pause(50000);
	}
}

void nvml_release(void)
{
	atomic_fetch_sub(&state.nr_forks, 1);
}

void nvml_forget(void)
{
	memset((void *)&state, 0, sizeof(state));
}
