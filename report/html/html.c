/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies page/page.html and replaces its placeholders in their order (add_part). Views are shared
 * out to groups, each a scan and a walk over operators of its own; in large dumps, workers run some
 * of the groups meanwhile, and the timeline. A worker's result is not used if it found damage: this
 * process must find that itself, to warn of it.
 */
#include "report/html/html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "report/comm/job_clock.h"
#include "report/comm/sanity.h"
#include "report/diff/diff.h"
#include "report/html/flame_data.h"
#include "report/html/timeline_data.h"
#include "report/reduce/reduced_job.h"
#include "report/reduce/reduced_view.h"
#include "report/model/run_state.h"
#include "report/session/summary.h"
#include "report/session/view_list.h"
#include "report/stream/prefetch.h"
#include "report/stream/stream.h"
#include "report/table/short_names.h"
#include "report/util/progress.h"
#include "report/util/text.h"
#include "report/util/worker.h"

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

static const char *const over_time[] = {"steps", "breakdown", "data_loading_steps",
	"utilization_time", "memory_curve", "memory_blocks", NULL};

/* How many rows of the table with that key the page has. */
static size_t html_rows(const struct html_options *options, const char *key)
{
	for (size_t i = 0; over_time[i]; i++) {
		if (strcmp(key, over_time[i]) == 0 && options->top &&
			options->top < HTML_MAX_TIME) {
			return HTML_MAX_TIME;
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

static const char *type_name(const struct table_column *column)
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

	return column->is_p ? "p" : names[column->type];
}

/* Adds how the page shows the kernels of these rows, as text does; 0: by the whole name. */
static void add_short_names(struct buf *json, const struct table *table, unsigned int column)
{
	struct short_names *names = short_names_create(true);

	for (size_t i = 0; i < table->nr_rows; i++) {
		short_names_add(names, (uint32_t)table_row(table, i)[column].integer);
	}
	short_names_choose(names);
	buf_text(json, ", \"short_names\": [");
	for (size_t i = 0; i < table->nr_rows; i++) {
		uint32_t name = (uint32_t)table_row(table, i)[column].integer;
		size_t nr_bytes, nr_short;
		const char *bytes = string_pool_shown(name, &nr_bytes);
		const char *text = short_names_text(names, name, &nr_short);

		buf_text(json, i ? "," : "");
		if (nr_short == nr_bytes && memcmp(text, bytes, nr_bytes) == 0) {
			buf_char(json, '0');
		} else {
			text_add_json(json, text, nr_short);
		}
	}
	buf_text(json, "]");
	short_names_destroy(names);
}

/* Adds what the page needs beside the JSON of a table: titles, types of numbers, levels of rows. */
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
		buf_printf(json, ", \"%s\", %d]", type_name(column), column->is_wide_only);
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
	/* This table has the kernels that others name; of those that --top cuts, the page has whole
	 * names. */
	for (unsigned int c = 0; c < table->nr_columns && !strcmp(table->key, "kernel"); c++) {
		if (table->columns[c].is_kernel && !strcmp(table->columns[c].key, "name")) {
			add_short_names(json, table, c);
		}
	}
	buf_text(json, "}");
}

/*
 * Adds facts about the process from the stream: versions, settings, devices; the step that the
 * recording does not end. side: "A", "B" or "".
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

/* Adds sums over all processes, also over those without a row on the page. */
static void add_missing(struct buf *json, const struct reduced *reduced)
{
	struct reduced_missing missing = reduced_job_missing(reduced);

	buf_printf(json, ", \"processes\": %zu, \"incomplete\": %zu, \"missing\": %" PRIu64,
		reduced->nr_processes, missing.nr_processes, missing.nr_events);
}

/* Adds how times of several processes compare. */
static void add_clock(struct buf *json, const struct cmd_input *input)
{
	struct buf text = {0};

	job_clock_print(input->processes, input->nr_processes, "", &text);
	buf_text(json, ", \"clock\": ");
	text_add_json(json, text.bytes ? text.bytes : "", text.nr_bytes);
	buf_fini(&text);
}

/* Adds when the first process began; "" if no stream says it. */
static void add_started(struct buf *json, const struct cmd_input *input)
{
	buf_text(json, ", \"started\": \"");
	run_state_add_begin(json, input->processes, input->nr_processes, "%Y-%m-%d %H:%M");
	buf_char(json, '"');
}

/* Adds the paths, as words of a command line. */
static void add_paths(struct buf *json, const struct html_options *options)
{
	buf_text(json, ", \"paths\": [");
	for (int i = 0; i < options->nr_paths; i++) {
		struct buf word = {0};

		text_add_shell_word(&word, options->paths[i]);
		buf_text(json, i ? ", " : "");
		text_add_json(json, word.bytes, word.nr_bytes);
		buf_fini(&word);
	}
	buf_text(json, "]");
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
	add_started(json, input);
	add_paths(json, options);
	buf_printf(json, ", \"is_diff\": %s, \"is_reduced\": %s", options->diff ? "true" : "false",
		options->reduced ? "true" : "false");
	if (options->reduced) {
		add_missing(json, options->reduced);
	} else {
		add_clock(json, input);
	}
	if (options->served_nonce) {
		buf_printf(json, ", \"window_events\": %u", HTML_WINDOW_SLICES);
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

/* A table as JSON, and its shape. */
struct table_text {
	struct buf json, shape;
};

static void print_table(struct table_text *text, struct table *table, const char *help,
	const struct html_options *options)
{
	static const struct table_style style = {.format = TABLE_JSON};

	table_cut(table, html_rows(options, table->key));
	table_print(table, &style, &text->json);
	add_shape(&text->shape, table, help);
	table_destroy(table);
}

static void join_table(struct buf *json, struct buf *shapes, struct table_text *text)
{
	buf_text(json, ",\n");
	buf_add(json, text->json.bytes, text->json.nr_bytes);
	buf_text(shapes, shapes->nr_bytes ? ",\n" : "\n");
	buf_add(shapes, text->shape.bytes, text->shape.nr_bytes);
	buf_fini(&text->json);
	buf_fini(&text->shape);
}

static void add_table(struct buf *json, struct buf *shapes, struct table *table, const char *help,
	const struct html_options *options)
{
	struct table_text text = {0};

	print_table(&text, table, help, options);
	join_table(json, shapes, &text);
}

/* Adds the tables of `diff --format json`. */
static void add_diff(const struct html_options *options, struct buf *json, struct buf *shapes)
{
	add_table(json, shapes, diff_answer_table(options->diff, 0), "", options);
	add_table(json, shapes, diff_sides_table(options->diff), "", options);
	for (unsigned int s = 0; s < NR_DIFF_SECTIONS; s++) {
		add_table(json, shapes, diff_section_table(options->diff, (enum diff_section)s), "",
			options);
	}
}

/* Adds the tables of `summary --format json` for a summary of `reduce`. */
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

/* ---- views, shared out to processes ---- */

/* With fewer events the page is written before workers would have started. */
#define MIN_SHARED_EVENTS 250000u
#define MAX_WORKERS	  3u

/*
 * This process runs two groups: the views that do without GPU activities, then those that share a
 * walk over operators with the flame graphs. These need the phases that the walk of the first group
 * finds. Each worker runs one of the other groups.
 */
enum { GROUP_FIRST, GROUP_FLAME, GROUP_WORKERS, MAX_GROUPS = GROUP_WORKERS + MAX_WORKERS };

struct view_group {
	const struct html_options *options;
	const struct cmd_input *input;
	const struct view_class *classes[SUMMARY_VIEWS];
	struct table_text texts[SUMMARY_VIEWS];
	size_t nr, nr_joined, weight;
	struct worker worker; /* from GROUP_WORKERS on */
};

/* All that is made at the same time. */
struct work {
	const struct html_options *options;
	const struct cmd_input *input;
	struct view_group groups[MAX_GROUPS];
	size_t nr_groups;
	uint8_t group_of[SUMMARY_VIEWS]; /* of each view of the page, in their order */
	struct worker timeline;
	struct buf flame; /* the flame graphs, once they are made */
};

/* Damage that a worker finds, and what it says of it, does not come back. */
static uint64_t nr_damaged(const struct cmd_input *input)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < input->nr_processes; i++) {
		nr += process_missing(input->processes[i]);
	}
	return nr;
}

/* walks: further ones over operators, in the same pass. */
static void run_group(struct view_group *group, const struct op_walk *walks, size_t nr_walks)
{
	struct view_input input = {.processes = group->input->processes,
		.nr_processes = group->input->nr_processes,
		.is_all = true};
	void *views[SUMMARY_VIEWS];

	view_run_with(&input, group->classes, group->nr, views, walks, nr_walks);
	for (size_t i = 0; i < group->nr; i++) {
		const struct view_class *class = group->classes[i];

		print_table(
			&group->texts[i], view_table(class, views[i]), class->help, group->options);
	}
	for (size_t i = 0; i < group->nr; i++) {
		view_destroy(group->classes[i], views[i]);
	}
}

static void add_counted(struct buf *out, const struct buf *text)
{
	buf_add(out, &text->nr_bytes, sizeof(text->nr_bytes));
	buf_add(out, text->bytes, text->nr_bytes);
}

/* The result is of no use if there is damage to warn of. */
static bool run_worker(void *context, struct buf *out)
{
	struct view_group *group = context;
	uint64_t nr_before = nr_damaged(group->input);

	run_group(group, NULL, 0);
	for (size_t i = 0; i < group->nr; i++) {
		add_counted(out, &group->texts[i].json);
		add_counted(out, &group->texts[i].shape);
	}
	return nr_damaged(group->input) == nr_before && !sanity_has_added();
}

static const char *take_counted(const char *at, struct buf *text)
{
	size_t nr_bytes;

	memcpy(&nr_bytes, at, sizeof(nr_bytes));
	buf_add(text, at + sizeof(nr_bytes), nr_bytes);
	return at + sizeof(nr_bytes) + nr_bytes;
}

static void end_group(struct view_group *group)
{
	struct buf bytes = {0};
	const char *at;

	if (worker_end(&group->worker, &bytes)) {
		at = bytes.bytes;
		for (size_t i = 0; i < group->nr; i++) {
			at = take_counted(at, &group->texts[i].json);
			at = take_counted(at, &group->texts[i].shape);
		}
	} else {
		run_group(group, NULL, 0);
	}
	buf_fini(&bytes);
}

/*
 * Shares of the CPU time of a page, about 1 % each (perf record, 60 million events): the first
 * group with the flame graphs; a scan of GPU activities in the order of time, with its views; a
 * walk over operators that has the activities of each call.
 */
#define WEIGHT_FLAME 32u
#define WEIGHT_SCAN  7u
#define WEIGHT_WALK  10u

/* Does it need a scan over events? The flame graphs need none. */
static bool has_scan(const struct view_class *class)
{
	bool has = class->scan.on_batch || class->scan.on_activity;

	for (unsigned int i = 0; i < VIEW_MAX_PARTS; i++) {
		has |= class->parts[i].scan && !class->parts[i].is_scan_rare;
	}
	return has;
}

/* Weighs a walk that gets the activities of each call; the constants above include the others. */
static size_t weight_of_ops(const struct op_view *ops)
{
	return ops && ops->record
		       ? 1u + (ops->op != NULL) + (ops->call != NULL) + 2u * (ops->enter != NULL)
		       : 0;
}

/* 0: no activities of calls. */
static size_t weight_of(const struct view_class *class)
{
	size_t weight = weight_of_ops(&class->ops);

	for (unsigned int i = 0; i < VIEW_MAX_PARTS; i++) {
		weight += weight_of_ops(class->parts[i].ops);
	}
	return weight ? weight + 3u * has_scan(class) : 0;
}

/* The first worker alone scans GPU activities. */
static size_t find_group(const struct work *work, const struct view_class *class)
{
	size_t number = GROUP_FLAME;

	if (work->nr_groups == GROUP_WORKERS || (!weight_of(class) && !class->scan.on_activity)) {
		return GROUP_FIRST;
	}
	if (has_scan(class)) {
		return GROUP_WORKERS;
	}
	for (size_t k = GROUP_WORKERS; k < work->nr_groups; k++) {
		number = work->groups[k].weight < work->groups[number].weight ? k : number;
	}
	return number;
}

/*
 * Chooses the leaders' groups. is_free: of those that may be in several, which comes after all
 * others.
 */
static void place_leaders(struct work *work, bool is_free)
{
	for (size_t i = 0; view_classes[i] && i < SUMMARY_VIEWS; i++) {
		const struct view_class *class = view_classes[i];

		if (!class->is_asked_only && view_owner(class) == class &&
			(weight_of(class) && !has_scan(class)) == is_free) {
			work->group_of[i] = (uint8_t)find_group(work, class);
			work->groups[work->group_of[i]].weight += weight_of(class);
		}
	}
}

static void place_others(struct work *work)
{
	for (size_t i = 0; view_classes[i] && i < SUMMARY_VIEWS; i++) {
		for (size_t k = 0; view_classes[k] && k < SUMMARY_VIEWS; k++) {
			if (view_classes[k] == view_owner(view_classes[i])) {
				work->group_of[i] = work->group_of[k];
			}
		}
	}
}

static void share_out(struct work *work)
{
	for (size_t i = 0; i < work->nr_groups; i++) {
		work->groups[i].options = work->options;
		work->groups[i].input = work->input;
		work->groups[i].weight = WEIGHT_WALK;
	}
	work->groups[GROUP_FLAME].weight = WEIGHT_FLAME;
	work->groups[GROUP_WORKERS].weight += WEIGHT_SCAN;
	place_leaders(work, false);
	place_leaders(work, true);
	place_others(work);
	for (size_t i = 0; view_classes[i] && i < SUMMARY_VIEWS; i++) {
		struct view_group *group = &work->groups[work->group_of[i]];

		if (!view_classes[i]->is_asked_only) {
			group->classes[group->nr++] = view_classes[i];
		}
	}
}

static void write_flame(struct html_flame_run *run, struct html_flame_run *other, struct buf *out)
{
	struct buf json;

	buf_init(&json, escape, out);
	html_flame_write(run, other, &json);
	buf_flush(&json);
	buf_fini(&json);
}

/* By now this process knows the phases. */
static void run_flame_group(struct work *work)
{
	struct html_flame_run run;

	html_flame_begin(&run, work->input, NULL);
	run_group(&work->groups[GROUP_FLAME], run.walks, run.nr);
	write_flame(&run, NULL, &work->flame);
}

/* Writes the flame graphs of two runs. */
static void write_both_flames(const struct work *work, struct buf *out)
{
	const struct cmd_input *inputs[] = {work->input, work->options->other};
	struct flame_ranges ranges = FLAME_NO_RANGES;
	struct html_flame_run runs[2];

	for (int i = 0; i < 2; i++) {
		flame_ranges_add(&ranges, inputs[i]->processes, inputs[i]->nr_processes);
	}
	for (int i = 0; i < 2; i++) {
		html_flame_begin(&runs[i], inputs[i], &ranges);
		op_walk_run(
			inputs[i]->processes, inputs[i]->nr_processes, runs[i].walks, runs[i].nr);
	}
	write_flame(&runs[0], &runs[1], out);
}

/* Adds the tables of `summary --format json`. */
static void add_views(struct work *work, struct buf *json, struct buf *shapes)
{
	const struct html_options *options = work->options;
	const struct cmd_input *input = work->input;
	struct table *selection;

	run_group(&work->groups[GROUP_FIRST], NULL, 0);
	run_flame_group(work);
	for (size_t i = GROUP_WORKERS; i < work->nr_groups; i++) {
		end_group(&work->groups[i]);
	}
	/* After the scan, which finds damage in columns. */
	add_table(json, shapes, summary_processes(input), "profiled processes", options);
	selection = select_table(input->processes, input->nr_processes);
	if (selection) {
		add_table(json, shapes, selection, "the selection of steps", options);
	}
	if (options->history) {
		add_table(json, shapes, options->history, "the runs of this command", options);
	}
	for (size_t i = 0; view_classes[i] && i < SUMMARY_VIEWS; i++) {
		struct view_group *group = &work->groups[work->group_of[i]];

		if (!view_classes[i]->is_asked_only) {
			join_table(json, shapes, &group->texts[group->nr_joined++]);
		}
	}
}

static void add_data(struct work *work, struct buf *json)
{
	const struct html_options *options = work->options;
	struct buf shapes = {0};

	buf_printf(json, "{\"gprof_report\": \"%s\"", GPROF_VERSION);
	if (options->diff) {
		add_diff(options, json, &shapes);
	} else if (options->reduced) {
		add_reduced(options, json, &shapes);
	} else {
		add_views(work, json, &shapes);
	}
	add_page(json, options, work->input);
	buf_add(json, shapes.bytes, shapes.nr_bytes);
	buf_text(json, "}}}\n");
	buf_fini(&shapes);
}

/* ---- the page ---- */

/* Scripts and styles run only with this nonce, which no name in the data can contain. */
static void add_nonce(struct buf *out)
{
	unsigned char bytes[HTML_NONCE_CHARS / 2];

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

void html_add_policy(struct buf *out, const char *nonce, bool is_served)
{
	buf_printf(out,
		"default-src 'none'; script-src 'nonce-%s'; style-src 'nonce-%s'; img-src data:; "
		"%sbase-uri 'none'; form-action 'none'",
		nonce, nonce, is_served ? "connect-src 'self'; " : "");
}

/* Two runs share the room. */
static void add_timeline(
	const struct html_options *options, const struct cmd_input *input, struct buf *out)
{
	size_t bytes = options->diff ? options->timeline_bytes / 2 : options->timeline_bytes;

	html_timeline_write(input, bytes, out);
}

static bool write_timeline(void *context, struct buf *out)
{
	const struct work *work = context;
	uint64_t nr_before = nr_damaged(work->input);

	add_timeline(work->options, work->input, out);
	return nr_damaged(work->input) == nr_before;
}

static bool has_timeline(const struct html_options *options)
{
	return options->timeline_bytes && !options->reduced;
}

/* A group scans and walks, but that of the flame graphs; the timeline of each run is one pass. */
static unsigned int nr_passes(const struct work *work)
{
	unsigned int nr_runs = work->options->reduced ? 0 : work->options->diff ? 2 : 1;

	return (work->options->diff ? 0 : 2 * (unsigned int)(work->nr_groups - 1)) +
	       nr_runs * (1 + has_timeline(work->options));
}

/*
 * Starts workers for large dumps, one for each further core, up to MAX_WORKERS and the timeline.
 */
static void start_workers(struct work *work)
{
	size_t nr_cores = prefetch_nr_threads();
	uint64_t nr_events = 0;

	for (size_t i = 0; i < work->input->nr_processes; i++) {
		nr_events += work->input->processes[i]->nr_events;
	}
	work->nr_groups = GROUP_WORKERS;
	if (work->options->diff || work->options->reduced) {
		progress_start_all("writing the page", nr_passes(work));
		return;
	}
	if (nr_events < MIN_SHARED_EVENTS || nr_cores < 2) {
		share_out(work);
		progress_start_all("writing the page", nr_passes(work));
		return;
	}
	work->nr_groups += nr_cores - 1 < MAX_WORKERS ? nr_cores - 1 : MAX_WORKERS;
	share_out(work);
	progress_start_all("writing the page", nr_passes(work));
	stream_end_threads();
	for (size_t i = GROUP_WORKERS; i < work->nr_groups; i++) {
		worker_start(&work->groups[i].worker, run_worker, &work->groups[i]);
	}
	if (has_timeline(work->options)) {
		worker_start(&work->timeline, write_timeline, work);
	}
}

/* Writes what replaces the placeholder at `at`. Returns its length; 0: it is not a placeholder. */
static size_t add_part(
	struct work *work, struct buf *out, const char *at, size_t nr_left, const char *nonce)
{
	for (const struct part *part = parts; part->name; part++) {
		size_t length = strlen(part->name);

		if (nr_left >= length && memcmp(at, part->name, length) == 0) {
			buf_add(out, part->bytes, (size_t)(part->end - part->bytes));
			return length;
		}
	}
	if (nr_left >= 7 && memcmp(at, "@NONCE@", 7) == 0) {
		buf_text(out, nonce);
		return 7;
	}
	if (nr_left >= 8 && memcmp(at, "@POLICY@", 8) == 0) {
		html_add_policy(out, nonce, work->options->served_nonce != NULL);
		return 8;
	}
	if (nr_left >= 6 && memcmp(at, "@DATA@", 6) == 0) {
		struct buf json;

		buf_init(&json, escape, out);
		add_data(work, &json);
		buf_flush(&json);
		buf_fini(&json);
		return 6;
	}
	if (nr_left >= 10 && memcmp(at, "@TIMELINE@", 10) == 0) {
		if (has_timeline(work->options) && !worker_end(&work->timeline, out)) {
			write_timeline(work, out);
		}
		return 10;
	}
	if (nr_left >= 12 && memcmp(at, "@TIMELINE_B@", 12) == 0) {
		if (has_timeline(work->options) && work->options->diff) {
			add_timeline(work->options, work->options->other, out);
		}
		return 12;
	}
	if (nr_left >= 7 && memcmp(at, "@FLAME@", 7) == 0) {
		if (work->options->diff) {
			write_both_flames(work, out);
		}
		buf_add(out, work->flame.bytes, work->flame.nr_bytes);
		return 7;
	}
	return 0;
}

/* An @ that begins no placeholder stays. */
void html_write(const struct html_options *options, const struct cmd_input *input, struct buf *out)
{
	const char *at = page.bytes;
	struct work *work = mem_zeroed(1, sizeof(*work));
	struct buf nonce = {0};

	work->options = options;
	work->input = input;
	start_workers(work);
	if (options->served_nonce) {
		buf_text(&nonce, options->served_nonce);
	} else {
		add_nonce(&nonce);
	}
	buf_char(&nonce, '\0');
	while (at < page.end) {
		const char *word = memchr(at, '@', (size_t)(page.end - at));
		size_t length;

		if (!word) {
			break;
		}
		buf_add(out, at, (size_t)(word - at));
		length = add_part(work, out, word, (size_t)(page.end - word), nonce.bytes);
		buf_add(out, word, length ? 0 : 1);
		at = word + (length ? length : 1);
	}
	buf_add(out, at, (size_t)(page.end - at));
	progress_stop_all();
	buf_fini(&nonce);
	buf_fini(&work->flame);
	free(work);
}
