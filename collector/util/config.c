/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Precedence: lines that the program gave to gprof_start(), the environment, the file that
 * GPROF_CONFIG names, the default. Each value is parsed once into a number, which is all that flags
 * and choices need, and stays as text for the facts of the stream. Wrong settings become sentences,
 * which config_complain() reports once there is a log; the default applies, and recording goes on.
 */
#include "collector/util/config.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/util/config_file.h"
#include "collector/util/log.h"
#include "collector/util/redact.h"

#define PREFIX	     "GPROF_"
#define TEXT_BYTES   1024
#define MAX_WRONG    8
#define PRESET_BYTES 4096

enum type { TYPE_BOOL, TYPE_NUMBER, TYPE_TEXT, TYPE_CHOICE, TYPE_LIST };

struct variable {
	const char *name;
	const char *value; /* default */
	const char *allowed;
	uint32_t min, max;
	enum type type;
};

static const struct variable variables[CONFIG_NR] = {
#define CONFIG(n, t, v, lo, hi, a, help)   \
	[CONFIG_##n] = {.name = PREFIX #n, \
		.value = v,                \
		.allowed = a,              \
		.min = lo,                 \
		.max = hi,                 \
		.type = TYPE_##t},
#include "collector/util/config.def"
#undef CONFIG
};

uint64_t config_numbers[CONFIG_NR] COMPAT_AT_START;

static struct config_state {
	struct {
		char text[TEXT_BYTES];
		bool is_set;   /* in the environment */
		bool is_given; /* there or in the file, to an allowed value */
	} values[CONFIG_NR];
	char cuda_home[PATH_MAX];
	char wrong[MAX_WRONG][256];
	unsigned int nr_wrong, nr_more_wrong;
} config;

/* Lines of config_preset, each with its NUL: NAME=value. */
static char presets[PRESET_BYTES];
static size_t nr_preset_bytes COMPAT_AT_START;

/* Returns the value that overrides those of the file and the default; NULL if there is none. */
COMPAT_START_CODE static const char *given_text(enum config_name name)
{
	size_t nr_bytes = strlen(variables[name].name);

	for (const char *line = presets; line < presets + nr_preset_bytes;
		line += strlen(line) + 1) {
		if (!strncmp(line, variables[name].name, nr_bytes) && line[nr_bytes] == '=') {
			return line + nr_bytes + 1;
		}
	}
	return getenv(variables[name].name);
}

/* Returns room for one more sentence. Without room, counts the setting and returns NULL. */
static char *add_wrong(void)
{
	if (config.nr_wrong < MAX_WRONG) {
		return config.wrong[config.nr_wrong++];
	}
	config.nr_more_wrong++;
	return NULL;
}

static void add_wrong_value(const char *name, const char *value, const char *allowed)
{
	char redacted[64], *sentence = add_wrong();

	if (sentence) {
		redacted[redact_value(redacted, 60, name, value, strlen(value))] = 0;
		log_format(sentence, sizeof(config.wrong[0]),
			"%s=%s is not allowed (allowed: %s); the default is used", name, redacted,
			allowed);
	}
}

/* Adds a sentence about the file of settings: what, and what is wrong with it. */
static void add_wrong_line(const char *where, const char *what, const char *problem)
{
	char redacted[96], *sentence = add_wrong();

	if (sentence) {
		redacted[redact_value(redacted, sizeof(redacted) - 1, "", what, strlen(what))] = 0;
		log_format(sentence, sizeof(config.wrong[0]), "%s%s %s", where, redacted, problem);
	}
}

/* Decimal digits only; false also when the number does not fit. */
static bool parse_number(const char *text, uint64_t *number)
{
	uint64_t value = 0;

	if (!*text) {
		return false;
	}
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || value > (UINT64_MAX - 9) / 10) {
			return false;
		}
		value = value * 10 + (uint64_t)(*text - '0');
	}
	*number = value;
	return true;
}

/* Returns the position of a text among words separated by |, -1 if it is none of them. */
static int find_choice(const char *words, const char *text, size_t length)
{
	int index = 0;

	for (;;) {
		const char *end = strchrnul(words, '|');

		if ((size_t)(end - words) == length && !memcmp(words, text, length)) {
			return index;
		}
		if (!*end) {
			return -1;
		}
		words = end + 1;
		index++;
	}
}

/*
 * Sets the bits of the positions of words separated by commas. Returns false if one is not allowed.
 */
static bool parse_list(const char *allowed, const char *text, uint64_t *bits)
{
	*bits = 0;
	for (;;) {
		const char *end = strchrnul(text, ',');
		int choice = find_choice(allowed, text, (size_t)(end - text));

		if (choice < 0) {
			return false;
		}
		*bits |= 1ull << choice;
		if (!*end) {
			return true;
		}
		text = end + 1;
	}
}

/* Reads the number of an allowed text (0 for a TEXT). Returns 0, or -EINVAL for another one. */
static int parse_value(uint64_t *number, enum config_name name, const char *text)
{
	const struct variable *v = &variables[name];
	int choice;

	switch (v->type) {
	case TYPE_BOOL:
	case TYPE_NUMBER:
		if (!parse_number(text, number) || *number < v->min || *number > v->max) {
			return -EINVAL;
		}
		break;
	case TYPE_CHOICE:
		choice = find_choice(v->allowed, text, strlen(text));
		if (choice < 0) {
			return -EINVAL;
		}
		*number = (uint64_t)choice;
		break;
	case TYPE_LIST:
		if (!parse_list(v->allowed, text, number)) {
			return -EINVAL;
		}
		break;
	case TYPE_TEXT:
		if (strlen(text) >= TEXT_BYTES) {
			return -EINVAL;
		}
		*number = 0;
		break;
	}
	return 0;
}

/* A text that is not allowed leaves the value as it was. */
static int set(enum config_name name, const char *text)
{
	uint64_t number;
	int rc = parse_value(&number, name, text);

	if (!rc) {
		config_numbers[name] = number;
		strncpy(config.values[name].text, text, TEXT_BYTES - 1);
	}
	return rc;
}

/* ---- names that do not exist ---- */

#define MAX_LETTERS 24u /* of a name without the prefix; longer ones are close to none */

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Levenshtein's distance of two names of at most MAX_LETTERS. */
static unsigned int distance(const char *from, const char *to)
{
	unsigned int nr_to = (unsigned int)strlen(to), costs[MAX_LETTERS + 1];

	for (unsigned int i = 0; i <= nr_to; i++) {
		costs[i] = i;
	}
	for (unsigned int row = 1; *from; row++, from++) {
		unsigned int diagonal = costs[0];

		costs[0] = row;
		for (unsigned int i = 0; i < nr_to; i++) {
			unsigned int replaced = diagonal + (*from != to[i]);

			diagonal = costs[i + 1];
			costs[i + 1] = least(replaced, least(costs[i], diagonal) + 1);
		}
	}
	return costs[nr_to];
}

/*
 * Returns the variable whose name differs in at most a third of the letters, NULL if there is none.
 */
static const char *closest_variable(const char *name)
{
	const char *letters = name + strlen(PREFIX), *closest = NULL;
	size_t nr = strlen(letters);
	unsigned int limit = (unsigned int)nr / 3 + 1; /* below this one */

	for (int i = 0; i < CONFIG_NR && nr <= MAX_LETTERS; i++) {
		const char *known = variables[i].name + strlen(PREFIX);
		unsigned int letters_off =
			strlen(known) <= MAX_LETTERS ? distance(letters, known) : limit;

		if (letters_off < limit) {
			limit = letters_off;
			closest = variables[i].name;
		}
	}
	return closest;
}

/* Returns CONFIG_NR for an unknown name. */
static enum config_name find_variable(const char *name, size_t nr_bytes)
{
	unsigned int i = 0;

	while (i < CONFIG_NR &&
		(strncmp(variables[i].name, name, nr_bytes) || variables[i].name[nr_bytes])) {
		i++;
	}
	return (enum config_name)i;
}

static void add_unknown(const char *name, const char *closest)
{
	char *sentence = add_wrong();

	if (sentence) {
		log_format(sentence, sizeof(config.wrong[0]),
			"%.*s is no variable of gprof and is ignored; %s%s%s",
			(int)(sizeof(PREFIX) + MAX_LETTERS), name,
			closest ? "did you mean " : "see gprof-report env", closest ? closest : "",
			closest ? "?" : "");
	}
}

/* Other programs have variables with the prefix, too: only those that look misspelt count. */
static void find_misspelt(void)
{
	for (char **each = environ; each && *each; each++) {
		size_t nr_bytes = strcspn(*each, "=");
		char name[sizeof(PREFIX) + MAX_LETTERS];
		const char *closest;

		if (strncmp(*each, PREFIX, strlen(PREFIX)) != 0 || nr_bytes >= sizeof(name) ||
			find_variable(*each, nr_bytes) != CONFIG_NR) {
			continue;
		}
		memcpy(name, *each, nr_bytes);
		name[nr_bytes] = 0;
		closest = closest_variable(name);
		if (closest) {
			add_unknown(name, closest);
		}
	}
}

int config_set(const char *name, const char *value)
{
	enum config_name variable = find_variable(name, strlen(name));
	int rc = -EINVAL;

	if (variable == CONFIG_NR) {
		add_unknown(name, closest_variable(name));
		return rc;
	}
	rc = set(variable, value);
	if (rc) {
		add_wrong_value(name, value, variables[variable].allowed);
	} else {
		config.values[variable].is_given = true;
	}
	return rc;
}

/*
 * Checks all lines in a copy before it keeps them. config_init() and config_early() then read them
 * as they read the environment.
 */
int config_preset(const char *lines)
{
	char text[PRESET_BYTES], *line, *rest, *value;
	size_t nr_bytes = strlen(lines);
	uint64_t number;

	if (nr_bytes >= sizeof(text)) {
		return -E2BIG;
	}
	memcpy(text, lines, nr_bytes + 1);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		size_t nr_name = strcspn(line, "=");
		enum config_name variable = find_variable(line, nr_name);

		value = line + nr_name;
		if (!*value || variable == CONFIG_NR || parse_value(&number, variable, value + 1)) {
			return -EINVAL;
		}
	}
	memcpy(presets, lines, nr_bytes + 1);
	for (char *end = presets; (end = strchr(end, '\n')); end++) {
		*end = 0;
	}
	nr_preset_bytes = nr_bytes;
	return 0;
}

COMPAT_START_CODE void config_init_enable(void)
{
	const char *text = given_text(CONFIG_ENABLE);

	config_numbers[CONFIG_ENABLE] = !text || strcmp(text, "0");
}

COMPAT_START_CODE bool config_is_asked(enum config_name name)
{
	return given_text(name) != NULL;
}

uint64_t config_early(enum config_name name)
{
	const char *text = given_text(name);

	if (!text || set(name, text)) {
		set(name, variables[name].value);
	}
	return config_number(name);
}

void config_init(void)
{
	const char *home = getenv("CUDA_HOME");

	memset(&config, 0, sizeof(config));
	memset(config_numbers, 0, sizeof(config_numbers));
	home = home ? home : getenv("CUDA_PATH");
	strncpy(config.cuda_home, home ? home : "", sizeof(config.cuda_home) - 1);
	for (int i = 0; i < CONFIG_NR; i++) {
		const char *text = given_text((enum config_name)i);

		set((enum config_name)i, variables[i].value);
		if (text) {
			config.values[i].is_set = true;
			config_set(variables[i].name, text);
		}
	}
	find_misspelt();
}

/* Reads one line of a file: NAME=value, also with `export`, quotes, comments and blanks around. */
static void parse_line(char *line)
{
	char *name = line + strspn(line, " \t");
	enum config_name variable;
	char *value, *end;

	if (!strncmp(name, "export ", 7)) {
		name += 7;
	}
	value = strchr(name, '=');
	if (*name == '#' || !*name) {
		return;
	}
	if (!value) {
		if (!strncmp(name, PREFIX, strlen(PREFIX))) {
			add_wrong_line("", name,
				"in the file of " PREFIX "CONFIG has no value; write "
				"NAME=value");
		}
		return;
	}
	*value++ = 0;
	if (*value == '"' || *value == '\'') {
		char *quote = strchr(value + 1, *value);

		value++;
		if (quote) {
			*quote = 0;
		}
	} else {
		end = value + strcspn(value, "#");
		while (end > value && strchr(" \t\r", end[-1])) {
			end--;
		}
		*end = 0;
	}
	variable = find_variable(name, strlen(name));
	/* The environment overrides the file. */
	if (!strncmp(name, PREFIX, strlen(PREFIX)) &&
		(variable == CONFIG_NR || !config.values[variable].is_set)) {
		config_set(name, value);
	}
}

int config_load(void)
{
	static struct config_file file;
	const char *path = config_text(CONFIG_CONFIG);
	char *line, *rest;
	int rc;

	if (!*path) {
		return 0;
	}
	rc = config_file_read(&file, path);
	if (rc) {
		add_wrong_line(PREFIX "CONFIG=", path, file.problem);
	}
	for (line = strtok_r(file.bytes, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		parse_line(line);
	}
	return rc;
}

void config_complain(void (*say)(const char *sentence))
{
	for (unsigned int i = 0; i < config.nr_wrong; i++) {
		say(config.wrong[i]);
	}
	if (config.nr_more_wrong) {
		log_format(config.wrong[0], sizeof(config.wrong[0]),
			"%u more settings are wrong and not listed", config.nr_more_wrong);
		say(config.wrong[0]);
	}
	config.nr_wrong = config.nr_more_wrong = 0;
}

COMPAT_START_CODE bool config_flag(enum config_name name)
{
	return config_numbers[name] != 0;
}

bool config_is_given(enum config_name name)
{
	return config.values[name].is_given;
}

const char *config_text(enum config_name name)
{
	return config.values[name].text;
}

const char *config_full_name(enum config_name name)
{
	return variables[name].name;
}

const char *config_cuda_home(void)
{
	return config.cuda_home;
}
