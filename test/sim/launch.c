/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels, their CPU versions, and host functions. */
#include "test/sim/model.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BLOCK_THREADS = 1024, MAX_SHARED_BYTES = 232448, ARG_ALIGN = 16 };

/* What a multiprocessor has; the system takes shared memory for each block. */
enum {
	SM_THREADS = 2048,
	SM_REGISTERS = 65536,
	SM_SHARED_BYTES = 233472,
	SM_BLOCKS = 32,
	BLOCK_SHARED_BYTES = 1024,
};

/* CPU versions by kernel name, for kernels that are made later. */
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

/* Gives kernels of this name, of a module or of a runtime, a CPU version; sizes may be left out
 * with nr_args < 0. */
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

struct sim_function *sim_function_create(const char *name, const void *host)
{
	struct sim_function *f = calloc(1, sizeof(*f));

	if (!f) {
		return NULL;
	}
	f->magic = SIM_FUNCTION_MAGIC;
	f->name = strdup(name);
	f->host = host;
	f->nr_args = -1;
	f->hash = 2166136261u;
	for (const char *p = name; *p; p++) {
		f->hash = (f->hash ^ (unsigned char)*p) * 16777619u;
	}
	f->registers = 16 + (int)(f->hash % 13) * 8;
	f->static_shared_bytes = (int)(f->hash >> 8) % 4 * 1024;
	f->max_threads = MAX_BLOCK_THREADS;
	if (!f->name) {
		free(f);
		return NULL;
	}
	attach_cpu(f);
	return f;
}

static size_t args_bytes(const struct sim_function *f)
{
	size_t bytes = 0;

	for (int i = 0; i < f->nr_args; i++) {
		bytes += (f->arg_bytes[i] + ARG_ALIGN - 1) / ARG_ALIGN * ARG_ALIGN;
	}
	return bytes;
}

int sim_args_keep(struct sim_op *op)
{
	const struct sim_function *f = op->function;

	if (f->nr_args < 0) {
		op->args = NULL;
		return SIM_OK;
	}
	size_t table =
		(sizeof(void *) * (size_t)f->nr_args + ARG_ALIGN - 1) / ARG_ALIGN * ARG_ALIGN;
	void **kept = malloc(table + args_bytes(f) + 1);

	if (!kept) {
		return SIM_OUT_OF_MEMORY;
	}
	char *value = (char *)kept + table;

	for (int i = 0; i < f->nr_args; i++) {
		kept[i] = value;
		memcpy(value, op->args[i], f->arg_bytes[i]);
		value += (f->arg_bytes[i] + ARG_ALIGN - 1) / ARG_ALIGN * ARG_ALIGN;
	}
	op->args = kept;
	return SIM_OK;
}

void sim_args_drop(struct sim_op *op)
{
	if (op->kind == SIM_OP_KERNEL) {
		free(op->args);
		op->args = NULL;
	}
}

static bool is_launchable(
	const struct sim_function *f, cudart_dim3 grid, cudart_dim3 block, size_t shared_bytes)
{
	uint64_t threads = (uint64_t)block.x * block.y * block.z;

	return grid.x && grid.y && grid.z && threads && threads <= (uint64_t)f->max_threads &&
	       grid.y <= 65535 && grid.z <= 65535 && shared_bytes <= MAX_SHARED_BYTES;
}

int sim_launch(struct sim_function *function, cudart_dim3 grid, cudart_dim3 block,
	size_t shared_bytes, void *stream, void **args, int launch_type)
{
	struct sim_op op = {.kind = SIM_OP_KERNEL, .stream = sim_resolve(stream)};

	if (!op.stream) {
		return sim_context() ? SIM_INVALID_HANDLE : SIM_NOT_INITIALIZED;
	}
	if (!function || function->magic != SIM_FUNCTION_MAGIC) {
		return SIM_INVALID_HANDLE;
	}
	if (!is_launchable(function, grid, block, shared_bytes)) {
		return SIM_INVALID_VALUE;
	}
	op.function = function;
	op.grid = grid;
	op.block = block;
	op.shared_bytes = (uint32_t)shared_bytes;
	op.args = args;
	op.launch_type = (uint8_t)launch_type;
	return sim_submit(&op);
}

int sim_occupancy(
	int *nr_blocks, const struct sim_function *function, int block_size, size_t shared_bytes)
{
	if (!function || !nr_blocks || block_size <= 0) {
		return SIM_INVALID_VALUE;
	}
	size_t shared = shared_bytes + (size_t)function->static_shared_bytes + BLOCK_SHARED_BYTES;
	int limits[] = {SM_THREADS / block_size, SM_REGISTERS / (function->registers * block_size),
		(int)(SM_SHARED_BYTES / shared), SM_BLOCKS};

	*nr_blocks = limits[0];
	for (int i = 1; i < 4; i++) {
		*nr_blocks = limits[i] < *nr_blocks ? limits[i] : *nr_blocks;
	}
	return SIM_OK;
}

int sim_host_func(void *stream, void (*fn)(void *), void *data)
{
	struct sim_op op = {.kind = SIM_OP_HOST, .stream = sim_resolve(stream)};

	op.host_fn = fn;
	op.host_data = data;
	if (!op.stream || !fn) {
		return fn ? SIM_INVALID_HANDLE : SIM_INVALID_VALUE;
	}
	return sim_submit(&op);
}

int sim_stream_callback(void *stream, void (*fn)(void *, int, void *), void *data)
{
	struct sim_op op = {.kind = SIM_OP_HOST, .stream = sim_resolve(stream)};

	op.callback_fn = fn;
	op.host_data = data;
	if (!op.stream || !fn) {
		return fn ? SIM_INVALID_HANDLE : SIM_INVALID_VALUE;
	}
	return op.stream->capture ? SIM_CAPTURE_UNSUPPORTED : sim_submit(&op);
}
