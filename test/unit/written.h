/* SPDX-License-Identifier: Apache-2.0 */
/* A stream that the recorder's own code writes in a test, read back by decode.h. */
#ifndef TEST_UNIT_WRITTEN_H
#define TEST_UNIT_WRITTEN_H

#include <stddef.h>

#include "test/unit/decode.h"

/* Batches, definitions and a stream in the test's folder; its ticks are nanoseconds. */
void written_begin(void);

/* Writes what waits, closes the stream and reads it; for decode_value and the like. */
struct decode_block *written_end(size_t *nr_blocks);

#endif
