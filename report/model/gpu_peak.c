/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the peaks of a GPU for rooflines, MFU and bandwidths. Each number has its own order of
 * sources: the bandwidth is the recorded one, else the data sheet's; operations are the data
 * sheet's, else clock times multiprocessors times operations a clock. A wrong peak makes every
 * share of it wrong, so a peak that no source has is 0: unknown.
 */
#include "report/model/gpu_peak.h"

#include <string.h>

const char *const gpu_float_names[NR_GPU_FLOATS] = {
	[GPU_FLOAT64] = "float64",
	[GPU_FLOAT32] = "float32",
	[GPU_FLOAT16] = "float16",
	[GPU_BFLOAT16] = "bfloat16",
};

#define V100  "NVIDIA V100 Tensor Core GPU data sheet"
#define T4    "NVIDIA T4 Tensor Core GPU data sheet"
#define A100  "NVIDIA A100 Tensor Core GPU data sheet"
#define A30   "NVIDIA A30 Tensor Core GPU data sheet"
#define A10   "NVIDIA A10 Tensor Core GPU data sheet"
#define A40   "NVIDIA A40 data sheet"
#define L4    "NVIDIA L4 Tensor Core GPU data sheet"
#define L40   "NVIDIA L40 data sheet"
#define L40S  "NVIDIA L40S data sheet"
#define H100  "NVIDIA H100 Tensor Core GPU data sheet"
#define H200  "NVIDIA H200 Tensor Core GPU data sheet"
#define GH200 "NVIDIA GH200 Grace Hopper Superchip data sheet"
#define B200  "NVIDIA DGX B200 data sheet, an eighth"

/*
 * Data sheets of known GPUs. The first entry that matches the start of a name wins, so the more
 * exact name comes first. clock_hz is the highest clock; it serves for types that the data sheet
 * lacks. TFLOP/s of float64, float32, float16 and bfloat16; 0: not in the data sheet.
 */
static const struct known_gpu {
	const char *name;
	double clock_hz, memory_bytes_per_s, tflops[NR_GPU_FLOATS];
	const char *source;
} known_gpus[] = {
	{"Tesla V100S-PCIE", 1.597e9, 1134e9, {8.2, 16.4, 130, 0}, V100},
	{"Tesla V100-PCIE", 1.38e9, 900e9, {7, 14, 112, 0}, V100},
	{"Tesla V100", 1.53e9, 900e9, {7.8, 15.7, 125, 0}, V100},
	{"Tesla T4", 1.59e9, 320e9, {0, 8.1, 65, 0}, T4},
	{"NVIDIA A100-SXM4-40GB", 1.41e9, 1555e9, {19.5, 19.5, 312, 312}, A100},
	{"NVIDIA A100-SXM4-80GB", 1.41e9, 2039e9, {19.5, 19.5, 312, 312}, A100},
	{"NVIDIA A100-PCIE-40GB", 1.41e9, 1555e9, {19.5, 19.5, 312, 312}, A100},
	{"NVIDIA A100 80GB PCIe", 1.41e9, 1935e9, {19.5, 19.5, 312, 312}, A100},
	{"A100-SXM4-40GB", 1.41e9, 1555e9, {19.5, 19.5, 312, 312}, A100},
	{"A100-SXM4-80GB", 1.41e9, 2039e9, {19.5, 19.5, 312, 312}, A100},
	{"NVIDIA A30", 1.44e9, 933e9, {10.3, 10.3, 165, 165}, A30},
	{"NVIDIA A10", 1.695e9, 600e9, {0, 31.2, 125, 125}, A10},
	{"NVIDIA A40", 1.74e9, 696e9, {0, 37.4, 149.7, 149.7}, A40},
	{"NVIDIA L40S", 2.52e9, 864e9, {0, 91.6, 362.05, 362.05}, L40S},
	{"NVIDIA L40", 2.49e9, 864e9, {0, 90.5, 181.05, 181.05}, L40},
	{"NVIDIA L4", 2.04e9, 300e9, {0, 30.3, 121, 121}, L4},
	{"NVIDIA H100 80GB HBM3", 1.98e9, 3352e9, {67, 67, 989.4, 989.4}, H100},
	{"NVIDIA H100 PCIe", 1.755e9, 2039e9, {51, 51, 756, 756}, H100},
	{"NVIDIA H100 NVL", 1.785e9, 3900e9, {60, 60, 835.5, 835.5}, H100},
	{"NVIDIA H200 NVL", 1.785e9, 4800e9, {60, 60, 835.5, 835.5}, H200},
	{"NVIDIA H200", 1.98e9, 4800e9, {67, 67, 989.4, 989.4}, H200},
	{"NVIDIA GH200 480GB", 1.98e9, 4000e9, {67, 67, 989.4, 989.4}, GH200},
	{"NVIDIA B200", 1.965e9, 8000e9, {37, 75, 2250, 2250}, B200},
};

/*
 * Floating-point operations of a multiprocessor in a clock, by compute capability, from CUDA's
 * programming guide and the architectures' white papers; without sparsity, and without TF32.
 */
static const struct {
	uint8_t major, minor;
	uint16_t flops[NR_GPU_FLOATS];
} per_clock[] = {
	{6, 0, {64, 128, 256, 0}},
	{6, 1, {8, 256, 4, 0}},
	{7, 0, {64, 128, 1024, 0}},
	{7, 5, {4, 128, 1024, 0}},
	{8, 0, {128, 128, 2048, 2048}},
	{8, 6, {4, 256, 1024, 1024}},
	{8, 9, {4, 256, 1024, 1024}},
	{9, 0, {256, 256, 4096, 4096}},
	{10, 0, {128, 256, 8192, 8192}},
	{12, 0, {4, 256, 1024, 1024}},
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

/* NULL: unknown. */
static const struct known_gpu *find_known(const char *name)
{
	for (size_t i = 0; i < sizeof(known_gpus) / sizeof(known_gpus[0]); i++) {
		if (begins_with(name, known_gpus[i].name)) {
			return &known_gpus[i];
		}
	}
	return NULL;
}

/* From clock, multiprocessors and compute capability. */
static void compute_flops(
	struct gpu_peak *peak, const struct process *process, uint32_t device, double clock_hz)
{
	double units = attribute(process, device, "multiprocessors");
	double major = attribute(process, device, "capability_major");
	double minor = attribute(process, device, "capability_minor");

	for (size_t i = 0; i < sizeof(per_clock) / sizeof(per_clock[0]); i++) {
		if (major != per_clock[i].major || minor != per_clock[i].minor) {
			continue;
		}
		for (int k = 0; k < NR_GPU_FLOATS; k++) {
			peak->flops[k] = clock_hz * units * per_clock[i].flops[k];
		}
		peak->source = clock_hz * units > 0 ? "from clock and multiprocessors" : NULL;
	}
}

/*
 * A part of a GPU (MIG) has the name of the whole, so the data sheet does not apply to it. Its
 * multiprocessors are recorded, so the estimate by clock does.
 */
struct gpu_peak gpu_peak_of(const struct process *process, uint32_t device)
{
	double clock_hz = attribute(process, device, "core_clock_khz") * 1e3;
	const char *name = string_pool_text(process_device_name(process, device), NULL);
	const struct known_gpu *known = find_known(name);
	struct gpu_peak peak = {0};

	peak.memory_bytes_per_s = attribute(process, device, "memory_bandwidth_kb_per_s") * 1e3;
	if (peak.memory_bytes_per_s <= 0) { /* without CUPTI; two transfers a clock */
		peak.memory_bytes_per_s = 2 * attribute(process, device, "memory_clock_khz") * 1e3 *
					  attribute(process, device, "memory_bus_bits") / 8;
	}
	compute_flops(&peak, process, device, clock_hz > 0 || !known ? clock_hz : known->clock_hz);
	if (!known || strstr(name, "MIG")) { /* the name of a part has that of the whole */
		return peak;
	}
	if (peak.memory_bytes_per_s <= 0) {
		peak.memory_bytes_per_s = known->memory_bytes_per_s;
	}
	for (int k = 0; k < NR_GPU_FLOATS; k++) {
		peak.flops[k] = known->tflops[k] > 0 ? known->tflops[k] * 1e12 : peak.flops[k];
	}
	peak.source = known->source;
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
		common.source = common.source == peak.source ? common.source : NULL;
		for (int k = 0; k < NR_GPU_FLOATS; k++) {
			keep_common(&common.flops[k], peak.flops[k]);
		}
	}
	return common;
}
