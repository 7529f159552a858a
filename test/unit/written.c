/* SPDX-License-Identifier: Apache-2.0 */
#include "test/unit/written.h"

#include "collector/stream/batch.h"
#include "collector/stream/dictionary.h"
#include "collector/stream/stream.h"
#include "test/unit/unit.h"

void written_begin(void)
{
	static const struct block_ticks same = {.base = 0, .mult = (uint64_t)1 << 32};

	ck_assert_int_eq(batch_init(), 0);
	ck_assert_int_eq(dictionary_init(), 0);
	ck_assert_int_eq(stream_start(unit_temp_dir(), 0, &same), 0);
}

struct decode_block *written_end(size_t *nr_blocks)
{
	struct gprof_file_header header;

	batch_write_all();
	ck_assert_int_eq(stream_finish(), 0);
	return decode_file(stream_path(), &header, nr_blocks);
}
