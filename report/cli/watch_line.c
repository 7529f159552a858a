/* SPDX-License-Identifier: Apache-2.0 */
/* Says in one line what a job does just now. */
#include "report/cli/watch.h"
#include "report/util/text.h"

#include <inttypes.h>

struct sums {
	size_t nr_running, nr_steppers, nr_open;
	uint64_t least_step, most_step;
	uint64_t nr_lost;
	struct watch_slice slice;
	const struct watch_process *slowest;
	double slowest_ns;
};

static double step_ns(const struct watch_slice *slice)
{
	return slice->nr_steps ? (double)slice->steps_ns / (double)slice->nr_steps : 0;
}

static void add_process(struct sums *sums, const struct watch_process *p)
{
	double ns = step_ns(&p->slice);

	sums->nr_running += p->ending != PROCESS_EXIT_ENDED;
	sums->nr_open += p->is_open && p->ending != PROCESS_EXIT_ENDED;
	sums->nr_lost += p->nr_lost;
	sums->slice.nr_steps += p->slice.nr_steps;
	sums->slice.steps_ns += p->slice.steps_ns;
	sums->slice.nr_gpu_samples += p->slice.nr_gpu_samples;
	sums->slice.gpu_percent += p->slice.gpu_percent;
	sums->slice.cpu_ns += p->slice.cpu_ns;
	sums->slice.cpu_time_ns += p->slice.cpu_time_ns;
	if (p->steps) {
		sums->least_step = !sums->nr_steppers || p->steps < sums->least_step
					   ? p->steps
					   : sums->least_step;
		sums->most_step = p->steps > sums->most_step ? p->steps : sums->most_step;
		sums->nr_steppers++;
	}
	if (ns > sums->slowest_ns) {
		sums->slowest_ns = ns;
		sums->slowest = p;
	}
}

void watch_add_who(struct buf *out, const struct watch_process *p)
{
	if (p->process->rank >= 0) {
		buf_printf(out, "rank %" PRId64, p->process->rank);
	} else {
		buf_printf(out, "pid %" PRIu32, p->process->pid);
	}
}

static void add_steps(struct buf *out, const struct watch *watch, const struct sums *sums)
{
	if (!sums->nr_steppers) {
		buf_text(out, ", no step has ended");
		return;
	}
	buf_printf(out, ", steps %" PRIu64, sums->least_step);
	if (sums->most_step > sums->least_step) {
		buf_printf(out, "-%" PRIu64, sums->most_step);
	}
	if (!sums->slice.nr_steps) {
		buf_printf(
			out, ", none for %.0f s", (double)(watch_now_ns() - watch->moved_ns) / 1e9);
		return;
	}
	buf_printf(out, ", mean step %.3f ms", step_ns(&sums->slice) / 1e6);
	if (sums->nr_steppers > 1) {
		buf_text(out, " (");
		watch_add_who(out, sums->slowest);
		buf_printf(out, ": %.3f)", sums->slowest_ns / 1e6);
	}
}

void watch_add_line(struct buf *out, const struct watch *watch)
{
	struct sums sums = {0};

	for (size_t i = 0; i < watch->nr_processes; i++) {
		add_process(&sums, watch->processes[i]);
	}
	buf_printf(out, "%zu/%zu running, %zu recording", sums.nr_running, watch->nr_processes,
		sums.nr_open);
	add_steps(out, watch, &sums);
	if (sums.slice.nr_gpu_samples) {
		buf_printf(out, ", GPU %.0f %% (NVML)",
			(double)sums.slice.gpu_percent / (double)sums.slice.nr_gpu_samples);
	}
	if (sums.slice.cpu_time_ns) {
		buf_printf(out, ", CPU %.0f %%",
			100 * (double)sums.slice.cpu_ns / (double)sums.slice.cpu_time_ns);
	}
	if (sums.nr_lost) {
		buf_printf(out, ", %" PRIu64 " %s lost", sums.nr_lost,
			text_many(sums.nr_lost, "event", "events"));
	} else {
		buf_text(out, ", none lost");
	}
}
