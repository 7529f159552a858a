/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/last_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The links of /proc/PID/task: two of any directory's, and one for each thread. */
#define LINKS_OF_TWO 4u

/* The C library gives each thread a list of robust mutexes; the kernel drops it as a thread ends.
 */
bool last_thread_has_main_left(void)
{
	void *list = &list;
	size_t bytes;

	return !syscall(SYS_get_robust_list, (int)syscall(SYS_getpid), &list, &bytes) && !list;
}

enum last_thread last_thread_look(void)
{
	struct stat tasks;

	if (!last_thread_has_main_left()) {
		return LAST_THREAD_NO;
	}
	if (syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &tasks, 0)) {
		return errno == ENOMEM ? LAST_THREAD_NO : LAST_THREAD_UNKNOWN;
	}
	/* The main thread is still counted, as the others' leader. */
	return tasks.st_nlink == LINKS_OF_TWO ? LAST_THREAD_YES : LAST_THREAD_NO;
}
