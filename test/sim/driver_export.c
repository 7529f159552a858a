/* SPDX-License-Identifier: Apache-2.0 */
/* Every hooked driver function, exported by the simulated libcuda. */
#include "test/sim/model.h"

#define SIM_DOMAIN	 CUPTI_DOMAIN_DRIVER
#define SIM_CORE	 (&sim_core)
#define SIM_DONE(code)	 ((void)(code))
#define SIM_SYMBOL(func) driver_symbol(func)
#define SIM_DRV		 SIM_WRAPPER
#define SIM_RT		 SIM_NONE

/* handle: a kernel, or the code of a function of the program's. */
static const char *driver_symbol(const void *handle)
{
	const struct sim_function *f = handle;

	if (!f || (uintptr_t)f % _Alignof(struct sim_function)) {
		return NULL;
	}
	return f->magic == SIM_FUNCTION_MAGIC ? f->name : NULL;
}

#include "test/sim/export.h"
#include "preload/hook/hooks.def"
