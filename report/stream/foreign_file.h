/* SPDX-License-Identifier: Apache-2.0 */
/* Files of other programs that people pass to gprof-report and that it cannot read. */
#ifndef REPORT_STREAM_FOREIGN_FILE_H
#define REPORT_STREAM_FOREIGN_FILE_H

#include <stddef.h>

/*
 * Says what a file that is no stream seems to be and what to do, by the end of its name or its
 * first bytes: a part of a sentence, static.
 */
const char *foreign_file_text(const char *path, const char *bytes, size_t nr_bytes);

#endif
