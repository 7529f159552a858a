/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of libnvidia-ml that gprof calls, in our own words; test/abi compares it with
 * nvml.h. Every function returns 0 or an error, and every one is optional: drivers differ.
 *
 * 	NVML(name, parameters)
 */
#ifndef COLLECTOR_SAMPLE_NVML_ABI_H
#define COLLECTOR_SAMPLE_NVML_ABI_H

#include <stdint.h>

enum nvml_code {
	NVML_CODE_OK = 0,
	NVML_CODE_NOT_SUPPORTED = 3,
	NVML_CODE_NO_PERMISSION = 4,
	NVML_CODE_INSUFFICIENT_SIZE = 7,
};

enum nvml_number {
	NVML_NUMBER_CLOCK_SM = 1,
	NVML_NUMBER_CLOCK_MEMORY = 2,
	NVML_NUMBER_SENSOR_GPU = 0,
};

typedef void *nvml_device;

struct nvml_utilization {
	unsigned int gpu_percent;
	unsigned int memory_percent;
};

struct nvml_memory {
	unsigned int version; /* NVML_MEMORY_VERSION */
	unsigned long long total_bytes;
	unsigned long long reserved_bytes;
	unsigned long long free_bytes;
	unsigned long long used_bytes;
};

#define NVML_MEMORY_VERSION (sizeof(struct nvml_memory) | 2u << 24)

/* ---- GPM: hardware counters ---- */

typedef void *nvml_gpm_sample;

/* Metrics: shares in percent, and traffic in MiB/s. */
enum nvml_gpm_id {
	NVML_GPM_SM_ACTIVE = 2,
	NVML_GPM_OCCUPANCY = 3,
	NVML_GPM_TENSOR = 5,
	NVML_GPM_DRAM = 10,
	NVML_GPM_FP64 = 11,
	NVML_GPM_FP32 = 12,
	NVML_GPM_FP16 = 13,
	NVML_GPM_PCIE_TX = 20,
	NVML_GPM_PCIE_RX = 21,
	NVML_GPM_NVLINK_RX = 60,
	NVML_GPM_NVLINK_TX = 61,
};

#define NVML_GPM_VERSION 1u
/* NVML reads and writes `nr` metrics; nvml.h has room for more with each version. */
#define NVML_GPM_MAX 11u

struct nvml_gpm_support {
	unsigned int version; /* NVML_GPM_VERSION */
	unsigned int is_supported;
};

struct nvml_gpm_metric {
	unsigned int id;
	int code; /* not 0: it has no value */
	double value;
	const char *name, *long_name, *unit;
};

struct nvml_gpm_metrics {
	unsigned int version; /* NVML_GPM_VERSION */
	unsigned int nr;
	nvml_gpm_sample samples[2];
	struct nvml_gpm_metric metrics[NVML_GPM_MAX];
};

/* ---- functions ---- */

#define NVML_FUNCTIONS(NVML)                                                                     \
	NVML(nvmlInit_v2, (void))                                                                \
	NVML(nvmlDeviceGetHandleByUUID, (const char *uuid, nvml_device *device))                 \
	NVML(nvmlDeviceGetMigMode, (nvml_device device, unsigned int *now, unsigned int *later)) \
	NVML(nvmlDeviceGetMPSComputeRunningProcesses_v3,                                         \
		(nvml_device device, unsigned int *count, void *processes))                      \
	NVML(nvmlDeviceGetMaxPcieLinkGeneration, (nvml_device device, unsigned int *generation)) \
	NVML(nvmlDeviceGetMaxPcieLinkWidth, (nvml_device device, unsigned int *lanes))           \
	NVML(nvmlDeviceGetUtilizationRates,                                                      \
		(nvml_device device, struct nvml_utilization * utilization))                     \
	NVML(nvmlDeviceGetMemoryInfo_v2, (nvml_device device, struct nvml_memory * memory))      \
	NVML(nvmlDeviceGetPowerUsage, (nvml_device device, unsigned int *milliwatts))            \
	NVML(nvmlDeviceGetClockInfo, (nvml_device device, int clock, unsigned int *mhz))         \
	NVML(nvmlDeviceGetTemperature, (nvml_device device, int sensor, unsigned int *celsius))  \
	NVML(nvmlDeviceGetCurrentClocksEventReasons,                                             \
		(nvml_device device, unsigned long long *reasons))                               \
	NVML(nvmlDeviceGetCurrentClocksThrottleReasons,                                          \
		(nvml_device device, unsigned long long *reasons))                               \
	NVML(nvmlDeviceGetTotalEnergyConsumption,                                                \
		(nvml_device device, unsigned long long *millijoules))                           \
	NVML(nvmlDeviceGetGpuInstanceId, (nvml_device instance, unsigned int *id))               \
	NVML(nvmlDeviceGetDeviceHandleFromMigDeviceHandle,                                       \
		(nvml_device instance, nvml_device * gpu))                                       \
	NVML(nvmlGpmQueryDeviceSupport, (nvml_device device, struct nvml_gpm_support * support)) \
	NVML(nvmlGpmSampleAlloc, (nvml_gpm_sample * sample))                                     \
	NVML(nvmlGpmSampleGet, (nvml_device device, nvml_gpm_sample sample))                     \
	NVML(nvmlGpmMigSampleGet,                                                                \
		(nvml_device device, unsigned int instance, nvml_gpm_sample sample))             \
	NVML(nvmlGpmMetricsGet, (struct nvml_gpm_metrics * metrics))

/* The functions of the library that is loaded; NULL: it lacks that one. */
struct nvml {
#define NVML(name, params) int(*name) params;
	NVML_FUNCTIONS(NVML)
#undef NVML
};

/* Calls a function of NVML, which an older driver may lack. */
#define NVML_CALL(nvml, function, ...) \
	((nvml)->function ? (nvml)->function(__VA_ARGS__) : NVML_CODE_NOT_SUPPORTED)

#endif
