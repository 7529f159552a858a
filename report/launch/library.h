/* SPDX-License-Identifier: Apache-2.0 */
/* libgprof.so and libgprof-os.so, and LD_PRELOAD with them. */
#ifndef REPORT_LAUNCH_LIBRARY_H
#define REPORT_LAUNCH_LIBRARY_H

#include <stdbool.h>

/*
 * The path of libgprof.so: beside this program, as in a build folder, or in the lib folder next to
 * its bin folder, as installed. Returns memory of the caller, or NULL with err_text.
 */
char *library_find(void);

/*
 * The folder of this program, without a slash at its end. Returns memory of the caller, or NULL if
 * /proc does not know the path of the program.
 */
char *library_program_folder(void);

/*
 * Makes the value of LD_PRELOAD: the present one with the library at its end, or the present one
 * alone if it has the library. has_os: the same with the libgprof-os.so beside it. Returns memory
 * of the caller, or NULL with err_text if the loader could not read it, or there is no such
 * library.
 */
char *library_preload(const char *library, bool has_os);

#endif
