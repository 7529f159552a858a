/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The buffer protocol. The current buffer takes records; a full one, or one that a flush has
 * closed, waits until its last record's end has passed and is then returned. Neither of the
 * client's functions is called under the lock.
 */
#include "test/sim/cupti.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct buffer {
	struct buffer *next;
	uint8_t *bytes;
	size_t size, used;
	uint64_t end_ns; /* of the latest record */
};

/* Under lock, but for the client's functions, which are set once before records come. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	pthread_cond_t given; /* the worker has handed out what it took */
	bool is_giving;	      /* the worker, just now */
	struct buffer *current;
	struct buffer *spare; /* asked for, but somebody else was faster */
	struct buffer *closed, **last;
	size_t nr_dropped;
	uint64_t nr_records;
	uint64_t nr_ends; /* how often CUPTI was finalised */
	uint32_t period_ms;
	bool has_worker;
	cupti_buffer_requested_fn requested;
	cupti_buffer_completed_fn completed;
	cupti_sim_requested_v2_fn requested_v2; /* of the subscriber with an own activity API */
	cupti_sim_completed_v2_fn completed_v2;
	/* Every fifth record of the device waits for the next one to overtake it. */
	uint8_t held[CUPTI_SIM_MAX_RECORD] __attribute__((aligned(8)));
	size_t held_bytes;
	uint64_t held_end_ns;
} buffers = {.lock = PTHREAD_MUTEX_INITIALIZER,
	.filled = PTHREAD_COND_INITIALIZER,
	.given = PTHREAD_COND_INITIALIZER,
	.last = &buffers.closed};

enum { HOLD_EVERY = 5, DEFAULT_PERIOD_MS = 10 };

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Every nth, by the environment; 0 where not asked for. */
static long every(const char *name, _Atomic long *cache)
{
	long n = atomic_load_explicit(cache, memory_order_relaxed);

	if (n < 0) {
		const char *text = getenv(name);

		n = text ? atol(text) : 0;
		atomic_store(cache, n);
	}
	return n;
}

void cupti_sim_buffers_register(
	cupti_buffer_requested_fn requested, cupti_buffer_completed_fn completed)
{
	pthread_mutex_lock(&buffers.lock);
	buffers.requested = requested;
	buffers.completed = completed;
	pthread_mutex_unlock(&buffers.lock);
}

void cupti_sim_buffers_register_v2(
	cupti_sim_requested_v2_fn requested, cupti_sim_completed_v2_fn completed)
{
	pthread_mutex_lock(&buffers.lock);
	buffers.requested_v2 = requested;
	buffers.completed_v2 = completed;
	pthread_mutex_unlock(&buffers.lock);
}

size_t cupti_sim_dropped_take(void)
{
	pthread_mutex_lock(&buffers.lock);
	size_t n = buffers.nr_dropped;

	buffers.nr_dropped = 0;
	pthread_mutex_unlock(&buffers.lock);
	return n;
}

void cupti_sim_period_set(uint32_t ms)
{
	pthread_mutex_lock(&buffers.lock);
	buffers.period_ms = ms;
	pthread_mutex_unlock(&buffers.lock);
}

static void close_current_locked(void)
{
	if (buffers.current) {
		*buffers.last = buffers.current;
		buffers.last = &buffers.current->next;
		buffers.current = NULL;
		pthread_cond_signal(&buffers.filled);
	}
}

/* Records that have not ended are handed out all the same by a forced flush, with no end. */
static void cut_unfinished(struct buffer *b, uint64_t now)
{
	for (size_t at = 0; at < b->used;) {
		uint32_t kind = ((struct cupti_record *)(b->bytes + at))->kind;
		uint64_t *end = NULL;

		if (kind == CUPTI_KIND_CONCURRENT_KERNEL || kind == CUPTI_KIND_KERNEL) {
			end = &((struct cupti_kernel *)(b->bytes + at))->end_ns;
		} else if (kind == CUPTI_KIND_MEMCPY || kind == CUPTI_KIND_MEMSET) {
			end = &((struct cupti_memcpy *)(b->bytes + at))->end_ns;
		}
		if (end && !cupti_sim_clock_is_past(*end, now)) {
			*end = 0;
		}
		at += cupti_sim_stride(kind);
	}
}

/* The client's function, as it was when the lock was held. */
struct completed {
	cupti_buffer_completed_fn v1;
	cupti_sim_completed_v2_fn v2;
};

static struct completed completed_locked(void)
{
	return (struct completed){buffers.completed, buffers.completed_v2};
}

static void give_back(struct buffer *b, bool is_forced, struct completed completed)
{
	while (b) {
		struct buffer *next = b->next;

		if (is_forced) {
			cut_unfinished(b, now_ns());
		}
		if (completed.v2) {
			completed.v2(b->bytes, b->size, b->used, NULL);
		} else if (completed.v1) {
			completed.v1(NULL, 0, b->bytes, b->size, b->used);
		}
		free(b);
		b = next;
	}
}

/* A buffer from the client, asked for without the lock; false where it gives none. */
static bool ask_locked(void)
{
	cupti_buffer_requested_fn requested = buffers.requested;
	cupti_sim_requested_v2_fn requested_v2 = buffers.requested_v2;
	struct completed completed = completed_locked();
	struct buffer *b = buffers.spare;
	uint64_t nr_ends = buffers.nr_ends;
	size_t max_records = 0;

	if (b) {
		buffers.spare = NULL;
		buffers.current = b;
		return true;
	}
	if (!requested && !requested_v2) {
		return false;
	}
	pthread_mutex_unlock(&buffers.lock);
	b = calloc(1, sizeof(*b));
	if (b) {
		if (requested_v2) {
			requested_v2(&b->bytes, &b->size, &max_records, NULL);
		} else {
			requested(&b->bytes, &b->size, &max_records);
		}
		if (b->bytes && b->size) {
			memset(b->bytes, 0, b->size);
		}
	}
	pthread_mutex_lock(&buffers.lock);
	if (!b || !b->bytes) {
		free(b);
		return buffers.current != NULL;
	}
	if (buffers.nr_ends != nr_ends || buffers.requested_v2 != requested_v2) {
		/* CUPTI was finalised meanwhile: it goes back to whom it is from, who may already
		 * have registered again. */
		pthread_mutex_unlock(&buffers.lock);
		give_back(b, false, completed);
		pthread_mutex_lock(&buffers.lock);
		return buffers.current != NULL;
	}
	if (!buffers.current) {
		buffers.current = b;
	} else if (!buffers.spare) {
		buffers.spare = b;
	} else {
		/* Nobody needs it now: it goes back empty. */
		*buffers.last = b;
		buffers.last = &b->next;
	}
	return true;
}

static void store_locked(const void *record, size_t bytes, uint64_t end_ns)
{
	for (int tries = 0; tries < 3; tries++) {
		struct buffer *b = buffers.current;

		if (b && b->size - b->used >= bytes) {
			memcpy(b->bytes + b->used, record, bytes);
			b->used += bytes;
			b->end_ns = end_ns > b->end_ns ? end_ns : b->end_ns;
			return;
		}
		close_current_locked();
		if (!ask_locked()) {
			break;
		}
	}
	buffers.nr_dropped++;
}

static void release_held_locked(void)
{
	uint8_t record[CUPTI_SIM_MAX_RECORD] __attribute__((aligned(8)));
	size_t bytes = buffers.held_bytes;

	if (bytes) {
		memcpy(record, buffers.held, bytes);
		buffers.held_bytes = 0;
		store_locked(record, bytes, buffers.held_end_ns);
	}
}

void cupti_sim_put(const void *record, size_t bytes, uint64_t end_ns, bool is_device_side)
{
	static _Atomic long drop_every = -1;
	uint8_t whole[CUPTI_SIM_MAX_RECORD] __attribute__((aligned(8))) = {0};
	size_t stride = cupti_sim_stride(((const struct cupti_record *)record)->kind);
	long drop = every("SIM_CUPTI_DROP", &drop_every);

	if (!stride) {
		return;
	}
	memcpy(whole, record, bytes < stride ? bytes : stride);
	cupti_sim_clock_convert(whole, ((const struct cupti_record *)record)->kind);
	pthread_mutex_lock(&buffers.lock);
	uint64_t n = ++buffers.nr_records;

	if (drop > 0 && n % (uint64_t)drop == 0) {
		buffers.nr_dropped++;
	} else if (is_device_side && !buffers.held_bytes && n % HOLD_EVERY == 0) {
		memcpy(buffers.held, whole, stride);
		buffers.held_bytes = stride;
		buffers.held_end_ns = end_ns;
	} else {
		store_locked(whole, stride, end_ns);
		release_held_locked();
	}
	pthread_mutex_unlock(&buffers.lock);
}

/* Takes the closed buffers that may go back now. */
static struct buffer *take_ready_locked(bool is_forced)
{
	struct buffer *ready = NULL, **end = &ready;
	uint64_t now = now_ns();

	for (struct buffer **p = &buffers.closed; *p;) {
		struct buffer *b = *p;

		if (b->end_ns > now && !is_forced) {
			p = &b->next;
			continue;
		}
		*p = b->next;
		b->next = NULL;
		*end = b;
		end = &b->next;
	}
	buffers.last = &buffers.closed;
	while (*buffers.last) {
		buffers.last = &(*buffers.last)->next;
	}
	return ready;
}

/* A flush is not over before what the worker is handing out has arrived. */
static void wait_for_worker(void)
{
	pthread_mutex_lock(&buffers.lock);
	while (buffers.is_giving) {
		pthread_cond_wait(&buffers.given, &buffers.lock);
	}
	pthread_mutex_unlock(&buffers.lock);
}

void cupti_sim_flush(bool is_forced)
{
	pthread_mutex_lock(&buffers.lock);
	release_held_locked();
	if (buffers.current && (buffers.current->used || is_forced)) {
		close_current_locked();
	}
	if (is_forced && buffers.spare) {
		*buffers.last = buffers.spare;
		buffers.last = &buffers.spare->next;
		buffers.spare = NULL;
	}
	struct buffer *ready = take_ready_locked(is_forced);
	struct completed completed = completed_locked();

	pthread_mutex_unlock(&buffers.lock);
	give_back(ready, is_forced, completed);
	wait_for_worker();
}

void cupti_sim_buffers_end(void)
{
	pthread_mutex_lock(&buffers.lock);
	struct completed completed = completed_locked();

	buffers.nr_ends++;
	buffers.requested = NULL;
	buffers.completed = NULL;
	buffers.held_bytes = 0;
	close_current_locked();
	if (buffers.spare) {
		*buffers.last = buffers.spare;
		buffers.last = &buffers.spare->next;
		buffers.spare = NULL;
	}
	struct buffer *ready = take_ready_locked(true);

	pthread_mutex_unlock(&buffers.lock);
	give_back(ready, true, completed);
	wait_for_worker();
}

static void *worker(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&buffers.lock);
	for (;;) {
		uint64_t wake =
			now_ns() + 1000000u * (uint64_t)(buffers.period_ms ? buffers.period_ms
									   : DEFAULT_PERIOD_MS);
		struct timespec t = {(time_t)(wake / 1000000000u), (long)(wake % 1000000000u)};

		pthread_cond_timedwait(&buffers.filled, &buffers.lock, &t);
		struct buffer *ready = take_ready_locked(false);
		struct completed completed = completed_locked();

		buffers.is_giving = true;
		pthread_mutex_unlock(&buffers.lock);
		give_back(ready, false, completed);
		pthread_mutex_lock(&buffers.lock);
		buffers.is_giving = false;
		pthread_cond_broadcast(&buffers.given);
	}
	return NULL;
}

void cupti_sim_worker_start(void)
{
	pthread_t thread;
	sigset_t all, old;

	pthread_mutex_lock(&buffers.lock);
	bool is_first = !buffers.has_worker;

	buffers.has_worker = true;
	pthread_mutex_unlock(&buffers.lock);
	if (!is_first) {
		return;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&thread, NULL, worker, NULL) == 0) {
		pthread_detach(thread);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}
