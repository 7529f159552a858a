/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "report/session/session.h"

const struct command *const commands[] = {
	&cmd_summary,
	&cmd_timeline,
	&cmd_html,
	&cmd_diff,
	&cmd_export,
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

static int run(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && commands[i]; i++) {
		if (strcmp(commands[i]->name, argv[1]) == 0) {
			return cmd_print_usage(commands[i]);
		}
	}
	if (argc > 1) {
		return cmd_usage(&cmd_help, "there is no command '%s'", argv[1]);
	}
	printf("usage: gprof-report [COMMAND] [OPTION]... [PATH]...\n\n"
	       "Reads what gprof recorded. PATH is a dump directory or a stream; without one it "
	       "is\n"
	       "$GPROF_DIR, or gprof-dump. Without COMMAND it is summary.\n\n");
	for (size_t i = 0; commands[i]; i++) {
		printf("  %-10s %s\n", commands[i]->name, commands[i]->help);
	}
	printf("\ngprof-report help COMMAND tells the options of a command.\n"
	       "Exit status: 0 good; 1 nothing could be read, or not written; 2 usage;\n"
	       "3 done, but the data are incomplete (stderr says what is missing);\n"
	       "4 a condition of diff --fail-on holds.\n");
	return CMD_GOOD;
}

const struct command cmd_help = {
	.name = "help",
	.arguments = "[COMMAND]",
	.help = "what the commands do, and their options",
	.options = "",
	.run = run,
};
