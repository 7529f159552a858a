/* SPDX-License-Identifier: Apache-2.0 */
#include "report/session/options.h"

#include <string.h>

/* A usage line is "  -o, --output FILE      help", what goes on below it has more blanks. */
static bool is_option_line(const char *line)
{
	return strncmp(line, "  -", 3) == 0;
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

/* Where the help begins: behind two blanks. */
static void find_help(const char *at, struct option_name *option)
{
	const char *end = at + strcspn(at, "\n");

	while (at < end && strncmp(at, "  ", 2) != 0) {
		at++;
	}
	at += strspn(at, " ");
	option->help = at < end ? at : end;
	option->nr_help = (size_t)(end - option->help);
}

bool options_next(const char **at, struct option_name *option)
{
	const char *name = *at;
	size_t nr_bytes;

	if (strncmp(name, ", -", 3) == 0) {
		name += 2; /* one more of the same line */
	} else {
		/* Behind the one before: the rest of its line. */
		name = *name == ' ' && name[1] == ' ' && name[2] == '-' ? name : next_line(name);
		while (*name && !is_option_line(name)) {
			name = next_line(name);
		}
		if (!*name) {
			return false;
		}
		name += 2;
	}
	nr_bytes = strcspn(name, " =,\n");
	*option = (struct option_name){.name = name,
		.nr_bytes = nr_bytes,
		.is_joined = name[nr_bytes] == '=',
		.has_value = name[nr_bytes] == '=' ||
			     (name[nr_bytes] == ' ' && !strchr(" \n", name[nr_bytes + 1]))};
	find_help(name, option);
	*at = name + nr_bytes;
	if (option->has_value) {
		option->value = *at + 1;
		option->nr_value = strcspn(option->value, " ,\n");
		*at = option->value + option->nr_value;
	}
	return true;
}

void options_add_words(
	const char *const *words, void (*add)(void *context, const char *word), void *context)
{
	for (size_t i = 0; words[i]; i++) {
		add(context, words[i]);
	}
}

bool options_choose(const char *text, const char *const *words, int *choice)
{
	for (int i = 0; words[i]; i++) {
		if (strcmp(text, words[i]) == 0) {
			*choice = i;
			return true;
		}
	}
	return false;
}
