/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes ahead on threads. stream.c owns one for all streams; scan.c and op_load.c announce what
 * they will load. Requests are numbered, and request k uses slot k modulo the number of slots, so
 * that batches come out in order without a queue. The caller waits only for its next slot, and
 * decodes later ones itself meanwhile.
 *
 *   slots      FREE -> WORKING (a thread decodes) -> READY -> IN_USE (the caller's batch) -> FREE
 *   requests   next_load: the caller's next      next_start: the next that anybody decodes
 *
 * A load that was not announced, or comes out of turn, is decoded at once by a reader of its own.
 */
#include "report/stream/prefetch.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"

/* Fewer requests are not worth a thread. */
#define FEW_REQUESTS 8u
#define MAX_SLOTS    (2u * (PREFETCH_THREADS + 1u))

enum slot_state {
	SLOT_FREE,
	SLOT_WORKING,
	SLOT_READY,
	SLOT_IN_USE, /* the caller uses its batch */
};

/* Request k uses slot k % nr_slots. */
struct slot {
	struct reader *reader;
	struct batch batch;
	uint32_t bad;
	enum slot_state state;
};

struct prefetch {
	struct reader *reader; /* for requests that nobody announced */
	pthread_mutex_t lock;  /* protects all below */
	pthread_cond_t work;   /* a slot is free, requests came, or the end */
	pthread_cond_t ready;  /* a slot changed its state */
	struct stream_request *requests;
	size_t nr_requests, capacity;
	size_t next_start, next_load; /* indices of requests */
	struct slot slots[MAX_SLOTS];
	unsigned int nr_slots;
	pthread_t threads[PREFETCH_THREADS];
	unsigned int nr_threads; /* 0 until threads are worth it */
	bool is_ending;
};

static unsigned int wanted_threads;

void prefetch_set_threads(unsigned int nr_threads)
{
	wanted_threads = nr_threads;
}

unsigned int prefetch_nr_threads(void)
{
	unsigned int nr = wanted_threads;
	cpu_set_t cpus;

	if (!nr) {
		nr = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : (unsigned int)CPU_COUNT(&cpus);
	}
	return nr > PREFETCH_THREADS + 1 ? PREFETCH_THREADS + 1 : nr;
}

struct prefetch *prefetch_create(void)
{
	struct prefetch *prefetch = mem_zeroed(1, sizeof(*prefetch));

	prefetch->reader = reader_create();
	pthread_mutex_init(&prefetch->lock, NULL);
	pthread_cond_init(&prefetch->work, NULL);
	pthread_cond_init(&prefetch->ready, NULL);
	return prefetch;
}

struct reader *prefetch_reader(struct prefetch *prefetch)
{
	return prefetch->reader;
}

/* Returns the slot of the next request to start, or NULL. The caller holds the lock. */
static struct slot *claim(struct prefetch *prefetch, size_t *request)
{
	struct slot *slot = &prefetch->slots[prefetch->next_start % prefetch->nr_slots];

	if (prefetch->next_start == prefetch->nr_requests || slot->state != SLOT_FREE) {
		return NULL;
	}
	*request = prefetch->next_start++;
	slot->state = SLOT_WORKING;
	return slot;
}

/* Decodes a slot. The caller holds the lock, which is released meanwhile. */
static void decode(struct prefetch *prefetch, struct slot *slot, size_t k)
{
	const struct stream_request request = prefetch->requests[k];

	pthread_mutex_unlock(&prefetch->lock);
	if (!slot->reader) {
		slot->reader = reader_create();
	}
	slot->bad = reader_load(slot->reader, request.stream, request.block, request.mask,
		request.small_mask, &slot->batch);
	pthread_mutex_lock(&prefetch->lock);
	slot->state = SLOT_READY;
	pthread_cond_signal(&prefetch->ready);
}

static void *work(void *context)
{
	struct prefetch *prefetch = context;

	pthread_mutex_lock(&prefetch->lock);
	while (!prefetch->is_ending) {
		size_t request;
		struct slot *slot = claim(prefetch, &request);

		if (slot) {
			decode(prefetch, slot, request);
		} else {
			pthread_cond_wait(&prefetch->work, &prefetch->lock);
		}
	}
	pthread_mutex_unlock(&prefetch->lock);
	return NULL;
}

/* If no thread can be started, the caller decodes alone. */
static void start_threads(struct prefetch *prefetch)
{
	unsigned int nr = prefetch_nr_threads() - 1;

	prefetch->nr_slots = 2 * (nr + 1);
	while (prefetch->nr_threads < nr &&
		!pthread_create(&prefetch->threads[prefetch->nr_threads], NULL, work, prefetch)) {
		prefetch->nr_threads++;
	}
}

/* Drops all requests and waits for the threads. The caller holds the lock. */
static void forget(struct prefetch *prefetch)
{
	prefetch->nr_requests = prefetch->next_start = prefetch->next_load = 0;
	for (unsigned int i = 0; i < prefetch->nr_slots; i++) {
		while (prefetch->slots[i].state == SLOT_WORKING) {
			pthread_cond_wait(&prefetch->ready, &prefetch->lock);
		}
		prefetch->slots[i].state = SLOT_FREE;
	}
}

/* Without threads there is nothing to announce to, so requests are not even copied. */
void prefetch_expect(
	struct prefetch *prefetch, const struct stream_request *requests, size_t nr_requests)
{
	if (!prefetch) {
		return;
	}
	pthread_mutex_lock(&prefetch->lock);
	forget(prefetch);
	if (nr_requests >= FEW_REQUESTS && !prefetch->nr_slots && prefetch_nr_threads() > 1) {
		start_threads(prefetch);
	}
	if (prefetch->nr_threads) {
		if (prefetch->capacity < nr_requests) {
			prefetch->requests = mem_resize(
				prefetch->requests, nr_requests, sizeof(*prefetch->requests));
			prefetch->capacity = nr_requests;
		}
		if (nr_requests) {
			memcpy(prefetch->requests, requests, nr_requests * sizeof(*requests));
		}
		prefetch->nr_requests = nr_requests;
		pthread_cond_broadcast(&prefetch->work);
	}
	pthread_mutex_unlock(&prefetch->lock);
}

/* The slots go only after the threads, which read into them, have ended. */
void prefetch_destroy(struct prefetch *prefetch)
{
	if (!prefetch) {
		return;
	}
	pthread_mutex_lock(&prefetch->lock);
	forget(prefetch);
	prefetch->is_ending = true;
	pthread_cond_broadcast(&prefetch->work);
	pthread_mutex_unlock(&prefetch->lock);
	for (unsigned int i = 0; i < prefetch->nr_threads; i++) {
		pthread_join(prefetch->threads[i], NULL);
	}
	for (unsigned int i = 0; i < MAX_SLOTS; i++) {
		reader_destroy(prefetch->slots[i].reader);
	}
	reader_destroy(prefetch->reader);
	pthread_cond_destroy(&prefetch->work);
	pthread_cond_destroy(&prefetch->ready);
	pthread_mutex_destroy(&prefetch->lock);
	free(prefetch->requests);
	free(prefetch);
}

static bool is_next(const struct prefetch *prefetch, const struct stream_request *request)
{
	const struct stream_request *next = &prefetch->requests[prefetch->next_load];

	return prefetch->next_load < prefetch->nr_requests && next->stream == request->stream &&
	       next->block == request->block && next->mask == request->mask &&
	       next->small_mask == request->small_mask;
}

/*
 * Returns the decoded slot of the next request, and helps with later ones. The caller holds the
 * lock.
 */
static struct slot *wait_for_next(struct prefetch *prefetch)
{
	struct slot *slot = &prefetch->slots[prefetch->next_load % prefetch->nr_slots];

	while (slot->state != SLOT_READY) {
		size_t request;
		struct slot *mine = claim(prefetch, &request);

		if (mine) {
			decode(prefetch, mine, request);
		} else {
			pthread_cond_wait(&prefetch->ready, &prefetch->lock);
		}
	}
	return slot;
}

/* Releases the batch that the caller had. */
static void let_go(struct prefetch *prefetch)
{
	struct slot *in_use =
		prefetch->next_load
			? &prefetch->slots[(prefetch->next_load - 1) % prefetch->nr_slots]
			: NULL;

	if (in_use && in_use->state == SLOT_IN_USE) {
		in_use->state = SLOT_FREE;
		pthread_cond_signal(&prefetch->work);
	}
}

/* A batch stays valid until the next call, which frees its slot. */
uint32_t prefetch_load(
	struct prefetch *prefetch, const struct stream_request *request, struct batch *batch)
{
	struct slot *slot = NULL;
	uint32_t bad;

	if (prefetch->nr_threads) {
		pthread_mutex_lock(&prefetch->lock);
		let_go(prefetch);
		if (is_next(prefetch, request)) {
			slot = wait_for_next(prefetch);
			slot->state = SLOT_IN_USE;
			prefetch->next_load++;
			*batch = slot->batch;
			bad = slot->bad;
		}
		pthread_mutex_unlock(&prefetch->lock);
	}
	if (!slot) {
		bad = reader_load(prefetch->reader, request->stream, request->block, request->mask,
			request->small_mask, batch);
	}
	return bad;
}
