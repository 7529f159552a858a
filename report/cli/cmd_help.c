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

static int run(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && commands[i]; i++) {
		if (strcmp(commands[i]->name, argv[1]) == 0) {
			return cmd_print_usage(commands[i]);
		}
	}
	if (argc > 1) {
		return cmd_usage(&cmd_help, "unknown command '%s'", argv[1]);
	}
	printf("usage: gprof-report [COMMAND] [OPTION]... [PATH]...\n\n"
	       "Reads what gprof recorded. PATH is a dump directory, a stream or a trace of "
	       "PyTorch's\n"
	       "profiler; the default is $GPROF_DIR, or gprof-dump. The default command is "
	       "summary.\n\n"
	       "Commands:\n");
	for (size_t i = 0; commands[i]; i++) {
		printf("  %-10s %s\n", commands[i]->name, commands[i]->help);
	}
	printf("\nExit status:\n"
	       "  0          success\n"
	       "  1          nothing could be read, or the output could not be written\n"
	       "  2          usage error\n"
	       "  3          incomplete or inconsistent data; stderr names the cause\n"
	       "  4          a condition of diff --fail-on holds\n"
	       "\ngprof-report help COMMAND lists the options of a command.\n");
	return CMD_GOOD;
}

const struct command cmd_help = {
	.name = "help",
	.arguments = "[COMMAND]",
	.help = "list the commands, or the options of one",
	.options = "",
	.run = run,
};
