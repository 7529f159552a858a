/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the recorder: with the first hooked call of the process, or another sign of CUDA. */
#include "preload/hook/start.h"

#include "preload/hook/hook.h"

/* Where the linker puts them. */
extern const struct start_parts __start_gprof_start_parts __attribute__((visibility("hidden")));

void recorder_ensure_started(void)
{
	__start_gprof_start_parts.prepare();
	collector_start();
	__start_gprof_start_parts.report();
}

uint32_t recorder_ensure_started_counting_loss(uintptr_t caller)
{
	uint32_t mode;

	recorder_ensure_started();
	mode = hook_mode();
	/* In the thread that starts the recorder a signal handler may call, too. */
	if (mode & COLLECTOR_COLD &&
		(!ring_in_profiler(&ring_tls) || (caller && !hook_is_cuda(caller)))) {
		loss_add(LOSS_START, 1);
	}
	return mode;
}
