/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "report/comm/job_clock.h"
#include "report/diff/diff.h"
#include "report/html/flame_data.h"
#include "report/html/timeline_data.h"
#include "report/reduce/reduced_job.h"
#include "report/reduce/reduced_view.h"
#include "report/session/summary.h"
#include "report/util/text.h"

/* ---- files of the page, put into the program when it is built ---- */

struct part {
	const char *name; /* as the page names it, "@STYLE@" */
	const char *bytes, *end;
};

/* HTML_PAGE is the folder where report.mk puts them. */
#define PART(name, file)                                                               \
	__asm__(".pushsection .rodata\n"                                               \
		"html_" #name "_begin:\n.incbin \"" HTML_PAGE "/" file "\"\n"          \
		"html_" #name "_end:\n.byte 0\n.popsection\n");                        \
	extern const char html_##name##_begin[] __attribute__((visibility("hidden"))); \
	extern const char html_##name##_end[] __attribute__((visibility("hidden")))

PART(body, "page.html");
PART(style, "style.css");
PART(script, "script.js");
PART(chart, "chart.js");
PART(terms, "chart.licence");

/* The last one has no name. Charts and their licence are empty where they are not installed. */
static const struct part page = {"", html_body_begin, html_body_end};
static const struct part licence = {"", html_terms_begin, html_terms_end};
static const struct part parts[] = {
	{"@STYLE@", html_style_begin, html_style_end},
	{"@CHART@", html_chart_begin, html_chart_end},
	{"@SCRIPT@", html_script_begin, html_script_end},
	{0},
};

static const char *const over_time[] = {
	"steps", "breakdown", "data_loading_steps", "utilization_time", "memory_curve", NULL};

size_t html_rows(const struct html_options *options, const char *key)
{
	for (size_t i = 0; over_time[i]; i++) {
		if (strcmp(key, over_time[i]) == 0 && options->top &&
			options->top < HTML_MOST_TIME) {
			return HTML_MOST_TIME;
		}
	}
	return options->top;
}

/* ---- JSON within a script ---- */

/* A browser ends the script at "</script", even within a JSON text. */
static int escape(void *context, const char *bytes, size_t nr_bytes)
{
	struct buf *out = context;
	const char *end = bytes + nr_bytes, *at;

	while ((at = memchr(bytes, '<', (size_t)(end - bytes)))) {
		buf_add(out, bytes, (size_t)(at - bytes));
		buf_text(out, "\\u003c");
		bytes = at + 1;
	}
	buf_add(out, bytes, (size_t)(end - bytes));
	buf_flush_if_large(out);
	return 0;
}

static void add_text(struct buf *json, const char *text)
{
	text_add_json(json, text, strlen(text));
}

static const char *type_name(enum table_type type)
{
	static const char *const names[] = {[TABLE_NAME] = "text",
		[TABLE_TEXT] = "text",
		[TABLE_COUNT] = "count",
		[TABLE_ID] = "id",
		[TABLE_TIME] = "time",
		[TABLE_MEAN_TIME] = "time",
		[TABLE_SIZE] = "size",
		[TABLE_MEAN_SIZE] = "size",
		[TABLE_RATE] = "rate",
		[TABLE_PERCENT] = "percent",
		[TABLE_NUMBER] = "number",
		[TABLE_DIGITS] = "number"};

	return names[type];
}

/* What the page needs beside the JSON of a table: titles, types of numbers, levels of rows. */
static void add_shape(struct buf *json, const struct table *table, const char *help)
{
	add_text(json, table->key);
	buf_text(json, ": {\"help\": ");
	add_text(json, help);
	buf_text(json, ", \"columns\": [");
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		const struct table_column *column = &table->columns[c];

		buf_text(json, c ? ", [" : "[");
		add_text(json, column->key);
		buf_text(json, ", ");
		add_text(json, column->title);
		buf_printf(json, ", \"%s\", %d]", type_name(column->type), column->is_wide_only);
	}
	buf_text(json, "]");
	if (table->figure_json) {
		buf_text(json, ", \"figure\": ");
		buf_text(json, table->figure_json);
	}
	if (table->levels) {
		buf_text(json, ", \"levels\": [");
		for (size_t i = 0; i < table->nr_rows; i++) {
			buf_printf(json, "%s%u", i ? "," : "", table_level(table, i));
		}
		buf_text(json, "]");
	}
	buf_text(json, "}");
}

/*
 * Facts about the process from the stream: versions, settings, devices; the step that the recording
 * does not end. side: "A", "B" or "".
 */
static void add_facts(struct buf *json, const struct process *process, const char *side)
{
	const struct model_step *last =
		process->nr_steps ? &process->steps[process->nr_steps - 1] : NULL;

	buf_printf(json, "{\"side\": \"%s\", \"pid\": %" PRIu32, side, process->pid);
	if (last && !model_step_is_gap(last)) {
		buf_printf(json, ", \"open_step\": \"%" PRIu64 "\"", last->step);
	}
	buf_text(json, ", \"facts\": [");
	for (size_t i = 0; i < process->nr_facts; i++) {
		size_t nr_key, nr_value;
		const char *key = string_pool_shown(process->facts[i].key, &nr_key);
		const char *value = string_pool_text(process->facts[i].value, &nr_value);

		buf_text(json, i ? ", [" : "[");
		text_add_json(json, key, nr_key);
		buf_text(json, ", ");
		text_add_json(json, value, nr_value);
		buf_text(json, "]");
	}
	buf_text(json, "]}");
}

/* Sums over all processes, also over those without a row on the page. */
static void add_missing(struct buf *json, const struct reduced *reduced)
{
	struct reduced_missing missing = reduced_job_missing(reduced);

	buf_printf(json, ", \"processes\": %zu, \"incomplete\": %zu, \"missing\": %" PRIu64,
		reduced->nr_processes, missing.nr_processes, missing.nr_events);
}

/* How times of several processes compare. */
static void add_clock(struct buf *json, const struct cmd_input *input)
{
	struct buf text = {0};

	job_clock_print(input->processes, input->nr_processes, "", &text);
	buf_text(json, ", \"clock\": ");
	text_add_json(json, text.bytes ? text.bytes : "", text.nr_bytes);
	buf_fini(&text);
}

static void add_page(
	struct buf *json, const struct html_options *options, const struct cmd_input *input)
{
	time_t now = time(NULL);
	char written[40] = "";
	struct tm tm;

	if (localtime_r(&now, &tm)) {
		strftime(written, sizeof(written), "%Y-%m-%d %H:%M:%S %z", &tm);
	}
	buf_printf(json, ",\n\"page\": {\"written\": \"%s\", \"top\": %zu", written, options->top);
	buf_text(json, ", \"licence\": ");
	text_add_json(json, licence.bytes, (size_t)(licence.end - licence.bytes));
	buf_printf(json, ", \"is_diff\": %s, \"is_reduced\": %s", options->diff ? "true" : "false",
		options->reduced ? "true" : "false");
	if (options->reduced) {
		add_missing(json, options->reduced);
	} else {
		add_clock(json, input);
	}
	buf_text(json, ",\n\"facts\": [");
	for (size_t i = 0; i < input->nr_processes; i++) {
		buf_text(json, i ? ",\n" : "\n");
		add_facts(json, input->processes[i], options->diff ? "A" : "");
	}
	for (size_t i = 0; options->other && i < options->other->nr_processes; i++) {
		buf_text(json, ",\n");
		add_facts(json, options->other->processes[i], "B");
	}
	buf_text(json, "],\n\"tables\": {");
}

static void add_table(struct buf *json, struct buf *shapes, struct table *table, const char *help,
	const struct html_options *options)
{
	static const struct table_style style = {.format = TABLE_JSON};

	table_cut(table, html_rows(options, table->key));
	buf_text(json, ",\n");
	table_print(table, &style, json);
	buf_text(shapes, shapes->nr_bytes ? ",\n" : "\n");
	add_shape(shapes, table, help);
	table_destroy(table);
}

/* Does B take longer? The page leads with the answer of `diff --fail-on`. */
static struct table *make_verdict(const struct diff *diff)
{
	bool has_steps = diff->sides[0].has_steps;
	struct diff_judgement judgement;
	struct diff_check check;
	struct table *table;

	diff_check_parse(&check, has_steps ? "step_time>0%" : "run_time>0%");
	judgement = diff_check_judge(&check, &diff->sides[0], &diff->sides[1], diff->sections);
	table = diff_checks_table(&check, &judgement, 1, has_steps);
	diff_check_fini(&check);
	return table;
}

/* The tables of `diff --format json`. */
static void add_diff(const struct html_options *options, struct buf *json, struct buf *shapes)
{
	add_table(json, shapes, diff_sides_table(options->diff), "", options);
	for (unsigned int s = 0; s < NR_DIFF_SECTIONS; s++) {
		add_table(json, shapes, diff_section_table(options->diff, (enum diff_section)s), "",
			options);
	}
	add_table(json, shapes, make_verdict(options->diff), "", options);
}

/* The tables of `summary --format json` for a summary of `reduce`. */
static void add_reduced(const struct html_options *options, struct buf *json, struct buf *shapes)
{
	add_table(json, shapes, reduced_processes_table(options->reduced), "profiled processes",
		options);
	for (const struct reduced_view_class *class = reduced_views; class->view; class ++) {
		struct table *aside = reduced_view_aside(options->reduced, class);

		if (aside) {
			add_table(json, shapes, aside, "", options);
		}
	}
	for (const struct reduced_view_class *class = reduced_views; class->view; class ++) {
		add_table(
			json, shapes, class->table(options->reduced, class->argument), "", options);
	}
}

/* The tables of `summary --format json`. */
static void add_views(const struct html_options *options, const struct cmd_input *input,
	struct buf *json, struct buf *shapes)
{
	struct view_input view_input = {
		.processes = input->processes, .nr_processes = input->nr_processes, .is_all = true};
	const struct view_class *classes[SUMMARY_VIEWS] = {NULL};
	void *views[SUMMARY_VIEWS];
	struct table *selection;
	size_t nr = 0;

	for (size_t i = 0; view_classes[i] && nr < SUMMARY_VIEWS; i++) {
		if (!view_classes[i]->is_asked_only) {
			classes[nr++] = view_classes[i];
		}
	}
	view_run(&view_input, classes, nr, views);
	/* After the scan, which finds damage in columns. */
	add_table(json, shapes, summary_processes(input), "profiled processes", options);
	selection = select_table(input->processes, input->nr_processes);
	if (selection) {
		add_table(json, shapes, selection, "the selection of steps", options);
	}
	for (size_t i = 0; i < nr; i++) {
		add_table(
			json, shapes, view_table(classes[i], views[i]), classes[i]->help, options);
		view_destroy(classes[i], views[i]);
	}
}

static void add_data(
	const struct html_options *options, const struct cmd_input *input, struct buf *json)
{
	struct buf shapes = {0};

	buf_printf(json, "{\"gprof_report\": \"%s\"", GPROF_VERSION);
	if (options->diff) {
		add_diff(options, json, &shapes);
	} else if (options->reduced) {
		add_reduced(options, json, &shapes);
	} else {
		add_views(options, input, json, &shapes);
	}
	add_page(json, options, input);
	buf_add(json, shapes.bytes, shapes.nr_bytes);
	buf_text(json, "}}}\n");
	buf_fini(&shapes);
}

/* ---- the page ---- */

/* Scripts and styles run only with this nonce, which no name in the data can contain. */
static void add_nonce(struct buf *out)
{
	unsigned char bytes[16];

	if (syscall(SYS_getrandom, bytes, sizeof(bytes), 0) != (long)sizeof(bytes)) {
		struct timespec now;

		memset(bytes, 0, sizeof(bytes));
		clock_gettime(CLOCK_REALTIME, &now);
		memcpy(bytes, &now.tv_nsec, sizeof(now.tv_nsec));
	}
	for (size_t i = 0; i < sizeof(bytes); i++) {
		buf_printf(out, "%02x", bytes[i]);
	}
}

static void add_flame(
	const struct html_options *options, const struct cmd_input *input, struct buf *out)
{
	struct buf json;

	buf_init(&json, escape, out);
	html_flame_write(input, options->other, &json);
	buf_flush(&json);
	buf_fini(&json);
}

/* Two runs share the room. */
static void add_timeline(
	const struct html_options *options, const struct cmd_input *input, struct buf *out)
{
	size_t bytes = options->diff ? options->timeline_bytes / 2 : options->timeline_bytes;

	if (bytes) {
		html_timeline_write(input, bytes, out);
	}
}

/* Writes what replaces the placeholder at `at`. Returns its length; 0: it is not a placeholder. */
static size_t add_part(struct buf *out, const char *at, size_t nr_left, const struct buf *nonce,
	const struct html_options *options, const struct cmd_input *input)
{
	for (const struct part *part = parts; part->name; part++) {
		size_t length = strlen(part->name);

		if (nr_left >= length && memcmp(at, part->name, length) == 0) {
			buf_add(out, part->bytes, (size_t)(part->end - part->bytes));
			return length;
		}
	}
	if (nr_left >= 7 && memcmp(at, "@NONCE@", 7) == 0) {
		buf_add(out, nonce->bytes, nonce->nr_bytes);
		return 7;
	}
	if (nr_left >= 6 && memcmp(at, "@DATA@", 6) == 0) {
		struct buf json;

		buf_init(&json, escape, out);
		add_data(options, input, &json);
		buf_flush(&json);
		buf_fini(&json);
		return 6;
	}
	if (nr_left >= 10 && memcmp(at, "@TIMELINE@", 10) == 0) {
		if (!options->reduced) {
			add_timeline(options, input, out);
		}
		return 10;
	}
	if (nr_left >= 12 && memcmp(at, "@TIMELINE_B@", 12) == 0) {
		if (options->diff) {
			add_timeline(options, options->other, out);
		}
		return 12;
	}
	if (nr_left >= 7 && memcmp(at, "@FLAME@", 7) == 0) {
		if (!options->reduced) {
			add_flame(options, input, out);
		}
		return 7;
	}
	return 0;
}

void html_write(const struct html_options *options, const struct cmd_input *input, struct buf *out)
{
	const char *at = page.bytes;
	struct buf nonce = {0};

	add_nonce(&nonce);
	while (at < page.end) {
		const char *word = memchr(at, '@', (size_t)(page.end - at));
		size_t length;

		if (!word) {
			break;
		}
		buf_add(out, at, (size_t)(word - at));
		length = add_part(out, word, (size_t)(page.end - word), &nonce, options, input);
		buf_add(out, word, length ? 0 : 1);
		at = word + (length ? length : 1);
	}
	buf_add(out, at, (size_t)(page.end - at));
	buf_fini(&nonce);
}
