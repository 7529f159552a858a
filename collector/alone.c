/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/alone.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The links of /proc/PID/task: two of any directory's, and one for each thread. */
#define LINKS_OF_TWO 4u

/* The C library gives each thread a list of robust mutexes; the kernel drops it as a thread ends.
 */
bool alone_has_main_left(void)
{
	void *list = &list;
	size_t bytes;

	return !syscall(SYS_get_robust_list, (int)syscall(SYS_getpid), &list, &bytes) && !list;
}

bool alone_is_last(void)
{
	struct stat tasks;

	/* The main thread is still counted, as the others' leader. */
	return alone_has_main_left() &&
	       !syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &tasks, 0) &&
	       tasks.st_nlink == LINKS_OF_TWO;
}
