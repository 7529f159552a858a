/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's subscription; a library up to CUDA 13.2 allows one. It serves us, another client of this
 * process that subscribed through our exports, or both: CUPTI calls our function (callback.c),
 * which forwards what the client has enabled. The client gets CUPTI's own handle, which is valid
 * for calls that bypass us. A second client is refused, as CUPTI does.
 *
 * Any thread. No lock is held over a call of CUPTI, except a bounded claim while a thread
 * subscribes or unsubscribes: a waiting thread continues after 2 s.
 */
#ifndef COLLECTOR_CUPTI_SUBSCRIBER_H
#define COLLECTOR_CUPTI_SUBSCRIBER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/cupti/cupti_abi.h"

/* All callback IDs that gprof asks for are smaller. */
#define SUBSCRIBER_MAX_CBID   2048u
#define SUBSCRIBER_NR_DOMAINS 7u /* with 0, which is none */

/* The callback IDs that we or a client have enabled: a bit each, by domain. */
struct subscriber_wants {
	_Atomic uint32_t bits[SUBSCRIBER_NR_DOMAINS][SUBSCRIBER_MAX_CBID / 32];
};

/* The callback IDs that the client has enabled. */
extern struct subscriber_wants subscriber_theirs __attribute__((visibility("hidden")));

/* Only the client can have enabled a larger ID or a later domain; gprof never does. */
static inline bool subscriber_has(
	const struct subscriber_wants *wants, uint32_t domain, uint32_t cbid)
{
	if (domain >= SUBSCRIBER_NR_DOMAINS || cbid >= SUBSCRIBER_MAX_CBID) {
		return wants == &subscriber_theirs;
	}
	return atomic_load(&wants->bits[domain][cbid / 32]) >> cbid % 32 & 1;
}

/* CUPTI calls this, on the target's threads inside their calls. callback.c defines it. */
void callback_on_cupti(void *userdata, uint32_t domain, uint32_t cbid, const void *data);

/*
 * Subscribes for us, or joins. Returns CUPTI's code; with 39, `holder` names the profiler that has
 * subscribed.
 */
uint32_t subscriber_start(char *holder, size_t holder_bytes);
bool subscriber_is_ours(void);

/* Switches an id for us. It stays on where the client wants it. */
void subscriber_want(uint32_t domain, uint32_t cbid, bool is_wanted);
bool subscriber_is_wanted(uint32_t domain, uint32_t cbid);

/* From CUPTI's callback: calls the client if it has enabled that id. */
void subscriber_call_client(uint32_t domain, uint32_t cbid, const void *data);

/* Unsubscribes; or cuptiFinalize has done so for everybody. */
void subscriber_end(void);
void subscriber_lost(void);

/* In a forked child: drops our subscription; a client's stays. */
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

/*
 * A whole domain: the caller makes the real call, and then calls subscriber_again to restore our
 * ids.
 */
void subscriber_client_enable_domain(bool is_wanted, uint32_t domain);
void subscriber_again(uint32_t domain);
static inline bool subscriber_client_wants(uint32_t domain, uint32_t cbid)
{
	return subscriber_has(&subscriber_theirs, domain, cbid);
}

#endif
