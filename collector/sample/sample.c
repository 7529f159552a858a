/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each of three groups has its own due time: the process, values that are slow to read, GPUs.
 * Readers form differences of two samples, so take_last() adds one when recording stops.
 */
#include "collector/sample/sample.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "collector/format/format.h"
#include "collector/sample/cpu_limit.h"
#include "collector/sample/numa.h"
#include "collector/sample/nvml.h"
#include "collector/sample/thread_cpu.h"
#include "collector/stream/batch.h"
#include "collector/util/clock.h"
#include "collector/util/config.h"
#include "collector/util/dir.h"
#include "collector/util/mode.h"
#include "collector/util/private_fd.h"

#define NO_DEVICE 255u
/* /proc/self/status, with the masks of 8,192 CPUs. What is longer has no allowed CPUs. */
#define STATUS_BYTES 8192u
#define MIN_MS	     10u
#define BLOCK_BYTES  512u /* of getrusage() */
/* Values that the kernel counts in hundredths of a second, or computes slowly. */
#define SLOW_NS 1000000000u
/* Samples take at most this part of the time between them. */
#define COST_PARTS 1000u
/* Fields of the first line of /proc/stat. The fields after these, the time of guests, are part of
 * user. */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, NR_CPU_FIELDS };

/* Rows of the process have what the slow ones have found. */
enum { GROUP_SLOW, GROUP_PROCESS, GROUP_GPU, NR_GROUPS };

static struct sample_state {
	uint64_t interval_ns; /* 0: off */
	uint64_t due_ns[NR_GROUPS];
	uint64_t look_raw; /* when the current group began: all its values have one time */
	struct private_fd cpus, status, io;
	uint64_t tick_ns;
	bool has_gpus;
	struct {
		unsigned int nr; /* of samples since recording began */
		uint64_t last_ns;
	} taken[NR_GROUPS];
} state = {.cpus = {.fd = -1}, .status = {.fd = -1}, .io = {.fd = -1}};

static void add(uint8_t metric, uint8_t device, uint64_t value)
{
	struct gprof_row_sample *row = batch_add(GPROF_TABLE_sample);

	row->time = state.look_raw;
	row->value = value;
	row->metric = metric;
	row->device = device;
}

static void add_here(uint8_t metric, uint64_t value)
{
	add(metric, NO_DEVICE, value);
}

/* ---- process ---- */

bool sample_read_resident(const char *text, uint64_t *bytes)
{
	static const char name[] = "\nVmRSS:";
	const char *at = strstr(text, name);
	char *end;

	if (!at) {
		return false;
	}
	at += sizeof(name) - 1;
	*bytes = strtoull(at, &end, 10) * 1024;
	return end != at && !strncmp(end, " kB", 3);
}

bool sample_read_bytes(const char *text, uint64_t *bytes)
{
	static const char name[] = "rchar: ";
	const char *at = strstr(text, name);
	char *end;

	if (!at || !strstr(at, "\nread_bytes: ")) {
		return false;
	}
	at += sizeof(name) - 1;
	*bytes = strtoull(at, &end, 10);
	return end != at && *end == '\n' && *at != '-';
}

static uint64_t ns_of(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

/*
 * The same text has read_bytes, but with those of children that the process waited for; the usage
 * has blocks of its own threads alone. It has 0 of them where the kernel does not count, and then
 * there is no such text.
 */
static void take_reads(const struct rusage *usage)
{
	char text[256];
	uint64_t bytes;

	if (private_fd_read(&state.io, text, sizeof(text)) && sample_read_bytes(text, &bytes)) {
		add_here(GPROF_METRIC_PROCESS_READ_BYTES, bytes);
		add_here(GPROF_METRIC_PROCESS_STORAGE_READ_BYTES,
			(uint64_t)usage->ru_inblock * BLOCK_BYTES);
	}
}

static void take_process(void)
{
	struct rusage usage;
	char text[STATUS_BYTES];
	uint64_t bytes;

	add_here(GPROF_METRIC_PROCESS_CPU_NS, clock_read_ns(CLOCK_PROCESS_CPUTIME_ID));
	if (private_fd_read(&state.status, text, sizeof(text)) &&
		sample_read_resident(text, &bytes)) {
		add_here(GPROF_METRIC_PROCESS_RSS_BYTES, bytes);
	}
	if (!getrusage(RUSAGE_SELF, &usage)) {
		add_here(GPROF_METRIC_PROCESS_USER_NS, ns_of(usage.ru_utime));
		add_here(GPROF_METRIC_PROCESS_SYSTEM_NS, ns_of(usage.ru_stime));
		add_here(GPROF_METRIC_PROCESS_SWITCHES, (uint64_t)usage.ru_nvcsw);
		add_here(GPROF_METRIC_PROCESS_PREEMPTIONS, (uint64_t)usage.ru_nivcsw);
		add_here(GPROF_METRIC_PROCESS_MAJOR_FAULTS, (uint64_t)usage.ru_majflt);
		take_reads(&usage);
	}
	thread_cpu_take(state.look_raw);
}

/* ---- threads, and the machine ---- */

bool sample_read_cpus(const char *text, struct sample_cpus *cpus)
{
	uint64_t ticks[NR_CPU_FIELDS], all = 0;

	if (strncmp(text, "cpu ", 4)) {
		return false;
	}
	text += 4;
	for (int i = 0; i < NR_CPU_FIELDS; i++) {
		char *end;

		ticks[i] = strtoull(text, &end, 10);
		if (end == text) {
			return false;
		}
		text = end;
		all += ticks[i];
	}
	*cpus = (struct sample_cpus){.user = ticks[USER] + ticks[NICE],
		.system = ticks[SYSTEM] + ticks[IRQ] + ticks[SOFTIRQ],
		.iowait = ticks[IOWAIT],
		.busy = all - ticks[IDLE] - ticks[IOWAIT],
		.all = all};
	return true;
}

bool sample_read_allowed(const char *text, uint64_t *nr)
{
	static const char name[] = "\nCpus_allowed:";
	const char *at = strstr(text, name);

	*nr = 0;
	/* Digits of base 16 in groups, "ff,ffffffff". */
	for (at = at ? at + sizeof(name) - 1 : ""; *at && *at != '\n'; at++) {
		const char digit[2] = {*at};

		*nr += (uint64_t)__builtin_popcountll(strtoull(digit, NULL, 16));
	}
	return *at == '\n' && *nr;
}

/* Reads the mask of the process's first thread: gprof's own thread may run on other CPUs. */
static void take_allowed_cpus(void)
{
	uint64_t milli_cpus, throttled_ns, nr;
	char text[STATUS_BYTES];

	if (private_fd_read(&state.status, text, sizeof(text)) && sample_read_allowed(text, &nr)) {
		add_here(GPROF_METRIC_PROCESS_ALLOWED_CPUS, nr);
	}
	if (cpu_limit_read(&milli_cpus, &throttled_ns)) {
		add_here(GPROF_METRIC_CGROUP_LIMIT_MILLI_CPUS, milli_cpus);
		add_here(GPROF_METRIC_CGROUP_THROTTLED_NS, throttled_ns);
	}
}

static void take_slow(void)
{
	struct stat tasks;
	char text[512];
	struct sample_cpus cpus;

	/* A directory has two links of its own, and one for each directory in it. */
	if (!dir_look("/proc/self/task", &tasks) && tasks.st_nlink > 2) {
		add_here(GPROF_METRIC_PROCESS_THREADS, tasks.st_nlink - 2);
	}
	take_allowed_cpus();
	thread_cpu_look_at_places();
	numa_take(clock_monotonic_ns(), add);
	if (private_fd_read(&state.cpus, text, sizeof(text)) && sample_read_cpus(text, &cpus)) {
		/* All of them last: readers need the parts first. */
		add_here(GPROF_METRIC_HOST_CPU_USER_NS, cpus.user * state.tick_ns);
		add_here(GPROF_METRIC_HOST_CPU_SYSTEM_NS, cpus.system * state.tick_ns);
		add_here(GPROF_METRIC_HOST_CPU_IOWAIT_NS, cpus.iowait * state.tick_ns);
		add_here(GPROF_METRIC_HOST_CPU_BUSY_NS, cpus.busy * state.tick_ns);
		add_here(GPROF_METRIC_HOST_CPU_ALL_NS, cpus.all * state.tick_ns);
	}
}

static void take_gpus(void)
{
	nvml_take(add);
}

/* ---- when ---- */

static const struct group {
	void (*take)(void);
	uint64_t least_ns; /* between two */
	/* Prepares the first samples. Its cost is not that of a sample, and delays no later one. */
	void (*prepare)(void);
} groups[NR_GROUPS] = {[GROUP_PROCESS] = {take_process},
	[GROUP_SLOW] = {take_slow, SLOW_NS},
	[GROUP_GPU] = {take_gpus, 0, nvml_look}};

uint64_t sample_next_ns(uint64_t now_ns, uint64_t wait_ns, uint64_t interval_ns)
{
	uint64_t nr_intervals = (wait_ns + interval_ns - 1) / interval_ns;

	return (now_ns / interval_ns + (nr_intervals ? nr_intervals : 1)) * interval_ns;
}

static bool is_due(unsigned int group, uint64_t now_ns)
{
	return now_ns >= state.due_ns[group] && (group != GROUP_GPU || state.has_gpus);
}

/* Takes a group's samples. Returns how long the next ones must wait, by what these cost. */
static uint64_t take(unsigned int group, uint64_t now_ns)
{
	uint64_t before_ns;

	if (groups[group].prepare) {
		groups[group].prepare();
	}
	before_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	state.look_raw = clock_raw();
	groups[group].take();
	state.taken[group].nr++;
	state.taken[group].last_ns = now_ns;
	return (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns) * COST_PARTS;
}

static void take_due(uint64_t now_ns)
{
	for (unsigned int i = 0; i < NR_GROUPS; i++) {
		uint64_t wait_ns;

		if (is_due(i, now_ns)) {
			wait_ns = take(i, now_ns);
			wait_ns = wait_ns > groups[i].least_ns ? wait_ns : groups[i].least_ns;
			state.due_ns[i] = sample_next_ns(now_ns, wait_ns, state.interval_ns);
		}
	}
}

/*
 * Shares of CPU time need two samples, however short the recording was. A short distance from one
 * of many gives them no weight, but odd extremes. GPUs need one; at the end of a process, NVML may
 * be gone.
 */
static void take_last(uint64_t now_ns)
{
	for (unsigned int i = 0; i < NR_GROUPS; i++) {
		uint64_t since_ns = now_ns - state.taken[i].last_ns;

		if (i != GROUP_GPU && state.taken[i].nr &&
			(state.taken[i].nr == 1 || since_ns >= state.interval_ns)) {
			state.due_ns[i] = now_ns + take(i, now_ns);
		}
		state.taken[i].nr = 0;
	}
	nvml_restart();
}

static bool is_on(void)
{
	return state.interval_ns && (atomic_load(&collector_mode) & COLLECTOR_RECORD);
}

void sample_init(void)
{
	uint64_t ms = config_number(CONFIG_SAMPLE_MS);
	long ticks = sysconf(_SC_CLK_TCK);

	memset(&state, 0, sizeof(state));
	state.cpus.fd = state.status.fd = state.io.fd = -1;
	if (!ms || config_flag(CONFIG_TIMER_ONLY)) {
		return;
	}
	state.interval_ns = (ms < MIN_MS ? MIN_MS : ms) * 1000000u;
	if (ticks > 0) {
		state.tick_ns = 1000000000u / (uint64_t)ticks;
		private_fd_open(&state.cpus, "/proc/stat", O_RDONLY, PRIVATE_FD_HIGH);
		private_fd_open(&state.status, "/proc/self/status", O_RDONLY, PRIVATE_FD_HIGH);
		private_fd_open(&state.io, "/proc/self/io", O_RDONLY, PRIVATE_FD_HIGH);
		cpu_limit_init("");
		numa_init();
		thread_cpu_init();
	}
}

void sample_take(uint64_t now_ns, bool is_attached)
{
	state.has_gpus = is_attached;
	if (is_on()) {
		take_due(now_ns);
	} else {
		take_last(now_ns);
	}
}

uint64_t sample_due_ns(void)
{
	uint64_t due = UINT64_MAX;

	for (unsigned int i = 0; i < NR_GROUPS && is_on(); i++) {
		if (i == GROUP_GPU && !state.has_gpus) {
			continue;
		}
		due = state.due_ns[i] < due ? state.due_ns[i] : due;
	}
	return due;
}

void sample_forget(void)
{
	thread_cpu_forget();
	private_fd_close(&state.cpus);
	private_fd_close(&state.status);
	private_fd_close(&state.io);
	cpu_limit_close();
}
