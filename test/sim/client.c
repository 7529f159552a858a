/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUPTI client as the driver's injection library, for the simulator's own tests: it records what
 * it can and, at exit, prints one line of "key=value" to stderr. CLIENT_GRAPHS=1 asks for whole
 * graphs.
 *
 *   subscribe      code of cuptiSubscribe, and nothing else where that is not 0
 *   kernels etc.   records by kind
 *   bad            records that end before they start or have no correlation ID
 *   zero           kernels and copies without times
 *   overlaps       kernels that start before the previous one of their stream ends
 *   late           buffers that came back on another thread than the one that was asked
 *   unsorted       kernels that came after one that started later
 *   callbacks, nested   API callbacks, and driver ones that share a runtime call's correlation ID
 *   dropped        as CUPTI counts
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/sim/cupti_abi.h"
#include "test/sim/sim.h"

enum { BUFFER_BYTES = 32768, MAX_STREAM = 256 };

static int (*next_record)(uint8_t *buffer, size_t bytes, struct cupti_record **record);
static int (*flush_all)(uint32_t flag);
static int (*get_dropped)(void *context, uint32_t stream_id, size_t *dropped);

/* Under lock, but for what callbacks count. */
static struct {
	pthread_mutex_t lock;
	long kinds[CUPTI_KIND_END];
	long bad, zero, overlaps, late, unsorted;
	uint64_t last_start_ns;
	uint64_t end_ns[MAX_STREAM];
	pthread_t asked;
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Atomic long callbacks, nested;
static __thread uint32_t runtime_correlation;

static void requested(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*bytes = BUFFER_BYTES;
	*buffer = aligned_alloc(CUPTI_RECORD_ALIGN, *bytes);
	*max_records = 0;
	pthread_mutex_lock(&seen.lock);
	seen.asked = pthread_self();
	pthread_mutex_unlock(&seen.lock);
}

static void see_kernel(const struct cupti_kernel *k)
{
	uint64_t *end = &seen.end_ns[k->stream_id % MAX_STREAM];

	if (!k->start_ns) {
		seen.zero++;
		return;
	}
	seen.bad += k->end_ns < k->start_ns || !k->correlation_id;
	seen.unsorted += k->start_ns < seen.last_start_ns;
	seen.overlaps += k->start_ns < *end && k->end_ns > *end;
	seen.last_start_ns = k->start_ns;
	*end = k->end_ns > *end ? k->end_ns : *end;
}

static void completed(
	void *context, uint32_t stream_id, uint8_t *buffer, size_t bytes, size_t valid_bytes)
{
	struct cupti_record *r = NULL;

	(void)context;
	(void)stream_id;
	(void)bytes;
	pthread_mutex_lock(&seen.lock);
	seen.late += !pthread_equal(seen.asked, pthread_self());
	while (next_record(buffer, valid_bytes, &r) == CUPTI_OK) {
		seen.kinds[r->kind]++;
		if (r->kind == CUPTI_KIND_CONCURRENT_KERNEL) {
			see_kernel((const struct cupti_kernel *)r);
		} else if (r->kind == CUPTI_KIND_MEMCPY) {
			const struct cupti_memcpy *m = (const struct cupti_memcpy *)r;

			seen.zero += !m->start_ns;
			seen.bad += m->end_ns < m->start_ns || !m->correlation_id;
		}
	}
	pthread_mutex_unlock(&seen.lock);
	free(buffer);
}

static void called(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	const struct cupti_callback_data *d = data;

	(void)userdata;
	(void)cbid;
	if (domain == CUPTI_DOMAIN_RUNTIME) {
		runtime_correlation = d->site == CUPTI_SITE_ENTER ? d->correlation_id : 0;
	} else if (domain == CUPTI_DOMAIN_DRIVER && d->site == CUPTI_SITE_ENTER) {
		nested += runtime_correlation && d->correlation_id == runtime_correlation;
	}
	callbacks += domain <= CUPTI_DOMAIN_RUNTIME;
}

static void finish(void)
{
	size_t dropped = 0;

	flush_all(CUPTI_FLAG_FLUSH_FORCED);
	get_dropped(NULL, 0, &dropped);
	pthread_mutex_lock(&seen.lock);
	fprintf(stderr,
		"subscribe=0 kernels=%ld copies=%ld peers=%ld sets=%ld syncs=%ld memory=%ld "
		"graphs=%ld "
		"runtime=%ld driver=%ld devices=%ld contexts=%ld bad=%ld zero=%ld overlaps=%ld "
		"late=%ld unsorted=%ld callbacks=%ld nested=%ld dropped=%zu\n",
		seen.kinds[CUPTI_KIND_CONCURRENT_KERNEL], seen.kinds[CUPTI_KIND_MEMCPY],
		seen.kinds[CUPTI_KIND_MEMCPY2], seen.kinds[CUPTI_KIND_MEMSET],
		seen.kinds[CUPTI_KIND_SYNCHRONIZATION], seen.kinds[CUPTI_KIND_MEMORY2],
		seen.kinds[CUPTI_KIND_GRAPH_TRACE], seen.kinds[CUPTI_KIND_RUNTIME],
		seen.kinds[CUPTI_KIND_DRIVER], seen.kinds[CUPTI_KIND_DEVICE],
		seen.kinds[CUPTI_KIND_CONTEXT], seen.bad, seen.zero, seen.overlaps, seen.late,
		seen.unsorted, atomic_load(&callbacks), atomic_load(&nested), dropped);
	pthread_mutex_unlock(&seen.lock);
}

SIM_EXPORT int InitializeInjection(void);

SIM_EXPORT int InitializeInjection(void)
{
	static const uint32_t kinds[] = {CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_KIND_MEMCPY,
		CUPTI_KIND_MEMCPY2, CUPTI_KIND_MEMSET, CUPTI_KIND_SYNCHRONIZATION,
		CUPTI_KIND_MEMORY2, CUPTI_KIND_RUNTIME, CUPTI_KIND_DRIVER, CUPTI_KIND_DEVICE,
		CUPTI_KIND_CONTEXT};
	const char *name = getenv("CLIENT_CUPTI");
	void *cupti = dlopen(name ? name : "libcupti.so.13", RTLD_NOW), *subscriber;
	int (*subscribe)(void **, cupti_callback_fn, void *);
	int (*enable_callback)(uint32_t, void *, int, uint32_t);
	int (*enable)(uint32_t);
	int (*register_buffers)(cupti_buffer_requested_fn, cupti_buffer_completed_fn);

	if (!cupti) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&subscribe = dlsym(cupti, "cuptiSubscribe");
	*(void **)&enable_callback = dlsym(cupti, "cuptiEnableCallback");
	*(void **)&enable = dlsym(cupti, "cuptiActivityEnable");
	*(void **)&register_buffers = dlsym(cupti, "cuptiActivityRegisterCallbacks");
	*(void **)&next_record = dlsym(cupti, "cuptiActivityGetNextRecord");
	*(void **)&flush_all = dlsym(cupti, "cuptiActivityFlushAll");
	*(void **)&get_dropped = dlsym(cupti, "cuptiActivityGetNumDroppedRecords");
	int code = subscribe(&subscriber, called, NULL);

	if (code != CUPTI_OK) {
		fprintf(stderr, "subscribe=%d\n", code);
		return 1;
	}
	register_buffers(requested, completed);
#define RT	       CUPTI_DOMAIN_RUNTIME
#define DRV	       CUPTI_DOMAIN_DRIVER
#define CBID(d, id, n) enable_callback(1, subscriber, d, id);
#include "collector/cupti/cupti_cbid.def"
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		enable(kinds[i]);
	}
	if (getenv("CLIENT_GRAPHS")) {
		enable(CUPTI_KIND_GRAPH_TRACE);
	}
	atexit(finish);
	return 1;
}
