/* SPDX-License-Identifier: Apache-2.0 */
/* A line or a call says more than what workers do in general, so it stands in place of that. */
#include "report/verdict/loader_text.h"

#include <inttypes.h>

#include "report/advice/advice.h"
#include "report/util/string_pool.h"
#include "report/util/text.h"
#include "report/verdict/wait_text.h"

#define MIN_SHOWN_BYTES_PER_S 1e5
#define MIN_MOSTLY_PCT	      50
#define MIN_ALL_PCT	      90

static const struct {
	const char *what, *change;
} works[] = {
	[LOADER_COMPUTES] = {"compute", "more of them"},
	[LOADER_FILLS_CPUS] = {"compute", "cheaper samples or more CPUs"},
	[LOADER_LACKS_CPUS] = {"lack a CPU", "more CPUs or cheaper samples"},
	[LOADER_IS_BLOCKED] = {"are blocked", "more of them or faster storage"},
	[LOADER_IS_BUSY] = {"are busy", "more of them"},
};

/* As "read(/data/...tar)": which files or peers they wait for says more than the line. */
static void add_call(
	const struct loader_workers *workers, const struct code_form *form, struct buf *out)
{
	const struct wait_place_key *wait = &workers->most.wait;
	struct buf name = {0};

	if (workers->most.what == LOADER_MOST_WAIT) {
		buf_printf(&name, "%s(%s)", string_pool_text(wait->call, NULL),
			string_pool_text(wait->object, NULL));
	} else {
		buf_text(&name, string_pool_text(workers->most.name, NULL));
	}
	text_add_cut(out, name.bytes, name.nr_bytes, form->width);
	buf_fini(&name);
}

/* With its share only if the form has one: the line is worth more. */
static void add_wait(
	const struct loader_workers *workers, const struct code_form *form, struct buf *out)
{
	bool is_most = !form->has_share && workers->most.share_pct >= MIN_MOSTLY_PCT;

	buf_text(out, is_most ? ", which mostly wait" : ", which wait");
	wait_add_where(&workers->most.wait, form, out);
	if (form->has_share) {
		buf_printf(out, " %.0f %% of the time", workers->most.share_pct);
	}
}

/*
 * " at ", or " mostly at ", of the line that stands for a stage. NULL: too little of the stage is
 * there, or the form has no room to say how much.
 */
static const char *stage_at(const struct loader_workers *workers, bool has_room)
{
	return workers->most.line_pct >= MIN_ALL_PCT		      ? " at "
	       : workers->most.line_pct >= MIN_MOSTLY_PCT && has_room ? " mostly at "
								      : NULL;
}

/* "decode 62 % of the time, at data.py(36)"; the share goes first, as in add_wait. */
static void add_stage(
	const struct loader_workers *workers, const struct code_form *form, struct buf *out)
{
	const char *verb = loader_stage_verb(workers->most.stage);
	const char *at = stage_at(workers, form->has_share);

	if (form->has_share) {
		buf_printf(out, ", which %s %.0f %% of the time", verb, workers->most.share_pct);
	} else {
		buf_printf(out, ", which mostly %s", verb);
	}
	if (at) {
		buf_printf(out, ",%s", at);
		code_form_add_line(workers->most.name, form, out);
	}
}

static void add_most(
	const struct loader_workers *workers, const struct code_form *form, struct buf *out)
{
	bool is_code = workers->most.what == LOADER_MOST_CODE;

	if (is_code) {
		buf_text(out, ", which run ");
		code_form_add_line(workers->most.name, form, out);
	} else {
		buf_text(out, ", which are in ");
		add_call(workers, form, out);
	}
	if (!is_code || form->has_share) {
		buf_printf(out, " %.0f %% of the time", workers->most.share_pct);
	} else {
		buf_text(out, " most"); /* its line is worth more than its share */
	}
}

/* If workers lack a CPU, the sentence says that, and names no line. */
void loader_text_add_work(
	const struct loader_workers *workers, const struct code_form *form, struct buf *out)
{
	if (!workers->most.what || workers->work == LOADER_LACKS_CPUS) {
		buf_printf(out, ", which %s %.0f %% of the time", works[workers->work].what,
			workers->share_pct);
		if (workers->work == LOADER_LACKS_CPUS && workers->nr > workers->nr_cpus &&
			workers->nr_cpus) {
			buf_printf(out, " (%" PRIu64 " of them, ", workers->nr);
			advice_add_count(out, workers->nr_cpus, "CPU");
			buf_text(out, ")");
		}
		return;
	}
	if (workers->most.what == LOADER_MOST_WAIT && !workers->most.wait.object) {
		add_wait(workers, form, out);
	} else if (workers->most.what == LOADER_MOST_STAGE) {
		add_stage(workers, form, out);
	} else {
		add_most(workers, form, out);
	}
}

/*
 * Faster storage is one of several remedies for what is named, and its sentence is long, unless it
 * is known that storage delivers what they read.
 */
const char *loader_text_change(const struct loader_workers *workers)
{
	if (loader_workers_wait_for_storage(workers)) {
		return "faster storage";
	}
	return workers->most.what == LOADER_MOST_CALL || workers->most.what == LOADER_MOST_WAIT
		       ? "more of them"
		       : works[workers->work].change;
}

static void add_most_place(const struct loader_workers *workers, struct buf *out)
{
	if (workers->most.what == LOADER_MOST_STAGE) {
		buf_printf(out, "the workers %s %.1f %% of the time, %.0f %% of that at %s",
			loader_stage_verb(workers->most.stage), workers->most.share_pct,
			workers->most.line_pct, string_pool_text(workers->most.name, NULL));
		return;
	}
	buf_printf(out, "%.1f %% of the workers' time", workers->most.share_pct);
	if (workers->most.what == LOADER_MOST_WAIT) {
		wait_add_where(&workers->most.wait, &code_form_widest, out);
		return;
	}
	buf_printf(out, " %s %s", workers->most.what == LOADER_MOST_CALL ? "in" : "at",
		string_pool_text(workers->most.name, NULL));
	if (workers->most.bytes_per_s >= MIN_SHOWN_BYTES_PER_S) {
		buf_printf(out, ", %.1f MB/s", workers->most.bytes_per_s / 1e6);
	}
}

void loader_text_add_place(
	const struct loader_workers *workers, double saved_ns, const char *what, struct buf *out)
{
	char text[TEXT_TIME_BYTES];

	add_most_place(workers, out);
	buf_printf(out, "; without that %s takes up to %s less", what, text_time(text, saved_ns));
}
