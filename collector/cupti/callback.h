/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's API callbacks. They store the correlation ID in the frame of the hook on the stack, or
 * record the call themselves if there is none (a static runtime inside a library, Triton calling
 * the driver). Only single callback ids are enabled (cupti_cbid.def).
 */
#ifndef COLLECTOR_CUPTI_CALLBACK_H
#define COLLECTOR_CUPTI_CALLBACK_H

#include <stdbool.h>
#include <stdint.h>

/* Gives every callback id its call. find_call: the id of a function's name, or a new one for it. */
void callback_init(uint32_t (*find_call)(const char *name, uint8_t api));

/*
 * Subscribes, or joins another client's subscription (subscriber.h). Returns false, with CUPTI
 * refused, if another profiler has subscribed or CUPTI fails.
 */
bool callback_start(void);

/* Switches the callbacks on or off when `is_wanted` changes. The drain thread. */
void callback_set_enabled(bool is_wanted);

/* In a forked child. */
void callback_forget(void);

#endif
