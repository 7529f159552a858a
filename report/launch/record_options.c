/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins the variables of config.def with the options that gprof-record itself has, as the array of
 * getopt_long, as help text and as words for the shell's completion (cmd_completion.c). main.c
 * takes the options.
 *
 * `val` of an option tells both kinds apart: below OPTION_HELP it is the index of a variable, from
 * there on it is one of the enum.
 */
#include "report/launch/record_options.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/text.h"

#define INDENT "        "

/* --steps and --shapes are the usual values of a variable. */
static const struct {
	const char *name, *value, *help;
	int has_arg, option;
} own_options[] = {
	{"shapes", NULL, "also the input shapes of PyTorch's operators: --torch shapes",
		no_argument, OPTION_SHAPES},
	{"report", NULL,
		"at the end, print on stderr the first lines of the report: what ran, the step "
		"time, where it goes, what would save most; the default where stderr is a terminal",
		no_argument, OPTION_REPORT},
	{"no-report", NULL, "become the program, and print nothing at the end", no_argument,
		OPTION_NO_REPORT},
	{"print-env", "sh|docker|kubernetes",
		"do not run anything; print the variables for a launcher: as shell commands "
		"(default), as an --env-file of Docker, or as the env of a Kubernetes container",
		optional_argument, OPTION_PRINT},
	{"library", "FILE",
		"the libgprof.so to preload (default: the one installed with gprof-record)",
		required_argument, OPTION_LIBRARY},
	{"jupyter-kernel", NULL,
		"do not run anything; install a kernel for Jupyter, of the given python (default: "
		"python3), that runs under gprof and records the cells that begin with %%gprof",
		no_argument, OPTION_JUPYTER},
	{"help", NULL, "print this", no_argument, OPTION_HELP},
	{"version", NULL, "print the version", no_argument, OPTION_VERSION},
};
#define NR_OWN (sizeof(own_options) / sizeof(own_options[0]))

/* GPROF_ENABLE=0 is the same as not using gprof-record. */
static bool is_option(const struct variable *variable)
{
	return strcmp(variable->name, "GPROF_ENABLE") != 0;
}

/* --dir is also -o, --output; --schedule is also --steps. */
static int add_names(struct option *options, const struct variable *variable, int place)
{
	int has_arg = variable_value_name(variable) ? required_argument : no_argument;
	const char *also = strcmp(variable->option, "dir") == 0	       ? "output"
			   : strcmp(variable->option, "schedule") == 0 ? "steps"
								       : NULL;
	int nr = 0;

	options[nr++] = (struct option){variable->option, has_arg, NULL, place};
	if (also) {
		options[nr++] = (struct option){also, has_arg, NULL, place};
	}
	return nr;
}

/*
 * The array has room for two names of each variable; own options take the room of those that have
 * one name.
 */
const struct option *record_options(void)
{
	static struct option options[2 * MOST_VARIABLES];
	const struct variable *variables = variables_all();
	int nr = 0;

	for (int i = 0; variables[i].name; i++) {
		nr += is_option(&variables[i]) ? add_names(options + nr, &variables[i], i) : 0;
	}
	for (size_t i = 0; i < NR_OWN; i++) {
		options[nr++] = (struct option){
			own_options[i].name, own_options[i].has_arg, NULL, own_options[i].option};
	}
	return options;
}

/* ---- help ---- */

/* Adds words that | separates, with blanks around it for a line to break at. */
static void add_spaced(struct buf *out, const char *words)
{
	for (; *words; words++) {
		buf_text(out, *words == '|' ? " " : "");
		buf_char(out, *words);
		buf_text(out, *words == '|' ? " " : "");
	}
}

static void add_variable_help(struct buf *out, const struct variable *variable, size_t nr_columns)
{
	const char *value = variable_value_name(variable);
	struct buf help = {0};

	/*
	 * The help of a switch begins with the value that it gives, "0 ...", which its option
	 * leaves out.
	 */
	buf_text(&help, value ? variable->help : variable->help + strlen("0 "));
	if (variable->type == VARIABLE_NUMBER) {
		buf_printf(&help, " (%s)", variable->allowed);
	} else if (value && strcmp(value, "WHAT") == 0) {
		buf_text(&help, ": ");
		add_spaced(&help, variable->allowed);
	}
	if (value && *variable->otherwise) {
		buf_printf(&help, "; default %s", variable->otherwise);
	}
	buf_printf(&help, " [%s]", variable->name);
	buf_char(&help, '\0');
	text_wrap(out, help.bytes, INDENT, nr_columns);
	buf_fini(&help);
}

void record_options_add_help(struct buf *out, size_t nr_columns)
{
	for (const struct variable *each = variables_all(); each->name; each++) {
		const char *value = variable_value_name(each);

		if (is_option(each)) {
			buf_printf(out, "  %s--%s%s%s%s\n",
				strcmp(each->option, "dir") == 0 ? "-o, " : "", each->option,
				value ? " " : "", value ? value : "",
				strcmp(each->option, "schedule") == 0 ? ", --steps FIRST-END" : "");
			add_variable_help(out, each, nr_columns);
		}
	}
	for (size_t i = 0; i < NR_OWN; i++) {
		bool is_joined = own_options[i].has_arg == optional_argument;

		buf_printf(out, "  --%s%s%s\n", own_options[i].name,
			!own_options[i].value ? ""
			: is_joined	      ? "="
					      : " ",
			own_options[i].value ? own_options[i].value : "");
		text_wrap(out, own_options[i].help, INDENT, nr_columns);
	}
}

/* ---- values ---- */

/* Passes on the words between | that stand for themselves, unlike FIRST-END. */
static void add_words(
	const char *words, void (*add)(void *context, const char *word), void *context)
{
	while (*words) {
		size_t length = strcspn(words, "|");
		char *word = strndup(words, length);

		if (word && word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_-")] == '\0') {
			add(context, word);
		}
		free(word);
		words += length + (words[length] == '|');
	}
}

bool record_options_values(
	const char *option, void (*add)(void *context, const char *word), void *context)
{
	const struct option *options = record_options();
	const struct variable *variables = variables_all();
	const char *words = NULL;

	for (size_t i = 0; i < NR_OWN; i++) {
		if (strcmp(option + 2, own_options[i].name) == 0) {
			words = own_options[i].value;
		}
	}
	for (int i = 0; options[i].name; i++) {
		if (options[i].val < OPTION_HELP && options[i].has_arg &&
			strcmp(option + 2, options[i].name) == 0) {
			words = variables[options[i].val].allowed;
		}
	}
	if (!words || !strchr(words, '|')) {
		return false;
	}
	add_words(words, add, context);
	return true;
}
