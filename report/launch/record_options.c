/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins the variables of config.def with the options that gprof-record itself has in one list: the
 * command line, the help and the completions of shells (cmd_completion.c) read it. main.c takes the
 * options.
 */
#include "report/launch/record_options.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/text.h"

#define INDENT "        "

const char *const record_forms[] = {"sh", "docker", "kubernetes", NULL};

static const struct option_line own_options[] = {
	/* --steps and --shapes are the usual values of a variable. */
	OPTION("shapes", OPTION_SHAPES, NULL,
		"also the input shapes of PyTorch's operators: --torch shapes"),
	OPTION("cpu", OPTION_CPU, "HZ",
		"CPU samples also without a GPU, from the first line of Python on and in "
		"child processes, and samples of waits also without Python; HZ a second, "
		"99 unless given",
		.is_joined = true),
	OPTION("os", OPTION_OS, NULL,
		"calls of the C library that take at least 1 us: files, sockets, sleeps, locks, "
		"processes; preloads libgprof-os.so, too"),
	OPTION("report", OPTION_REPORT, NULL,
		"at the end, print on stderr the first lines of the report: what ran, the "
		"step time, where it goes, what would save most; the default where stderr "
		"is a terminal"),
	OPTION("no-report", OPTION_NO_REPORT, NULL,
		"become the program, and print nothing at the end"),
	OPTION("print-env", OPTION_PRINT, "sh|docker|kubernetes",
		"do not run anything; print the variables for a launcher: as shell "
		"commands "
		"(default), as an --env-file of Docker, or as the env of a Kubernetes "
		"container",
		.words = record_forms, .is_joined = true),
	OPTION("library", OPTION_LIBRARY, "FILE",
		"the libgprof.so to preload (default: the one installed with "
		"gprof-record)"),
	OPTION("jupyter-kernel", OPTION_JUPYTER, NULL,
		"do not run anything; install a kernel for Jupyter, of the given python "
		"(default: python3), that runs under gprof and records the cells that "
		"begin "
		"with %%gprof"),
	OPTION("help", OPTION_HELP, NULL, "print this", .hidden_letter = 'h'),
	OPTION("version", OPTION_VERSION, NULL, "print the version", .hidden_letter = 'V'),
	{0},
};
#define NR_OWN (sizeof(own_options) / sizeof(own_options[0]))

/* ---- variables as options ---- */

static char *make_help(const struct variable *variable)
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
		text_add_choices(&help, variable->allowed);
	}
	if (value && *variable->otherwise) {
		buf_printf(&help, "; default %s", variable->otherwise);
	}
	buf_printf(&help, " [%s]", variable->name);
	buf_char(&help, '\0');
	return help.bytes;
}

/* Makes a list of the words between | that stand for themselves, unlike FIRST-END. */
static const char *const *make_words(const char *allowed)
{
	const char **words = mem_zeroed(strlen(allowed) + 2, sizeof(*words));
	size_t nr = 0;

	for (const char *at = allowed; strchr(allowed, '|') && *at;) {
		size_t length = strcspn(at, "|");

		if (strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_-") == length) {
			words[nr++] = strndup(at, length);
		}
		at += length + (at[length] == '|');
	}
	return words;
}

/* GPROF_ENABLE=0 is the same as not using gprof-record. */
static bool is_option(const struct variable *variable)
{
	return strcmp(variable->name, "GPROF_ENABLE") != 0;
}

/* --dir is also -o, --output; --schedule is also --steps. Returns where the next line goes. */
static struct option_line *add_variable(
	struct option_line *out, const struct variable *variable, int index)
{
	struct option_line line = {.name = variable->option,
		.id = index,
		.value = variable_value_name(variable),
		.words = make_words(variable->allowed),
		.is_list = variable->type == VARIABLE_LIST,
		.help = make_help(variable)};
	struct option_line also = line;

	if (strcmp(variable->option, "dir") == 0) {
		also.name = "output";
		also.is_hidden = true;
		line.letter = 'o';
		*out++ = also;
	} else if (strcmp(variable->option, "schedule") == 0) {
		also.name = "steps";
		also.value = "FIRST-END";
		line.help = NULL;
		*out++ = line;
		line = also;
	}
	*out++ = line;
	return out;
}

/* The list has room for two lines of each variable, and for the others. */
const struct option_line *record_options(void)
{
	static struct option_line lines[2 * MAX_VARIABLES + NR_OWN];
	const struct variable *variables = variables_all();
	struct option_line *next = lines;

	if (lines[0].name) {
		return lines;
	}
	for (int i = 0; variables[i].name; i++) {
		next = is_option(&variables[i]) ? add_variable(next, &variables[i], i) : next;
	}
	memcpy(next, own_options, sizeof(own_options));
	return lines;
}

void record_options_add_help(struct buf *out, size_t nr_columns)
{
	for (const struct option_line *line = record_options(); line->name; line++) {
		if (!line->is_hidden) {
			line = option_line_add_head(out, line);
			buf_char(out, '\n');
			text_wrap(out, line->help, INDENT, nr_columns);
		}
	}
}
