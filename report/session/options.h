/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a command, read from its usage (session.h), so that they stand in one place. */
#ifndef REPORT_SESSION_OPTIONS_H
#define REPORT_SESSION_OPTIONS_H

#include <getopt.h>

#include "report/session/session.h"

struct option_name {
	const char *name; /* "--view" or "-o"; not NUL-terminated */
	size_t nr_bytes;
	bool has_value;	   /* "--top N"; -o of "-o, --output FILE"; also "--detail=LEVEL" */
	bool is_joined;	   /* the value only behind a "=" */
	const char *value; /* what the usage calls it, up to nr_value: "FILE" */
	size_t nr_value;
	const char *help; /* the first line of it, up to nr_help */
	size_t nr_help;
};

/* The next option of a usage; *at begins as command->options. False behind the last. */
bool options_next(const char **at, struct option_name *option);

/*
 * getopt_long for a command. Of an option that it does not have, or one without its value, it says
 * so, names the one that was probably meant, and returns OPTIONS_WRONG.
 */
#define OPTIONS_WRONG '?'
int options_get(const struct command *command, int argc, char **argv, const char *letters,
	const struct option *options);

/* Says that the command has no such option, for those that read their arguments themselves. */
int options_unknown(const struct command *command, const char *word);

/*
 * Says that `text` is none of the words, which end with NULL: "unknown format 'cvs' (did you mean
 * csv?)", and lists them all if there are few. Returns CMD_USAGE.
 */
int options_unknown_word(const struct command *command, const char *kind, const char *text,
	const char *const *words);

/* Appends " (did you mean X?)" if one of the words is close, and a NUL. */
void options_add_closest(struct buf *out, const char *text, const char *const *words);

/* Passes each word of a list that ends with NULL. */
void options_add_words(
	const char *const *words, void (*add)(void *context, const char *word), void *context);

/* Finds the index of a word in a list that ends with NULL; false if it is not there. */
bool options_choose(const char *text, const char *const *words, int *choice);

#endif
