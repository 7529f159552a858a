/* SPDX-License-Identifier: Apache-2.0 */
#include "test/integ/second_seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BUFFER_BYTES = 64 << 10 };

uint32_t cuptiActivityGetNextRecord(uint8_t *buffer, size_t bytes, struct cupti_record **record);

struct session session;

/* ---- clocks ---- */

static uint64_t realtime(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t seen_read_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return ((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec) * CLOCK_MUL + 12345;
}

uint64_t seen_now(void)
{
	return options.clock ? seen_read_clock() : realtime();
}

/* ---- records ---- */

void seen_requested(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*buffer = aligned_alloc(CUPTI_RECORD_ALIGN, BUFFER_BYTES);
	*bytes = BUFFER_BYTES;
	*max_records = 0;
	atomic_fetch_add(&session.nr_requested, 1);
}

static void add_to_sum(const char *text, uint64_t number)
{
	uint64_t hash = 14695981039346656037u;

	for (; text && *text; text++) {
		hash = (hash ^ (uint8_t)*text) * 1099511628211u;
	}
	atomic_fetch_add(&session.sum, (hash ^ number) * 1099511628211u);
}

/* The clocks are read a moment after the calls that they belong to. */
static void check_time(uint64_t start, uint64_t end)
{
	uint64_t slack = 1000000u * (options.clock ? CLOCK_MUL : 1);

	if (options.each) {
		return; /* CUPTI errs then */
	}
	session.bad_time += start > end || start + slack < atomic_load(&session.begin) ||
			    start > seen_now() + 1000 * slack;
}

static void see(const struct cupti_record *record)
{
	const struct cupti_kernel *k = (const struct cupti_kernel *)record;
	const struct cupti_memcpy *m = (const struct cupti_memcpy *)record;
	const struct cupti_api *a = (const struct cupti_api *)record;

	switch (record->kind) {
	case CUPTI_KIND_CONCURRENT_KERNEL:
		if (!options.nr_threads || strstr(k->name, "inside")) {
			session.kinds[record->kind]++;
			add_to_sum(k->name, (uint64_t)k->grid[0] << 32 | (uint32_t)k->block[0]);
			check_time(k->start_ns, k->end_ns);
		}
		return;
	case CUPTI_KIND_MEMCPY:
		add_to_sum(NULL, m->bytes << 8 | m->copy_kind);
		check_time(m->start_ns, m->end_ns);
		break;
	case CUPTI_KIND_RUNTIME:
		session.bad_thread +=
			!options.nr_threads && a->thread_id != (uint32_t)(uintptr_t)main_thread;
		if (options.nr_threads) {
			return;
		}
		add_to_sum(NULL, a->cbid);
		check_time(a->start_ns, a->end_ns);
		break;
	case CUPTI_KIND_OVERHEAD:
		break;
	case CUPTI_KIND_SYNCHRONIZATION:
		if (options.nr_threads) {
			return;
		}
		break;
	default:
		session.unknown++;
	}
	session.kinds[record->kind]++;
}

void seen_completed(
	void *context, uint32_t stream_id, uint8_t *buffer, size_t bytes, size_t valid_bytes)
{
	struct cupti_record *record = NULL;

	(void)context;
	(void)stream_id;
	(void)bytes;
	while (valid_bytes && !cuptiActivityGetNextRecord(buffer, valid_bytes, &record)) {
		see(record);
	}
	free(buffer);
	atomic_fetch_add(&session.nr_completed, 1);
}

/* ---- for the reader ---- */

/* A wait that finds its work done may have no record of its own: one or two are the same. */
static const char *few(long n)
{
	static char text[24];

	snprintf(text, sizeof(text), "%ld", n);
	return n == 1 || n == 2 ? "1 or 2" : text;
}

void seen_print(int number, size_t dropped)
{
	printf("session %d: %ld kernels, %ld copies, %ld calls, %s waits, sum %016llx\n", number,
		session.kinds[CUPTI_KIND_CONCURRENT_KERNEL], session.kinds[CUPTI_KIND_MEMCPY],
		session.kinds[CUPTI_KIND_RUNTIME], few(session.kinds[CUPTI_KIND_SYNCHRONIZATION]),
		(unsigned long long)session.sum);
	printf("wrong: %ld data, %ld times, %ld threads\n", session.bad_data, session.bad_time,
		session.bad_thread);
	if (!options.nr_threads) {
		printf("callbacks: %ld %ld\n", session.enters, session.exits);
		printf("%ld other records, %ld buffers missing, %zu dropped\n", session.unknown,
			session.nr_requested - session.nr_completed, dropped);
	}
	fflush(stdout);
}
