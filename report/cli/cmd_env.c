/* SPDX-License-Identifier: Apache-2.0 */
/* `env`: the recorder's variables, from the recorder's own list. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/session/options.h"
#include "report/table/print.h"
#include "report/util/closest_name.h"
#include "report/util/text.h"

static const struct variable {
	const char *name, *type, *otherwise, *allowed, *help;
} variables[] = {
#define CONFIG(name, type, otherwise, min, max, allowed, help) \
	{"GPROF_" #name, #type, otherwise, allowed, help},
#include "collector/util/config.def"
#undef CONFIG
};
#define NR_VARIABLES (sizeof(variables) / sizeof(variables[0]))

static const struct table_column columns[] = {
	TABLE_COLUMN("name", "Variable", TABLE_TEXT, TABLE_MEMBER(variable, name)),
	TABLE_COLUMN("default", "Default", TABLE_TEXT, TABLE_MEMBER(variable, otherwise)),
	TABLE_COLUMN("allowed", "Allowed", TABLE_TEXT, TABLE_MEMBER(variable, allowed)),
	TABLE_COLUMN("help", "Meaning", TABLE_TEXT, TABLE_MEMBER(variable, help)),
};

#define PREFIX "GPROF_"

/* Longer lists of values have blanks, for a line to break at. */
#define MAX_WORD 60u

/* Warns of variables in the environment that gprof does not read, with what was probably meant. */
static void warn_unknown(void)
{
	const char **names = mem_zeroed(NR_VARIABLES + 1, sizeof(*names));

	for (size_t i = 0; i < NR_VARIABLES; i++) {
		names[i] = variables[i].name + strlen(PREFIX);
	}
	for (char **each = environ; *each; each++) {
		char *name = strndup(*each, strcspn(*each, "="));
		const char *letters = name + strlen(PREFIX), *closest;
		int place;

		/* Those of gprof's own processes are for itself. */
		if (strncmp(name, PREFIX, strlen(PREFIX)) == 0 &&
			strncmp(letters, "NEXT_", 5) != 0 && strncmp(letters, "WATCH_", 6) != 0 &&
			!options_choose(letters, names, &place)) {
			/* Every name is close to three letters. */
			closest = strlen(letters) > 3 ? closest_name(letters, names) : NULL;
			cmd_error("%s is no variable of gprof and is ignored%s%s%s", name,
				closest ? "; did you mean " PREFIX : "", closest ? closest : "",
				closest ? "?" : "");
		}
		free(name);
	}
	free(names);
}

static void print_markdown(struct buf *out)
{
	const struct table_style style = {.format = TABLE_MARKDOWN};
	struct table *table =
		table_create("env", "Variables that gprof reads in the target", columns, 4);

	for (size_t i = 0; i < NR_VARIABLES; i++) {
		table_add(table, &variables[i]);
	}
	table_print(table, &style, out);
	table_destroy(table);
}

/* A variable with its default, and its meaning below: a table of them would be too wide. */
static void print_text(struct buf *out)
{
	struct table_style style = {.format = TABLE_TEXT_FORMAT};
	struct buf text = {0};

	terminal_set(&style, NULL, TERMINAL_AUTO);
	buf_text(out, "Variables that gprof reads in the target, with their defaults:\n");
	for (size_t i = 0; i < NR_VARIABLES; i++) {
		text.nr_bytes = 0;
		buf_printf(&text, "%s (", variables[i].help);
		if (strlen(variables[i].allowed) > MAX_WORD) {
			text_add_choices(&text, variables[i].allowed);
		} else {
			buf_text(&text, variables[i].allowed);
		}
		buf_add(&text, ")", sizeof(")"));
		buf_printf(out, "\n%s=%s\n", variables[i].name, variables[i].otherwise);
		text_wrap(out, text.bytes, "    ", table_line_width(&style));
	}
	buf_fini(&text);
}

static const struct option_line options[] = {
	OPTION("markdown", 0, NULL, "print a Markdown table"),
	{0},
};

static int run(int argc, char **argv)
{
	bool is_markdown = argc > 1 && strcmp(argv[1], "--markdown") == 0;
	struct buf out = {0};
	int status;

	if (argc > 1 && !is_markdown) {
		return options_unknown(&cmd_env, argv[1]);
	}
	if (is_markdown) {
		print_markdown(&out);
	} else {
		print_text(&out);
	}
	status = cmd_write(NULL, &out);
	if (!is_markdown) {
		warn_unknown();
	}
	buf_fini(&out);
	return status;
}

const struct command cmd_env = {
	.name = "env",
	.arguments = "[--markdown]",
	.help = "list the variables that the recorder reads in the target, and check those of this "
		"shell",
	.options = options,
	.run = run,
};
