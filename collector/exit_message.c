/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/exit_message.h"

#include <errno.h>
#include <string.h>

#include "collector/stream/stream.h"
#include "collector/util/config.h"
#include "collector/util/log.h"

/* What to run next, with the directory of the stream, twice. */
#define NEXT "view with: gprof-report %s, or gprof-report html %s"

void exit_message_recorded(
	uint64_t nr_events, uint64_t nr_lost, uint64_t cpu_ns, uint64_t run_ns, bool is_child)
{
	uint64_t share = run_ns ? cpu_ns * 1000u / run_ns : 0; /* in 1/1000 of a core */
	char lost[24] = "none";
	char events[80], cost[80];

	if (nr_lost) {
		log_format(lost, sizeof(lost), "%llu", (unsigned long long)nr_lost);
	}
	log_format(events, sizeof(events), "recorded %llu events (%s lost)",
		(unsigned long long)nr_events, lost);
	log_format(cost, sizeof(cost), "profiler CPU %llu ms (%llu.%llu %% of a core)",
		(unsigned long long)(cpu_ns / 1000000u), (unsigned long long)(share / 10u),
		(unsigned long long)(share % 10u));
	/* A data loader's workers would fill the screen; the parent's line names their folder. */
	if (is_child && !nr_lost) {
		log_message(LOG_INFO, "%s to %s, %s; " NEXT, events, stream_path(), cost,
			stream_dir(), stream_dir());
	} else {
		log_line("%s to %s, %s; " NEXT, events, stream_path(), cost, stream_dir(),
			stream_dir());
	}
}

void exit_message_unfinished(void)
{
	log_line("the end of %s is missing: its file system is too slow; the rest is "
		 "readable; " NEXT,
		stream_path(), stream_dir(), stream_dir());
}

void exit_message_never_started(uint64_t nr_lost, enum config_name waits_for)
{
	if (waits_for == CONFIG_NR) {
		log_line("not recorded: the process ended before recording could start (the "
			 "machine is overloaded); %llu events lost",
			(unsigned long long)nr_lost);
	} else {
		log_line("not recorded: the process ended before recording could start (the file "
			 "system of %s is too slow: %s); %llu events lost",
			config_full_name(waits_for), config_text(waits_for),
			(unsigned long long)nr_lost);
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
		return "no memory; lower GPROF_BUFFER_MB";
	default:
		return "set GPROF_DIR to a writable directory";
	}
}

void exit_message_refused(const char *what, int code)
{
	log_message(LOG_WARN, "not recording: %s: error %d (%s)", what, -code, remedy(code));
}
