/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A long training job in little time, which measures what it costs to have a guest:
 *
 *	job STEPS CALLS STEP_US [names] [threads] [shapes] [light] [hold]
 *
 * A step makes CALLS calls (launches and a copy; `light`: calls of no work) and begins STEP_US
 *after the last. `names` uses NVTX names of which none comes twice, `threads` a new thread in each
 *step, `shapes` a new grid in each launch. `hold` stops before the middle step until the file HOLD
 *is gone. Printed, one "name value" a line: memory of the process at 20, 40, 60, 80 and 100 %,
 *descriptors and threads that came with the first call, the longest step, and the time at which
 *main returns.
 */
#include "test/prog/prog.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "test/demo/ranges.h"

enum { N = 64 };

static struct job {
	int nr_steps, nr_calls;
	long step_us;
	int is_names, is_threads, is_shapes, is_light, is_hold;
	int *d;
	unsigned long nr_done;
} job;

KERNEL2(job_kernel, int *, x, int, by)
{
	x[index % N] += by;
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A number of /proc/self/status, in kB where it has a unit. */
static long status_of(const char *name)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	long value = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, name, strlen(name))) {
			value = atol(line + strlen(name) + 1);
		}
	}
	if (file) {
		fclose(file);
	}
	return value;
}

static void print_memory(int percent)
{
	printf("rss_kb_%d %ld\nanon_kb_%d %ld\nmapped_kb_%d %ld\n", percent, status_of("VmRSS"),
		percent, status_of("RssAnon"), percent, status_of("VmSize"));
}

/* Descriptors beyond the first `known`; those of a good guest are high and close-on-exec. */
static int count_fds(int *nr_low, int *nr_kept)
{
	int nr = 0;

	for (int fd = 0; fd < 4096; fd++) {
		int flags = fcntl(fd, F_GETFD);

		nr += flags >= 0;
		*nr_low += flags >= 0 && fd < 100;
		*nr_kept += flags >= 0 && !(flags & FD_CLOEXEC);
	}
	return nr;
}

/* The same of those that last: the recorder may have one open for a moment. */
static int count_lasting_fds(int most_low, int *nr_low, int *nr_kept)
{
	int nr = 0;

	for (int look = 0; look < 1000; look++) {
		*nr_low = *nr_kept = 0;
		nr = count_fds(nr_low, nr_kept);
		if (*nr_low <= most_low) {
			break;
		}
		usleep(1000);
	}
	return nr;
}

/*
 * Threads named "gprof", and how many of those let a signal through: other than SIGSTKFLT, which
 * the kernel opens in a thread while that waits for it.
 */
static void print_threads(void)
{
	/* 9, 19; libc's 32, 33; 16 */
	const uint64_t unblockable = 1ull << 8 | 1ull << 18 | 3ull << 31 | 1ull << 15;
	DIR *tasks = opendir("/proc/self/task");
	int nr = 0, nr_open = 0;
	struct dirent *entry;

	while (tasks && (entry = readdir(tasks)) != NULL) {
		char path[300], line[256];
		int is_ours = 0;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
		file = fopen(path, "re");
		while (file && fgets(line, sizeof(line), file)) {
			is_ours |= !strcmp(line, "Name:\tgprof\n");
			if (is_ours && !strncmp(line, "SigBlk:", 7)) {
				nr_open += ~(strtoull(line + 7, NULL, 16) | unblockable) != 0;
			}
		}
		nr += is_ours;
		if (file) {
			fclose(file);
		}
	}
	if (tasks) {
		closedir(tasks);
	}
	printf("gprof_threads %d\ngprof_threads_with_signals %d\n", nr, nr_open);
}

static void launch(int i)
{
	unsigned int blocks = job.is_shapes ? (unsigned int)(job.nr_done % 60000 + 1) : 1;
	int by = i;

	LAUNCH(job_kernel, blocks, job.is_shapes ? 1 : N, (cudaStream_t)0, &job.d, &by);
}

static void *calls(void *unused)
{
	int host[N] = {0}, device;
	char name[64];

	for (int i = 0; i < job.nr_calls - 1; i++, job.nr_done++) {
		if (job.is_names) {
			snprintf(name, sizeof(name), "range number %lu", job.nr_done);
			range_push(name);
		}
		if (job.is_light) {
			CHECK(cudaGetDevice(&device));
		} else {
			launch(i);
		}
		if (job.is_names) {
			range_pop();
		}
	}
	CHECK(cudaMemcpy(job.d, host, sizeof(host), cudaMemcpyHostToDevice));
	job.nr_done++;
	return unused;
}

static void hold(void)
{
	const char *path = getenv("HOLD");
	int fd = path ? open(path, O_CREAT | O_WRONLY, 0600) : -1;

	close(fd);
	for (int i = 0; fd >= 0 && i < 2000 && !access(path, F_OK); i++) {
		usleep(5000);
	}
}

static void run_step(int step)
{
	pthread_t thread;

	if (job.is_hold && step == job.nr_steps / 2) {
		hold();
	}
	range_push("step");
	if (job.is_threads && !pthread_create(&thread, NULL, calls, NULL)) {
		pthread_join(thread, NULL);
	} else {
		calls(NULL);
	}
	range_pop();
	for (int fifth = 1; fifth < 5; fifth++) {
		if (step == job.nr_steps * fifth / 5) {
			print_memory(fifth * 20);
		}
	}
}

static void run(void)
{
	uint64_t next = now_ns(CLOCK_MONOTONIC);
	uint64_t longest = 0;

	for (int step = 0; step < job.nr_steps; step++) {
		uint64_t begin = now_ns(CLOCK_MONOTONIC);
		uint64_t end;

		if (begin < next) {
			usleep((useconds_t)((next - begin) / 1000));
		}
		next += (uint64_t)job.step_us * 1000;
		begin = now_ns(CLOCK_MONOTONIC);
		run_step(step);
		end = now_ns(CLOCK_MONOTONIC);
		/* Not the step that waits on purpose. */
		longest = end - begin > longest && !(job.is_hold && step == job.nr_steps / 2)
				  ? end - begin
				  : longest;
	}
	printf("longest_step_us %llu\n", (unsigned long long)longest / 1000);
}

static void read_options(int argc, char **argv)
{
	job.nr_steps = argc > 1 ? atoi(argv[1]) : 10;
	job.nr_calls = argc > 2 ? atoi(argv[2]) : 10;
	job.step_us = argc > 3 ? atol(argv[3]) : 1000;
	for (int i = 4; i < argc; i++) {
		job.is_names |= !strcmp(argv[i], "names");
		job.is_threads |= !strcmp(argv[i], "threads");
		job.is_shapes |= !strcmp(argv[i], "shapes");
		job.is_light |= !strcmp(argv[i], "light");
		job.is_hold |= !strcmp(argv[i], "hold");
	}
}

int main(int argc, char **argv)
{
	int low[2] = {0}, kept[2] = {0}, nr[2];
	uint64_t begin;

	read_options(argc, argv);
	nr[0] = count_fds(&low[0], &kept[0]);
	begin = now_ns(CLOCK_MONOTONIC);
	ranges_init();
	CHECK(cudaMalloc((void **)&job.d, N * sizeof(int)));
	printf("first_call_us %llu\n",
		(unsigned long long)(now_ns(CLOCK_MONOTONIC) - begin) / 1000);
	job.nr_done++;
	run();
	nr[1] = count_lasting_fds(low[0], &low[1], &kept[1]);
	printf("new_fds %d\nnew_fds_below_100 %d\nnew_fds_kept_on_exec %d\n", nr[1] - nr[0],
		low[1] - low[0], kept[1] - kept[0]);
	print_threads();
	print_memory(100);
	printf("peak_kb %ld\ncalls %lu\nmain_returns_ns %llu\n", status_of("VmHWM"), job.nr_done,
		(unsigned long long)now_ns(CLOCK_REALTIME));
	return 3;
}
