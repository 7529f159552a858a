/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime; see cold.h. COLD_LINES: of code that a launch runs, none by default. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/abi/cuda_abi.h"
#include "test/bench/cold/cold.h"

#define EXPORT	   __attribute__((visibility("default")))
#define DATA_BYTES (64u << 10)

EXPORT cudart_error cudaGetDevice(int *device);
EXPORT cudart_error cudaLaunchKernel(const void *func, cudart_dim3 grid, cudart_dim3 block,
	void **args, size_t shared_mem, cudart_stream stream);

static void no_callback(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	(void)userdata;
	(void)domain;
	(void)cbid;
	(void)data;
}

struct cold_cupti cold_cupti = {.callback = no_callback, .is_on = {1, 1}};

/* 1,024 lines of code, each of which reads a line of data. */
uint64_t cold_code(const char *data) __attribute__((visibility("hidden")));
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	".p2align 6\n"
	".hidden cold_code\n"
	".globl cold_code\n"
	".type cold_code, @function\n"
	"cold_code:\n"
	".set line, 0\n"
	".rept 1024\n"
	"	add $1, %rax\n"
	"	mov (line * 64) % 65536(%rdi), %rcx\n"
	"	add %rcx, %rax\n"
	"	jmp 1f\n"
	"	.p2align 6\n"
	"1:\n"
	".set line, line + 1\n"
	".endr\n"
	"	ret\n"
	".size cold_code, .-cold_code\n"
	".popsection\n");
#else
uint64_t cold_code(const char *data)
{
	uint64_t sum = 0;

	for (uint32_t at = 0; at < DATA_BYTES; at += COLD_LINE) {
		sum += (unsigned char)data[at];
	}
	return sum;
}
#endif

static struct {
	char *data; /* NULL: a launch runs no cold code */
	volatile uint64_t sum;
	uint32_t correlation;
} state;

static __attribute__((constructor)) void start(void)
{
	void *page = mmap((void *)(uintptr_t)COLD_MARKS, 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (page != (void *)(uintptr_t)COLD_MARKS) {
		abort();
	}
	*((volatile char *)page + 2048) = 1; /* no page fault later, and no mark */
	if (getenv("COLD_CODE")) {
		state.data = malloc(DATA_BYTES);
		memset(state.data, 1, DATA_BYTES);
	}
}

cudart_error cudaGetDevice(int *device)
{
	cold_mark(COLD_TARGET);
	*device = 0;
	cold_mark(COLD_HOOK);
	return 0;
}

static void run_cold_code(void)
{
	if (state.data) {
		state.sum += cold_code(state.data);
	}
}

static void call_back(
	uint32_t domain, uint32_t cbid, struct cupti_callback_data *data, enum cupti_site site)
{
	data->site = site;
	if (cold_cupti.is_on[domain - CUPTI_DOMAIN_DRIVER]) {
		cold_mark(COLD_CALLBACK);
		cold_cupti.callback(cold_cupti.userdata, domain, cbid, data);
		cold_mark(COLD_TARGET);
	}
}

cudart_error cudaLaunchKernel(const void *func, cudart_dim3 grid, cudart_dim3 block, void **args,
	size_t shared_mem, cudart_stream stream)
{
	uint32_t result = 0;
	uint64_t words[2] = {0};
	struct cupti_callback_data runtime, driver;

	cold_mark(COLD_TARGET);
	(void)func;
	(void)grid;
	(void)block;
	(void)args;
	(void)shared_mem;
	(void)stream;
	runtime = (struct cupti_callback_data){.function_name = "cudaLaunchKernel",
		.function_return_value = &result,
		.symbol_name = "kernel",
		.context_uid = 1,
		.correlation_data = &words[0],
		.correlation_id = ++state.correlation};
	driver = runtime;
	driver.function_name = "cuLaunchKernel";
	driver.correlation_data = &words[1];
	call_back(CUPTI_DOMAIN_RUNTIME, COLD_RUNTIME_LAUNCH, &runtime, CUPTI_SITE_ENTER);
	run_cold_code();
	call_back(CUPTI_DOMAIN_DRIVER, COLD_DRIVER_LAUNCH, &driver, CUPTI_SITE_ENTER);
	if (cold_cupti.record) {
		cold_cupti.record(runtime.correlation_id);
	}
	run_cold_code();
	call_back(CUPTI_DOMAIN_DRIVER, COLD_DRIVER_LAUNCH, &driver, CUPTI_SITE_EXIT);
	call_back(CUPTI_DOMAIN_RUNTIME, COLD_RUNTIME_LAUNCH, &runtime, CUPTI_SITE_EXIT);
	cold_mark(COLD_HOOK);
	return 0;
}
