/* SPDX-License-Identifier: Apache-2.0 */
/*
 * At each flush, compares the number of the step, or without marked steps the number of rows, with
 * the last look. After GPROF_HANG_TIMEOUT_S without a change it writes where the threads are
 * (hang_thread.c) and what was done last (hang_work.c); when the process moves again, how long it
 * stood.
 */
#include "collector/hang/hang.h"

#include <string.h>

#include "collector/format/format.h"
#include "collector/ring/safe_read.h"
#include "collector/step/step.h"
#include "collector/stream/batch.h"
#include "collector/stream/dictionary.h"
#include "collector/stream/facts.h"
#include "collector/util/clock.h"
#include "collector/util/config.h"
#include "collector/util/log.h"
#include "collector/util/notice.h"

#define SECOND_NS 1000000000u
/*
 * Per process; each is some hundred rows (some thousand for 100 Python threads), which no limit of
 * the stream drops.
 */
#define MAX_HANGS 1000u

bool hang_is_on;

static struct hang_state {
	uint64_t limit_ns;
	uint64_t moved_ns, moved_raw; /* the last check that saw progress, on both clocks */
	uint64_t step, nr_events;     /* as of then */
	uint32_t nr_hangs;
	bool is_guess; /* steps are found by the period of the launches */
	bool is_reported;
	char words[200]; /* of the last reported hang */
} state;

void hang_init(void)
{
	memset(&state, 0, sizeof(state));
	state.limit_ns = config_number(CONFIG_HANG_TIMEOUT_S) * SECOND_NS;
	state.moved_ns = clock_monotonic_ns();
	state.moved_raw = clock_raw();
	hang_is_on = state.limit_ns != 0;
	/* Kernels before Linux 4.8 refuse this in containers, and so do emulators. */
	if (hang_is_on && !safe_read_works()) {
		notice_add("hangs", 0,
			"the current calls of threads are unknown: the kernel does not let the "
			"process read its own memory (process_vm_readv); hangs are reported only "
			"if there are steps");
	}
	hang_work_init();
}

/* ---- does it go on? ---- */

/*
 * Without calls that only wait or query: a watching thread makes them for ever. CUPTI's records of
 * these do not count either.
 */
static uint64_t count_events(void)
{
	uint64_t nr = 0;

	for (unsigned int table = 0; table < GPROF_NR_TABLES; table++) {
		nr += gprof_table_is(table, GPROF_IS_PROGRESS) ? batch_nr_rows(table) : 0;
	}
	return nr;
}

/* Does something mark the ends of steps, and has it done so? A clock and a guess do not count. */
static bool has_steps(void)
{
	struct step_auto_verdict verdict;

	if (step_verdict(&verdict)) {
		state.is_guess = verdict.rule == GPROF_STEP_PERIOD;
	}
	return step_now() && !step_interval_ms() && !state.is_guess;
}

static bool has_moved(void)
{
	uint64_t step = step_now(), nr_events = count_events();
	bool is_other =
		has_steps() ? step != state.step : nr_events != state.nr_events || !step_is_open();

	state.step = step;
	state.nr_events = nr_events;
	return is_other;
}

/* ---- rows ---- */

static struct gprof_row_hang make_head(enum gprof_hang item)
{
	return (struct gprof_row_hang){.tick = clock_raw(),
		.since = state.moved_raw,
		.step = state.step,
		.hang = state.nr_hangs,
		.item = (uint8_t)item};
}

static void add_row(const struct gprof_row_hang *row)
{
	*(struct gprof_row_hang *)batch_slot(GPROF_TABLE_hang) = *row;
}

/* One line about the newest, for a reader of the whole process. */
static void add_facts(const char *state_words)
{
	char text[300];

	log_format(text, sizeof(text), "%s; %s", state.words, state_words);
	facts_add_number("hang.count", state.nr_hangs);
	facts_add("hang.last", text);
}

/* state.words stays for report_end(), which gives the same sentence another end. */
static void report_begin(uint64_t now)
{
	static const char *const missing[] = {
		"no launch, copy, allocation, mark or NCCL call", "no step has ended"};
	const char *what = missing[has_steps()];
	struct gprof_row_hang head;
	struct hang_call call;
	size_t n;

	if (++state.nr_hangs == MAX_HANGS) {
		notice_add("hangs", 0,
			"this was hang %u of this process; later ones are not reported", MAX_HANGS);
	}
	head = make_head(GPROF_HANG_BEGAN);
	head.text = dictionary_text(what, strlen(what));
	add_row(&head);
	head.text = 0;
	call = hang_thread_add_rows(&head);
	hang_work_add_rows(&head);
	n = log_format(state.words, sizeof(state.words), "%s for %llu s after step %llu", what,
		(unsigned long long)((now - state.moved_ns) / SECOND_NS),
		(unsigned long long)state.step);
	if (call.name) {
		log_format(state.words + n, sizeof(state.words) - n, ", thread %u in %s", call.tid,
			call.name);
	}
	add_facts("it has not resumed");
}

static void report_end(uint64_t now)
{
	uint64_t tenths = (now - state.moved_ns) / (SECOND_NS / 10);
	struct gprof_row_hang row = make_head(GPROF_HANG_ENDED);
	char words[64];

	add_row(&row);
	log_format(words, sizeof(words), "it resumed after %llu.%llu s",
		(unsigned long long)(tenths / 10), (unsigned long long)(tenths % 10));
	add_facts(words);
}

/*
 * Without marked steps a process may just be idle; one that is in a call for this long waits for
 * something.
 */
static bool is_hung(uint64_t now)
{
	uint64_t raw = clock_raw(), still_ns = now - state.moved_ns;

	if (still_ns < state.limit_ns) {
		return false;
	}
	return has_steps() ||
	       hang_thread_is_in_call(raw - (uint64_t)((unsigned __int128)(raw - state.moved_raw) *
						       state.limit_ns / still_ns));
}

bool hang_look(void)
{
	uint64_t now;

	if (!hang_is_on) {
		return false;
	}
	now = clock_monotonic_ns();
	if (has_moved()) {
		bool was_reported = state.is_reported;

		if (was_reported) {
			report_end(now);
		}
		state.is_reported = false;
		state.moved_ns = now;
		state.moved_raw = clock_raw();
		return was_reported;
	}
	if (state.is_reported || state.nr_hangs == MAX_HANGS || !is_hung(now)) {
		return false;
	}
	state.is_reported = true;
	report_begin(now);
	return true;
}
