/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of the result codes that the simulator returns; the numbers are those of both APIs. */
#ifndef GPROF_SIM_CODE_H
#define GPROF_SIM_CODE_H

#include <stddef.h>

static const struct {
	int code;
	const char *driver_name, *runtime_name, *text;
} sim_codes[] = {
	{0, "CUDA_SUCCESS", "cudaSuccess", "no error"},
	{1, "CUDA_ERROR_INVALID_VALUE", "cudaErrorInvalidValue", "invalid argument"},
	{2, "CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorMemoryAllocation", "out of memory"},
	{3, "CUDA_ERROR_NOT_INITIALIZED", "cudaErrorInitializationError", "initialization error"},
	{13, NULL, "cudaErrorInvalidSymbol", "invalid device symbol"},
	{21, NULL, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
	{35, NULL, "cudaErrorInsufficientDriver",
		"CUDA driver version is insufficient for CUDA runtime version"},
	{98, NULL, "cudaErrorInvalidDeviceFunction", "invalid device function"},
	{100, "CUDA_ERROR_NO_DEVICE", "cudaErrorNoDevice", "no CUDA-capable device is detected"},
	{101, "CUDA_ERROR_INVALID_DEVICE", "cudaErrorInvalidDevice", "invalid device ordinal"},
	{200, "CUDA_ERROR_INVALID_IMAGE", "cudaErrorInvalidKernelImage",
		"device kernel image is invalid"},
	{201, "CUDA_ERROR_INVALID_CONTEXT", "cudaErrorDeviceUninitialized",
		"invalid device context"},
	{301, "CUDA_ERROR_FILE_NOT_FOUND", "cudaErrorFileNotFound", "file not found"},
	{400, "CUDA_ERROR_INVALID_HANDLE", "cudaErrorInvalidResourceHandle",
		"invalid resource handle"},
	{401, "CUDA_ERROR_ILLEGAL_STATE", "cudaErrorIllegalState",
		"the operation cannot be performed in the present state"},
	{500, "CUDA_ERROR_NOT_FOUND", "cudaErrorSymbolNotFound", "named symbol not found"},
	{600, "CUDA_ERROR_NOT_READY", "cudaErrorNotReady", "device not ready"},
	{704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "cudaErrorPeerAccessAlreadyEnabled",
		"peer access is already enabled"},
	{705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "cudaErrorPeerAccessNotEnabled",
		"peer access has not been enabled"},
	{712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "cudaErrorHostMemoryAlreadyRegistered",
		"part or all of the requested memory range is already mapped"},
	{713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "cudaErrorHostMemoryNotRegistered",
		"pointer does not correspond to a registered memory region"},
	{801, "CUDA_ERROR_NOT_SUPPORTED", "cudaErrorNotSupported", "operation not supported"},
	{900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "cudaErrorStreamCaptureUnsupported",
		"operation not permitted when stream is capturing"},
	{901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "cudaErrorStreamCaptureInvalidated",
		"operation failed due to a previous error during capture"},
	{903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "cudaErrorStreamCaptureUnmatched",
		"capture was not initiated in this stream"},
	{910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", "cudaErrorGraphExecUpdateFailure",
		"the graph update was not performed"},
};

static inline const char *sim_code_text(int code)
{
	for (size_t i = 0; i < sizeof(sim_codes) / sizeof(sim_codes[0]); i++) {
		if (sim_codes[i].code == code) {
			return sim_codes[i].text;
		}
	}
	return "unrecognized error code";
}

/* The driver's name for a code, or the runtime's where @unknown is the runtime's. */
static inline const char *sim_code_name(int code, const char *unknown)
{
	for (size_t i = 0; i < sizeof(sim_codes) / sizeof(sim_codes[0]); i++) {
		if (sim_codes[i].code == code) {
			const char *name = unknown[1] == 'U' ? sim_codes[i].driver_name
							     : sim_codes[i].runtime_name;
			return name ? name : unknown;
		}
	}
	return unknown;
}

#endif
