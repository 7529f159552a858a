/* SPDX-License-Identifier: Apache-2.0 */
/* gprof-record: runs a program with libgprof.so preloaded and the recorder's variables set. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "report/launch/jupyter.h"
#include "report/launch/library.h"
#include "report/launch/program.h"
#include "report/launch/record_options.h"
#include "report/launch/run.h"
#include "report/util/closest_name.h"
#include "report/util/err.h"
#include "report/util/text.h"

#define USUAL_COLUMNS 80u
/* Not a divisor of the periods that programs have. */
#define USUAL_CPU_HZ "99"

/* In the order of record_forms. */
enum form { FORM_SHELL, FORM_DOCKER, FORM_KUBERNETES, FORM_NONE };

struct launch {
	const char *values[MAX_VARIABLES]; /* by index in variables_all(), NULL where no option set
					       it */
	char *library;
	char *preload; /* of LD_PRELOAD */
	enum form form;
	bool has_os;	 /* libgprof-os.so is preloaded, too */
	bool is_kernel;	 /* only to be installed */
	bool has_report; /* at the end */
	bool is_over;	 /* --help or --version was given and answered */
};

/* ---- help ---- */

static size_t terminal_columns(void)
{
	struct winsize size;
	bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40;

	return is_known ? size.ws_col : USUAL_COLUMNS;
}

static void print_help(void)
{
	size_t nr_columns = terminal_columns();
	struct buf out = {0};

	buf_text(&out, "usage: gprof-record [OPTION]... [--] PROGRAM [ARGUMENT]...\n\n");
	text_wrap(&out,
		"Runs a program with libgprof.so preloaded. Each of its processes writes one "
		"stream; "
		"gprof-report reads them. Options set the variable in brackets.",
		"", nr_columns);
	buf_char(&out, '\n');
	record_options_add_help(&out, nr_columns);
	buf_text(&out, "\n");
	text_wrap(&out,
		"The exit status is that of the program. 125: gprof-record failed or refused the "
		"program; 126: the program cannot be executed; 127: there is no such program.",
		"", nr_columns);
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
	const struct option_line *options = record_options();
	size_t length = strcspn(word, "="), nr = 0, capacity = 0;
	char *name = strndup(word, length);
	const char **names = NULL, *closest;
	bool is_known = false;

	for (; options[nr].name; nr++) {
		names = array_grow(names, nr, &capacity, sizeof(*names));
		names[nr] = options[nr].name;
		is_known |= strncmp(word, "--", 2) == 0 && strcmp(name + 2, names[nr]) == 0;
	}
	names = array_grow(names, nr, &capacity, sizeof(*names));
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
	free(names);
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

static int set_form(struct launch *launch, const char *name)
{
	for (int i = 0; record_forms[i]; i++) {
		if (!name || strcmp(name, record_forms[i]) == 0) {
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
	case OPTION_SHAPES:
		return set_variable(launch, VARIABLE_INDEX_TORCH, "shapes");
	case OPTION_CPU:
		return set_variable(launch, VARIABLE_INDEX_CPU_HZ, optarg ? optarg : USUAL_CPU_HZ);
	case OPTION_OS:
		launch->has_os = true;
		return 0;
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
	case OPTION_NO_REPORT:
		launch->has_report = option == OPTION_REPORT;
		return 0;
	case OPTION_JUPYTER:
		launch->is_kernel = true;
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

/*
 * Returns 0 or an exit status; optind is then the index of the program. "+": the program's own
 * options are not ours. `first` is the word that is read, for a message about it.
 */
static int take_options(struct launch *launch, int argc, char **argv)
{
	int option, first = 1, status = 0;

	while (!status && !launch->is_over &&
		(option = option_line_get(record_options(), "+", argc, argv)) >= 0) {
		status = option == OPTION_LINE_WRONG ? refuse_option(argv[first])
						     : take_option(launch, option);
		first = optind;
	}
	return status;
}

/* ---- the environment ---- */

/* Adds it in single quotes: 'it'\''s'. */
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

/*
 * Makes the path of the dump directory absolute: processes that change their folder write there,
 * too.
 */
static char *absolute_dir(const struct launch *launch)
{
	const char *dir = launch->values[VARIABLE_INDEX_DIR];
	char *here, *path = NULL;

	dir = dir ? dir : getenv("GPROF_DIR");
	dir = dir && *dir ? dir : variables_all()[VARIABLE_INDEX_DIR].otherwise;
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

/*
 * Marks everything that the program starts as one run; a launch within a launch is a part of the
 * outer one.
 */
static void set_run(const struct launch *launch)
{
	const char *outer = getenv("GPROF_RUN");
	uint64_t number;
	char text[32];

	if (!launch->values[VARIABLE_INDEX_RUN] && !(outer && *outer) &&
		getrandom(&number, sizeof(number), 0) == (ssize_t)sizeof(number)) {
		snprintf(text, sizeof(text), "%016" PRIx64, number);
		setenv("GPROF_RUN", text, 1);
	}
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
	set_run(launch);
	status = launch->has_report ? run_and_report(argv, dir, launch->preload)
				    : run_only(argv, launch->preload);
	free(dir);
	return status;
}

static int install_kernel(const struct launch *launch, const char *python)
{
	int status = program_check(python, launch->library);
	char *path = status ? NULL : program_find(python);

	if (!status && (!path || jupyter_install(path, launch->preload, launch->values))) {
		status = LAUNCH_FAILED;
	}
	free(path);
	return status ? fail(status, err_text()) : 0;
}

/* All ways need the library, because LD_PRELOAD is a part of what they print or install, too. */
int main(int argc, char **argv)
{
	struct launch launch = {.form = FORM_NONE, .has_report = isatty(STDERR_FILENO)};
	int status = take_options(&launch, argc, argv);

	if (status || launch.is_over) {
		return status;
	}
	if (optind == argc && launch.form == FORM_NONE && !launch.is_kernel) {
		return fail(LAUNCH_FAILED, "which program? usage: gprof-record [OPTION]... [--] "
					   "PROGRAM [ARGUMENT]...");
	}
	launch.library = launch.library ? launch.library : library_find();
	launch.preload = launch.library ? library_preload(launch.library, launch.has_os) : NULL;
	if (!launch.preload) {
		status = fail(LAUNCH_FAILED, err_text());
	} else if (launch.is_kernel) {
		status = install_kernel(&launch, optind < argc ? argv[optind] : "python3");
	} else if (launch.form != FORM_NONE) {
		print_env(&launch);
	} else {
		status = run(&launch, argv + optind);
	}
	free(launch.library);
	free(launch.preload);
	return status;
}
