/* SPDX-License-Identifier: Apache-2.0 */
#include "report/util/external_sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/util/buf.h"
#include "report/util/files.h"

#define WINDOW_BYTES (64u << 10) /* that a run in the file is read by */

/* Sorted records, in memory or in the file. */
struct run {
	char *records; /* NULL: in the file */
	uint64_t offset;
	size_t nr;
	/* while runs are merged */
	size_t next; /* the first that was not given out */
	char *window;
	size_t window_first, window_nr;
};

struct external_sort {
	size_t bytes; /* of a record */
	size_t most;
	size_t run_records;
	char *records; /* of the run being filled */
	size_t nr, capacity;
	uint64_t nr_added;
	size_t nr_kept;
	int fd; /* -1 none yet, -2 there is no room for one */
	uint64_t file_bytes;
	struct run *runs;
	size_t nr_runs, run_capacity;
	size_t *heap; /* of runs, that with the lowest record first */
	size_t nr_heap;
	size_t place; /* of the record at the top of the heap */
};

struct external_sort *external_sort_create(size_t record_bytes, size_t most, size_t run_bytes)
{
	struct external_sort *spool = mem_zeroed(1, sizeof(*spool));

	spool->bytes = record_bytes;
	spool->run_records = (run_bytes ? run_bytes : EXTERNAL_SORT_BYTES) / record_bytes;
	spool->run_records = spool->run_records < 2 ? 2 : spool->run_records;
	/* More than half a run is no less work than all. */
	spool->most = most <= spool->run_records / 2 ? most : 0;
	spool->fd = -1;
	return spool;
}

void external_sort_destroy(struct external_sort *spool)
{
	if (!spool) {
		return;
	}
	for (size_t i = 0; i < spool->nr_runs; i++) {
		free(spool->runs[i].records);
		free(spool->runs[i].window);
	}
	if (spool->fd >= 0) {
		close(spool->fd);
	}
	free(spool->runs);
	free(spool->records);
	free(spool->heap);
	free(spool);
}

/* ---- order ---- */

static int by_key(const void *a, const void *b)
{
	const struct external_sort_head *x = a, *y = b;

	if (x->key != y->key) {
		return x->key < y->key ? -1 : 1;
	}
	return (x->order > y->order) - (x->order < y->order);
}

/* Streams are in order nearly everywhere, and often entirely. */
static bool is_sorted(const struct external_sort *spool)
{
	for (size_t i = 1; i < spool->nr; i++) {
		const char *record = spool->records + i * spool->bytes;

		if (by_key(record - spool->bytes, record) > 0) {
			return false;
		}
	}
	return true;
}

static void sort(struct external_sort *spool)
{
	if (!is_sorted(spool)) {
		qsort(spool->records, spool->nr, spool->bytes, by_key);
	}
	if (spool->most && spool->nr > spool->most) {
		spool->nr = spool->most;
	}
}

/* ---- the file ---- */

static void read_window(struct external_sort *spool, struct run *run)
{
	size_t most = WINDOW_BYTES / spool->bytes ? WINDOW_BYTES / spool->bytes : 1;
	size_t nr = run->nr - run->next < most ? run->nr - run->next : most;

	if (!run->window) {
		run->window = mem_zeroed(most, spool->bytes);
	}
	temp_file_read_back(
		spool->fd, run->offset + run->next * spool->bytes, run->window, nr * spool->bytes);
	run->window_first = run->next;
	run->window_nr = nr;
}

/* ---- adding ---- */

static void end_run(struct external_sort *spool)
{
	struct run *run;

	sort(spool);
	spool->runs =
		array_grow(spool->runs, spool->nr_runs, &spool->run_capacity, sizeof(*spool->runs));
	run = &spool->runs[spool->nr_runs++];
	*run = (struct run){.nr = spool->nr, .offset = spool->file_bytes};
	if (spool->fd == -1) {
		spool->fd = temp_file_open();
		spool->fd = spool->fd < 0 ? -2 : spool->fd;
	}
	if (spool->fd >= 0 && temp_file_write(spool->fd, spool->file_bytes, spool->records,
				      spool->nr * spool->bytes)) {
		spool->file_bytes += spool->nr * spool->bytes;
	} else {
		run->records = spool->records;
		spool->records = NULL;
		spool->capacity = 0;
	}
	spool->nr = 0;
}

void *external_sort_add(struct external_sort *spool)
{
	struct external_sort_head *head;

	if (spool->nr == spool->run_records) {
		if (spool->most) {
			sort(spool);
		} else {
			end_run(spool);
		}
	}
	spool->records = array_grow(spool->records, spool->nr, &spool->capacity, spool->bytes);
	head = (struct external_sort_head *)(spool->records + spool->nr++ * spool->bytes);
	memset(head, 0, spool->bytes);
	head->order = spool->nr_added++;
	return head;
}

/* ---- giving out ---- */

static const void *first_of(struct external_sort *spool, struct run *run)
{
	if (run->records) {
		return run->records + run->next * spool->bytes;
	}
	if (run->next - run->window_first >= run->window_nr) {
		read_window(spool, run);
	}
	return run->window + (run->next - run->window_first) * spool->bytes;
}

static bool is_before(struct external_sort *spool, size_t a, size_t b)
{
	return by_key(first_of(spool, &spool->runs[spool->heap[a]]),
		       first_of(spool, &spool->runs[spool->heap[b]])) < 0;
}

static void sift_down(struct external_sort *spool, size_t at)
{
	for (size_t child = 2 * at + 1; child < spool->nr_heap; child = 2 * at + 1) {
		size_t run = spool->heap[at];

		if (child + 1 < spool->nr_heap && is_before(spool, child + 1, child)) {
			child++;
		}
		if (!is_before(spool, child, at)) {
			return;
		}
		spool->heap[at] = spool->heap[child];
		spool->heap[child] = run;
		at = child;
	}
}

static void begin_again(struct external_sort *spool)
{
	spool->nr_heap = 0;
	spool->place = 0;
	for (size_t i = 0; i < spool->nr_runs; i++) {
		spool->runs[i].next = 0;
		spool->runs[i].window_first = 0;
		spool->runs[i].window_nr = 0;
		if (spool->runs[i].nr) {
			spool->heap[spool->nr_heap++] = i;
		}
	}
	for (size_t i = spool->nr_heap / 2; i-- > 0;) {
		sift_down(spool, i);
	}
}

void external_sort_finish(struct external_sort *spool)
{
	sort(spool);
	spool->nr_kept = spool->nr;
	for (size_t i = 0; i < spool->nr_runs; i++) {
		spool->nr_kept += spool->runs[i].nr;
	}
	spool->runs =
		array_grow(spool->runs, spool->nr_runs, &spool->run_capacity, sizeof(*spool->runs));
	/* The last run need not go through the file. */
	spool->runs[spool->nr_runs++] = (struct run){.records = spool->records, .nr = spool->nr};
	spool->records = NULL;
	spool->nr = 0;
	spool->heap = mem_zeroed(spool->nr_runs, sizeof(*spool->heap));
	begin_again(spool);
}

static void skip_one(struct external_sort *spool)
{
	struct run *run = &spool->runs[spool->heap[0]];

	spool->place++;
	if (++run->next == run->nr) {
		spool->heap[0] = spool->heap[--spool->nr_heap];
	}
	sift_down(spool, 0);
}

const void *external_sort_at(struct external_sort *spool, size_t place)
{
	if (place < spool->place) {
		begin_again(spool);
	}
	while (spool->place < place) {
		skip_one(spool);
	}
	return first_of(spool, &spool->runs[spool->heap[0]]);
}

size_t external_sort_nr_added(const struct external_sort *spool)
{
	return spool->nr_added;
}

size_t external_sort_nr(const struct external_sort *spool)
{
	return spool->nr_kept;
}
