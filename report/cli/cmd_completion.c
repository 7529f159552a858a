/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what shells complete gprof-report and gprof-record by: made of the lists of commands,
 * options, views and styles.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "report/launch/record_options.h"
#include "report/session/common_options.h"

/* gprof-record as one more command, with its options while the script is printed. */
static struct command record = {.name = "gprof-record"};

static void add_word(void *context, const char *word)
{
	struct buf *words = context;

	buf_text(words, words->nr_bytes ? " " : "");
	buf_text(words, word);
}

/* Adds the words of an option's value with blanks between; none if it may be anything. */
static void add_values(
	struct buf *words, const struct command *command, const struct option_line *option)
{
	words->nr_bytes = 0;
	option_lines_add_words(command->options, option->name, add_word, words);
}

static void add_views(struct buf *views)
{
	option_lines_add_words(cmd_summary.options, "view", add_word, views);
}

/* Returns the length of the first line. */
static size_t help_length(const char *help)
{
	return strcspn(help, "\n");
}

static void add_commands(struct buf *words)
{
	for (size_t i = 0; commands[i]; i++) {
		add_word(words, commands[i]->name);
	}
}

/* Kinds of values that options take. */
enum kind { KIND_ANYTHING, KIND_WORDS, KIND_LIST, KIND_FILE, KIND_FOLDER };

/* `words` are those of add_values. A list has commas between its words. */
static enum kind value_kind(const struct option_line *option, const struct buf *words)
{
	if (words->nr_bytes) {
		return option->is_list ? KIND_LIST : KIND_WORDS;
	}
	if (strcmp(option->value, "FILE") == 0 || strcmp(option->value, "PATH") == 0) {
		return KIND_FILE;
	}
	return strcmp(option->value, "DIR") == 0 ? KIND_FOLDER : KIND_ANYTHING;
}

/*
 * Finds the next argument of a command's usage that is one of some words, "start|stop|steps": the
 * words with blanks between, and its position from 1 on. *at begins as command->arguments. False
 * behind the last.
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

/* The options of gprof-record whose value is the next word, each behind `between`. */
static void print_valued_options(const char *between)
{
	struct option_name option = {0};

	while (option_name_next(&option, record.options)) {
		if (option.line->value && !option.line->is_joined) {
			printf("%s%s", between, option.text);
		}
	}
}

/* ---- bash ---- */

static void bash_options(const struct command *command)
{
	struct option_name option = {0};

	printf("\t%s)\n\t\toptions='%s", command->name, command == &record ? "" : "--help");
	while (option_name_next(&option, command->options)) {
		printf(" %s%s", option.text,
			option.line->value && option.line->is_joined ? "=" : "");
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
	struct option_name option = {0};
	struct buf words = {0};

	while (option_name_next(&option, command->options)) {
		add_values(&words, command, option.line);
		if (option.line->value) {
			printf("\t%s:%s)\n\t\tvalues='%.*s' ;;\n", command->name, option.text,
				(int)words.nr_bytes, words.nr_bytes ? words.bytes : "");
		}
	}
	buf_fini(&words);
}

/* The options of a program whose value is a list, as patterns; returns how many there are now. */
static unsigned int bash_lists(const struct command *command, unsigned int nr)
{
	for (const struct option_line *line = command->options; line->name; line++) {
		if (line->is_list) {
			printf("%s--%s:*,*", nr++ ? " | " : "", line->name);
		}
	}
	return nr;
}

/* Completes a value where $before is an option that takes one of $values, or a file if empty. */
static void bash_complete_value(void)
{
	unsigned int nr = 0;

	printf("\tif [ \"$values\" != '?' ]; then\n"
	       "\t\tcase $before:$word in\n\t\t");
	for (size_t i = 0; commands[i]; i++) {
		nr = bash_lists(commands[i], nr);
	}
	bash_lists(&record, nr);
	printf(") # the last one of a list\n"
	       "\t\t\tfirst=${word%%,*},\n\t\t\tword=${word##*,} ;;\n\t\tesac\n"
	       "\t\t[ -n \"$values\" ] || return 0\n"
	       "\t\tmapfile -t COMPREPLY < <(compgen -P \"$first\" -W \"$values\" -- \"$word\")\n"
	       "\t\treturn 0\n\tfi\n");
}

static void bash_report(void)
{
	struct buf words = {0}, views = {0};

	add_commands(&words);
	add_views(&views);
	printf("_gprof_report()\n{\n"
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
	printf("\tesac\n");
	bash_complete_value();
	printf("\tif [ \"$command\" = help ] || [ \"$COMP_CWORD\" = 1 ]; then\n"
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

/* From the program on, its own completion works where bash-completion is loaded. */
static void bash_record(void)
{
	printf("_gprof_record()\n{\n"
	       "\tlocal word=${COMP_WORDS[COMP_CWORD]} before='' command=gprof-record\n"
	       "\tlocal options='' values='?' first='' i\n"
	       "\tCOMPREPLY=()\n"
	       "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	       "\t\tbefore=${COMP_WORDS[i]}\n"
	       "\t\tif [ \"${COMP_WORDS[i + 1]}\" = = ]; then\n"
	       "\t\t\ti=$((i + 2)) # --option=value comes in three words\n"
	       "\t\t\tcontinue\n"
	       "\t\tfi\n"
	       "\t\tcase $before in\n"
	       "\t\t--)\n\t\t\ti=$((i + 1))\n\t\t\tbreak ;;\n"
	       "\t\t--output");
	print_valued_options(" | ");
	printf(") i=$((i + 1)) ;;\n"
	       "\t\t-*) ;;\n"
	       "\t\t*) break ;;\n"
	       "\t\tesac\n"
	       "\tdone\n"
	       "\tif [ \"$i\" -lt \"$COMP_CWORD\" ]; then\n"
	       "\t\tdeclare -F _command_offset >/dev/null && _command_offset \"$i\"\n"
	       "\t\treturn 0\n"
	       "\tfi\n"
	       "\tif [ \"$i\" -gt \"$COMP_CWORD\" ]; then\n"
	       "\t\t[ \"$word\" != = ] || word=''\n"
	       "\t\tvalues=''\n"
	       "\t\tcase $command:$before in\n");
	bash_values(&record);
	printf("\t\tesac\n\tfi\n");
	bash_complete_value();
	printf("\tcase $command in\n");
	bash_options(&record);
	printf("\tesac\n"
	       "\tcase $word in\n"
	       "\t-*) mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\") ;;\n"
	       "\t*) mapfile -t COMPREPLY < <(compgen -c -- \"$word\") ;;\n"
	       "\tesac\n"
	       "}\n"
	       "complete -o bashdefault -o default -F _gprof_record gprof-record\n");
}

static void print_bash(void)
{
	printf("# Completion of gprof-report and gprof-record for bash; printed by gprof-report "
	       "completion bash.\n");
	bash_report();
	bash_record();
}

/* ---- zsh ---- */

/* Text within '...[text]': quotes, brackets and colons would end it. */
static void zsh_quoted(const char *text, size_t nr_bytes)
{
	for (size_t i = 0; i < nr_bytes; i++) {
		if (text[i] == '\'') {
			printf("'\\''");
		} else {
			printf("%s%c", strchr("[]:\\", text[i]) ? "\\" : "", text[i]);
		}
	}
}

static void zsh_value(const struct command *command, const struct option_line *option)
{
	static const char *const actions[] = {
		[KIND_ANYTHING] = " ", [KIND_FILE] = "_files", [KIND_FOLDER] = "_files -/"};
	struct buf words = {0};
	enum kind kind;

	add_values(&words, command, option);
	kind = value_kind(option, &words);
	if (kind == KIND_LIST || kind == KIND_WORDS) {
		printf(kind == KIND_LIST ? ":value:_sequence compadd - %.*s" : ":value:(%.*s)",
			(int)words.nr_bytes, words.bytes);
	} else {
		printf(":%s:%s", option->value, actions[kind]);
	}
	buf_fini(&words);
}

static void zsh_options(const struct command *command)
{
	struct option_name option = {0};

	while (option_name_next(&option, command->options)) {
		const char *help = option_line_help(option.line);

		printf(" \\\n\t\t\t'*%s%s[", option.text,
			!option.line->value	 ? ""
			: option.line->is_joined ? "=-"
			: option.is_letter	 ? "+"
						 : "=");
		zsh_quoted(help, help_length(help));
		printf("]");
		if (option.line->value) {
			zsh_value(command, option.line);
		}
		printf("'");
	}
}

/* The options, the arguments that are words, and paths elsewhere. */
static void zsh_command(const struct command *command)
{
	const char *at = command->arguments;
	unsigned int place = 0;
	struct buf words = {0};

	printf("\t%s)\n\t\t_arguments '--help[show the options]'", command->name);
	zsh_options(command);
	while (next_words(&at, &place, &words)) {
		printf(" \\\n\t\t\t'%u:word:(%.*s)'", place, (int)words.nr_bytes, words.bytes);
	}
	printf(" \\\n\t\t\t'*:path:_files' ;;\n");
	buf_fini(&words);
}

static void zsh_report(void)
{
	struct buf views = {0};

	add_views(&views);
	printf("_gprof_report()\n{\n\tlocal command=summary\n\tlocal -a commands\n\tcommands=(\n");
	for (size_t i = 0; commands[i]; i++) {
		printf("\t\t'%s:", commands[i]->name);
		zsh_quoted(commands[i]->help, strlen(commands[i]->help));
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
			zsh_command(commands[i]);
		}
	}
	printf("\tesac\n}\n");
	buf_fini(&views);
}

static void print_zsh(void)
{
	printf("#compdef gprof-report gprof-record\n"
	       "# Completion of gprof-report and gprof-record for zsh; printed by gprof-report "
	       "completion zsh.\n");
	zsh_report();
	printf("_gprof_record()\n{\n\t_arguments -S");
	zsh_options(&record);
	printf(" \\\n\t\t\t'(-):program:_command_names -e' '*::argument:_normal'\n}\n"
	       "if [[ $service == gprof-record ]]; then\n\t_gprof_record \"$@\"\n"
	       "else\n\t_gprof_report \"$@\"\nfi\n");
}

/* ---- fish ---- */

static void fish_quoted(const char *text, size_t nr_bytes)
{
	printf("'");
	for (size_t i = 0; i < nr_bytes; i++) {
		printf("%s%c", strchr("'\\", text[i]) ? "\\" : "", text[i]);
	}
	printf("'");
}

static void fish_value(const struct command *command, const struct option_line *option)
{
	/* Without -r or -x, the value may be left out. */
	const char *must = option->is_joined ? "" : " -x";
	struct buf words = {0};

	add_values(&words, command, option);
	switch (value_kind(option, &words)) {
	case KIND_WORDS:
		printf("%s -a '%.*s'", must, (int)words.nr_bytes, words.bytes);
		break;
	case KIND_LIST:
		printf("%s -a '(__fish_append , %.*s)'", must, (int)words.nr_bytes, words.bytes);
		break;
	case KIND_FILE:
		printf(" -rF");
		break;
	case KIND_FOLDER:
		printf("%s -a '(__fish_complete_directories)'", must);
		break;
	case KIND_ANYTHING:
		printf("%s", must);
		break;
	}
	buf_fini(&words);
}

/* `head`: the program, and when it has these options. */
static void fish_options(const char *head, const struct command *command)
{
	struct option_name option = {0};

	while (option_name_next(&option, command->options)) {
		const char *help = option_line_help(option.line);

		printf("complete %s -%s %s", head, option.is_letter ? "s" : "l",
			option.text + (option.is_letter ? 1 : 2));
		if (option.line->value) {
			fish_value(command, option.line);
		}
		printf(" -d ");
		fish_quoted(help, help_length(help));
		printf("\n");
	}
}

static void fish_command(const struct command *command)
{
	const char *at = command->arguments;
	unsigned int place = 0;
	struct buf words = {0};
	char head[128];

	printf("complete -c gprof-report -n __gprof_report_is_first -a %s -d ", command->name);
	fish_quoted(command->help, strlen(command->help));
	snprintf(head, sizeof(head), "-c gprof-report -n 'test (__gprof_report_command) = %s'",
		command->name);
	printf("\ncomplete %s -l help -d 'show the options'\n", head);
	fish_options(head, command);
	while (next_words(&at, &place, &words)) {
		printf("complete -c gprof-report -n 'test (__gprof_report_command) = %s; and test "
		       "(count (commandline -opc)) = %u' -f -a '%.*s'\n",
			command->name, place + 1, (int)words.nr_bytes, words.bytes);
	}
	buf_fini(&words);
}

static void fish_report(void)
{
	struct buf words = {0}, views = {0};

	add_commands(&words);
	add_views(&views);
	printf("function __gprof_report_is_first\n"
	       "\ttest (count (commandline -opc)) = 1\n"
	       "end\n"
	       "function __gprof_report_command\n"
	       "\tset -l words (commandline -opc)\n"
	       "\tif contains -- \"$words[2]\" %.*s\n"
	       "\t\techo $words[2]\n"
	       "\telse\n\t\techo summary\n\tend\n"
	       "end\n",
		(int)words.nr_bytes, words.bytes);
	for (size_t i = 0; commands[i]; i++) {
		fish_command(commands[i]);
	}
	printf("complete -c gprof-report -n 'test (__gprof_report_command) = help' -f -a '%.*s "
	       "%.*s'\n",
		(int)words.nr_bytes, words.bytes, (int)views.nr_bytes, views.bytes);
	buf_fini(&words);
	buf_fini(&views);
}

static void fish_record(void)
{
	/* Prints the program and its arguments, which end the options. */
	printf("function __gprof_record_program\n"
	       "\tset -l words (commandline -opc)\n"
	       "\tset -e words[1]\n"
	       "\twhile set -q words[1]\n"
	       "\t\tswitch $words[1]\n"
	       "\t\t\tcase --\n\t\t\t\tset -e words[1]\n\t\t\t\tbreak\n"
	       "\t\t\tcase --output");
	print_valued_options(" ");
	printf("\n\t\t\t\tset -e words[1..2]\n"
	       "\t\t\tcase '-*'\n\t\t\t\tset -e words[1]\n"
	       "\t\t\tcase '*'\n\t\t\t\tbreak\n"
	       "\t\tend\n"
	       "\tend\n"
	       "\tset -q words[1]; and printf '%%s\\n' $words\n"
	       "end\n");
	fish_options("-c gprof-record -n 'not __gprof_record_program >/dev/null'", &record);
	printf("complete -c gprof-record -x -n '__gprof_record_program >/dev/null; or not string "
	       "match "
	       "-q -- \"-*\" (commandline -ct)' -a '(__fish_complete_subcommand --commandline "
	       "(__gprof_record_program) (commandline -ct))'\n");
}

static void print_fish(void)
{
	printf("# Completion of gprof-report and gprof-record for fish; printed by gprof-report "
	       "completion fish.\n");
	fish_report();
	fish_record();
}

static const struct {
	const char *name;
	void (*print)(void);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

static int run(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (strcmp(argv[1], shells[i].name) == 0) {
			record.options = record_options();
			shells[i].print();
			return CMD_GOOD;
		}
	}
	return cmd_usage(&cmd_completion, "name the shell: bash, zsh or fish");
}

const struct command cmd_completion = {
	.name = "completion",
	.arguments = "bash|zsh|fish",
	.help = "print the completions of bash, zsh or fish; make install installs them",
	.options = option_line_none,
	.run = run,
};
