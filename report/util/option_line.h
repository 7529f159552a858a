/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An option of a program, declared once: the command line, the help, the completions of shells and
 * the manual, which is made of the help, read the same lines. A list of them ends with zeros.
 */
#ifndef REPORT_UTIL_OPTION_LINE_H
#define REPORT_UTIL_OPTION_LINE_H

#include <getopt.h> /* optarg, optind */
#include <limits.h>

#include "report/util/buf.h"

struct option_line {
	const char *name; /* without dashes; several lines may describe the values of one option */
	int id;		  /* what option_line_get() returns for it, at least 0 */
	char letter, hidden_letter; /* stands for the name; help does not show a hidden one */
	const char *value;	    /* as help calls it: "FILE"; NULL: help shows none */
	const char *help; /* may have several lines; NULL: the next option shares line and help */
	/* The words that are values: an array that ends with NULL, a function that adds some. */
	const char *const *words;
	void (*add_words)(void (*add)(void *context, const char *word), void *context);
	bool is_list;	/* commas separate several such words */
	bool is_joined; /* the value may be left out, so that it only stands behind a "=" */
	bool is_hidden; /* works, but neither help nor completions show it */
};

/* A line of a list: name, id, value, help, and what it needs of the others as .letter = 'o'. */
#define OPTION(name_, id_, value_, ...)                                              \
	{                                                                            \
		.name = (name_), .id = (id_), .value = (value_), .help = __VA_ARGS__ \
	}

/* The list without an option. */
extern const struct option_line option_line_none[];

/* A name of an option as it is written: "-o" or "--output". */
struct option_name {
	const struct option_line *line;
	bool is_letter;
	char text[40];
};

/* Finds the next name that help shows; *name begins as zeros. False behind the last. */
bool option_name_next(struct option_name *name, const struct option_line *lines);

/* Passes the words that are values of an option, by its name without dashes, to `add`. */
void option_lines_add_words(const struct option_line *lines, const char *name,
	void (*add)(void *context, const char *word), void *context);

/* Returns the help of a line, which may stand in a later one. */
const char *option_line_help(const struct option_line *line);

/*
 * Appends how help begins: "  -o, --output FILE", with those that share the line. Returns the last
 * one, which has the help.
 */
const struct option_line *option_line_add_head(struct buf *out, const struct option_line *line);

/* Appends all as help: the text stands in a column of its own. */
void option_lines_add_help(struct buf *out, const struct option_line *lines);

/*
 * Is getopt_long() for such a list, without its messages: returns the id of the next option, -1
 * behind the last, or OPTION_LINE_WRONG. `order` is "" or "+", with which the first word that is no
 * option ends them.
 */
#define OPTION_LINE_WRONG INT_MAX
int option_line_get(const struct option_line *lines, const char *order, int argc, char **argv);

#endif
