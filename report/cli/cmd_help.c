/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of commands, in the order of the help, and the command `help`, which prints the list,
 * the usage of one, or the columns of a view. main() and the completions of shells read the same
 * table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/session/session.h"
#include "report/session/view_list.h"
#include "report/util/closest_name.h"
#include "report/util/text.h"

const struct command *const commands[] = {
	&cmd_summary,
	&cmd_timeline,
	&cmd_html,
	&cmd_serve,
	&cmd_runs,
	&cmd_diff,
	&cmd_whatif,
	&cmd_flame,
	&cmd_export,
	&cmd_sql,
	&cmd_reduce,
	&cmd_info,
	&cmd_check,
	&cmd_watch,
	&cmd_control,
	&cmd_env,
	&cmd_completion,
	&cmd_help,
	NULL,
};

/* The unit of a column in JSON. */
static const char *unit_of(enum table_type type)
{
	switch (type) {
	case TABLE_TIME:
	case TABLE_MEAN_TIME:
		return "ns";
	case TABLE_SIZE:
	case TABLE_MEAN_SIZE:
		return "bytes";
	case TABLE_RATE:
		return "bytes/s";
	case TABLE_PERCENT:
		return "%";
	case TABLE_NAME:
	case TABLE_TEXT:
		return "text";
	default:
		return "";
	}
}

static int print_view(const struct view_class *class)
{
	struct buf out = {0};

	buf_printf(&out, "%s - %s\n\n", class->name, class->help);
	if (class->about) {
		text_wrap(&out, class->about, "", 80);
		buf_char(&out, '\n');
	}
	buf_printf(&out,
		"Columns of the table \"%s\", by their keys in JSON and for --sort (+: text has it "
		"with --wide):\n\n",
		class->title);
	for (unsigned int i = 0; i < class->nr_columns; i++) {
		const struct table_column *column = &class->columns[i];

		buf_printf(&out, "%c %-24s %-8s %s%s%s\n", column->is_wide_only ? '+' : ' ',
			column->key, unit_of(column->type), column->title, column->help ? ": " : "",
			column->help ? column->help : "");
	}
	cmd_print_help(&out);
	buf_fini(&out);
	return CMD_GOOD;
}

const char *cmd_closest_name(const char *word)
{
	size_t nr = 0, nr_views = 0;
	const char **names, *closest;

	while (commands[nr]) {
		nr++;
	}
	while (view_classes[nr_views]) {
		nr_views++;
	}
	names = mem_zeroed(nr + nr_views + 1, sizeof(*names));
	for (size_t i = 0; i < nr; i++) {
		names[i] = commands[i]->name;
	}
	for (size_t i = 0; i < nr_views; i++) {
		names[nr + i] = view_classes[i]->name;
	}
	closest = closest_name(word, names);
	free(names);
	return closest;
}

static int run(int argc, char **argv)
{
	struct buf out = {0};

	for (size_t i = 0; argc > 1 && commands[i]; i++) {
		if (strcmp(commands[i]->name, argv[1]) == 0) {
			return cmd_print_usage(commands[i]);
		}
	}
	if (argc > 1 && view_find(argv[1], strlen(argv[1]))) {
		return print_view(view_find(argv[1], strlen(argv[1])));
	}
	if (argc > 1) {
		const char *closest = cmd_closest_name(argv[1]);

		return cmd_usage(NULL, "unknown command or view '%s'%s%s%s", argv[1],
			closest ? " (did you mean " : "", closest ? closest : "",
			closest ? "?)" : "");
	}
	buf_printf(&out,
		"usage: gprof-report [COMMAND] [OPTION]... [PATH]...\n\n"
		"Reads what gprof recorded. PATH is a dump directory, a stream or a trace of "
		"PyTorch's\n"
		"profiler; the default is $GPROF_DIR, or gprof-dump. The default command is "
		"summary.\n\n"
		"Commands:\n");
	for (size_t i = 0; commands[i]; i++) {
		buf_printf(&out, "  %-10s %s\n", commands[i]->name, commands[i]->help);
	}
	buf_printf(&out, "\nExit status:\n"
			 "  0          success\n"
			 "  1          nothing could be read, or the output could not be written\n"
			 "  2          usage error\n"
			 "  3          incomplete or inconsistent data; stderr names the cause\n"
			 "  4          a condition of diff --fail-on holds\n"
			 "  5          the runs are too short or too noisy for such a condition\n"
			 "\ngprof-report help COMMAND lists the options of a command,\n"
			 "gprof-report help VIEW the columns of a view of summary.\n");
	cmd_print_help(&out);
	buf_fini(&out);
	return CMD_GOOD;
}

const struct command cmd_help = {
	.name = "help",
	.arguments = "[COMMAND|VIEW]",
	.help = "list the commands, the options of one, or the columns of a view",
	.options = option_line_none,
	.run = run,
};
