/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/util/mode.h"

/* Hooks may run before the constructor, so the first value must already lead to collector_start. */
struct collector_page collector_page COMPAT_APART = {.mode = COLLECTOR_COLD};
uint32_t collector_step_call;
