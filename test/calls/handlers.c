/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handlers SECONDS THREADS: threads that call CUDA all the time, each with a timer of 10 kHz whose
 * signal handler calls CUDA, too, wherever it has interrupted the thread. Prints how many calls of
 * each function were made.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define PERIOD_NS   100000
#define MAX_THREADS 64
#define NR_COUNTED  2000

int cudaGetDevice(int *device);
int cudaGetDeviceCount(int *count);

static atomic_bool is_over;
static _Atomic long nr_in_handlers, nr_in_loops;

static void on_timer(int signal)
{
	int device;

	(void)signal;
	cudaGetDevice(&device);
	atomic_fetch_add(&nr_in_handlers, 1);
}

static timer_t start_timer(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
	struct itimerspec period = {{0, PERIOD_NS}, {0, PERIOD_NS}};
	timer_t timer;

	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) ||
		timer_settime(timer, 0, &period, NULL)) {
		perror("timer");
		exit(1);
	}
	return timer;
}

static void *run(void *unused)
{
	timer_t timer = start_timer();
	int count;

	while (!atomic_load(&is_over)) {
		for (int i = 0; i < 20; i++) {
			cudaGetDeviceCount(&count);
			atomic_fetch_add(&nr_in_loops, 1);
		}
		/* These calls are only counted. */
		for (int i = 0; i < NR_COUNTED; i++) {
			cudaGetDevice(&count);
		}
		atomic_fetch_add(&nr_in_loops, NR_COUNTED);
		/* Less than what fills the rings: what they lose would be counted, but hides the
		 * rest. */
		usleep(20);
	}
	timer_delete(timer);
	return unused;
}

int main(int argc, char **argv)
{
	int nr_threads = argc > 2 ? atoi(argv[2]) : 4;
	struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
	pthread_t threads[MAX_THREADS];

	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < nr_threads && i < MAX_THREADS; i++) {
		pthread_create(&threads[i], NULL, run, NULL);
	}
	sleep(argc > 1 ? (unsigned int)atoi(argv[1]) : 2);
	atomic_store(&is_over, 1);
	for (int i = 0; i < nr_threads && i < MAX_THREADS; i++) {
		pthread_join(threads[i], NULL);
	}
	printf("%ld %ld\n", nr_in_loops, nr_in_handlers);
	return 0;
}
