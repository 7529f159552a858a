/* SPDX-License-Identifier: Apache-2.0 */
/* Events of devices to rows; each has a name, a begin and a duration. For kineto_take.c. */
#ifndef REPORT_KINETO_GPU_H
#define REPORT_KINETO_GPU_H

#include "report/kineto/events_to_rows.h"

void kineto_gpu_kernel(struct kineto_convert *take, const struct kineto_event *event);
void kineto_gpu_copy(struct kineto_convert *take, const struct kineto_event *event);
void kineto_gpu_set(struct kineto_convert *take, const struct kineto_event *event);
void kineto_gpu_sync(struct kineto_convert *take, const struct kineto_event *event);
void kineto_gpu_overhead(struct kineto_convert *take, const struct kineto_event *event);

#endif
