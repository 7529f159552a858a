/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out why a Python program used no framework: the program itself is left alone, and has
 * ended. If its script imports a framework, the same interpreter is asked once more whether that
 * works, without gprof.
 */
#ifndef REPORT_LAUNCH_IMPORT_CHECK_H
#define REPORT_LAUNCH_IMPORT_CHECK_H

#include "report/util/buf.h"

/* The framework that a line of a Python script imports; NULL: none. */
const char *import_check_name(const char *line);

/*
 * Adds "'import torch' fails: ModuleNotFoundError: No module named 'torch'". Nothing if argv is no
 * Python script, the script imports no framework, or the import works or takes too long.
 */
void import_check_add(struct buf *out, char **argv);

#endif
