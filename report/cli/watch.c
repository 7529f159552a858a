/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each look reads on in the streams that it knows, then opens new ones. A process that has ended
 * without closing its stream is opened once more, now with its rings. Only the newest run stays
 * open; processes of older runs become entries of `older`, so that they are recognised.
 */
#include "report/session/importers.h"
#include "report/cli/watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "report/stream/dumpdir.h"
#include "report/util/err.h"
#include "report/stream/block_index.h"

#define PART ".part"
/* Flushes after a window's end until CUPTI's records of it are in the stream, too. */
#define LATE_GROUPS 2u

uint64_t watch_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- processes ---- */

/* Returns the length of a stream's name without .part, which it loses when it is closed. */
static size_t name_length(const char *path)
{
	size_t length = strlen(path), part = strlen(PART);

	return length > part && !strcmp(path + length - part, PART) ? length - part : length;
}

static bool are_same(const char *a, const char *b)
{
	return name_length(a) == name_length(b) && !memcmp(a, b, name_length(a));
}

static bool is_known(const struct watch *watch, const char *path)
{
	for (size_t i = 0; i < watch->nr_processes; i++) {
		if (are_same(watch->processes[i]->path, path)) {
			return true;
		}
	}
	for (size_t i = 0; i < watch->nr_older; i++) {
		if (are_same(string_pool_text(watch->older[i].path, NULL), path)) {
			return true;
		}
	}
	return false;
}

/* Has the process written its first checkpoint? The rows before that say who it is. */
static bool has_begun(const struct stream *stream)
{
	const struct stream_table *table = stream_table(stream, GPROF_TABLE_checkpoint);

	return !stream->is_trace && !stream->is_schema_assumed && table && table->nr_rows;
}

static void destroy(struct watch_process *p)
{
	process_destroy(p->process);
	stream_close(p->stream);
	free(p->closed);
	free(p->path);
	free(p);
}

/*
 * Returns NULL if the process has just begun: the next look tries again. If it has ended without
 * closing its stream, the rest of its rows is in its rings.
 */
static struct watch_process *make(const char *path)
{
	struct watch_process *p;
	struct stream *stream;

	if (stream_open(&stream, path, stream_importers)) {
		return NULL;
	}
	if (!has_begun(stream)) {
		stream_close(stream);
		return NULL;
	}
	p = mem_zeroed(1, sizeof(*p));
	p->process = process_create(stream);
	p->path = mem_text(path);
	p->ending = process_exit_state(p->process);
	memset(p->gpu_percent, -1, sizeof(p->gpu_percent));
	if (p->ending == PROCESS_EXIT_ENDED) {
		watch_read(p, p->process->stream);
		p->hangs.seen = p->hangs.began;
		return p;
	}
	if (stream_open(&p->stream, path, stream_importers)) { /* renamed just now */
		destroy(p);
		return NULL;
	}
	stream_index_follow(p->stream);
	watch_read(p, p->stream);
	p->hangs.seen = p->hangs.ended;
	return p;
}

/* Opens the stream of a process once more that has ended without closing it. */
static void read_rest(struct watch_process **process)
{
	struct watch_process *whole = make((*process)->path);

	if (whole) {
		whole->ending = PROCESS_EXIT_ENDED;
		whole->slice = (*process)->slice;
		whole->hangs.seen = (*process)->hangs.seen;
		whole->hangs.reported = (*process)->hangs.reported;
		destroy(*process);
		*process = whole;
	}
}

static void look_at(struct watch_process **process)
{
	struct watch_process *p = *process;
	enum process_exit_state ending;
	struct stat status;

	if (p->ending == PROCESS_EXIT_ENDED || !p->stream) {
		return;
	}
	/* First, so that what is read afterwards is all that it wrote. */
	ending = process_exit_state(p->process);
	/* In a container: it was seen, and is no more. */
	p->ending = p->ending == PROCESS_EXIT_RUNS && ending == PROCESS_EXIT_UNKNOWN
			    ? PROCESS_EXIT_ENDED
			    : ending;
	if (stat(p->path, &status)) {
		p->path[name_length(p->path)] = '\0';
		p->ending = PROCESS_EXIT_ENDED;
		if (stat(p->path, &status)) {
			return;
		}
	} else if (p->ending == PROCESS_EXIT_ENDED) {
		read_rest(process);
		return;
	}
	stream_index_grow(p->stream, (uint64_t)status.st_size);
	watch_read(p, p->stream);
}

static uint64_t all_steps(const struct watch *watch)
{
	uint64_t steps = 0;

	for (size_t i = 0; i < watch->nr_processes; i++) {
		steps += watch->processes[i]->steps;
	}
	return steps;
}

/* Describes a process for runs_group(). One that runs has no end yet. */
static void describe(struct runs_process *into, const struct watch_process *p)
{
	*into = runs_describe(p->process);
	into->end_ns = p->ending == PROCESS_EXIT_RUNS ? UINT64_MAX : into->end_ns;
}

/* Keeps the processes of the newest run. Those behind the first nr_before are new. */
static void keep_newest_run(struct watch *watch, size_t nr_before)
{
	size_t nr = watch->nr_older + watch->nr_processes, nr_kept = 0, newest;
	bool has_old = false; /* some that were there before stay */
	struct runs_process *all = mem_zeroed(nr, sizeof(*all));

	for (size_t i = 0; i < watch->nr_older; i++) {
		all[i] = watch->older[i];
	}
	for (size_t i = 0; i < watch->nr_processes; i++) {
		describe(&all[watch->nr_older + i], watch->processes[i]);
	}
	newest = runs_group(all, nr);
	for (size_t i = 0, at = watch->nr_older; i < watch->nr_processes; i++, at++) {
		if (all[at].run == newest) {
			has_old |= i < nr_before;
			watch->processes[nr_kept++] = watch->processes[i];
			continue;
		}
		watch->older = array_grow(watch->older, watch->nr_older, &watch->older_capacity,
			sizeof(*watch->older));
		watch->older[watch->nr_older++] = all[at];
		destroy(watch->processes[i]);
	}
	if (!has_old) {
		watch->reported = 0; /* the run has just begun */
	}
	watch->nr_processes = nr_kept;
	free(all);
}

/* Returns the newest window that any process has closed. */
static uint32_t newest_closed(const struct watch *watch)
{
	uint32_t newest = 0;

	for (size_t i = 0; i < watch->nr_processes; i++) {
		const struct watch_process *p = watch->processes[i];

		if (p->nr_closed && p->closed[p->nr_closed - 1].number > newest) {
			newest = p->closed[p->nr_closed - 1].number;
		}
	}
	return newest;
}

int watch_look(struct watch *watch)
{
	struct dumpdir dumpdir = {0};
	uint64_t before = all_steps(watch);
	bool is_first = !watch->nr_processes;
	size_t nr_before = watch->nr_processes;
	int rc = dumpdir_add(&dumpdir, watch->dir);

	for (size_t i = 0; i < watch->nr_processes; i++) {
		look_at(&watch->processes[i]);
	}
	for (size_t i = 0; !rc && i < dumpdir.nr_paths; i++) {
		struct watch_process *p =
			is_known(watch, dumpdir.paths[i]) ? NULL : make(dumpdir.paths[i]);

		if (p) {
			watch->processes = array_grow(watch->processes, watch->nr_processes,
				&watch->capacity, sizeof(*watch->processes));
			watch->processes[watch->nr_processes++] = p;
		}
	}
	dumpdir_fini(&dumpdir);
	if (watch->nr_processes > nr_before) {
		keep_newest_run(watch, nr_before);
	}
	/* Windows that were closed before the first look are not reported. */
	if (!watch->has_looked) {
		watch->has_looked = true;
		watch->reported = newest_closed(watch);
	}
	if (is_first || all_steps(watch) != before) {
		watch->moved_ns = watch_now_ns();
	}
	return rc;
}

bool watch_is_over(const struct watch *watch)
{
	for (size_t i = 0; i < watch->nr_processes; i++) {
		if (watch->processes[i]->ending == PROCESS_EXIT_RUNS) {
			return false;
		}
	}
	return watch->nr_processes > 0;
}

void watch_begin_slice(struct watch *watch)
{
	for (size_t i = 0; i < watch->nr_processes; i++) {
		watch->processes[i]->slice = (struct watch_slice){0};
	}
}

void watch_fini(struct watch *watch)
{
	for (size_t i = 0; i < watch->nr_processes; i++) {
		destroy(watch->processes[i]);
	}
	free(watch->processes);
	free(watch->older);
	*watch = (struct watch){0};
}

/* ---- windows ---- */

enum window_state { WINDOW_NONE, WINDOW_OPEN, WINDOW_CLOSED };

static enum window_state window_state(const struct watch_process *p, uint32_t number)
{
	bool has_ended = p->ending == PROCESS_EXIT_ENDED;

	for (size_t i = p->nr_closed; i-- > 0;) {
		const struct watch_window *closed = &p->closed[i];

		if (closed->number == number) {
			return has_ended || p->nr_groups >= closed->group + LATE_GROUPS
				       ? WINDOW_CLOSED
				       : WINDOW_OPEN;
		}
	}
	if (!p->is_open || p->window != number) {
		return WINDOW_NONE;
	}
	return has_ended ? WINDOW_CLOSED : WINDOW_OPEN;
}

bool watch_take_window(struct watch *watch, uint32_t *number)
{
	size_t nr_closed = 0;

	for (size_t i = 0; i < watch->nr_processes; i++) {
		const struct watch_process *p = watch->processes[i];
		enum window_state state = window_state(p, watch->reported + 1);

		/* Children that load data have windows, but no steps that would close them. */
		if (state == WINDOW_OPEN && (p->steps || watch->nr_processes == 1)) {
			return false;
		}
		nr_closed += state == WINDOW_CLOSED;
	}
	if (!nr_closed) {
		return false;
	}
	*number = ++watch->reported;
	return true;
}
