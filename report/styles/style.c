/* SPDX-License-Identifier: Apache-2.0 */
#include "report/session/summary.h"

const struct summary_style *const summary_styles[] = {
	&style_gprof,
	&style_nvprof,
	&style_nsys,
	&style_paddle,
	&style_torch,
	&style_tensorboard,
	NULL,
};
