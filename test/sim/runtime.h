/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the simulated runtime share: the model's table, the registry of kernels and
 * variables that compiled code fills, and the last error of the thread. One copy per libcudart, as
 * with the real ones; two runtimes in a process share the driver alone.
 */
#ifndef GPROF_SIM_RUNTIME_H
#define GPROF_SIM_RUNTIME_H

#include "test/sim/cupti_abi.h"
#include "test/sim/api.h"
#include "test/sim/sim.h"

/* The model, loaded and started; NULL where there is no libcuda.so.1. */
extern struct sim_core *runtime_model;
extern _Atomic bool runtime_is_started;
struct sim_core *runtime_start(void);

/* The model, loaded but not started: for registration, which must not start CUDA. */
struct sim_core *runtime_load(void);

/* Version that this library answers for: 11080, 12040, 13000. */
extern const int runtime_level;

static inline struct sim_core *runtime_core(void)
{
	if (SIM_UNLIKELY(!atomic_load_explicit(&runtime_is_started, memory_order_acquire))) {
		return runtime_start();
	}
	return runtime_model;
}

/* Keeps the thread's last error; the code as the runtime reports it. */
int runtime_done(int code);

/* The kernel behind a host function's address or a kernel handle; NULL if it is neither. */
struct sim_function *runtime_function(const void *func);

/* The driver's parameters of a copy; arrays are linear here. */
int runtime_copy_3d(cu_memcpy3d *to, const cudart_memcpy3d_parms *p);

/* Device memory of a registered variable; NULL if there is none. */
void *runtime_symbol(const void *host, size_t *bytes);

/*
 * The driver's functions that this runtime calls, from cuGetProcAddress, as the real one has them:
 * no hook sees these calls, and CUPTI sees each inside of the runtime's, with one correlation ID.
 */
extern struct runtime_driver {
#define DRIVER(name) __typeof__(api_##name) *name;
#include "test/sim/runtime_driver.def"
} runtime_driver;

#endif
