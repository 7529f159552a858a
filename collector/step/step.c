/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three layers. Reports of ranges, calls and periods pass through one thread at a time to
 * step_auto.c, which decides where a step ended. end_step() counts the step and writes its row.
 * update_state() compares the schedule, or the control file's command, with the open window;
 * set_state() is the one function here that changes the mode which hooks read.
 */
#include "collector/step/step.h"

#include <regex.h>
#include <stdatomic.h>
#include <string.h>

#include "collector/ring/ring.h"
#include "collector/step/cupti_warmup.h"
#include "collector/step/schedule.h"
#include "collector/step/step_auto.h"
#include "collector/step/step_reports.h"
#include "collector/step/window.h"
#include "collector/stream/facts.h"
#include "collector/util/config.h"
#include "collector/util/log.h"
#include "collector/util/mode.h"
#include "collector/util/notice.h"
#include "collector/util/target.h"

/* The drain sleeps this long between two looks for a thread that is inside. */
#define MOMENT_NS 50000u
/*
 * Bounds of a regular expression. So many states take some MB, and each level takes 700 bytes of
 * the drain's stack.
 */
#define MAX_STATES 50000u
#define MAX_LEVELS 64u

static struct step_state {
	struct schedule schedule;
	enum gprof_step_rule rule; /* 0: no steps, or found by ranges and calls */
	bool is_found;		   /* by those, in `ranges` */
	struct step_auto ranges;
	const char *name; /* name of the range, in the configuration */
	regex_t kernel;
	bool has_kernel;
	uint32_t interval_ms;
	bool needs_capture;
	const char *why_told;	     /* the verdict that step_add_facts wrote last */
	uint64_t nr_lost_told;	     /* lost reports that a notice has already mentioned */
	bool is_always;		     /* by the settings; see is_always() */
	atomic_bool is_called;	     /* gprof_step() is what counts */
	atomic_bool is_reported;     /* the program or its framework says where they end */
	struct step_reports reports; /* reports that `ranges` has not seen yet */
	_Atomic uint64_t nr_gradients;
	atomic_bool is_capturing;
	atomic_bool is_stopped; /* nothing opens any more */
	_Atomic uint64_t step;
	_Atomic uint64_t ended_raw; /* when the last step ended, or recording began */
	_Atomic uint32_t state;	    /* enum gprof_window_state in force */
	struct claim change;	    /* held by the thread that changes `state` */
	_Atomic uint64_t command;   /* first << 32 | end, of the control file; 0 for none */
	uint32_t base_mode;
} state;

static bool take_prefix(const char **text, const char *prefix)
{
	size_t length = strlen(prefix);

	if (strncmp(*text, prefix, length)) {
		return false;
	}
	*text += length;
	return true;
}

static bool parse_interval(const char *text)
{
	uint64_t ms = 0;
	bool is_number = schedule_take_number(&text, &ms) && !*text && ms && ms < 1000000000u;

	state.interval_ms = is_number ? (uint32_t)ms : 0;
	return is_number;
}

/*
 * Has the expression few enough states and levels? The C library copies what stands before {N} N
 * times. Nested repetitions multiply these copies until the memory of the process is gone.
 */
static bool is_small_expression(const char *text)
{
	uint64_t nr_states = strlen(text), nr_levels = 0;

	for (const char *at = text; *at; at++) {
		/* A literal parenthesis counts as well. */
		nr_levels += *at == '(';
		nr_levels -= *at == ')' && nr_levels;
		if (nr_levels > MAX_LEVELS) {
			return false;
		}
	}
	for (text = strchr(text, '{'); text; text = strchr(text + 1, '{')) {
		const char *at = text;
		uint64_t most = 1, number;

		do {
			for (number = 0, at++; *at >= '0' && *at <= '9' && number < MAX_STATES;
				at++) {
				number = number * 10 + (uint64_t)(*at - '0');
			}
			most = number > most ? number : most;
		} while (*at == ',');
		nr_states *= most;
		if (nr_states > MAX_STATES) {
			return false;
		}
	}
	return true;
}

/*
 * Returns false if the rule is unknown or cannot be followed; "none" is a good one without steps.
 */
static bool parse_rule(const char *text, uint32_t (*find_call)(const char *name))
{
	state.rule = 0;
	if (!strcmp(text, "none")) {
		return true;
	}
	state.is_found =
		!strcmp(text, "auto") || !strcmp(text, "optimizer") || !strcmp(text, "dataloader");
	if (state.is_found) {
		step_auto_init(&state.ranges, *text == 'o'   ? GPROF_STEP_OPTIMIZER
					      : *text == 'd' ? GPROF_STEP_DATALOADER
							     : 0);
		return true;
	}
	if (take_prefix(&text, "nvtx:") && *text) {
		state.name = text;
		state.rule = GPROF_STEP_NVTX;
	} else if (take_prefix(&text, "api:")) {
		collector_step_call = find_call(text);
		state.rule = collector_step_call ? GPROF_STEP_API : 0;
		state.base_mode = collector_step_call ? COLLECTOR_STEP_API : 0;
	} else if (take_prefix(&text, "kernel:") && *text) {
		state.has_kernel = is_small_expression(text) &&
				   !regcomp(&state.kernel, text, REG_EXTENDED | REG_NOSUB);
		state.rule = state.has_kernel ? GPROF_STEP_KERNEL : 0;
	} else if (take_prefix(&text, "interval:") && parse_interval(text)) {
		state.rule = GPROF_STEP_INTERVAL;
	}
	return state.rule != 0;
}

static void report_wrong(enum config_name name, const char *allowed, const char *instead)
{
	char sentence[400];

	log_format(sentence, sizeof(sentence), "%s=%.100s is not allowed (allowed: %s); %s",
		config_full_name(name), config_text(name), allowed, instead);
	notice_add("wrong setting", 0, "%s", sentence);
	log_message(LOG_WARN, "%s", sentence);
}

/* Does GPROF_SCHEDULE wait for steps? */
static bool has_schedule(void)
{
	const struct schedule *s = &state.schedule;

	return s->skip_first || s->closed || s->ready || s->repeat;
}

void step_init(uint32_t (*find_call)(const char *name))
{
	memset((void *)&state, 0, sizeof(state));
	window_init();
	step_reports_init(&state.reports);
	if (!parse_rule(config_text(CONFIG_STEP), find_call)) {
		report_wrong(CONFIG_STEP,
			"auto, none, optimizer, dataloader, nvtx:NAME, api:FUNCTION, kernel:REGEX, "
			"interval:MS",
			"there are no steps");
	}
	if (schedule_parse(&state.schedule, config_text(CONFIG_SCHEDULE))) {
		report_wrong(CONFIG_SCHEDULE,
			"all, FIRST-END, (FIRST,END), or "
			"skip_first=N,closed=N,ready=N,record=N,repeat=N",
			"everything is recorded");
		schedule_parse(&state.schedule, "all");
	}
	state.needs_capture = config_number(CONFIG_CAPTURE) == CAPTURE_CUDAPROFILER;
	state.is_always = !state.needs_capture && !has_schedule();
}

/* ---- windows ---- */

static struct schedule span_of(uint32_t first, uint32_t end)
{
	return schedule_span(first, end == STEP_NO_END ? SCHEDULE_NO_END : end);
}

/* Returns the schedule of GPROF_SCHEDULE, until the control file overrides it. */
static struct schedule schedule_now(void)
{
	uint64_t command = atomic_load(&state.command);

	return command ? span_of((uint32_t)(command >> 32), (uint32_t)command) : state.schedule;
}

static enum gprof_window_state wanted_state(uint64_t step)
{
	struct schedule schedule = schedule_now();
	enum gprof_window_state wanted = schedule_state(&schedule, step);

	if (state.needs_capture && !atomic_load(&state.is_capturing) &&
		!atomic_load(&state.command)) {
		/* CUPTI stays warm: cudaProfilerStart is followed by launches at once. */
		return wanted == GPROF_WINDOW_RECORD ? GPROF_WINDOW_READY : wanted;
	}
	return wanted;
}

/*
 * Runs in one thread at a time (update_state). A window is open before hooks see the mode that
 * records.
 */
static void set_state(enum gprof_window_state wanted, uint64_t step)
{
	struct gprof_row_window row = {.time = clock_raw(), .step = step, .state = (uint8_t)wanted};
	uint32_t before = atomic_exchange(&state.state, wanted);
	uint32_t mode = state.base_mode;

	if (before == wanted) {
		return;
	}
	if (before == GPROF_WINDOW_RECORD) {
		window_close();
	}
	if (wanted == GPROF_WINDOW_RECORD) {
		window_open();
		mode |= config_flag(CONFIG_TIMER_ONLY) ? 0 : COLLECTOR_RECORD;
		mode |= config_number(CONFIG_CALLS) == CALLS_ALL ? COLLECTOR_ALL_CALLS : 0;
	}
	row.window = (uint32_t)window_newest();
	atomic_store(&collector_mode, atomic_load(&state.is_stopped) ? 0 : mode);
	ring_emit(&row, GPROF_TABLE_window, NULL, 0);
	ring_wake();
}

/*
 * Applies the current state. Threads that end steps, calls of the program and the control file may
 * request it at once: one of them applies it, and repeats for requests that arrived in between and
 * do not wait.
 */
static void update_state(void)
{
	while (claim_ask(&state.change, CLAIM_MAX_NS)) {
		uint64_t step = atomic_load(&state.step);

		set_state(wanted_state(step), step);
		if (!claim_leave(&state.change)) {
			break;
		}
	}
}

/* Is there one window, from the first call to the last? */
static bool is_always(void)
{
	return state.is_always && !atomic_load_explicit(&state.command, memory_order_relaxed);
}

/* thread: the one that ended the step; 0: the calling one. */
static void emit_step(struct gprof_row_step *row, uint32_t thread)
{
	if (ring_enter(&ring_tls)) {
		row->thread = thread ? thread : ring_tls.id;
		ring_emit(row, GPROF_TABLE_step, NULL, 0);
	}
}

void step_start(void)
{
	struct gprof_row_step row = {.time = clock_raw(), .how = (uint8_t)state.rule};

	atomic_store(&state.ended_raw, row.time);
	atomic_store(
		&state.state, UINT32_MAX); /* so that the first state, closed too, gets a row */
	cupti_warmup_begin(&state.schedule, 0);
	update_state();
	if (state.rule || state.is_found) {
		emit_step(&row, 0);
	}
}

/*
 * The end of a step may be reported late, by another thread, or with a wrong time. A step that
 * would end before it begins ends where it begins.
 */
static uint64_t settle_end(uint64_t time)
{
	uint64_t last = atomic_load(&state.ended_raw);

	while (last < time && !atomic_compare_exchange_weak(&state.ended_raw, &last, time)) {
	}
	return last < time ? time : last;
}

static void end_step(enum gprof_step_rule rule, uint64_t time, uint32_t thread)
{
	struct gprof_row_step row = {.how = (uint8_t)rule};

	row.step = atomic_fetch_add(&state.step, 1) + 1;
	row.time = settle_end(time);
	emit_step(&row, thread);
	if (!is_always()) {
		struct schedule schedule = schedule_now();

		cupti_warmup_next_step(&schedule, row.step);
	}
	update_state();
}

static void take_range(const struct step_report *report)
{
	struct step_auto_ends ends = {0};
	uint32_t first;

	step_auto_range(&state.ranges, &report->range, &ends);
	if (ends.nr) {
		atomic_store(&state.is_reported, true);
	}
	/* A schedule follows the current events: for it, steps begin with the first marked one. */
	first = is_always() || !ends.nr ? 0 : ends.nr - 1;
	for (uint32_t i = first; i < ends.nr; i++) {
		end_step(state.ranges.rule, ends.times[i], report->thread);
	}
}

static void take_call(const struct step_report *report)
{
	bool does_count = step_auto_call(&state.ranges);

	atomic_store(&state.is_called, !state.ranges.wanted);
	atomic_store(&state.is_reported, true);
	if (does_count) {
		end_step(GPROF_STEP_CALL, report->range.end, report->thread);
	}
}

static void take_report(const struct step_report *report)
{
	switch (report->kind) {
	case STEP_REPORT_RANGE:
		take_range(report);
		break;
	case STEP_REPORT_CALL:
		take_call(report);
		break;
	case STEP_REPORT_PERIOD:
		if (step_auto_period(&state.ranges, report->confidence)) {
			end_step(GPROF_STEP_PERIOD, report->range.end, report->thread);
		}
		break;
	}
}

static void take_reports(void)
{
	struct step_report report;

	while (step_reports_take(&state.reports, &report)) {
		take_report(&report);
	}
}

/* Admits one thread at a time to `ranges`, which has then seen all reports. */
static bool enter_ranges(void)
{
	if (!step_reports_enter(&state.reports)) {
		return false;
	}
	take_reports();
	return true;
}

static void leave_ranges(void)
{
	while (step_reports_leave(&state.reports) && enter_ranges()) {
	}
}

/* This thread takes the report, or the one that is inside. */
static void report(struct step_report what)
{
	what.thread = ring_enter(&ring_tls) ? ring_tls.id : 0;
	step_reports_add(&state.reports, &what);
	if (enter_ranges()) {
		leave_ranges();
	}
}

static void mark(enum gprof_step_rule rule, uint64_t time)
{
	if (atomic_load(&collector_mode) & COLLECTOR_COLD) {
		return;
	}
	if (rule == GPROF_STEP_CALL && state.is_found && !atomic_load(&state.is_called)) {
		report((struct step_report){.kind = STEP_REPORT_CALL, .range.end = time});
	} else if (rule == (state.is_found ? GPROF_STEP_CALL : state.rule)) {
		end_step(rule, time, 0);
	}
}

void step_mark(enum gprof_step_rule rule)
{
	mark(rule, clock_raw());
}

void step_mark_at(enum gprof_step_rule rule, uint64_t time)
{
	mark(rule, is_always() ? time : clock_raw());
}

void step_gradient(void)
{
	atomic_fetch_add_explicit(&state.nr_gradients, 1, memory_order_relaxed);
}

void step_range(const char *name, uint64_t begin, uint64_t end)
{
	struct step_auto_range range = {.begin = begin, .end = end};

	if (!state.is_found || atomic_load(&state.is_called) || !step_auto_knows(name, &range) ||
		(atomic_load(&collector_mode) & COLLECTOR_COLD)) {
		return;
	}
	range.nr_gradients = atomic_load_explicit(&state.nr_gradients, memory_order_relaxed);
	report((struct step_report){.kind = STEP_REPORT_RANGE, .range = range});
}

bool step_needs_period(void)
{
	return state.is_found && state.is_always && !state.ranges.wanted &&
	       !atomic_load_explicit(&state.is_reported, memory_order_relaxed);
}

void step_found(uint64_t time, uint32_t confidence)
{
	report((struct step_report){
		.kind = STEP_REPORT_PERIOD, .confidence = confidence, .range.end = time});
}

bool step_verdict(struct step_auto_verdict *verdict)
{
	if (!state.is_found || !enter_ranges()) {
		return false;
	}
	*verdict = step_auto_verdict(&state.ranges);
	leave_ranges();
	return true;
}

void step_stop(void)
{
	atomic_store(&state.is_stopped, true);
}

void step_capture(bool is_on)
{
	if (state.needs_capture && !(atomic_load(&collector_mode) & COLLECTOR_COLD)) {
		atomic_store(&state.is_capturing, is_on);
		update_state();
	}
}

bool step_is_range(const char *name, uint64_t nr_bytes)
{
	return !(atomic_load(&collector_mode) & COLLECTOR_COLD) && state.rule == GPROF_STEP_NVTX &&
	       nr_bytes == strlen(state.name) && !memcmp(name, state.name, nr_bytes);
}

bool step_is_kernel(const char *name)
{
	return state.has_kernel && name && !regexec(&state.kernel, name, 0, NULL, 0);
}

uint32_t step_interval_ms(void)
{
	return state.interval_ms;
}

bool step_is_open(void)
{
	return atomic_load(&state.state) == GPROF_WINDOW_RECORD;
}

bool step_wants_activity(void)
{
	return !config_flag(CONFIG_TIMER_ONLY) &&
	       (atomic_load(&state.state) != GPROF_WINDOW_CLOSED || cupti_warmup_is_on() ||
		       state.has_kernel);
}

bool step_is_recorded(uint32_t correlation)
{
	return is_always() || window_has(correlation);
}

bool step_has_recorded(void)
{
	return is_always() || window_newest();
}

/* ---- the control file ---- */

bool step_has_source(void)
{
	return state.rule || atomic_load(&state.is_reported);
}

void step_prepare(uint32_t first, uint32_t end)
{
	struct schedule schedule = span_of(first, end);

	cupti_warmup_prepare(&schedule, atomic_load(&state.step));
}

void step_command(uint32_t first, uint32_t end)
{
	struct schedule schedule = span_of(first, end);

	atomic_store(&state.command, (uint64_t)first << 32 | end);
	cupti_warmup_begin(&schedule, atomic_load(&state.step));
	update_state();
}

uint64_t step_now(void)
{
	return atomic_load(&state.step);
}

/* Adds a notice the first time, and at the end one with their number. */
static void tell_lost(bool is_last)
{
	uint64_t nr = atomic_load(&state.reports.nr_lost);

	if (nr > state.nr_lost_told && (is_last || !state.nr_lost_told)) {
		notice_add("steps lost", 0,
			"%llu ranges or calls that may end steps were not looked at: more than %u "
			"waited "
			"for a thread that had no core. Steps may be missing, or longer than they "
			"were",
			(unsigned long long)nr, STEP_REPORTS_MAX);
		state.nr_lost_told = nr;
	}
}

/* At the end it waits for a thread inside, no longer than a claim holds. */
static bool find_verdict(struct step_auto_verdict *verdict, bool is_last)
{
	bool is_found = step_verdict(verdict);

	while (!is_found && is_last && state.is_found) {
		target_pause(MOMENT_NS);
		is_found = step_verdict(verdict);
	}
	return is_found;
}

/*
 * Writes the verdict when it changes. verdict.why is one of some fixed texts, so its address is
 * enough to compare.
 */
void step_add_facts(bool is_last)
{
	static const char *const rules[] = {[0] = "none",
		[GPROF_STEP_CALL] = "call",
		[GPROF_STEP_OPTIMIZER] = "optimizer",
		[GPROF_STEP_DATALOADER] = "dataloader",
		[GPROF_STEP_PERIOD] = "period"};
	struct step_auto_verdict verdict;
	char confidence[16];

	tell_lost(is_last);
	if (!find_verdict(&verdict, is_last) || verdict.why == state.why_told ||
		(!verdict.rule && !is_last)) {
		return;
	}
	state.why_told = verdict.why;
	if (!verdict.rule && has_schedule()) {
		notice_add("no steps", 0,
			"GPROF_SCHEDULE waits for steps, and none ended while the process ran (the "
			"period of launches is known too late). Name what ends a step: "
			"GPROF_STEP=nvtx:NAME, api:FUNCTION or kernel:REGEX");
	}
	log_format(confidence, sizeof(confidence), "%u.%u%u", verdict.confidence / 100,
		verdict.confidence / 10 % 10, verdict.confidence % 10);
	facts_add("step.rule", rules[verdict.rule]);
	facts_add("step.why", verdict.why);
	facts_add("step.confidence", confidence);
	if (verdict.inner_end && is_always()) { /* a schedule has counted it */
		facts_add_number("step.inner_end", verdict.inner_end);
	}
}
