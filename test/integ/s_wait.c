/* SPDX-License-Identifier: Apache-2.0 */
/*
 * s_wait [PIPE]: a loop that gives the GPU work for 3 s and then waits for 20 ms, in a sleep or for
 * a byte of a pipe that another thread fills late. Prints the ms that it waited, by its own clock.
 */
#include "test/prog/prog.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_US = 20000, RUN_MS = 3000, NR_COPIES = 50 };

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void *fill(void *path)
{
	int fd = open(path, O_WRONLY);

	do {
		usleep(WAIT_US);
	} while (write(fd, "x", 1) == 1);
	return NULL;
}

static bool wait_for(int fd)
{
	char byte;

	return fd < 0 ? usleep(WAIT_US) == 0 : read(fd, &byte, 1) == 1;
}

int main(int argc, char **argv)
{
	double waited_ms = 0, begin_ms, end_ms = now_ms() + RUN_MS;
	static char host[4096];
	pthread_t thread;
	void *device;
	int fd = -1;

	CHECK(cudaMalloc(&device, sizeof(host)));
	if (argc > 1) {
		if (pthread_create(&thread, NULL, fill, argv[1])) {
			return 1;
		}
		fd = open(argv[1], O_RDONLY);
	}
	while (now_ms() < end_ms) {
		for (int i = 0; i < NR_COPIES; i++) {
			CHECK(cudaMemcpyAsync(
				device, host, sizeof(host), cudaMemcpyHostToDevice, NULL));
		}
		CHECK(cudaDeviceSynchronize());
		begin_ms = now_ms();
		while (now_ms() < begin_ms + 1) { /* a thread that hardly runs is not looked at */
		}
		begin_ms = now_ms();
		if (!wait_for(fd)) {
			return 1;
		}
		waited_ms += now_ms() - begin_ms;
	}
	printf("%.0f\n", waited_ms);
	return 0;
}
