/* SPDX-License-Identifier: Apache-2.0 */
#include "report/replay/critical.h"
#include "report/replay/step_events.h"

#include <stdlib.h>
#include <string.h>

#include "report/ops/queue_depth.h"
#include "test/unit/unit.h"

enum { TIMES = 1500, NR_THREADS = 3, NR_NAMES = 40, MOST = 4000 };

/* More of enum call_role: calls that struct step_event stands for. */
enum { RECORDS_EVENT = 100, STREAM_WAITS };

/* ---- random steps ---- */

struct world {
	struct step_item items[MOST];
	struct step_activity records[MOST];
	struct step_event events[MOST];
	size_t nr_items, nr_records, nr_events;
	uint64_t begin, end;
	bool is_taken[TIMES]; /* some call begins there */
};

static void add_record(struct world *world, struct step_item *call, uint64_t *seed)
{
	struct step_activity *record = &world->records[world->nr_records++];

	call->stream =
		step_stream(1 + (uint32_t)unit_below(seed, 2), 7 + (uint32_t)unit_below(seed, 2));
	call->role = unit_below(seed, 3) ? CALL_LAUNCHES : CALL_WAITS_OWN;
	record->begin = call->begin + unit_below(seed, unit_below(seed, 2) ? 30 : 300);
	record->end = record->begin + unit_below(seed, unit_below(seed, 2) ? 8 : 40);
	if (call->role == CALL_WAITS_OWN && unit_below(seed, 2)) {
		record->begin = call->begin + unit_below(seed, call->end - call->begin);
		record->end = record->begin + unit_below(seed, call->end - record->begin + 1);
	}
	record->call_begin = call->begin;
	record->call_end = call->end;
	record->stream = call->stream;
	record->thread = call->thread;
	record->correlation = call->correlation;
	record->name = 1 + (uint32_t)unit_below(seed, NR_NAMES);
	record->is_copy = unit_below(seed, 3) == 0;
}

static void add_call(struct world *world, struct step_item *call, uint64_t *seed)
{
	static const uint8_t roles[] = {CALL_PLAIN, CALL_WAITS_ALL, CALL_WAITS_CONTEXT,
		CALL_WAITS_STREAM, CALL_WAITS_STREAM, CALL_WAITS_EVENT, RECORDS_EVENT,
		RECORDS_EVENT, RECORDS_EVENT, STREAM_WAITS, STREAM_WAITS, STREAM_WAITS};

	call->is_call = true;
	call->correlation = (uint32_t)call->begin + 1; /* they rise with time */
	world->is_taken[call->begin] = true;
	if (unit_below(seed, 2)) {
		add_record(world, call, seed);
		return;
	}
	call->role = roles[unit_below(seed, sizeof(roles))];
	call->stream =
		step_stream(1 + (uint32_t)unit_below(seed, 2), 7 + (uint32_t)unit_below(seed, 2));
	call->event = (uint32_t)unit_below(seed, 3);
}

/* Items after and in each other, within a time. */
static void add_items(struct world *world, uint32_t thread, uint64_t begin, uint64_t end,
	unsigned int depth, uint64_t *seed)
{
	while (begin + 2 < end && world->nr_items < MOST) {
		struct step_item item = {.thread = thread};

		item.begin =
			begin + unit_below(seed, unit_below(seed, 3) ? 6 : 1 + (end - begin) / 3);
		item.end = item.begin + 1 + unit_below(seed, depth ? 30 : 200);
		item.name = 1 + (uint32_t)unit_below(seed, NR_NAMES);
		if (item.end > end) {
			return;
		}
		begin = item.end;
		if (depth >= 1 && unit_below(seed, 2) && !world->is_taken[item.begin]) {
			add_call(world, &item, seed);
			world->items[world->nr_items++] = item;
			continue;
		}
		item.is_range = unit_below(seed, 6) == 0;
		item.is_waiting = !item.is_range && unit_below(seed, 6) == 0;
		item.is_call = item.is_os = item.is_waiting;
		world->items[world->nr_items++] = item;
		if (depth < 3 && !item.is_waiting) {
			add_items(world, thread, item.begin + unit_below(seed, 2), item.end,
				depth + 1, seed);
		}
	}
}

static int by_correlation(const void *a, const void *b)
{
	const struct step_event *x = a, *y = b;

	return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

static void add_events(struct world *world)
{
	for (size_t i = 0; i < world->nr_items; i++) {
		const struct step_item *item = &world->items[i];

		if (item->role == RECORDS_EVENT || item->role == STREAM_WAITS) {
			world->events[world->nr_events++] =
				(struct step_event){.stream = item->stream,
					.event = item->event,
					.correlation = item->correlation,
					.is_wait = item->role == STREAM_WAITS};
		}
	}
	qsort(world->events, world->nr_events, sizeof(*world->events), by_correlation);
}

static void make_world(struct world *world, uint64_t *seed)
{
	memset(world, 0, sizeof(*world));
	world->begin = 200 + unit_below(seed, 300);
	world->end = world->begin + 300 + unit_below(seed, 600);
	for (uint32_t thread = 1; thread <= NR_THREADS; thread++) {
		uint64_t begin = unit_below(seed, 3) ? 0 : unit_below(seed, TIMES - 100);

		add_items(world, thread, begin, TIMES - 100, unit_below(seed, 2) ? 0 : 1, seed);
	}
	add_events(world);
}

/* ---- the plain way: at each moment all is looked at ---- */

static const struct world *world;
static const struct step_activity *on; /* NULL: on the thread */
static uint32_t thread;

static bool is_later(const struct step_activity *a, const struct step_activity *b)
{
	if (a->call_begin != b->call_begin) {
		return a->call_begin > b->call_begin;
	}
	return a->correlation > b->correlation;
}

static const struct step_activity *launched_before(uint64_t stream, uint64_t time)
{
	const struct step_activity *found = NULL;

	for (size_t i = 0; i < world->nr_records; i++) {
		const struct step_activity *record = &world->records[i];

		if (record->stream == stream && record->call_begin < time &&
			(!found || is_later(record, found))) {
			found = record;
		}
	}
	return found;
}

static const struct step_activity *event_before(uint32_t event, uint64_t time)
{
	const struct step_item *found = NULL;

	for (size_t i = 0; i < world->nr_items; i++) {
		const struct step_item *item = &world->items[i];

		if (item->role == RECORDS_EVENT && item->event == event && item->begin < time &&
			(!found || item->begin > found->begin)) {
			found = item;
		}
	}
	return found ? launched_before(found->stream, found->begin) : NULL;
}

static const struct step_activity *awaited_by(const struct step_item *call)
{
	const struct step_activity *found = NULL;

	for (size_t i = 0; i < world->nr_records; i++) {
		const struct step_activity *record = &world->records[i];
		bool is_it = false;

		switch (call->role) {
		case CALL_WAITS_ALL:
			is_it = record == launched_before(record->stream, call->begin);
			break;
		case CALL_WAITS_CONTEXT:
			is_it = record->stream >> 32 == call->stream >> 32 &&
				record == launched_before(record->stream, call->begin);
			break;
		case CALL_WAITS_STREAM:
			is_it = record == launched_before(call->stream, call->begin);
			break;
		case CALL_WAITS_EVENT:
			is_it = record == event_before(call->event, call->begin);
			break;
		case CALL_WAITS_OWN:
			is_it = record->correlation == call->correlation;
			break;
		default:
			break;
		}
		if (is_it && record->end > call->begin && record->end <= call->end &&
			(!found || record->end > found->end ||
				(record->end == found->end && record->stream < found->stream))) {
			found = record;
		}
	}
	return found;
}

/* The innermost that a thread is in just before `time`. */
static const struct step_item *inner(uint32_t of, uint64_t time, bool is_range)
{
	const struct step_item *found = NULL;

	for (size_t i = 0; i < world->nr_items; i++) {
		const struct step_item *item = &world->items[i];

		if (item->thread == of && item->is_range == is_range && item->begin < time &&
			item->end >= time &&
			(!found || item->begin > found->begin ||
				(item->begin == found->begin && item->end <= found->end))) {
			found = item;
		}
	}
	return found;
}

/* Where the path stands on the device, for what is just before `time`; may leave it. */
static enum critical_kind find_on_device(uint64_t time, uint32_t *name)
{
	const struct step_activity *cause = NULL, *previous;
	uint64_t at = on->begin < time ? on->begin : time, end;

	*name = on->name;
	if (on->begin < time) {
		return on->is_copy ? CRITICAL_COPY : CRITICAL_KERNEL;
	}
	end = on->call_end < at ? on->call_end : at;
	previous = launched_before(on->stream, on->call_begin);
	if (previous && (previous->end < at ? previous->end : at) > end) {
		cause = previous;
		end = previous->end < at ? previous->end : at;
	}
	for (size_t i = world->nr_items; i-- > 0;) {
		const struct step_item *item = &world->items[i];
		const struct step_activity *behind;

		if (item->role != STREAM_WAITS || item->stream != on->stream ||
			item->begin >= on->call_begin ||
			(previous && item->begin < previous->call_begin)) {
			continue;
		}
		behind = event_before(item->event, item->begin);
		if (behind && (behind->end < at ? behind->end : at) > end) {
			cause = behind;
			end = behind->end < at ? behind->end : at;
		}
	}
	if (end < time) {
		return cause ? CRITICAL_STREAM : CRITICAL_LAUNCH;
	}
	thread = on->thread;
	on = cause;
	return NR_CRITICAL_KINDS; /* look again */
}

static enum critical_kind find_on_host(uint64_t time, uint32_t *name)
{
	const struct step_item *item = inner(thread, time, false);
	const struct step_activity *record;

	if (!item) {
		for (uint32_t i = 0; i <= NR_THREADS && !item; i++) {
			thread = i ? i : 1;
			item = inner(thread, time, false);
			if (item && item->is_waiting && thread != 1) { /* for work */
				item = NULL;
			}
		}
	}
	if (!item) {
		thread = 1;
		item = inner(1, time, true);
		*name = item ? item->name : 0;
		return CRITICAL_HOST;
	}
	*name = item->name;
	if (!item->is_call) {
		return CRITICAL_OPERATOR;
	}
	record = awaited_by(item);
	if (record && record->end < time) {
		return CRITICAL_RETURN;
	}
	return CRITICAL_CALL;
}

/* ---- both ---- */

static uint64_t last_begin;
static uint8_t kinds[TIMES];
static uint32_t names[TIMES];

static void take_piece(
	void *context, enum critical_kind kind, uint32_t name, uint64_t begin, uint64_t end)
{
	(void)context;
	ck_assert_uint_eq(end, last_begin);
	ck_assert_uint_lt(begin, end);
	last_begin = begin;
	for (uint64_t t = begin; t < end; t++) {
		kinds[t] = (uint8_t)kind;
		names[t] = name;
	}
}

/* The path of one step against the plain one. */
static void check_step(const struct step_events *step, unsigned int *seen)
{
	const struct step_item *waiting = NULL;

	thread = 1;
	on = NULL;
	for (uint64_t time = step->end; time > step->begin; time--) {
		enum critical_kind kind = NR_CRITICAL_KINDS;
		uint32_t name = 0;

		if (waiting && awaited_by(waiting)->end == time) { /* it could return from here */
			on = awaited_by(waiting);
			waiting = NULL;
		}
		while (kind == NR_CRITICAL_KINDS) {
			kind = on ? find_on_device(time, &name) : find_on_host(time, &name);
		}
		if (kind == CRITICAL_RETURN) {
			waiting = inner(thread, time, false);
		}
		ck_assert_uint_eq(kinds[time - 1], kind);
		ck_assert_uint_eq(names[time - 1], name);
		*seen |= 1u << kind;
	}
}

/* The path of the copy, which may be sorted: as one step, or as two together. */
static void check_world(const struct world *original, uint64_t cut, unsigned int *seen)
{
	static struct world copy;
	struct step_events steps[2];
	size_t nr_steps = cut > original->begin ? 2 : 1;

	for (size_t i = 0; i < nr_steps; i++) {
		steps[i] = (struct step_events){.begin = i ? original->begin : cut,
			.end = i ? cut : original->end,
			.thread = 1,
			.items = copy.items,
			.nr_items = original->nr_items,
			.records = copy.records,
			.nr_records = original->nr_records,
			.events = original->events,
			.nr_events = original->nr_events};
	}
	copy = *original;
	last_begin = original->end;
	critical_run(steps, nr_steps, take_piece, NULL);
	ck_assert_uint_eq(last_begin, original->begin);
	world = original;
	for (size_t i = 0; i < nr_steps; i++) {
		check_step(&steps[i], seen);
	}
}

/* Worlds of one step, or each cut into two at any time within it. */
static void check_worlds(uint64_t seed, bool is_cut)
{
	static struct world random;
	unsigned int seen = 0;

	for (int round = 0; round < 500; round++) {
		uint64_t cut;

		make_world(&random, &seed);
		cut = random.begin;
		if (is_cut) {
			cut += 1 + unit_below(&seed, random.end - random.begin - 1);
		}
		check_world(&random, cut, &seen);
	}
	ck_assert_uint_eq(seen, (1u << NR_CRITICAL_KINDS) - 1);
}

START_TEST(each_moment_goes_to_what_a_look_at_everything_says)
{
	check_worlds(81, false);
}
END_TEST

START_TEST(steps_that_come_together_have_the_paths_that_each_has)
{
	check_worlds(82, true);
}
END_TEST

START_TEST(a_launch_waits_for_room_in_its_queue)
{
	enum { NR = QUEUE_DEPTH_FULL + 2 };
	static struct step_item items[1];
	static struct step_activity records[NR];
	struct step_events step = {.begin = 0,
		.end = 1200,
		.thread = 1,
		.items = items,
		.nr_items = 1,
		.records = records,
		.nr_records = NR};

	/* One runs until 1,100, then 1,000 others that wait already, for 10 each. */
	for (uint32_t i = 0; i < NR; i++) {
		records[i] = (struct step_activity){.begin = i ? 1090 + 10 * i : 0,
			.end = 1100 + 10 * i,
			.call_begin = i,
			.call_end = i + 1,
			.stream = 7,
			.thread = 1,
			.correlation = i + 1,
			.name = 1 + i};
	}
	records[NR - 1].call_begin = 1050;
	records[NR - 1].call_end = 1113;
	items[0] = (struct step_item){.begin = 1050,
		.end = 1113,
		.stream = 7,
		.thread = 1,
		.name = 2000,
		.correlation = NR,
		.role = CALL_LAUNCHES,
		.is_call = true};
	last_begin = step.end;
	critical_run(&step, 1, take_piece, NULL);
	ck_assert_uint_eq(last_begin, 0);
	for (uint64_t t = 0; t < 1200; t++) { /* the call could return as the third one began */
		bool is_device = t < 1110;

		ck_assert_uint_eq(kinds[t], is_device  ? CRITICAL_KERNEL
					    : t < 1113 ? CRITICAL_RETURN
						       : CRITICAL_HOST);
		ck_assert_uint_eq(names[t], is_device ? (t < 1100 ? 1 : 2) : t < 1113 ? 2000 : 0);
	}
	/* With one less in the queue it is just a call. */
	records[1].begin = 1040;
	last_begin = step.end;
	critical_run(&step, 1, take_piece, NULL);
	ck_assert_uint_eq(last_begin, 0);
	ck_assert_uint_eq(kinds[1112], CRITICAL_CALL);
	ck_assert_uint_eq(kinds[1050], CRITICAL_CALL);
	ck_assert_uint_eq(kinds[1049], CRITICAL_HOST);
}
END_TEST

UNIT_SUITE("report/critical", each_moment_goes_to_what_a_look_at_everything_says,
	steps_that_come_together_have_the_paths_that_each_has, a_launch_waits_for_room_in_its_queue)
