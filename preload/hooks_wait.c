/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways to wait for a child: a signal from outside ends a process before it can record that, but
 * its parent learns of it. Where that is another process of the job, it notes the signal in what
 * the child has left.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/ring/ending.h"
#include "collector/util/config.h"
#include "preload/hook/hook.h"

#define END(ret, name, params) HOOK_EXPORT ret name params;
#include "preload/hook/hooks.def"

static void saw(pid_t pid, int number, bool is_reaped)
{
	if (config_flag(CONFIG_ENABLE)) {
		ending_mark_child(pid, number, is_reaped);
	}
}

/* `status` may be NULL, and wrong if the call fails. missing: where the C library has none of that
 * name. */
#define WAIT(name, params, args, missing)                                     \
	pid_t name params                                                     \
	{                                                                     \
		const __typeof__(&name) next = HOOK_NEXT(name);               \
		int own = 0;                                                  \
		pid_t ended;                                                  \
                                                                              \
		status = status ? status : &own;                              \
		ended = next ? next args : (pid_t)syscall missing;            \
		if (__builtin_expect(ended > 0 && WIFSIGNALED(*status), 0)) { \
			saw(ended, WTERMSIG(*status), true);                  \
		}                                                             \
		return ended;                                                 \
	}

WAIT(wait, (int *status), (status), (SYS_wait4, -1, status, 0, NULL))
WAIT(waitpid, (pid_t pid, int *status, int options), (pid, status, options),
	(SYS_wait4, pid, status, options, NULL))
WAIT(wait3, (int *status, int options, struct rusage *usage), (status, options, usage),
	(SYS_wait4, -1, status, options, usage))
WAIT(wait4, (pid_t pid, int *status, int options, struct rusage *usage),
	(pid, status, options, usage), (SYS_wait4, pid, status, options, usage))

int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	const __typeof__(&waitid) next = HOOK_NEXT(waitid);
	siginfo_t own = {0};
	int rc;

	info = info ? info : &own;
	rc = next ? next(type, id, info, options)
		  : (int)syscall(SYS_waitid, type, id, info, options, NULL);
	/* Without a child that has ended, there is no pid. */
	if (!rc && info->si_pid > 0 &&
		(info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED)) {
		saw(info->si_pid, info->si_status, !(options & WNOWAIT));
	}
	return rc;
}
