/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A callback at the begin of a call finds either a hook's frame on this thread, which gets the
 * correlation ID, or none: then the call is recorded here, in `open_calls` until its end. The
 * driver's callback inside a runtime call repeats that call's ID. Most callbacks return in
 * is_done().
 */
#include "collector/cupti/callback.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "collector/cupti/cupti.h"
#include "collector/cupti/graph_nodes.h"
#include "collector/cupti/subscriber.h"
#include "collector/format/format.h"
#include "collector/ring/call_stack.h"
#include "collector/ring/correlation_ids.h"
#include "collector/ring/ring.h"
#include "collector/stream/calls.h"
#include "collector/util/clock.h"
#include "collector/util/config.h"
#include "collector/util/loss.h"
#include "collector/util/mode.h"
#include "collector/util/notice.h"

struct cbid {
	uint8_t domain;
	uint16_t id;
	uint16_t name_at;
};

/* The names in one piece: a table of pointers would be relocated in every process. */
static const struct names {
#define CBID(domain, id, name)	    char domain##id[sizeof(#name)];
#define CBID_MORE(domain, id, name) char domain##id[sizeof(#name)];
#include "collector/cupti/cupti_cbid.def"
} names = {
#define CBID(domain, id, name)	    #name,
#define CBID_MORE(domain, id, name) #name,
#include "collector/cupti/cupti_cbid.def"
};

#define DOMAIN_RT	  CUPTI_DOMAIN_RUNTIME
#define DOMAIN_DRV	  CUPTI_DOMAIN_DRIVER
#define ENTRY(domain, id) {DOMAIN_##domain, id, offsetof(struct names, domain##id)},

/* Those that are always enabled come first. */
static const struct cbid cbids[] = {
#define CBID(domain, id, name) ENTRY(domain, id)
#include "collector/cupti/cupti_cbid.def"
#define CBID(domain, id, name)
#define CBID_MORE(domain, id, name) ENTRY(domain, id)
#include "collector/cupti/cupti_cbid.def"
};

enum {
#define CBID(domain, id, name) +1
	NR_ALWAYS = 0
#include "collector/cupti/cupti_cbid.def"
	,
};

static struct callback_state {
	bool is_on;
	bool has_all;	   /* GPROF_DRIVER: all of cbids are enabled, nested calls recorded */
	uint32_t nr_cbids; /* of these, as many are enabled */
	/* Calls that were begun before the callbacks were last switched are not ended. */
	_Atomic uint32_t epoch;
	uint16_t call[2][SUBSCRIBER_MAX_CBID]; /* by domain (driver, runtime) and callback id */
} state;

/*
 * Calls that callbacks have begun to record in this thread, the outermost first: a signal handler's
 * call may come in another one, and a call may be left without its end.
 */
#define NR_OPEN 4u
struct open_call {
	uint64_t begin;
	uintptr_t stack; /* where the callback at its begin was called */
	uint32_t what;	 /* domain and callback id */
	uint32_t epoch;
	uint32_t correlation;
	bool is_nested; /* in another recorded call */
};

static __thread struct {
	struct open_call calls[NR_OPEN];
	uint32_t nr;
	uint32_t newest; /* correlation ID of the last one that was begun */
	uint32_t guess;	 /* what ring_tls.correlation is until the hooked call itself comes; or 0 */
} open_calls __attribute__((tls_model("initial-exec")));

/* ---- CUPTI's side: application threads, inside the API call ---- */

static void record_call(const struct cupti_callback_data *data, uint16_t call,
	const struct open_call *open, uint64_t end)
{
	struct ring_tls *self = &ring_tls;
	const uint32_t bytes = sizeof(struct gprof_row_api);
	uint32_t native_stack = open->is_nested ? 0 : call_stack_of(open->begin, end);
	struct gprof_row_api *row;

	row = (struct gprof_row_api *)ring_reserve(self, bytes);
	if (!row) {
		return;
	}
	*row = (struct gprof_row_api){
		.head = {.bytes = bytes,
			.table = open->is_nested ? GPROF_TABLE_api_nested : GPROF_TABLE_api},
		.begin = open->begin,
		.dur = end,
		.thread = self->id,
		.correlation = data->correlation_id,
		.result = data->function_return_value ? *(int32_t *)data->function_return_value : 0,
		.call = call,
		.source = GPROF_SOURCE_CALLBACK,
		.native_stack = native_stack};
	ring_commit(self, row, bytes);
}

/*
 * Drops calls without an end: those from before the callbacks were switched, and those that were
 * left.
 */
static void drop_ended(uint32_t epoch, uintptr_t stack)
{
	while (open_calls.nr) {
		const struct open_call *call = &open_calls.calls[open_calls.nr - 1];

		if (call->epoch == epoch && stack < call->stack) {
			return;
		}
		loss_add(LOSS_LEFT, call->epoch == epoch);
		open_calls.nr--;
	}
}

/* Where NR_OPEN calls are open, the outermost one counts as left. */
static void open_call(
	uint32_t what, uint32_t correlation, uint16_t call, uintptr_t stack, bool is_nested)
{
	uint32_t epoch = atomic_load_explicit(&state.epoch, memory_order_relaxed);
	struct open_call open = {clock_raw(), stack, what, epoch, correlation, is_nested};

	drop_ended(epoch, stack);
	if (open_calls.nr == NR_OPEN) {
		loss_add(LOSS_LEFT, 1);
		memmove(open_calls.calls, open_calls.calls + 1,
			sizeof(open_calls.calls) - sizeof(open));
		open_calls.nr--;
	}
	open_calls.calls[open_calls.nr] = open;
	atomic_signal_fence(memory_order_seq_cst);
	open_calls.nr++;
	atomic_signal_fence(memory_order_seq_cst);
	/*
	 * Stored again: a signal handler's call may have used the same entry before `nr` reserved
	 * it.
	 */
	open_calls.calls[open_calls.nr - 1] = open;
	open_calls.newest = correlation;
	if (call && !is_nested) {
		ring_call_begin(&ring_tls.cuda, calls_name(call), open.begin);
	}
}

/* "cuMemAlloc_v2"; functions of the runtime are cuda... or __cuda... */
static bool is_driver_name(const char *name)
{
	return name && name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

/* Has no callback come yet that is certainly about the call of this hook? */
static bool is_hook_open(const struct ring_tls *self)
{
	return self->frame && (!self->correlation || self->correlation == open_calls.guess);
}

/*
 * Is it the call of the hook itself? Before its own callback, the runtime loads the kernel's
 * module: driver calls with correlation IDs of their own.
 */
static bool is_hooked_call(const struct ring_tls *self, uint32_t what)
{
	return what >> 16 == CUPTI_DOMAIN_RUNTIME || is_driver_name(self->cuda.name);
}

/* Is it a driver call that a recorded call makes? That one has a hook or was recorded here. */
static bool is_nested_call(const struct ring_tls *self, uint32_t what, uint32_t correlation)
{
	if (!state.has_all || what >> 16 != CUPTI_DOMAIN_DRIVER) {
		return false;
	}
	if (is_hook_open(self)) {
		return !is_hooked_call(self, what);
	}
	return (self->frame && self->correlation == correlation) ||
	       open_calls.newest == correlation;
}

/*
 * A driver call inside a runtime call carries the same correlation ID: it is the inner one of a
 * call that is already being recorded. Another id is another call, be there a hook or not: of a
 * signal handler, or after the hook was left. correlation_data is the other client's, if there is
 * one.
 */
static void begin_call(
	uint32_t what, const struct cupti_callback_data *data, uint16_t call, uintptr_t stack)
{
	struct ring_tls *self = &ring_tls;
	uint32_t correlation = data->correlation_id;
	bool is_nested = is_nested_call(self, what, correlation), is_outermost = false;

	correlation_ids_saw(correlation);
	self->last = correlation;
	if (is_hook_open(self)) {
		/* A function of the runtime may have no callback: its last driver call stands in.
		 */
		open_calls.guess = is_hooked_call(self, what) ? 0 : correlation;
		self->correlation = correlation;
	} else {
		is_outermost = !(self->frame && self->correlation == correlation) &&
			       open_calls.newest != correlation;
	}
	if ((is_nested || is_outermost) &&
		(atomic_load_explicit(&collector_mode, memory_order_relaxed) & COLLECTOR_RECORD)) {
		open_call(what, correlation, call, stack, is_nested);
	}
}

static void end_call(uint32_t what, const struct cupti_callback_data *data, uint16_t call)
{
	uint64_t end = clock_raw();
	uint32_t at = open_calls.nr;
	struct open_call open;

	while (at && (open_calls.calls[at - 1].what != what ||
			     open_calls.calls[at - 1].correlation != data->correlation_id)) {
		at--;
	}
	if (!at) {
		return;
	}
	open = open_calls.calls[at - 1];
	loss_add(LOSS_LEFT, open_calls.nr - at);
	open_calls.nr = at - 1;
	if (call && !open.is_nested) {
		ring_call_end(&ring_tls.cuda, end);
	}
	record_call(data, call, &open, end);
}

static void on_api(
	uint32_t domain, uint32_t cbid, const struct cupti_callback_data *data, uintptr_t stack)
{
	uint32_t what = domain << 16 | cbid;
	uint16_t call;

	if (!subscriber_is_wanted(domain, cbid)) {
		return;
	}
	call = state.call[domain == CUPTI_DOMAIN_RUNTIME][cbid];
	if (data->site == CUPTI_SITE_EXIT) {
		end_call(what, data, call);
	} else {
		begin_call(what, data, call, stack);
	}
}

/*
 * Most callbacks are about a hooked call: the runtime's says its correlation ID, and the driver's,
 * for the call inside of it, nothing new. Nor do ends of calls that were not begun here.
 */
static inline bool is_done(uint32_t domain, const struct cupti_callback_data *data)
{
	struct ring_tls *self = &ring_tls;
	uint32_t correlation = data->correlation_id;

	if (data->site == CUPTI_SITE_EXIT) {
		return !open_calls.nr;
	}
	if (!self->frame || (self->frame & RING_IN_PROFILER) || state.has_all) {
		return false;
	}
	if (!self->correlation && domain == CUPTI_DOMAIN_RUNTIME) {
		correlation_ids_saw(correlation);
		self->last = correlation;
		open_calls.guess = 0;
		self->correlation = correlation;
		return true;
	}
	return self->correlation == correlation && open_calls.guess != correlation;
}

/*
 * The client comes first at a begin and last at an end: its time is not part of the call. It does
 * not see our own calls. stack: where the callback was called.
 */
static __attribute__((noinline)) void on_cupti(
	uint32_t domain, uint32_t cbid, const void *data, uintptr_t stack)
{
	bool is_api = domain == CUPTI_DOMAIN_RUNTIME || domain == CUPTI_DOMAIN_DRIVER;
	bool is_end = is_api && ((const struct cupti_callback_data *)data)->site == CUPTI_SITE_EXIT;

	if (is_api && ring_in_profiler(&ring_tls)) {
		return;
	}
	if (!is_end) {
		subscriber_call_client(domain, cbid, data);
	}
	if (is_api) {
		on_api(domain, cbid, data, stack);
	} else if (domain == CUPTI_DOMAIN_RESOURCE) {
		graph_nodes_take(cbid, data);
	} else if (domain == CUPTI_DOMAIN_STATE && cbid == CUPTI_STATE_FATAL_ERROR &&
		   subscriber_is_ours()) {
		cupti_refuse("CUPTI stopped itself",
			data ? ((const struct cupti_state_data *)data)->result : CUPTI_UNKNOWN);
	}
	if (is_end) {
		subscriber_call_client(domain, cbid, data);
	}
}

void callback_on_cupti(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	(void)userdata;
	if ((domain == CUPTI_DOMAIN_RUNTIME || domain == CUPTI_DOMAIN_DRIVER) &&
		!subscriber_client_wants(domain, cbid) && is_done(domain, data)) {
		return;
	}
	on_cupti(domain, cbid, data, RING_STACK);
}

/* ---- our side ---- */

void callback_init(uint32_t (*find_call)(const char *name, uint8_t api))
{
	state.has_all = config_flag(CONFIG_DRIVER);
	state.nr_cbids = state.has_all ? sizeof(cbids) / sizeof(cbids[0]) : NR_ALWAYS;
	for (size_t i = 0; i < state.nr_cbids; i++) {
		bool is_runtime = cbids[i].domain == CUPTI_DOMAIN_RUNTIME;

		if (cbids[i].id < SUBSCRIBER_MAX_CBID) {
			state.call[is_runtime][cbids[i].id] =
				(uint16_t)find_call((const char *)&names + cbids[i].name_at,
					is_runtime ? GPROF_API_RUNTIME : GPROF_API_DRIVER);
		}
	}
}

bool callback_start(void)
{
	char holder[128] = "";
	uint32_t rc;

	rc = subscriber_start(holder, sizeof(holder));
	if (rc == CUPTI_MULTIPLE_SUBSCRIBERS && holder[0]) {
		notice_add("CUPTI holder", (int)rc, "%.100s has subscribed to CUPTI", holder);
	}
	if (rc) {
		cupti_refuse("cuptiSubscribe", rc);
		return false;
	}
	state.is_on = false;
	return true;
}

void callback_set_enabled(bool is_wanted)
{
	if (is_wanted == state.is_on || !subscriber_is_ours() || !cupti_is_live()) {
		return;
	}
	atomic_fetch_add(&state.epoch, 1);
	state.is_on = is_wanted;
	for (size_t i = 0; i < state.nr_cbids; i++) {
		subscriber_want(cbids[i].domain, cbids[i].id, is_wanted);
	}
	graph_nodes_set_enabled(is_wanted);
	/* CUPTI's own end is worth knowing at any time. */
	subscriber_want(CUPTI_DOMAIN_STATE, CUPTI_STATE_FATAL_ERROR, true);
}

void callback_forget(void)
{
	state.is_on = false;
	subscriber_forget();
}
