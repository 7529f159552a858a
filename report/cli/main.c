/* SPDX-License-Identifier: Apache-2.0 */
/* gprof-report: reads what gprof recorded. The table of commands, and which one is meant. */
#include <stdio.h>
#include <string.h>

#include "report/session/session.h"

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; commands[i]; i++) {
		if (strcmp(commands[i]->name, name) == 0) {
			return commands[i];
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct command *command = argc > 1 ? find_command(argv[1]) : NULL;

	if (command) {
		return command->run(argc - 1, argv + 1);
	}
	if (argc > 1 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
		printf("gprof-report %s (stream format %u.%u)\n", GPROF_VERSION, GPROF_FORMAT_MAJOR,
			GPROF_FORMAT_MINOR);
		return CMD_GOOD;
	}
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		return cmd_help.run(1, argv);
	}
	/* No command: paths and options are for the default one. */
	return commands[0]->run(argc, argv);
}
