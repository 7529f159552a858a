/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gap begins when CUPTI goes to another client and ends when it returns. is_missed: a record
 * window was open at some time in it; otherwise nothing is missing and nothing is reported. Where
 * the client's records cannot be counted, at least one event counts as lost.
 */
#include "collector/cupti/cupti_gap.h"

#include <string.h>

#include "collector/cupti/cupti.h"
#include "collector/util/clock.h"
#include "collector/util/loaded_objects.h"
#include "collector/util/log.h"
#include "collector/util/loss.h"
#include "collector/util/mode.h"
#include "collector/util/notice.h"

#define MAX_STATED 16u /* gaps that get notices; all are counted */

static struct gap_state {
	uint64_t attached_ns;
	uint64_t begin_ns;
	bool is_missed; /* what the client has now would have been recorded */
	char name[96];	/* who made it */
	uint32_t nr_gaps;
} state;

void cupti_gap_init(void)
{
	state.attached_ns = clock_monotonic_ns();
}

/* The client: its own name for itself, else the file that contains its code. */
static void name_client(const char *name, const void *caller)
{
	char base[64] = "an unknown one";

	if (caller) {
		loaded_objects_name_code((uintptr_t)caller, base, sizeof(base));
	}
	if (name && *name) {
		log_format(state.name, sizeof(state.name), "%.40s (%.40s)", name, base);
	} else if (!strncmp(base, "libtorch", 8) || !strncmp(base, "libkineto", 9)) {
		log_format(state.name, sizeof(state.name), "torch.profiler (%.40s)", base);
	} else {
		log_format(state.name, sizeof(state.name), "%.60s", base);
	}
}

static unsigned long long ms_since(uint64_t from_ns, uint64_t to_ns)
{
	return (to_ns - from_ns) / 1000000u;
}

static bool is_recording(void)
{
	return cupti_is_live() && (atomic_load(&collector_mode) & COLLECTOR_RECORD);
}

void cupti_gap_begin(const char *name, const void *caller)
{
	state.is_missed = is_recording();
	state.begin_ns = clock_monotonic_ns();
	name_client(name, caller);
	if (state.is_missed && state.nr_gaps < MAX_STATED) {
		notice_add("CUPTI shared", 0,
			"device activity is not recorded from %llu ms after the driver's start: "
			"another CUPTI client, %s, is active",
			ms_since(state.attached_ns, state.begin_ns), state.name);
	}
}

void cupti_gap_end(uint64_t nr_records, bool is_complete, bool is_last)
{
	uint64_t now = clock_monotonic_ns();

	if (!state.is_missed) {
		return; /* in a closed window nothing is missing */
	}
	state.is_missed = false;
	if (nr_records || !is_complete) {
		loss_add(LOSS_SHARED, nr_records ? nr_records : 1);
	}
	if (state.nr_gaps++ < MAX_STATED) {
		notice_add("CUPTI shared", 0,
			"device activity was not recorded from %llu ms to %llu ms after the "
			"driver's start%s: another CUPTI client, %s, was active%s",
			ms_since(state.attached_ns, state.begin_ns),
			ms_since(state.attached_ns, now), is_last ? ", the end" : "", state.name,
			nr_records || !is_complete ? "" : "; there was no GPU activity");
	}
}

void cupti_gap_look(void)
{
	state.is_missed |= is_recording();
}
