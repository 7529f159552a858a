/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns what the user named into paths of streams, before a session opens any. A directory may hold
 * streams and, beside them, files that were made of them. So only the first kind of file counts of
 * which it has any: streams, then XLA's traces, then JSON, then databases.
 */
#include "report/stream/dumpdir.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/util/buf.h"
#include "report/util/err.h"
#include "report/util/files.h"
#include "report/util/sort.h"

static bool has_suffix(const char *name, const char *suffix)
{
	size_t length = strlen(name), nr_suffix = strlen(suffix);

	return length > nr_suffix && strcmp(name + length - nr_suffix, suffix) == 0;
}

static void add(struct dumpdir *dumpdir, char *path)
{
	dumpdir->paths =
		array_grow(dumpdir->paths, dumpdir->nr_paths, &dumpdir->capacity, sizeof(char *));
	dumpdir->paths[dumpdir->nr_paths++] = path;
}

static void add_ending_in(
	struct dumpdir *dumpdir, const char *path, DIR *dir, const char *suffix, const char *other)
{
	struct dirent *entry;

	rewinddir(dir);
	while ((entry = readdir(dir))) {
		if (has_suffix(entry->d_name, suffix) || has_suffix(entry->d_name, other)) {
			char *stream = mem_zeroed(strlen(path) + strlen(entry->d_name) + 2, 1);
			bool slash = path[strlen(path) - 1] == '/';

			sprintf(stream, "%s%s%s", path, slash ? "" : "/", entry->d_name);
			add(dumpdir, stream);
		}
	}
}

/*
 * The folder of the last run in a log directory of JAX or TensorFlow, whose names are times. NULL:
 * there is none. The caller frees it.
 */
static char *last_profile(const char *path)
{
	struct dirent *entry;
	struct buf parent = {0}, last = {0};
	DIR *dir;

	buf_printf(&parent, "%s/plugins/profile", path);
	buf_char(&parent, '\0');
	dir = opendir(parent.bytes);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.' &&
			(!last.nr_bytes ||
				strcmp(entry->d_name, strrchr(last.bytes, '/') + 1) > 0)) {
			last.nr_bytes = 0;
			buf_printf(&last, "%s/%s", parent.bytes, entry->d_name);
			buf_char(&last, '\0');
		}
	}
	if (dir) {
		closedir(dir);
	}
	buf_fini(&parent);
	return last.bytes;
}

/* Adds the files of a directory that are of the first kind it has any of. */
#define NR_ENDINGS 4u

static int add_files(struct dumpdir *dumpdir, const char *path)
{
	/* Beside streams, JSON files may be their timelines; beside XLA's, the same trace again. */
	static const char *const endings[NR_ENDINGS][2] = {{".gprof", ".gprof.part"},
		{".xplane.pb", ".xplane.pb.gz"}, {".json", ".json.gz"}, {".sqlite", ".sqlite3"}};
	size_t first = dumpdir->nr_paths;
	DIR *dir = opendir(path);

	if (!dir) {
		return err_set(-errno, "%s", strerror(errno));
	}
	for (size_t i = 0; i < NR_ENDINGS && first == dumpdir->nr_paths; i++) {
		add_ending_in(dumpdir, path, dir, endings[i][0], endings[i][1]);
	}
	closedir(dir);
	return 0;
}

static int add_directory(struct dumpdir *dumpdir, const char *path)
{
	size_t first = dumpdir->nr_paths;
	int rc = add_files(dumpdir, path);

	if (!rc && first == dumpdir->nr_paths) {
		char *profile = last_profile(path);

		rc = profile ? add_files(dumpdir, profile) : 0;
		free(profile);
	}
	if (rc) {
		return rc;
	}
	if (first == dumpdir->nr_paths) {
		return err_set(-ENOENT,
			"the directory has no streams (*.gprof) and no traces (*.json, "
			"*.xplane.pb, *.sqlite)");
	}
	qsort(dumpdir->paths + first, dumpdir->nr_paths - first, sizeof(char *), by_string);
	return 0;
}

void dumpdir_add_file(struct dumpdir *dumpdir, const char *path)
{
	add(dumpdir, mem_text(path));
}

int dumpdir_add(struct dumpdir *dumpdir, const char *path)
{
	struct stat status;

	if (stat(path, &status)) {
		return err_set(-errno, "%s", strerror(errno));
	}
	if (S_ISDIR(status.st_mode)) {
		return add_directory(dumpdir, path);
	}
	if (has_suffix(path, ".gprof.rings")) {
		return err_set(
			-EINVAL, "this is the ring file of a stream; name the stream (*.gprof)");
	}
	dumpdir_add_file(dumpdir, path);
	return 0;
}

void dumpdir_fini(struct dumpdir *dumpdir)
{
	for (size_t i = 0; i < dumpdir->nr_paths; i++) {
		free(dumpdir->paths[i]);
	}
	free(dumpdir->paths);
	*dumpdir = (struct dumpdir){0};
}

bool dumpdir_is_summary(const char *path)
{
	char magic[DUMPDIR_SUMMARY_MAGIC_BYTES];
	uint64_t nr_bytes;
	int fd = plain_file_open(path, &nr_bytes);
	bool is_summary;

	if (fd < 0) {
		return false;
	}
	is_summary = pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
		     memcmp(magic, DUMPDIR_SUMMARY_MAGIC, sizeof(magic)) == 0;
	close(fd);
	return is_summary;
}
