/* SPDX-License-Identifier: Apache-2.0 */
/*
 * At each flush, compares the file's inode, size and time of change with the last look, and reads
 * it only if they differ. control_init() looks first: a command from before the start is not
 * obeyed.
 */
#include "collector/step/control.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/step/schedule.h"
#include "collector/step/step.h"
#include "collector/stream/stream.h"
#include "collector/util/dir.h"
#include "collector/util/log.h"
#include "collector/util/notice.h"
#include "collector/util/private_fd.h"

#define NAME "gprof.control"
/* The rest of the stream's notices is for others; windows show the later commands, too. */
#define MAX_NOTICES 16u

/* Another file, or the same one written again. */
struct version {
	uint64_t device, inode, bytes;
	int64_t changed_s, changed_ns;
};

static struct control_state {
	char path[PATH_MAX + sizeof(NAME)];
	struct version seen;
	uint32_t nr_notices;
} state;

/* False where there is none. */
static bool look(struct version *version, struct stat *status)
{
	memset(version, 0, sizeof(*version));
	if (dir_look(state.path, status)) {
		return false;
	}
	*version = (struct version){status->st_dev, status->st_ino, (uint64_t)status->st_size,
		status->st_ctim.tv_sec, status->st_ctim.tv_nsec};
	return true;
}

void control_init(void)
{
	struct stat status;

	memset(&state, 0, sizeof(state));
	log_format(state.path, sizeof(state.path), "%s/" NAME, stream_dir());
	look(&state.seen, &status);
}

/* ---- notices ---- */

static void report(const char *what, const char *sentence)
{
	bool is_last = ++state.nr_notices == MAX_NOTICES;

	if (state.nr_notices <= MAX_NOTICES) {
		notice_add("control", 0, "%s: %s%s", what, sentence,
			is_last ? "; later commands appear only as windows" : "");
	}
}

/* ---- reading ---- */

static bool parse(struct control_command *command, const char *line)
{
	uint64_t first, end;

	if (!strcmp(line, "start")) {
		*command = CONTROL_START;
		return true;
	}
	if (!strcmp(line, "stop")) {
		*command = CONTROL_STOP;
		return true;
	}
	if (strncmp(line, "steps ", 6) || schedule_parse_span(&first, &end, line + 6) ||
		end >= STEP_NO_END) {
		return false;
	}
	*command = (struct control_command){(uint32_t)first, (uint32_t)end};
	return true;
}

/* Reads the first line. Returns false if there is none yet, since somebody is writing it. */
static bool read_line(char *line, size_t nr_bytes)
{
	struct private_fd file;
	size_t n = 0;

	if (!private_fd_open(&file, state.path, O_RDONLY | O_NONBLOCK, PRIVATE_FD_ANYWHERE)) {
		n = private_fd_read(&file, line, nr_bytes);
		private_fd_close(&file);
	}
	line[n] = 0;
	line[strcspn(line, "\n")] = 0;
	return n != 0;
}

/* A file that others may put there must not switch us. */
static bool is_trusted(const struct stat *status)
{
	return S_ISREG(status->st_mode) && (!status->st_uid || status->st_uid == geteuid()) &&
	       !(status->st_mode & S_IWOTH);
}

/* Can the command be applied? Reports that as a notice, or why not. */
static bool is_possible(const struct control_command *command, const char *line)
{
	uint64_t step = step_now();
	char sentence[200];

	if (command->end == STEP_NO_END || command->first == command->end) {
		log_format(sentence, sizeof(sentence), "applied in step %llu",
			(unsigned long long)step);
		report(line, sentence);
		return true;
	}
	if (!step_has_source()) {
		report(line,
			"ignored: no steps are counted while nothing is recorded; use start and "
			"stop, or set GPROF_STEP");
		return false;
	}
	log_format(sentence, sizeof(sentence), "applied in step %llu%s", (unsigned long long)step,
		command->end <= step ? ", but these steps had already ended; nothing is recorded"
				     : "");
	report(line, sentence);
	return true;
}

/*
 * A file counts as seen once it could be read: an empty one, which somebody is still writing, is
 * read again.
 */
bool control_look(struct control_command *command)
{
	struct version version;
	struct stat status;
	char line[64];

	if (!look(&version, &status) || !memcmp(&version, &state.seen, sizeof(version))) {
		return false;
	}
	if (!is_trusted(&status)) {
		state.seen = version;
		report(NAME,
			"ignored: the file must belong to this user or root, and only they or a "
			"group may have write permission");
		return false;
	}
	if (!read_line(line, sizeof(line))) {
		return false;
	}
	state.seen = version;
	if (!parse(command, line)) {
		report(NAME,
			"ignored: its first line must be start, stop or steps FIRST-END (to END "
			"- 1, END above FIRST)");
		return false;
	}
	return is_possible(command, line);
}
