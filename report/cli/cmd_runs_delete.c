/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a run are its streams, and the rings beside them or in memory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "report/cli/cmd_runs.h"
#include "report/model/process_exit.h"
#include "report/util/text.h"

struct deletion {
	size_t nr_files;
	uint64_t nr_bytes;
	bool has_failed;
};

/* A process of this host that is not of its present boot has ended. */
static bool is_of_older_boot(const struct process *process)
{
	struct utsname host;
	const char *boot = process_fact(process, "host.boot_id", "");
	char text[64] = "";
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	bool is_known = file && fgets(text, sizeof(text), file);

	if (file) {
		fclose(file);
	}
	text[strcspn(text, "\n")] = '\0';
	return is_known && *boot && strcmp(text, boot) != 0 && !uname(&host) &&
	       strcmp(process_host(process), host.nodename) == 0;
}

/* Nobody's stream is taken away from under it. */
static bool may_delete(const struct cmd_run *run)
{
	for (size_t i = 0; i < run->nr_processes; i++) {
		const struct process *process = run->processes[i];
		enum process_exit_state state = process_exit_state(process);

		if (state == PROCESS_EXIT_RUNS) {
			cmd_error("%s: its process still runs; nothing was deleted",
				process->stream->label);
			return false;
		}
		if (state == PROCESS_EXIT_UNKNOWN && !is_of_older_boot(process)) {
			cmd_error("%s: its process may still run on %s; nothing was deleted",
				process->stream->label, process_host(process));
			return false;
		}
	}
	return true;
}

/*
 * Deletes files and links alone, never a folder or a device. A file that is missing is an error
 * only if it is needed.
 */
static void delete_file(struct deletion *deletion, const char *path, bool is_needed)
{
	struct buf shown = {0};
	struct stat status;

	if (lstat(path, &status)) {
		if (is_needed) {
			cmd_error("cannot delete '%s': %s", path, strerror(errno));
			deletion->has_failed = true;
		}
		return;
	}
	if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) {
		return;
	}
	if (unlink(path)) {
		cmd_error("cannot delete '%s': %s", path, strerror(errno));
		deletion->has_failed = true;
		return;
	}
	text_add_shown(&shown, path, strlen(path), 0);
	printf("deleted %.*s\n", (int)shown.nr_bytes, shown.bytes);
	buf_fini(&shown);
	deletion->nr_files++;
	deletion->nr_bytes += (uint64_t)status.st_size;
}

/* name.gprof or name.gprof.part; its rings are name.gprof.rings. */
static void delete_stream(struct deletion *deletion, const struct stream *stream)
{
	size_t length = strlen(stream->path) - (stream->is_part ? strlen(".part") : 0);
	struct buf rings = {0};

	delete_file(deletion, stream->path, true);
	buf_printf(&rings, "%.*s.rings", (int)length, stream->path);
	buf_char(&rings, '\0');
	delete_file(deletion, rings.bytes, false);
	if (stream->rings_path && strcmp(stream->rings_path, rings.bytes) != 0) {
		delete_file(deletion, stream->rings_path, false);
	}
	buf_fini(&rings);
}

/* Runs are counted anew, the oldest first: those behind a deleted one have other numbers now. */
static void say_left(size_t nr)
{
	if (nr == 1) {
		printf("1 run is left, which is run 1 now\n");
	} else if (nr) {
		printf("%zu runs are left, which are runs 1 to %zu now\n", nr, nr);
	}
}

enum cmd_exit cmd_runs_delete(const struct cmd_runs *runs, const char *numbers)
{
	struct deletion deletion = {0};

	for (size_t i = 0; i < runs->nr; i++) {
		if (!may_delete(&runs->runs[i])) {
			return CMD_FAILED;
		}
	}
	for (size_t i = 0; i < runs->nr; i++) {
		for (size_t k = 0; k < runs->runs[i].nr_processes; k++) {
			delete_stream(&deletion, runs->runs[i].processes[k]->stream);
		}
	}
	printf("deleted run%s %s: %zu file%s, %llu bytes\n", runs->nr == 1 ? "" : "s", numbers,
		deletion.nr_files, deletion.nr_files == 1 ? "" : "s",
		(unsigned long long)deletion.nr_bytes);
	say_left(runs->nr_all - runs->nr);
	return deletion.has_failed ? CMD_FAILED : CMD_GOOD;
}
