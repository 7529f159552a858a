/* SPDX-License-Identifier: Apache-2.0 */
/* How long a launch takes by the events around it: what the program itself measures, for a profiler
 * to agree. */
#ifndef GPROF_TEST_EVENT_TIME_H
#define GPROF_TEST_EVENT_TIME_H

#include "test/prog/prog.h"

enum { NR_TRIES = 20 };

/* Without a CPU version, so that the simulator takes exactly the times of its model. */
__global__ void hold()
{
}

__global__ void timed()
{
}

/*
 * The least of several tries. A longer kernel before them keeps the stream busy, so that the launch
 * is queued before the first event happens, unless the thread is preempted.
 */
template <class Launch> static void print_event_time(cudaStream_t stream, Launch launch)
{
	cudaEvent_t begin, end;
	float least_ms = 1e9f, ms;

	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreate(&end));
	for (int i = 0; i < NR_TRIES; i++) {
		hold<<<2000000, 256, 0, stream>>>();
		CHECK(cudaEventRecord(begin, stream));
		launch();
		CHECK(cudaEventRecord(end, stream));
		CHECK(cudaEventSynchronize(end));
		CHECK(cudaEventElapsedTime(&ms, begin, end));
		least_ms = ms < least_ms ? ms : least_ms;
	}
	printf("event_ns %.0f\n", (double)least_ms * 1e6);
	CHECK(cudaEventDestroy(begin));
	CHECK(cudaEventDestroy(end));
}

#endif
