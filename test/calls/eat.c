/* SPDX-License-Identifier: Apache-2.0 */
/* Takes memory of its own, and then makes calls: eat MB CALLS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cudaGetDevice(int *device);

int main(int argc, char **argv)
{
	size_t nr_bytes = argc > 2 ? strtoul(argv[1], NULL, 10) << 20 : 0;
	long nr_calls = argc > 2 ? atol(argv[2]) : 0;
	char *memory = malloc(nr_bytes);
	int device;

	if (!memory) {
		return 1;
	}
	memset(memory, 1, nr_bytes);
	for (long i = 0; i < nr_calls; i++) {
		cudaGetDevice(&device);
	}
	puts(memory[nr_bytes / 2] == 1 ? "done" : "not kept");
	return 0;
}
