/* SPDX-License-Identifier: Apache-2.0 */
/* The manual and the completions name what the program has; run from the repository's root. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/session/options.h"
#include "report/session/summary.h"
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
		char title[64];

		snprintf(title, sizeof(title), "# gprof-report-%s(1) -- ", commands[i]->name);
		ck_assert_msg(!strncmp(page, title, strlen(title)), "%s", title);
		ck_assert_msg(!!strstr(page, "\n@SYNOPSIS@\n"), "%s", commands[i]->name);
		ck_assert_msg(!!strstr(page, "\n@EXIT@\n"), "%s", commands[i]->name);
		ck_assert_msg(!*commands[i]->options == !strstr(page, "\n@OPTIONS@\n"),
			"%s: options, but no @OPTIONS@ in its page, or the other way round",
			commands[i]->name);
		free(page);
	}
}
END_TEST

START_TEST(options_are_read_from_the_usage)
{
	static const struct command command = {.options = "  --view NAME[,NAME]...  these (a, b)\n"
							  "  -o, --output FILE      there\n"
							  "                         or -x there\n"
							  "  --wide                 all\n"
							  "  --detail=LEVEL         so\n"
							  "  --pid N, --rank N      one\n"};
	static const struct {
		const char *name;
		bool has_value, is_joined;
		const char *help;
	} expected[] = {{"--view", true, false, "these (a, b)"}, {"-o", true, false, "there"},
		{"--output", true, false, "there"}, {"--wide", false, false, "all"},
		{"--detail", true, true, "so"}, {"--pid", true, false, "one"},
		{"--rank", true, false, "one"}};
	const char *at = command.options;
	struct option_name option;

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		ck_assert(options_next(&at, &option));
		ck_assert_uint_eq(option.nr_bytes, strlen(expected[i].name));
		ck_assert(!memcmp(option.name, expected[i].name, option.nr_bytes));
		ck_assert_int_eq(option.has_value, expected[i].has_value);
		ck_assert_int_eq(option.is_joined, expected[i].is_joined);
		ck_assert_uint_eq(option.nr_help, strlen(expected[i].help));
		ck_assert(!memcmp(option.help, expected[i].help, option.nr_help));
	}
	ck_assert(!options_next(&at, &option));
	at = "";
	ck_assert(!options_next(&at, &option));
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
	options_are_read_from_the_usage, bash_completes_commands_options_and_values)
