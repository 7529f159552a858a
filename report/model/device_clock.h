/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the durations of GPU activities. The clocks of GPU and host count at rates that differ by
 * some ppm, so a conversion of both ends of an activity changes its duration, and activities that
 * follow each other overlap or drift apart.
 */
#ifndef REPORT_MODEL_DEVICE_CLOCK_H
#define REPORT_MODEL_DEVICE_CLOCK_H

#include "report/model/model.h"

/*
 * Changes device_clock so that it has a slope of 1 wherever the GPUs of a process are busy, and
 * makes up for the rate while they are idle. Activities keep their durations, their order and how
 * they overlap. None becomes earlier than by the readings of the clocks alone, hence none begins
 * before its call; it becomes later by at most 0.2 us, and by the difference of the clocks during
 * one busy period.
 *
 * Reads the times of all GPU activities if the rates differ. Call it after job_clock_align.
 */
void device_clock_keep_durations(struct process *process);

#endif
