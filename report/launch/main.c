/* SPDX-License-Identifier: Apache-2.0 */
/* gprof-record: runs a program with libgprof.so preloaded and the recorder's variables set. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/launch/library.h"
#include "report/launch/program.h"
#include "report/launch/run.h"
#include "report/launch/variables.h"
#include "report/util/closest_name.h"
#include "report/util/err.h"
#include "report/util/text.h"

#define MOST_VARIABLES 64
#define USUAL_COLUMNS  80u
#define INDENT	       "        "

/* Forms of --print-env, in the order of `forms`. */
enum form { FORM_SHELL, FORM_DOCKER, FORM_KUBERNETES, FORM_NONE };
static const char *const forms[] = {"sh", "docker", "kubernetes", NULL};

struct launch {
	const char *values[MOST_VARIABLES]; /* of variables_all(), NULL where no option set it */
	char *library;
	char *preload; /* of LD_PRELOAD */
	enum form form;
	bool has_report;
	bool is_over; /* the options asked for help or the version */
};

/* The options that are no variable. --steps and --shapes are the usual values of one. */
enum {
	OPTION_HELP = 256,
	OPTION_VERSION,
	OPTION_LIBRARY,
	OPTION_PRINT,
	OPTION_REPORT,
	OPTION_SHAPES
};

static const struct {
	const char *name, *value, *help;
	int has_arg, option;
} own_options[] = {
	{"shapes", NULL, "also the input shapes of PyTorch's operators: --torch shapes",
		no_argument, OPTION_SHAPES},
	{"report", NULL,
		"at the end, print on stderr the first lines of the report: what ran, the step "
		"time, "
		"where it goes, what would save most",
		no_argument, OPTION_REPORT},
	{"print-env", "sh|docker|kubernetes",
		"do not run anything; print the variables for a launcher: as shell commands "
		"(default), "
		"as an --env-file of Docker, or as the env of a Kubernetes container",
		optional_argument, OPTION_PRINT},
	{"library", "FILE",
		"the libgprof.so to preload (default: the one installed with gprof-record)",
		required_argument, OPTION_LIBRARY},
	{"help", NULL, "print this", no_argument, OPTION_HELP},
	{"version", NULL, "print the version", no_argument, OPTION_VERSION},
};
#define NR_OWN (sizeof(own_options) / sizeof(own_options[0]))

/* ---- the options, made of both lists ---- */

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

/* Options of the variables have their place as value; ends with zeros. */
static const struct option *all_options(void)
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

static size_t terminal_columns(void)
{
	struct winsize size;
	bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40;

	return is_known ? size.ws_col : USUAL_COLUMNS;
}

static void add_help(struct buf *out, const char *help)
{
	text_wrap(out, help, INDENT, terminal_columns());
}

/* Words that | separates, with blanks for a line to break at. */
static void add_spaced(struct buf *out, const char *words)
{
	for (; *words; words++) {
		buf_text(out, *words == '|' ? " " : "");
		buf_char(out, *words);
		buf_text(out, *words == '|' ? " " : "");
	}
}

static void add_variable_help(struct buf *out, const struct variable *variable)
{
	const char *value = variable_value_name(variable);
	struct buf help = {0};

	/* Of a switch the help begins with the value that it gives. */
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
	add_help(out, help.bytes);
	buf_fini(&help);
}

static void print_help(void)
{
	struct buf out = {0};

	buf_text(&out, "usage: gprof-record [OPTION]... [--] PROGRAM [ARGUMENT]...\n\n");
	text_wrap(&out,
		"Runs a program with libgprof.so preloaded. Each of its processes writes one "
		"stream; "
		"gprof-report reads them. Options set the variable in brackets.",
		"", terminal_columns());
	buf_char(&out, '\n');
	for (const struct variable *each = variables_all(); each->name; each++) {
		const char *value = variable_value_name(each);

		if (is_option(each)) {
			buf_printf(&out, "  %s--%s%s%s%s\n",
				strcmp(each->option, "dir") == 0 ? "-o, " : "", each->option,
				value ? " " : "", value ? value : "",
				strcmp(each->option, "schedule") == 0 ? ", --steps FIRST-END" : "");
			add_variable_help(&out, each);
		}
	}
	for (size_t i = 0; i < NR_OWN; i++) {
		bool is_joined = own_options[i].has_arg == optional_argument;

		buf_printf(&out, "  --%s%s%s\n", own_options[i].name,
			!own_options[i].value ? ""
			: is_joined	      ? "="
					      : " ",
			own_options[i].value ? own_options[i].value : "");
		add_help(&out, own_options[i].help);
	}
	buf_text(&out, "\n");
	text_wrap(&out,
		"The exit status is that of the program. 125: gprof-record failed or refused the "
		"program; 126: the program cannot be executed; 127: there is no such program.",
		"", terminal_columns());
	fwrite(out.bytes, 1, out.nr_bytes, stdout);
	buf_fini(&out);
}

/* ---- taking options ---- */

/* Prints one sentence on stderr, with nothing that a terminal would obey. */
static int fail(int status, const char *sentence)
{
	struct buf shown = {0};

	text_add_shown(&shown, sentence, strlen(sentence), 0);
	fprintf(stderr, "gprof-record: %.*s\n", (int)shown.nr_bytes, shown.bytes);
	buf_fini(&shown);
	return status;
}

static int refuse_option(const char *word)
{
	const struct option *options = all_options();
	const char *names[2 * MOST_VARIABLES], *closest;
	size_t length = strcspn(word, "="), nr = 0;
	char *name = strndup(word, length);
	bool is_known = false;

	for (; options[nr].name; nr++) {
		names[nr] = options[nr].name;
		is_known |= strncmp(word, "--", 2) == 0 && strcmp(name + 2, names[nr]) == 0;
	}
	names[nr] = NULL;
	closest = strlen(name) > 4 ? closest_name(name + 2, names) : NULL;
	if (is_known) {
		err_set(-EINVAL, "option '%s' %s; try: gprof-record --help", name,
			word[length] ? "takes no value" : "needs a value");
	} else {
		err_set(-EINVAL, "unknown or ambiguous option '%s'%s%s%s; try: gprof-record --help",
			name, closest ? " (did you mean --" : "", closest ? closest : "",
			closest ? "?)" : "");
	}
	free(name);
	return fail(LAUNCH_FAILED, err_text());
}

static int set_variable(struct launch *launch, int place, const char *value)
{
	const struct variable *variable = &variables_all()[place];

	value = value ? value : variable_switched(variable);
	if (!variable_is_allowed(variable, value)) {
		err_set(-EINVAL, "--%s takes %s, not '%s'", variable->option, variable->allowed,
			value);
		return fail(LAUNCH_FAILED, err_text());
	}
	launch->values[place] = value;
	return 0;
}

/* The place of a variable by its option. */
static int find_variable(const char *option)
{
	const struct variable *variables = variables_all();
	int place = 0;

	while (strcmp(variables[place].option, option) != 0) {
		place++;
	}
	return place;
}

static int set_form(struct launch *launch, const char *name)
{
	for (int i = 0; forms[i]; i++) {
		if (!name || strcmp(name, forms[i]) == 0) {
			launch->form = (enum form)i;
			return 0;
		}
	}
	err_set(-EINVAL, "--print-env takes sh, docker or kubernetes, not '%s'", name);
	return fail(LAUNCH_FAILED, err_text());
}

static int take_option(struct launch *launch, int option)
{
	switch (option) {
	case 'o':
		return set_variable(launch, find_variable("dir"), optarg);
	case OPTION_SHAPES:
		return set_variable(launch, find_variable("torch"), "shapes");
	case OPTION_PRINT:
		return set_form(launch, optarg);
	case OPTION_LIBRARY:
		free(launch->library);
		launch->library = realpath(optarg, NULL);
		if (!launch->library) {
			err_set(-ENOENT, "there is no library '%s'", optarg);
			return fail(LAUNCH_FAILED, err_text());
		}
		return 0;
	case OPTION_REPORT:
		launch->has_report = true;
		return 0;
	case OPTION_HELP:
		print_help();
		launch->is_over = true;
		return 0;
	case OPTION_VERSION:
		printf("gprof-record %s\n", GPROF_VERSION);
		launch->is_over = true;
		return 0;
	default:
		return set_variable(launch, option, optarg);
	}
}

/* Returns 0 or an exit status; optind is the program's place. */
static int take_options(struct launch *launch, int argc, char **argv)
{
	int option, first = 1, status = 0;

	opterr = 0;
	while (!status && !launch->is_over &&
		(option = getopt_long(argc, argv, "+:o:hV", all_options(), NULL)) >= 0) {
		if (option == 'h' || option == 'V') {
			option = option == 'h' ? OPTION_HELP : OPTION_VERSION;
		}
		status = option == '?' || option == ':' ? refuse_option(argv[first])
							: take_option(launch, option);
		first = optind;
	}
	return status;
}

/* ---- the environment ---- */

static const char *value_of(const struct launch *launch, const char *option)
{
	return launch->values[find_variable(option)];
}

/* In single quotes: 'it'\''s'. */
static void add_shell_quoted(struct buf *out, const char *value)
{
	buf_char(out, '\'');
	for (; *value; value++) {
		if (*value == '\'') {
			buf_text(out, "'\\''");
		} else {
			buf_char(out, *value);
		}
	}
	buf_char(out, '\'');
}

static void add_assignment(struct buf *out, enum form form, const char *name, const char *value)
{
	if (form == FORM_SHELL) {
		buf_printf(out, "export %s=", name);
		add_shell_quoted(out, value);
		buf_char(out, '\n');
	} else if (form == FORM_DOCKER) {
		buf_printf(out, "%s=%s\n", name, value);
	} else {
		buf_printf(out, "- name: %s\n  value: ", name);
		text_add_json(out, value, strlen(value)); /* a string of YAML, too */
		buf_char(out, '\n');
	}
}

static void print_env(const struct launch *launch)
{
	const struct variable *variables = variables_all();
	struct buf out = {0};

	add_assignment(&out, launch->form, "LD_PRELOAD", launch->preload);
	for (int i = 0; variables[i].name; i++) {
		if (launch->values[i]) {
			add_assignment(&out, launch->form, variables[i].name, launch->values[i]);
		}
	}
	fwrite(out.bytes, 1, out.nr_bytes, stdout);
	buf_fini(&out);
}

/* The dump directory from the root on: processes that work elsewhere write there, too. */
static char *absolute_dir(const struct launch *launch)
{
	const char *dir = value_of(launch, "dir");
	char *here, *path = NULL;

	dir = dir ? dir : getenv("GPROF_DIR");
	dir = dir && *dir ? dir : variables_all()[find_variable("dir")].otherwise;
	if (*dir == '/') {
		return mem_text(dir);
	}
	here = getcwd(NULL, 0);
	if (!here || asprintf(&path, "%s/%s", here, dir) < 0) {
		path = mem_text(dir);
	}
	free(here);
	return path;
}

static int run(struct launch *launch, char **argv)
{
	const struct variable *variables = variables_all();
	int status = program_check(argv[0], launch->library);
	char *dir;

	if (status) {
		return fail(status, err_text());
	}
	dir = absolute_dir(launch);
	for (int i = 0; variables[i].name; i++) {
		if (launch->values[i]) {
			setenv(variables[i].name, launch->values[i], 1);
		}
	}
	setenv("GPROF_DIR", dir, 1);
	status = launch->has_report ? run_and_report(argv, dir, launch->preload)
				    : run_only(argv, launch->preload);
	free(dir);
	return status;
}

int main(int argc, char **argv)
{
	struct launch launch = {.form = FORM_NONE};
	int status = take_options(&launch, argc, argv);

	if (status || launch.is_over) {
		return status;
	}
	if (optind == argc && launch.form == FORM_NONE) {
		return fail(LAUNCH_FAILED, "which program? usage: gprof-record [OPTION]... [--] "
					   "PROGRAM [ARGUMENT]...");
	}
	launch.library = launch.library ? launch.library : library_find();
	launch.preload = launch.library ? library_preload(launch.library) : NULL;
	if (!launch.preload) {
		status = fail(LAUNCH_FAILED, err_text());
	} else if (launch.form != FORM_NONE) {
		print_env(&launch);
	} else {
		status = run(&launch, argv + optind);
	}
	free(launch.library);
	free(launch.preload);
	return status;
}
