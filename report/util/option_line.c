/* SPDX-License-Identifier: Apache-2.0 */
/* Turns declared options into what getopt_long() wants, and into help. */
#include "report/util/option_line.h"

#include <stdio.h>
#include <stdlib.h>

/* Where the text of help begins. A longer head moves it. */
#define HELP_COLUMN 25u

/* getopt_long() returns letters as they are, and ids above them. */
#define FIRST_ID 256

const struct option_line option_line_none[] = {{0}};

bool option_name_next(struct option_name *name, const struct option_line *lines)
{
	if (name->is_letter) {
		name->is_letter = false;
	} else {
		name->line = name->line ? name->line + 1 : lines;
		while (name->line->is_hidden) {
			name->line++;
		}
		name->is_letter = name->line->letter != 0;
	}
	if (!name->line->name) {
		return false;
	}
	if (name->is_letter) {
		snprintf(name->text, sizeof(name->text), "-%c", name->line->letter);
	} else {
		snprintf(name->text, sizeof(name->text), "--%s", name->line->name);
	}
	return true;
}

void option_lines_add_words(const struct option_line *lines, const char *name,
	void (*add)(void *context, const char *word), void *context)
{
	for (; lines->name; lines++) {
		if (strcmp(lines->name, name) != 0) {
			continue;
		}
		for (size_t i = 0; lines->words && lines->words[i]; i++) {
			add(context, lines->words[i]);
		}
		if (lines->add_words) {
			lines->add_words(add, context);
		}
	}
}

const char *option_line_help(const struct option_line *line)
{
	while (!line->help) {
		line++;
	}
	return line->help;
}

const struct option_line *option_line_add_head(struct buf *out, const struct option_line *line)
{
	buf_text(out, "  ");
	for (;; line++) {
		if (line->letter) {
			buf_printf(out, "-%c, ", line->letter);
		}
		buf_printf(out, "--%s", line->name);
		if (line->value) {
			buf_printf(out, "%c%s", line->is_joined ? '=' : ' ', line->value);
		}
		if (line->help) {
			return line;
		}
		buf_text(out, ", ");
	}
}

static void add_help(struct buf *out, const char *help, size_t nr_head)
{
	buf_pad(out, ' ', nr_head + 2 < HELP_COLUMN ? HELP_COLUMN - nr_head : 2);
	for (; *help; help++) {
		buf_char(out, *help);
		if (*help == '\n') {
			buf_pad(out, ' ', HELP_COLUMN);
		}
	}
	buf_char(out, '\n');
}

void option_lines_add_help(struct buf *out, const struct option_line *lines)
{
	for (const struct option_line *line = lines; line->name; line++) {
		size_t begin = out->nr_bytes;

		if (!line->is_hidden) {
			line = option_line_add_head(out, line);
			add_help(out, line->help, out->nr_bytes - begin);
		}
	}
}

/* ---- the command line ---- */

static void add_letter(struct buf *letters, const struct option_line *line, char letter)
{
	if (letter) {
		buf_char(letters, letter);
		buf_text(letters, line->value ? ":" : "");
	}
}

static int has_argument(const struct option_line *line)
{
	return line->is_joined ? optional_argument : line->value ? required_argument : no_argument;
}

static int id_of_letter(const struct option_line *lines, int letter)
{
	for (; lines->name; lines++) {
		if (letter == lines->letter || letter == lines->hidden_letter) {
			return lines->id;
		}
	}
	return OPTION_LINE_WRONG;
}

int option_line_get(const struct option_line *lines, const char *order, int argc, char **argv)
{
	struct option *names = NULL;
	struct buf letters = {0};
	size_t nr = 0, capacity = 0;
	int option;

	buf_text(&letters, order);
	for (const struct option_line *line = lines; line->name; line++) {
		names = array_grow(names, nr, &capacity, sizeof(*names));
		names[nr++] =
			(struct option){line->name, has_argument(line), NULL, FIRST_ID + line->id};
		add_letter(&letters, line, line->letter);
		add_letter(&letters, line, line->hidden_letter);
	}
	names = array_grow(names, nr, &capacity, sizeof(*names));
	names[nr] = (struct option){0};
	buf_char(&letters, '\0');
	opterr = 0;
	option = getopt_long(argc, argv, letters.bytes, names, NULL);
	buf_fini(&letters);
	free(names);
	return option < 0	    ? option
	       : option >= FIRST_ID ? option - FIRST_ID
				    : id_of_letter(lines, option);
}
