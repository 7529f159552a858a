/* SPDX-License-Identifier: Apache-2.0 */
/* Ends kernels where the next one of their stream begins, if they seem to last longer:
 * rows_overrun.h.
 */
#include "report/import/kineto/rows_overrun.h"

/* A kernel may pass the whole next one, by a programmatic launch, but not two. */
#define MIN_PASSED 2u

/* When kernels of a stream began, by rising time; a ring. */
struct kineto_starts {
	struct {
		uint64_t ns;
		uint32_t correlation;
	} starts[KINETO_OVERRUN_STARTS];
	uint64_t nr; /* that were ever added */
};

void kineto_overrun_init(struct kineto_overrun *overrun)
{
	*overrun = (struct kineto_overrun){0};
	idmap_init(&overrun->streams, sizeof(struct kineto_starts));
}

void kineto_overrun_fini(struct kineto_overrun *overrun)
{
	idmap_fini(&overrun->streams);
}

/* Adds a start in its place: those behind it move up, and the oldest one leaves. */
static void add_start(struct kineto_starts *starts, uint64_t ns, uint32_t correlation)
{
	uint64_t at = starts->nr++;
	uint64_t first = at < KINETO_OVERRUN_STARTS ? 0 : at - KINETO_OVERRUN_STARTS + 1;

	for (; at > first && starts->starts[(at - 1) % KINETO_OVERRUN_STARTS].ns > ns; at--) {
		starts->starts[at % KINETO_OVERRUN_STARTS] =
			starts->starts[(at - 1) % KINETO_OVERRUN_STARTS];
	}
	starts->starts[at % KINETO_OVERRUN_STARTS].ns = ns;
	starts->starts[at % KINETO_OVERRUN_STARTS].correlation = correlation;
}

/* All that ended earlier and began later lies within the kernel. */
uint64_t kineto_overrun_end(struct kineto_overrun *overrun, const struct kineto_row *row)
{
	struct kineto_starts *starts = idmap_put(&overrun->streams, row->activity.place);
	uint64_t first =
		starts->nr < KINETO_OVERRUN_STARTS ? 0 : starts->nr - KINETO_OVERRUN_STARTS;
	uint64_t end = row->end;
	unsigned int nr_passed = 0;

	if (row->activity.graph || !row->activity.correlation) {
		return end;
	}
	for (uint64_t i = starts->nr; i-- > first;) {
		uint64_t ns = starts->starts[i % KINETO_OVERRUN_STARTS].ns;

		if (ns <= row->begin) {
			break;
		}
		if (starts->starts[i % KINETO_OVERRUN_STARTS].correlation >
			row->activity.correlation) {
			nr_passed++;
			end = ns;
		}
	}
	add_start(starts, row->begin, row->activity.correlation);
	if (nr_passed < MIN_PASSED) {
		return row->end;
	}
	overrun->nr++;
	return end;
}
