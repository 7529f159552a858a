/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/callback.h"

#include "collector/collector.h"
#include "collector/cupti.h"
#include "collector/step.h"

#define MAX_CBID 2048u

struct cbid {
	uint16_t domain;
	uint16_t id;
	const char *name;
};

static const struct cbid cbids[] = {
#define RT		       CUPTI_DOMAIN_RUNTIME
#define DRV		       CUPTI_DOMAIN_DRIVER
#define CBID(domain, id, name) {domain, id, #name},
#include "collector/cupti_cbid.def"
#undef RT
#undef DRV
};
#define NR_CBIDS (sizeof(cbids) / sizeof(cbids[0]))

static struct callback_state {
	cupti_subscriber subscriber;
	bool is_subscribed;
	bool is_on;
	uint16_t call[2][MAX_CBID]; /* by domain (driver, runtime) and callback id */
} state;

/* ---- CUPTI's side: application threads, inside the API call ---- */

static void record_call(const struct cupti_callback_data *data, uint16_t call, uint64_t begin)
{
	struct ring_self *self = &ring_self;
	const uint32_t bytes = sizeof(struct gprof_row_api);
	struct gprof_row_api *row;
	uint64_t end = clock_raw();

	row = (struct gprof_row_api *)ring_reserve(self, bytes);
	if (!row) {
		return;
	}
	*row = (struct gprof_row_api){.head = {.bytes = bytes, .table = GPROF_TABLE_api},
		.begin = begin,
		.dur = end,
		.thread = self->id,
		.correlation = data->correlation_id,
		.result = data->function_return_value ? *(int32_t *)data->function_return_value : 0,
		.call = call,
		.door = GPROF_DOOR_CALLBACK};
	ring_commit(self, row, bytes);
}

/*
 * A driver call inside a runtime call carries the same correlation id: it is the inner one of a
 * call that is already being recorded, and its correlation_data stays 0.
 */
static void on_api(uint32_t domain, uint32_t cbid, const struct cupti_callback_data *data)
{
	struct ring_self *self = &ring_self;

	if (ring_is_inside(self) || cbid >= MAX_CBID) {
		return;
	}
	if (data->site == CUPTI_SITE_EXIT) {
		if (*data->correlation_data) {
			record_call(data, state.call[domain == CUPTI_DOMAIN_RUNTIME][cbid],
				*data->correlation_data);
		}
		return;
	}
	step_saw_correlation(data->correlation_id);
	*data->correlation_data = 0;
	if (self->depth) {
		if (!self->correlation) {
			self->correlation = data->correlation_id;
		}
	} else if (self->callback != data->correlation_id &&
		   (atomic_load_explicit(&collector_mode, memory_order_relaxed) &
			   COLLECTOR_RECORD)) {
		self->callback = data->correlation_id;
		*data->correlation_data = clock_raw();
	}
}

static void on_callback(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	(void)userdata;
	if (domain == CUPTI_DOMAIN_RUNTIME || domain == CUPTI_DOMAIN_DRIVER) {
		on_api(domain, cbid, data);
	} else if (domain == CUPTI_DOMAIN_STATE && cbid == CUPTI_STATE_FATAL_ERROR) {
		cupti_refuse("CUPTI stopped itself",
			data ? ((const struct cupti_state_data *)data)->result : CUPTI_UNKNOWN);
	}
}

/* ---- our side ---- */

static uint32_t subscribe(char *holder, size_t holder_bytes)
{
	struct cupti_subscriber_params params = {.size = sizeof(params),
		.subscriber_name = "gprof",
		.old_subscriber_name = holder,
		.old_subscriber_bytes = holder_bytes};
	uint32_t rc = CUPTI_NOT_SUPPORTED;

	if (cupti.cuptiSubscribe_v2) {
		rc = cupti.cuptiSubscribe_v2(&state.subscriber, on_callback, NULL, &params);
	}
	/* Only a library that does not like the newer form is asked again in the older. */
	if (rc == CUPTI_NOT_SUPPORTED || rc == CUPTI_INVALID_PARAMETER) {
		rc = cupti.cuptiSubscribe(&state.subscriber, on_callback, NULL);
	}
	return rc;
}

void callback_init(uint32_t (*find_call)(const char *name, uint8_t api))
{
	for (size_t i = 0; i < NR_CBIDS; i++) {
		bool is_runtime = cbids[i].domain == CUPTI_DOMAIN_RUNTIME;

		if (cbids[i].id < MAX_CBID) {
			state.call[is_runtime][cbids[i].id] = (uint16_t)find_call(
				cbids[i].name, is_runtime ? GPROF_API_RUNTIME : GPROF_API_DRIVER);
		}
	}
}

bool callback_start(void)
{
	char holder[128] = "";
	uint32_t rc = subscribe(holder, sizeof(holder));

	if (rc == CUPTI_MULTIPLE_SUBSCRIBERS && holder[0]) {
		collector_notice("CUPTI holder", (int)rc, "CUPTI is held by %.100s", holder);
	}
	if (rc) {
		cupti_refuse("cuptiSubscribe", rc);
		return false;
	}
	state.is_subscribed = true;
	cupti.cuptiEnableCallback(1, state.subscriber, CUPTI_DOMAIN_STATE, CUPTI_STATE_FATAL_ERROR);
	return true;
}

void callback_follow(bool is_wanted)
{
	if (is_wanted == state.is_on || !state.is_subscribed || !cupti_is_live()) {
		return;
	}
	state.is_on = is_wanted;
	for (size_t i = 0; i < NR_CBIDS; i++) {
		/* An id that this library does not know fails alone, which is fine. */
		cupti.cuptiEnableCallback(
			is_wanted, state.subscriber, cbids[i].domain, cbids[i].id);
	}
}

void callback_forget(void)
{
	state = (struct callback_state){0};
}
