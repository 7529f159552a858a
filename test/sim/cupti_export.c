/* SPDX-License-Identifier: Apache-2.0 */
/* The exported functions of the simulated CUPTI. */
#include "test/sim/cupti.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A call of the whole process's activity API: not while a subscriber has its own. */
#define CHECK_SCOPE()                                \
	do {                                         \
		CUPTI_SIM_CHECK();                   \
		if (cupti_sim_has_own_scope()) {     \
			return CUPTI_NOT_COMPATIBLE; \
		}                                    \
	} while (0)

static int enable(uint32_t kind)
{
	if (!cupti_sim_kind_set(kind, true)) {
		return kind && kind < CUPTI_KIND_END ? CUPTI_LEGACY_PROFILER_NOT_SUPPORTED
						     : CUPTI_INVALID_KIND;
	}
	cupti_sim_worker_start();
	cupti_sim_attach();
	return CUPTI_OK;
}

static int disable(uint32_t kind)
{
	return cupti_sim_kind_set(kind, false) ? CUPTI_OK : CUPTI_INVALID_KIND;
}

CUPTI_SIM_EXPORT(cuptiActivityRegisterCallbacks,
	(cupti_buffer_requested_fn requested, cupti_buffer_completed_fn completed))
{
	if (!requested || !completed) {
		return CUPTI_INVALID_PARAMETER;
	}
	CHECK_SCOPE();
	cupti_sim_buffers_register(requested, completed);
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiActivityEnable, (uint32_t kind))
{
	CHECK_SCOPE();
	return enable(kind);
}

CUPTI_SIM_EXPORT(cuptiActivityEnableAndDump, (uint32_t kind))
{
	CHECK_SCOPE();
	int r = enable(kind);

	if (r == CUPTI_OK) {
		cupti_sim_kind_dump(kind);
	}
	return r;
}

CUPTI_SIM_EXPORT(cuptiActivityDisable, (uint32_t kind))
{
	CHECK_SCOPE();
	return disable(kind);
}

/* There is one context a device here, and all of them count. */
CUPTI_SIM_EXPORT(cuptiActivityEnableContext, (void *context, uint32_t kind))
{
	CHECK_SCOPE();
	return context ? enable(kind) : CUPTI_INVALID_PARAMETER;
}

CUPTI_SIM_EXPORT(cuptiActivityDisableContext, (void *context, uint32_t kind))
{
	CHECK_SCOPE();
	return context ? disable(kind) : CUPTI_INVALID_PARAMETER;
}

/* Records of CUDA events have no times of the device here. */
CUPTI_SIM_EXPORT(cuptiActivityEnableCudaEventDeviceTimestamps, (uint8_t is_enabled))
{
	(void)is_enabled;
	CUPTI_SIM_CHECK();
	return CUPTI_OK;
}

/* ---- the activity API of one subscriber ---- */

CUPTI_SIM_EXPORT(
	cuptiActivityRegisterCallbacks_v2, (void *subscriber, cupti_sim_requested_v2_fn requested,
						   cupti_sim_completed_v2_fn completed))
{
	CUPTI_SIM_CHECK();
	if (!cupti_sim_is_own(subscriber)) {
		return CUPTI_NOT_COMPATIBLE;
	}
	cupti_sim_buffers_register_v2(requested, completed);
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiActivityEnable_v2, (void *subscriber, uint32_t kind, void *config))
{
	(void)config;
	CUPTI_SIM_CHECK();
	return cupti_sim_is_own(subscriber) ? enable(kind) : CUPTI_NOT_COMPATIBLE;
}

CUPTI_SIM_EXPORT(cuptiActivityDisable_v2, (void *subscriber, uint32_t kind, void *config))
{
	(void)config;
	CUPTI_SIM_CHECK();
	return cupti_sim_is_own(subscriber) ? disable(kind) : CUPTI_NOT_COMPATIBLE;
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

/* SIM_FLUSH_MS=n */
static void take_time(void)
{
	const char *ms = getenv("SIM_FLUSH_MS");
	struct timespec t = {.tv_nsec = ms ? atol(ms) * 1000000 : 0};

	if (t.tv_nsec) {
		nanosleep(&t, NULL);
	}
}

CUPTI_SIM_EXPORT(cuptiActivityFlushAll, (uint32_t flag))
{
	CUPTI_SIM_CHECK();
	uint64_t start = cupti_sim_core()->now();

	if (!(flag & CUPTI_FLAG_FLUSH_FORCED)) {
		take_time();
	}
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
		for (uint32_t kind = 1; kind < CUPTI_KIND_END; kind++) {
			cupti_sim_kind_set(kind, false);
		}
		cupti_sim_subscribers_end();
		cupti_sim_buffers_end();
		cupti_sim_clock_end();
	}
	return CUPTI_OK;
}
