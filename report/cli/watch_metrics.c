/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a watch in Prometheus's text format. */
#include "report/cli/watch.h"

#include <inttypes.h>

/* In quotes of the format: no quote, backslash or newline stands for itself. */
static void add_quoted(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n') {
			buf_text(out, "\\n");
			continue;
		}
		if (*text == '"' || *text == '\\') {
			buf_char(out, '\\');
		}
		buf_char(out, *text);
	}
}

/* name{host="h",pid="1",rank="0"; the rank is empty where it is unknown. */
static void add_labels(struct buf *out, const char *name, const struct watch_process *p)
{
	buf_printf(out, "%s{host=\"", name);
	add_quoted(out, process_host(p->process));
	buf_printf(out, "\",pid=\"%" PRIu32 "\",rank=\"", p->process->pid);
	if (p->process->rank >= 0) {
		buf_printf(out, "%" PRId64, p->process->rank);
	}
	buf_char(out, '"');
}

static void add_head(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* In seconds, with all digits. */
static void add_seconds(struct buf *out, uint64_t ns)
{
	buf_printf(out, "} %" PRIu64 ".%09" PRIu64 "\n", ns / 1000000000u, ns % 1000000000u);
}

static uint64_t is_running(const struct watch_process *p)
{
	return p->ending != PROCESS_EXIT_ENDED;
}

static uint64_t is_recording(const struct watch_process *p)
{
	return p->is_open && p->ending != PROCESS_EXIT_ENDED;
}

static uint64_t steps(const struct watch_process *p)
{
	return p->steps;
}

static uint64_t lost(const struct watch_process *p)
{
	return p->nr_lost;
}

static uint64_t windows(const struct watch_process *p)
{
	return p->nr_closed;
}

static uint64_t resident(const struct watch_process *p)
{
	return p->resident_bytes;
}

static uint64_t hangs(const struct watch_process *p)
{
	return p->hangs.began;
}

static uint64_t is_hung(const struct watch_process *p)
{
	return watch_is_hung(p);
}

static const struct whole {
	const char *name, *type, *help;
	uint64_t (*value)(const struct watch_process *process);
} wholes[] = {
	{"gprof_process_running", "gauge", "1 while the process is not known to have ended.",
		is_running},
	{"gprof_recording", "gauge", "1 while a record window is open.", is_recording},
	{"gprof_windows_closed_total", "counter", "Record windows that have closed.", windows},
	{"gprof_steps_total", "counter",
		"Steps that have ended; absent for processes without steps, such as loader "
		"workers.",
		steps},
	{"gprof_hangs_total", "counter", "Hangs that the recorder reported (GPROF_HANG_TIMEOUT_S).",
		hangs},
	{"gprof_hung", "gauge", "1 while the recorder reports that the process hangs.", is_hung},
	{"gprof_events_lost_total", "counter", "Events that the recorder lost.", lost},
	{"gprof_process_resident_bytes", "gauge",
		"Resident memory of the process at the last sample, 0 without samples.", resident},
};

static void add_wholes(struct buf *out, const struct watch *watch)
{
	for (size_t k = 0; k < sizeof(wholes) / sizeof(wholes[0]); k++) {
		add_head(out, wholes[k].name, wholes[k].type, wholes[k].help);
		for (size_t i = 0; i < watch->nr_processes; i++) {
			const struct watch_process *p = watch->processes[i];

			if (wholes[k].value == steps && !p->steps) {
				continue;
			}
			add_labels(out, wholes[k].name, p);
			buf_printf(out, "} %" PRIu64 "\n", wholes[k].value(p));
		}
	}
}

static void add_times(struct buf *out, const struct watch *watch)
{
	add_head(out, "gprof_step_duration_seconds", "summary",
		"Time of steps whose begin and end are known, also of those that warm up and of "
		"outliers.");
	for (size_t i = 0; i < watch->nr_processes; i++) {
		const struct watch_process *p = watch->processes[i];

		if (!p->steps) {
			continue;
		}
		add_labels(out, "gprof_step_duration_seconds_sum", p);
		add_seconds(out, p->all.steps_ns);
		add_labels(out, "gprof_step_duration_seconds_count", p);
		buf_printf(out, "} %" PRIu64 "\n", p->all.nr_steps);
	}
	add_head(out, "gprof_last_step_duration_seconds", "gauge",
		"Time of the last step, 0 if it is unknown.");
	for (size_t i = 0; i < watch->nr_processes; i++) {
		if (watch->processes[i]->steps) {
			add_labels(out, "gprof_last_step_duration_seconds", watch->processes[i]);
			add_seconds(out, watch->processes[i]->last_step_ns);
		}
	}
	add_head(out, "gprof_process_cpu_seconds_total", "counter",
		"CPU time of the process at the last sample, 0 without samples.");
	for (size_t i = 0; i < watch->nr_processes; i++) {
		add_labels(out, "gprof_process_cpu_seconds_total", watch->processes[i]);
		add_seconds(out, watch->processes[i]->cpu_ns);
	}
}

static void add_gpus(struct buf *out, const struct watch *watch)
{
	add_head(out, "gprof_gpu_busy_ratio", "gauge",
		"Share of the last sampling period of NVML in which a kernel ran on that GPU, of "
		"any process; not the utilization that summary has of the steps.");
	for (size_t i = 0; i < watch->nr_processes; i++) {
		const struct watch_process *p = watch->processes[i];

		for (unsigned int gpu = 0; gpu < WATCH_GPUS; gpu++) {
			if (p->gpu_percent[gpu] >= 0) {
				add_labels(out, "gprof_gpu_busy_ratio", p);
				buf_printf(out, ",gpu=\"%u\"} %d.%02d\n", gpu,
					p->gpu_percent[gpu] / 100, p->gpu_percent[gpu] % 100);
			}
		}
	}
}

void watch_add_metrics(struct buf *out, const struct watch *watch)
{
	add_wholes(out, watch);
	add_times(out, watch);
	add_gpus(out, watch);
}
