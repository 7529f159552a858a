/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/stream/notice.h"

#include <stdatomic.h>
#include <string.h>

#include "collector/util/clock.h"
#include "collector/util/log.h"

#define MAX_NOTICES 64u
#define MAX_CAUSES  32u

static struct notice_state {
	_Atomic uint64_t lost[MAX_CAUSES];
	struct {
		struct notice notice;
		atomic_bool is_ready;
	} slots[MAX_NOTICES];
	_Atomic uint32_t nr_added;
	uint32_t nr_taken;
} state;

void notice_lose(unsigned int cause, uint64_t n)
{
	if (n && cause < MAX_CAUSES) {
		atomic_fetch_add_explicit(&state.lost[cause], n, memory_order_relaxed);
	}
}

bool notice_add(const char *cause, int code, const char *format, va_list args)
{
	uint32_t index = atomic_fetch_add(&state.nr_added, 1);
	struct notice *notice;

	if (index >= MAX_NOTICES) {
		return false;
	}
	notice = &state.slots[index].notice;
	notice->raw = clock_raw();
	notice->code = code;
	strncpy(notice->cause, cause, sizeof(notice->cause) - 1);
	log_vformat(notice->text, sizeof(notice->text), format, args);
	atomic_store(&state.slots[index].is_ready, true);
	log_message(LOG_INFO, "%s (%d): %s", notice->cause, code, notice->text);
	return true;
}

uint64_t notice_take_lost(unsigned int cause)
{
	return cause < MAX_CAUSES ? atomic_exchange(&state.lost[cause], 0) : 0;
}

bool notice_take(struct notice *notice)
{
	if (state.nr_taken >= MAX_NOTICES || !atomic_load(&state.slots[state.nr_taken].is_ready)) {
		return false;
	}
	*notice = state.slots[state.nr_taken++].notice;
	return true;
}

void notice_forget(void)
{
	memset((void *)&state, 0, sizeof(state));
}
