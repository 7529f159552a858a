/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel has a ring for each CPU, so samples do not come in the order of their times. */
#include "report/budget/timed_samples.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/sort.h"

bool cpu_samples_have_kernel(const struct process *process)
{
	return process_number(process, "cpu_samples.has_kernel") == 1;
}

struct timed_sample timed_sample_of(
	struct process *process, const struct batch *batch, uint32_t row)
{
	return (struct timed_sample){
		.time_ns =
			clock_map_time(&process->host_clock, batch->col[COL_cpu_sample_time][row]),
		.stack = mixed_stack_id(batch->col[COL_cpu_sample_native_stack][row],
			batch->col[COL_cpu_sample_py_stack][row]),
		.cpu_ns = batch->col[COL_cpu_sample_ns][row],
		.task = (uint32_t)batch->col[COL_cpu_sample_task][row],
	};
}

void timed_samples_add(struct timed_samples *samples, const struct timed_sample *sample)
{
	samples->all =
		array_grow(samples->all, samples->nr, &samples->capacity, sizeof(*samples->all));
	samples->all[samples->nr++] = *sample;
}

static int by_time(const void *a, const void *b)
{
	const struct timed_sample *x = a, *y = b;

	return COMPARE(x->time_ns, y->time_ns);
}

void timed_samples_sort(struct timed_samples *samples)
{
	if (samples->nr) {
		qsort(samples->all, samples->nr, sizeof(*samples->all), by_time);
	}
}

size_t timed_samples_from(const struct timed_samples *samples, uint64_t time_ns)
{
	size_t at;

	BISECT(at, 0, samples->nr, samples->all[at].time_ns < time_ns);
	return at;
}

void timed_samples_fini(struct timed_samples *samples)
{
	free(samples->all);
	*samples = (struct timed_samples){0};
}
