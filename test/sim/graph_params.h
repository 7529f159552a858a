/* SPDX-License-Identifier: Apache-2.0 */
/* The layouts of the driver's parameters of graph nodes, as far as they matter. */
#ifndef TEST_SIM_GRAPH_PARAMS_H
#define TEST_SIM_GRAPH_PARAMS_H

#include "test/sim/api.h"
#include "test/sim/sim.h"

struct kernel_params {
	struct sim_function *function;
	cudart_dim3 grid, block;
	unsigned int shared_bytes;
	void **args, **extra;
	struct sim_function *kernel; /* from version 2 on: instead of the function */
};

struct set_params {
	cu_deviceptr dst;
	size_t pitch_bytes;
	unsigned int value, element_bytes;
	size_t width, height;
};

struct host_params {
	void (*fn)(void *);
	void *data;
};

#endif
