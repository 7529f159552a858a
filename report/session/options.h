/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the options of a command's list (option_line.h), and says what is wrong about others. */
#ifndef REPORT_SESSION_OPTIONS_H
#define REPORT_SESSION_OPTIONS_H

#include "report/session/session.h"

/*
 * option_line_get() for a command. Of an option that it does not have, or one without its value, it
 * says so, and names the one that was probably meant.
 */
int options_get(const struct command *command, int argc, char **argv);

/* Says that the command has no such option, for those that read their arguments themselves. */
int options_unknown(const struct command *command, const char *word);

/*
 * Says that `text` is none of the words, which end with NULL: "unknown format 'cvs' (did you mean
 * csv?)", and lists them all if there are few. Returns CMD_USAGE.
 */
int options_unknown_word(const struct command *command, const char *kind, const char *text,
	const char *const *words);

/* The same by the words that are declared as values of an option. */
int options_unknown_value(
	const struct command *command, const char *option, const char *text, size_t nr_bytes);

/* Appends " (did you mean X?)" if one of the words is close, and a NUL. */
void options_add_closest(struct buf *out, const char *text, const char *const *words);

/* Finds the index of a word in a list that ends with NULL; false if it is not there. */
bool options_choose(const char *text, const char *const *words, int *choice);

#endif
