/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that a program calls itself: marks of steps, and recording that begins and ends
 * where it says, also in a process that was started without us and loads the library later (dlopen,
 * or Python's gprof.start()). The loader has bound the program's calls by then, so hooks see none
 * of them. CUPTI reports calls as it does for a static runtime; PyTorch's observer and Python's
 * frames need no hooks.
 */
#include <errno.h>

#include "collector/util/config.h"
#include "collector/util/notice.h"
#include "collector/util/target.h"
#include "preload/entry.h"
#include "preload/hook/hook.h"
#include "preload/python/python_start.h"

HOOK_EXPORT void gprof_step(void);
HOOK_EXPORT int gprof_start(const char *settings);
HOOK_EXPORT int gprof_stop(void);
HOOK_EXPORT const char *gprof_stream(void);

/* For programs that look it up by dlsym: ends a step if GPROF_STEP is auto. */
void gprof_step(void)
{
	if (hook_mode() & COLLECTOR_COLD) {
		recorder_ensure_started();
	}
	collector_step(GPROF_STEP_CALL);
}

static void report_inside(void)
{
	notice_add("started inside", 0,
		"gprof was loaded by the running program: calls of CUDA, PyTorch and NCCL before "
		"that are not recorded, nor allocations of CPU memory, NCCL's calls but for their "
		"NVTX ranges, and NVTX where the program had used it before. What was allocated "
		"before has no size. LD_PRELOAD or gprof-record records them");
}

static int begin(const char *settings)
{
	int rc = settings ? config_preset(settings) : 0;

	if (rc) {
		return rc;
	}
	python_start_inside();
	entry_begin_inside();
	if (!collector_is_running()) {
		return -EIO;
	}
	if (entry_is_late()) {
		report_inside();
	}
	return 0;
}

/*
 * Begins to record, or goes on. settings: lines NAME=value that override the environment, NULL for
 * none; they count in the call that starts the recorder, -EBUSY later. Python's frames need the
 * call to be made with the GIL. Returns the number of the window that this call has opened, 0 if
 * one was open; -EINVAL or -E2BIG for wrong settings, -EPERM where GPROF_ENABLE=0 or another copy
 * records, -EIO where nothing can be recorded (any more). Any thread.
 */
int gprof_start(const char *settings)
{
	TARGET_KEEP_ERRNO;
	int rc;

	if (!entry_is_usable()) {
		return -EPERM;
	}
	if (hook_mode() & COLLECTOR_COLD) {
		rc = begin(settings);
		return rc ? rc : (int)collector_window();
	}
	if (settings) {
		return -EBUSY;
	}
	entry_begin_inside();
	rc = collector_switch(true);
	return rc > 0 ? (int)collector_window() : rc;
}

/*
 * Closes the window, and returns when the stream has what was recorded: 0, or -EIO where nothing is
 * recorded any more. GPU work that still runs arrives later. Any thread.
 */
int gprof_stop(void)
{
	TARGET_KEEP_ERRNO;
	int rc;

	rc = hook_mode() & COLLECTOR_COLD ? -EIO : collector_switch(false);
	return rc < 0 ? rc : 0;
}

/* The path of this process's stream; NULL if nothing is recorded. It stays as long as the process.
 */
const char *gprof_stream(void)
{
	return collector_stream();
}
