/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An error on the command line becomes a sentence here, with the closest name, or the name of the
 * same option in another tool.
 */
#include "report/session/options.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/closest_name.h"

/* Longer lists of words are in the help. */
#define MAX_LISTED 8u

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

/*
 * Returns the command's options as words, ending with NULL, and the line of the one that `name` is,
 * NULL if it is none.
 */
static char **option_words(
	const struct command *command, const char *name, const struct option_line **found)
{
	struct option_name option = {0};
	size_t nr = 0, capacity = 0;
	char **words = NULL;

	*found = NULL;
	for (bool is_last = false; !is_last;) {
		is_last = !option_name_next(&option, command->options);
		words = array_grow(words, nr, &capacity, sizeof(*words));
		words[nr++] = mem_text(is_last ? "--help" : option.text);
		if (!is_last && strcmp(option.text, name) == 0) {
			*found = option.line;
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
	const struct option_line *line;
	char **words = option_words(command, name, &line);
	struct buf hint = {0};

	add_hint(&hint, name, (const char *const *)words);
	if (!line && is_ambiguous(name, words)) {
		cmd_usage(command, "option '%s' is ambiguous; write more of it", name);
	} else if (!line) {
		cmd_usage(command, "unknown option '%s'%s", name, hint.bytes);
	} else if (line->value) {
		cmd_usage(command, "option %s needs a value: %s", name, line->value);
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

int options_get(const struct command *command, int argc, char **argv)
{
	int first = optind, option = option_line_get(command->options, "", argc, argv);

	if (option == OPTION_LINE_WRONG) {
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
		nr <= MAX_LISTED ? (int)list.nr_bytes : 0, list.bytes ? list.bytes : "");
	buf_fini(&hint);
	buf_fini(&list);
	return CMD_USAGE;
}

struct words {
	const char **words;
	size_t nr, capacity;
};

static void add_word(void *context, const char *word)
{
	struct words *list = context;

	list->words = array_grow(list->words, list->nr, &list->capacity, sizeof(*list->words));
	list->words[list->nr++] = word;
}

int options_unknown_value(
	const struct command *command, const char *option, const char *text, size_t nr_bytes)
{
	char *word = strndup(text, nr_bytes);
	struct words list = {0};
	int status;

	option_lines_add_words(command->options, option, add_word, &list);
	add_word(&list, NULL);
	status = options_unknown_word(command, option, word, list.words);
	free(list.words);
	free(word);
	return status;
}
