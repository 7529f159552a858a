/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that CUPTI's callbacks record: nested, left in the middle, and with a hook around them. */
#include "collector/cupti/callback.h"

#include <stdio.h>
#include <string.h>

#include "collector/collector.h"
#include "collector/cupti/cupti.h"
#include "collector/stream/calls.h"
#include "collector/util/config.h"
#include "collector/util/notice.h"
#include "collector/cupti/subscriber.h"
#include "test/sim/cupti_abi.h"
#include "test/unit/unit.h"

enum { CBID_MALLOC = 20, CBID_FREE = 22, CBID_DRIVER = 216 };

static uint32_t subscribe(cupti_subscriber *subscriber, cupti_callback_fn callback, void *userdata)
{
	(void)callback;
	(void)userdata;
	*subscriber = &cupti;
	return CUPTI_OK;
}

static uint32_t enable(uint32_t is_on, cupti_subscriber subscriber, uint32_t domain, uint32_t cbid)
{
	(void)is_on;
	(void)subscriber;
	(void)domain;
	(void)cbid;
	return CUPTI_OK;
}

static uint32_t find_call(const char *name, uint8_t api)
{
	(void)api;
	return !strcmp(name, "cudaMalloc") ? 1 : !strcmp(name, "cudaFree") ? 2 : 3;
}

static const char names[] = "cudaMalloc\0cudaFree\0cuMemset";
static const struct calls_hook calls[] = {
	{0, GPROF_API_RUNTIME, 0}, {11, GPROF_API_RUNTIME, 0}, {20, GPROF_API_DRIVER, 0}};

static void start(void)
{
	cupti.cuptiSubscribe = subscribe;
	cupti.cuptiEnableCallback = enable;
	collector_init(names, calls, 3);
	ck_assert_int_eq(ring_start(NULL, 1, 8 * RING_CHUNK_BYTES), 0);
	callback_init(find_call);
	ck_assert(callback_start());
	subscriber_want(CUPTI_DOMAIN_RUNTIME, CBID_MALLOC, true);
	subscriber_want(CUPTI_DOMAIN_RUNTIME, CBID_FREE, true);
	subscriber_want(CUPTI_DOMAIN_DRIVER, CBID_DRIVER, true);
	atomic_store(&collector_mode, COLLECTOR_RECORD);
}

static void say(uint32_t domain, uint32_t cbid, uint32_t site, uint32_t correlation)
{
	uint32_t result = 0;
	struct cupti_callback_data data = {
		.site = site, .function_return_value = &result, .correlation_id = correlation};

	callback_on_cupti(NULL, domain, cbid, &data);
}

/* As deep on the stack as the depth says; what is called from there lies below. */
static __attribute__((noinline)) void begin(uint32_t cbid, uint32_t correlation, int depth)
{
	volatile char room[256];

	room[0] = 1;
	if (depth) {
		begin(cbid, correlation, depth - 1);
	} else {
		say(CUPTI_DOMAIN_RUNTIME, cbid, CUPTI_SITE_ENTER, correlation);
	}
	room[1] = room[0];
}

static void end(uint32_t cbid, uint32_t correlation)
{
	say(CUPTI_DOMAIN_RUNTIME, cbid, CUPTI_SITE_EXIT, correlation);
}

struct seen {
	uint32_t nr;
	uint32_t correlations[16];
	uint16_t calls[16];
	uint8_t tables[16];
};

static void see(void *context, struct ring_thread *thread, const struct gprof_row_head *head)
{
	const struct gprof_row_api *row = (const struct gprof_row_api *)head;
	struct seen *seen = context;

	(void)thread;
	ck_assert(head->table == GPROF_TABLE_api || head->table == GPROF_TABLE_api_nested);
	seen->tables[seen->nr] = head->table;
	seen->correlations[seen->nr] = row->correlation;
	seen->calls[seen->nr++] = row->call;
}

static struct seen drain(void)
{
	struct seen seen = {0};

	ring_read(see, &seen);
	ring_release();
	return seen;
}

/* Exactly these calls were drained, in this order, and none was lost. */
static void expect(const struct seen *seen, uint32_t nr, const uint32_t *correlations)
{
	ck_assert_uint_eq(seen->nr, nr);
	for (uint32_t i = 0; i < nr; i++) {
		ck_assert_uint_eq(seen->correlations[i], correlations[i]);
	}
	ck_assert_uint_eq(loss_take(LOSS_LEFT), 0);
}

START_TEST(a_driver_call_in_a_runtime_call_is_a_part_of_it)
{
	struct seen seen;

	start();
	begin(CBID_MALLOC, 5, 0);
	say(CUPTI_DOMAIN_DRIVER, CBID_DRIVER, CUPTI_SITE_ENTER, 5);
	say(CUPTI_DOMAIN_DRIVER, CBID_DRIVER, CUPTI_SITE_EXIT, 5);
	end(CBID_MALLOC, 5);
	seen = drain();
	expect(&seen, 1, (uint32_t[]){5});
	ck_assert_uint_eq(seen.calls[0], 1);
}
END_TEST

/* With GPROF_DRIVER=1. */
static void start_with_driver(void)
{
	ck_assert_int_eq(config_set("GPROF_DRIVER", "1"), 0);
	start();
}

/* Deeper on the stack than begin() without a depth. */
static __attribute__((noinline)) void call_driver(uint32_t correlation)
{
	volatile char room[1024];

	room[0] = 1;
	say(CUPTI_DOMAIN_DRIVER, CBID_DRIVER, CUPTI_SITE_ENTER, correlation);
	say(CUPTI_DOMAIN_DRIVER, CBID_DRIVER, CUPTI_SITE_EXIT, correlation);
	room[1] = room[0];
}

START_TEST(with_driver_calls_each_one_in_a_call_without_a_hook_is_nested)
{
	struct seen seen;

	start_with_driver();
	begin(CBID_MALLOC, 5, 0);
	call_driver(5);
	call_driver(5);
	end(CBID_MALLOC, 5);
	call_driver(6);
	seen = drain();
	expect(&seen, 4, (uint32_t[]){5, 5, 5, 6});
	ck_assert_mem_eq(seen.tables,
		((uint8_t[]){GPROF_TABLE_api_nested, GPROF_TABLE_api_nested, GPROF_TABLE_api,
			GPROF_TABLE_api}),
		4);
	ck_assert_mem_eq(seen.calls, ((uint16_t[]){3, 3, 1, 3}), 4 * sizeof(uint16_t));
}
END_TEST

START_TEST(with_driver_calls_each_one_in_a_hook_is_nested_but_not_the_hooks_own)
{
	struct ring_mark mark;
	struct seen seen;

	start_with_driver();
	ring_tls.frame = (uintptr_t)&mark;
	ring_call_begin(&ring_tls.cuda, calls_name(1), 1); /* a runtime function */
	begin(CBID_MALLOC, 5, 0);
	call_driver(5);
	end(CBID_MALLOC, 5);
	ck_assert_str_eq(ring_tls.cuda.name, "cudaMalloc");
	ck_assert_uint_eq(ring_tls.correlation, 5);
	ring_tls.correlation = 0;
	ring_call_begin(&ring_tls.cuda, calls_name(3), 2); /* the driver's own */
	call_driver(6);
	ck_assert_uint_eq(ring_tls.correlation, 6);
	ring_tls.correlation = 0;
	ring_call_begin(&ring_tls.cuda, calls_name(2), 3); /* one that has no callback */
	call_driver(7);
	call_driver(7);
	ck_assert_uint_eq(ring_tls.correlation, 7);
	seen = drain();
	expect(&seen, 3, (uint32_t[]){5, 7, 7});
	for (unsigned int i = 0; i < 3; i++) {
		ck_assert_uint_eq(seen.tables[i], GPROF_TABLE_api_nested);
	}
}
END_TEST

/* The runtime loads a kernel's module when the kernel is first launched. */
START_TEST(driver_calls_before_the_hooked_calls_own_callback_are_parts_of_it)
{
	struct ring_mark mark;
	struct seen seen;

	start_with_driver();
	ring_tls.frame = (uintptr_t)&mark;
	ring_call_begin(&ring_tls.cuda, calls_name(1), 1);
	call_driver(5);
	call_driver(6);
	begin(CBID_MALLOC, 7, 0);
	call_driver(7);
	end(CBID_MALLOC, 7);
	ck_assert_uint_eq(ring_tls.correlation, 7);
	begin(CBID_FREE, 8, 3); /* a signal handler's */
	end(CBID_FREE, 8);
	ck_assert_uint_eq(ring_tls.correlation, 7);
	seen = drain();
	expect(&seen, 4, (uint32_t[]){5, 6, 7, 8});
	for (unsigned int i = 0; i < 3; i++) {
		ck_assert_uint_eq(seen.tables[i], GPROF_TABLE_api_nested);
	}
}
END_TEST

START_TEST(with_driver_calls_nothing_is_recorded_outside_of_windows)
{
	struct seen seen;

	start_with_driver();
	atomic_store(&collector_mode, 0);
	begin(CBID_MALLOC, 5, 0);
	call_driver(5);
	end(CBID_MALLOC, 5);
	seen = drain();
	expect(&seen, 0, NULL);
}
END_TEST

START_TEST(a_signal_handlers_call_in_a_call_is_another_one)
{
	struct seen seen;

	start();
	begin(CBID_MALLOC, 5, 0);
	begin(CBID_FREE, 6, 3);
	end(CBID_FREE, 6);
	end(CBID_MALLOC, 5);
	seen = drain();
	expect(&seen, 2, (uint32_t[]){6, 5});
}
END_TEST

START_TEST(a_call_that_was_left_is_counted_and_silences_nothing)
{
	struct seen seen;

	start();
	begin(CBID_MALLOC, 1, 2); /* left */
	for (uint32_t id = 2; id < 12; id++) {
		begin(CBID_FREE, id, 2);
		end(CBID_FREE, id);
	}
	seen = drain();
	ck_assert_uint_eq(seen.nr, 10);
	ck_assert_uint_eq(loss_take(LOSS_LEFT), 1);
}
END_TEST

/* Left one in the other, with the next ones deeper on the stack: no more are kept than there is
 * room.
 */
START_TEST(many_that_were_left_are_counted_once_each)
{
	struct seen seen;

	start();
	for (uint32_t id = 1; id <= 8; id++) {
		begin(CBID_MALLOC, id, (int)id);
	}
	begin(CBID_FREE, 9, 9);
	end(CBID_FREE, 9);
	begin(CBID_FREE, 10, 0);
	end(CBID_FREE, 10);
	seen = drain();
	ck_assert_uint_eq(seen.nr, 2);
	ck_assert_uint_eq(loss_take(LOSS_LEFT), 8);
}
END_TEST

/* A hook gets the id of the first call in it; one with another id is recorded by itself. */
START_TEST(in_a_hook_that_was_left_calls_are_recorded)
{
	struct ring_mark mark;
	struct seen seen;

	start();
	ring_tls.frame = (uintptr_t)&mark;
	begin(CBID_MALLOC, 5, 0);
	end(CBID_MALLOC, 5);
	ck_assert_uint_eq(ring_tls.correlation, 5);
	begin(CBID_FREE, 6, 0);
	end(CBID_FREE, 6);
	seen = drain();
	ck_assert_uint_eq(seen.nr, 1);
	ck_assert_uint_eq(seen.correlations[0], 6);
}
END_TEST

START_TEST(functions_beyond_the_most_are_told_once)
{
	enum { MOST = 1280 };
	static char more[MOST + 2][24];
	struct notice notice;

	start();
	for (int i = 0; i < MOST + 2; i++) {
		snprintf(more[i], sizeof(more[i]), "cuNew%d", i);
		ck_assert_uint_eq(calls_find_or_add(more[i], GPROF_API_DRIVER),
			i < MOST ? 3 + (uint32_t)i + 1 : 0);
	}
	ck_assert_uint_eq(calls_find_or_add(more[0], GPROF_API_DRIVER), 4);
	ck_assert(notice_take(&notice));
	ck_assert_str_eq(notice.cause, "callbacks");
	ck_assert(!notice_take(&notice));
	calls_forget();
}
END_TEST

/* ---- another client ---- */

static struct client_seen {
	uint32_t nr, begun[32], ended[32];
	uint32_t domain, cbid;
	const void *userdata;
} client_seen;

static void see_as_client(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	const struct cupti_callback_data *call = data;

	client_seen.userdata = userdata;
	client_seen.nr++;
	client_seen.domain = domain;
	client_seen.cbid = cbid;
	if (domain == CUPTI_DOMAIN_RUNTIME) {
		(call->site == CUPTI_SITE_ENTER ? client_seen.begun
						: client_seen.ended)[call->correlation_id]++;
	}
}

static void start_client(void)
{
	const struct subscriber_real real = {.subscribe = subscribe};
	cupti_subscriber subscriber;

	start();
	ck_assert_uint_eq(
		subscriber_client_subscribe(&real, &subscriber, see_as_client, NULL, NULL),
		CUPTI_OK);
	ck_assert_uint_eq(subscriber_client_enable(enable, true, CUPTI_DOMAIN_RUNTIME, CBID_MALLOC),
		CUPTI_OK);
}

/* In its first launch, the runtime loads a module with many calls. */
START_TEST(client_sees_the_end_of_a_call_with_many_others_in_it)
{
	start_client();
	begin(CBID_MALLOC, 1, 0);
	for (uint32_t id = 2; id < 32; id++) {
		begin(CBID_MALLOC, id, 1);
		end(CBID_MALLOC, id);
	}
	end(CBID_MALLOC, 1);
	for (uint32_t id = 1; id < 32; id++) {
		ck_assert_uint_eq(client_seen.ended[id], 1);
	}
}
END_TEST

START_TEST(client_sees_the_end_of_each_call_however_deep)
{
	start_client();
	for (uint32_t id = 1; id < 32; id++) {
		begin(CBID_MALLOC, id, (int)id);
	}
	for (uint32_t id = 31; id >= 1; id--) {
		end(CBID_MALLOC, id);
		ck_assert_uint_eq(client_seen.ended[id], 1);
	}
	end(CBID_MALLOC, 5); /* which started before the client came */
	ck_assert_uint_eq(client_seen.ended[5], 1);
}
END_TEST

START_TEST(client_sees_no_end_without_a_begin)
{
	start_client();
	end(CBID_MALLOC, 1);
	begin(CBID_MALLOC, 2, 0);
	end(CBID_MALLOC, 1);
	begin(CBID_MALLOC, 3, 1); /* left */
	end(CBID_MALLOC, 2);
	end(CBID_MALLOC, 3);
	ck_assert_uint_eq(client_seen.ended[1], 0);
	ck_assert_uint_eq(client_seen.ended[2], 1);
	ck_assert_uint_eq(client_seen.ended[3], 0);
}
END_TEST

static uint32_t unsubscribe(cupti_subscriber subscriber)
{
	(void)subscriber;
	return CUPTI_OK;
}

START_TEST(each_of_many_clients_after_each_other_gets_its_callbacks)
{
	const struct subscriber_real real = {.subscribe = subscribe};
	cupti_subscriber subscriber;
	int numbers[40];

	start_client();
	for (int i = 0; i < 40; i++) {
		ck_assert_uint_eq(subscriber_client_unsubscribe(unsubscribe), CUPTI_OK);
		begin(CBID_MALLOC, 1, 0); /* of no client */
		end(CBID_MALLOC, 1);
		ck_assert_uint_eq(subscriber_client_subscribe(
					  &real, &subscriber, see_as_client, &numbers[i], NULL),
			CUPTI_OK);
		begin(CBID_MALLOC, 2, 0); /* which it has not asked for yet */
		end(CBID_MALLOC, 2);
		subscriber_client_enable(enable, true, CUPTI_DOMAIN_RUNTIME, CBID_MALLOC);
		begin(CBID_MALLOC, 3, 0);
		end(CBID_MALLOC, 3);
		ck_assert_ptr_eq(client_seen.userdata, &numbers[i]);
		ck_assert_uint_eq(client_seen.nr, 2 * ((uint32_t)i + 1));
	}
	ck_assert_uint_eq(client_seen.ended[3], 40);
}
END_TEST

/* A later CUPTI may have such IDs. */
START_TEST(client_gets_callbacks_with_ids_and_domains_beyond_those_known)
{
	static const uint32_t ids[][2] = {{CUPTI_DOMAIN_RUNTIME, 2048}, {SUBSCRIBER_NR_DOMAINS, 1}};

	start_client();
	for (uint32_t i = 0; i < 2; i++) {
		ck_assert_uint_eq(
			subscriber_client_enable(enable, true, ids[i][0], ids[i][1]), CUPTI_OK);
		say(ids[i][0], ids[i][1], CUPTI_SITE_ENTER, 1);
		ck_assert_uint_eq(client_seen.nr, i + 1);
		ck_assert_uint_eq(client_seen.domain, ids[i][0]);
		ck_assert_uint_eq(client_seen.cbid, ids[i][1]);
	}
	ck_assert(!subscriber_is_wanted(CUPTI_DOMAIN_RUNTIME, 2048));
	ck_assert_uint_eq(drain().nr, 0);
}
END_TEST

UNIT_SUITE("callback", a_driver_call_in_a_runtime_call_is_a_part_of_it,
	with_driver_calls_each_one_in_a_call_without_a_hook_is_nested,
	with_driver_calls_each_one_in_a_hook_is_nested_but_not_the_hooks_own,
	driver_calls_before_the_hooked_calls_own_callback_are_parts_of_it,
	with_driver_calls_nothing_is_recorded_outside_of_windows,
	a_signal_handlers_call_in_a_call_is_another_one,
	a_call_that_was_left_is_counted_and_silences_nothing,
	many_that_were_left_are_counted_once_each, in_a_hook_that_was_left_calls_are_recorded,
	functions_beyond_the_most_are_told_once,
	client_sees_the_end_of_a_call_with_many_others_in_it,
	client_sees_the_end_of_each_call_however_deep, client_sees_no_end_without_a_begin,
	each_of_many_clients_after_each_other_gets_its_callbacks,
	client_gets_callbacks_with_ids_and_domains_beyond_those_known)
