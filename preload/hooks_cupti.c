/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI as another profiler in the process calls it (torch.profiler, or one of a framework). Each
 * call reaches the real function, or is answered here if CUPTI supports only one user and we are
 * it; collector/cupti/cupti_share.h has the rules. A library that links CUPTI statically, or looks
 * its functions up by dlsym, bypasses these hooks.
 *
 * Our own calls go to the library directly; one that arrives here nevertheless, from inside CUPTI,
 * is passed on.
 */
#include "collector/cupti/cupti_share.h"
#include "preload/base/modules.h"
#include "preload/hook/hook.h"

/* The real function, and whether the call is one to be shared. */
#define SHARED(name)                                    \
	const __typeof__(&name) real = HOOK_REAL(name); \
	const bool is_shared = begin();                 \
	const void *const caller __attribute__((unused)) = (void *)HOOK_CALLER;

static bool begin(void)
{
	if (hook_mode() & COLLECTOR_COLD) {
		recorder_ensure_started();
	}
	return cupti_share_is_open();
}

/* Before the client sees calls of CUDA where nothing is shared. */
static void look_away(bool is_shared, uint32_t enable, uint32_t domain)
{
	if (!is_shared && enable &&
		(domain == CUPTI_DOMAIN_DRIVER || domain == CUPTI_DOMAIN_RUNTIME)) {
		cupti_share_leave_alone();
	}
}

/* Does this library give its subscribers an activity API of their own? */
static bool has_own_scope(const void *function)
{
	return modules_find(function, "cuptiActivityRegisterCallbacks_v2") != NULL;
}

/* ---- callbacks ---- */

uint32_t cuptiSubscribe(cupti_subscriber *subscriber, cupti_callback_fn callback, void *userdata)
{
	SHARED(cuptiSubscribe);
	const struct subscriber_real functions = {.subscribe = real};

	if (!is_shared || !subscriber || !callback) {
		return real(subscriber, callback, userdata);
	}
	return subscriber_client_subscribe(&functions, subscriber, callback, userdata, NULL);
}

uint32_t cuptiSubscribe_v2(cupti_subscriber *subscriber, cupti_callback_fn callback, void *userdata,
	struct cupti_subscriber_params *params)
{
	SHARED(cuptiSubscribe_v2);
	const struct subscriber_real functions = {.subscribe_v2 = real};
	uint32_t rc;

	if (!is_shared || !subscriber || !params) {
		return real(subscriber, callback, userdata, params);
	}
	if (subscriber_has_client() || !has_own_scope((const void *)real)) {
		return subscriber_client_subscribe(
			&functions, subscriber, callback, userdata, params);
	}
	cupti_share_begin_own(params->subscriber_name, caller);
	rc = real(subscriber, callback, userdata, params);
	cupti_share_end_own(*subscriber, rc);
	return rc;
}

uint32_t cuptiUnsubscribe(cupti_subscriber subscriber)
{
	SHARED(cuptiUnsubscribe);
	uint32_t rc;

	if (is_shared && subscriber_is_clients(subscriber)) {
		return subscriber_client_unsubscribe(real);
	}
	rc = real(subscriber);
	if (is_shared && !rc) {
		cupti_share_drop_own(subscriber);
	}
	return rc;
}

uint32_t cuptiEnableCallback(
	uint32_t enable, cupti_subscriber subscriber, uint32_t domain, uint32_t cbid)
{
	SHARED(cuptiEnableCallback);

	look_away(is_shared, enable, domain);
	if (is_shared && subscriber_is_clients(subscriber)) {
		return subscriber_client_enable(real, enable != 0, domain, cbid);
	}
	return real(enable, subscriber, domain, cbid);
}

uint32_t cuptiEnableDomain(uint32_t enable, cupti_subscriber subscriber, uint32_t domain)
{
	SHARED(cuptiEnableDomain);
	const bool is_client = is_shared && subscriber_is_clients(subscriber);
	uint32_t rc;

	look_away(is_shared, enable, domain);
	rc = real(enable, subscriber, domain);
	if (is_client && !rc) {
		subscriber_client_enable_domain(enable != 0, domain);
		subscriber_again(domain);
	}
	return rc;
}

uint32_t cuptiEnableAllDomains(uint32_t enable, cupti_subscriber subscriber)
{
	SHARED(cuptiEnableAllDomains);
	const bool is_client = is_shared && subscriber_is_clients(subscriber);
	uint32_t rc;

	look_away(is_shared, enable, CUPTI_DOMAIN_RUNTIME);
	rc = real(enable, subscriber);
	for (uint32_t domain = 1; domain < SUBSCRIBER_NR_DOMAINS && is_client && !rc; domain++) {
		subscriber_client_enable_domain(enable != 0, domain);
		subscriber_again(domain);
	}
	return rc;
}

uint32_t cuptiGetCallbackState(
	uint32_t *enable, cupti_subscriber subscriber, uint32_t domain, uint32_t cbid)
{
	SHARED(cuptiGetCallbackState);
	uint32_t rc = real(enable, subscriber, domain, cbid);

	if (is_shared && !rc && subscriber_is_clients(subscriber)) {
		*enable = *enable && subscriber_client_wants(domain, cbid);
	}
	return rc;
}

/* ---- activity ---- */

uint32_t cuptiActivityRegisterCallbacks(
	cupti_buffer_requested_fn requested, cupti_buffer_completed_fn completed)
{
	SHARED(cuptiActivityRegisterCallbacks);

	if (is_shared && requested && completed && cupti_share_register(requested, completed)) {
		return CUPTI_OK;
	}
	return real(requested, completed);
}

/* The forms of switching a kind on and off. */
#define ENABLE(name, params, args, kind, is_context)                \
	uint32_t name params                                        \
	{                                                           \
		SHARED(name);                                       \
		uint32_t rc;                                        \
                                                                    \
		if (!is_shared) {                                   \
			cupti_share_leave_alone();                  \
			return real args;                           \
		}                                                   \
		cupti_share_begin_enable(kind, is_context, caller); \
		rc = real args;                                     \
		cupti_share_end_enable(kind, is_context, rc);       \
		return rc;                                          \
	}
#define DISABLE(name, params, args, kind, is_context)              \
	uint32_t name params                                       \
	{                                                          \
		SHARED(name);                                      \
		uint32_t rc;                                       \
                                                                   \
		if (is_shared && !cupti_share_may_disable(kind)) { \
			return CUPTI_OK;                           \
		}                                                  \
		rc = real args;                                    \
		if (is_shared && !rc) {                            \
			cupti_share_end_disable(kind, is_context); \
		}                                                  \
		return rc;                                         \
	}

ENABLE(cuptiActivityEnable, (uint32_t kind), (kind), kind, false)
ENABLE(cuptiActivityEnableAndDump, (uint32_t kind), (kind), kind, false)
ENABLE(cuptiActivityEnableContext, (void *context, uint32_t kind), (context, kind), kind, true)
DISABLE(cuptiActivityDisable, (uint32_t kind), (kind), kind, false)
DISABLE(cuptiActivityDisableContext, (void *context, uint32_t kind), (context, kind), kind, true)

#define FLUSH(name, params, args)                                           \
	uint32_t name params                                                \
	{                                                                   \
		SHARED(name);                                               \
		uint32_t rc;                                                \
                                                                            \
		flags = is_shared ? cupti_share_begin_flush(flags) : flags; \
		rc = real args;                                             \
		if (is_shared) {                                            \
			cupti_share_end_flush();                            \
		}                                                           \
		return rc;                                                  \
	}

FLUSH(cuptiActivityFlush, (void *context, uint32_t stream_id, uint32_t flags),
	(context, stream_id, flags))
FLUSH(cuptiActivityFlushAll, (uint32_t flags), (flags))

/* ---- for the whole process ---- */

/* CUPTI takes a clock only while no kind is on. */
uint32_t cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void))
{
	SHARED(cuptiActivityRegisterTimestampCallback);
	uint32_t rc;

	if (!is_shared || !clock) {
		return real(clock);
	}
	cupti_share_hold(caller);
	rc = real(clock);
	cupti_share_end_clock(clock, rc);
	return rc;
}

uint32_t cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
	SHARED(cuptiActivityEnableAllSyncRecords);
	uint32_t rc = real(enable);

	if (is_shared && !rc) {
		cupti_share_end_all_syncs(enable);
	}
	return rc;
}

uint32_t cuptiSetThreadIdType(uint32_t type)
{
	SHARED(cuptiSetThreadIdType);
	uint32_t rc = real(type);

	if (is_shared && !rc) {
		cupti_share_end_thread_id_type(type);
	}
	return rc;
}

/* CUPTI has one session of counters a GPU: a client that profiles gets it. */
uint32_t cuptiProfilerInitialize(void *params)
{
	SHARED(cuptiProfilerInitialize);

	if (is_shared) {
		cupti_share_leave_counters();
	}
	return real(params);
}

uint32_t cuptiFinalize(void)
{
	SHARED(cuptiFinalize);
	uint32_t rc;

	if (!is_shared) {
		return real();
	}
	cupti_share_hold(caller);
	rc = real();
	if (rc) {
		cupti_share_end_hold();
	} else {
		cupti_share_end_finalize();
	}
	return rc;
}
