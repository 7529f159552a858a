/* SPDX-License-Identifier: Apache-2.0 */
/* The program to run: where it is, and whether the loader will preload a library into it. */
#ifndef REPORT_LAUNCH_PROGRAM_H
#define REPORT_LAUNCH_PROGRAM_H

/* Exit statuses of programs that run another one: env(1), nohup(1), timeout(1). */
enum {
	LAUNCH_FAILED = 125,	     /* gprof-record itself failed */
	LAUNCH_NOT_EXECUTABLE = 126, /* the program is there but does not run */
	LAUNCH_NOT_FOUND = 127,
};

/* Finds the name as execvp does. Returns memory of the caller, or NULL if it is nowhere. */
char *program_find(const char *name);

/*
 * Checks that `library` can be preloaded into `name`, which is looked up as execvp does. Follows
 * scripts to their interpreters, also behind env. Refuses, with the reason in err_text: programs
 * that are static, set-user-ID, for another machine or for another C library. Returns 0 or one of
 * the statuses.
 */
int program_check(const char *name, const char *library);

#endif
