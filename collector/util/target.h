/* SPDX-License-Identifier: Apache-2.0 */
/* Care for the target, the process that gprof lives in. */
#ifndef COLLECTOR_UTIL_TARGET_H
#define COLLECTOR_UTIL_TARGET_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

static inline void target_restore_errno(const int *before)
{
	errno = *before;
}

/* Declares a variable that restores errno at the end of its block. */
#define TARGET_KEEP_ERRNO int errno_before __attribute__((cleanup(target_restore_errno))) = errno

/*
 * Is this copy of the library in the program's namespace? dlmopen makes a second copy of the
 * process's libraries, and a driver in there loads us again; its C library, and with it threads and
 * exit, is not the program's.
 */
bool target_is_beside_program(void);

/*
 * A CUDA call is no cancellation point, but our waits and files would be. Returns what
 * target_release_cancellation takes.
 */
int target_hold_cancellation(void);
void target_release_cancellation(const int *before);

/* Does both until the block ends: keeps errno, and holds cancellation. */
#define TARGET_LEAVE_ALONE                                                              \
	TARGET_KEEP_ERRNO;                                                              \
	int cancellation_before __attribute__((cleanup(target_release_cancellation))) = \
		target_hold_cancellation()

/* Sleeps that many ns, less than a second; no cancellation point, keeps errno. */
void target_pause(uint32_t ns);

/*
 * A child of a bare clone or _Fork runs none of our handlers, and shares the rings with its parent.
 * So collector_page, which every hook reads first, becomes a page that the kernel zeros in any
 * child: nothing is recorded there. If the kernel cannot do that (before 4.14), such a child must
 * not call CUDA.
 */
void target_wipe_page_in_children(void);

#endif
