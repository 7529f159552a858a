/* SPDX-License-Identifier: Apache-2.0 */
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

struct table *diff_sides_table(const struct diff *diff)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("side", "", TABLE_TEXT),
		TABLE_COLUMN("path", "Path", TABLE_TEXT),
		TABLE_COLUMN("processes", "Processes", TABLE_COUNT),
		TABLE_COLUMN("steps", "Complete steps", TABLE_COUNT),
		TABLE_COLUMN("outside", "Events outside steps", TABLE_COUNT),
		TABLE_COLUMN("unlaunched", "Without a recorded launch", TABLE_COUNT),
		TABLE_COLUMN("untimed", "Without times", TABLE_COUNT, .is_wide_only = true),
		TABLE_COLUMN("late", "Out of order", TABLE_COUNT, .is_wide_only = true),
	};
	struct table *table = table_create("sides", "Compared runs", columns, 8);

	for (size_t i = 0; i < 2; i++) {
		const struct diff_side *side = &diff->sides[i];
		struct table_cell *cells = table_add_row(table);

		table_set_text(&cells[0], i ? "B" : "A", 1);
		table_set_text(&cells[1], diff->paths[i], strlen(diff->paths[i]));
		table_set_integer(&cells[2], side->nr_processes);
		table_set_integer(&cells[6], side->nr_untimed);
		if (side->has_steps) {
			table_set_integer(&cells[3], side->nr_samples);
			table_set_integer(&cells[4], side->nr_outside);
			table_set_integer(&cells[5], side->nr_unlaunched);
			table_set_integer(&cells[7], side->nr_late);
		}
	}
	if (!diff->sides[0].has_steps) {
		table_note(table, "Not both sides have steps: whole processes are compared, and "
				  "significance is unknown.");
	} else {
		table_note(table,
			"A change is significant if Welch's t-test of the step times has p < %g.",
			DIFF_SIGNIFICANT_P);
		table_note(table, "Match: ~ equal apart from arguments and numbers, ~~ most words "
				  "in common.");
	}
	return table;
}

/* What shares are of: A's time of a step, or of all processes. */
static double base_ns(const struct diff *diff)
{
	const struct diff_rows *rows = &diff->sections[DIFF_STEP];

	for (size_t i = 0; i < rows->nr_rows; i++) {
		const char *name = string_pool_text(rows->rows[i].name_a, NULL);

		if (strcmp(name, "step_time") == 0 || strcmp(name, "run_time") == 0) {
			return rows->rows[i].a.mean;
		}
	}
	return 0;
}

struct table *diff_section_table(const struct diff *diff, enum diff_section section)
{
	return diff_table_make(
		section, &diff->sections[section], diff->sides[0].has_steps, base_ns(diff));
}
