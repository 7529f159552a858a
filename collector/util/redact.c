/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the letters of a name, without case and separators, with words that mark secrets and
 * with harmless words that contain these. Facts about the environment, the settings and the command
 * line pass through here. A name too long to decide counts as a secret.
 */
#include "collector/util/redact.h"

#include <stdint.h>
#include <string.h>

#define REDACTED "***"

/* A name that contains one of these, in any case, with or without - and _ in it, ... */
static const char secret[][12] = {"token", "key", "passw", "passphrase", "secret", "credential",
	"authoriz", "authoris", "auth", "bearer", "cookie", "signature", "pwd"};
/* ... unless there it is but a part of one of these. */
static const char harmless[][12] = {"tokeniz", "tokenis", "maxtoken", "numtoken", "newtoken",
	"mintoken", "keypoint", "keyboard", "keyframe", "keyword", "monkey", "donkey", "turkey",
	"hotkey", "author"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_letter(char c)
{
	return lower(c) >= 'a' && lower(c) <= 'z';
}

static bool is_name_byte(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

/* Does `word` stand around the match at `at`? */
static bool is_around(const char *name, const char *at, const char *word)
{
	for (const char *found = strstr(name, word); found; found = strstr(found + 1, word)) {
		if (found <= at && at < found + strlen(word)) {
			return true;
		}
	}
	return false;
}

static bool is_match(const char *name, const char *at, const char *word)
{
	/* "author" hides "auth", but not "authoriz". */
	for (size_t i = 0; i < COUNT(harmless); i++) {
		if (strlen(harmless[i]) > strlen(word) && is_around(name, at, harmless[i])) {
			return false;
		}
	}
	return true;
}

/* `end` is for the word "pass" alone, which counts only if no letter stands before it. */
bool redact_is_secret(const char *name, size_t nr_bytes)
{
	char plain[128];
	size_t n = 0, end = 0; /* behind the last letter */

	for (size_t i = 0; i < nr_bytes; i++) {
		if (!is_letter(name[i])) {
			continue;
		}
		if (n + 1 == sizeof(plain)) {
			return true; /* too long to decide */
		}
		plain[n++] = lower(name[i]);
		end = i + 1;
	}
	plain[n] = 0;
	for (size_t i = 0; i < COUNT(secret); i++) {
		for (const char *at = strstr(plain, secret[i]); at;
			at = strstr(at + 1, secret[i])) {
			if (is_match(plain, at, secret[i])) {
				return true;
			}
		}
	}
	/* --pass, DB_PASS and DB_PASS_2, but not --bypass. */
	return n >= 4 && !memcmp(plain + n - 4, "pass", 4) &&
	       (end <= 4 || !is_letter(name[end - 5]));
}

/* ---- writing ---- */

struct out {
	char *at, *end;
};

static void put(struct out *out, const char *bytes, size_t nr_bytes)
{
	size_t room = (size_t)(out->end - out->at);

	nr_bytes = nr_bytes < room ? nr_bytes : room;
	memcpy(out->at, bytes, nr_bytes);
	out->at += nr_bytes;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'';
}

/* `at` is behind "://": returns the @ that ends the user part, NULL if there is none. */
static const char *find_user_end(const char *at, const char *end)
{
	const char *found = NULL;

	for (; at < end && !strchr("/?# \t\n\"'", *at); at++) {
		found = *at == '@' ? at : found;
	}
	return found;
}

/* The name in front of `at`, with a quote or blanks between; its length, 0 if there is none. */
static size_t find_name(const char *text, const char *at, const char **name)
{
	const char *last;

	while (at > text && is_blank(at[-1])) {
		at--;
	}
	at -= at > text && is_quote(at[-1]);
	last = at;
	while (at > text && is_name_byte(at[-1])) {
		at--;
	}
	*name = at;
	return (size_t)(last - at);
}

/*
 * Is what follows the separator at `at` the value of a secret? `name=`, `name:`, and `--name ` as
 * in a command inside an argument.
 */
static bool is_before_secret(const char *text, const char *at, const char *end)
{
	const char *name;
	size_t length;

	if (*at != '=' && *at != ':' && !is_blank(*at)) {
		return false;
	}
	length = find_name(text, at, &name);
	if (!length || !redact_is_secret(name, length)) {
		return false;
	}
	return !is_blank(*at) || (*name == '-' && at + 1 < end && at[1] != '-' && at[1] != '=');
}

/*
 * Returns where the value that begins at `at` ends: at its quote, with the line of a header, or the
 * word.
 */
static const char *find_value_end(const char *at, const char *end, char quote, bool is_header)
{
	while (at < end) {
		if (quote ? *at == quote : (*at == '\n' || (!is_header && strchr(" \t&;,", *at)))) {
			break;
		}
		at++;
	}
	return at;
}

/* `at` is the separator. Writes it, and the mask for the value; returns what is behind that. */
static const char *put_secret(struct out *out, const char *text, const char *at, const char *end)
{
	const char *value = at + 1;
	bool is_header = *at == ':' && !(at > text && is_quote(at[-1]));
	const char *value_end;
	char quote = 0;

	while (value < end && (is_blank(*value) || (*at == '=' && *value == '='))) {
		value++;
	}
	if (value < end && is_quote(*value)) {
		quote = *value++;
	}
	value_end = find_value_end(value, end, quote, is_header);
	put(out, at, (size_t)(value - at));
	if (value_end > value) {
		put(out, REDACTED, strlen(REDACTED));
	}
	return value_end;
}

/* Copies [text, end) with what looks like a secret inside it masked. */
static void put_text(struct out *out, const char *text, const char *end)
{
	for (const char *at = text; at < end;) {
		if (end - at >= 3 && !memcmp(at, "://", 3)) {
			const char *user_end = find_user_end(at + 3, end);

			put(out, at, 3);
			at += 3;
			if (user_end) {
				put(out, REDACTED, strlen(REDACTED));
				at = user_end;
			}
		} else if (is_before_secret(text, at, end)) {
			at = put_secret(out, text, at, end);
		} else {
			put(out, at, 1);
			at++;
		}
	}
}

size_t redact_value(
	char *out_bytes_at, size_t out_bytes, const char *name, const char *value, size_t nr_bytes)
{
	struct out out = {out_bytes_at, out_bytes_at + out_bytes};

	if (nr_bytes && redact_is_secret(name, strlen(name))) {
		put(&out, REDACTED, strlen(REDACTED));
	} else {
		put_text(&out, value, value + nr_bytes);
	}
	return (size_t)(out.at - out_bytes_at);
}

/* --token or -token alone: the next argument is its value, unless that is an option too. */
static bool takes_secret(const char *argument, size_t length, const char *next, size_t next_length)
{
	return length > 1 && *argument == '-' && !memchr(argument, '=', length) &&
	       redact_is_secret(argument, length) && next_length && *next != '-';
}

/*
 * The arguments end in 0 each. A flag carries from an option such as --token to its value, the next
 * argument.
 */
size_t redact_command(char *out_bytes_at, size_t out_bytes, const char *command, size_t nr_bytes)
{
	struct out out = {out_bytes_at, out_bytes_at + out_bytes};
	const char *end = command + nr_bytes;
	bool is_secret = false;

	while (command < end) {
		size_t length = strnlen(command, (size_t)(end - command));
		const char *next = command + length + 1;

		if (is_secret && length) {
			put(&out, REDACTED, strlen(REDACTED));
			is_secret = false;
		} else {
			put_text(&out, command, command + length);
			is_secret = next < end && takes_secret(command, length, next,
							  strnlen(next, (size_t)(end - next)));
		}
		if (next <= end) {
			put(&out, "", 1);
		}
		command = next;
	}
	return (size_t)(out.at - out_bytes_at);
}
