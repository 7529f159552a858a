/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts optimizers in one of three ways: by the fetches between them, by their names, or by the
 * turns of two with one name. `held` keeps ends that may turn out to be inside a step; later events
 * give them out or drop them.
 */
#include "collector/step/step_auto.h"

#include <string.h>

#include "collector/util/hash.h"

_Static_assert(STEP_AUTO_NAMES == 64, "step_auto.seen has a bit for each name");
/* A program that empties gradients will step, but may fetch often before it does. */
#define LONG_PATIENCE 1000u

enum range { RANGE_OTHER, RANGE_FETCH, RANGE_OPTIMIZER, RANGE_ZERO_GRAD };

static bool begins_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static enum range classify(const char *name)
{
	if (begins_with(name, "Optimizer.step#")) {
		return RANGE_OPTIMIZER;
	}
	if (begins_with(name, "enumerate(DataLoader)#") && strstr(name, ".__next__")) {
		return RANGE_FETCH;
	}
	return begins_with(name, "Optimizer.zero_grad#") ? RANGE_ZERO_GRAD : RANGE_OTHER;
}

void step_auto_init(struct step_auto *a, enum gprof_step_rule wanted)
{
	*a = (struct step_auto){
		.wanted = wanted, .nr_wanted = 1, .turns.nr_needed = STEP_AUTO_TURNS};
}

bool step_auto_knows(const char *name, struct step_auto_range *range)
{
	range->kind = classify(name);
	range->name = range->kind == RANGE_OTHER ? 0 : hash_text(name);
	return range->kind != RANGE_OTHER;
}

bool step_auto_is_fetch(const char *name)
{
	return classify(name) == RANGE_FETCH;
}

static void add_end(struct step_auto_ends *ends, uint64_t time)
{
	if (ends->nr < sizeof(ends->times) / sizeof(ends->times[0])) {
		ends->times[ends->nr++] = time;
	}
}

static void give_held(struct step_auto *a, struct step_auto_ends *ends)
{
	for (uint32_t i = 0; i < a->held.nr; i++) {
		add_end(ends, a->held.times[i]);
	}
	a->held.nr = 0;
}

/* ---- optimizers, by the fetches between them ---- */

/* After this many iterations without them, missing optimizers will not return. */
static bool has_missed_long(struct step_auto *a)
{
	a->was_short = true;
	return ++a->nr_short >= STEP_AUTO_PATIENCE;
}

static void end_iteration(struct step_auto *a, uint64_t fetched_at, struct step_auto_ends *ends)
{
	if (a->nr_seen && a->nr_seen < a->nr_wanted) {
		add_end(ends, fetched_at);
		if (has_missed_long(a)) {
			a->nr_wanted = a->nr_seen;
			a->nr_short = 0;
		}
	} else if (a->nr_seen) {
		a->nr_short = 0;
	}
	a->nr_seen = 0;
	a->held.nr = 0;
}

static void count_by_fetch(struct step_auto *a, uint64_t end, struct step_auto_ends *ends)
{
	a->nr_seen++;
	if (a->nr_seen == a->nr_wanted) {
		add_end(ends, end);
	} else if (a->nr_seen > a->nr_wanted) {
		a->nr_wanted = a->nr_seen;
		add_end(&a->held, end);
	}
	if (a->held.nr == STEP_AUTO_PATIENCE) {
		a->has_left_loader = true;
		give_held(a, ends);
	}
}

/* ---- optimizers, by their names ---- */

static uint32_t find_name(const struct step_auto *a, uint64_t name)
{
	uint32_t i = 0;

	while (i < a->nr_names && a->names[i] != name) {
		i++;
	}
	return i;
}

static void begin_group(struct step_auto *a)
{
	a->seen = 0;
	a->nr_seen = 0;
}

/* The group is what was seen of it, and no more. */
static void shrink_group(struct step_auto *a)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < a->nr_names; i++) {
		if (a->seen >> i & 1) {
			a->names[nr++] = a->names[i];
		}
	}
	a->nr_names = nr;
	a->nr_short = 0;
}

/*
 * A name that comes again before its group is complete ends the step where the last optimizer
 * ended. After STEP_AUTO_PATIENCE such steps the missing optimizers leave the group.
 */
static void count_by_name(
	struct step_auto *a, uint64_t name, uint64_t end, struct step_auto_ends *ends)
{
	uint32_t at = find_name(a, name);

	if (at < a->nr_names && a->seen >> at & 1) {
		add_end(ends, a->last_end);
		if (has_missed_long(a)) {
			shrink_group(a);
			at = find_name(a, name);
		}
		begin_group(a);
	}
	if (at == a->nr_names) {
		bool is_late = a->nr_names && !a->nr_seen; /* of the step before */

		if (at == STEP_AUTO_NAMES) {
			a->has_more_names = true;
			return;
		}
		a->names[a->nr_names++] = name;
		if (is_late) {
			return;
		}
	}
	a->seen |= 1ull << at;
	if (++a->nr_seen == a->nr_names) {
		add_end(ends, end);
		a->nr_short = 0;
		begin_group(a);
	}
}

/* ---- two optimizers of the same name ---- */

/* Returns true if every optimizer so far has this name, so that only turns tell them apart. */
static bool is_only_name(struct step_auto *a, uint64_t name)
{
	if (!a->nr_names) {
		a->names[a->nr_names++] = name;
	}
	return a->nr_names == 1 && a->names[0] == name;
}

static void leave_turns(
	struct step_auto *a, bool is_second, uint64_t end, struct step_auto_ends *ends)
{
	if (!is_second) {
		add_end(ends, end);
	}
	a->turns = (struct step_auto_turns){.nr_needed = STEP_AUTO_DOUBTED};
}

/* The second one ends the step, or if it is missing the first one. */
static void take_turn(struct step_auto *a, uint64_t key, uint64_t end, struct step_auto_ends *ends)
{
	struct step_auto_turns *turns = &a->turns;
	bool is_first = key == turns->first;
	bool is_second = key == turns->second || (!is_first && turns->is_second_next);

	if ((is_first || key == turns->second) && is_second == turns->is_second_next) {
		turns->doubt -= turns->doubt > 0;
	} else {
		turns->doubt += 2;
	}
	if (!is_second && turns->is_second_next) {
		add_end(ends, a->last_end);
	}
	if (is_second) {
		add_end(ends, end);
	}
	turns->is_second_next = !is_second;
	if (turns->doubt > STEP_AUTO_PATIENCE) {
		leave_turns(a, is_second, end, ends);
	}
}

/* Each step of the optimizer is one until they are seen to take turns. */
static void count_by_turn(
	struct step_auto *a, uint64_t key, uint64_t end, struct step_auto_ends *ends)
{
	struct step_auto_turns *turns = &a->turns;
	bool is_turn = key == turns->before && key != turns->last;

	if (turns->are_known) {
		take_turn(a, key, end, ends);
		return;
	}
	turns->first_end = turns->last ? turns->first_end : end;
	turns->nr = is_turn ? turns->nr + 1 : 0;
	if (!is_turn && (turns->before || key == turns->last) &&
		turns->nr_needed < STEP_AUTO_LATER_TURNS) {
		turns->nr_needed = STEP_AUTO_LATER_TURNS;
	}
	if (turns->nr == turns->nr_needed) {
		turns->first = turns->last;
		turns->second = key;
		turns->are_known = true;
		a->held.nr = 0; /* where the first of the two ended, in the middle of a step */
	} else {
		give_held(a, ends);
	}
	add_end(turns->nr + 1 == turns->nr_needed ? &a->held : ends, end);
	turns->before = turns->last;
	turns->last = key;
}

/* ---- what happens ---- */

static bool has_loader(const struct step_auto *a)
{
	return a->nr_fetches && !a->has_left_loader;
}

/*
 * key: the name, and how many parameters got a gradient since the last optimizer. Bit 63 keeps it
 * from being 0, which means none.
 */
static void take_optimizer(
	struct step_auto *a, const struct step_auto_range *range, struct step_auto_ends *ends)
{
	uint64_t key = (range->name ^ (range->nr_gradients - a->nr_gradients)) | 1ull << 63;

	if (a->rule != GPROF_STEP_OPTIMIZER) {
		a->rule = GPROF_STEP_OPTIMIZER;
		a->held.nr = 0;
	}
	if (has_loader(a)) {
		count_by_fetch(a, range->end, ends);
		if (a->has_left_loader) {
			begin_group(a);
			a->names[0] = range->name;
			a->nr_names = 1;
		}
	} else if (range->begin <= a->last_begin && range->name == a->last_name) {
		/* One that contains the one before: the same step once more. */
	} else if (is_only_name(a, range->name)) {
		count_by_turn(a, key, range->end, ends);
	} else {
		give_held(a, ends);
		count_by_name(a, range->name, range->end, ends);
	}
	a->nr_gradients = range->nr_gradients;
	a->last_name = range->name;
	a->last_begin = range->begin;
	a->last_end = range->end;
}

static void count_fetches(struct step_auto *a, uint64_t begin, struct step_auto_ends *ends)
{
	uint32_t patience = a->has_zero_grad ? LONG_PATIENCE : STEP_AUTO_PATIENCE;

	if (a->nr_fetches == 1) {
		return; /* begins the first step */
	}
	if (a->rule == GPROF_STEP_DATALOADER) {
		add_end(ends, begin);
		return;
	}
	if (a->has_zero_grad) {
		a->held.nr = 0; /* too many to report them all later */
	}
	add_end(&a->held, begin);
	if (a->wanted == GPROF_STEP_DATALOADER || a->nr_fetches > patience) {
		a->rule = GPROF_STEP_DATALOADER;
		give_held(a, ends);
	}
}

static void take_fetch(struct step_auto *a, uint64_t begin, struct step_auto_ends *ends)
{
	if (a->nr_fetches && begin <= a->fetched_at) {
		return; /* a loader that fetches from another one, which has just been counted */
	}
	a->fetched_at = begin;
	a->nr_fetches++;
	if (a->rule == GPROF_STEP_OPTIMIZER) {
		if (!a->has_left_loader) {
			end_iteration(a, begin, ends);
		}
	} else if (a->wanted != GPROF_STEP_OPTIMIZER) {
		count_fetches(a, begin, ends);
	}
}

void step_auto_range(
	struct step_auto *a, const struct step_auto_range *range, struct step_auto_ends *ends)
{
	if (a->rule == GPROF_STEP_CALL) {
		return;
	}
	if (range->kind == RANGE_OPTIMIZER && a->wanted != GPROF_STEP_DATALOADER) {
		take_optimizer(a, range, ends);
	} else if (range->kind == RANGE_FETCH) {
		take_fetch(a, range->begin, ends);
	} else if (range->kind == RANGE_ZERO_GRAD) {
		a->has_zero_grad = true;
	}
}

bool step_auto_call(struct step_auto *a)
{
	bool has_ended = a->rule == GPROF_STEP_OPTIMIZER || a->rule == GPROF_STEP_DATALOADER;

	if (a->wanted) {
		return false;
	}
	a->rule = GPROF_STEP_CALL;
	return !has_ended;
}

bool step_auto_period(struct step_auto *a, uint32_t confidence)
{
	if (a->wanted || a->nr_fetches || a->has_zero_grad ||
		(a->rule && a->rule != GPROF_STEP_PERIOD)) {
		return false;
	}
	a->rule = GPROF_STEP_PERIOD;
	a->period_confidence = confidence;
	return true;
}

/* ---- what is said about it ---- */

/* The first case that applies is the answer, so doubts come before good signs. */
static struct step_auto_verdict optimizer_verdict(const struct step_auto *a)
{
	const char *why = "every step of the optimizer; two of that name in one iteration would "
			  "look like two steps";
	uint64_t inner_end = 0;
	uint32_t confidence = 90;

	if (a->has_left_loader) {
		why = "every step of the optimizer, of which many belong to one fetch from the "
		      "data loader";
		confidence = 70;
	} else if (a->has_more_names) {
		why = "the last of 64 optimizers of different names; there are more, and some "
		      "may step after it";
		confidence = 70;
	} else if (a->was_short) {
		why = "groups of optimizer steps, of which some lack an optimizer";
		confidence = 80;
	} else if (a->nr_fetches && a->nr_wanted == 1) {
		why = "every step of the optimizer, with new data for each";
		confidence = 100;
	} else if (a->nr_fetches) {
		why = "the last of several optimizer steps between two fetches from the data "
		      "loader";
		confidence = 95;
	} else if (a->nr_names > 1) {
		why = "the last of several optimizers of different names";
	} else if (a->turns.are_known) {
		why = "every second step of the optimizer: two of the same name take turns, by the "
		      "number of parameters with gradients";
		confidence = 80;
		inner_end = a->turns.nr_needed == STEP_AUTO_TURNS ? a->turns.first_end : 0;
	}
	return (struct step_auto_verdict){GPROF_STEP_OPTIMIZER, confidence, why, inner_end};
}

struct step_auto_verdict step_auto_verdict(const struct step_auto *a)
{
	if (a->rule == GPROF_STEP_OPTIMIZER) {
		return optimizer_verdict(a);
	}
	if (a->rule == GPROF_STEP_DATALOADER) {
		return (struct step_auto_verdict){a->rule, 90,
			"every fetch from the data loader, also the one that finds its end; no "
			"optimizer steps",
			0};
	}
	if (a->rule == GPROF_STEP_CALL) {
		return (struct step_auto_verdict){
			a->rule, 100, "the program calls gprof_step()", 0};
	}
	if (a->rule == GPROF_STEP_PERIOD) {
		return (struct step_auto_verdict){a->rule, a->period_confidence,
			"the period of the launches; the program marks nothing", 0};
	}
	return (struct step_auto_verdict){0, 0,
		"neither gprof_step(), nor an optimizer, nor a data loader was seen, nor a clear "
		"period of the launches; name a range: GPROF_STEP=nvtx:NAME",
		0};
}
