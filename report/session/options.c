/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options_next() reads the lines of a usage text one by one, for the completions of shells and for
 * hints. getopt parses the command line; an error of it becomes a sentence here, with the closest
 * name, or the name of the same option in another tool.
 */
#include "report/session/options.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/closest_name.h"

/* Longer lists of words are in the help. */
#define MOST_LISTED 8u

#define END_OF_NAME " =,\n"

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

/* Finds where the help begins: behind two blanks, or on the next line. */
static void find_help(const char *at, struct option_name *option)
{
	const char *end = at + strcspn(at, "\n");

	while (at < end && strncmp(at, "  ", 2) != 0) {
		at++;
	}
	if (at == end && strncmp(next_line(at), "   ", 3) == 0) {
		at = next_line(at);
		end = at + strcspn(at, "\n");
	}
	at += strspn(at, " ");
	option->help = at < end ? at : end;
	option->nr_help = (size_t)(end - option->help);
}

/*
 * Several names on one line (-o, --output) are options of their own with the same value. *at is
 * behind the name that was returned last.
 */
bool options_next(const char **at, struct option_name *option)
{
	const char *name = *at, *value;
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
	nr_bytes = strcspn(name, END_OF_NAME);
	value = name + nr_bytes;
	while (strncmp(value, ", -", 3) == 0) {
		value += 2 + strcspn(value + 2, END_OF_NAME);
	}
	*option = (struct option_name){.name = name,
		.nr_bytes = nr_bytes,
		.is_joined = *value == '=',
		.has_value = *value == '=' || (*value == ' ' && !strchr(" \n", value[1]))};
	find_help(name, option);
	*at = name + nr_bytes;
	if (option->has_value) {
		option->value = value + 1;
		option->nr_value = strcspn(option->value, " ,\n");
		*at = value == *at ? option->value + option->nr_value : *at;
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

/* ---- what is wrong ---- */

void options_add_closest(struct buf *out, const char *text, const char *const *words)
{
	const char *closest = closest_name(text, words);

	if (closest && strlen(text) > 2) { /* every name is close to a letter */
		buf_printf(out, " (did you mean %s?)", closest);
	}
	buf_char(out, '\0');
}

/* Returns the command's options as words, ending with NULL, and the one of them that `name` is. */
static char **option_words(
	const struct command *command, const char *name, struct option_name *found)
{
	const char *at = command->options;
	struct option_name option;
	size_t nr = 0, capacity = 0;
	char **words = NULL;

	*found = (struct option_name){0};
	for (bool is_last = false; !is_last;) {
		is_last = !options_next(&at, &option);
		words = array_grow(words, nr, &capacity, sizeof(*words));
		words[nr++] = is_last ? mem_text("--help") : strndup(option.name, option.nr_bytes);
		if (!is_last && strcmp(words[nr - 1], name) == 0) {
			*found = option;
		}
	}
	words = array_grow(words, nr, &capacity, sizeof(*words));
	words[nr] = NULL;
	return words;
}

/* Is it the beginning of several? */
static bool is_ambiguous(const char *name, char *const *words)
{
	unsigned int nr = 0;

	for (; *words && strncmp(name, "--", 2) == 0; words++) {
		nr += strncmp(name, *words, strlen(name)) == 0;
	}
	return nr > 1;
}

/* The options of other tools' reports, where a command has the same under another name. */
static const struct {
	const char *name, *option, *value;
} foreign[] = {
	/* nvprof */
	{"--csv", "--format", " csv"},
	{"--log-file", "--output", " FILE"},
	{"--print-gpu-trace", "--view", " gpu-trace"},
	{"--print-api-trace", "--view", " api-trace"},
	{"--print-gpu-summary", "--view", " kernel,memcpy"},
	{"--print-api-summary", "--view", " api"},
	{"--print-summary", "--style", " nvprof"},
	/* key_averages().table() of torch.profiler */
	{"--sort-by", "--sort", " COLUMN"},
	{"--row-limit", "--top", " N"},
};

static void add_hint(struct buf *out, const char *name, const char *const *words)
{
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		for (const char *const *word = words; *word; word++) {
			if (strcmp(name, foreign[i].name) == 0 &&
				strcmp(*word, foreign[i].option) == 0) {
				buf_printf(out, " (did you mean %s%s?)%c", *word, foreign[i].value,
					'\0');
				return;
			}
		}
	}
	options_add_closest(out, name, words);
}

int options_unknown(const struct command *command, const char *word)
{
	char *name = strndup(word, strcspn(word, "="));
	struct option_name option;
	char **words = option_words(command, name, &option);
	struct buf hint = {0};

	add_hint(&hint, name, (const char *const *)words);
	if (!option.name && is_ambiguous(name, words)) {
		cmd_usage(command, "option '%s' is ambiguous; write more of it", name);
	} else if (!option.name) {
		cmd_usage(command, "unknown option '%s'%s", name, hint.bytes);
	} else if (option.has_value) {
		cmd_usage(command, "option %s needs a value: %.*s", name, (int)option.nr_value,
			option.value);
	} else {
		cmd_usage(command, "option %s takes no value", name);
	}
	buf_fini(&hint);
	for (char **each = words; *each; each++) {
		free(*each);
	}
	free(words);
	free(name);
	return CMD_USAGE;
}

int options_get(const struct command *command, int argc, char **argv, const char *letters,
	const struct option *options)
{
	int option, first;

	opterr = 0;
	first = optind;
	option = getopt_long(argc, argv, letters, options, NULL);
	if (option == OPTIONS_WRONG) {
		/* A letter may stand among others, which getopt has not passed yet. */
		const char *word = argv[optind > first ? optind - 1 : optind];
		char letter[] = {'-', (char)optopt, '\0'};

		options_unknown(command, strncmp(word, "--", 2) == 0 ? word : letter);
	}
	return option;
}

int options_unknown_word(
	const struct command *command, const char *kind, const char *text, const char *const *words)
{
	struct buf hint = {0}, list = {0};
	size_t nr = 0;

	options_add_closest(&hint, text, words);
	for (; words[nr]; nr++) {
		buf_printf(&list, "%s%s", nr ? ", " : "; choose one of ", words[nr]);
	}
	cmd_usage(command, "unknown %s '%s'%s%.*s", kind, text, hint.bytes,
		nr <= MOST_LISTED ? (int)list.nr_bytes : 0, list.bytes ? list.bytes : "");
	buf_fini(&hint);
	buf_fini(&list);
	return CMD_USAGE;
}
