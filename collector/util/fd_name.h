/* SPDX-License-Identifier: Apache-2.0 */
/* What a descriptor of the process refers to. For any thread, also in a signal handler. */
#ifndef COLLECTOR_UTIL_FD_NAME_H
#define COLLECTOR_UTIL_FD_NAME_H

#include <stddef.h>

/* A signal handler may have no larger stack than 2 KB. */
#define FD_NAME_BYTES 512u

/*
 * Writes to name, of FD_NAME_BYTES bytes, the path of a file, "10.0.0.3:29500" for the peer of a
 * socket, or what the kernel calls it ("pipe:[4711]"), without a final 0. Returns its length, 0 if
 * it is unknown; FD_NAME_BYTES: it is cut.
 */
size_t fd_name(char *name, int fd);

#endif
