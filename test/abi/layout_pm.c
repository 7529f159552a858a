/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of CUPTI's PM sampling against the real headers; it only compiles. */
#include <cupti_pmsampling.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include <cupti_profiler_host.h>

#include "collector/cupti/cupti_abi.h"
#include "collector/cupti/pm_abi.h"

#define VALUE(ours, real) _Static_assert((long)(ours) == (long)(real), #ours)
#define AT(ours, field, real, real_field)                                                     \
	_Static_assert(                                                                       \
		offsetof(struct ours, field) == offsetof(real, real_field) &&                 \
			sizeof(((struct ours *)0)->field) == sizeof(((real *)0)->real_field), \
		#ours "." #field)
/* The last field, whose end is the size that CUPTI wants. */
#define LAST(ours, field, real, real_field) \
	AT(ours, field, real, real_field);  \
	AT(ours, size, real, structSize);   \
	AT(ours, private, real, pPriv);     \
	_Static_assert(PM_BYTES(ours, field) == real##_STRUCT_SIZE, #ours)
/* The function takes one pointer to that structure. */
#define TAKES(function, real)                                                                 \
	_Static_assert(                                                                       \
		__builtin_types_compatible_p(__typeof__(&function), CUptiResult (*)(real *)), \
		#function)

VALUE(PM_INVALID_METRIC_NAME, CUPTI_ERROR_INVALID_METRIC_NAME);
VALUE(PM_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
VALUE(PM_CMP_DEVICE, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED);
VALUE(PM_MIG_DEVICE, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
VALUE(PM_SLI_DEVICE, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED);
VALUE(PM_WSL_DEVICE, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
VALUE(PM_INVALID_CHIP_NAME, CUPTI_ERROR_INVALID_CHIP_NAME);
VALUE(PM_PROFILER_TYPE, CUPTI_PROFILER_TYPE_PM_SAMPLING);
VALUE(PM_TRIGGER_SYSCLK, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL);
VALUE(PM_TRIGGER_TIME, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
VALUE(PM_KEEP_OLDEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST);
VALUE(PM_STOP_DATA_FULL, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);
VALUE(PM_STOP_END_OF_RECORDS, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS);

LAST(pm_initialize, private, CUpti_Profiler_Initialize_Params, pPriv);
AT(pm_chip_name, device, CUpti_Device_GetChipName_Params, deviceIndex);
LAST(pm_chip_name, name, CUpti_Device_GetChipName_Params, pChipName);

AT(pm_availability, device, CUpti_PmSampling_GetCounterAvailability_Params, deviceIndex);
AT(pm_availability, image_bytes, CUpti_PmSampling_GetCounterAvailability_Params,
	counterAvailabilityImageSize);
LAST(pm_availability, image, CUpti_PmSampling_GetCounterAvailability_Params,
	pCounterAvailabilityImage);

AT(pm_host_initialize, type, CUpti_Profiler_Host_Initialize_Params, profilerType);
AT(pm_host_initialize, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
AT(pm_host_initialize, availability, CUpti_Profiler_Host_Initialize_Params,
	pCounterAvailabilityImage);
LAST(pm_host_initialize, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
LAST(pm_host, host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
AT(pm_add_metrics, host, CUpti_Profiler_Host_ConfigAddMetrics_Params, pHostObject);
AT(pm_add_metrics, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
LAST(pm_add_metrics, nr_names, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);
AT(pm_config_size, host, CUpti_Profiler_Host_GetConfigImageSize_Params, pHostObject);
LAST(pm_config_size, config_bytes, CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize);
AT(pm_config, host, CUpti_Profiler_Host_GetConfigImage_Params, pHostObject);
AT(pm_config, config_bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
LAST(pm_config, config, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
AT(pm_passes, config_bytes, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize);
AT(pm_passes, config, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
LAST(pm_passes, nr_passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);
AT(pm_evaluate, host, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pHostObject);
AT(pm_evaluate, image, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage);
AT(pm_evaluate, image_bytes, CUpti_Profiler_Host_EvaluateToGpuValues_Params, counterDataImageSize);
AT(pm_evaluate, index, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
AT(pm_evaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
AT(pm_evaluate, nr_names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics);
LAST(pm_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);

AT(pm_enable, device, CUpti_PmSampling_Enable_Params, deviceIndex);
LAST(pm_enable, sampler, CUpti_PmSampling_Enable_Params, pPmSamplingObject);
LAST(pm_sampler, sampler, CUpti_PmSampling_Start_Params, pPmSamplingObject);
LAST(pm_sampler, sampler, CUpti_PmSampling_Stop_Params, pPmSamplingObject);
LAST(pm_sampler, sampler, CUpti_PmSampling_Disable_Params, pPmSamplingObject);
AT(pm_set_config, sampler, CUpti_PmSampling_SetConfig_Params, pPmSamplingObject);
AT(pm_set_config, config_bytes, CUpti_PmSampling_SetConfig_Params, configSize);
AT(pm_set_config, config, CUpti_PmSampling_SetConfig_Params, pConfig);
AT(pm_set_config, buffer_bytes, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize);
AT(pm_set_config, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
AT(pm_set_config, trigger, CUpti_PmSampling_SetConfig_Params, triggerMode);
LAST(pm_set_config, append_mode, CUpti_PmSampling_SetConfig_Params, hwBufferAppendMode);
AT(pm_image_size, sampler, CUpti_PmSampling_GetCounterDataSize_Params, pPmSamplingObject);
AT(pm_image_size, names, CUpti_PmSampling_GetCounterDataSize_Params, pMetricNames);
AT(pm_image_size, nr_names, CUpti_PmSampling_GetCounterDataSize_Params, numMetrics);
AT(pm_image_size, max_samples, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples);
LAST(pm_image_size, image_bytes, CUpti_PmSampling_GetCounterDataSize_Params, counterDataSize);
AT(pm_image, sampler, CUpti_PmSampling_CounterDataImage_Initialize_Params, pPmSamplingObject);
AT(pm_image, image_bytes, CUpti_PmSampling_CounterDataImage_Initialize_Params, counterDataSize);
LAST(pm_image, image, CUpti_PmSampling_CounterDataImage_Initialize_Params, pCounterData);
AT(pm_decode, sampler, CUpti_PmSampling_DecodeData_Params, pPmSamplingObject);
AT(pm_decode, image, CUpti_PmSampling_DecodeData_Params, pCounterDataImage);
AT(pm_decode, image_bytes, CUpti_PmSampling_DecodeData_Params, counterDataImageSize);
AT(pm_decode, stop_reason, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
LAST(pm_decode, overflow, CUpti_PmSampling_DecodeData_Params, overflow);
AT(pm_image_info, image, CUpti_PmSampling_GetCounterDataInfo_Params, pCounterDataImage);
AT(pm_image_info, image_bytes, CUpti_PmSampling_GetCounterDataInfo_Params, counterDataImageSize);
AT(pm_image_info, nr_samples, CUpti_PmSampling_GetCounterDataInfo_Params, numTotalSamples);
AT(pm_image_info, nr_populated, CUpti_PmSampling_GetCounterDataInfo_Params, numPopulatedSamples);
LAST(pm_image_info, nr_completed, CUpti_PmSampling_GetCounterDataInfo_Params, numCompletedSamples);
AT(pm_sample_info, sampler, CUpti_PmSampling_CounterData_GetSampleInfo_Params, pPmSamplingObject);
AT(pm_sample_info, image, CUpti_PmSampling_CounterData_GetSampleInfo_Params, pCounterDataImage);
AT(pm_sample_info, image_bytes, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
	counterDataImageSize);
AT(pm_sample_info, index, CUpti_PmSampling_CounterData_GetSampleInfo_Params, sampleIndex);
AT(pm_sample_info, start_ns, CUpti_PmSampling_CounterData_GetSampleInfo_Params, startTimestamp);
LAST(pm_sample_info, end_ns, CUpti_PmSampling_CounterData_GetSampleInfo_Params, endTimestamp);

TAKES(cuptiProfilerInitialize, CUpti_Profiler_Initialize_Params);
TAKES(cuptiDeviceGetChipName, CUpti_Device_GetChipName_Params);
TAKES(cuptiProfilerHostInitialize, CUpti_Profiler_Host_Initialize_Params);
TAKES(cuptiProfilerHostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params);
TAKES(cuptiProfilerHostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params);
TAKES(cuptiProfilerHostGetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize_Params);
TAKES(cuptiProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage_Params);
TAKES(cuptiProfilerHostGetNumOfPasses, CUpti_Profiler_Host_GetNumOfPasses_Params);
TAKES(cuptiProfilerHostEvaluateToGpuValues, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
TAKES(cuptiPmSamplingGetCounterAvailability, CUpti_PmSampling_GetCounterAvailability_Params);
TAKES(cuptiPmSamplingEnable, CUpti_PmSampling_Enable_Params);
TAKES(cuptiPmSamplingSetConfig, CUpti_PmSampling_SetConfig_Params);
TAKES(cuptiPmSamplingGetCounterDataSize, CUpti_PmSampling_GetCounterDataSize_Params);
TAKES(cuptiPmSamplingCounterDataImageInitialize,
	CUpti_PmSampling_CounterDataImage_Initialize_Params);
TAKES(cuptiPmSamplingStart, CUpti_PmSampling_Start_Params);
TAKES(cuptiPmSamplingDecodeData, CUpti_PmSampling_DecodeData_Params);
TAKES(cuptiPmSamplingGetCounterDataInfo, CUpti_PmSampling_GetCounterDataInfo_Params);
TAKES(cuptiPmSamplingCounterDataGetSampleInfo, CUpti_PmSampling_CounterData_GetSampleInfo_Params);
TAKES(cuptiPmSamplingStop, CUpti_PmSampling_Stop_Params);
TAKES(cuptiPmSamplingDisable, CUpti_PmSampling_Disable_Params);
