/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closes its standard files and opens its own, as a daemon does, before or after its first CUDA
 * call: FILE gets the number of stderr.
 *
 *	closes FILE before|after
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int cudaGetDevice(int *device);

int main(int argc, char **argv)
{
	int device, fd;

	if (argc != 3) {
		return 2;
	}
	if (!strcmp(argv[2], "after")) {
		cudaGetDevice(&device);
	}
	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		close(fd);
	}
	open("/dev/null", O_RDONLY);
	open("/dev/null", O_WRONLY);
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < 10; i++) {
		cudaGetDevice(&device);
	}
	return fd == STDERR_FILENO && write(fd, "data\n", 5) == 5 ? 0 : 1;
}
