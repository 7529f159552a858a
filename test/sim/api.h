/* SPDX-License-Identifier: Apache-2.0 */
/* Prototypes of the simulated functions behind the exported ones: api_NAME for each of hooks.def.
 */
#ifndef GPROF_SIM_API_H
#define GPROF_SIM_API_H

#include "test/sim/cuda_abi.h"

#define HOOK(api, need, ret, name, params, args, facts) ret api_##name params;
#define HOOK_MANUAL(api, need, ret, name, params, args)
#include "preload/hook/hooks.def"

/* A row of bytes as a copy or set. */
#define SIM_ROW(d, s, n) \
	((struct sim_copy){.dst = (d), .src = (s), .width = (n), .height = 1, .depth = 1})

/* Rows of bytes. */
#define SIM_ROWS(d, dp, s, sp, w, h)   \
	((struct sim_copy){.dst = (d), \
		.src = (s),            \
		.width = (w),          \
		.height = (h),         \
		.depth = 1,            \
		.dst_pitch = (dp),     \
		.src_pitch = (sp)})

#endif
