/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of Python functions in the timeline: a row of its own for each thread. */
#ifndef REPORT_TIMELINE_PYTHON_H
#define REPORT_TIMELINE_PYTHON_H

#include "report/timeline/timeline.h"

/* The columns of table py_call that are needed. */
#define TIMELINE_PYTHON_MASK COL_ALL(NR_COL_py_call)

void timeline_python_take(struct timeline *timeline, const struct batch *batch);

#endif
