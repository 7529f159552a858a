/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI delivers the union of what both sides want. No lock protects that: apply() sets an id again
 * until both sides' wishes have stood still. `forwarded` holds the calls of a thread whose begin
 * the client has seen, so that it never gets an end alone.
 */
#include "collector/cupti/subscriber.h"

#include <stdatomic.h>

#include "collector/cupti/cupti.h"
#include "collector/util/log.h"
#include "collector/util/target.h"

#define NR_DOMAINS   SUBSCRIBER_NR_DOMAINS
#define NR_WORDS     (SUBSCRIBER_MAX_CBID / 32u)
#define NR_CLIENTS   16u
#define NR_FORWARDED 8u
#define WAIT_MS	     2000u

struct subscriber_wants subscriber_theirs;

/* Another client of CUPTI; written before it is published, then only read. */
struct client {
	cupti_callback_fn callback;
	void *userdata;
	char name[64];
};

/*
 * CUPTI has one subscriber, whose function is always callback.c's: for us, for another client that
 * subscribed through our exports, or for both. What is enabled is what either wants.
 */
static struct subscriber_state {
	cupti_subscriber _Atomic subscriber; /* NULL: none */
	atomic_bool is_changing;	     /* some thread subscribes or unsubscribes */
	atomic_bool is_ours;		     /* we want the subscription */
	struct subscriber_wants ours;
	struct client clients[NR_CLIENTS];
	_Atomic uint32_t nr_clients;
	atomic_bool is_taken; /* by a client, which may still be on its way */
	const struct client *_Atomic client;
} state;

static __thread bool is_subscribing __attribute__((tls_model("initial-exec")));

static void set_wanted(
	struct subscriber_wants *wants, uint32_t domain, uint32_t cbid, bool is_wanted)
{
	if (domain >= NR_DOMAINS || cbid >= SUBSCRIBER_MAX_CBID) {
		return;
	}
	if (is_wanted) {
		atomic_fetch_or(&wants->bits[domain][cbid / 32], 1u << cbid % 32);
	} else {
		atomic_fetch_and(&wants->bits[domain][cbid / 32], ~(1u << cbid % 32));
	}
}

static void set_domain_wanted(struct subscriber_wants *wants, uint32_t domain, bool is_wanted)
{
	for (uint32_t i = 0; domain < NR_DOMAINS && i < NR_WORDS; i++) {
		atomic_store(&wants->bits[domain][i], is_wanted ? UINT32_MAX : 0);
	}
}

bool subscriber_is_wanted(uint32_t domain, uint32_t cbid)
{
	return subscriber_has(&state.ours, domain, cbid);
}

bool subscriber_is_ours(void)
{
	return atomic_load(&state.is_ours) && atomic_load(&state.subscriber);
}

/*
 * Calls of this thread whose start the client has seen. The client sees the end of these calls
 * only. If more calls are nested than `calls` has room for, the outermost ones are only counted.
 */
static __thread struct forwarded {
	struct {
		uint32_t correlation;
		uint32_t what; /* domain and callback ID */
	} calls[NR_FORWARDED];
	uint32_t nr, nr_counted;
} forwarded __attribute__((tls_model("initial-exec")));

static void remember(uint32_t what, uint32_t correlation)
{
	uint32_t at = forwarded.nr++ % NR_FORWARDED;

	/* A signal handler may call CUDA here; its call ends before we go on. */
	atomic_signal_fence(memory_order_seq_cst);
	while (forwarded.nr - forwarded.nr_counted > NR_FORWARDED) {
		forwarded.nr_counted++;
	}
	forwarded.calls[at].what = what;
	forwarded.calls[at].correlation = correlation;
}

static bool was_forwarded(uint32_t what, uint32_t correlation)
{
	uint32_t nr = forwarded.nr;

	while (nr > forwarded.nr_counted &&
		(forwarded.calls[(nr - 1) % NR_FORWARDED].correlation != correlation ||
			forwarded.calls[(nr - 1) % NR_FORWARDED].what != what)) {
		nr--;
	}
	if (nr == forwarded.nr_counted) {
		if (!nr || nr != forwarded.nr) {
			return false;
		}
		forwarded.nr_counted--;
	}
	/* The program has left the calls inside this one, by a jump or an exception. */
	forwarded.nr = nr - 1;
	return true;
}

void subscriber_call_client(uint32_t domain, uint32_t cbid, const void *data)
{
	const struct client *client = atomic_load_explicit(&state.client, memory_order_acquire);
	const struct cupti_callback_data *call = data;

	if (!client || !client->callback || !subscriber_has(&subscriber_theirs, domain, cbid)) {
		return;
	}
	if (domain == CUPTI_DOMAIN_RUNTIME || domain == CUPTI_DOMAIN_DRIVER) {
		uint32_t what = domain << 16 | cbid;

		if (call->site == CUPTI_SITE_ENTER) {
			remember(what, call->correlation_id);
		} else if (!was_forwarded(what, call->correlation_id)) {
			return;
		}
	}
	client->callback(client->userdata, domain, cbid, data);
}

/* Bounded, since the thread that changes it may wait for a lock of CUPTI's that this one holds. */
static void claim(void)
{
	for (unsigned int i = 0; atomic_exchange(&state.is_changing, true) && i < WAIT_MS; i++) {
		target_pause(1000000);
	}
}

static void release(void)
{
	atomic_store(&state.is_changing, false);
}

static uint32_t subscribe(cupti_subscriber *out, char *holder, size_t holder_bytes)
{
	struct cupti_subscriber_params params = {.size = sizeof(params),
		.subscriber_name = "gprof",
		.old_subscriber_name = holder,
		.old_subscriber_bytes = holder_bytes};
	uint32_t rc = CUPTI_NOT_SUPPORTED;

	if (cupti.cuptiSubscribe_v2) {
		rc = cupti.cuptiSubscribe_v2(out, callback_on_cupti, NULL, &params);
	}
	/* Tries the older form only if the library does not accept the newer one. */
	if (rc == CUPTI_NOT_SUPPORTED || rc == CUPTI_INVALID_PARAMETER) {
		rc = cupti.cuptiSubscribe(out, callback_on_cupti, NULL);
	}
	return rc;
}

/*
 * Enables or disables an id for both clients. Either may change its request on another thread at
 * the same time; the last one to check sees the other's request and acts on it.
 */
static void apply(uint32_t domain, uint32_t cbid)
{
	bool is_wanted, was_wanted;

	do {
		is_wanted = subscriber_has(&state.ours, domain, cbid) ||
			    subscriber_has(&subscriber_theirs, domain, cbid);
		/* An id that this library does not know fails alone, which is fine. */
		cupti.cuptiEnableCallback(is_wanted, atomic_load(&state.subscriber), domain, cbid);
		was_wanted = is_wanted;
		is_wanted = subscriber_has(&state.ours, domain, cbid) ||
			    subscriber_has(&subscriber_theirs, domain, cbid);
	} while (is_wanted != was_wanted);
}

void subscriber_want(uint32_t domain, uint32_t cbid, bool is_wanted)
{
	set_wanted(&state.ours, domain, cbid, is_wanted);
	apply(domain, cbid);
}

uint32_t subscriber_start(char *holder, size_t holder_bytes)
{
	cupti_subscriber subscriber = NULL;
	uint32_t rc = CUPTI_OK;

	atomic_store(&state.is_ours, true);
	if (is_subscribing) {
		return CUPTI_OK; /* CUPTI started the driver for a client; gprof subscribes when
				    that returns */
	}
	claim();
	if (!atomic_load(&state.subscriber)) {
		rc = subscribe(&subscriber, holder, holder_bytes);
		atomic_store(&state.subscriber, rc ? NULL : subscriber);
	}
	release();
	if (rc) {
		atomic_store(&state.is_ours, false);
	}
	return rc;
}

static void want_nothing(struct subscriber_wants *wants)
{
	for (uint32_t domain = 0; domain < NR_DOMAINS; domain++) {
		set_domain_wanted(wants, domain, false);
	}
}

void subscriber_end(void)
{
	cupti_subscriber subscriber;

	claim();
	subscriber = atomic_exchange(&state.subscriber, NULL);
	if (subscriber && cupti.cuptiUnsubscribe) {
		cupti.cuptiUnsubscribe(subscriber);
	}
	release();
	subscriber_lost();
}

void subscriber_lost(void)
{
	atomic_store(&state.subscriber, NULL);
	atomic_store(&state.client, NULL);
	atomic_store(&state.is_taken, false);
	atomic_store(&state.is_ours, false);
	want_nothing(&state.ours);
	want_nothing(&subscriber_theirs);
}

void subscriber_forget(void)
{
	atomic_store(&state.is_ours, false);
	atomic_store(&state.is_changing, false);
	want_nothing(&state.ours);
}

/* ---- another client ---- */

bool subscriber_has_client(void)
{
	return atomic_load(&state.is_taken);
}

/* In CUPTI's own wording for the holder. */
static uint32_t return_holder(const struct cupti_subscriber_params *params)
{
	const struct client *client = atomic_load(&state.client);

	if (params && params->old_subscriber_name && params->old_subscriber_bytes) {
		log_format(params->old_subscriber_name, params->old_subscriber_bytes,
			"CUPTI for %s", client ? client->name : "");
	}
	return CUPTI_MULTIPLE_SUBSCRIBERS;
}

static const struct client *add_client(cupti_callback_fn callback, void *userdata, const char *name)
{
	struct client *client = &state.clients[atomic_fetch_add(&state.nr_clients, 1) % NR_CLIENTS];

	client->callback = callback;
	client->userdata = userdata;
	log_format(client->name, sizeof(client->name), "%s", name);
	return client;
}

/* Shares the subscription that gprof has, or makes one with gprof's function. */
uint32_t subscriber_client_subscribe(const struct subscriber_real *real, cupti_subscriber *out,
	cupti_callback_fn callback, void *userdata, struct cupti_subscriber_params *params)
{
	const char *name = params && params->subscriber_name ? params->subscriber_name : "";
	cupti_subscriber subscriber = NULL;
	uint32_t rc = CUPTI_OK;

	if (atomic_exchange(&state.is_taken, true)) {
		return return_holder(params);
	}
	want_nothing(&subscriber_theirs);
	claim();
	if (!atomic_load(&state.subscriber)) {
		is_subscribing = true;
		rc = params ? real->subscribe_v2(&subscriber, callback_on_cupti, NULL, params)
			    : real->subscribe(&subscriber, callback_on_cupti, NULL);
		is_subscribing = false;
		atomic_store(&state.subscriber, rc ? NULL : subscriber);
	}
	release();
	if (rc) {
		atomic_store(&state.is_taken, false);
		return rc;
	}
	atomic_store(&state.client, add_client(callback, userdata, name));
	*out = atomic_load(&state.subscriber);
	return CUPTI_OK;
}

bool subscriber_is_clients(cupti_subscriber subscriber)
{
	return subscriber && atomic_load(&state.is_taken) &&
	       subscriber == atomic_load(&state.subscriber);
}

/*
 * CUPTI is unsubscribed only if gprof does not want it. Otherwise the ids that only the client
 * wanted are disabled.
 */
uint32_t subscriber_client_unsubscribe(uint32_t (*unsubscribe)(cupti_subscriber subscriber))
{
	uint32_t rc = CUPTI_OK;

	atomic_store(&state.client, NULL);
	claim();
	if (!atomic_load(&state.is_ours)) {
		rc = unsubscribe(atomic_load(&state.subscriber));
		atomic_store(&state.subscriber, NULL);
		want_nothing(&subscriber_theirs);
	}
	release();
	/* Disables what only the client wanted. */
	for (uint32_t domain = 0; domain < NR_DOMAINS; domain++) {
		for (uint32_t cbid = 0; cbid < SUBSCRIBER_MAX_CBID; cbid++) {
			if (subscriber_has(&subscriber_theirs, domain, cbid)) {
				set_wanted(&subscriber_theirs, domain, cbid, false);
				apply(domain, cbid);
			}
		}
	}
	atomic_store(&state.is_taken, false);
	return rc;
}

uint32_t subscriber_client_enable(
	uint32_t (*enable)(uint32_t, cupti_subscriber, uint32_t, uint32_t), bool is_wanted,
	uint32_t domain, uint32_t cbid)
{
	uint32_t rc;

	set_wanted(&subscriber_theirs, domain, cbid, is_wanted);
	rc = enable(is_wanted || subscriber_has(&state.ours, domain, cbid),
		atomic_load(&state.subscriber), domain, cbid);
	if (rc) {
		set_wanted(&subscriber_theirs, domain, cbid, false);
	} else if (!is_wanted && subscriber_has(&state.ours, domain, cbid)) {
		apply(domain, cbid); /* we came to want it meanwhile */
	}
	return rc;
}

void subscriber_client_enable_domain(bool is_wanted, uint32_t domain)
{
	set_domain_wanted(&subscriber_theirs, domain, is_wanted);
}

void subscriber_again(uint32_t domain)
{
	for (uint32_t cbid = 0; cbid < SUBSCRIBER_MAX_CBID && atomic_load(&state.is_ours); cbid++) {
		if (subscriber_has(&state.ours, domain, cbid)) {
			apply(domain, cbid);
		}
	}
}
