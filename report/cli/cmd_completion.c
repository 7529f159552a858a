/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what shells complete by: made of the lists of commands, options, views and styles. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "report/session/common_options.h"
#include "report/session/options.h"

static void add_word(void *context, const char *word)
{
	struct buf *words = context;

	buf_text(words, words->nr_bytes ? " " : "");
	buf_text(words, word);
}

/* The words of a value with blanks between, empty if it may be anything. */
static void add_values(
	struct buf *words, const struct command *command, const struct option_name *option)
{
	char name[32];

	words->nr_bytes = 0;
	if (option->nr_bytes >= sizeof(name)) {
		return;
	}
	memcpy(name, option->name, option->nr_bytes);
	name[option->nr_bytes] = '\0';
	if (!command->values || !command->values(name, add_word, words)) {
		common_options_values(name, add_word, words);
	}
}

static void add_commands(struct buf *words)
{
	for (size_t i = 0; commands[i]; i++) {
		add_word(words, commands[i]->name);
	}
}

/*
 * The next argument of a command's usage that is one of some words, "start|stop|steps": the words
 * with blanks between, and its place from 1 on. *at begins as command->arguments. False behind the
 * last.
 */
static bool next_words(const char **at, unsigned int *place, struct buf *words)
{
	while (**at) {
		size_t length = strcspn(*at, " ");
		bool has_words = memchr(*at, '|', length) != NULL;

		words->nr_bytes = 0;
		for (size_t i = 0; i < length; i++) {
			has_words &= (*at)[i] == '|' || islower((unsigned char)(*at)[i]);
			buf_char(words, (*at)[i] == '|' ? ' ' : (*at)[i]);
		}
		*at += length + strspn(*at + length, " ");
		++*place;
		if (has_words) {
			return true;
		}
	}
	return false;
}

/* ---- bash ---- */

static void bash_options(const struct command *command)
{
	const char *at = command->options;
	struct option_name option;

	printf("\t%s)\n\t\toptions='--help", command->name);
	while (options_next(&at, &option)) {
		printf(" %.*s%s", (int)option.nr_bytes, option.name, option.is_joined ? "=" : "");
	}
	printf("' ;;\n");
}

static void bash_arguments(const struct command *command)
{
	const char *at = command->arguments;
	unsigned int place = 0;
	struct buf words = {0};

	while (next_words(&at, &place, &words)) {
		/* Behind the names of the program and of the command. */
		printf("\t%s:%u) options='%.*s' ;;\n", command->name, place + 1,
			(int)words.nr_bytes, words.bytes);
	}
	buf_fini(&words);
}

static void bash_values(const struct command *command)
{
	const char *at = command->options;
	struct option_name option;
	struct buf words = {0};

	while (options_next(&at, &option)) {
		add_values(&words, command, &option);
		if (option.has_value) {
			printf("\t%s:%.*s)\n\t\tvalues='%.*s' ;;\n", command->name,
				(int)option.nr_bytes, option.name, (int)words.nr_bytes,
				words.nr_bytes ? words.bytes : "");
		}
	}
	buf_fini(&words);
}

static void print_bash(void)
{
	struct buf words = {0}, views = {0};

	add_commands(&words);
	cmd_summary.values("--view", add_word, &views);
	printf("# Completion of gprof-report for bash; printed by gprof-report completion bash.\n"
	       "_gprof_report()\n{\n"
	       "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
	       "\tlocal command=summary commands='%.*s' options='' values='?' first=''\n"
	       "\tCOMPREPLY=()\n"
	       "\tif [ \"$COMP_CWORD\" -gt 1 ]; then\n"
	       "\t\tcase \" $commands \" in\n"
	       "\t\t*\" ${COMP_WORDS[1]} \"*) command=${COMP_WORDS[1]} ;;\n"
	       "\t\tesac\n"
	       "\tfi\n"
	       "\t# --option=value comes in three words\n"
	       "\tif [ \"$word\" = = ]; then\n\t\tword=''\n\t"
	       "elif [ \"$before\" = = ]; then\n\t\tbefore=${COMP_WORDS[COMP_CWORD - 2]}\n\tfi\n"
	       "\tcase $command in\n",
		(int)words.nr_bytes, words.bytes ? words.bytes : "");
	for (size_t i = 0; commands[i]; i++) {
		bash_options(commands[i]);
	}
	printf("\tesac\n\tcase $command:$before in\n");
	for (size_t i = 0; commands[i]; i++) {
		bash_values(commands[i]);
	}
	printf("\tesac\n"
	       "\tif [ \"$values\" != '?' ]; then\n"
	       "\t\tcase $before:$word in\n"
	       "\t\t--view:*,*) # the last one of a list\n"
	       "\t\t\tfirst=${word%%,*},\n\t\t\tword=${word##*,} ;;\n\t\tesac\n"
	       "\t\t[ -n \"$values\" ] || return 0\n"
	       "\t\tmapfile -t COMPREPLY < <(compgen -P \"$first\" -W \"$values\" -- \"$word\")\n"
	       "\t\treturn 0\n\tfi\n"
	       "\tif [ \"$command\" = help ] || [ \"$COMP_CWORD\" = 1 ]; then\n"
	       "\t\toptions=\"$options $commands\"\n\tfi\n"
	       "\tif [ \"$command\" = help ]; then\n\t\toptions=\"$options %.*s\"\n\tfi\n"
	       "\tcase $command:$COMP_CWORD in\n",
		(int)views.nr_bytes, views.bytes);
	for (size_t i = 0; commands[i]; i++) {
		bash_arguments(commands[i]);
	}
	printf("\tesac\n"
	       "\tmapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
	       "}\n"
	       "complete -o bashdefault -o default -F _gprof_report gprof-report\n");
	buf_fini(&words);
	buf_fini(&views);
}

/* ---- zsh ---- */

/* Text within '...[text]': quotes, brackets and colons would end it. */
static void print_quoted(const char *text, size_t nr_bytes)
{
	for (size_t i = 0; i < nr_bytes; i++) {
		if (text[i] == '\'') {
			printf("'\\''");
		} else {
			printf("%s%c", strchr("[]:\\", text[i]) ? "\\" : "", text[i]);
		}
	}
}

static bool is_file(const struct option_name *option)
{
	return option->nr_value == 4 && !memcmp(option->value, "FILE", 4);
}

/* The arguments that are words, and paths elsewhere. */
static void zsh_arguments(const struct command *command)
{
	const char *at = command->arguments;
	unsigned int place = 0;
	struct buf words = {0};

	while (next_words(&at, &place, &words)) {
		printf(" \\\n\t\t\t'%u:word:(%.*s)'", place, (int)words.nr_bytes, words.bytes);
	}
	printf(" \\\n\t\t\t'*:path:_files' ;;\n");
	buf_fini(&words);
}

static void zsh_options(const struct command *command)
{
	const char *at = command->options;
	struct option_name option;
	struct buf words = {0};

	printf("\t%s)\n\t\t_arguments '--help[show the options]'", command->name);
	while (options_next(&at, &option)) {
		bool is_long = option.name[1] == '-';
		bool is_list = option.nr_bytes == 6 && !memcmp(option.name, "--view", 6);

		printf(" \\\n\t\t\t'*%.*s%s[", (int)option.nr_bytes, option.name,
			option.is_joined	      ? "=-"
			: option.has_value && is_long ? "="
			: option.has_value	      ? "+"
						      : "");
		print_quoted(option.help, option.nr_help);
		printf("]");
		add_values(&words, command, &option);
		if (option.has_value && words.nr_bytes) {
			printf(is_list ? ":view:_sequence compadd - %.*s" : ":value:(%.*s)",
				(int)words.nr_bytes, words.bytes);
		} else if (option.has_value) {
			printf(":%.*s:%s", (int)option.nr_value, option.value,
				is_file(&option) ? "_files" : " ");
		}
		printf("'");
	}
	zsh_arguments(command);
	buf_fini(&words);
}

static void print_zsh(void)
{
	struct buf views = {0};

	cmd_summary.values("--view", add_word, &views);
	printf("#compdef gprof-report\n"
	       "# Completion of gprof-report for zsh; printed by gprof-report completion zsh.\n"
	       "_gprof_report()\n{\n\tlocal command=summary\n\tlocal -a commands\n\tcommands=(\n");
	for (size_t i = 0; commands[i]; i++) {
		printf("\t\t'%s:", commands[i]->name);
		print_quoted(commands[i]->help, strlen(commands[i]->help));
		printf("'\n");
	}
	printf("\t)\n"
	       "\tif (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
	       "\t\t_describe command commands\n\t\t_files\n\t\treturn\n\tfi\n"
	       "\tif (( ${commands[(I)$words[2]:*]} )); then\n"
	       "\t\tcommand=$words[2]\n\t\tshift words\n\t\t(( CURRENT-- ))\n\tfi\n"
	       "\tcase $command in\n"
	       "\thelp) _describe command commands; compadd %.*s ;;\n",
		(int)views.nr_bytes, views.bytes);
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i] != &cmd_help) {
			zsh_options(commands[i]);
		}
	}
	printf("\tesac\n}\n_gprof_report \"$@\"\n");
	buf_fini(&views);
}

static int run(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "bash") == 0) {
		print_bash();
		return CMD_GOOD;
	}
	if (argc == 2 && strcmp(argv[1], "zsh") == 0) {
		print_zsh();
		return CMD_GOOD;
	}
	return cmd_usage(&cmd_completion, "name the shell: bash or zsh");
}

const struct command cmd_completion = {
	.name = "completion",
	.arguments = "bash|zsh",
	.help = "print the completions of bash or zsh; make install installs them",
	.options = "",
	.run = run,
};
