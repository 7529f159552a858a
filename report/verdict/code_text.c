/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verdict/code_text.h"

#include <string.h>

#include "report/util/string_pool.h"
#include "report/util/text.h"

/* A thread that was on a CPU for a smaller share of the time mostly waited. */
#define MIN_CODE_SHARE 0.5

/* Of the waits of a cause, a line with this share is said to be where less is to be waited. */
#define MIN_PCT_OF_ALL_WAITS 90

/* The columns of a file or the like that a wait is for. */
#define OBJECT_WIDTH 32u

/* Of the waits at a line for files, one is named that has this share. */
#define MIN_OBJECT_SHARE 0.5

/*
 * A sentence that does not fit cuts a place down to so many columns; one that waits for an object
 * leaves that out first where even the number of the line would not remain.
 */
#define MIN_CODE_WIDTH	 12u
#define MIN_LINE_WIDTH	 20u
#define MIN_OBJECT_WIDTH 16u

static const struct code_form widest = {.has_share = true,
	.has_function = true,
	.width = VERDICT_CODE_WIDTH,
	.object_width = OBJECT_WIDTH};

/* The number of a line is worth more than the name of its function. */
bool code_form_narrow(struct code_form *form)
{
	if (form->has_share && !form->keeps_share) {
		form->has_share = false;
	} else if (form->object_width > MIN_OBJECT_WIDTH) {
		form->object_width -= 4;
	} else if (form->has_function) {
		form->has_function = false;
	} else if (form->width > (form->object_width ? MIN_LINE_WIDTH : MIN_CODE_WIDTH)) {
		form->width--;
	} else if (form->object_width) {
		form->object_width = 0;
		form->width = VERDICT_CODE_WIDTH;
	} else if (form->has_share) {
		form->has_share = false;
	} else {
		return false;
	}
	return true;
}

/* Returns what the cause costs in all steps that count. */
static double time_of(const struct verdict *verdict, const struct verdict_finding *finding)
{
	size_t nr_steps = verdict->figures.nr_step_rows;

	return finding->reach_ns * (double)(nr_steps ? nr_steps : 1);
}

/* Gaps that waits for the GPU opened count where these are not what the time would go with. */
static bool counts_after_waits(const struct verdict *verdict, enum code_part part)
{
	return part == CODE_USER && verdict->after_waits > 0;
}

/* ---- CPU samples ---- */

double code_found_pct(const struct code_found *found, size_t i)
{
	return found->nr ? 100 * (double)found->top[i].sum.nr / (double)found->nr : 0;
}

/* Keeps the order in which places were found where they have the same number of samples. */
static void add_code_place(struct code_found *found, const struct code_place *place)
{
	size_t at = NR_CODE_PLACES;

	found->nr += place->sum.nr;
	while (at && place->sum.nr > found->top[at - 1].sum.nr) {
		at--;
		if (at + 1 < NR_CODE_PLACES) {
			found->top[at + 1] = found->top[at];
		}
	}
	if (at < NR_CODE_PLACES) {
		found->top[at] = *place;
	}
}

/* Sums the samples of all processes that count. */
static struct code_found find_code(
	const struct verdict *verdict, const struct verdict_finding *finding, enum code_part part)
{
	double least_ns = MIN_CODE_SHARE * time_of(verdict, finding);
	struct code_found found = {.is_waiting = true};
	struct code_sum all = {0};
	struct idmap places;
	uint64_t period_ns = 0;

	idmap_init(&places, sizeof(struct code_place));
	for (size_t i = 0; i < verdict->headline.nr_processes; i++) {
		const struct headline_process *at = &verdict->headline.processes[i];

		if (at->is_main && at->code) {
			code_samples_sum(at->code, part, &places, &all);
			if (counts_after_waits(verdict, part)) {
				code_samples_sum(at->code, CODE_AFTER_WAIT, &places, &all);
			}
			period_ns = code_samples_period_ns(at->code);
		}
		/* Missing samples do not show that a thread waited. */
		if (at->is_main && (!at->code || !code_samples_period_ns(at->code) ||
					   process_missing(at->process))) {
			found.is_waiting = false;
		}
	}
	for (size_t i = 0; i < places.nr; i++) {
		add_code_place(&found, idmap_at(&places, i));
	}
	idmap_fini(&places);
	found.ns = (double)all.ns;
	found.has_place = found.nr >= CODE_PLACE_MIN_SAMPLES &&
			  code_found_pct(&found, 0) >= CODE_PLACE_MIN_PCT && found.ns >= least_ns;
	found.is_waiting = found.is_waiting && period_ns &&
			   least_ns >= CODE_PLACE_MIN_SAMPLES * (double)period_ns &&
			   found.ns < least_ns;
	return found;
}

/* Returns the bytes of "train.py(12)" in "train.py(12): step"; all where there is no such end. */
static size_t without_function(const char *place, size_t nr_bytes)
{
	static const char end[] = "): ";

	for (size_t i = nr_bytes; i >= strlen(end); i--) {
		if (!memcmp(place + i - strlen(end), end, strlen(end))) {
			return i - strlen(": ");
		}
	}
	return nr_bytes;
}

void code_add_place(const struct code_place *place, unsigned int width, struct buf *out)
{
	size_t nr_bytes;
	const char *text = string_pool_text(place->place, &nr_bytes);

	text_add_cut(out, text, nr_bytes, width);
}

void code_add_line(uint32_t place, const struct code_form *form, struct buf *out)
{
	size_t nr_bytes;
	const char *text = string_pool_text(place, &nr_bytes);

	text_add_cut(out, text, form->has_function ? nr_bytes : without_function(text, nr_bytes),
		form->width);
}

void code_add(const struct code_found *found, const struct code_form *form, const char *of,
	struct buf *out)
{
	if (form->has_share) {
		buf_printf(out, ", %.1f %% of %s", code_found_pct(found, 0), of);
	}
	buf_text(out, " at ");
	code_add_place(&found->top[0], form->width, out);
}

/* ---- waits ---- */

/* The waits at one line in the same call, for whatever object; the key has none. */
struct wait_group {
	struct wait_place_key key;
	struct code_sum sum;
	const struct wait_place *most; /* of the object with most time */
	UT_hash_handle hh;
};

static struct wait_place *sum_waits(const struct verdict *verdict, enum code_part part)
{
	struct wait_place *places = NULL;

	for (size_t i = 0; i < verdict->headline.nr_processes; i++) {
		const struct headline_process *at = &verdict->headline.processes[i];

		if (at->is_main && at->code) {
			code_samples_sum_waits(at->code, part, &places);
			if (counts_after_waits(verdict, part)) {
				code_samples_sum_waits(at->code, CODE_AFTER_WAIT, &places);
			}
		}
	}
	return places;
}

/* Many folders or peers at one line may each have little of its time. */
static struct wait_group *group_waits(const struct wait_place *places)
{
	struct wait_group *groups = NULL;

	for (const struct wait_place *place = places; place; place = place->hh.next) {
		struct wait_place_key key = place->key;
		struct wait_group *group;

		key.object = 0;
		hash_put(groups, key, &key, group);
		group->sum.nr += place->sum.nr;
		group->sum.ns += place->sum.ns;
		if (!group->most || place->sum.ns > group->most->sum.ns) {
			group->most = place;
		}
	}
	return groups;
}

/* A sentence names the object if most of the time is of it; then its share is that of the object.
 */
static struct wait_place place_of(const struct wait_group *group)
{
	bool has_object = (double)group->most->sum.ns >= MIN_OBJECT_SHARE * (double)group->sum.ns;
	struct wait_place place = {.key = group->key, .sum = group->sum};

	return has_object && group->most->key.object
		       ? (struct wait_place){.key = group->most->key, .sum = group->most->sum}
		       : place;
}

/* Keeps the order in which places were found where they have the same time. */
static void add_wait_place(struct wait_found *found, const struct wait_place *place)
{
	size_t at = NR_CODE_PLACES;

	while (at && place->sum.ns > found->top[at - 1].sum.ns) {
		at--;
		if (at + 1 < NR_CODE_PLACES) {
			found->top[at + 1] = found->top[at];
		}
	}
	if (at < NR_CODE_PLACES) {
		found->top[at] = *place;
	}
}

static double wait_pct(const struct wait_found *found, size_t i)
{
	return found->ns > 0 ? 100 * (double)found->top[i].sum.ns / found->ns : 0;
}

static struct wait_found find_waits(const struct verdict *verdict,
	const struct verdict_finding *finding, enum code_part part, const struct code_found *code)
{
	struct wait_found found = {.ns = 0};
	double gil_ns = 0;
	struct wait_place *places = sum_waits(verdict, part);
	struct wait_group *groups = group_waits(places);

	for (const struct wait_group *group = groups; group; group = group->hh.next) {
		const struct wait_place place = place_of(group);

		found.ns += (double)group->sum.ns;
		gil_ns += group->key.kind == GPROF_OS_GIL ? (double)group->sum.ns : 0;
		if (place.key.place) {
			add_wait_place(&found, &place);
		}
	}
	hash_free(groups);
	hash_free(places);
	/* A loop whose workers load the data waits for these. */
	found.has_place = (part != CODE_LOADER || verdict->figures.loaders == OP_LOADER_IN_LOOP) &&
			  found.top[0].sum.nr >= CODE_PLACE_MIN_SAMPLES &&
			  wait_pct(&found, 0) >= CODE_PLACE_MIN_PCT && found.ns > code->ns &&
			  found.ns >= MIN_CODE_SHARE * time_of(verdict, finding);
	found.is_at_line = found.has_place && wait_pct(&found, 0) >= MIN_PCT_OF_ALL_WAITS;
	found.is_for_gil = found.has_place && gil_ns >= MIN_CODE_SHARE * found.ns;
	return found;
}

/* As ", in read of /data/a.tar", ", in wait4 (for a child process)", ", for Python's lock (GIL)".
 */
static void add_what(const struct wait_place_key *key, unsigned int object_width, struct buf *out)
{
	const char *call = string_pool_text(key->call, NULL);

	if (key->kind == GPROF_OS_FAULT) {
		buf_text(out, ", in page faults");
		return;
	}
	buf_text(out, key->kind == GPROF_OS_GIL ? ", for " : ", in ");
	text_add_shown(out, call, strlen(call), VERDICT_NAME_WIDTH);
	if (key->kind == GPROF_OS_WAIT) {
		buf_text(out, " (for a lock or a thread)");
	} else if (key->kind == GPROF_OS_PROCESS) {
		buf_text(out, " (for a child process)");
	} else if (key->object && object_width) {
		size_t nr_bytes;
		const char *object = string_pool_text(key->object, &nr_bytes);

		buf_text(out, " of ");
		text_add_cut(out, object, nr_bytes, object_width);
	}
}

static void add_where(
	const struct wait_place_key *key, const struct code_form *form, struct buf *out)
{
	buf_text(out, " at ");
	code_add_line(key->place, form, out);
	add_what(key, form->object_width, out);
}

void wait_add(const struct wait_found *found, const struct code_form *form, const char *before,
	struct buf *out)
{
	if (form->has_share) {
		buf_printf(out, ", %.1f %% of its waits", wait_pct(found, 0));
	} else {
		buf_text(out, before);
	}
	add_where(&found->top[0].key, form, out);
}

void wait_add_all(const struct wait_found *found, struct buf *out)
{
	for (size_t i = 0; i < NR_CODE_PLACES && found->top[i].sum.nr; i++) {
		buf_printf(out, "%s%.1f %%%s", i ? "; " : "", wait_pct(found, i),
			i ? "" : " of the loop's waits");
		add_where(&found->top[i].key, &widest, out);
	}
}

/* ---- both ---- */

/* Has the cause a part whose code a sentence may name? */
static bool has_part(enum verdict_cause cause, enum code_part *part)
{
	*part = cause == VERDICT_LOADER ? CODE_LOADER : cause == VERDICT_GIL ? CODE_GIL : CODE_USER;
	return *part != CODE_USER || cause == VERDICT_USER;
}

struct code_words code_words_of(
	const struct verdict *verdict, const struct verdict_finding *finding)
{
	struct code_words words = {.form = {.has_share = false}};
	enum code_part part;

	if (has_part(finding->cause, &part)) {
		words.form = widest;
		words.code = find_code(verdict, finding, part);
		words.waits = find_waits(verdict, finding, part, &words.code);
		words.form.keeps_share = words.waits.has_place && !words.waits.is_at_line;
		if (words.waits.is_for_gil) {
			words.holders = find_code(verdict, finding, CODE_GIL);
		}
	}
	return words;
}
