/* SPDX-License-Identifier: Apache-2.0 */
/*
 *	s_counters STEPS [wait=STEP] [fork] [profile] [operators]
 *
 * Each step, which ends by gprof_step(), runs one kernel matmul and one elementwise, of some
 * milliseconds, and 20 times tiny, of microseconds. `wait`: before that step, until the simulated
 * CUPTI samples counters. `fork`: a child does nothing but end, after half of the steps. `profile`:
 * the program takes CUPTI's session of counters for itself then, and prints what CUPTI answers.
 * `operators`: matmul is launched by aten::mm, elementwise by one inside MulBackward0, and tiny by
 * the optimizer, as PyTorch (here the one of the tests) would.
 */
#include "test/prog/prog.h"

#include <dlfcn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/cupti/pm_abi.h"

enum { FUNCTION = 0, BACKWARD = 1, USER = 7 }; /* scopes of RecordFunction */

int simPmHasStarted(void);
uint32_t cuptiProfilerInitialize(void *params);
uint32_t cuptiPmSamplingEnable(struct pm_enable *params);
uint32_t cuptiPmSamplingDisable(struct pm_sampler *params);

KERNEL2(matmul, int *, x, int, by)
{
	x[index] += by;
}

KERNEL2(elementwise, int *, x, int, by)
{
	x[index] += by;
}

KERNEL2(tiny, int *, x, int, by)
{
	x[index] += by;
}

static void profile(void)
{
	struct pm_initialize init = {.size = PM_BYTES(pm_initialize, private)};
	struct pm_enable enable = {.size = PM_BYTES(pm_enable, sampler)};
	struct pm_sampler disable = {.size = PM_BYTES(pm_sampler, sampler)};

	printf("initialize %u\n", cuptiProfilerInitialize(&init));
	printf("enable %u\n", cuptiPmSamplingEnable(&enable));
	disable.sampler = enable.sampler;
	printf("disable %u\n", cuptiPmSamplingDisable(&disable));
}

static void fork_child(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		exit(5);
	}
	waitpid(child, &status, 0);
	printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static int has(int argc, char **argv, const char *word)
{
	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], word)) {
			return 1;
		}
	}
	return 0;
}

/* The CPU's versions look at the first dimension alone. */
static void launch(const void *kernel, unsigned int nr_blocks, int *x)
{
	int by = 1;
	void *args[] = {&x, &by};
	prog_dim3 grid = {1, nr_blocks > 10 ? nr_blocks / 10 : 1, nr_blocks > 10 ? 10 : 1},
		  block = {256, 1, 1};

	CHECK(cudaLaunchKernel(kernel, grid, block, args, 0, NULL));
}

static struct {
	void *(*begin)(const char *name, int kind);
	void (*end)(void *op);
} torch;

static void *begin_op(const char *name, int kind)
{
	return torch.begin ? torch.begin(name, kind) : NULL;
}

static void end_op(void *op)
{
	if (op) {
		torch.end(op);
	}
}

static void load_torch(void)
{
	void *library = dlopen("libtorch_cpu.so", RTLD_NOW);

	if (!library) {
		fprintf(stderr, "no libtorch_cpu.so\n");
		exit(1);
	}
	*(void **)&torch.begin = dlsym(library, "fake_begin");
	*(void **)&torch.end = dlsym(library, "fake_end");
}

static void forward(int *x)
{
	void *op = begin_op("aten::mm", FUNCTION);

	launch((const void *)matmul, 600000, x);
	end_op(op);
}

static void backward(int *x)
{
	void *node = begin_op("MulBackward0", BACKWARD), *op = begin_op("aten::mul", FUNCTION);

	launch((const void *)elementwise, 600000, x);
	end_op(op);
	end_op(node);
}

static void optimize(int *x)
{
	void *op = begin_op("Optimizer.step#SGD.step", USER);

	for (int i = 0; i < 20; i++) {
		launch((const void *)tiny, 1, x);
	}
	end_op(op);
}

int main(int argc, char **argv)
{
	int nr_steps = argc > 1 ? atoi(argv[1]) : 1, *x;
	char wait_word[32];
	void (*gprof_step)(void);

	*(void **)&gprof_step = dlsym(RTLD_DEFAULT, "gprof_step");
	if (has(argc, argv, "operators")) {
		load_torch();
	}
	CHECK(cudaMalloc((void **)&x, 256 * sizeof(*x)));
	for (int step = 0; step < nr_steps; step++) {
		snprintf(wait_word, sizeof(wait_word), "wait=%d", step);
		for (int i = 0; i < 2000 && has(argc, argv, wait_word) && !simPmHasStarted(); i++) {
			usleep(5000);
		}
		forward(x);
		backward(x);
		optimize(x);
		CHECK(cudaDeviceSynchronize());
		if (step == nr_steps / 2 && has(argc, argv, "fork")) {
			fork_child();
		}
		if (step == nr_steps / 2 && has(argc, argv, "profile")) {
			profile();
		}
		if (gprof_step) {
			gprof_step();
		}
	}
	printf("done\n");
	return 0;
}
