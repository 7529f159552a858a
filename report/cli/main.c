/* SPDX-License-Identifier: Apache-2.0 */
/* gprof-report: reads what gprof recorded. The table of commands, and which one is meant. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report/session/session.h"
#include "report/session/view_list.h"

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; commands[i]; i++) {
		if (strcmp(commands[i]->name, name) == 0) {
			return commands[i];
		}
	}
	return NULL;
}

/* Is the word a name without a file: of a command or a view that does not exist? */
static bool is_unknown_name(const char *word)
{
	return *word != '-' && !strpbrk(word, "./") && access(word, F_OK) != 0;
}

/*
 * If the first word is almost a command or a view, says which one was probably meant. 0: it is not.
 */
static int suggest(const char *word)
{
	const char *closest = cmd_closest_name(word);

	if (!closest) {
		return 0;
	}
	return cmd_usage(NULL, "there is no command and no file '%s' (did you mean %s%s?)", word,
		view_find(closest, strlen(closest)) ? "--view " : "", closest);
}

int main(int argc, char **argv)
{
	const struct command *command = argc > 1 ? find_command(argv[1]) : NULL;

	if (command && argc == 3 && strcmp(argv[2], "--help") == 0) {
		return cmd_print_usage(command);
	}
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
	if (argc > 1 && is_unknown_name(argv[1]) && suggest(argv[1])) {
		return CMD_USAGE;
	}
	/* No command: paths and options are for the default one. */
	return commands[0]->run(argc, argv);
}
