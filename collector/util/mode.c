/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The word that every hook reads, on a page of its own: target.c replaces that page by memory which
 * the kernel wipes in children, so that a child made without fork's handlers finds 0 and records
 * nothing.
 */
#include "collector/util/mode.h"

/* Hooks may run before the constructor, so the first value must already lead to collector_start. */
struct collector_page collector_page COMPAT_APART = {.mode = COLLECTOR_COLD};
uint32_t collector_step_call;
