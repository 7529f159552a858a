/* SPDX-License-Identifier: Apache-2.0 */
/* What is known to be missing of a process's stream; see model.h. */
#include "report/model/model.h"

/* Counts of a damaged or hostile stream may be anything; the sum must not begin anew at 0. */
static uint64_t sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t process_missing(const struct process *process)
{
	const struct stream *stream = process->stream;
	uint64_t told = 0, unwritten = 0, missing = stream->ring_rows_lost;

	for (size_t i = 0; i < process->nr_losses; i++) {
		told = sum(told, process->losses[i].is_harmless ? 0 : process->losses[i].count);
	}
	for (size_t i = 0; i < stream->nr_tables; i++) {
		const struct stream_table *table = &stream->tables[i];

		if (model_is_event(table->known)) {
			missing = sum(missing, sum(table->rows_missing, table->rows_damaged));
			unwritten = sum(unwritten, table->rows_unwritten);
		}
	}
	/* Rows that were numbered but not written are mostly told of as losses, too. */
	return sum(missing, told > unwritten ? told : unwritten);
}

bool process_is_complete(const struct process *process)
{
	return process->is_ended && !process_missing(process) &&
	       !stream_is_damaged(process->stream);
}
