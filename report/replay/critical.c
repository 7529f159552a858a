/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the critical path of a step from its end to its begin, for the view critical_path. It is
 * at one of two kinds of points: on a thread, or on an activity of a device. From each,
 * dependencies.c says what it waited for, and the path moves there. Every move goes back in time
 * and hands out the piece in between, so pieces never overlap and leave no hole.
 *
 *   thread   ..[op ][launch]......[sync            ]..| end of the step
 *                         \                     /
 *   stream                 `--------[ kernel   ]
 *
 *   pieces    op, launch, launch delay, kernel, return of the wait, host; from right to left
 */
#include "report/replay/critical.h"

#include "report/replay/dependencies.h"

const char *const critical_kind_names[NR_CRITICAL_KINDS] = {
	[CRITICAL_OPERATOR] = "operator",
	[CRITICAL_HOST] = "host, no operator",
	[CRITICAL_CALL] = "API call",
	[CRITICAL_RETURN] = "return of a wait",
	[CRITICAL_LAUNCH] = "launch delay",
	[CRITICAL_STREAM] = "stream delay",
	[CRITICAL_KERNEL] = "kernel",
	[CRITICAL_COPY] = "copy",
};

struct path {
	const struct step_events *step;
	struct dependencies dependencies;
	uint64_t now;
	uint32_t thread;		    /* on it, if not on a device */
	const struct step_activity *record; /* on it, unless NULL */
	void (*take)(void *context, enum critical_kind kind, uint32_t name, uint64_t begin,
		uint64_t end);
	void *context;
};

/* Hands out the piece from `begin` until now, and moves now there. */
static void go_back(struct path *path, enum critical_kind kind, uint32_t name, uint64_t begin)
{
	begin = begin > path->step->begin ? begin : path->step->begin;
	if (begin < path->now) {
		path->take(path->context, kind, name, begin, path->now);
		path->now = begin;
	}
}

/* ---- on the host ---- */

static bool is_in(const struct host_stretch *stretch, uint64_t now)
{
	return stretch && stretch->end >= now;
}

/*
 * No thread was in anything since `last`. The piece has the name of the range that the loop's
 * thread is in, if there is one.
 */
static void go_back_in_range(struct path *path, uint64_t last)
{
	const struct host_stretch *range =
		host_timeline_find(&path->dependencies.ranges, path->step->thread, path->now);
	uint32_t name = 0;

	if (is_in(range, path->now)) {
		name = range->item->name;
		last = range->begin > last ? range->begin : last;
	} else if (range) {
		last = range->end > last ? range->end : last;
	}
	go_back(path, CRITICAL_HOST, name, last);
}

/*
 * Returns the last stretch of a thread up to now, or NULL. Of other threads than the loop's, those
 * do not count in which they wait for work; none is sought that ends before `last`.
 */
static const struct host_stretch *last_work(struct path *path, size_t i, uint64_t last)
{
	struct host_timeline *host = &path->dependencies.host;
	const struct host_stretch *first = &host->stretches[host->threads[i].first];
	const struct host_stretch *stretch = host_timeline_find_at(host, i, path->now);

	if (host->threads[i].thread == path->step->thread) {
		return stretch;
	}
	while (stretch && stretch->item->is_waiting && stretch->end > last) {
		stretch = stretch > first ? stretch - 1 : NULL;
	}
	return stretch && !stretch->item->is_waiting ? stretch : NULL;
}

/*
 * The thread is in nothing. Moves to another thread that is in something; if there is none, goes
 * back to the time when a thread last was.
 */
static void leave_thread(struct path *path)
{
	struct host_timeline *host = &path->dependencies.host;
	const struct host_stretch *stretch =
		host_timeline_find(host, path->step->thread, path->now);
	uint64_t last = path->step->begin;

	path->thread = path->step->thread;
	if (is_in(stretch, path->now)) {
		return;
	}
	last = stretch && stretch->end > last ? stretch->end : last;
	for (size_t i = 0; i < host->nr_threads; i++) {
		stretch = last_work(path, i, last);
		if (is_in(stretch, path->now)) {
			path->thread = host->threads[i].thread;
			return;
		}
		last = stretch && stretch->end > last ? stretch->end : last;
	}
	go_back_in_range(path, last);
}

/*
 * A call that waited is cut in two: its return, from the end of what it waited for, and the rest,
 * which the path leaves for that work.
 */
static void go_on_host(struct path *path)
{
	const struct host_stretch *stretch =
		host_timeline_find(&path->dependencies.host, path->thread, path->now);
	struct awaited awaited = {0};

	if (!is_in(stretch, path->now)) {
		leave_thread(path);
		return;
	}
	if (stretch->item->is_call) {
		awaited = dependencies_awaited(&path->dependencies, stretch->item);
	}
	if (awaited.record && awaited.time < path->now && awaited.time >= stretch->begin) {
		go_back(path, CRITICAL_RETURN, stretch->item->name, awaited.time);
		path->record = awaited.record;
		return;
	}
	go_back(path, stretch->item->is_call ? CRITICAL_CALL : CRITICAL_OPERATOR,
		stretch->item->name, stretch->begin);
}

/* ---- on a device ---- */

/* The cause that let a record begin: NULL is its launch. */
struct cause {
	const struct step_activity *record;
	uint64_t end; /* not behind its begin */
};

static void consider(struct cause *cause, const struct step_activity *record, uint64_t begin)
{
	uint64_t end = record->end < begin ? record->end : begin;

	if (end > cause->end) {
		*cause = (struct cause){record, end};
	}
}

/*
 * The last cause to end is the one that counts; at equal ends the launch, which is compared
 * first.
 */
static void go_on_device(struct path *path)
{
	const struct step_activity *record = path->record;
	struct cause cause = {0};

	go_back(path, record->is_copy ? CRITICAL_COPY : CRITICAL_KERNEL, record->name,
		record->begin);
	cause.end = record->call_end < path->now ? record->call_end : path->now;
	dependencies_find_causes(&path->dependencies, record);
	for (size_t i = 0; i < path->dependencies.nr_causes; i++) {
		consider(&cause, path->dependencies.causes[i], path->now);
	}
	go_back(path, cause.record ? CRITICAL_STREAM : CRITICAL_LAUNCH, record->name, cause.end);
	path->record = cause.record;
	path->thread = record->thread;
}

/* The activity that a recording ends with, or NULL: then it ends on the host. */
static const struct step_activity *last_activity(
	const struct dependencies *dependencies, const struct step_events *step)
{
	for (size_t i = 0; i < dependencies->nr_records && step->is_recording; i++) {
		if (dependencies->records[i].end == step->end) {
			return &dependencies->records[i];
		}
	}
	return NULL;
}

static void run_step(struct path *path, const struct step_events *step)
{
	path->step = step;
	path->now = step->end;
	path->thread = step->thread;
	path->record = last_activity(&path->dependencies, step);
	while (path->now > step->begin) {
		if (path->record) {
			go_on_device(path);
		} else {
			go_on_host(path);
		}
	}
}

void critical_run(struct step_events *steps, size_t nr_steps,
	void (*take)(void *context, enum critical_kind kind, uint32_t name, uint64_t begin,
		uint64_t end),
	void *context)
{
	struct step_events *first = &steps[nr_steps - 1];
	struct path path = {.take = take, .context = context};

	dependencies_init(&path.dependencies, first, first->begin);
	for (size_t i = 0; i < nr_steps; i++) {
		run_step(&path, &steps[i]);
	}
	dependencies_fini(&path.dependencies);
}
