/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counted NR_CALLS [killed]: two threads ask NR_CALLS times each which device is current, and as
 * often for the last error; then a library (MODULE) asks NR_CALLS times for the device. The main
 * thread also allocates, orders a stream behind an event and waits for it. Prints how many
 * questions failed, and the handles.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int cudaGetDevice(int *device);
int ask_there(int nr_calls);

#ifdef MODULE
int ask_there(int nr_calls)
{
	int nr_failed = 0, device;

	for (int i = 0; i < nr_calls; i++) {
		nr_failed += cudaGetDevice(&device) != 0;
	}
	return nr_failed;
}
#else
int cudaGetLastError(void);
int cudaMalloc(void **p, size_t bytes);
int cudaFree(void *p);
int cudaEventCreate(void **event);
int cudaEventRecord(void *event, void *stream);
int cudaStreamCreate(void **stream);
int cudaStreamSynchronize(void *stream);
int cudaStreamWaitEvent(void *stream, void *event, unsigned int flags);

static int nr_calls;
static int nr_failed;

static void *ask(void *unused)
{
	int device = -1;

	(void)unused;
	for (int i = 0; i < nr_calls; i++) {
		nr_failed += cudaGetDevice(&device) != 0;
		cudaGetLastError();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	void *p = NULL, *event, *stream;

	nr_calls = argc > 1 ? atoi(argv[1]) : 1;
	cudaMalloc(&p, 4096);
	ask(NULL);
	pthread_create(&thread, NULL, ask, NULL);
	pthread_join(thread, NULL);
	nr_failed += ask_there(nr_calls);
	cudaEventCreate(&event);
	cudaStreamCreate(&stream);
	cudaEventRecord(event, NULL);
	cudaStreamWaitEvent(stream, event, 0);
	cudaStreamSynchronize(stream);
	cudaFree(p);
	printf("%d failed, event %p, stream %p\n", nr_failed, event, stream);
	if (argc > 2) {
		/* Longer than GPROF_FLUSH_MS: what was counted before is in the stream by then. */
		sleep(2);
		fflush(stdout);
		kill(getpid(), 9);
	}
	return 0;
}
#endif
