/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated CUPTI's subscribers: one, as up to CUDA 13.2, or several that all said that they
 * allow others (SIM_CUPTI_SUBSCRIBERS=multi, as since 13.3).
 */
#include "test/sim/cupti.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SUBSCRIBERS = 4, MAX_RESOURCE = 64, MAX_NAME = 54, MAX_WAITS = 100000 };

struct subscriber {
	_Atomic bool is_live;
	bool is_own; /* allows others, and has an activity API of its own */
	cupti_callback_fn callback;
	void *userdata;
	char name[MAX_NAME];
	_Atomic uint8_t api[2][CUPTI_SIM_MAX_CBIDS];
	_Atomic uint8_t resource[MAX_RESOURCE];
};

static struct subscriber subscribers[MAX_SUBSCRIBERS];
/* How many calls look at each of them, of all threads and of this one, which may subscribe in a
 * callback. */
static _Atomic int nr_inside[MAX_SUBSCRIBERS];
static _Thread_local int nr_own[MAX_SUBSCRIBERS];
static _Atomic int nr_live;
static _Atomic bool is_busy; /* a subscription is being made or ended */

bool cupti_sim_is_multi(void)
{
	const char *text = getenv("SIM_CUPTI_SUBSCRIBERS");

	return text && !strcmp(text, "multi");
}

void cupti_sim_attach(void)
{
	atomic_store_explicit(&cupti_sim_core()->trace, &cupti_sim_trace, memory_order_release);
}

bool cupti_sim_is_own(void *subscriber)
{
	struct subscriber *s = subscriber;

	return s >= subscribers && s < subscribers + MAX_SUBSCRIBERS && atomic_load(&s->is_live) &&
	       s->is_own;
}

bool cupti_sim_has_own_scope(void)
{
	for (int i = 0; i < MAX_SUBSCRIBERS; i++) {
		if (cupti_sim_is_own(&subscribers[i])) {
			return true;
		}
	}
	return false;
}

static bool is_live(void *subscriber)
{
	struct subscriber *s = subscriber;

	return s >= subscribers && s < subscribers + MAX_SUBSCRIBERS && atomic_load(&s->is_live);
}

static void call_subscriber(struct subscriber *s, uint32_t domain, uint32_t cbid, const void *data)
{
	bool is_wanted;

	if (!atomic_load(&s->is_live)) {
		return;
	}
	if (domain == CUPTI_DOMAIN_RESOURCE) {
		is_wanted = cbid < MAX_RESOURCE && atomic_load(&s->resource[cbid]);
	} else {
		is_wanted = atomic_load(&s->api[domain - 1][cbid]);
	}
	if (is_wanted && s->callback) {
		s->callback(s->userdata, domain, cbid, data);
	}
}

void cupti_sim_call_subscribers(uint32_t domain, uint32_t cbid, const void *data)
{
	for (int i = 0; i < MAX_SUBSCRIBERS; i++) {
		atomic_fetch_add(&nr_inside[i], 1);
		nr_own[i]++;
		call_subscriber(&subscribers[i], domain, cbid, data);
		nr_own[i]--;
		atomic_fetch_sub(&nr_inside[i], 1);
	}
}

/*
 * Until no other thread looks at a place that is free: it may have seen the one before there. Not
 * for ever, since a callback may have been left by a jump.
 */
static void wait_for_calls(int place)
{
	for (int i = 0; i < MAX_WAITS && atomic_load(&nr_inside[place]) > nr_own[place]; i++) {
		sched_yield();
	}
}

/* What the model is to tell: what any of them wants. */
static void update_want(int domain, uint32_t cbid)
{
	bool is_wanted = false;

	for (int i = 0; i < MAX_SUBSCRIBERS; i++) {
		is_wanted |= atomic_load(&subscribers[i].is_live) &&
			     atomic_load(&subscribers[i].api[domain - 1][cbid]);
	}
	if (is_wanted) {
		atomic_fetch_or(&cupti_sim_trace.want[domain - 1][cbid], SIM_WANT_CALLBACK);
	} else {
		atomic_fetch_and(
			&cupti_sim_trace.want[domain - 1][cbid], (uint8_t)~SIM_WANT_CALLBACK);
	}
}

static void end(struct subscriber *s)
{
	atomic_store(&s->is_live, false);
	atomic_fetch_sub(&nr_live, 1);
	for (uint32_t cbid = 1; cbid < CUPTI_SIM_MAX_CBIDS; cbid++) {
		update_want(CUPTI_DOMAIN_DRIVER, cbid);
		update_want(CUPTI_DOMAIN_RUNTIME, cbid);
	}
	if (s->is_own) {
		for (uint32_t kind = 1; kind < CUPTI_KIND_END; kind++) {
			cupti_sim_kind_set(kind, false);
		}
		cupti_sim_flush(true);
		cupti_sim_buffers_register_v2(NULL, NULL);
	}
}

void cupti_sim_subscribers_end(void)
{
	for (int i = 0; i < MAX_SUBSCRIBERS; i++) {
		if (atomic_load(&subscribers[i].is_live)) {
			end(&subscribers[i]);
		}
	}
}

/* A free place, or NULL if whoever is there allows no other. */
static struct subscriber *place(bool allows_others, const struct subscriber **holder)
{
	struct subscriber *free = NULL;

	for (int i = MAX_SUBSCRIBERS - 1; i >= 0; i--) {
		if (!atomic_load(&subscribers[i].is_live)) {
			free = &subscribers[i];
		} else {
			*holder = &subscribers[i];
		}
	}
	return *holder && !(allows_others && (*holder)->is_own) ? NULL : free;
}

static int subscribe(void **out, cupti_callback_fn callback, void *userdata, const char *name,
	bool allows_others, const struct subscriber **holder)
{
	const char *taken = getenv("SIM_CUPTI_TAKEN");
	struct subscriber *s = NULL;
	bool idle = false;

	if (!out) {
		return CUPTI_INVALID_PARAMETER;
	}
	if (taken && *taken == '1') {
		return CUPTI_MULTIPLE_SUBSCRIBERS;
	}
	while (!atomic_compare_exchange_weak(&is_busy, &idle, true)) {
		idle = false;
	}
	s = place(allows_others, holder);
	if (s) {
		wait_for_calls((int)(s - subscribers));
		memset((void *)s, 0, sizeof(*s));
		s->callback = callback;
		s->userdata = userdata;
		s->is_own = allows_others;
		strncpy(s->name, name ? name : "", sizeof(s->name) - 1);
		atomic_store(&s->is_live, true);
		atomic_fetch_add(&nr_live, 1);
		*out = s;
		cupti_sim_attach();
	}
	atomic_store(&is_busy, false);
	return s ? CUPTI_OK : CUPTI_MULTIPLE_SUBSCRIBERS;
}

CUPTI_SIM_EXPORT(cuptiSubscribe, (void **out, cupti_callback_fn callback, void *userdata))
{
	const struct subscriber *holder = NULL;

	CUPTI_SIM_CHECK();
	return callback ? subscribe(out, callback, userdata, NULL, false, &holder)
			: CUPTI_INVALID_PARAMETER;
}

CUPTI_SIM_EXPORT(cuptiSubscribe_v2, (void **out, cupti_callback_fn callback, void *userdata,
					    struct cupti_subscriber_params *params))
{
	const struct subscriber *holder = NULL;
	bool allows_others;

	CUPTI_SIM_CHECK();
	if (!params || cupti_sim_level() < 13000) {
		return params ? CUPTI_NOT_SUPPORTED : CUPTI_INVALID_PARAMETER;
	}
	allows_others = cupti_sim_is_multi() && params->size > sizeof(*params) &&
			((struct cupti_subscriber_params_13_2 *)params)->allows_others;
	int r = subscribe(out, callback, userdata, params->subscriber_name, allows_others, &holder);

	if (r == CUPTI_MULTIPLE_SUBSCRIBERS && params->old_subscriber_name &&
		params->old_subscriber_bytes) {
		char text[80] = "CUPTI for ";

		strcat(text, holder && *holder->name ? holder->name : "somebody else");
		strncpy(params->old_subscriber_name, text, params->old_subscriber_bytes - 1);
		params->old_subscriber_name[params->old_subscriber_bytes - 1] = '\0';
	}
	return r;
}

CUPTI_SIM_EXPORT(cuptiUnsubscribe, (void *subscriber))
{
	if (!is_live(subscriber)) {
		return CUPTI_INVALID_PARAMETER;
	}
	/* A callback may be running on another thread; the real one leaves that to the client too.
	 */
	end(subscriber);
	return CUPTI_OK;
}

static int set_callback(struct subscriber *s, uint32_t enable, int domain, uint32_t cbid)
{
	switch (domain) {
	case CUPTI_DOMAIN_DRIVER:
	case CUPTI_DOMAIN_RUNTIME:
		if (cbid == 0 || cbid >= CUPTI_SIM_MAX_CBIDS) {
			return CUPTI_INVALID_PARAMETER;
		}
		atomic_store(&s->api[domain - 1][cbid], enable != 0);
		update_want(domain, cbid);
		return CUPTI_OK;
	case CUPTI_DOMAIN_RESOURCE:
		if (cbid == 0 || cbid >= MAX_RESOURCE) {
			return CUPTI_INVALID_PARAMETER;
		}
		atomic_store(&s->resource[cbid], enable != 0);
		return CUPTI_OK;
	case CUPTI_DOMAIN_STATE:
		return cupti_sim_level() >= 12020 ? CUPTI_OK : CUPTI_INVALID_PARAMETER;
	case CUPTI_DOMAIN_SYNCHRONIZE:
	case CUPTI_DOMAIN_NVTX:
		return CUPTI_OK;
	default:
		return CUPTI_INVALID_PARAMETER;
	}
}

CUPTI_SIM_EXPORT(
	cuptiEnableCallback, (uint32_t enable, void *subscriber, int domain, uint32_t cbid))
{
	CUPTI_SIM_CHECK();
	return is_live(subscriber) ? set_callback(subscriber, enable, domain, cbid)
				   : CUPTI_INVALID_PARAMETER;
}

CUPTI_SIM_EXPORT(cuptiEnableDomain, (uint32_t enable, void *subscriber, int domain))
{
	uint32_t end_cbid = domain == CUPTI_DOMAIN_RESOURCE ? MAX_RESOURCE : CUPTI_SIM_MAX_CBIDS;

	CUPTI_SIM_CHECK();
	if (!is_live(subscriber)) {
		return CUPTI_INVALID_PARAMETER;
	}
	for (uint32_t cbid = 1; cbid < end_cbid; cbid++) {
		int r = set_callback(subscriber, enable, domain, cbid);

		if (r != CUPTI_OK) {
			return r;
		}
	}
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiEnableAllDomains, (uint32_t enable, void *subscriber))
{
	for (int domain = CUPTI_DOMAIN_DRIVER; domain <= CUPTI_DOMAIN_NVTX; domain++) {
		int r = cuptiEnableDomain(enable, subscriber, domain);

		if (r != CUPTI_OK) {
			return r;
		}
	}
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(
	cuptiGetCallbackState, (uint32_t * enable, void *subscriber, int domain, uint32_t cbid))
{
	struct subscriber *s = subscriber;

	CUPTI_SIM_CHECK();
	if (!is_live(s) || !enable || domain < CUPTI_DOMAIN_DRIVER ||
		domain > CUPTI_DOMAIN_RESOURCE || cbid == 0 ||
		cbid >= (domain == CUPTI_DOMAIN_RESOURCE ? (uint32_t)MAX_RESOURCE
							 : (uint32_t)CUPTI_SIM_MAX_CBIDS)) {
		return CUPTI_INVALID_PARAMETER;
	}
	*enable = domain == CUPTI_DOMAIN_RESOURCE ? atomic_load(&s->resource[cbid])
						  : atomic_load(&s->api[domain - 1][cbid]);
	return CUPTI_OK;
}
