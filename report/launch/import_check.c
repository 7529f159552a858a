/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the script for its first import of a framework, and runs `python -c "import NAME"`. The
 * last line on its stderr is Python's own sentence. Paths are those of this process: the folder of
 * the script, which Python searches as well, seldom has a framework.
 */
#include "report/launch/import_check.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report/util/text.h"

#define LINE_BYTES   4096u
#define SCRIPT_LINES 20000u
#define WAIT_SECONDS 10
#define MAX_SENTENCE 300u /* bytes of Python's sentence */

/* ---- the script ---- */

static const char *const frameworks[] = {"torch", "tensorflow", "jax", "paddle", "cupy", NULL};

const char *import_check_name(const char *line)
{
	static const char *const words[] = {"import", "from", NULL};

	line += strspn(line, " \t");
	for (size_t i = 0; words[i]; i++) {
		size_t length = strlen(words[i]);

		if (strncmp(line, words[i], length) != 0 || !isblank((unsigned char)line[length])) {
			continue;
		}
		line += length + strspn(line + length, " \t");
		for (size_t k = 0; frameworks[k]; k++) {
			length = strlen(frameworks[k]);
			if (strncmp(line, frameworks[k], length) == 0 &&
				!isalnum((unsigned char)line[length]) && line[length] != '_') {
				return frameworks[k];
			}
		}
		return NULL;
	}
	return NULL;
}

static const char *read_script(const char *path)
{
	FILE *file = fopen(path, "re");
	const char *name = NULL;
	char line[LINE_BYTES];

	for (unsigned int i = 0; file && !name && i < SCRIPT_LINES; i++) {
		if (!fgets(line, sizeof(line), file)) {
			break;
		}
		name = import_check_name(line);
	}
	if (file) {
		fclose(file);
	}
	return name;
}

/* The script of "python3 -u -X dev train.py"; NULL for code (-c) and modules (-m). */
static const char *find_script(char **argv)
{
	const char *slash = strrchr(argv[0], '/');

	if (strncmp(slash ? slash + 1 : argv[0], "python", 6) != 0) {
		return NULL;
	}
	for (int i = 1; argv[i]; i++) {
		if (argv[i][0] != '-') {
			return argv[i];
		}
		if (strchr(argv[i], 'c') || strchr(argv[i], 'm')) {
			return NULL;
		}
		if ((!strcmp(argv[i], "-X") || !strcmp(argv[i], "-W")) && argv[i + 1]) {
			i++;
		}
	}
	return NULL;
}

/* ---- the interpreter ---- */

static void run_import(char *python, const char *name, int error)
{
	static char code_option[] = "-c";
	char code[64];
	char *argv[] = {python, code_option, code, NULL};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	snprintf(code, sizeof(code), "import %s", name);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(error, STDERR_FILENO);
	execvp(python, argv);
	_exit(0); /* nothing is known of the import then */
}

static long left_ms(const struct timespec *end)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (end->tv_sec - now.tv_sec) * 1000 + (end->tv_nsec - now.tv_nsec) / 1000000;
}

/* Reads until all writers are gone; false if that takes too long. */
static bool read_all(int fd, struct buf *text)
{
	struct pollfd poller = {.fd = fd, .events = POLLIN};
	struct timespec end;
	char bytes[4096];

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += WAIT_SECONDS;
	for (;;) {
		long ms = left_ms(&end);
		ssize_t n;

		if (ms <= 0 || poll(&poller, 1, (int)ms) == 0) {
			return false;
		}
		n = read(fd, bytes, sizeof(bytes));
		if (n == 0) {
			return true;
		}
		if (n > 0) { /* the last line counts: a loud import needs no memory */
			if (text->nr_bytes > 16 * sizeof(bytes)) {
				text->nr_bytes = 0;
			}
			buf_add(text, bytes, (size_t)n);
		}
	}
}

/* Runs the import; returns whether it failed, with what it wrote. */
static bool is_failing(char *python, const char *name, struct buf *text)
{
	int pipes[2], status = 0;
	bool is_read;
	pid_t child, ended = -1;

	if (pipe2(pipes, O_CLOEXEC)) {
		return false;
	}
	fflush(NULL);
	child = fork();
	if (child == 0) {
		run_import(python, name, pipes[1]);
	}
	close(pipes[1]);
	is_read = child > 0 && read_all(pipes[0], text);
	close(pipes[0]);
	if (child > 0) {
		if (!is_read) {
			kill(child, SIGKILL);
		}
		while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
		}
	}
	/* Where SIGCHLD is ignored nobody knows the status. */
	return is_read && ended == child && WIFEXITED(status) && WEXITSTATUS(status) != 0;
}

/* The last line that is not empty. */
static const char *last_line(const struct buf *text, size_t *nr_bytes)
{
	size_t end = text->nr_bytes, start;

	while (end && isspace((unsigned char)text->bytes[end - 1])) {
		end--;
	}
	start = end;
	while (start && text->bytes[start - 1] != '\n') {
		start--;
	}
	*nr_bytes = end - start;
	return end ? text->bytes + start : "";
}

void import_check_add(struct buf *out, char **argv)
{
	const char *script = find_script(argv);
	const char *name = script ? read_script(script) : NULL;
	struct buf text = {0};

	if (name && is_failing(argv[0], name, &text)) {
		size_t nr_bytes;
		const char *line = last_line(&text, &nr_bytes);

		buf_printf(out, "'import %s' fails: ", name);
		text_add_shown(out, line, nr_bytes < MAX_SENTENCE ? nr_bytes : MAX_SENTENCE, 0);
	}
	buf_fini(&text);
}
