/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The comparison as a whole, for cmd_diff.c and the page of both runs (cmd_html.c): reads one side
 * after the other (side.c), pairs the names of each section and tests their changes (table.c,
 * match.c), and makes the table that says what was compared.
 *
 * Both sides are read in the same way: one without steps turns the other into whole processes, too.
 */
#include "report/diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/string_pool.h"

void diff_run(struct diff *diff, const struct cmd_input *const inputs[2], char *const *paths,
	uint32_t sampled)
{
	bool has_steps = diff_has_steps(inputs[0]) && diff_has_steps(inputs[1]);

	for (size_t i = 0; i < 2; i++) {
		diff->paths[i] = paths[i];
		diff_side_read(&diff->sides[i], inputs[i], has_steps, sampled);
	}
	for (unsigned int s = 0; s < NR_DIFF_SECTIONS; s++) {
		diff->sections[s] =
			diff_rows_make(&diff->sides[0], &diff->sides[1], (enum diff_section)s);
	}
}

void diff_fini(struct diff *diff)
{
	for (unsigned int s = 0; s < NR_DIFF_SECTIONS; s++) {
		free(diff->sections[s].rows);
	}
	for (size_t i = 0; i < 2; i++) {
		diff_side_fini(&diff->sides[i]);
	}
}

static const char *note_of_test(const struct diff_row *time)
{
	if (!time || !time->has_p) {
		return "Whether steps changed by chance is unknown: two steps of each side at "
		       "least would show it.";
	}
	return time->is_ranked ? "A change is significant if p < 0.01: Mann-Whitney test of the "
				 "steps; of what is in less than half of them, Welch's t-test."
			       : "A change is significant if p < 0.01: Welch's t-test of the "
				 "steps, which are too few for the Mann-Whitney test.";
}

struct side_row {
	const char *name;
	uint32_t path;
	struct diff_side side;
};

struct table *diff_sides_table(const struct diff *diff)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("side", "", TABLE_TEXT, TABLE_MEMBER(side_row, name)),
		TABLE_COLUMN("path", "Path", TABLE_NAME, TABLE_MEMBER(side_row, path)),
		TABLE_COLUMN("processes", "Processes", TABLE_COUNT,
			TABLE_MEMBER(side_row, side.nr_processes)),
		TABLE_COLUMN("steps", "Complete steps", TABLE_COUNT,
			TABLE_IF(side_row, side.nr_samples, side.has_steps)),
		TABLE_COLUMN("excluded", "Excluded steps", TABLE_COUNT,
			.help = "warm-up and outliers, as on the first screen",
			TABLE_IF(side_row, side.nr_excluded, side.has_steps)),
		TABLE_COLUMN("outside", "Events outside steps", TABLE_COUNT,
			TABLE_IF(side_row, side.nr_outside, side.has_steps)),
		TABLE_COLUMN("unlaunched", "Without a recorded launch", TABLE_COUNT,
			TABLE_IF(side_row, side.nr_unlaunched, side.has_steps)),
		TABLE_COLUMN("untimed", "Without times", TABLE_COUNT, .is_wide_only = true,
			TABLE_MEMBER(side_row, side.nr_untimed)),
		TABLE_COLUMN("late", "Out of order", TABLE_COUNT, .is_wide_only = true,
			TABLE_IF(side_row, side.nr_late, side.has_steps)),
	};
	struct table *table = table_create(
		"sides", "Compared runs", columns, sizeof(columns) / sizeof(columns[0]));

	for (size_t i = 0; i < 2; i++) {

		table_add(table, &(struct side_row){i ? "B" : "A",
					 string_pool_intern(diff->paths[i], strlen(diff->paths[i])),
					 diff->sides[i]});
	}
	if (!diff->sides[0].has_steps) {
		table_note(table, "Not both sides have steps: whole processes are compared, and "
				  "significance is unknown.");
	} else {
		table_note(table, "%s", note_of_test(diff_time_row(diff)));
		table_note(table, "Match: ~ equal apart from arguments and numbers, ~~ most words "
				  "in common.");
	}
	return table;
}

struct table *diff_section_table(const struct diff *diff, enum diff_section section)
{
	const struct diff_row *time = diff_time_row(diff);

	return diff_table_make(section, &diff->sections[section], diff->sides[0].has_steps,
		time ? time->a.mean : 0);
}
