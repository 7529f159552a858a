/* SPDX-License-Identifier: Apache-2.0 */
/*
 *	s_sample MS [DEVICE...]
 *
 * Uses the devices (0 if none is named), forks a child that calls CUDA too, and waits for MS ms, as
 * the child does. It prints its child's status.
 */
#include "test/prog/prog.h"

#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned int us = (unsigned int)(argc > 1 ? atoi(argv[1]) : 100) * 1000;
	int device, status;
	pid_t child;

	for (int i = 2; i < argc || i == 2; i++) {
		void *memory;

		CHECK(cudaSetDevice(argc > 2 ? atoi(argv[i]) : 0));
		CHECK(cudaMalloc(&memory, 1 << 20));
	}
	child = fork();
	if (!child) {
		cudaGetDevice(&device);
		usleep(us);
		exit(3);
	}
	usleep(us);
	waitpid(child, &status, 0);
	printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}
