/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The styles of `summary`; the first one is the default. A new style is one file with a struct
 * summary_style and a line here.
 */
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
