/* SPDX-License-Identifier: Apache-2.0 */
/* Every hooked runtime function, exported by the simulated libcudart. */
#include "test/sim/runtime.h"

#define SIM_DOMAIN	 CUPTI_DOMAIN_RUNTIME
#define SIM_CORE	 runtime_core()
#define SIM_DONE(code)	 ((code) = runtime_done(code))
#define SIM_SYMBOL(func) runtime_name(func)
#define SIM_RT		 SIM_WRAPPER
#define SIM_DRV		 SIM_NONE

/* The real one loads a kernel when it is first launched: driver calls before the launch's callback.
 */
static const char *runtime_name(const void *func)
{
	struct sim_function *f = runtime_function(func);

	if (f && !f->is_loaded && !atomic_exchange(&f->is_loaded, true)) {
		void *driver_function;

		runtime_driver.cuKernelGetFunction(&driver_function, f);
	}
	return f ? f->name : NULL;
}

#include "test/sim/export.h"
#include "preload/hook/hooks.def"
