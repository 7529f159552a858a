/* SPDX-License-Identifier: Apache-2.0 */
#include "report/advice/names.h"

#include <string.h>

#include "report/model/kernel_class.h"
#include "report/util/string_pool.h"
#include "report/util/text.h"

enum advice_call advice_call_of(uint32_t name)
{
	static const char *const loads[] = {"cuModuleLoad", "cuLibraryLoad", "cudaLibraryLoad",
		"cuLink", "cuModuleGetFunction", "cuLibraryGetKernel", "cuKernelGetFunction",
		"cudaFuncGetAttributes", "nvrtcCompileProgram", NULL};
	static const char *const allocs[] = {"cudaMalloc", "cudaFree", "cudaHostAlloc",
		"cudaHostRegister", "cudaHostUnregister", "cuMemAlloc", "cuMemFree",
		"cuMemHostAlloc", "cuMemHostRegister", "cuMemHostUnregister", "cuMemCreate",
		"cuMemMap", "cuMemUnmap", "cuMemRelease", "cuMemSetAccess", NULL};
	const char *text = string_pool_text(name, NULL);

	if (strstr(text, "Synchronize")) {
		return ADVICE_CALL_WAIT;
	}
	if (text_begins_with_any(text, loads)) {
		return ADVICE_CALL_LOAD;
	}
	if (text_begins_with_any(text, allocs) && !strstr(text, "Async") && !strstr(text, "Prop")) {
		return ADVICE_CALL_ALLOC;
	}
	return ADVICE_CALL_OTHER;
}

bool advice_call_is_async(uint32_t name)
{
	const char *text = string_pool_text(name, NULL);

	/* A graph's launch does not wait for the copies in it. */
	return strstr(text, "Async") || strstr(text, "Launch");
}

uint32_t advice_op_of(uint32_t name)
{
	const char *text = string_pool_text(name, NULL);
	uint32_t bits = ADVICE_OP_KNOWN;

	bits |= tensor_is_eligible(name) ? ADVICE_OP_TENSOR : 0;
	bits |= strcmp(text, "DataParallel.forward") == 0 ? ADVICE_OP_DATA_PARALLEL : 0;
	bits |= strncmp(text, "DistributedDataParallel.forward", 31) == 0 ? ADVICE_OP_DDP : 0;
	bits |= strncmp(text, "nccl:", 5) == 0 ? ADVICE_OP_NCCL : 0;
	bits |= strncmp(text, "gloo:", 5) == 0 ? ADVICE_OP_GLOO : 0;
	bits |= strncmp(text, "ProfilerStep#", 13) == 0 ? ADVICE_OP_STEP : 0;
	bits |= strncmp(text, "ProfileStep#", 12) == 0 ? ADVICE_OP_STEP : 0;
	return bits;
}

bool advice_is_multiply(uint32_t kernel)
{
	static const char *const words[] = {"gemm", "conv", "wgrad", "dgrad", "fprop", "winograd",
		"attention", "fmha", "matmul", NULL};

	return text_has_any(string_pool_demangled(kernel, NULL), words);
}
