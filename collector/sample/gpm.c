/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each GPU has two NVML samples, which take turns as the older and the newer one. nvml.h defines
 * the metrics and their units.
 *
 *	call       1         2         3
 *	samples    a         b         a
 *	means      |---------|---------|
 */
#include "collector/sample/gpm.h"

#include <stddef.h>

#include "collector/format/format.h"
#include "collector/util/clock.h"
#include "collector/util/notice.h"

/* NVML refreshes its counters every 0.1 s; two samples must be further apart. */
#define MIN_NS 150000000u
/* A share of 100 % is 100,000. */
#define MILLI 1e3
#define MIB   1048576.0
/* A larger value is an error of NVML. */
#define MAX_VALUE 1e15

static const struct counter {
	unsigned int id; /* NVML's */
	uint8_t metric;
	double factor;
} counters[] = {
	{NVML_GPM_SM_ACTIVE, GPROF_METRIC_GPU_SM_ACTIVE_MILLI_PERCENT, MILLI},
	{NVML_GPM_OCCUPANCY, GPROF_METRIC_GPU_OCCUPANCY_MILLI_PERCENT, MILLI},
	{NVML_GPM_TENSOR, GPROF_METRIC_GPU_TENSOR_MILLI_PERCENT, MILLI},
	{NVML_GPM_DRAM, GPROF_METRIC_GPU_DRAM_MILLI_PERCENT, MILLI},
	{NVML_GPM_FP64, GPROF_METRIC_GPU_FP64_MILLI_PERCENT, MILLI},
	{NVML_GPM_FP32, GPROF_METRIC_GPU_FP32_MILLI_PERCENT, MILLI},
	{NVML_GPM_FP16, GPROF_METRIC_GPU_FP16_MILLI_PERCENT, MILLI},
	{NVML_GPM_PCIE_TX, GPROF_METRIC_GPU_PCIE_TX_BYTES_PER_S, MIB},
	{NVML_GPM_PCIE_RX, GPROF_METRIC_GPU_PCIE_RX_BYTES_PER_S, MIB},
	{NVML_GPM_NVLINK_TX, GPROF_METRIC_GPU_NVLINK_TX_BYTES_PER_S, MIB},
	{NVML_GPM_NVLINK_RX, GPROF_METRIC_GPU_NVLINK_RX_BYTES_PER_S, MIB},
};
#define NR_COUNTERS (sizeof(counters) / sizeof(counters[0]))
_Static_assert(NR_COUNTERS <= NVML_GPM_MAX, "struct nvml_gpm_metrics has room for all");

static void refuse(struct gpm *gpm, int number, int code)
{
	gpm->is_refused = true;
	notice_add("NVML refused", code,
		"GPU %d: NVML does not report hardware counters (SMs, tensor cores, memory "
		"bandwidth)%s; not sampled",
		number,
		code == NVML_CODE_NO_PERMISSION
			? " without permission; it may work as root, or with the driver's option "
			  "NVreg_RestrictProfilingToAdminUsers=0"
			: "");
}

static int take_sample(const struct gpm *gpm, const struct nvml *nvml, nvml_gpm_sample sample)
{
	return gpm->is_instance
		       ? NVML_CALL(nvml, nvmlGpmMigSampleGet, gpm->gpu, gpm->instance, sample)
		       : NVML_CALL(nvml, nvmlGpmSampleGet, gpm->gpu, sample);
}

/* NVML samples a MIG instance through its GPU. */
static int find_instance(struct gpm *gpm, const struct nvml *nvml, nvml_device instance)
{
	int code = NVML_CALL(nvml, nvmlDeviceGetGpuInstanceId, instance, &gpm->instance);

	gpm->is_instance = true;
	return code ? code
		    : NVML_CALL(nvml, nvmlDeviceGetDeviceHandleFromMigDeviceHandle, instance,
			      &gpm->gpu);
}

void gpm_begin(
	struct gpm *gpm, const struct nvml *nvml, int number, nvml_device gpu, bool is_instance)
{
	struct nvml_gpm_support support = {.version = NVML_GPM_VERSION};
	int code;

	*gpm = (struct gpm){.gpu = gpu};
	code = is_instance ? find_instance(gpm, nvml, gpu) : NVML_CODE_OK;
	if (!code) {
		code = NVML_CALL(nvml, nvmlGpmQueryDeviceSupport, gpm->gpu, &support);
	}
	if (code == NVML_CODE_NOT_SUPPORTED || (!code && !support.is_supported)) {
		*gpm = (struct gpm){0};
		return;
	}
	for (int i = 0; !code && i < 2; i++) {
		code = NVML_CALL(nvml, nvmlGpmSampleAlloc, &gpm->samples[i]);
	}
	if (code) {
		refuse(gpm, number, code);
	}
}

static void add_means(const struct nvml_gpm_metrics *metrics, uint8_t device, uint64_t length_ns,
	void (*add)(uint8_t metric, uint8_t device, uint64_t value))
{
	/* Readers need the length before the values. */
	add(GPROF_METRIC_GPU_MEANS_NS, device, length_ns);
	for (unsigned int i = 0; i < NR_COUNTERS; i++) {
		double value = metrics->metrics[i].value * counters[i].factor;

		/* Not every GPU has all counters. */
		if (!metrics->metrics[i].code && value >= 0 && value <= MAX_VALUE) {
			add(counters[i].metric, device, (uint64_t)(value + 0.5));
		}
	}
}

void gpm_take(struct gpm *gpm, const struct nvml *nvml, int number,
	void (*add)(uint8_t metric, uint8_t device, uint64_t value))
{
	uint64_t now_ns = clock_monotonic_ns();
	struct nvml_gpm_metrics metrics = {.version = NVML_GPM_VERSION, .nr = NR_COUNTERS};
	nvml_gpm_sample older = gpm->samples[0];
	int code;

	if (!gpm->samples[1] || gpm->is_refused ||
		(gpm->since_ns && now_ns - gpm->since_ns < MIN_NS)) {
		return;
	}
	code = take_sample(gpm, nvml, gpm->samples[1]);
	if (!code && gpm->since_ns) {
		metrics.samples[0] = older;
		metrics.samples[1] = gpm->samples[1];
		for (unsigned int i = 0; i < NR_COUNTERS; i++) {
			metrics.metrics[i].id = counters[i].id;
		}
		code = NVML_CALL(nvml, nvmlGpmMetricsGet, &metrics);
	}
	if (code) {
		refuse(gpm, number, code);
		return;
	}
	if (gpm->since_ns) {
		add_means(&metrics, (uint8_t)number, now_ns - gpm->since_ns, add);
	}
	gpm->samples[0] = gpm->samples[1];
	gpm->samples[1] = older;
	gpm->since_ns = now_ns;
}

void gpm_restart(struct gpm *gpm)
{
	gpm->since_ns = 0;
}
