/* SPDX-License-Identifier: Apache-2.0 */
/* A process of a summary as bytes: its fields, as pack.h has numbers and texts. */
#include <string.h>

#include "report/util/string_pool.h"
#include "report/reduce/reduced.h"

void reduced_pack_name(struct buf *out, uint32_t name)
{
	size_t nr_bytes;
	const char *text = string_pool_text(name, &nr_bytes);

	pack_text(out, text, nr_bytes);
}

uint32_t reduced_unpack_name(struct unpack *from)
{
	size_t nr_bytes;
	const char *text = unpack_text(from, &nr_bytes);

	return string_pool_intern(text, nr_bytes);
}

/* Which of some values are known, as bits, and these. */
static void pack_known(struct buf *out, const uint64_t *values, unsigned int nr)
{
	uint32_t known = 0;

	for (unsigned int i = 0; i < nr; i++) {
		known |= values[i] != UINT64_MAX ? 1u << i : 0;
	}
	pack_uint(out, known);
	for (unsigned int i = 0; i < nr; i++) {
		if (known >> i & 1) {
			pack_uint(out, values[i]);
		}
	}
}

void reduced_pack_process(const struct reduced_process *process, struct buf *out)
{
	uint64_t before = 0;

	pack_int(out, process->rank);
	pack_int(out, process->world);
	reduced_pack_name(out, process->host);
	pack_uint(out, process->pid);
	pack_uint(out, process->start_ns);
	pack_uint(out, process->stream_id);
	reduced_pack_name(out, process->command);
	pack_uint(out, process->duration_ns);
	pack_uint(out, process->nr_events);
	pack_uint(out, process->missing);
	pack_uint(out, process->state);
	pack_uint(out, process->is_without_works);
	pack_known(out, process->facts, NR_REDUCED_FACTS);
	pack_uint(out, process->nr_steps);
	for (size_t i = 0; i < process->nr_steps; i++) {
		pack_int(out, (int64_t)(process->steps[i].step - before));
		pack_known(out, process->steps[i].ns, NR_REDUCED_TIMES);
		before = process->steps[i].step;
	}
}

static void unpack_known(struct unpack *from, uint64_t *values, unsigned int nr)
{
	uint64_t known = unpack_uint(from);

	from->is_bad |= known >> nr != 0;
	for (unsigned int i = 0; i < nr; i++) {
		values[i] = known >> i & 1 ? unpack_uint(from) : UINT64_MAX;
	}
}

bool reduced_unpack_process(
	struct reduced_process *process, struct unpack *from, unsigned int version)
{
	uint64_t before = 0, pid, state;

	*process = (struct reduced_process){.rank = unpack_int(from)};
	process->world = unpack_int(from);
	process->host = reduced_unpack_name(from);
	pid = unpack_uint(from);
	process->pid = (uint32_t)pid;
	process->start_ns = unpack_uint(from);
	process->stream_id = unpack_uint(from);
	process->command = reduced_unpack_name(from);
	process->duration_ns = unpack_uint(from);
	process->nr_events = unpack_uint(from);
	process->missing = unpack_uint(from);
	state = unpack_uint(from);
	process->state = (uint8_t)state;
	process->is_without_works = unpack_uint(from) != 0;
	memset(process->facts, 0xff, sizeof(process->facts)); /* unknown */
	if (version > 1) {
		unpack_known(from, process->facts, NR_REDUCED_FACTS);
	}
	process->nr_steps = unpack_count(from);
	process->steps = mem_zeroed(process->nr_steps, sizeof(*process->steps));
	for (size_t i = 0; i < process->nr_steps; i++) {
		before += (uint64_t)unpack_int(from);
		process->steps[i].step = before;
		unpack_known(from, process->steps[i].ns, NR_REDUCED_TIMES);
	}
	return !from->is_bad && pid <= UINT32_MAX && state < NR_REDUCED_STATES;
}
