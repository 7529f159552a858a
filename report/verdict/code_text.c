/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums the samples of all processes that count. Too few samples, or too small a share, name
 * nothing.
 */
#include "report/verdict/code_text.h"

#include <stddef.h>
#include <string.h>

#include "report/util/string_pool.h"
#include "report/util/text.h"
#include "report/verdict/top.h"

/* A thread that was on a CPU for a smaller share of the time mostly waited. */
#define MIN_CODE_SHARE 0.5

/* A sentence says to do, or wait for, less at a line only if the line has this share of it. */
#define MIN_PCT_OF_ALL 90

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

/*
 * Returns by how much waits for a CPU stretched what the loop did: they take a share of the steps,
 * and come while it has work. A loop that also waits for other things is stretched by more.
 */
static double stretched(const struct headline_figures *figures)
{
	double all_ns = (double)figures->parts_ns, waits_ns = (double)figures->cpu_wait.ns;

	return waits_ns < all_ns ? all_ns / (all_ns - waits_ns) : 1;
}

/* Sums the samples of all processes that count. */
static struct code_found find_code(
	const struct verdict *verdict, const struct verdict_finding *finding, enum code_part part)
{
	double least_ns = MIN_CODE_SHARE * time_of(verdict, finding);
	struct code_found found = {.is_waiting = true, .has_kernel = true};
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
			found.is_held |= code_samples_have_holders(at->code);
			period_ns = code_samples_period_ns(at->code);
			found.has_kernel &= cpu_samples_have_kernel(at->process);
		}
		/* Missing samples do not show that a thread waited. */
		if (at->is_main && (!at->code || !code_samples_period_ns(at->code) ||
					   process_missing(at->process))) {
			found.is_waiting = false;
		}
	}
	for (size_t i = 0; i < places.nr; i++) {
		const struct code_place *place = idmap_at(&places, i);

		found.nr += place->sum.nr;
		top_add(found.top, NR_CODE_PLACES, sizeof(*place), place,
			offsetof(struct code_place, sum.nr));
	}
	idmap_fini(&places);
	found.ns = (double)all.ns;
	found.has_place = found.nr >= CODE_PLACE_MIN_SAMPLES &&
			  code_found_pct(&found, 0) >= CODE_PLACE_MIN_PCT &&
			  found.ns * stretched(&verdict->figures) >= least_ns;
	found.is_at_line = found.has_place && code_found_pct(&found, 0) >= MIN_PCT_OF_ALL;
	/* All of its waits for a CPU, which a sentence of their own tells, may lie in that time. */
	found.is_waiting = found.is_waiting && period_ns &&
			   least_ns >= CODE_PLACE_MIN_SAMPLES * (double)period_ns &&
			   found.ns + (double)verdict->figures.cpu_wait.ns < least_ns;
	return found;
}

void code_add_place(const struct code_place *place, unsigned int width, struct buf *out)
{
	size_t nr_bytes;
	const char *text = string_pool_text(place->place, &nr_bytes);

	text_add_cut(out, text, nr_bytes, width);
}

void code_add(const struct code_found *found, const struct code_form *form, const char *of,
	struct buf *out)
{
	if (form->has_share) {
		buf_printf(out, ", %.1f %% of %s", code_found_pct(found, 0), of);
	}
	buf_text(out, " at ");
	code_form_add_line(found->top[0].place, form, out);
}

/* ---- waits ---- */

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

static struct wait_found find_waits(const struct verdict *verdict,
	const struct verdict_finding *finding, enum code_part part, const struct code_found *code)
{
	struct wait_place *places = sum_waits(verdict, part);
	struct wait_found waits = {.sums = wait_sums_of(places)};
	const struct wait_sums *sums = &waits.sums;

	hash_free(places);
	/* A loop whose workers load the data waits for these. */
	waits.has_place = (part != CODE_LOADER || verdict->figures.loaders == OP_LOADER_IN_LOOP) &&
			  sums->top[0].sum.nr >= CODE_PLACE_MIN_SAMPLES &&
			  wait_sums_pct(sums, 0) >= CODE_PLACE_MIN_PCT && sums->ns > code->ns &&
			  sums->ns >= MIN_CODE_SHARE * time_of(verdict, finding);
	waits.is_at_line = waits.has_place && wait_sums_pct(sums, 0) >= MIN_PCT_OF_ALL;
	waits.is_for_gil = waits.has_place && sums->gil_ns >= MIN_CODE_SHARE * sums->ns;
	return waits;
}

/* ---- both ---- */

/* Has the cause a part whose code a sentence may name? */
static bool has_part(enum verdict_cause cause, enum code_part *part)
{
	*part = cause == VERDICT_LOADER ? CODE_LOADER
		: cause == VERDICT_GIL	? CODE_GIL
		: cause == VERDICT_OS	? CODE_OS
					: CODE_USER;
	return *part != CODE_USER || cause == VERDICT_USER;
}

struct code_words code_words_of(
	const struct verdict *verdict, const struct verdict_finding *finding)
{
	struct code_words words = {.form = {.has_share = false}};
	enum code_part part;

	if (finding->cause == VERDICT_COMPILATION) {
		words.form = (struct code_form){
			.has_share = true, .has_function = true, .width = VERDICT_CODE_WIDTH};
	}
	if (has_part(finding->cause, &part)) {
		words.form = code_form_widest;
		words.code = find_code(verdict, finding, part);
		words.waits = find_waits(verdict, finding, part, &words.code);
		words.form.keeps_share = words.waits.has_place
						 ? !words.waits.is_at_line
						 : words.code.has_place && !words.code.is_at_line;
		if (words.waits.is_for_gil) {
			words.holders = find_code(verdict, finding, CODE_GIL);
		}
	}
	return words;
}
