/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/part.h"

#include "report/util/buf.h"

void timeline_sizes_begin(struct timeline_sizes *sizes, uint64_t begin_ns, uint64_t end_ns)
{
	sizes->begin_ns = begin_ns;
	sizes->span_ns = (end_ns > begin_ns ? end_ns - begin_ns : 0) / TIMELINE_SPANS + 1;
}

void timeline_sizes_add(struct timeline_sizes *sizes, uint64_t ns, uint64_t nr_bytes)
{
	uint64_t span = ns > sizes->begin_ns ? (ns - sizes->begin_ns) / sizes->span_ns : 0;

	sizes->bytes[span < TIMELINE_SPANS ? span : TIMELINE_SPANS - 1] += nr_bytes;
}

struct timeline_part *timeline_sizes_cut(
	const struct timeline_sizes *sizes, uint64_t most_bytes, size_t *nr_parts)
{
	struct timeline_part *parts = NULL;
	size_t capacity = 0, nr = 0;
	uint64_t nr_bytes = 0;

	for (size_t i = 0; i < TIMELINE_SPANS; i++) {
		uint64_t ns = sizes->begin_ns + i * sizes->span_ns;

		if (!i || (nr_bytes && nr_bytes + sizes->bytes[i] > most_bytes)) {
			parts = array_grow(parts, nr, &capacity, sizeof(*parts));
			if (nr) {
				parts[nr - 1].end_ns = ns;
			}
			parts[nr] = (struct timeline_part){.begin_ns = nr ? ns : 0, .nr = nr + 1};
			nr++;
			nr_bytes = 0;
		}
		nr_bytes += sizes->bytes[i];
	}
	parts[nr - 1].end_ns = UINT64_MAX;
	for (size_t i = 0; i < nr; i++) {
		parts[i].nr_parts = nr;
	}
	*nr_parts = nr;
	return parts;
}
