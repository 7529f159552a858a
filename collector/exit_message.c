/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the numbers of the drain into one sentence, and an error code into what the user can do.
 * collector.c calls it when the process ends; log.c decides whether the line reaches stderr.
 */
#include "collector/exit_message.h"

#include <errno.h>
#include <string.h>

#include "collector/stream/stream.h"
#include "collector/util/config.h"
#include "collector/util/log.h"

/* The commands to run next. Both arguments are quoted_dir(). */
#define NEXT "view with: gprof-report %s, or gprof-report html %s"

/*
 * The directory of the stream as one word of a shell's command line. A process has one exit
 * message, so the text need not be on the stack of the target's thread, which may be small.
 */
static const char *quoted_dir(void)
{
	static char text[1024];
	static const char quoted_quote[] = "'\\''";
	const char *dir = stream_dir();
	size_t at = 0;

	if (dir[strcspn(dir, " \t\n'\"\\$`&|;<>()[]{}*?!#~")] == '\0') {
		return dir;
	}
	text[at++] = '\'';
	for (; *dir != '\0' && at + sizeof(quoted_quote) + 1 <= sizeof(text); dir++) {
		if (*dir == '\'') {
			memcpy(text + at, quoted_quote, sizeof(quoted_quote) - 1);
			at += sizeof(quoted_quote) - 1;
		} else {
			text[at++] = *dir;
		}
	}
	text[at++] = '\'';
	text[at] = '\0';
	return *dir == '\0' ? text : stream_dir();
}

void exit_message_recorded(
	uint64_t nr_events, uint64_t nr_lost, uint64_t cpu_ns, uint64_t run_ns, bool is_child)
{
	uint64_t share = run_ns ? cpu_ns * 1000u / run_ns : 0; /* in 1/1000 of a core */
	char lost[24] = "none";
	char events[80], cost[80];
	const char *dir = quoted_dir();

	if (stream_was_removed()) {
		log_line("recorded nothing: %s was removed while the process ran; %llu events lost",
			stream_path(), (unsigned long long)(nr_events + nr_lost));
		return;
	}
	if (nr_lost) {
		log_format(lost, sizeof(lost), "%llu", (unsigned long long)nr_lost);
	}
	log_format(events, sizeof(events), "recorded %llu event%s (%s lost)",
		(unsigned long long)nr_events, nr_events == 1 ? "" : "s", lost);
	log_format(cost, sizeof(cost), "profiler CPU %llu ms (%llu.%llu %% of a core)",
		(unsigned long long)(cpu_ns / 1000000u), (unsigned long long)(share / 10u),
		(unsigned long long)(share % 10u));
	/* A data loader's workers would fill the screen; the parent's line names their folder. */
	if (is_child && !nr_lost) {
		log_message(LOG_INFO, "%s to %s, %s; " NEXT, events, stream_path(), cost, dir, dir);
	} else {
		log_line("%s to %s, %s; " NEXT, events, stream_path(), cost, dir, dir);
	}
}

void exit_message_unfinished(void)
{
	const char *dir = quoted_dir();

	log_line("the end of %s is missing: its file system is too slow; the rest is "
		 "readable; " NEXT,
		stream_path(), dir, dir);
}

void exit_message_never_started(uint64_t nr_lost, enum config_name waits_for)
{
	if (waits_for == CONFIG_NR) {
		log_line("not recorded: the process ended before recording could start (the "
			 "machine is overloaded); %llu event%s lost",
			(unsigned long long)nr_lost, nr_lost == 1 ? "" : "s");
	} else {
		log_line("not recorded: the process ended before recording could start (the file "
			 "system of %s is too slow: %s); %llu event%s lost",
			config_full_name(waits_for), config_text(waits_for),
			(unsigned long long)nr_lost, nr_lost == 1 ? "" : "s");
	}
}

static const char *remedy(int code)
{
	switch (-code) {
	case EACCES:
	case EROFS:
		return "no permission; set GPROF_DIR to a writable directory";
	case EPERM:
		return "another user owns a part of the path; set GPROF_DIR to a directory of your "
		       "own";
	case ENOSPC:
	case EDQUOT:
		return "no space; set GPROF_DIR to a directory with room";
	case ENOTDIR:
		return "a part of the path is a file; set GPROF_DIR to a directory";
	case ENOMEM:
	case EAGAIN:
		return "no memory; raise the limit of the process or its container, or lower "
		       "GPROF_BUFFER_MB";
	default:
		return "set GPROF_DIR to a writable directory";
	}
}

void exit_message_refused(const char *what, int code)
{
	log_message(LOG_WARN, "not recording: %s: error %d (%s)", what, -code, remedy(code));
}
