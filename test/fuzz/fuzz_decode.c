/* SPDX-License-Identifier: Apache-2.0 */
/* A block: header, directory, and every column, decoded in all ways there are. */
#include <stdlib.h>

#include "report/stream/block_decode.h"
#include "test/fuzz/fuzz.h"

static uint64_t values[GPROF_BLOCK_ROWS], spans[GPROF_BLOCK_ROWS];
static uint32_t small[GPROF_BLOCK_ROWS];
static struct decode_text texts[GPROF_BLOCK_ROWS];

static void decode_columns(struct decoder *decoder, const struct gprof_block_header *header,
	const struct gprof_column_entry *entries, const uint8_t *payload, size_t nr_bytes)
{
	struct decoded_texts decoded = {.texts = texts};

	for (unsigned int i = 0; i < header->nr_columns; i++) {
		size_t stored = entries[i].stored_bytes;
		volatile uint8_t last;

		if (stored > nr_bytes) {
			break;
		}
		decode_numbers(decoder, &entries[i], payload, header->nr_rows, spans, values);
		decode_numbers(decoder, &entries[i], payload, header->nr_rows, NULL, values);
		decode_small(decoder, &entries[i], payload, header->nr_rows, small);
		if (decode_texts(decoder, &entries[i], payload, header->nr_rows, &decoded) ==
			DECODE_OK) {
			for (uint32_t row = 0; row < header->nr_rows; row++) {
				if (texts[row].nr_bytes) {
					last = (uint8_t)texts[row].bytes[texts[row].nr_bytes - 1];
					(void)last;
				}
			}
		}
		payload += stored;
		nr_bytes -= stored;
	}
	free(decoded.content);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	static struct decoder *decoder;
	struct gprof_column_entry entries[DECODE_COLUMNS];
	struct gprof_block_header header;
	size_t head_bytes;

	if (!decoder) {
		decoder = decoder_create();
	}
	if (decode_block_header(bytes, nr_bytes, &header, entries) == DECODE_OK) {
		head_bytes = sizeof(header) + header.nr_columns * sizeof(entries[0]);
		decode_columns(
			decoder, &header, entries, bytes + head_bytes, nr_bytes - head_bytes);
	}
	return 0;
}
