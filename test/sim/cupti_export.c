/* SPDX-License-Identifier: Apache-2.0 */
/* The exported functions of the simulated CUPTI. */
#include "test/sim/cupti.h"

#include <stdlib.h>
#include <string.h>

static void attach(void)
{
	atomic_store_explicit(&cupti_sim_core()->trace, &cupti_sim_trace, memory_order_release);
}

CUPTI_SIM_EXPORT(cuptiSubscribe, (void **out, cupti_callback_fn callback, void *userdata))
{
	const char *taken = getenv("SIM_CUPTI_TAKEN");
	struct cupti_sim_subscriber *none = NULL;

	CUPTI_SIM_CHECK();
	if (!out || !callback) {
		return CUPTI_INVALID_PARAMETER;
	}
	if (taken && *taken == '1') {
		return CUPTI_MULTIPLE_SUBSCRIBERS;
	}
	struct cupti_sim_subscriber *s = calloc(1, sizeof(*s));

	if (!s) {
		return CUPTI_OUT_OF_MEMORY;
	}
	s->callback = callback;
	s->userdata = userdata;
	if (!atomic_compare_exchange_strong(&cupti_sim_subscriber, &none, s)) {
		free(s);
		return CUPTI_MULTIPLE_SUBSCRIBERS;
	}
	*out = s;
	attach();
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiSubscribe_v2, (void **out, cupti_callback_fn callback, void *userdata,
					    struct cupti_subscriber_params *params))
{
	int r = cuptiSubscribe(out, callback, userdata);

	if (r == CUPTI_MULTIPLE_SUBSCRIBERS && params && params->old_subscriber_name &&
		params->old_subscriber_bytes) {
		static const char holder[] = "CUPTI for somebody else";
		size_t n = params->old_subscriber_bytes;

		strncpy(params->old_subscriber_name, holder, n - 1);
		params->old_subscriber_name[n - 1] = '\0';
	}
	return r;
}

static void want_callback(int domain, uint32_t cbid, uint32_t enable)
{
	if (enable) {
		atomic_fetch_or(&cupti_sim_trace.want[domain - 1][cbid], SIM_WANT_CALLBACK);
	} else {
		atomic_fetch_and(
			&cupti_sim_trace.want[domain - 1][cbid], (uint8_t)~SIM_WANT_CALLBACK);
	}
}

CUPTI_SIM_EXPORT(
	cuptiEnableCallback, (uint32_t enable, void *subscriber, int domain, uint32_t cbid))
{
	struct cupti_sim_subscriber *s = subscriber;

	if (!s) {
		return CUPTI_INVALID_PARAMETER;
	}
	CUPTI_SIM_CHECK();
	switch (domain) {
	case CUPTI_DOMAIN_DRIVER:
	case CUPTI_DOMAIN_RUNTIME:
		if (cbid == 0 || cbid >= CUPTI_SIM_MAX_CBIDS) {
			return CUPTI_INVALID_PARAMETER;
		}
		want_callback(domain, cbid, enable);
		return CUPTI_OK;
	case CUPTI_DOMAIN_RESOURCE:
		if (cbid == 0 || cbid >= 64) {
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

CUPTI_SIM_EXPORT(cuptiEnableDomain, (uint32_t enable, void *subscriber, int domain))
{
	uint32_t end = domain == CUPTI_DOMAIN_RESOURCE ? 64 : CUPTI_SIM_MAX_CBIDS;

	if (!subscriber) {
		return CUPTI_INVALID_PARAMETER;
	}
	for (uint32_t cbid = 1; cbid < end; cbid++) {
		int r = cuptiEnableCallback(enable, subscriber, domain, cbid);

		if (r != CUPTI_OK) {
			return r;
		}
	}
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiUnsubscribe, (void *subscriber))
{
	struct cupti_sim_subscriber *s = subscriber;

	if (!s || !atomic_compare_exchange_strong(&cupti_sim_subscriber, &s, NULL)) {
		return CUPTI_INVALID_PARAMETER;
	}
	for (uint32_t cbid = 1; cbid < CUPTI_SIM_MAX_CBIDS; cbid++) {
		want_callback(CUPTI_DOMAIN_DRIVER, cbid, 0);
		want_callback(CUPTI_DOMAIN_RUNTIME, cbid, 0);
	}
	/* A callback may be running on another thread; the real one leaves that to the client too.
	 */
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiActivityRegisterCallbacks,
	(cupti_buffer_requested_fn requested, cupti_buffer_completed_fn completed))
{
	if (!requested || !completed) {
		return CUPTI_INVALID_PARAMETER;
	}
	CUPTI_SIM_CHECK();
	cupti_sim_buffers_register(requested, completed);
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiActivityEnable, (uint32_t kind))
{
	CUPTI_SIM_CHECK();
	if (!cupti_sim_kind_set(kind, true)) {
		return kind && kind < CUPTI_KIND_END ? CUPTI_LEGACY_PROFILER_NOT_SUPPORTED
						     : CUPTI_INVALID_KIND;
	}
	cupti_sim_worker_start();
	attach();
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiActivityEnableAndDump, (uint32_t kind))
{
	int r = cuptiActivityEnable(kind);

	if (r == CUPTI_OK) {
		cupti_sim_kind_dump(kind);
	}
	return r;
}

CUPTI_SIM_EXPORT(cuptiActivityDisable, (uint32_t kind))
{
	CUPTI_SIM_CHECK();
	return cupti_sim_kind_set(kind, false) ? CUPTI_OK : CUPTI_INVALID_KIND;
}

CUPTI_SIM_EXPORT(cuptiActivityEnableRuntimeApi, (uint32_t cbid, uint8_t enable))
{
	CUPTI_SIM_CHECK();
	cupti_sim_want_one(CUPTI_KIND_RUNTIME, cbid % CUPTI_SIM_MAX_CBIDS, enable);
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiActivityEnableDriverApi, (uint32_t cbid, uint8_t enable))
{
	CUPTI_SIM_CHECK();
	cupti_sim_want_one(CUPTI_KIND_DRIVER, cbid % CUPTI_SIM_MAX_CBIDS, enable);
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiActivityFlushAll, (uint32_t flag))
{
	CUPTI_SIM_CHECK();
	uint64_t start = cupti_sim_core()->now();

	/* The time a flush takes is seen in the next one. */
	cupti_sim_flush(flag & CUPTI_FLAG_FLUSH_FORCED);
	if (cupti_sim_is_on(CUPTI_KIND_OVERHEAD) && !(flag & CUPTI_FLAG_FLUSH_FORCED)) {
		cupti_sim_put_flush(start, cupti_sim_core()->now());
	}
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiActivityFlushPeriod, (uint32_t ms))
{
	CUPTI_SIM_CHECK();
	cupti_sim_period_set(ms);
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(
	cuptiActivityGetNumDroppedRecords, (void *context, uint32_t stream_id, size_t *dropped))
{
	(void)context;
	(void)stream_id;
	if (!dropped) {
		return CUPTI_INVALID_PARAMETER;
	}
	*dropped = cupti_sim_dropped_take();
	return CUPTI_OK;
}

/* Ends all collection in the process, whoever asked for it. */
CUPTI_SIM_EXPORT(cuptiFinalize, (void))
{
	if (cupti_sim_refusal() == CUPTI_OK) {
		cupti_sim_flush(true);
		atomic_store(&cupti_sim_core()->trace, NULL);
		atomic_store(&cupti_sim_subscriber, NULL);
	}
	return CUPTI_OK;
}
