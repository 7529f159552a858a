/* SPDX-License-Identifier: Apache-2.0 */
/* Each names the remedy, since what refuses samples differs from machine to machine. */
#include "collector/sample/cpu_notice.h"

#include <errno.h>
#include <stdatomic.h>

#include "collector/util/notice.h"

/* One of these two: the filter may be what refuses the call. */
static atomic_uint refused_in;

void cpu_notice_filter(void)
{
	if (notice_is_first(&refused_in)) {
		notice_add("CPU samples refused", 0,
			"a seccomp filter holds for this process and may refuse perf_event_open: "
			"threads that began under it have CPU samples only while they run Python, "
			"without machine functions. If it allows the call (docker run --cap-add "
			"PERFMON), set GPROF_CPU_HZ=99");
	}
}

void cpu_notice_refused(int code)
{
	if (notice_is_first(&refused_in)) {
		notice_add("CPU samples refused", code,
			"the kernel refuses perf_event_open (%s): threads have CPU samples only "
			"while they run Python, without machine functions. Set "
			"kernel.perf_event_paranoid to 2 or less; in a container, also allow the "
			"call by its seccomp profile (docker run --cap-add PERFMON)",
			code == EACCES || code == EPERM ? "not permitted"
			: code == ENOSYS		? "no such call"
							: "error");
	}
}

void cpu_notice_signal(int signal, bool has_python)
{
	notice_add(has_python ? "Python stacks of CPU samples end" : "CPU samples without a signal",
		0,
		"the process got the signal SIGSTKFLT (%d) of somebody else, so gprof does not use "
		"it any more: %s",
		signal,
		has_python ? "few of the CPU samples that follow have Python stacks"
			   : "CPU samples of threads that begin to run may be lost; the losses "
			     "count them");
}

void cpu_notice_no_room(uint32_t tid, int code)
{
	static atomic_uint told_in;

	if (notice_is_first(&told_in)) {
		notice_add("threads without CPU samples", code,
			"CPU samples of thread %u and perhaps others are missing: there is no more "
			"memory for them that a user may lock, or no descriptor, or there are over "
			"8,000 threads. Raise kernel.perf_event_mlock_kb, or ulimit -n",
			tid);
	}
}
