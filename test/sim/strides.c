/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the size of every record kind in a CUPTI library, real or simulated, found as the recorder
 * finds it: a buffer full of records of one kind, and the distance between two of them.
 *
 *   strides LIBRARY      one line a kind: "kind bytes"
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "test/sim/cupti_abi.h"

enum { NR_WORDS = 512 };

int main(int argc, char **argv)
{
	static uint64_t words[NR_WORDS];
	void *cupti = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*next)(uint8_t *, size_t, struct cupti_record **);

	if (!cupti) {
		fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: strides LIBRARY");
		return 1;
	}
	*(void **)&next = dlsym(cupti, "cuptiActivityGetNextRecord");
	for (uint32_t kind = 1; kind < CUPTI_KIND_END; kind++) {
		struct cupti_record *r = NULL, *first;

		for (int i = 0; i < NR_WORDS; i++) {
			memcpy(&words[i], (uint32_t[]){kind, kind}, sizeof(words[i]));
		}
		if (next((uint8_t *)words, sizeof(words), &r) != CUPTI_OK) {
			continue;
		}
		first = r;
		if (next((uint8_t *)words, sizeof(words), &r) == CUPTI_OK) {
			printf("%u %ld\n", kind, (long)((char *)r - (char *)first));
		}
	}
	return 0;
}
