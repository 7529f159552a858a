/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is linked with the libtorch_cpu.so of fake_torch.c and never opens a library. usage:
 *
 *     fake_linked ops      runs three operators
 *     fake_linked thread   finishes its making, starts a thread, runs three operators
 *     fake_linked names    runs a million operators of different names; says if it got large
 *     fake_linked late     runs an operator in each of 4,000 steps of microseconds
 *     fake_linked forks    forks a hundred times; says how many children have its mutex locked
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void fake_ops(unsigned int nr_ops);
void fake_names(unsigned int nr_names);
void fake_finish(void);
bool fake_is_locked(void);

static void *nothing(void *unused)
{
	return unused;
}

static void start_thread(void)
{
	pthread_t thread;

	fake_finish();
	if (!pthread_create(&thread, NULL, nothing, NULL)) {
		pthread_join(thread, NULL);
	}
}

static int count_locked(void)
{
	int nr_locked = 0;

	for (int i = 0; i < 100; i++) {
		int status;
		pid_t pid = fork();

		if (!pid) {
			_exit(fake_is_locked());
		}
		usleep(3000);
		nr_locked += waitpid(pid, &status, 0) != pid || status;
	}
	return nr_locked;
}

/* Of that 64 MB are gprof's for events. */
static void run_names(void)
{
	struct rusage usage;

	fake_names(1000000);
	getrusage(RUSAGE_SELF, &usage);
	puts(usage.ru_maxrss < 200 << 10 ? "small" : "large");
}

static void run_steps(void)
{
	void (*step)(void) = NULL;

	*(void **)&step = dlsym(RTLD_DEFAULT, "gprof_step");
	for (int i = 0; i < 4000; i++) {
		fake_ops(1);
		if (step) {
			step();
		}
	}
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "thread")) {
		start_thread();
	}
	usleep(200000); /* the recorder may be slow to start on a busy machine */
	if (argc > 1 && !strcmp(argv[1], "late")) {
		run_steps();
	} else {
		fake_ops(3);
	}
	if (argc > 1 && !strcmp(argv[1], "names")) {
		run_names();
	}
	if (argc > 1 && !strcmp(argv[1], "forks")) {
		printf("%d locked\n", count_locked());
	}
	puts("done");
	return 0;
}
