/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the recorder: with the first hooked call of the process, or another sign of CUDA. */
#include "preload/hook/start.h"

#include "preload/hook/hook.h"

__attribute__((weak)) void start_prepare(void)
{
}

__attribute__((weak)) void start_report(void)
{
}

void recorder_ensure_started(void)
{
	start_prepare();
	collector_start();
	start_report();
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
