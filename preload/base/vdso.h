/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's own functions, which it maps into every process. Those of the C library may be
 * another library's: one that shows the target another time.
 */
#ifndef PRELOAD_BASE_VDSO_H
#define PRELOAD_BASE_VDSO_H

#include "collector/util/clock.h"

/* Returns NULL if the kernel has mapped none (valgrind hides it). */
clock_function vdso_clock(void);

#endif
