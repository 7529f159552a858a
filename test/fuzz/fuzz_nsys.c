/* SPDX-License-Identifier: Apache-2.0 */
/* An export of Nsight Systems: read, checked as a stream must be, and every view of it printed. */
#include <stdio.h>
#include <stdlib.h>

#include "test/fuzz/fuzz.h"
#include "test/fuzz/fuzz_input.h"

static void must_be_good(
	void *context, const char *column, uint64_t offset, enum decode_status status)
{
	const struct stream *stream = context;

	(void)offset;
	if (stream->is_trace) {
		fprintf(stderr, "column %s: %s\n", column, decode_status_text(status));
		abort(); /* we wrote it */
	}
}

static void print_all(struct cmd_input *input, uint32_t choice)
{
	(void)choice;
	fuzz_input_print(input, summary_styles[0], TABLE_TEXT_FORMAT);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	fuzz_input_read(bytes, nr_bytes, must_be_good, print_all);
	return 0;
}
