/* SPDX-License-Identifier: Apache-2.0 */
/*
 * s_names N BYTES [kill]: N NVTX ranges, each of another name of so many bytes that cannot be
 * compressed much. Their number is printed. `kill` ends it by SIGKILL.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/demo/ranges.h"

static char random_letter(void)
{
	static unsigned int state = 1;

	state = state * 1664525 + 1013904223;
	return (char)('0' + (state >> 16) % 64);
}

int main(int argc, char **argv)
{
	long nr_ranges = argc > 2 ? atol(argv[1]) : 1;
	size_t nr_bytes = argc > 2 ? (size_t)atol(argv[2]) : 16;
	char name[4096];

	ranges_init();
	for (long i = 0; i < nr_ranges; i++) {
		size_t at = (size_t)snprintf(name, sizeof(name), "request %ld ", i);

		while (at < nr_bytes && at < sizeof(name) - 1) {
			name[at++] = random_letter();
		}
		name[at] = 0;
		range_push(name);
		range_pop();
		if (i % 500 == 0) {
			usleep(1000);
		}
	}
	printf("%ld\n", nr_ranges);
	fflush(stdout);
	if (argc > 3 && !strcmp(argv[3], "kill")) {
		raise(SIGKILL);
	}
	return 0;
}
