/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the program as a child and prints the first lines of its report. */
#ifndef REPORT_LAUNCH_RUN_H
#define REPORT_LAUNCH_RUN_H

/*
 * Runs argv[0] with the value of LD_PRELOAD, waits for it, and passes signals on to it that this
 * process is sent. Then prints on stderr the headline of the streams that are new in `dir`. Returns
 * the program's exit status; a signal that killed the program kills this process, too.
 */
int run_and_report(char **argv, const char *dir, const char *preload);

/* Replaces this process; preload NULL: LD_PRELOAD stays as it is. Returns an exit status after
 * saying why it could not. */
int run_only(char **argv, const char *preload);

#endif
