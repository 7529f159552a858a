/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stream/prefetch.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"

/* Fewer requests than this are not worth a thread. */
#define FEW_REQUESTS 8u
#define MOST_SLOTS   (2u * (PREFETCH_THREADS + 1u))

enum slot_state {
	SLOT_FREE,
	SLOT_WORKING,
	SLOT_READY,
	SLOT_HELD, /* its batch is in the caller's hands */
};

/* Request k goes through slot k % nr_slots. */
struct slot {
	struct reader *reader;
	struct batch batch;
	uint32_t bad;
	enum slot_state state;
};

struct prefetch {
	struct reader *reader; /* for what nobody announced */
	pthread_mutex_t lock;  /* of all below */
	pthread_cond_t work;   /* a slot has become free, requests came, or it ends */
	pthread_cond_t ready;  /* a slot's state has changed */
	struct stream_request *requests;
	size_t nr_requests, capacity;
	size_t next_start, next_take; /* requests */
	struct slot slots[MOST_SLOTS];
	unsigned int nr_slots;
	pthread_t threads[PREFETCH_THREADS];
	unsigned int nr_threads; /* 0 until something is worth it */
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
	struct prefetch *ahead = mem_zeroed(1, sizeof(*ahead));

	ahead->reader = reader_create();
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->work, NULL);
	pthread_cond_init(&ahead->ready, NULL);
	return ahead;
}

struct reader *prefetch_reader(struct prefetch *ahead)
{
	return ahead->reader;
}

/* With the lock held. The slot of the next request that may be started, or NULL. */
static struct slot *claim(struct prefetch *ahead, size_t *request)
{
	struct slot *slot = &ahead->slots[ahead->next_start % ahead->nr_slots];

	if (ahead->next_start == ahead->nr_requests || slot->state != SLOT_FREE) {
		return NULL;
	}
	*request = ahead->next_start++;
	slot->state = SLOT_WORKING;
	return slot;
}

/* With the lock held, which it gives back while it decodes. */
static void decode(struct prefetch *ahead, struct slot *slot, size_t k)
{
	const struct stream_request request = ahead->requests[k];

	pthread_mutex_unlock(&ahead->lock);
	if (!slot->reader) {
		slot->reader = reader_create();
	}
	slot->bad = reader_load(slot->reader, request.stream, request.block, request.mask,
		request.small_mask, &slot->batch);
	pthread_mutex_lock(&ahead->lock);
	slot->state = SLOT_READY;
	pthread_cond_signal(&ahead->ready);
}

static void *work(void *context)
{
	struct prefetch *ahead = context;

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->is_ending) {
		size_t request;
		struct slot *slot = claim(ahead, &request);

		if (slot) {
			decode(ahead, slot, request);
		} else {
			pthread_cond_wait(&ahead->work, &ahead->lock);
		}
	}
	pthread_mutex_unlock(&ahead->lock);
	return NULL;
}

/* Where threads cannot be had, the caller decodes alone. */
static void start_threads(struct prefetch *ahead)
{
	unsigned int nr = prefetch_nr_threads() - 1;

	ahead->nr_slots = 2 * (nr + 1);
	while (ahead->nr_threads < nr &&
		!pthread_create(&ahead->threads[ahead->nr_threads], NULL, work, ahead)) {
		ahead->nr_threads++;
	}
}

/* With the lock held: nothing is expected, nobody works. */
static void forget(struct prefetch *ahead)
{
	ahead->nr_requests = ahead->next_start = ahead->next_take = 0;
	for (unsigned int i = 0; i < ahead->nr_slots; i++) {
		while (ahead->slots[i].state == SLOT_WORKING) {
			pthread_cond_wait(&ahead->ready, &ahead->lock);
		}
		ahead->slots[i].state = SLOT_FREE;
	}
}

void prefetch_expect(
	struct prefetch *ahead, const struct stream_request *requests, size_t nr_requests)
{
	if (!ahead) {
		return;
	}
	pthread_mutex_lock(&ahead->lock);
	forget(ahead);
	if (nr_requests >= FEW_REQUESTS && !ahead->nr_slots && prefetch_nr_threads() > 1) {
		start_threads(ahead);
	}
	if (ahead->nr_threads) {
		if (ahead->capacity < nr_requests) {
			ahead->requests =
				mem_resize(ahead->requests, nr_requests, sizeof(*ahead->requests));
			ahead->capacity = nr_requests;
		}
		if (nr_requests) {
			memcpy(ahead->requests, requests, nr_requests * sizeof(*requests));
		}
		ahead->nr_requests = nr_requests;
		pthread_cond_broadcast(&ahead->work);
	}
	pthread_mutex_unlock(&ahead->lock);
}

void prefetch_destroy(struct prefetch *ahead)
{
	if (!ahead) {
		return;
	}
	pthread_mutex_lock(&ahead->lock);
	forget(ahead);
	ahead->is_ending = true;
	pthread_cond_broadcast(&ahead->work);
	pthread_mutex_unlock(&ahead->lock);
	for (unsigned int i = 0; i < ahead->nr_threads; i++) {
		pthread_join(ahead->threads[i], NULL);
	}
	for (unsigned int i = 0; i < MOST_SLOTS; i++) {
		reader_destroy(ahead->slots[i].reader);
	}
	reader_destroy(ahead->reader);
	pthread_cond_destroy(&ahead->work);
	pthread_cond_destroy(&ahead->ready);
	pthread_mutex_destroy(&ahead->lock);
	free(ahead->requests);
	free(ahead);
}

static bool is_next(const struct prefetch *ahead, const struct stream_request *request)
{
	const struct stream_request *next = &ahead->requests[ahead->next_take];

	return ahead->next_take < ahead->nr_requests && next->stream == request->stream &&
	       next->block == request->block && next->mask == request->mask &&
	       next->small_mask == request->small_mask;
}

/* With the lock held: the slot of the next request, decoded; helps with those to come. */
static struct slot *wait_for_next(struct prefetch *ahead)
{
	struct slot *slot = &ahead->slots[ahead->next_take % ahead->nr_slots];

	while (slot->state != SLOT_READY) {
		size_t request;
		struct slot *mine = claim(ahead, &request);

		if (mine) {
			decode(ahead, mine, request);
		} else {
			pthread_cond_wait(&ahead->ready, &ahead->lock);
		}
	}
	return slot;
}

/* The batch that the caller had is not needed any more. */
static void let_go(struct prefetch *ahead)
{
	struct slot *held =
		ahead->next_take ? &ahead->slots[(ahead->next_take - 1) % ahead->nr_slots] : NULL;

	if (held && held->state == SLOT_HELD) {
		held->state = SLOT_FREE;
		pthread_cond_signal(&ahead->work);
	}
}

uint32_t prefetch_take(
	struct prefetch *ahead, const struct stream_request *request, struct batch *batch)
{
	struct slot *slot = NULL;
	uint32_t bad;

	if (ahead->nr_threads) {
		pthread_mutex_lock(&ahead->lock);
		let_go(ahead);
		if (is_next(ahead, request)) {
			slot = wait_for_next(ahead);
			slot->state = SLOT_HELD;
			ahead->next_take++;
			*batch = slot->batch;
			bad = slot->bad;
		}
		pthread_mutex_unlock(&ahead->lock);
	}
	if (!slot) {
		bad = reader_load(ahead->reader, request->stream, request->block, request->mask,
			request->small_mask, batch);
	}
	return bad;
}
