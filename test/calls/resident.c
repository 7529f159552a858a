/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes calls, and prints a number of /proc/self/smaps_rollup or, with "lock", locks all memory
 * that it will have:
 *
 *	resident NAME [lock]
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int cudaGetDevice(int *device);

int main(int argc, char **argv)
{
	char line[256];
	FILE *file;
	int device;

	if (argc > 2 && mlockall(MCL_CURRENT | MCL_FUTURE)) {
		return 1;
	}
	for (int i = 0; i < 20000; i++) {
		cudaGetDevice(&device);
	}
	usleep(200000);
	file = fopen("/proc/self/smaps_rollup", "r");
	while (file && argc > 1 && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, argv[1], strlen(argv[1])) && line[strlen(argv[1])] == ':') {
			printf("%s", line + strlen(argv[1]) + 1);
		}
	}
	return 0;
}
