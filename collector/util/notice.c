/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread reserves a slot by an atomic addition and publishes it by `is_ready`, so signal handlers
 * may add notices as well. Slots are not used again; notices beyond the last slot are counted.
 * `recording` makes flags such as told_in lapse in a forked child, whose stream needs its own
 * notices.
 */
#include "collector/util/notice.h"

#include <stdarg.h>
#include <string.h>

#include "collector/util/clock.h"
#include "collector/util/log.h"
#include "collector/util/loss.h"

#define MAX_NOTICES 64u

static struct notice_state {
	struct {
		struct notice notice;
		atomic_bool is_ready;
	} slots[MAX_NOTICES];
	_Atomic uint32_t nr_added;
	uint32_t nr_taken; /* the slots before it are all taken */
} state;

static atomic_uint recording =
	1; /* counts those of this process and of the parents it was forked from */

void notice_add(const char *cause, int code, const char *format, ...)
{
	uint32_t index = atomic_fetch_add(&state.nr_added, 1);
	struct notice *notice;
	va_list args;

	if (index >= MAX_NOTICES) {
		loss_add(LOSS_NOTICE, 1);
		return;
	}
	notice = &state.slots[index].notice;
	notice->raw = clock_raw();
	notice->code = code;
	strncpy(notice->cause, cause, sizeof(notice->cause) - 1);
	va_start(args, format);
	log_vformat(notice->text, sizeof(notice->text), format, args);
	va_end(args);
	atomic_store(&state.slots[index].is_ready, true);
	log_message(LOG_INFO, "%s (%d): %s", notice->cause, code, notice->text);
}

bool notice_is_first(atomic_uint *told_in)
{
	unsigned int now = atomic_load(&recording);

	return atomic_exchange(told_in, now) != now;
}

void notice_no_memory(atomic_uint *told_in, const char *what)
{
	if (notice_is_first(told_in)) {
		notice_add("no memory", 0,
			"%s are not recorded while there is no memory for them (raise RLIMIT_AS or "
			"vm.max_map_count)",
			what);
	}
}

/* A signal handler may have jumped out of one that is never ready; those after it are taken. */
bool notice_take(struct notice *notice)
{
	for (uint32_t i = state.nr_taken; i < MAX_NOTICES; i++) {
		if (atomic_exchange(&state.slots[i].is_ready, false)) {
			*notice = state.slots[i].notice;
			state.nr_taken += i == state.nr_taken;
			return true;
		}
	}
	return false;
}

void notice_forget(void)
{
	memset((void *)&state, 0, sizeof(state));
	atomic_fetch_add(&recording, 1);
}
