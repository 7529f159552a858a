/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/gpu_peak.h"

#include <string.h>

/* The vendor's data sheets; of names that begin alike, the more exact one comes first. */
static const struct {
	const char *name;
	double clock_hz, memory_bytes_per_s;
} known_gpus[] = {
	{"Tesla V100S-PCIE", 1.597e9, 1134e9},
	{"Tesla V100-PCIE", 1.38e9, 900e9},
	{"Tesla V100", 1.53e9, 900e9},
	{"Tesla T4", 1.59e9, 320e9},
	{"NVIDIA A100-SXM4-40GB", 1.41e9, 1555e9},
	{"NVIDIA A100-SXM4-80GB", 1.41e9, 2039e9},
	{"NVIDIA A100-PCIE-40GB", 1.41e9, 1555e9},
	{"NVIDIA A100 80GB PCIe", 1.41e9, 1935e9},
	{"A100-SXM4-40GB", 1.41e9, 1555e9},
	{"A100-SXM4-80GB", 1.41e9, 2039e9},
	{"NVIDIA A10", 1.695e9, 600e9},
	{"NVIDIA L40S", 2.52e9, 864e9},
	{"NVIDIA L4", 2.04e9, 300e9},
	{"NVIDIA H100 80GB HBM3", 1.98e9, 3352e9},
	{"NVIDIA H100 PCIe", 1.755e9, 2039e9},
	{"NVIDIA H200", 1.98e9, 4800e9},
	{"NVIDIA B200", 1.965e9, 8000e9},
};

/*
 * Floating-point operations of a multiprocessor in a clock, by compute capability, from CUDA's
 * programming guide and the architectures' white papers; without sparsity, and without TF32.
 */
static const struct {
	uint8_t major, minor;
	uint16_t flops[NR_GPU_FLOATS];
} per_clock[] = {
	{6, 0, {64, 128, 256}},
	{6, 1, {8, 256, 4}},
	{7, 0, {64, 128, 1024}},
	{7, 5, {4, 128, 1024}},
	{8, 0, {128, 128, 2048}},
	{8, 6, {4, 256, 1024}},
	{8, 9, {4, 256, 1024}},
	{9, 0, {256, 256, 4096}},
	{10, 0, {128, 256, 8192}},
	{12, 0, {4, 256, 1024}},
};

static double attribute(const struct process *process, uint32_t device, const char *name)
{
	uint64_t value;

	return process_attribute(process, device, name, &value) ? (double)value : 0;
}

static bool begins_with(const char *text, const char *start)
{
	size_t nr = strlen(start);

	/* "NVIDIA A10" is not "NVIDIA A100", nor "NVIDIA L4" "NVIDIA L40". */
	return strncmp(text, start, nr) == 0 && !(text[nr] >= '0' && text[nr] <= '9');
}

struct gpu_peak gpu_peak_of(const struct process *process, uint32_t device)
{
	double clock_hz = attribute(process, device, "core_clock_khz") * 1e3;
	double units = attribute(process, device, "multiprocessors");
	double major = attribute(process, device, "capability_major");
	double minor = attribute(process, device, "capability_minor");
	const char *name = string_pool_text(process_device_name(process, device), NULL);
	struct gpu_peak peak = {0};

	peak.memory_bytes_per_s = attribute(process, device, "memory_bandwidth_kb_per_s") * 1e3;
	if (peak.memory_bytes_per_s <= 0) { /* without CUPTI; two transfers a clock */
		peak.memory_bytes_per_s = 2 * attribute(process, device, "memory_clock_khz") * 1e3 *
					  attribute(process, device, "memory_bus_bits") / 8;
	}
	for (size_t i = 0; i < sizeof(known_gpus) / sizeof(known_gpus[0]); i++) {
		if (begins_with(name, known_gpus[i].name)) {
			clock_hz = clock_hz > 0 ? clock_hz : known_gpus[i].clock_hz;
			peak.memory_bytes_per_s = peak.memory_bytes_per_s > 0
							  ? peak.memory_bytes_per_s
							  : known_gpus[i].memory_bytes_per_s;
			break;
		}
	}
	for (size_t i = 0; i < sizeof(per_clock) / sizeof(per_clock[0]); i++) {
		if (major == per_clock[i].major && minor == per_clock[i].minor) {
			for (int k = 0; k < NR_GPU_FLOATS; k++) {
				peak.flops[k] = clock_hz * units * per_clock[i].flops[k];
			}
		}
	}
	return peak;
}

/* 0 where they differ. */
static void keep_common(double *common, double other)
{
	*common = *common == other ? other : 0;
}

struct gpu_peak gpu_peak_common(const struct process *process)
{
	struct gpu_peak common = {0};

	for (size_t i = 0; i < process->nr_devices; i++) {
		struct gpu_peak peak = gpu_peak_of(process, process->devices[i].id);

		if (!i) {
			common = peak;
			continue;
		}
		keep_common(&common.memory_bytes_per_s, peak.memory_bytes_per_s);
		for (int k = 0; k < NR_GPU_FLOATS; k++) {
			keep_common(&common.flops[k], peak.flops[k]);
		}
	}
	return common;
}
