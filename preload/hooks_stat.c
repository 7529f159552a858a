/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The number of threads of the process, as /proc/self/stat has it: without the recorder's. From
 * 3.12 on Python reads it there around a fork, and warns if there are several.
 *
 * So Python, and only Python, gets a copy of the file with a corrected number. Other programs may
 * keep the file open and read it again. They get the file itself, as does Python if anything fails.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/ring/safe_read.h"
#include "collector/util/file_text.h"
#include "collector/util/log.h"
#include "collector/util/target.h"
#include "preload/base/modules.h"
#include "preload/hook/hook.h"
#include "preload/hooks.h"

#define READS(ret, name, params) HOOK_EXPORT ret name params;
#include "preload/hook/hooks.def"

#define SELF_STAT      "/proc/self/stat"
#define STAT_BYTES     1024u
#define FIELDS_BETWEEN 17u /* the end of the program's name, and the number of threads */

/* From linux/memfd.h, which older systems lack. */
#define CLOSE_ON_EXEC 1u

/* An address where nothing is may be passed, too: then the real function answers. */
static bool is_stat(const char *path)
{
	char name[sizeof(SELF_STAT)];

	return safe_read(name, (uintptr_t)path, sizeof(name)) &&
	       !memcmp(name, SELF_STAT, sizeof(name));
}

/*
 * Returns where the number of threads begins; NULL if it is not found. The name before it may
 * contain blanks and parentheses.
 */
static char *find_number(char *text)
{
	char *at = strrchr(text, ')');

	for (unsigned int i = 0; at && i <= FIELDS_BETWEEN; i++) {
		at = strchr(at + 1, ' ');
	}
	return at ? at + 1 : NULL;
}

/* Writes the number of threads without ours; `to` has room for all of `text`. */
static bool count_without_us(char *to, char *text, unsigned int nr_ours)
{
	char *number = find_number(text), *end;
	unsigned long long nr = number ? strtoull(number, &end, 10) : 0;

	if (nr <= nr_ours) {
		return false;
	}
	*number = '\0';
	log_format(to, STAT_BYTES, "%s%u%s", text, (unsigned int)nr - nr_ours, end);
	return true;
}

static FILE *open_text(const char *text, const char *mode)
{
	unsigned long flags = strchr(mode, 'e') ? CLOSE_ON_EXEC : 0;
	int fd = (int)syscall(SYS_memfd_create, "stat", flags);
	FILE *file = NULL;

	if (fd < 0) {
		return NULL;
	}
	if (syscall(SYS_write, (long)fd, text, strlen(text)) == (long)strlen(text) &&
		!syscall(SYS_lseek, (long)fd, 0L, 0L)) {
		file = fdopen(fd, mode);
	}
	if (!file) {
		syscall(SYS_close, (long)fd);
	}
	return file;
}

/* Is the caller in Python's executable or in libpython? */
static bool is_python(uintptr_t caller)
{
	return modules_find((const void *)caller, "PyOS_AfterFork_Child") != NULL;
}

static FILE *open_stat(const char *mode, uintptr_t caller, unsigned int nr_ours)
{
	char text[STAT_BYTES], without[STAT_BYTES];
	TARGET_LEAVE_ALONE;
	FILE *file = NULL;

	if (mode && *mode == 'r' && !strchr(mode, '+') && is_python(caller) &&
		file_text_read(SELF_STAT, text, sizeof(text)) &&
		count_without_us(without, text, nr_ours)) {
		file = open_text(without, mode);
	}
	return file;
}

FILE *fopen64(const char *path, const char *mode)
{
	const __typeof__(&fopen64) real = HOOK_NEXT(fopen64);
	unsigned int nr_ours = hooks_thread_count_ours();
	FILE *file = nr_ours && is_stat(path) ? open_stat(mode, HOOK_CALLER, nr_ours) : NULL;

	if (!file && !real) {
		errno = ENOSYS;
	}
	return file ? file : real ? real(path, mode) : NULL;
}
