/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left of the runtime library's exports: there, so that any program links and starts, and
 * answering "not supported" whatever the arguments.
 */
#include "test/sim/sim.h"

#define REST(name)                        \
	SIM_EXPORT int name(void);        \
	SIM_EXPORT int name(void)         \
	{                                 \
		return SIM_NOT_SUPPORTED; \
	}
#include "test/sim/runtime_rest.def"
