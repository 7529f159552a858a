/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel of Jupyter that runs under the preload, for %%gprof with all that the preload sees. */
#ifndef REPORT_LAUNCH_JUPYTER_H
#define REPORT_LAUNCH_JUPYTER_H

#include "report/launch/record_options.h"

/*
 * Writes the kernel "gprof" where this user's or environment's Jupyter looks for kernels. python:
 * the interpreter, which has ipykernel, a path; preload: for LD_PRELOAD; values: of
 * variables_all(), NULL where nothing is set. Prints what was written. Returns 0, or -errno with
 * err_text.
 */
int jupyter_install(const char *python, const char *preload, const char *const *values);

#endif
