/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU versions of the kernels of PyTorch whose results a program reads back: fills of tensors, and
 * what the gradient scaler does with its scale. A program loads this library before PyTorch, whose
 * kernels the simulator knows by their mangled names. All others compute nothing.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "preload/abi/cuda_abi.h"

typedef void (*cpu_fn)(void **args, cudart_dim3 grid, cudart_dim3 block);

/* Arguments of a fill: the number of elements, the value, the data. */
#define FILL(type)                                                                \
	static void fill_##type(void **args, cudart_dim3 grid, cudart_dim3 block) \
	{                                                                         \
		type value = *(type *)args[1], *data = *(type **)args[2];         \
                                                                                  \
		(void)grid;                                                       \
		(void)block;                                                      \
		for (int i = 0; i < *(int *)args[0]; i++) {                       \
			data[i] = value;                                          \
		}                                                                 \
	}

FILL(uint8_t)
FILL(uint32_t)
FILL(uint64_t)

/* amp_update_scale_cuda_kernel(scale, growth_tracker, found_inf, growth, backoff, interval) */
static void update_scale(void **args, cudart_dim3 grid, cudart_dim3 block)
{
	float *scale = *(float **)args[0];
	int *nr_good = *(int **)args[1];

	(void)grid;
	(void)block;
	if (**(const float **)args[2] != 0) {
		*scale *= (float)*(double *)args[4];
		*nr_good = 0;
	} else if (++*nr_good == *(int *)args[5]) {
		*scale *= (float)*(double *)args[3];
		*nr_good = 0;
	}
}

/* Element types as their mangled names have them. */
static const struct {
	char letter;
	size_t bytes;
	cpu_fn cpu;
} types[] = {{'b', 1, fill_uint8_t}, {'f', 4, fill_uint32_t}, {'i', 4, fill_uint32_t},
	{'l', 8, fill_uint64_t}, {'d', 8, fill_uint64_t}};

__attribute__((constructor)) static void register_kernels(void)
{
	static const size_t update_bytes[] = {8, 8, 8, 8, 8, 4};
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	int (*add)(const char *, cpu_fn, int, const size_t *);
	char name[160];

	*(void **)&add = driver ? dlsym(driver, "simRegisterKernelName") : NULL;
	if (!add) {
		return;
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		const size_t fill_bytes[] = {sizeof(int), types[i].bytes, sizeof(void *)};

		for (int elements = 2; elements <= 16; elements *= 2) {
			snprintf(name, sizeof(name),
				"_ZN2at6native29vectorized_elementwise_kernelILi%dENS0_"
				"11FillFunctorI%cEE"
				"St5arrayIPcLm1EELb0EEEviT0_T1_",
				elements, types[i].letter);
			add(name, types[i].cpu, 3, fill_bytes);
		}
	}
	add("_ZN2at6native28amp_update_scale_cuda_kernelEPfPiPKfddi", update_scale, 6,
		update_bytes);
}
