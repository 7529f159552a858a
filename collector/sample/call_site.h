/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the code at an address that a row of a ring has. For the drain thread. */
#ifndef COLLECTOR_SAMPLE_CALL_SITE_H
#define COLLECTOR_SAMPLE_CALL_SITE_H

#include <stdint.h>

/*
 * The id in table native_stack of a stack of one frame, whose call returns to that address. 0:
 * unknown, or CPU samples are off (GPROF_CPU_HZ=0), which know the process's code.
 */
uint32_t call_site_id(uint64_t address);

/*
 * Releases what is known of the process's code and of native stacks. CPU samples have ended, and no
 * row comes any more.
 */
void call_site_fini(void);

#endif
