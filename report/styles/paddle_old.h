/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of the view framework as Paddle's old profiler (paddle.fluid.profiler) printed it:
 * Profiling Report with its Overhead, GpuMemCpy and Event Summary.
 */
#ifndef REPORT_STYLES_PADDLE_OLD_H
#define REPORT_STYLES_PADDLE_OLD_H

#include "report/table/table.h"

struct paddle_old_options {
	const char *unit; /* of times: "ms" */
	double unit_ns;
	const char *sort; /* the user's key, NULL: by total time */
	bool is_per_thread;
	size_t top; /* events that lie in none, 0 all */
};

void style_paddle_old_print(
	const struct table *table, const struct paddle_old_options *options, struct buf *out);

#endif
