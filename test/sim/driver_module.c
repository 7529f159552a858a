/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's modules and functions, and launching them. */
#include "test/sim/api.h"
#include "test/sim/image.h"
#include "test/sim/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "test/sim/cupti_abi.h"

#define MODULE_MAGIC 0x6d6f6475u

struct module {
	uint32_t magic;
	struct sim_image image;
	/* What was asked for so far. */
	struct sim_function **functions;
	size_t nr;
	struct variable {
		char *name;
		void *address;
		size_t bytes;
		struct variable *next;
	} * variables;
	pthread_mutex_t lock;
	struct module *next; /* unloaded before it */
};

/* Records may still name the functions of unloaded modules, so those stay. */
static struct {
	pthread_mutex_t lock;
	struct module *first;
} unloaded = {.lock = PTHREAD_MUTEX_INITIALIZER};

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
	if (!sim_image_read(&m->image, image)) {
		free(m);
		return SIM_INVALID_IMAGE;
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

static int module_load_file(void **out, const char *path)
{
	FILE *file = path ? fopen(path, "rb") : NULL;
	char *image = NULL;
	long bytes = -1;
	int r = SIM_FILE_NOT_FOUND;

	if (!file) {
		return path ? r : SIM_INVALID_VALUE;
	}
	if (fseek(file, 0, SEEK_END) == 0 && (bytes = ftell(file)) >= 0) {
		rewind(file);
		image = calloc(1, (size_t)bytes + 1);
	}
	if (image && fread(image, 1, (size_t)bytes, file) == (size_t)bytes) {
		r = module_load(out, image);
	}
	free(image);
	fclose(file);
	return r;
}

cu_result api_cuModuleLoad(cu_module *module, const char *fname)
{
	return module_load_file(module, fname);
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

#define IGNORE_LIBRARY_OPTIONS                                               \
	((void)jit_options, (void)jit_options_values, (void)num_jit_options, \
		(void)library_options, (void)library_option_values, (void)num_library_options)

cu_result api_cuLibraryLoadData(cu_library *library, const void *code, cu_jit_option *jit_options,
	void **jit_options_values, unsigned int num_jit_options, cu_library_option *library_options,
	void **library_option_values, unsigned int num_library_options)
{
	IGNORE_LIBRARY_OPTIONS;
	return module_load(library, code);
}

cu_result api_cuLibraryLoadFromFile(cu_library *library, const char *file_name,
	cu_jit_option *jit_options, void **jit_options_values, unsigned int num_jit_options,
	cu_library_option *library_options, void **library_option_values,
	unsigned int num_library_options)
{
	IGNORE_LIBRARY_OPTIONS;
	return module_load_file(library, file_name);
}

static struct module *module_of(void *handle)
{
	struct module *m = handle;

	return m && m->magic == MODULE_MAGIC ? m : NULL;
}

cu_result api_cuModuleUnload(cu_module hmod)
{
	struct module *m = module_of(hmod);

	if (!m) {
		return SIM_INVALID_HANDLE;
	}
	m->magic = 0;
	sim_image_free(&m->image);
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

static struct sim_function *function_add(
	struct module *m, const char *name, const struct sim_image_symbol *symbol)
{
	struct sim_function **functions =
		realloc(m->functions, (m->nr + 1) * sizeof(struct sim_function *));
	struct sim_function *f = functions ? sim_function_create(name, NULL) : NULL;

	m->functions = functions ? functions : m->functions;
	if (f) {
		if (symbol) {
			f->static_shared_bytes = (int)symbol->bytes;
		}
		functions[m->nr++] = f;
	}
	return f;
}

cu_result api_cuModuleGetFunction(cu_function *hfunc, cu_module hmod, const char *name)
{
	struct module *m = module_of(hmod);
	struct sim_function *f = NULL;
	int r = SIM_OK;

	if (!m || !hfunc || !name) {
		return SIM_INVALID_HANDLE;
	}
	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < m->nr; i++) {
		if (strcmp(m->functions[i]->name, name) == 0) {
			f = m->functions[i];
		}
	}
	const struct sim_image_symbol *symbol = f ? NULL : sim_image_find(&m->image, name, true);

	if (!f && !symbol && !m->image.is_opaque) {
		r = SIM_SYMBOL_NOT_FOUND;
	} else if (!f) {
		f = function_add(m, name, symbol);
		r = f ? SIM_OK : SIM_OUT_OF_MEMORY;
	}
	pthread_mutex_unlock(&m->lock);
	*hfunc = f;
	return r;
}

static struct variable *variable_add(struct module *m, const char *name)
{
	const struct sim_image_symbol *symbol = sim_image_find(&m->image, name, false);
	struct variable *v = symbol ? calloc(1, sizeof(*v)) : NULL;

	if (!v) {
		return NULL;
	}
	v->bytes = symbol->bytes;
	v->name = strdup(name);
	v->address = mmap(NULL, v->bytes ? v->bytes : 1, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!v->name || v->address == MAP_FAILED) {
		free(v->name);
		free(v);
		return NULL;
	}
	sim_static_register(v->address, v->bytes, SIM_DEVICE_STATIC);
	v->next = m->variables;
	m->variables = v;
	return v;
}

cu_result api_cuModuleGetGlobal_v2(
	cu_deviceptr *dptr, size_t *bytes, cu_module hmod, const char *name)
{
	struct module *m = module_of(hmod);

	if (!m || !name) {
		return m ? SIM_INVALID_VALUE : SIM_INVALID_HANDLE;
	}
	pthread_mutex_lock(&m->lock);
	struct variable *v = m->variables;

	while (v && strcmp(v->name, name) != 0) {
		v = v->next;
	}
	v = v ? v : variable_add(m, name);
	pthread_mutex_unlock(&m->lock);
	if (!v) {
		return SIM_SYMBOL_NOT_FOUND;
	}
	if (dptr) {
		*dptr = (uintptr_t)v->address;
	}
	if (bytes) {
		*bytes = v->bytes;
	}
	return SIM_OK;
}

cu_result api_cuLibraryGetGlobal(
	cu_deviceptr *dptr, size_t *bytes, cu_library library, const char *name)
{
	return api_cuModuleGetGlobal_v2(dptr, bytes, library, name);
}

SIM_EXPORT int cuModuleGetLoadingMode(int *mode);
SIM_EXPORT int cuModuleGetFunctionCount(unsigned int *count, void *module);
SIM_EXPORT int cuModuleEnumerateFunctions(void **functions, unsigned int nr, void *module);
SIM_EXPORT int cuLibraryGetKernelCount(unsigned int *count, void *library);
SIM_EXPORT int cuLibraryEnumerateKernels(void **kernels, unsigned int nr, void *library);
SIM_EXPORT int cuFuncIsLoaded(int *state, void *function);
SIM_EXPORT int cuKernelGetName(const char **name, void *kernel);

SIM_EXPORT int cuModuleGetLoadingMode(int *mode)
{
	*mode = 2; /* CU_MODULE_LAZY_LOADING */
	return SIM_OK;
}

SIM_EXPORT int cuModuleGetFunctionCount(unsigned int *count, void *module)
{
	struct module *m = module_of(module);

	if (!m || !count) {
		return m ? SIM_INVALID_VALUE : SIM_INVALID_HANDLE;
	}
	*count = 0;
	for (size_t i = 0; i < m->image.nr; i++) {
		*count += m->image.symbols[i].is_kernel;
	}
	return SIM_OK;
}

SIM_EXPORT int cuModuleEnumerateFunctions(void **functions, unsigned int nr, void *module)
{
	struct module *m = module_of(module);
	unsigned int n = 0;
	int r = m ? SIM_OK : SIM_INVALID_HANDLE;

	for (size_t i = 0; r == SIM_OK && i < m->image.nr && n < nr; i++) {
		if (m->image.symbols[i].is_kernel) {
			r = api_cuModuleGetFunction(&functions[n++], m, m->image.symbols[i].name);
		}
	}
	return r;
}

SIM_EXPORT int cuLibraryGetKernelCount(unsigned int *count, void *library)
{
	return cuModuleGetFunctionCount(count, library);
}

SIM_EXPORT int cuLibraryEnumerateKernels(void **kernels, unsigned int nr, void *library)
{
	return cuModuleEnumerateFunctions(kernels, nr, library);
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

SIM_EXPORT int cuKernelGetName(const char **name, void *kernel)
{
	return api_cuFuncGetName(name, kernel);
}

SIM_EXPORT int cuFuncIsLoaded(int *state, void *function)
{
	*state = 1; /* CU_FUNCTION_LOADING_STATE_LOADED */
	return function_of(function) ? SIM_OK : SIM_INVALID_HANDLE;
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

cu_result api_cuKernelSetAttribute(
	cu_function_attribute attrib, int val, cu_kernel kernel, cu_device device)
{
	(void)device;
	return api_cuFuncSetAttribute(kernel, attrib, val);
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
	return sim_occupancy(num_blocks, function_of(func), block_size, dynamic_s_mem_size);
}

cu_result api_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *num_blocks,
	cu_function func, int block_size, size_t dynamic_s_mem_size, unsigned int flags)
{
	(void)flags;
	return api_cuOccupancyMaxActiveBlocksPerMultiprocessor(
		num_blocks, func, block_size, dynamic_s_mem_size);
}
