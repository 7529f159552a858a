/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where libgprof.so is, and the value of LD_PRELOAD that loads it. main.c asks for both before it
 * runs, installs or prints anything; run.c asks for the folder of this program in order to find
 * gprof-report in it.
 *
 * A package may be unpacked anywhere, so that no path is compiled in: the library is looked for
 * around /proc/self/exe.
 */
#include "report/launch/library.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/util/buf.h"
#include "report/util/err.h"

#define LIBRARY	   "libgprof.so"
#define OS_LIBRARY "libgprof-os.so"

char *library_program_folder(void)
{
	char *path = realpath("/proc/self/exe", NULL), *slash = path ? strrchr(path, '/') : NULL;

	if (slash) {
		*slash = '\0';
	}
	return path;
}

char *library_find(void)
{
	/*
	 * The most trusted comes first: a build folder, then the folders of `make install` and of
	 * packages.
	 */
	static const char *const places[] = {
		"/" LIBRARY, "/../lib/" LIBRARY, "/../lib/*/" LIBRARY, "/../lib64/" LIBRARY, NULL};
	char *folder = library_program_folder(), *found = NULL;

	for (size_t i = 0; folder && !found && places[i]; i++) {
		struct buf pattern = {0};
		glob_t files;

		buf_printf(&pattern, "%s%s", folder, places[i]);
		buf_char(&pattern, '\0');
		if (glob(pattern.bytes, 0, NULL, &files) == 0) {
			found = realpath(files.gl_pathv[0], NULL);
			globfree(&files);
		}
		buf_fini(&pattern);
	}
	if (!found) {
		err_set(-ENOENT,
			"there is no " LIBRARY " beside gprof-record (%s), nor in ../lib; name it "
			"with --library FILE",
			folder ? folder : "?");
	}
	free(folder);
	return found;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
	       of_a.st_ino == of_b.st_ino;
}

/* The first entry of a list of libraries of that name; memory of the caller, or NULL. */
static char *find_entry(const char *list, const char *wanted)
{
	for (const char *at = list; *at;) {
		size_t length = strcspn(at, " :");
		char *entry = strndup(at, length);
		const char *name = strrchr(entry, '/');

		if (strcmp(name ? name + 1 : entry, wanted) == 0) {
			return entry;
		}
		free(entry);
		at += length + strspn(at + length, " :");
	}
	return NULL;
}

/*
 * Two copies of the library in a process would record everything twice. An entry without a slash is
 * left as it is: the loader searches for it, so that the file that it means is unknown here. The
 * program's own libraries stay before this one, because the order of LD_PRELOAD is the order in
 * which their functions win.
 */
static char *preload_recorder(const char *library)
{
	const char *present = getenv("LD_PRELOAD");
	char *entry = find_entry(present ? present : "", LIBRARY), *value = NULL;

	if (strpbrk(library, " :")) {
		err_set(-EINVAL,
			"the loader splits LD_PRELOAD at blanks and colons, so it cannot load "
			"'%s'; "
			"install gprof into another folder",
			library);
	} else if (entry && !is_same_file(entry, library) && strchr(entry, '/')) {
		err_set(-EEXIST,
			"LD_PRELOAD has another " LIBRARY ", '%s'; take it out of LD_PRELOAD",
			entry);
	} else if (entry) {
		value = mem_text(present);
	} else if (asprintf(&value, "%s%s%s", present ? present : "",
			   present && *present ? ":" : "", library) < 0) {
		value = NULL;
	}
	free(entry);
	return value;
}

/* The path of libgprof-os.so in the folder of the other library; memory of the caller, or NULL. */
static char *find_os_library(const char *library)
{
	const char *slash = strrchr(library, '/');
	char *path = NULL;

	if (asprintf(&path, "%.*s%s", slash ? (int)(slash + 1 - library) : 0, library, OS_LIBRARY) <
		0) {
		path = NULL;
	}
	if (path && access(path, R_OK)) {
		err_set(-ENOENT, "--os needs " OS_LIBRARY " beside " LIBRARY "; there is no '%s'",
			path);
		free(path);
		path = NULL;
	}
	return path;
}

/* Behind the recorder, whose functions come first where both stand in for the same. */
static char *add_os_library(char *list, const char *library)
{
	char *entry = find_entry(list, OS_LIBRARY);
	char *path = entry ? NULL : find_os_library(library), *value = NULL;

	if (entry) {
		free(entry);
		return list;
	}
	if (path && asprintf(&value, "%s:%s", list, path) < 0) {
		value = NULL;
	}
	free(path);
	free(list);
	return value;
}

char *library_preload(const char *library, bool has_os)
{
	char *list = preload_recorder(library);

	return list && has_os ? add_os_library(list, library) : list;
}
