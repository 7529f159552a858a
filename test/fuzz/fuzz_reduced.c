/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A summary, with the length and the checksum put right, so that what it says is believed. What can
 * be read is shown in every table, and is written again as a summary that reads the same.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "report/reduced_view.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/fuzz_input.h"

enum { LENGTH_AT = 12, HEAD_BYTES = 20, TAIL_BYTES = 4 };

static void put(char *bytes, uint64_t value, unsigned int nr_bytes)
{
	for (unsigned int i = 0; i < nr_bytes; i++) {
		bytes[i] = (char)(value >> 8 * i);
	}
}

/* Prints it in every format, and destroys it. */
static void print(struct table *table)
{
	struct buf out;

	buf_init(&out, fuzz_input_drop, NULL);
	for (int format = TABLE_TEXT_FORMAT; format <= TABLE_MARKDOWN; format++) {
		table_print(table,
			&(struct table_style){.is_wide = true, .format = (enum table_format)format},
			&out);
	}
	buf_fini(&out);
	table_destroy(table);
}

static void print_all(struct reduced *reduced)
{
	reduced_sort(reduced);
	print(reduced_processes_table(reduced));
	print(reduced_every_step_table(reduced, 0));
	for (const struct reduced_view_class *class = reduced_views; class->name; class ++) {
		print(class->table(reduced, class->argument));
		print(reduced_over_table(reduced, class, class->name));
	}
}

static void must_read_back(struct reduced *reduced)
{
	struct buf bytes = {0}, again = {0};
	struct reduced back;

	reduced_write(reduced, &bytes);
	if (reduced_read_bytes(&back, bytes.bytes, bytes.nr_bytes)) {
		abort(); /* we wrote it */
	}
	reduced_write(&back, &again);
	if (bytes.nr_bytes != again.nr_bytes ||
		memcmp(bytes.bytes, again.bytes, again.nr_bytes) != 0) {
		abort();
	}
	reduced_fini(&back);
	buf_fini(&bytes);
	buf_fini(&again);
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
		must_read_back(&reduced);
		if (reduced_merge(&sum, &reduced)) {
			abort(); /* into nothing */
		}
		print_all(&sum);
	}
	reduced_fini(&reduced);
	reduced_fini(&sum);
	free(copy);
	return 0;
}
