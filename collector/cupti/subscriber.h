/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's subscription, of which a library up to CUDA 13.2 has one. It is held for us, for another
 * client of this process that subscribed through our exports, or for both; CUPTI's function is
 * callback.c's, which passes on what the client has enabled. The client's handle is CUPTI's own, so
 * that it is right for calls that do not come by here. A second client is refused, as by CUPTI.
 *
 * Any thread. No lock is held over a call of CUPTI's but for a bounded claim while somebody
 * subscribes or unsubscribes: after 2 s a waiting thread goes on.
 */
#ifndef COLLECTOR_CUPTI_SUBSCRIBER_H
#define COLLECTOR_CUPTI_SUBSCRIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/cupti/cupti_abi.h"

/* Ids of each domain that can be told apart; those behind are not passed on. */
#define SUBSCRIBER_MAX_CBID   2048u
#define SUBSCRIBER_NR_DOMAINS 7u /* with 0, which is none */

/* What CUPTI calls, on the target's threads inside their calls. callback.c defines it. */
void callback_on_cupti(void *userdata, uint32_t domain, uint32_t cbid, const void *data);

/* Subscribes for us, or joins. Returns CUPTI's code; on 39 `holder` says who has it. */
uint32_t subscriber_start(char *holder, size_t holder_bytes);
bool subscriber_is_ours(void);

/* Switches an id for us. It stays on where the client wants it. */
void subscriber_want(uint32_t domain, uint32_t cbid, bool is_wanted);
bool subscriber_is_wanted(uint32_t domain, uint32_t cbid);

/* From CUPTI's callback: calls the client if it has enabled that. */
void subscriber_call_client(uint32_t domain, uint32_t cbid, const void *data);

/* Unsubscribes; or cuptiFinalize has done so for everybody. */
void subscriber_end(void);
void subscriber_lost(void);

/* In a forked child: no longer ours; a client's stays as it is. */
void subscriber_forget(void);

/* ---- the client's calls; `real` are the library's functions, as the client would have got them
 * ---- */

typedef uint32_t (*subscriber_enable_fn)(
	uint32_t enable, cupti_subscriber subscriber, uint32_t domain, uint32_t cbid);

struct subscriber_real {
	uint32_t (*subscribe)(cupti_subscriber *out, cupti_callback_fn callback, void *userdata);
	uint32_t (*subscribe_v2)(cupti_subscriber *out, cupti_callback_fn callback, void *userdata,
		struct cupti_subscriber_params *params);
};

bool subscriber_has_client(void);
bool subscriber_is_clients(cupti_subscriber subscriber);

/* By subscribe_v2 if there are params. Returns CUPTI's code, 39 if another client has it. */
uint32_t subscriber_client_subscribe(const struct subscriber_real *real, cupti_subscriber *out,
	cupti_callback_fn callback, void *userdata, struct cupti_subscriber_params *params);
uint32_t subscriber_client_unsubscribe(uint32_t (*unsubscribe)(cupti_subscriber subscriber));

uint32_t subscriber_client_enable(
	subscriber_enable_fn enable, bool is_wanted, uint32_t domain, uint32_t cbid);

/* A whole domain: the real call is the caller's, which then asks for ours to be put on again. */
void subscriber_client_enable_domain(bool is_wanted, uint32_t domain);
void subscriber_again(uint32_t domain);
bool subscriber_client_wants(uint32_t domain, uint32_t cbid);

#endif
