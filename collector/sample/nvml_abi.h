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
		(nvml_device device, unsigned long long *reasons))

#endif
