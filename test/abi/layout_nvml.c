/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of NVML against nvml.h; it only compiles. */
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <nvml.h>
#include <stddef.h>

#include "collector/sample/nvml_abi.h"

#define SIZE(ours, real) _Static_assert(sizeof(ours) == sizeof(real), #ours)
#define AT(ours, field, real, real_field)                                                     \
	_Static_assert(offsetof(ours, field) == offsetof(real, real_field) &&                 \
			       sizeof(((ours *)0)->field) == sizeof(((real *)0)->real_field), \
		#ours "." #field)
#define VALUE(ours, real) _Static_assert((long)(ours) == (long)(real), #ours)

VALUE(NVML_CODE_OK, NVML_SUCCESS);
VALUE(NVML_CODE_NOT_SUPPORTED, NVML_ERROR_NOT_SUPPORTED);
VALUE(NVML_CODE_NO_PERMISSION, NVML_ERROR_NO_PERMISSION);
VALUE(NVML_CODE_INSUFFICIENT_SIZE, NVML_ERROR_INSUFFICIENT_SIZE);
VALUE(NVML_NUMBER_CLOCK_SM, NVML_CLOCK_SM);
VALUE(NVML_NUMBER_CLOCK_MEMORY, NVML_CLOCK_MEM);
VALUE(NVML_NUMBER_SENSOR_GPU, NVML_TEMPERATURE_GPU);
VALUE(NVML_MEMORY_VERSION, nvmlMemory_v2);

SIZE(struct nvml_utilization, nvmlUtilization_t);
AT(struct nvml_utilization, gpu_percent, nvmlUtilization_t, gpu);
AT(struct nvml_utilization, memory_percent, nvmlUtilization_t, memory);
SIZE(struct nvml_memory, nvmlMemory_v2_t);
AT(struct nvml_memory, version, nvmlMemory_v2_t, version);
AT(struct nvml_memory, total_bytes, nvmlMemory_v2_t, total);
AT(struct nvml_memory, reserved_bytes, nvmlMemory_v2_t, reserved);
AT(struct nvml_memory, free_bytes, nvmlMemory_v2_t, free);
AT(struct nvml_memory, used_bytes, nvmlMemory_v2_t, used);

VALUE(NVML_GPM_VERSION, NVML_GPM_METRICS_GET_VERSION);
VALUE(NVML_GPM_VERSION, NVML_GPM_SUPPORT_VERSION);
VALUE(NVML_GPM_SM_ACTIVE, NVML_GPM_METRIC_SM_UTIL);
VALUE(NVML_GPM_OCCUPANCY, NVML_GPM_METRIC_SM_OCCUPANCY);
VALUE(NVML_GPM_TENSOR, NVML_GPM_METRIC_ANY_TENSOR_UTIL);
VALUE(NVML_GPM_DRAM, NVML_GPM_METRIC_DRAM_BW_UTIL);
VALUE(NVML_GPM_FP64, NVML_GPM_METRIC_FP64_UTIL);
VALUE(NVML_GPM_FP32, NVML_GPM_METRIC_FP32_UTIL);
VALUE(NVML_GPM_FP16, NVML_GPM_METRIC_FP16_UTIL);
VALUE(NVML_GPM_PCIE_TX, NVML_GPM_METRIC_PCIE_TX_PER_SEC);
VALUE(NVML_GPM_PCIE_RX, NVML_GPM_METRIC_PCIE_RX_PER_SEC);
VALUE(NVML_GPM_NVLINK_RX, NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC);
VALUE(NVML_GPM_NVLINK_TX, NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC);
SIZE(struct nvml_gpm_support, nvmlGpmSupport_t);
AT(struct nvml_gpm_support, version, nvmlGpmSupport_t, version);
AT(struct nvml_gpm_support, is_supported, nvmlGpmSupport_t, isSupportedDevice);
SIZE(struct nvml_gpm_metric, nvmlGpmMetric_t);
AT(struct nvml_gpm_metric, id, nvmlGpmMetric_t, metricId);
AT(struct nvml_gpm_metric, code, nvmlGpmMetric_t, nvmlReturn);
AT(struct nvml_gpm_metric, value, nvmlGpmMetric_t, value);
AT(struct nvml_gpm_metrics, version, nvmlGpmMetricsGet_t, version);
AT(struct nvml_gpm_metrics, nr, nvmlGpmMetricsGet_t, numMetrics);
AT(struct nvml_gpm_metrics, samples[0], nvmlGpmMetricsGet_t, sample1);
AT(struct nvml_gpm_metrics, samples[1], nvmlGpmMetricsGet_t, sample2);
AT(struct nvml_gpm_metrics, metrics[1], nvmlGpmMetricsGet_t, metrics[1]);

/* The compiler warns where what a call passes, or gets back, is not of the same kind and size. */
#define NVML(name, params)                                                                    \
	static __attribute__((unused)) int(*const check_##name) params = (int(*) params)name; \
	_Static_assert(sizeof(nvmlReturn_t) == sizeof(int), #name);
NVML_FUNCTIONS(NVML)
