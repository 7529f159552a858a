/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: a file system where opening and making what has SLOW_NAME in its path takes SLOW_US.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static void wait_for(const char *path)
{
	const char *name = getenv("SLOW_NAME"), *us = getenv("SLOW_US");

	if (name && us && strstr(path, name)) {
		usleep((useconds_t)strtoul(us, NULL, 10));
	}
}

int mkdir(const char *path, mode_t mode)
{
	int (*next)(const char *, mode_t) =
		(int (*)(const char *, mode_t))dlsym(RTLD_NEXT, "mkdir");

	wait_for(path);
	return next(path, mode);
}

int open(const char *path, int flags, ...)
{
	int (*next)(const char *, int, ...) =
		(int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
	va_list arguments;
	mode_t mode = 0;

	va_start(arguments, flags);
	if (flags & (O_CREAT | O_TMPFILE)) {
		mode = va_arg(arguments, mode_t);
	}
	va_end(arguments);
	wait_for(path);
	return next(path, flags, mode);
}
