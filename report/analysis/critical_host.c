/* SPDX-License-Identifier: Apache-2.0 */
#include "report/analysis/critical_host.h"

#include <stdlib.h>

#include "report/util/buf.h"

/* Items that are open, the outermost first. */
struct open {
	struct open_item {
		const struct critical_item *item;
		uint64_t end; /* not behind that of what it lies in */
	} * items;
	size_t nr, capacity;
	uint64_t now; /* stretches are made up to here */
};

int critical_host_order(const void *a, const void *b)
{
	const struct critical_item *x = a, *y = b;

	if (x->thread != y->thread) {
		return x->thread < y->thread ? -1 : 1;
	}
	if (x->begin != y->begin) {
		return x->begin < y->begin ? -1 : 1;
	}
	if (x->end != y->end) {
		return x->end > y->end ? -1 : 1;
	}
	return (int)x->is_call - (int)y->is_call;
}

/* What is open goes on until `time`. */
static void go_on(struct critical_host *host, struct open *open, uint64_t time)
{
	if (open->nr && time > open->now) {
		host->stretches = array_grow(host->stretches, host->nr_stretches, &host->capacity,
			sizeof(*host->stretches));
		host->stretches[host->nr_stretches++] =
			(struct critical_stretch){open->now, time, open->items[open->nr - 1].item};
	}
	open->now = time > open->now ? time : open->now;
}

static void close_until(struct critical_host *host, struct open *open, uint64_t time)
{
	while (open->nr && open->items[open->nr - 1].end <= time) {
		go_on(host, open, open->items[open->nr - 1].end);
		open->nr--;
	}
	go_on(host, open, time);
}

static void make_thread(struct critical_host *host, struct open *open,
	const struct critical_item *items, size_t nr_items, bool is_range)
{
	size_t first = host->nr_stretches;

	open->now = 0;
	for (size_t i = 0; i < nr_items; i++) {
		uint64_t end = items[i].end;

		if (items[i].begin >= end || items[i].is_range != is_range) {
			continue;
		}
		close_until(host, open, items[i].begin);
		if (open->nr && open->items[open->nr - 1].end < end) {
			end = open->items[open->nr - 1].end;
		}
		open->items =
			array_grow(open->items, open->nr, &open->capacity, sizeof(*open->items));
		open->items[open->nr++] = (struct open_item){&items[i], end};
	}
	close_until(host, open, UINT64_MAX);
	host->threads = array_grow(
		host->threads, host->nr_threads, &host->thread_capacity, sizeof(*host->threads));
	host->threads[host->nr_threads++] =
		(struct critical_thread){nr_items ? items[0].thread : 0, first, host->nr_stretches};
}

void critical_host_make(struct critical_host *host, const struct critical_item *items,
	size_t nr_items, bool is_range)
{
	struct open open = {0};

	for (size_t i = 0, end; i < nr_items; i = end) {
		for (end = i; end < nr_items && items[end].thread == items[i].thread; end++) {
		}
		make_thread(host, &open, items + i, end - i, is_range);
	}
	free(open.items);
}

void critical_host_fini(struct critical_host *host)
{
	free(host->stretches);
	free(host->threads);
	*host = (struct critical_host){0};
}

const struct critical_stretch *critical_host_find_at(
	const struct critical_host *host, size_t i, uint64_t time)
{
	size_t low = host->threads[i].first, high = host->threads[i].end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (host->stretches[middle].begin < time) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low > host->threads[i].first ? &host->stretches[low - 1] : NULL;
}

const struct critical_stretch *critical_host_find(
	const struct critical_host *host, uint32_t thread, uint64_t time)
{
	size_t low = 0, high = host->nr_threads;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (host->threads[middle].thread < thread) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < host->nr_threads && host->threads[low].thread == thread
		       ? critical_host_find_at(host, low, time)
		       : NULL;
}
