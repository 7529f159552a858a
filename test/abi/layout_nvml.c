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

/* The compiler warns where what a call passes, or gets back, is not of the same kind and size. */
#define NVML(name, params)                                                                    \
	static __attribute__((unused)) int(*const check_##name) params = (int(*) params)name; \
	_Static_assert(sizeof(nvmlReturn_t) == sizeof(int), #name);
NVML_FUNCTIONS(NVML)
