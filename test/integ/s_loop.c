/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop of steps, for tests of what happens to it:
 *
 *	s_loop STEPS LAUNCHES [WHAT...]
 *
 * Each step copies to the device, launches LAUNCHES kernels, and synchronises. WHAT: `call` ends
 * each step by gprof_step(), `nvtx` wraps it into the range "step", `capture=A-B` calls
 * cudaProfilerStart before step A and Stop before step B, `sleep=MS` after each step, `chdir=DIR`
 * after the first, and before the last step `kill` (by SIGKILL), `fork` (a child makes CUDA calls
 * and ends), `hold` (touches the file named by HOLD and waits until it is gone); `hold=A,B` does so
 * before steps A and B; `child` lets the child of `fork` end steps by gprof_step() before and after
 * it holds like that, too; `work` lets it copy. With `number` the correlation IDs jump by 2^31 at
 *each step. The exit status is N with `exit=N`, and `quick` leaves by _exit. It prints how much it
 *did so far, at each step.
 */
#include "test/prog/prog.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/demo/ranges.h"

enum { N = 256 };

KERNEL2(step_kernel, int *, x, int, by)
{
	x[index] += by;
}

static struct options {
	int nr_steps, nr_launches;
	int is_call, is_nvtx, is_kill, is_fork, is_child, is_work, is_hold, is_quick, is_number;
	int first, end; /* of the capture */
	int holds[2];
	int sleep_ms, status;
	const char *dir;
} options = {.first = -1, .end = -1, .holds = {-1, -1}};

static void read_options(int argc, char **argv)
{
	options.nr_steps = argc > 1 ? atoi(argv[1]) : 1;
	options.nr_launches = argc > 2 ? atoi(argv[2]) : 1;
	for (int i = 3; i < argc; i++) {
		options.is_call |= !strcmp(argv[i], "call");
		options.is_nvtx |= !strcmp(argv[i], "nvtx");
		options.is_kill |= !strcmp(argv[i], "kill");
		options.is_fork |= !strcmp(argv[i], "fork");
		options.is_child |= !strcmp(argv[i], "child");
		options.is_work |= !strcmp(argv[i], "work");
		options.is_hold |= !strcmp(argv[i], "hold");
		options.is_number |= !strcmp(argv[i], "number");
		options.is_quick |= !strcmp(argv[i], "quick");
		sscanf(argv[i], "capture=%d-%d", &options.first, &options.end);
		sscanf(argv[i], "hold=%d,%d", &options.holds[0], &options.holds[1]);
		sscanf(argv[i], "sleep=%d", &options.sleep_ms);
		sscanf(argv[i], "exit=%d", &options.status);
		if (!strncmp(argv[i], "chdir=", 6)) {
			options.dir = argv[i] + 6;
		}
	}
}

static void hold(void)
{
	const char *path = getenv("HOLD");
	int fd = path ? open(path, O_CREAT | O_WRONLY, 0600) : -1;

	for (int i = 0; fd >= 0 && i < 3000 && !access(path, F_OK); i++) {
		usleep(10000);
	}
	close(fd);
}

/* Only the simulator's libcuda has this function. */
static void number_calls(uint32_t step)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void (*number)(uint32_t next);

	*(void **)&number = driver ? dlsym(driver, "simNumberCalls") : NULL;
	if (number) {
		number(1000 + (step << 31));
	}
}

static void step_in_child(void)
{
	void (*gprof_step)(void);

	*(void **)&gprof_step = dlsym(RTLD_DEFAULT, "gprof_step");
	for (int i = 0; gprof_step && i < 3; i++) {
		gprof_step();
	}
	hold();
	if (gprof_step) {
		gprof_step();
	}
}

static void fork_child(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		int device, from = 0, to;

		for (int i = 0; i < 7; i++) {
			cudaGetDevice(&device);
		}
		if (options.is_work) {
			cudaMemcpy(&to, &from, sizeof(to), cudaMemcpyDefault);
		}
		if (options.is_child) {
			step_in_child();
		}
		exit(5);
	}
	waitpid(child, &status, 0);
	printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void before_last(void)
{
	fflush(stdout);
	if (options.is_fork) {
		fork_child();
	}
	if (options.is_hold) {
		hold();
	}
	if (options.is_kill) {
		kill(getpid(), SIGKILL);
	}
}

static void before_step(int step)
{
	if (step == options.first) {
		cudaProfilerStart();
	}
	if (step == options.end) {
		cudaProfilerStop();
	}
	if (step == 1 && options.dir && chdir(options.dir)) {
		exit(9);
	}
	if (step == options.holds[0] || step == options.holds[1]) {
		hold();
	}
	if (options.is_number) {
		number_calls((uint32_t)step);
	}
	if (step == options.nr_steps - 1) {
		before_last();
	}
}

int main(int argc, char **argv)
{
	void (*gprof_step)(void);
	int *d, host[N] = {0}, by = 1, nr_launched = 0;

	read_options(argc, argv);
	*(void **)&gprof_step = dlsym(RTLD_DEFAULT, "gprof_step");
	if (options.is_nvtx) {
		ranges_init();
	}
	CHECK(cudaMalloc((void **)&d, sizeof(host)));
	for (int step = 0; step < options.nr_steps; step++) {
		before_step(step);
		if (options.is_nvtx) {
			range_push("step");
		}
		CHECK(cudaMemcpy(d, host, sizeof(host), cudaMemcpyHostToDevice));
		for (int i = 0; i < options.nr_launches; i++, nr_launched++) {
			LAUNCH(step_kernel, 2, N / 2, (cudaStream_t)0, &d, &by);
		}
		CHECK(cudaDeviceSynchronize());
		if (options.is_nvtx) {
			range_pop();
		}
		if (options.is_call && gprof_step) {
			gprof_step();
		}
		printf("step %d launched %d\n", step, nr_launched);
		usleep((useconds_t)options.sleep_ms * 1000);
	}
	CHECK(cudaMemcpy(host, d, sizeof(host), cudaMemcpyDeviceToHost));
	printf("result %d\n", host[0]);
	fprintf(stderr, "on stderr\n");
	fflush(stdout);
	if (options.is_quick) {
		_exit(options.status);
	}
	return options.status;
}
