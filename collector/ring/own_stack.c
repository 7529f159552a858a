/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel knows what is mapped: it refuses to read the page that guards the end of a stack. The
 * main thread's stack grows into what is not mapped yet, up to its limit.
 */
#include "collector/ring/own_stack.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

bool own_stack_of_main(uintptr_t *low, uintptr_t *high)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
	uintptr_t top = getauxval(AT_EXECFN); /* the kernel writes it at the upper end */

	getrlimit(RLIMIT_STACK, &limit);
	if (limit.rlim_cur > OWN_STACK_MAX_MAIN_BYTES) {
		limit.rlim_cur = OWN_STACK_MAX_MAIN_BYTES;
	}
	if (top <= limit.rlim_cur) {
		return false;
	}
	*low = top - limit.rlim_cur + OWN_STACK_PAGE_BYTES;
	*high = top;
	return true;
}

/* The kernel reads the signals before it refuses to do with them what it does not know. */
bool own_stack_is_readable(uintptr_t at)
{
	return syscall(SYS_rt_sigprocmask, -1L, at, NULL, 8ul) != -1 || errno != EFAULT;
}
