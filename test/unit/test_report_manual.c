/* SPDX-License-Identifier: Apache-2.0 */
/* The manual and what shells complete by say what the program can; run from the repository's root.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/session/options.h"
#include "report/session/summary.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

static char *read_manual(void)
{
	size_t nr_bytes;
	unsigned char *bytes = streams_read("docs/gprof-report.1.md", &nr_bytes);
	char *text = calloc(nr_bytes + 1, 1);

	memcpy(text, bytes, nr_bytes);
	free(bytes);
	return text;
}

/* Is it there, and not only as the begin of a longer one? is_quoted: as `word. */
static bool has_word(const char *text, const char *word, size_t nr_bytes, bool is_quoted)
{
	const char *at = text;

	while ((at = memmem(at, strlen(at), word, nr_bytes))) {
		char next = at[nr_bytes];

		if ((at == text || !is_quoted || at[-1] == '`') && !(next >= 'a' && next <= 'z') &&
			next != '-') {
			return true;
		}
		at++;
	}
	return false;
}

START_TEST(the_manual_has_every_option)
{
	char *manual = read_manual();
	size_t nr = 0;

	for (size_t i = 0; commands[i]; i++) {
		const char *at = commands[i]->options;
		struct option_name option;

		for (; options_next(&at, &option); nr++) {
			ck_assert_msg(has_word(manual, option.name, option.nr_bytes, true),
				"%s: %.*s is not in the manual", commands[i]->name,
				(int)option.nr_bytes, option.name);
		}
	}
	ck_assert_uint_gt(nr, 20);
	free(manual);
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
	} expected[] = {{"--view", true, false, "these (a, b)"}, {"-o", false, false, "there"},
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
		ck_assert_msg(
			has_word(all, view_classes[i]->name, strlen(view_classes[i]->name), false),
			"%s", view_classes[i]->name);
	}
	ck_assert_str_eq(complete("gprof-report timel", 2), "timeline");
	ck_assert_str_eq(complete("gprof-report summary --man", 3), "--mangled");
	ck_assert_str_eq(complete("gprof-report --view kernel,memc", 3), "kernel,memcpy");
	ck_assert_str_eq(complete("gprof-report --format = j", 4), "json");
	ck_assert_str_eq(complete("gprof-report diff --fail", 3), "--fail-on");
	ck_assert_str_eq(complete("gprof-report timeline --view", 3), "");
	ck_assert_str_eq(complete("gprof-report --top 1", 3), "");
	ck_assert_str_eq(complete("gprof-report help che", 3), "check");
}
END_TEST

UNIT_SUITE("report/manual", the_manual_has_every_option, options_are_read_from_the_usage,
	bash_completes_commands_options_and_values)
