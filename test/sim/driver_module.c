/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's modules and functions, and launching them. */
#include "test/sim/api.h"
#include "test/sim/model.h"

#include <stdlib.h>
#include <string.h>

#include "collector/cupti/cupti_abi.h"

#define MODULE_MAGIC 0x6d6f6475u

struct module {
	uint32_t magic;
	const char *text; /* PTX, whose entries are known; NULL for a binary image */
	struct sim_function *functions[256];
	size_t nr;
	pthread_mutex_t lock;
	struct module *next; /* unloaded before it */
};

/* Records may still name the functions of unloaded modules, so those stay. */
static struct {
	pthread_mutex_t lock;
	struct module *first;
} unloaded = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* CPU versions by kernel name, given before or after the module is loaded. */
static struct {
	pthread_mutex_t lock;
	struct {
		char *name;
		sim_cpu_fn cpu;
		int nr_args;
		size_t arg_bytes[SIM_MAX_ARGS];
	} of[64];
	size_t nr;
} cpu = {.lock = PTHREAD_MUTEX_INITIALIZER};

SIM_EXPORT int simRegisterKernelName(
	const char *name, sim_cpu_fn fn, int nr_args, const size_t *arg_bytes);

/* Gives functions of this name a CPU version; sizes may be left out with nr_args < 0. */
SIM_EXPORT int simRegisterKernelName(
	const char *name, sim_cpu_fn fn, int nr_args, const size_t *arg_bytes)
{
	int r = SIM_OUT_OF_MEMORY;

	pthread_mutex_lock(&cpu.lock);
	if (cpu.nr < sizeof(cpu.of) / sizeof(cpu.of[0]) && nr_args <= SIM_MAX_ARGS) {
		cpu.of[cpu.nr].name = strdup(name);
		cpu.of[cpu.nr].cpu = fn;
		cpu.of[cpu.nr].nr_args = nr_args;
		for (int i = 0; i < nr_args; i++) {
			cpu.of[cpu.nr].arg_bytes[i] = arg_bytes[i];
		}
		cpu.nr++;
		r = SIM_OK;
	}
	pthread_mutex_unlock(&cpu.lock);
	return r;
}

static void attach_cpu(struct sim_function *f)
{
	pthread_mutex_lock(&cpu.lock);
	for (size_t i = 0; i < cpu.nr; i++) {
		if (strcmp(cpu.of[i].name, f->name) == 0) {
			f->cpu = cpu.of[i].cpu;
			f->nr_args = cpu.of[i].nr_args;
			memcpy(f->arg_bytes, cpu.of[i].arg_bytes, sizeof(f->arg_bytes));
		}
	}
	pthread_mutex_unlock(&cpu.lock);
}

static int module_load(void **out, const void *image)
{
	struct sim_trace *trace = atomic_load(&sim_core.trace);
	struct sim_context *context = sim_context();
	struct module *m = out && image && context ? calloc(1, sizeof(*m)) : NULL;

	if (!m) {
		return context ? SIM_INVALID_VALUE : SIM_NOT_INITIALIZED;
	}
	m->magic = MODULE_MAGIC;
	pthread_mutex_init(&m->lock, NULL);
	/* PTX is text; a cubin begins with 0x7f, a fat binary with 0x50. */
	const unsigned char *bytes = image;

	if (bytes[0] != 0x7f && bytes[0] != 0x50) {
		m->text = strdup(image);
	}
	*out = m;
	if (trace) {
		trace->resource(CUPTI_RESOURCE_MODULE_LOADED, context, NULL);
	}
	return SIM_OK;
}

cu_result api_cuModuleLoadData(cu_module *module, const void *image)
{
	return module_load(module, image);
}

cu_result api_cuModuleLoadDataEx(cu_module *module, const void *image, unsigned int num_options,
	cu_jit_option *options, void **option_values)
{
	(void)num_options;
	(void)options;
	(void)option_values;
	return module_load(module, image);
}

cu_result api_cuModuleLoadFatBinary(cu_module *module, const void *fat_cubin)
{
	return module_load(module, fat_cubin);
}

cu_result api_cuLibraryLoadData(cu_library *library, const void *code, cu_jit_option *jit_options,
	void **jit_options_values, unsigned int num_jit_options, cu_library_option *library_options,
	void **library_option_values, unsigned int num_library_options)
{
	(void)jit_options;
	(void)jit_options_values;
	(void)num_jit_options;
	(void)library_options;
	(void)library_option_values;
	(void)num_library_options;
	return module_load(library, code);
}

cu_result api_cuModuleUnload(cu_module hmod)
{
	struct module *m = hmod;

	if (!m || m->magic != MODULE_MAGIC) {
		return SIM_INVALID_HANDLE;
	}
	m->magic = 0;
	free((void *)m->text);
	m->text = NULL;
	pthread_mutex_lock(&unloaded.lock);
	m->next = unloaded.first;
	unloaded.first = m;
	pthread_mutex_unlock(&unloaded.lock);
	return SIM_OK;
}

cu_result api_cuLibraryUnload(cu_library library)
{
	return api_cuModuleUnload(library);
}

static bool has_entry(const struct module *m, const char *name)
{
	size_t length = strlen(name);
	const char *p = m->text;

	if (!p || !strstr(p, ".entry")) {
		return true;
	}
	for (p = strstr(p, ".entry"); p; p = strstr(p + 1, ".entry")) {
		const char *at = p + strlen(".entry");

		at += strspn(at, " \t\n");
		if (strncmp(at, name, length) == 0 && strchr(" \t\n(", at[length])) {
			return true;
		}
	}
	return false;
}

cu_result api_cuModuleGetFunction(cu_function *hfunc, cu_module hmod, const char *name)
{
	struct module *m = hmod;
	struct sim_function *f = NULL;
	int r = SIM_OK;

	if (!m || m->magic != MODULE_MAGIC || !hfunc || !name) {
		return SIM_INVALID_HANDLE;
	}
	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < m->nr; i++) {
		if (strcmp(m->functions[i]->name, name) == 0) {
			f = m->functions[i];
		}
	}
	if (!f && !has_entry(m, name)) {
		r = SIM_SYMBOL_NOT_FOUND;
	} else if (!f) {
		f = m->nr < 256 ? sim_function_create(name, NULL) : NULL;
		r = f ? SIM_OK : SIM_OUT_OF_MEMORY;
		if (f) {
			attach_cpu(f);
			m->functions[m->nr++] = f;
		}
	}
	pthread_mutex_unlock(&m->lock);
	*hfunc = f;
	return r;
}

cu_result api_cuLibraryGetKernel(cu_kernel *p_kernel, cu_library library, const char *name)
{
	return api_cuModuleGetFunction(p_kernel, library, name);
}

cu_result api_cuLibraryGetModule(cu_module *p_mod, cu_library library)
{
	*p_mod = library;
	return SIM_OK;
}

static struct sim_function *function_of(void *handle)
{
	struct sim_function *f = handle;

	return f && f->magic == SIM_FUNCTION_MAGIC ? f : NULL;
}

cu_result api_cuKernelGetFunction(cu_function *p_func, cu_kernel kernel)
{
	*p_func = kernel;
	return function_of(kernel) ? SIM_OK : SIM_INVALID_HANDLE;
}

cu_result api_cuFuncGetName(const char **name, cu_function hfunc)
{
	if (!function_of(hfunc) || !name) {
		return SIM_INVALID_VALUE;
	}
	*name = function_of(hfunc)->name;
	return SIM_OK;
}

cu_result api_cuFuncLoad(cu_function function)
{
	return function_of(function) ? SIM_OK : SIM_INVALID_HANDLE;
}

cu_result api_cuFuncGetAttribute(int *pi, cu_function_attribute attrib, cu_function hfunc)
{
	const struct sim_function *f = function_of(hfunc);
	const int values[] = {f ? f->max_threads : 0, f ? f->static_shared_bytes : 0, 0, 0,
		f ? f->registers : 0, 90, 90, 0, f ? f->dynamic_shared_bytes : 0};

	if (!f || !pi || attrib < 0) {
		return f ? SIM_INVALID_VALUE : SIM_INVALID_HANDLE;
	}
	*pi = attrib < (int)(sizeof(values) / sizeof(values[0])) ? values[attrib] : 0;
	return SIM_OK;
}

cu_result api_cuKernelGetAttribute(
	int *pi, cu_function_attribute attrib, cu_kernel kernel, cu_device device)
{
	(void)device;
	return api_cuFuncGetAttribute(pi, attrib, kernel);
}

cu_result api_cuFuncSetAttribute(cu_function hfunc, cu_function_attribute attrib, int value)
{
	struct sim_function *f = function_of(hfunc);

	if (!f) {
		return SIM_INVALID_HANDLE;
	}
	if (attrib == 8) {
		f->dynamic_shared_bytes = value;
	}
	return SIM_OK;
}

cu_result api_cuFuncSetCacheConfig(cu_function hfunc, cu_func_cache config)
{
	(void)config;
	return function_of(hfunc) ? SIM_OK : SIM_INVALID_HANDLE;
}

cu_result api_cuLaunchKernel(cu_function f, unsigned int grid_dim_x, unsigned int grid_dim_y,
	unsigned int grid_dim_z, unsigned int block_dim_x, unsigned int block_dim_y,
	unsigned int block_dim_z, unsigned int shared_mem_bytes, cu_stream stream,
	void **kernel_params, void **extra)
{
	cudart_dim3 grid = {grid_dim_x, grid_dim_y, grid_dim_z};
	cudart_dim3 block = {block_dim_x, block_dim_y, block_dim_z};

	(void)extra;
	return sim_launch(
		f, grid, block, shared_mem_bytes, stream, kernel_params, CUPTI_LAUNCH_REGULAR);
}

cu_result api_cuLaunchKernelEx(
	const cu_launch_config *config, cu_function f, void **kernel_params, void **extra)
{
	(void)extra;
	if (!config) {
		return SIM_INVALID_VALUE;
	}
	return sim_launch(f, config->grid, config->block, config->shared_bytes, config->stream,
		kernel_params, CUPTI_LAUNCH_REGULAR);
}

cu_result api_cuLaunchCooperativeKernel(cu_function f, unsigned int grid_dim_x,
	unsigned int grid_dim_y, unsigned int grid_dim_z, unsigned int block_dim_x,
	unsigned int block_dim_y, unsigned int block_dim_z, unsigned int shared_mem_bytes,
	cu_stream stream, void **kernel_params)
{
	cudart_dim3 grid = {grid_dim_x, grid_dim_y, grid_dim_z};
	cudart_dim3 block = {block_dim_x, block_dim_y, block_dim_z};

	return sim_launch(
		f, grid, block, shared_mem_bytes, stream, kernel_params, CUPTI_LAUNCH_COOPERATIVE);
}

cu_result api_cuOccupancyMaxActiveBlocksPerMultiprocessor(
	int *num_blocks, cu_function func, int block_size, size_t dynamic_s_mem_size)
{
	const struct sim_function *f = function_of(func);

	if (!f || !num_blocks || block_size <= 0) {
		return SIM_INVALID_VALUE;
	}
	int by_threads = 2048 / block_size;
	int by_registers = 65536 / (f->registers * block_size);
	size_t shared = dynamic_s_mem_size + (size_t)f->static_shared_bytes + 1024;
	int by_shared = (int)(233472 / shared);
	int least = by_threads < by_registers ? by_threads : by_registers;

	least = least < by_shared ? least : by_shared;
	*num_blocks = least < 32 ? least : 32;
	return SIM_OK;
}

cu_result api_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *num_blocks,
	cu_function func, int block_size, size_t dynamic_s_mem_size, unsigned int flags)
{
	(void)flags;
	return api_cuOccupancyMaxActiveBlocksPerMultiprocessor(
		num_blocks, func, block_size, dynamic_s_mem_size);
}
