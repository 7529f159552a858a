/* SPDX-License-Identifier: Apache-2.0 */
/* The manual and the completions name what the program has; run from the repository's root. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/session/options.h"
#include "report/session/summary.h"
#include "report/session/view_list.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

/* The source of a command's page. */
static char *read_page(const char *command)
{
	char path[64];
	size_t nr_bytes;
	unsigned char *bytes;
	char *text;

	snprintf(path, sizeof(path), "docs/man/gprof-report-%s.1.md", command);
	bytes = streams_read(path, &nr_bytes);
	text = calloc(nr_bytes + 1, 1);
	memcpy(text, bytes, nr_bytes);
	free(bytes);
	return text;
}

/* Is it there, and not only as the begin of a longer word? */
static bool has_word(const char *text, const char *word, size_t nr_bytes)
{
	const char *at = text;

	while ((at = memmem(at, strlen(at), word, nr_bytes))) {
		char next = at[nr_bytes];

		if (!(next >= 'a' && next <= 'z') && next != '-') {
			return true;
		}
		at++;
	}
	return false;
}

/* The build fills in the options where the page has @OPTIONS@. */
START_TEST(every_command_has_a_page_with_its_options)
{
	for (size_t i = 0; commands[i]; i++) {
		char *page = read_page(commands[i]->name);
		struct option_name option = {0};
		char title[64];

		snprintf(title, sizeof(title), "# gprof-report-%s(1) -- ", commands[i]->name);
		ck_assert_msg(!strncmp(page, title, strlen(title)), "%s", title);
		ck_assert_msg(!!strstr(page, "\n@SYNOPSIS@\n"), "%s", commands[i]->name);
		ck_assert_msg(!!strstr(page, "\n@EXIT@\n"), "%s", commands[i]->name);
		ck_assert_msg(option_name_next(&option, commands[i]->options) ==
				      (strstr(page, "\n@OPTIONS@\n") != NULL),
			"%s: options, but no @OPTIONS@ in its page, or the other way round",
			commands[i]->name);
		free(page);
	}
}
END_TEST

static const struct option_line declared[] = {
	OPTION("format", 'f', "FORMAT", NULL, .is_hidden = true),
	OPTION("view", 'v', "NAME", "these (a, b)", .hidden_letter = 'v'),
	OPTION("output", 'o', "FILE", "there\nor -x there", .letter = 'o'),
	OPTION("detail", 'd', NULL, "all", .is_joined = true),
	OPTION("detail", 'd', "LEVEL", "so", .is_joined = true),
	OPTION("pid", 300, "N", NULL),
	OPTION("rank", 0, "N", "one"),
	OPTION("which-has-a-long-name", 1, NULL, "moves\nits text"),
	{0},
};

START_TEST(help_has_the_declared_options)
{
	static const char expected[] = "  --view NAME            these (a, b)\n"
				       "  -o, --output FILE      there\n"
				       "                         or -x there\n"
				       "  --detail               all\n"
				       "  --detail=LEVEL         so\n"
				       "  --pid N, --rank N      one\n"
				       "  --which-has-a-long-name  moves\n"
				       "                         its text\n";
	struct buf help = {0};

	option_lines_add_help(&help, option_line_none);
	ck_assert_uint_eq(help.nr_bytes, 0);
	option_lines_add_help(&help, declared);
	buf_char(&help, '\0');
	ck_assert_str_eq(help.bytes, expected);
	buf_fini(&help);
}
END_TEST

START_TEST(names_are_those_that_help_shows)
{
	static const struct {
		const char *name, *help;
	} expected[] = {{"--view", "these (a, b)"}, {"-o", "there\nor -x there"},
		{"--output", "there\nor -x there"}, {"--detail", "all"}, {"--detail", "so"},
		{"--pid", "one"}, {"--rank", "one"},
		{"--which-has-a-long-name", "moves\nits text"}};
	struct option_name name = {0}, none = {0};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		ck_assert(option_name_next(&name, declared));
		ck_assert_str_eq(name.text, expected[i].name);
		ck_assert_str_eq(option_line_help(name.line), expected[i].help);
	}
	ck_assert(!option_name_next(&name, declared));
	ck_assert(!option_name_next(&none, option_line_none));
}
END_TEST

START_TEST(the_command_line_takes_the_declared_options)
{
	char *argv[] = {"x", "-va", "--form", "b", "path", "-oc", "--deta", "--detail=d", "--pid=1",
		"--rank", "2", "--whi", "-q", "--view", NULL};
	static const struct {
		int id;
		const char *value;
	} expected[] = {{'v', "a"}, {'f', "b"}, {'o', "c"}, {'d', NULL}, {'d', "d"}, {300, "1"},
		{0, "2"}, {1, NULL}, {OPTION_LINE_WRONG, NULL}, {OPTION_LINE_WRONG, NULL}};
	char *program[] = {"x", "path", "--wrong", NULL};
	int argc = sizeof(argv) / sizeof(argv[0]) - 1;

	optind = 0;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		ck_assert_int_eq(option_line_get(declared, "", argc, argv), expected[i].id);
		if (expected[i].id == OPTION_LINE_WRONG) {
			continue;
		}
		ck_assert_int_eq(optarg == NULL, expected[i].value == NULL);
		if (optarg) {
			ck_assert_str_eq(optarg, expected[i].value);
		}
	}
	ck_assert_int_eq(option_line_get(declared, "", argc, argv), -1);
	ck_assert_int_eq(optind, argc - 1);
	ck_assert_str_eq(argv[optind], "path");
	optind = 0;
	ck_assert_int_eq(option_line_get(declared, "+", 3, program), -1);
	ck_assert_int_eq(optind, 1);
	optind = 0;
}
END_TEST

/* What `gprof-report completion bash` gives for a line, words apart by one blank. */
static const char *complete(const char *words, unsigned int nr_words)
{
	static char answer[4096];
	const char *script = streams_path("completion");
	char *argv[] = {"completion", "bash", NULL};
	char command[8192];
	int saved = dup(STDOUT_FILENO);
	FILE *pipe;
	size_t nr_bytes;

	ck_assert_ptr_nonnull(freopen(script, "w", stdout));
	ck_assert_int_eq(cmd_completion.run(2, argv), 0);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	snprintf(command, sizeof(command),
		"bash -c '. %s; COMP_WORDS=(%s); COMP_CWORD=%u; _gprof_report; "
		"echo \"${COMPREPLY[*]}\"'",
		script, words, nr_words - 1);
	pipe = popen(command, "r");
	nr_bytes = fread(answer, 1, sizeof(answer) - 1, pipe);
	ck_assert_int_eq(pclose(pipe), 0);
	answer[nr_bytes ? nr_bytes - 1 : 0] = '\0'; /* the line's end */
	return answer;
}

START_TEST(bash_completes_commands_options_and_values)
{
	const char *all = complete("gprof-report --view \"\"", 3);

	for (size_t i = 0; view_classes[i]; i++) {
		ck_assert_msg(has_word(all, view_classes[i]->name, strlen(view_classes[i]->name)),
			"%s", view_classes[i]->name);
		/* Without one it would be in no list. */
		ck_assert_uint_gt(view_classes[i]->subject, 0);
	}
	ck_assert_str_eq(complete("gprof-report timel", 2), "timeline");
	ck_assert_str_eq(complete("gprof-report summary --man", 3), "--mangled");
	ck_assert_str_eq(complete("gprof-report --view kernel,memc", 3), "kernel,memcpy");
	ck_assert_str_eq(complete("gprof-report --format = j", 4), "json");
	ck_assert_str_eq(
		complete("gprof-report diff --fail", 3), "--fail-on --fail-on-inconclusive");
	ck_assert_str_eq(complete("gprof-report timeline --view", 3), "");
	ck_assert_str_eq(complete("gprof-report --top 1", 3), "");
	ck_assert_str_eq(complete("gprof-report help che", 3), "check");
}
END_TEST

UNIT_SUITE("report/manual", every_command_has_a_page_with_its_options,
	help_has_the_declared_options, names_are_those_that_help_shows,
	the_command_line_takes_the_declared_options, bash_completes_commands_options_and_values)
