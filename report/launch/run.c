/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the program, the last step of main.c: in place of this process, or as a child, so that a
 * report can follow. In both cases the user must not notice the difference: signals reach the
 * program, its exit status or signal is that of this process, and the report goes to stderr.
 *
 * The child's streams are those that appear in the folder while it runs. They may belong to its own
 * children, too.
 */
#include "report/launch/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/format/format.h"
#include "report/launch/import_check.h"
#include "report/launch/library.h"
#include "report/launch/program.h"
#include "report/util/buf.h"

int run_only(char **argv, const char *preload)
{
	int error;

	if (preload) {
		setenv("LD_PRELOAD", preload, 1);
	}
	execvp(argv[0], argv);
	error = errno;
	fprintf(stderr, "gprof-record: cannot run '%s': %s\n", argv[0], strerror(error));
	return error == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE;
}

/* ---- the child ---- */

/*
 * Takes signals one at a time, which are blocked, so that no handler is needed and none is lost
 * between two waits. Returns the status of waitpid.
 */
static int wait_for(pid_t child, const sigset_t *signals)
{
	siginfo_t signal;
	int status;

	for (;;) {
		if (waitpid(child, &status, WNOHANG) == child) {
			return status;
		}
		if (sigwaitinfo(signals, &signal) < 0 || signal.si_signo == SIGCHLD) {
			continue;
		}
		/* A terminal sends its signals to the child, too. */
		if (signal.si_code == SI_USER || signal.si_code == SI_QUEUE ||
			signal.si_code == SI_TKILL) {
			kill(child, signal.si_signo);
		}
	}
}

/*
 * Returns the status of waitpid, -1 if there could be no child. Blocks the signals before it forks:
 * one that comes before the child exists would otherwise end this process and leave the child
 * alone. The child runs the program with the mask and the action that this process was started
 * with.
 */
static int run_child(char **argv, const char *preload, pid_t *pid)
{
	static const int passed[] = {SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
	struct sigaction usual = {.sa_handler = SIG_DFL}, before;
	sigset_t signals, mask;
	pid_t child;
	int status;

	sigemptyset(&signals);
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
		sigaddset(&signals, passed[i]);
	}
	sigprocmask(SIG_BLOCK, &signals, &mask);
	sigaction(SIGCHLD, &usual, &before); /* if it is ignored, nothing can be waited for */
	child = fork();
	if (child == 0) {
		sigaction(SIGCHLD, &before, NULL);
		sigprocmask(SIG_SETMASK, &mask, NULL);
		_exit(run_only(argv, preload));
	}
	*pid = child;
	status = child > 0 ? wait_for(child, &signals) : -1;
	if (child < 0) {
		fprintf(stderr, "gprof-record: cannot start a process: %s\n", strerror(errno));
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return status;
}

/* ---- its streams ---- */

static int is_stream(const struct dirent *entry)
{
	const char *at = strstr(entry->d_name, ".gprof");

	return at && (strcmp(at, ".gprof") == 0 || strcmp(at, ".gprof.part") == 0);
}

struct streams {
	struct dirent **entries;
	int nr; /* at most 0: there are none, or there is no such folder */
};

static struct streams list_streams(const char *dir)
{
	struct streams streams = {0};

	streams.nr = scandir(dir, &streams.entries, is_stream, alphasort);
	return streams;
}

static bool has_stream(const struct streams *streams, const char *name)
{
	for (int i = 0; i < streams->nr; i++) {
		if (strcmp(streams->entries[i]->d_name, name) == 0) {
			return true;
		}
	}
	return false;
}

static void free_streams(struct streams *streams)
{
	while (streams->nr > 0) {
		free(streams->entries[--streams->nr]);
	}
	free(streams->entries);
}

/*
 * A process that a signal ends at once cannot write why. Its parent knows, and the header of the
 * rings has room for it: the report then names the signal. An end that the process wrote itself
 * stays.
 */
static void mark_rings(const char *path, int number)
{
	const uint32_t end[] = {GPROF_END_SIGNAL, (uint32_t)number};
	struct gprof_rings_header header;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd >= 0 && pread(fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
		memcmp(header.magic, GPROF_RINGS_MAGIC, sizeof(header.magic)) == 0 &&
		header.header_bytes >= sizeof(header) && !header.end_kind &&
		pwrite(fd, end, sizeof(end), offsetof(struct gprof_rings_header, end_kind)) < 0) {
		fprintf(stderr, "gprof-record: cannot write '%s': %s\n", path, strerror(errno));
	}
	if (fd >= 0) {
		close(fd);
	}
}

/*
 * The stream's name is HOST-PID-START.gprof.part; only the process that was waited for is known to
 * have died of the signal. Its rings are in /dev/shm, or beside the stream.
 */
static void mark_stream(const char *dir, const char *name, pid_t pid, int number)
{
	static const char *const shared = "/dev/shm";
	const char *places[] = {shared, dir};
	size_t length = strlen(name);
	char text[32];

	snprintf(text, sizeof(text), "-%ld-", (long)pid);
	if (!strstr(name, text) || length < strlen(".part") ||
		strcmp(name + length - strlen(".part"), ".part") != 0) {
		return;
	}
	for (size_t i = 0; i < 2; i++) {
		struct buf path = {0};

		buf_printf(
			&path, "%s/%.*s.rings", places[i], (int)(length - strlen(".part")), name);
		buf_char(&path, '\0');
		mark_rings(path.bytes, number);
		buf_fini(&path);
	}
}

/* ---- the report ---- */

/*
 * Prefers the command beside this one, which reads the format of this version, to that of PATH.
 * Returns memory of the caller.
 */
static char *find_report(void)
{
	char *folder = library_program_folder(), *path = NULL;

	if (folder && asprintf(&path, "%s/gprof-report", folder) >= 0 && access(path, X_OK) != 0) {
		free(path);
		path = NULL;
	}
	free(folder);
	return path ? path : mem_text("gprof-report");
}

/* The report goes to stderr: stdout is the program's. */
static void print_headline(char **paths, int nr_paths)
{
	static char view[] = "--view", headline[] = "headline";
	char **argv = mem_zeroed((size_t)nr_paths + 4, sizeof(*argv));
	pid_t child;

	argv[0] = find_report();
	argv[1] = view;
	argv[2] = headline;
	for (int i = 0; i < nr_paths; i++) {
		argv[3 + i] = paths[i];
	}
	fflush(NULL);
	child = fork();
	if (child == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		_exit(run_only(argv, NULL));
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {
	}
	free(argv[0]);
	free(argv);
}

/* Says the reason, as far as a parent can know it. */
static void say_nothing_recorded(const char *dir, char **argv, int status)
{
	static const char *const used = "CUDA, NVTX, NCCL, PyTorch or Paddle";
	const char *enable = getenv("GPROF_ENABLE");
	struct buf failed = {0};

	fprintf(stderr, "gprof-record: nothing was recorded in '%s': ", dir);
	if (enable && strcmp(enable, "0") == 0) {
		fprintf(stderr, "GPROF_ENABLE is 0\n");
		return;
	}
	if (WIFSIGNALED(status)) {
		fprintf(stderr, "signal %d ended the program before it used %s", WTERMSIG(status),
			used);
	} else if (WEXITSTATUS(status)) {
		fprintf(stderr, "the program ended with status %d before it used %s",
			WEXITSTATUS(status), used);
	} else {
		fprintf(stderr, "the program used no %s", used);
	}
	if (WIFEXITED(status)) {
		import_check_add(&failed, argv);
	}
	fprintf(stderr, "%s%.*s\n", failed.nr_bytes ? "; " : "", (int)failed.nr_bytes,
		failed.nr_bytes ? failed.bytes : "");
	buf_fini(&failed);
}

/*
 * These two statuses may be of a program that could not run, which run_only() has said, or a shell
 * has. A shell ends with them, too, when only its last command failed so.
 */
static bool may_not_have_run(int status)
{
	return WIFEXITED(status) && (WEXITSTATUS(status) == LAUNCH_NOT_EXECUTABLE ||
					    WEXITSTATUS(status) == LAUNCH_NOT_FOUND);
}

/* Only streams that were not there before count: a folder may hold those of earlier runs. */
static void report_new(
	const char *dir, char **argv, const struct streams *before, pid_t pid, int status)
{
	struct streams now = list_streams(dir);
	char **paths = mem_zeroed((size_t)(now.nr > 0 ? now.nr : 0) + 1, sizeof(*paths));
	int nr = 0;

	for (int i = 0; i < now.nr; i++) {
		if (!has_stream(before, now.entries[i]->d_name) &&
			asprintf(&paths[nr], "%s/%s", dir, now.entries[i]->d_name) >= 0) {
			nr++;
			if (WIFSIGNALED(status)) {
				mark_stream(dir, now.entries[i]->d_name, pid, WTERMSIG(status));
			}
		}
	}
	if (nr) {
		print_headline(paths, nr);
	} else if (!may_not_have_run(status)) {
		say_nothing_recorded(dir, argv, status);
	}
	while (nr) {
		free(paths[--nr]);
	}
	free(paths);
	free_streams(&now);
}

/*
 * Ends as the program did. A core file of this process would say nothing about the program, and
 * would overwrite that of the program.
 */
static int end_like(int status)
{
	struct rlimit no_core = {0};

	if (WIFEXITED(status)) {
		return WEXITSTATUS(status);
	}
	setrlimit(RLIMIT_CORE, &no_core);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

int run_and_report(char **argv, const char *dir, const char *preload)
{
	struct streams before = list_streams(dir);
	pid_t pid = 0;
	int status = run_child(argv, preload, &pid);

	if (status >= 0) {
		report_new(dir, argv, &before, pid, status);
	}
	free_streams(&before);
	return status >= 0 ? end_like(status) : LAUNCH_FAILED;
}
