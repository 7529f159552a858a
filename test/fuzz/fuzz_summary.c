/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A summary, with the length and the checksum put right, so that what it says is believed. What can
 * be read is shown in every table, and is written again as a summary that reads the same.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "report/reduce/reduced.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/fuzz_input.h"

enum { LENGTH_AT = 12, HEAD_BYTES = 20, TAIL_BYTES = 4 };

static void put(char *bytes, uint64_t value, unsigned int nr_bytes)
{
	for (unsigned int i = 0; i < nr_bytes; i++) {
		bytes[i] = (char)(value >> 8 * i);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	char *copy = malloc(nr_bytes ? nr_bytes : 1);
	struct reduced reduced, sum = {0};

	memcpy(copy, bytes, nr_bytes);
	if (nr_bytes >= HEAD_BYTES + TAIL_BYTES) {
		size_t tail = nr_bytes - TAIL_BYTES;

		put(copy + LENGTH_AT, tail - HEAD_BYTES, HEAD_BYTES - LENGTH_AT);
		put(copy + tail, crc32_z(0, (const Bytef *)copy, tail), TAIL_BYTES);
	}
	if (!reduced_read_bytes(&reduced, copy, nr_bytes)) {
		fuzz_input_reduced_written(&reduced);
		if (reduced_merge(&sum, &reduced)) {
			abort(); /* into nothing */
		}
		fuzz_input_print_reduced(&sum);
	}
	reduced_fini(&reduced);
	reduced_fini(&sum);
	free(copy);
	return 0;
}
