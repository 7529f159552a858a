/* SPDX-License-Identifier: Apache-2.0 */
/* The process that we are guests of. */
#ifndef COLLECTOR_UTIL_TARGET_H
#define COLLECTOR_UTIL_TARGET_H

#include <stdbool.h>
#include <stdint.h>

/*
 * dlmopen makes a second copy of the process's libraries, and a driver in there opens one of us;
 * its C library, and with it threads and exit, is not the program's. The program is in the first
 * only.
 */
bool target_is_beside_program(void);

/*
 * A CUDA call is no place where a thread may be cancelled; our waits and files would be. Returns
 * what target_release_cancellation wants.
 */
int target_hold_cancellation(void);
void target_release_cancellation(int before);

/* Sleeps so many ns, less than a second; a thread is not cancelled in it, and errno is kept. */
void target_pause(uint32_t ns);

/*
 * A child of a bare clone or _Fork runs no handler of ours, and shares the rings with its parent.
 * So collector_page, which every hook looks at first, is made a page that is zeros in any child:
 * nothing is recorded there. Where the kernel does not know that (before 4.14) such a child must
 * not call CUDA.
 */
void target_wipe_page_in_children(void);

#endif
