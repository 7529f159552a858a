/* SPDX-License-Identifier: Apache-2.0 */
#include "report/kineto/runs.h"

#include <stdlib.h>
#include <unistd.h>

#include "report/util/buf.h"
#include "report/util/temp_file.h"

/* Rows that are read or written at once, of each run. */
#define BUFFER_ROWS 1024u
#define ROW_BYTES   sizeof(struct kineto_row)

struct run {
	uint64_t next, end; /* rows of the file */
	struct kineto_row *buffer;
	size_t nr_buffered, at;
};

struct kineto_runs {
	int fd;	       /* the runs, one after the other, each from its last row to its first */
	int merged_fd; /* all, from the last to the first */
	uint64_t nr_rows;
	struct run *runs;
	size_t nr_runs, capacity;
};

static bool write_rows(int fd, uint64_t first, const struct kineto_row *rows, size_t nr_rows)
{
	return temp_file_write(fd, first * ROW_BYTES, rows, nr_rows * ROW_BYTES);
}

static bool read_rows(int fd, uint64_t first, struct kineto_row *rows, size_t nr_rows)
{
	return temp_file_read(fd, first * ROW_BYTES, rows, nr_rows * ROW_BYTES);
}

struct kineto_runs *kineto_runs_create(void)
{
	struct kineto_runs *runs = mem_zeroed(1, sizeof(*runs));

	runs->fd = temp_file_open();
	runs->merged_fd = runs->fd < 0 ? -1 : temp_file_open();
	if (runs->merged_fd < 0) {
		kineto_runs_destroy(runs);
		return NULL;
	}
	return runs;
}

void kineto_runs_destroy(struct kineto_runs *runs)
{
	if (!runs) {
		return;
	}
	for (size_t i = 0; i < runs->nr_runs; i++) {
		free(runs->runs[i].buffer);
	}
	if (runs->fd >= 0) {
		close(runs->fd);
	}
	if (runs->merged_fd >= 0) {
		close(runs->merged_fd);
	}
	free(runs->runs);
	free(runs);
}

bool kineto_runs_add(struct kineto_runs *runs, size_t nr_rows,
	const struct kineto_row *(*row_at)(const void *context, size_t n), const void *context)
{
	struct kineto_row *buffer = mem_zeroed(BUFFER_ROWS, ROW_BYTES);
	bool is_good = true;

	for (size_t i = 0; i < nr_rows && is_good; i++) {
		buffer[i % BUFFER_ROWS] = *row_at(context, i);
		if (i % BUFFER_ROWS == BUFFER_ROWS - 1 || i + 1 == nr_rows) {
			is_good =
				write_rows(runs->fd, runs->nr_rows + i / BUFFER_ROWS * BUFFER_ROWS,
					buffer, i % BUFFER_ROWS + 1);
		}
	}
	free(buffer);
	if (is_good) {
		runs->runs =
			array_grow(runs->runs, runs->nr_runs, &runs->capacity, sizeof(*runs->runs));
		runs->runs[runs->nr_runs++] =
			(struct run){.next = runs->nr_rows, .end = runs->nr_rows + nr_rows};
		runs->nr_rows += nr_rows;
	}
	return is_good;
}

/* The row of a run that is next, NULL at its end. */
static const struct kineto_row *head(struct kineto_runs *runs, struct run *run, bool *is_good)
{
	if (run->at == run->nr_buffered) {
		uint64_t left = run->end - run->next;

		run->nr_buffered = left < BUFFER_ROWS ? (size_t)left : BUFFER_ROWS;
		run->at = 0;
		if (!run->buffer) {
			run->buffer = mem_zeroed(BUFFER_ROWS, ROW_BYTES);
		}
		if (run->nr_buffered &&
			!read_rows(runs->fd, run->next, run->buffer, run->nr_buffered)) {
			*is_good = false;
			run->nr_buffered = 0;
		}
		run->next += run->nr_buffered;
	}
	return run->at < run->nr_buffered ? &run->buffer[run->at] : NULL;
}

/* The run whose next row is the last of all; NULL at the end. */
static struct run *find_last(struct kineto_runs *runs, bool *is_good)
{
	const struct kineto_row *last = NULL;
	struct run *found = NULL;

	for (size_t i = 0; i < runs->nr_runs; i++) {
		const struct kineto_row *row = head(runs, &runs->runs[i], is_good);

		if (row && (!last || kineto_row_is_before(last, row))) {
			last = row;
			found = &runs->runs[i];
		}
	}
	return found;
}

static bool merge(struct kineto_runs *runs, void (*change)(void *context, struct kineto_row *row),
	void *context)
{
	struct kineto_row *buffer = mem_zeroed(BUFFER_ROWS, ROW_BYTES);
	bool is_good = true;
	uint64_t nr = 0;
	struct run *run;

	while (is_good && (run = find_last(runs, &is_good))) {
		struct kineto_row *row = &buffer[nr % BUFFER_ROWS];

		*row = run->buffer[run->at++];
		change(context, row);
		nr++;
		if (nr % BUFFER_ROWS == 0) {
			is_good =
				write_rows(runs->merged_fd, nr - BUFFER_ROWS, buffer, BUFFER_ROWS);
		}
	}
	is_good = is_good && write_rows(runs->merged_fd, nr / BUFFER_ROWS * BUFFER_ROWS, buffer,
				     nr % BUFFER_ROWS);
	free(buffer);
	return is_good && nr == runs->nr_rows;
}

bool kineto_runs_merge(struct kineto_runs *runs,
	void (*change)(void *context, struct kineto_row *row),
	void (*take)(void *context, const struct kineto_row *row), void *context)
{
	struct kineto_row *buffer;
	uint64_t left = runs->nr_rows;
	bool is_good = merge(runs, change, context);

	buffer = mem_zeroed(BUFFER_ROWS, ROW_BYTES);
	while (left && is_good) {
		size_t nr = left < BUFFER_ROWS ? (size_t)left : BUFFER_ROWS;

		left -= nr;
		is_good = read_rows(runs->merged_fd, left, buffer, nr);
		while (nr-- > 0 && is_good) {
			take(context, &buffer[nr]);
		}
	}
	free(buffer);
	return is_good;
}
