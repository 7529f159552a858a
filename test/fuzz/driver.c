/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver MUTATIONS FILE...: runs each file through the target, then MUTATIONS copies of it that the
 * target's mutator has changed; bytes it changes blindly: bits flipped, pieces cut, copied, zeroed,
 * ends cut off. The same arguments do the same; a crash names the file and the number of the
 * mutation.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/fuzz/fuzz.h"
#include "test/fuzz/mutate.h"

#define ROOM 65536u

static const char *file_name;
static unsigned long mutation;

static void tell(int signal_number)
{
	char text[256];
	int length = snprintf(text, sizeof(text), "driver: signal %d at %s, mutation %lu\n",
		signal_number, file_name, mutation);

	if (write(STDERR_FILENO, text, (size_t)length) < 0) {
		_exit(1);
	}
	_exit(1);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static size_t mutate(uint8_t *bytes, size_t nr_bytes, uint64_t *state)
{
	unsigned int times = 1 + (unsigned int)(next_random(state) % 4);

	while (times-- && nr_bytes > 1) {
		size_t at = next_random(state) % nr_bytes;
		size_t length = 1 + next_random(state) % 64;
		size_t from = next_random(state) % nr_bytes;

		length = length < nr_bytes - at ? length : nr_bytes - at;
		length = length < nr_bytes - from ? length : nr_bytes - from;
		switch (next_random(state) % 6) {
		case 0:
			bytes[at] ^= (uint8_t)(1u << next_random(state) % 8);
			break;
		case 1:
			bytes[at] = (uint8_t)next_random(state);
			break;
		case 2:
			memset(bytes + at, (int)(next_random(state) % 2) * 255, length);
			break;
		case 3:
			memmove(bytes + at, bytes + from, length);
			break;
		case 4:
			memmove(bytes + at, bytes + at + length, nr_bytes - at - length);
			nr_bytes -= length;
			break;
		default:
			nr_bytes = at + 1;
			break;
		}
	}
	return nr_bytes;
}

/* What libFuzzer's is for the mutators of the targets. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t nr_bytes, size_t max_bytes)
{
	static uint64_t state = 88172645463325252ull;

	if (!nr_bytes && max_bytes) {
		bytes[nr_bytes++] = (uint8_t)next_random(&state);
	}
	return mutate(bytes, nr_bytes, &state);
}

static size_t read_file(const char *path, uint8_t *bytes)
{
	FILE *file = fopen(path, "r");
	size_t nr_bytes;

	if (!file) {
		perror(path);
		exit(1);
	}
	nr_bytes = fread(bytes, 1, ROOM, file);
	fclose(file);
	return nr_bytes;
}

int main(int argc, char **argv)
{
	static uint8_t seed[ROOM];
	unsigned long nr_mutations = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

	if (argc < 3) {
		fprintf(stderr, "usage: driver MUTATIONS FILE...\n");
		return 2;
	}
	signal(SIGALRM, tell);
	for (int i = 2; i < argc; i++) {
		size_t nr_seed = read_file(argv[i], seed);

		file_name = argv[i];
		for (mutation = 0; mutation <= nr_mutations; mutation++) {
			uint8_t *bytes = malloc(ROOM);
			size_t nr_bytes = nr_seed;

			memcpy(bytes, seed, nr_seed);
			if (mutation) {
				nr_bytes = LLVMFuzzerCustomMutator(
					bytes, nr_bytes, ROOM, (unsigned int)mutation);
			}
			/* Exactly as large as its content, so that reading past it is seen. */
			bytes = realloc(bytes, nr_bytes ? nr_bytes : 1);
			alarm(20); /* no input may take long */
			LLVMFuzzerTestOneInput(bytes, nr_bytes);
			alarm(0);
			free(bytes);
		}
	}
	printf("%d files, %lu mutations each: no crash\n", argc - 2, nr_mutations);
	return 0;
}
