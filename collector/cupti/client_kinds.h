/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record kinds that another CUPTI client has on: for everything, or for some contexts, which
 * are counted. Any thread; a kind counts from before it is switched on until after it was switched
 * off.
 */
#ifndef COLLECTOR_CUPTI_CLIENT_KINDS_H
#define COLLECTOR_CUPTI_CLIENT_KINDS_H

#include <stdbool.h>
#include <stdint.h>

void client_kinds_add(uint32_t kind, bool is_context);
void client_kinds_remove(uint32_t kind, bool is_context);
bool client_kinds_any(void);
void client_kinds_clear(void);

/*
 * Since the last call: were all kinds of GPU activity on, for everything? Only then do the client's
 * records show whether there was any.
 */
bool client_kinds_take_complete(void);

#endif
