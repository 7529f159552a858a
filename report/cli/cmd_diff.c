/* SPDX-License-Identifier: Apache-2.0 */
/* Two inputs side by side: what takes longer in B than in A, and is the change significant? */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/session/options.h"
#include "report/session/sides.h"
#include "report/diff/diff.h"
#include "report/util/err.h"
#include "report/util/text.h"

#define MAX_CHECKS 64u

struct diff_ask {
	struct common_options asked; /* of both sides */
	struct sides sides;
	struct diff run;
	struct diff_check checks[MAX_CHECKS];
	size_t nr_checks;
	bool fails_on_inconclusive, is_github;
};

/* ---- options ---- */

static const char *const github[] = {"github", NULL};

static const struct option_line options[] = {
	OPTION("fail-on", 'F', "CONDITION",
		"exit with status 4 if a value grew: step_time>5%,\n"
		"kernel_time>1ms, forward>3%, operator:aten::*>10%;\n"
		"repeatable",
		.add_words = diff_check_names),
	OPTION("fail-on-inconclusive", 'I', NULL,
		"exit with status 4, not 5, if the runs are too short\n"
		"or too noisy for a condition"),
	/* print_more tells of it. */
	OPTION("format", 'f', "FORMAT", NULL, .words = github, .is_hidden = true),
	COMMON_OPTIONS_TABLE,
	COMMON_OPTIONS_SELECTION,
	COMMON_OPTIONS_OUTPUT_OPTION,
	{0},
};

static int take_check(struct diff_ask *diff, const char *text)
{
	if (diff->nr_checks == MAX_CHECKS) {
		return cmd_usage(&cmd_diff, "more than %u conditions", MAX_CHECKS);
	}
	if (!diff_check_parse(&diff->checks[diff->nr_checks], text)) {
		return cmd_usage(&cmd_diff,
			"invalid condition '%s'; examples: step_time>5%%, forward>2ms, "
			"kernel:*gemm*>10%%",
			text);
	}
	diff->nr_checks++;
	return 0;
}

static int take_options(struct diff_ask *diff, int argc, char **argv)
{
	int option, status;

	while ((option = options_get(&cmd_diff, argc, argv)) >= 0) {
		if (option == 'I') {
			diff->fails_on_inconclusive = true;
			continue;
		}
		if (option == 'f' && strcmp(optarg, github[0]) == 0) {
			diff->is_github = true;
			diff->asked.table.format = TABLE_MARKDOWN;
			continue;
		}
		status = option == 'F' ? take_check(diff, optarg)
				       : common_options_take(&diff->asked, option);
		if (status) {
			return status;
		}
	}
	if (!sides_are_named(&diff->asked, argc - optind)) {
		return cmd_usage(&cmd_diff, "name two paths, the run before and the run after, or "
					    "two runs of one folder: --run 1 --run 2 DIR");
	}
	diff->asked.top = common_options_top(&diff->asked);
	terminal_set(&diff->asked.table, diff->asked.output, diff->asked.color);
	return 0;
}

/* ---- output ---- */

/* The table of conditions, and the worst of their verdicts. */
static struct table *make_checks(const struct diff_ask *diff, enum diff_verdict *worst)
{
	struct diff_judgement judgements[MAX_CHECKS];

	*worst = DIFF_PASSED;
	for (size_t i = 0; i < diff->nr_checks; i++) {
		judgements[i] = diff_check_judge(&diff->checks[i], &diff->run.sides[0],
			&diff->run.sides[1], diff->run.sections);
		*worst = judgements[i].verdict > *worst ? judgements[i].verdict : *worst;
		if (judgements[i].verdict == DIFF_NOT_JUDGED) {
			cmd_error("no name in A or B matches '%s'", diff->checks[i].text);
		}
	}
	return diff_checks_table(
		diff->checks, judgements, diff->nr_checks, diff->run.sides[0].has_steps);
}

static void print_table(const struct diff_ask *diff, struct table *table, struct buf *out)
{
	buf_text(out, diff->asked.table.format == TABLE_JSON ? ",\n" : "");
	table_print(table, &diff->asked.table, out);
	table_destroy(table);
}

static void print_sections(const struct diff_ask *diff, struct buf *out)
{
	for (unsigned int s = 0; s < NR_DIFF_SECTIONS; s++) {
		struct table *table = diff_section_table(&diff->run, (enum diff_section)s);

		table_cut(table, diff->asked.top);
		if (table->nr_rows || diff->asked.table.format == TABLE_JSON) {
			print_table(diff, table, out);
		} else {
			table_destroy(table);
		}
	}
}

/* In bold; what changed most is a table below. */
static void add_answer(const struct diff_ask *diff, struct buf *out)
{
	struct table *table = diff_answer_table(&diff->run, 0);
	const struct table_cell *answer = table_find_cell(table, 0, "answer");

	buf_text(out, "**");
	text_add_markdown(out, answer->text, answer->nr_text);
	buf_text(out, "**\n\n");
	table_destroy(table);
}

/* For a pull request: the result, the conditions, and all else folded. */
static enum diff_verdict print_github(const struct diff_ask *diff, struct buf *out)
{
	static const char *const results[] = {[DIFF_PASSED] = "passed",
		[DIFF_INCONCLUSIVE] = "inconclusive",
		[DIFF_NOT_JUDGED] = "not judged",
		[DIFF_FAILED] = "failed"};
	enum diff_verdict worst;
	struct table *checks = make_checks(diff, &worst);

	buf_printf(out, "## gprof: %s\n\n", diff->nr_checks ? results[worst] : "two runs compared");
	if (diff->nr_checks) {
		print_table(diff, checks, out);
		buf_char(out, '\n');
	} else {
		table_destroy(checks);
	}
	add_answer(diff, out);
	buf_text(out, "<details><summary>What changed per step</summary>\n\n");
	print_table(diff, diff_sides_table(&diff->run), out);
	print_sections(diff, out);
	buf_text(out, "\n</details>\n");
	return worst;
}

static enum diff_verdict print(const struct diff_ask *diff, struct buf *out)
{
	bool is_json = diff->asked.table.format == TABLE_JSON;
	struct table *checks;
	enum diff_verdict worst;

	if (is_json) {
		buf_printf(out, "{\n  \"gprof_report\": \"%s\"", GPROF_VERSION);
	}
	print_table(diff, diff_answer_table(&diff->run, table_line_width(&diff->asked.table)), out);
	print_table(diff, diff_sides_table(&diff->run), out);
	print_sections(diff, out);
	checks = make_checks(diff, &worst);
	if (diff->nr_checks) {
		print_table(diff, checks, out);
	} else {
		table_destroy(checks);
	}
	buf_text(out, is_json ? "\n}\n" : "");
	return worst;
}

/* ---- the command ---- */

/* An output that could not be written comes before the verdict, which nobody can read then. */
static int compare_and_print(struct diff_ask *diff)
{
	const struct cmd_input *const inputs[] = {&diff->sides.inputs[0], &diff->sides.inputs[1]};
	struct buf out = {0};
	enum diff_verdict verdict;
	int status, losses = CMD_GOOD;
	uint32_t sampled = 0;

	for (size_t i = 0; i < diff->nr_checks; i++) {
		sampled |= 1u << diff->checks[i].section;
	}
	diff_run(&diff->run, inputs, diff->sides.names, sampled);
	verdict = diff->is_github ? print_github(diff, &out) : print(diff, &out);
	status = cmd_write(diff->asked.output, &out);
	for (size_t i = 0; i < 2; i++) {
		int of_side = (int)cmd_warn_inconsistent(
			inputs[i], &diff->asked.filter, cmd_warn_losses(inputs[i]));

		losses = of_side ? of_side : losses;
	}
	buf_fini(&out);
	diff_fini(&diff->run);
	if (status) {
		return status;
	}
	switch (verdict) {
	case DIFF_FAILED:
		return CMD_CONDITION;
	case DIFF_INCONCLUSIVE:
		return diff->fails_on_inconclusive ? CMD_CONDITION : CMD_INCONCLUSIVE;
	default:
		return verdict == DIFF_NOT_JUDGED ? CMD_INCOMPLETE : losses;
	}
}

static int run(int argc, char **argv)
{
	struct diff_ask *diff = mem_zeroed(1, sizeof(*diff));
	int status;

	diff->asked.command = &cmd_diff;
	diff->asked.top = COMMON_OPTIONS_NO_TOP;
	diff->asked.takes_two_runs = true;
	status = take_options(diff, argc, argv);
	if (!status) {
		status = (int)sides_open(&diff->sides, &diff->asked, argv + optind, argc - optind);
	}
	if (!status) {
		status = compare_and_print(diff);
	}
	for (size_t i = 0; i < diff->nr_checks; i++) {
		diff_check_fini(&diff->checks[i]);
	}
	sides_close(&diff->sides);
	common_options_fini(&diff->asked);
	free(diff);
	return status == COMMON_OPTIONS_HELP ? CMD_GOOD : status;
}

static void print_more(struct buf *out)
{
	buf_text(out,
		"\n--format github: Markdown for a pull request: the result and the conditions,\n"
		"then all tables, folded.\n");
}

const struct command cmd_diff = {
	.name = "diff",
	.arguments = "[OPTION]... A B | --run N --run M [DIR]",
	.help = "compare two runs: what changed per step, and whether the change is significant",
	.options = options,
	.print_more = print_more,
	.run = run,
};
