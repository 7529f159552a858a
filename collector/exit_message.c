/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/exit_message.h"

#include <errno.h>
#include <string.h>

#include "collector/util/config.h"
#include "collector/util/log.h"
#include "collector/stream/stream.h"

void exit_message_recorded(
	uint64_t nr_events, uint64_t nr_lost, uint64_t cpu_ns, uint64_t run_ns, bool is_child)
{
	uint64_t share = run_ns ? cpu_ns * 1000u / run_ns : 0; /* of one core, in 1/1000 */
	char lost[24] = "none";
	char cost[120];

	if (nr_lost) {
		log_format(lost, sizeof(lost), "%llu", (unsigned long long)nr_lost);
	}
	log_format(cost, sizeof(cost),
		"%llu events, %s lost, %llu ms of CPU (%llu.%llu %% of a core)",
		(unsigned long long)nr_events, lost, (unsigned long long)(cpu_ns / 1000000u),
		(unsigned long long)(share / 10u), (unsigned long long)(share % 10u));
	/* A loader's workers would fill the screen; what is in their parent's folder is told by it.
	 */
	if (is_child && !nr_lost) {
		log_message(LOG_INFO, "%s, in %s; next: gprof-report %s", cost, stream_path(),
			stream_dir());
	} else {
		log_line("%s, in %s; next: gprof-report %s", cost, stream_path(), stream_dir());
	}
}

void exit_message_unfinished(void)
{
	log_line("the end of %s is not written: its file system is too slow; what was recorded can "
		 "be read; next: gprof-report %s",
		stream_path(), stream_dir());
}

void exit_message_never_started(uint64_t nr_lost, enum config_name waits_for)
{
	if (waits_for == CONFIG_NR) {
		log_line("not recorded: the process ended before its recording could begin (the "
			 "machine is overloaded): %llu events lost",
			(unsigned long long)nr_lost);
	} else {
		log_line("not recorded: the process ended before its recording could begin (the "
			 "file system of %s is too slow: %s): %llu events lost",
			config_full_name(waits_for), config_text(waits_for),
			(unsigned long long)nr_lost);
	}
}

static const char *remedy(int code)
{
	switch (-code) {
	case EACCES:
	case EROFS:
		return "no permission; set GPROF_DIR to a directory that can be written";
	case EPERM:
		return "a part of it belongs to somebody else; set GPROF_DIR to a directory of "
		       "your own";
	case ENOSPC:
	case EDQUOT:
		return "no space; set GPROF_DIR to a directory with room";
	case ENOTDIR:
		return "a part of it is a file; set GPROF_DIR to a directory";
	case ENOMEM:
	case EAGAIN:
		return "no memory; lower GPROF_BUFFER_MB";
	default:
		return "set GPROF_DIR to a directory that can be written";
	}
}

void exit_message_refused(const char *what, int code)
{
	log_message(LOG_WARN, "not recording: %s: error %d (%s)", what, -code, remedy(code));
}
