/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes CALLS counted calls, waits for US microseconds, makes as many again, and becomes /bin/true
 * without an environment.
 */
#include <stdlib.h>
#include <unistd.h>

int cudaGetDevice(int *device);

static void call(int nr)
{
	int device;

	for (int i = 0; i < nr; i++) {
		cudaGetDevice(&device);
	}
}

int main(int argc, char **argv)
{
	char *const arguments[] = {"/bin/true", NULL}, *const none[] = {NULL};
	int nr = argc > 1 ? atoi(argv[1]) : 1;

	call(nr);
	usleep(argc > 2 ? (useconds_t)atoi(argv[2]) : 0);
	call(nr);
	execve(arguments[0], arguments, none);
	return 1;
}
