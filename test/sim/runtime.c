/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated runtime's start, last error, and the registry of kernels and variables. */
#include "test/sim/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct sim_core *runtime_model;
struct runtime_driver runtime_driver;
_Atomic bool runtime_is_started;

/* Frameworks register some hundred thousand kernels. */
enum { SLOT_BITS = 19, NR_SLOTS = 1 << SLOT_BITS, NR_SYMBOLS = 4096 };

/* Kernels by host address and by handle: open hash tables, filled under a lock and read without. */
typedef _Atomic(struct sim_function *) slots[NR_SLOTS];

static struct {
	pthread_mutex_t lock;
	slots by_host, by_handle;
	struct {
		const void *host;
		void *device;
		size_t bytes;
	} symbols[NR_SYMBOLS];
	size_t nr_symbols;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread int last_error;
static __thread bool is_asking; /* for the last error: the answer is not a new one */

/* The version of CUDA whose forms are those of runtime_driver.def. */
enum { DRIVER_VERSION = 12000 };

/* By its name without the version's suffix; false if a function is missing. */
static bool find_driver(void *driver)
{
	int (*look_up)(const char *, void **, int, uint64_t, int *);
	bool is_whole = true;

	*(void **)&look_up = dlsym(driver, "cuGetProcAddress_v2");
#define DRIVER(name)                                                                             \
	{                                                                                        \
		char plain[] = #name;                                                            \
		void *function = NULL;                                                           \
                                                                                                 \
		plain[strcspn(plain, "_")] = '\0';                                               \
		is_whole = look_up && look_up(plain, &function, DRIVER_VERSION, 0, NULL) == 0 && \
			   is_whole;                                                             \
		*(void **)&runtime_driver.name = function;                                       \
	}
#include "test/sim/runtime_driver.def"
	return is_whole;
}

struct sim_core *runtime_load(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int (*get_table)(const void **table, const void *uuid);
	const void *table = NULL;

	pthread_mutex_lock(&lock);
	if (!runtime_model) {
		void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

		*(void **)&get_table = driver ? dlsym(driver, "cuGetExportTable") : NULL;
		if (get_table && get_table(&table, "simulated-cuda-1") == 0 &&
			find_driver(driver)) {
			runtime_model = (struct sim_core *)table;
		}
	}
	pthread_mutex_unlock(&lock);
	return runtime_model;
}

struct sim_core *runtime_start(void)
{
	struct sim_core *core = runtime_load();

	if (core && core->init() != SIM_NOT_INITIALIZED) {
		atomic_store_explicit(&runtime_is_started, true, memory_order_release);
	}
	return core;
}

int runtime_done(int code)
{
	if (code == SIM_NOT_INITIALIZED && runtime_model->device_count() == 0) {
		code = SIM_NO_DEVICE;
	}
	if (code != SIM_OK && code != SIM_NOT_READY && !is_asking) {
		last_error = code;
	}
	is_asking = false;
	return code;
}

cudart_error api_cudaGetLastError(void)
{
	int code = last_error;

	is_asking = true;
	last_error = SIM_OK;
	return code;
}

cudart_error api_cudaPeekAtLastError(void)
{
	is_asking = true;
	return last_error;
}

static size_t slot_of(const void *key)
{
	return (size_t)(((uintptr_t)key >> 3) * 0x9e3779b97f4a7c15u >> (64 - SLOT_BITS));
}

static struct sim_function *find(const void *host)
{
	for (size_t i = slot_of(host), n = 0; n < NR_SLOTS; i = (i + 1) % NR_SLOTS, n++) {
		struct sim_function *f =
			atomic_load_explicit(&registry.by_host[i], memory_order_acquire);

		if (!f || f->host == host) {
			return f;
		}
	}
	return NULL;
}

static struct sim_function *find_handle(const void *handle)
{
	for (size_t i = slot_of(handle), n = 0; n < NR_SLOTS; i = (i + 1) % NR_SLOTS, n++) {
		struct sim_function *f =
			atomic_load_explicit(&registry.by_handle[i], memory_order_acquire);

		if (!f || f == handle) {
			return f;
		}
	}
	return NULL;
}

struct sim_function *runtime_function(const void *func)
{
	struct sim_function *f = func ? find(func) : NULL;

	return f || !func ? f : find_handle(func);
}

static void insert(slots table, const void *key, struct sim_function *f)
{
	for (size_t i = slot_of(key), n = 0; n < NR_SLOTS; i = (i + 1) % NR_SLOTS, n++) {
		if (!atomic_load(&table[i])) {
			atomic_store_explicit(&table[i], f, memory_order_release);
			return;
		}
	}
}

/* Finds or makes the kernel of a host function. */
static struct sim_function *intern(const void *host, const char *name)
{
	pthread_mutex_lock(&registry.lock);
	struct sim_function *f = find(host);

	if (!f && runtime_load()) {
		f = runtime_model->function_create(name, host);
		if (f) {
			insert(registry.by_handle, f, f);
			insert(registry.by_host, host, f);
		}
	}
	pthread_mutex_unlock(&registry.lock);
	return f;
}

SIM_EXPORT void **__cudaRegisterFatBinary(void *fat_cubin);
SIM_EXPORT void __cudaRegisterFatBinaryEnd(void **handle);
SIM_EXPORT void __cudaUnregisterFatBinary(void **handle);
SIM_EXPORT void __cudaRegisterFunction(void **handle, const char *host_fun, char *device_fun,
	const char *device_name, int thread_limit, void *tid, void *bid, cudart_dim3 *block_dim,
	cudart_dim3 *grid_dim, int *warp_size);
SIM_EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name,
	int is_external, size_t bytes, int is_constant, int is_global);
SIM_EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
	int is_external, size_t bytes, int is_constant, int is_global);
SIM_EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes);
SIM_EXPORT char __cudaInitModule(void **handle);
SIM_EXPORT int simRegisterKernel(const void *host_func, sim_cpu_fn fn);
SIM_EXPORT int simRegisterKernelArgs(
	const void *host_func, sim_cpu_fn fn, int nr_args, const size_t *arg_bytes);
SIM_EXPORT void simGraphSetConditional(unsigned long long handle, unsigned int value);

/* What a module gets when it registers; each runtime has its own list of them. */
struct module {
	const void *fat_cubin;
	const void *owner; /* this runtime's registry: another copy of it lies elsewhere */
};

/* The real one follows what it takes for a pointer of its own. */
static struct module *own_module(void **handle, const char *function)
{
	struct module *module = (struct module *)(void *)handle;

	if (module->owner != &registry) {
		fprintf(stderr, "simulated CUDA: %s got a handle of another runtime\n", function);
		abort();
	}
	return module;
}

SIM_EXPORT void **__cudaRegisterFatBinary(void *fat_cubin)
{
	struct module *module = calloc(1, sizeof(*module));

	if (module) {
		*module = (struct module){fat_cubin, &registry};
	}
	return (void **)(void *)module;
}

SIM_EXPORT void __cudaRegisterFatBinaryEnd(void **handle)
{
	own_module(handle, __func__);
}

SIM_EXPORT void __cudaUnregisterFatBinary(void **handle)
{
	free(own_module(handle, __func__));
}

SIM_EXPORT void __cudaRegisterFunction(void **handle, const char *host_fun, char *device_fun,
	const char *device_name, int thread_limit, void *tid, void *bid, cudart_dim3 *block_dim,
	cudart_dim3 *grid_dim, int *warp_size)
{
	struct sim_function *f = intern(host_fun, device_name);

	own_module(handle, __func__);
	(void)device_fun;
	(void)tid;
	(void)bid;
	(void)block_dim;
	(void)grid_dim;
	(void)warp_size;
	/* A CPU version may have come first, and named the kernel after its host function. */
	if (f && strcmp(f->name, device_name) != 0) {
		char *name = strdup(device_name);

		f->name = name ? name : f->name;
	}
	if (f && thread_limit > 0) {
		f->max_threads = thread_limit;
	}
}

static void *symbol_add(const void *host, size_t bytes, int space)
{
	void *p = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0);

	if (p == MAP_FAILED || !runtime_load()) {
		return NULL;
	}
	pthread_mutex_lock(&registry.lock);
	if (registry.nr_symbols < NR_SYMBOLS) {
		registry.symbols[registry.nr_symbols].host = host;
		registry.symbols[registry.nr_symbols].device = p;
		registry.symbols[registry.nr_symbols].bytes = bytes;
		registry.nr_symbols++;
	}
	pthread_mutex_unlock(&registry.lock);
	runtime_model->static_register(p, bytes, space);
	return p;
}

SIM_EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name,
	int is_external, size_t bytes, int is_constant, int is_global)
{
	own_module(handle, __func__);
	(void)device;
	(void)name;
	(void)is_external;
	(void)is_constant;
	(void)is_global;
	symbol_add(host, bytes, SIM_DEVICE_STATIC);
}

SIM_EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
	int is_external, size_t bytes, int is_constant, int is_global)
{
	own_module(handle, __func__);
	(void)device;
	(void)name;
	(void)is_external;
	(void)is_constant;
	(void)is_global;
	*host = symbol_add(host, bytes, SIM_MANAGED_STATIC);
}

SIM_EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes)
{
	own_module(handle, __func__);
	(void)name;
	(void)host;
	(void)bytes;
}

SIM_EXPORT char __cudaInitModule(void **handle)
{
	own_module(handle, __func__);
	return runtime_core() != NULL;
}

void *runtime_symbol(const void *host, size_t *bytes)
{
	void *device = NULL;

	pthread_mutex_lock(&registry.lock);
	for (size_t i = 0; i < registry.nr_symbols; i++) {
		if (registry.symbols[i].host == host) {
			device = registry.symbols[i].device;
			if (bytes) {
				*bytes = registry.symbols[i].bytes;
			}
		}
	}
	pthread_mutex_unlock(&registry.lock);
	return device;
}

SIM_EXPORT int simRegisterKernelArgs(
	const void *host_func, sim_cpu_fn fn, int nr_args, const size_t *arg_bytes)
{
	Dl_info where;
	const char *name =
		dladdr(host_func, &where) && where.dli_sname ? where.dli_sname : "kernel";
	struct sim_function *f = intern(host_func, name);

	if (!f || nr_args > SIM_MAX_ARGS) {
		return f ? SIM_INVALID_VALUE : SIM_OUT_OF_MEMORY;
	}
	f->cpu = fn;
	f->nr_args = nr_args;
	for (int i = 0; i < nr_args; i++) {
		f->arg_bytes[i] = arg_bytes[i];
	}
	return SIM_OK;
}

SIM_EXPORT void simGraphSetConditional(unsigned long long handle, unsigned int value)
{
	runtime_model->graph_set_condition(handle, value);
}

SIM_EXPORT int simRegisterKernel(const void *host_func, sim_cpu_fn fn)
{
	return simRegisterKernelArgs(host_func, fn, -1, NULL);
}
