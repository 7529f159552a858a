/* SPDX-License-Identifier: Apache-2.0 */
/* `env`: the recorder's variables, from the recorder's own list. */
#include <stdio.h>
#include <string.h>

#include "report/session/options.h"
#include "report/table/print.h"

static const struct {
	const char *name, *type, *otherwise, *allowed, *help;
} variables[] = {
#define CONFIG(name, type, otherwise, min, max, allowed, help) \
	{"GPROF_" #name, #type, otherwise, allowed, help},
#include "collector/util/config.def"
#undef CONFIG
};

static const struct table_column columns[] = {
	TABLE_COLUMN("name", "Variable", TABLE_TEXT),
	TABLE_COLUMN("default", "Default", TABLE_TEXT),
	TABLE_COLUMN("allowed", "Allowed", TABLE_TEXT),
	TABLE_COLUMN("help", "Meaning", TABLE_TEXT),
};

static int run(int argc, char **argv)
{
	struct table_style style = {.format = TABLE_TEXT_FORMAT, .is_wide = true};
	struct table *table;
	struct buf out = {0};
	int status;

	if (argc > 1 && strcmp(argv[1], "--markdown") == 0) {
		style.format = TABLE_MARKDOWN;
	} else if (argc > 1) {
		return options_unknown(&cmd_env, argv[1]);
	}
	table = table_create("env", "Variables that gprof reads in the target", columns, 4);
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		struct table_cell *cells = table_add_row(table);

		table_set_text(&cells[0], variables[i].name, strlen(variables[i].name));
		table_set_text(&cells[1], variables[i].otherwise, strlen(variables[i].otherwise));
		table_set_text(&cells[2], variables[i].allowed, strlen(variables[i].allowed));
		table_set_text(&cells[3], variables[i].help, strlen(variables[i].help));
	}
	table_print(table, &style, &out);
	status = cmd_write(NULL, &out);
	table_destroy(table);
	buf_fini(&out);
	return status;
}

const struct command cmd_env = {
	.name = "env",
	.arguments = "[--markdown]",
	.help = "list the variables that the recorder reads in the target",
	.options = "  --markdown             print a Markdown table\n",
	.run = run,
};
