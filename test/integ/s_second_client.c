/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that profiles itself by CUPTI, as a framework's own profiler does, while it may be
 * profiled from outside too:
 *
 *	s_second_client [WHAT...]
 *
 * It launches before(), then `sessions=N` times records what happens while it launches inside(),
 * and launches after(). WHAT:
 *
 *	subscribe	the client subscribes and counts the callbacks of launches
 *	domain		and of all runtime calls
 *	first		it subscribes and registers before the first CUDA call
 *	again		it subscribes a second time, which CUPTI refuses
 *	own		it uses the activity API of its own subscriber (CUPTI 13.3)
 *	clock[=each]	it gives CUPTI a clock of its own, once or before each session
 *	context		it enables kinds for one context
 *	unsubscribe	at the end of each session
 *	finalize	the same, and cuptiFinalize
 *	teardown	both in the callback of a launch after the session
 *	idle		with the kinds of torch.profiler, and no CUDA call, in a session
 *	lazy		it does not flush at the end of a session
 *	flying=N	N kernels run when a session begins, and when it ends
 *	flush=N		it flushes by force while N kernels run, outside of sessions
 *	kill		it is killed in its first session
 *	threads=N	N threads launch all the time
 *	launches=N	of each kernel
 *	sleep=MS	between sessions and after the last
 *	log=FILE	it waits there until the profiler around it says in FILE that it is back
 *
 * It prints, for each session, what it recorded, with a sum over what must not differ.
 */
#include "test/sim/cupti_abi.h"

/* The list first: its facts are not the macros of the programs. */
#define HOOK(api, need, ret, name, params, args, facts)
#define HOOK_MANUAL(api, need, ret, name, params, args)
#define CUPTI_HOOK(name, params) uint32_t name params;
#include "preload/hook/hooks.def"

#include "test/integ/second_seen.h"
#include "test/prog/prog.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

uint32_t cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped);
uint32_t cuptiActivityRegisterCallbacks_v2(cupti_subscriber subscriber, void *request, void *done);
uint32_t cuptiActivityEnable_v2(cupti_subscriber subscriber, uint32_t kind, void *config);
uint32_t cuptiActivityDisable_v2(cupti_subscriber subscriber, uint32_t kind, void *config);
int cuCtxGetCurrent(void **context);

enum { N = 256, CBID_LAUNCH = 211 };

KERNEL2(before, int *, x, int, by)
{
	x[index] += by;
}

KERNEL2(inside, int *, x, int, by)
{
	x[index] += 2 * by;
}

KERNEL2(after, int *, x, int, by)
{
	x[index] += 3 * by;
}

KERNEL2(always, int *, x, int, by)
{
	x[index] += 4 * by;
}

/*
 * One that computes nothing: the simulator knows its times when it is launched, and so has a record
 * of it that is not complete while it runs.
 */
void flying(void);
void flying(void)
{
}

static void **flying_handle;

__attribute__((constructor(200))) static void register_flying(void)
{
	flying_handle = __cudaRegisterFatBinary(NULL);
	__cudaRegisterFunction(flying_handle, (const char *)flying, (char *)"_Z6flyingv",
		"_Z6flyingv", -1, NULL, NULL, NULL, NULL, NULL);
}

__attribute__((destructor)) static void unregister_flying(void)
{
	__cudaUnregisterFatBinary(flying_handle);
}

static void fly(int nr)
{
	for (int i = 0; i < nr; i++) {
		CHECK(cudaLaunchKernel((const void *)flying, PROG_DIM3(1), PROG_DIM3(32), NULL, 0,
			(cudaStream_t)0));
	}
}

struct options options = {.nr_sessions = 1, .nr_launches = 20, .sleep_ms = 200};

static cupti_subscriber subscriber;
pthread_t main_thread;
static _Atomic bool is_over, is_tearing;

static void must(uint32_t rc, const char *what)
{
	if (rc) {
		printf("%s: %u\n", what, rc);
	}
}

/* ---- what CUPTI calls ---- */

static void requested_v2(uint8_t **buffer, size_t *bytes, size_t *max_records, void *info)
{
	(void)info;
	seen_requested(buffer, bytes, max_records);
}

static void completed_v2(uint8_t *buffer, size_t bytes, size_t valid_bytes, void *info)
{
	(void)info;
	seen_completed(NULL, 0, buffer, bytes, valid_bytes);
}

static void called(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	const struct cupti_callback_data *d = data;

	if (d->site == CUPTI_SITE_EXIT && atomic_exchange(&is_tearing, false)) {
		must(cuptiUnsubscribe(subscriber), "unsubscribe");
		must(cuptiFinalize(), "finalize");
		return;
	}
	if (userdata != &session || domain != CUPTI_DOMAIN_RUNTIME) {
		return;
	}
	if (d->site == CUPTI_SITE_ENTER) {
		atomic_fetch_add(&session.enters, 1);
		session.bad_data += *d->correlation_data != 0;
		*d->correlation_data = 0xabcd0000u + cbid;
	} else {
		atomic_fetch_add(&session.exits, 1);
		session.bad_data += *d->correlation_data != 0xabcd0000u + cbid;
	}
}

/* ---- sessions ---- */

static const uint32_t kinds[] = {CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_KIND_MEMCPY,
	CUPTI_KIND_RUNTIME, CUPTI_KIND_SYNCHRONIZATION, CUPTI_KIND_MEMSET, CUPTI_KIND_OVERHEAD};
/* The last ones only where the session is idle. */
#define NR_KINDS      (sizeof(kinds) / sizeof(kinds[0]))
#define NR_BUSY_KINDS (NR_KINDS - 2)

static void subscribe(void)
{
	struct cupti_subscriber_params_13_2 params = {
		.base = {.size = sizeof(params), .subscriber_name = "second"}, .allows_others = 1};
	char holder[80] = "";
	cupti_subscriber other = NULL;

	if (options.own) {
		must(cuptiSubscribe_v2(&subscriber, called, &session, &params.base), "subscribe");
	} else if (options.subscribe) {
		must(cuptiSubscribe(&subscriber, called, &session), "subscribe");
	}
	if (options.again) {
		params.base.old_subscriber_name = holder;
		params.base.old_subscriber_bytes = sizeof(holder);
		params.allows_others = 0;
		printf("again %u\n", cuptiSubscribe_v2(&other, called, NULL, &params.base));
	}
}

static void enable_callbacks(uint32_t is_on)
{
	uint32_t is_enabled = 2;

	if (!subscriber) {
		return;
	}
	if (options.domain) {
		must(cuptiEnableDomain(is_on, subscriber, CUPTI_DOMAIN_RUNTIME), "domain");
	} else {
		must(cuptiEnableCallback(is_on, subscriber, CUPTI_DOMAIN_RUNTIME, CBID_LAUNCH),
			"callback");
	}
	must(cuptiGetCallbackState(&is_enabled, subscriber, CUPTI_DOMAIN_RUNTIME, CBID_LAUNCH),
		"state");
	printf("launches are called back: %u\n", is_enabled);
	must(cuptiGetCallbackState(&is_enabled, subscriber, CUPTI_DOMAIN_RUNTIME, CBID_LAUNCH + 1),
		"state");
	printf("and others: %u\n", is_enabled);
}

static void register_buffers(void)
{
	if (options.own) {
		must(cuptiActivityRegisterCallbacks_v2(
			     subscriber, (void *)requested_v2, (void *)completed_v2),
			"register");
	} else {
		must(cuptiActivityRegisterCallbacks(seen_requested, seen_completed), "register");
	}
}

static void switch_kinds(bool is_on)
{
	void *context = NULL;

	cuCtxGetCurrent(&context);
	for (size_t i = 0; i < (options.idle ? NR_KINDS : NR_BUSY_KINDS); i++) {
		if (options.own) {
			must(is_on ? cuptiActivityEnable_v2(subscriber, kinds[i], NULL)
				   : cuptiActivityDisable_v2(subscriber, kinds[i], NULL),
				"own kind");
		} else if (options.context) {
			must(is_on ? cuptiActivityEnableContext(context, kinds[i])
				   : cuptiActivityDisableContext(context, kinds[i]),
				"context's kind");
		} else {
			must(is_on ? cuptiActivityEnable(kinds[i]) : cuptiActivityDisable(kinds[i]),
				"kind");
		}
	}
}

static void launch(int which, int *d)
{
	int by = 1;

	for (int i = 0; i < options.nr_launches; i++) {
		if (which == 0) {
			LAUNCH(before, 2, N / 2, (cudaStream_t)0, &d, &by);
		} else if (which == 1) {
			LAUNCH(inside, 2, N / 2, (cudaStream_t)0, &d, &by);
		} else {
			LAUNCH(after, 2, N / 2, (cudaStream_t)0, &d, &by);
		}
	}
}

/* Of what the profiler around us says of its gaps, is the end of one the last? */
static bool is_other_back(void)
{
	FILE *file = fopen(options.log, "re");
	char line[1024];
	bool is_back = true;

	while (file && fgets(line, sizeof(line), file)) {
		if (strstr(line, "activity is not recorded from")) {
			is_back = false;
		} else if (strstr(line, "activity was not recorded from")) {
			is_back = true;
		}
	}
	if (file) {
		fclose(file);
	}
	return is_back;
}

static void wait_for_other(void)
{
	usleep((useconds_t)options.sleep_ms * 1000);
	for (int i = 0; options.log[0] && i < 3000 && !is_other_back(); i++) {
		usleep(10000);
	}
}

static void work(int *d)
{
	int host[N];

	launch(1, d);
	cudaStreamQuery((cudaStream_t)0);
	CHECK(cudaMemcpy(host, d, sizeof(host), cudaMemcpyDeviceToHost));
	CHECK(cudaDeviceSynchronize());
}

static void record_session(int number, int *d)
{
	size_t dropped = 0;

	memset((void *)&session, 0, sizeof(session));
	if (number && (options.finalize || options.unsubscribe || options.teardown)) {
		subscribe();
	}
	if (options.clock && (!number || options.each)) {
		must(cuptiActivityRegisterTimestampCallback(seen_read_clock), "clock");
	}
	if (number || !options.first) {
		register_buffers();
	}
	atomic_store(&session.begin, seen_now());
	enable_callbacks(1);
	switch_kinds(true);
	if (!options.idle) {
		work(d);
	}
	if (options.flying) {
		fly(options.flying);
	}
	if (options.kill) {
		usleep(200000);
		kill(getpid(), SIGKILL);
	}
	switch_kinds(false);
	if (!options.teardown) {
		enable_callbacks(0);
	}
	if (options.flying) {
		CHECK(cudaDeviceSynchronize());
	}
	if (!options.lazy) {
		must(cuptiActivityFlushAll(0), "flush");
		must(cuptiActivityFlushAll(CUPTI_FLAG_FLUSH_FORCED), "flush");
	}
	cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped);
	if (subscriber && (options.unsubscribe || options.finalize)) {
		must(cuptiUnsubscribe(subscriber), "unsubscribe");
	}
	if (options.finalize) {
		must(cuptiFinalize(), "finalize");
	}
	if (options.teardown) {
		int by = 1;

		atomic_store(&is_tearing, true);
		LAUNCH(inside, 2, N / 2, (cudaStream_t)0, &d, &by);
		CHECK(cudaDeviceSynchronize()); /* it is not to run into the next session */
	}
	wait_for_other();
	if (!options.lazy) {
		seen_print(number, dropped);
	}
}

static void *launch_always(void *unused)
{
	int *d, by = 1;

	(void)unused;
	CHECK(cudaMalloc((void **)&d, N * sizeof(*d)));
	/* Some after all sessions, however little of a busy machine it got before. */
	for (int nr_after = 0; nr_after < 8; nr_after += atomic_load(&is_over)) {
		for (int i = 0; i < 50; i++) {
			LAUNCH(always, 2, N / 2, (cudaStream_t)0, &d, &by);
		}
		CHECK(cudaStreamSynchronize((cudaStream_t)0));
	}
	return NULL;
}

static void read_options(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		options.subscribe |= !strcmp(argv[i], "subscribe");
		options.domain |= !strcmp(argv[i], "domain");
		options.first |= !strcmp(argv[i], "first");
		options.again |= !strcmp(argv[i], "again");
		options.own |= !strcmp(argv[i], "own");
		options.clock |= !strncmp(argv[i], "clock", 5);
		options.each |= !strcmp(argv[i], "clock=each");
		options.context |= !strcmp(argv[i], "context");
		options.unsubscribe |= !strcmp(argv[i], "unsubscribe");
		options.finalize |= !strcmp(argv[i], "finalize");
		options.teardown |= !strcmp(argv[i], "teardown");
		options.idle |= !strcmp(argv[i], "idle");
		options.lazy |= !strcmp(argv[i], "lazy");
		options.kill |= !strcmp(argv[i], "kill");
		sscanf(argv[i], "flush=%d", &options.flush);
		sscanf(argv[i], "flying=%d", &options.flying);
		sscanf(argv[i], "threads=%d", &options.nr_threads);
		sscanf(argv[i], "sessions=%d", &options.nr_sessions);
		sscanf(argv[i], "launches=%d", &options.nr_launches);
		sscanf(argv[i], "sleep=%d", &options.sleep_ms);
		sscanf(argv[i], "log=%255s", options.log);
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[16];
	int *d;

	read_options(argc, argv);
	main_thread = pthread_self();
	if (options.first) {
		subscribe();
		register_buffers();
	}
	CHECK(cudaMalloc((void **)&d, N * sizeof(*d)));
	for (int i = 0; i < options.nr_threads; i++) {
		pthread_create(&threads[i], NULL, launch_always, NULL);
	}
	launch(0, d);
	CHECK(cudaDeviceSynchronize());
	if (options.flying) {
		fly(options.flying);
	}
	if (!options.first) {
		subscribe();
	}
	for (int i = 0; i < options.nr_sessions; i++) {
		record_session(i, d);
	}
	launch(2, d);
	if (options.flush) {
		CHECK(cudaDeviceSynchronize());
		fly(options.flush);
		must(cuptiActivityFlushAll(CUPTI_FLAG_FLUSH_FORCED), "flush");
	}
	CHECK(cudaDeviceSynchronize());
	atomic_store(&is_over, true);
	for (int i = 0; i < options.nr_threads; i++) {
		pthread_join(threads[i], NULL);
	}
	if (options.lazy) {
		must(cuptiActivityFlushAll(CUPTI_FLAG_FLUSH_FORCED), "flush");
		seen_print(options.nr_sessions - 1, 0);
	}
	puts("done");
	return 0;
}
