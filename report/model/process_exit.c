/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says how a process ended. `info`, the summary's first line, the tree of processes and the history
 * of runs print these words. The sources come in order of trust: the end that the stream records,
 * another stream of the same process (exec), the end that was found in the remaining rings, and at
 * last /proc on this machine. A pid alone proves nothing, since pids are reused: start time, boot
 * and pid namespace must match as well.
 */
#include "report/model/process_exit.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_FIELD 22

/*
 * The process that replaced this one by exec, NULL if it is not in `all`. A process may call exec
 * several times; its next stream is the earliest of the later ones.
 */
static const struct process *process_exit_successor(
	const struct process *process, struct process *const *all, size_t nr_all)
{
	uint64_t start = process->stream->header.start_realtime_ns;
	const struct process *next = NULL;

	for (size_t i = 0; i < nr_all; i++) {
		uint64_t other = all[i]->stream->header.start_realtime_ns;

		if (all[i] != process && process_is_same(all[i], process) && other > start &&
			(!next || other < next->stream->header.start_realtime_ns)) {
			next = all[i];
		}
	}
	return next;
}

/* ---- does it run? ---- */

/* Reads the first bytes of a file in /proc and adds a NUL. */
static bool read_start(const char *path, char *text, size_t nr_bytes)
{
	FILE *file = fopen(path, "re");
	size_t n = file ? fread(text, 1, nr_bytes - 1, file) : 0;

	if (file) {
		fclose(file);
	}
	text[n] = '\0';
	return n > 0;
}

static bool is_this_boot(const struct process *process)
{
	char boot[64];

	if (!process->boot || !read_start("/proc/sys/kernel/random/boot_id", boot, sizeof(boot))) {
		return false;
	}
	boot[strcspn(boot, "\n")] = '\0';
	return strcmp(boot, string_pool_text(process->boot, NULL)) == 0;
}

/* Is this a running process of that pid that started at the recorded time? */
static bool is_running_as(const struct process *process, unsigned int pid)
{
	char path[32], text[1024];
	char *at;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	if (!read_start(path, text, sizeof(text))) {
		return false;
	}
	at = strrchr(text, ')'); /* the name before it may contain anything */
	if (!at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X') {
		return false;
	}
	for (int field = 2; at && field < START_FIELD; field++) {
		at = strchr(at + 1, ' ');
	}
	return at && strtoll(at, NULL, 10) == process->start_ticks;
}

/* Is it in the same pid namespace as the process with that pid here? */
static bool has_namespace_of(const struct process *process, const char *pid)
{
	char path[32], text[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%.10s/ns/pid", pid);
	n = readlink(path, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	return strcmp(text, string_pool_text(process->pid_namespace, NULL)) == 0;
}

/* Its pid in its innermost namespace, which differs from that here. */
static unsigned int innermost_pid(unsigned int pid)
{
	char path[32], text[4096];
	char *at, *end;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	at = read_start(path, text, sizeof(text)) ? strstr(text, "\nNSpid:") : NULL;
	if (!at) {
		return 0;
	}
	end = at + 1 + strcspn(at + 1, "\n");
	*end = '\0';
	return (unsigned int)strtoul(strrchr(at, '\t') + 1, NULL, 10);
}

/* A container's process also has a pid here if its namespace is below ours. */
static bool is_running_within(const struct process *process)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	bool is_found = false;

	while (proc && !is_found && (entry = readdir(proc))) {
		unsigned int pid = (unsigned int)strtoul(entry->d_name, NULL, 10);

		is_found = pid && has_namespace_of(process, entry->d_name) &&
			   innermost_pid(pid) == process->pid && is_running_as(process, pid);
	}
	if (proc) {
		closedir(proc);
	}
	return is_found;
}

enum process_exit_state process_exit_state(const struct process *process)
{
	if (process->is_ended || process->stream->end_kind) {
		return PROCESS_EXIT_ENDED;
	}
	if (process->start_ticks < 0 || !is_this_boot(process)) {
		return PROCESS_EXIT_UNKNOWN;
	}
	if (!process->pid_namespace || has_namespace_of(process, "self")) {
		return is_running_as(process, process->pid) ? PROCESS_EXIT_RUNS
							    : PROCESS_EXIT_ENDED;
	}
	return is_running_within(process) ? PROCESS_EXIT_RUNS : PROCESS_EXIT_UNKNOWN;
}

bool process_exit_is_gone(const struct process *process)
{
	/* The main thread may have ended while others run; the thread count shows that. */
	return process->pid && is_this_boot(process) &&
	       (!process->pid_namespace || has_namespace_of(process, "self")) &&
	       kill((pid_t)process->pid, 0) && errno == ESRCH;
}

/* ---- words ---- */

/* sigabbrev_np() is newer than some systems that this runs on. */
static const char *const signal_names[NSIG] = {
	[SIGHUP] = "SIGHUP",
	[SIGINT] = "SIGINT",
	[SIGQUIT] = "SIGQUIT",
	[SIGILL] = "SIGILL",
	[SIGTRAP] = "SIGTRAP",
	[SIGABRT] = "SIGABRT",
	[SIGBUS] = "SIGBUS",
	[SIGFPE] = "SIGFPE",
	[SIGUSR1] = "SIGUSR1",
	[SIGSEGV] = "SIGSEGV",
	[SIGUSR2] = "SIGUSR2",
	[SIGPIPE] = "SIGPIPE",
	[SIGALRM] = "SIGALRM",
	[SIGTERM] = "SIGTERM",
	[SIGXCPU] = "SIGXCPU",
	[SIGXFSZ] = "SIGXFSZ",
	[SIGVTALRM] = "SIGVTALRM",
	[SIGPROF] = "SIGPROF",
	[SIGIO] = "SIGIO",
	[SIGPWR] = "SIGPWR",
	[SIGSYS] = "SIGSYS",
};

static bool is_crash(int64_t number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE ||
	       number == SIGTRAP || number == SIGSYS || number == SIGABRT;
}

/* was: "was " or "", before a participle. */
static void add_signal(struct buf *out, const char *was, int64_t number)
{
	if (number == SIGKILL) {
		buf_printf(out, "%skilled (SIGKILL or OOM)", was);
		return;
	}
	if (is_crash(number)) {
		buf_text(out, "crashed: ");
	} else {
		buf_printf(out, "%sstopped by ", was);
	}
	if (number > 0 && number < NSIG && signal_names[number]) {
		buf_text(out, signal_names[number]);
	} else {
		buf_printf(out, "signal %lld", (long long)number);
	}
}

/* Only the first kinds have a status: they come from a call with one. */
static void add_kind(struct buf *out, unsigned int kind, int64_t code)
{
	static const char *const calls[] = {
		[GPROF_END_EXIT] = "exited",
		[GPROF_END_UNDERSCORE_EXIT] = "ended by _exit",
		[GPROF_END_QUICK_EXIT] = "ended by quick_exit",
		[GPROF_END_ABORT] = "called abort",
		[GPROF_END_EXEC] = "was replaced by another program (exec)",
	};

	if (kind == GPROF_END_SIGNAL) {
		add_signal(out, "was ", code);
		return;
	}
	if (kind >= sizeof(calls) / sizeof(calls[0]) || !calls[kind]) {
		buf_printf(out, "ended in a way that this gprof-report does not know (%u)", kind);
		return;
	}
	buf_text(out, calls[kind]);
	if (kind < GPROF_END_ABORT && code >= 0) {
		buf_printf(out, " with status %lld", (long long)code);
	}
}

/* From the facts of a closed stream; an older one may have others. */
static void add_recorded(struct buf *out, const struct process *process)
{
	static const char *const words[] = {
		[GPROF_END_EXIT] = "exit",
		[GPROF_END_UNDERSCORE_EXIT] = "_exit",
		[GPROF_END_QUICK_EXIT] = "quick_exit",
		[GPROF_END_ABORT] = "abort",
		[GPROF_END_SIGNAL] = "signal",
	};
	const char *how = process_fact(process, "end.how", "");

	for (unsigned int kind = 1; kind < sizeof(words) / sizeof(words[0]); kind++) {
		if (words[kind] && strcmp(how, words[kind]) == 0) {
			add_kind(out, kind, process_number(process, "end.code"));
			return;
		}
	}
	if (process->stream->is_trace) {
		buf_text(out, "ended; the trace does not record how");
		return;
	}
	buf_printf(out, "ended by itself: %s", how);
}

/* True for a stream that was closed in order, as its name shows, and yet says of no end. */
static bool lacks_end(const struct stream *stream)
{
	return !stream->is_part && !stream->is_trace && !stream->end_kind;
}

static void add_killed(struct buf *out, const struct stream *stream, enum process_exit_state state)
{
	if (lacks_end(stream)) {
		buf_text(out, "closed its file without an end: no space, or truncated later");
	} else if (state == PROCESS_EXIT_ENDED) {
		buf_text(out, "was killed by a signal (crash, kill or OOM killer); a shell shows "
			      "128 + the signal number as its exit status");
	} else {
		buf_text(out, "did not exit: a signal or a machine failure ended it, or it is "
			      "still running elsewhere");
	}
}

/* The branches stand in order of trust, see the head of this file. */
void process_exit_add_text(
	struct buf *out, const struct process *process, struct process *const *all, size_t nr_all)
{
	const struct stream *stream = process->stream;
	const struct process *next = process_exit_successor(process, all, nr_all);
	enum process_exit_state state = process_exit_state(process);

	if (process->is_ended) {
		add_recorded(out, process);
		if (stream->is_part) {
			buf_text(out, "; the file is still named .part because it could not be "
				      "renamed (directory removed, chroot, or no permission)");
		}
	} else if (next) {
		const char *slash = strrchr(next->stream->path, '/');

		add_kind(out, GPROF_END_EXEC, 0);
		buf_printf(out, ", which continues in %s", slash ? slash + 1 : next->stream->path);
	} else if (stream->end_kind) {
		add_kind(out, stream->end_kind, stream->end_code);
		if (stream->end_kind != GPROF_END_EXEC && stream->end_kind != GPROF_END_SIGNAL) {
			buf_text(out, ", before the stream could be closed");
		}
	} else if (state == PROCESS_EXIT_RUNS) {
		buf_text(out, "is still running");
	} else {
		add_killed(out, stream, state);
	}
}

bool process_exit_add_state(struct buf *out, const struct process *process)
{
	const struct stream *stream = process->stream;
	enum process_exit_state state = process_exit_state(process);

	if (process->is_ended) {
		return false;
	}
	if (stream->end_kind == GPROF_END_SIGNAL) {
		add_signal(out, "", stream->end_code);
	} else if (stream->end_kind) {
		buf_text(out, "ended before the stream could be closed");
	} else if (lacks_end(stream)) {
		buf_text(out, "its file lacks the end");
	} else {
		buf_text(out, state == PROCESS_EXIT_RUNS    ? "still running"
			      : state == PROCESS_EXIT_ENDED ? "killed by a signal"
							    : "still running or killed");
	}
	return true;
}
