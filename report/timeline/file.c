/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome JSON is written to one file first. If that passes the limit, the rest is only counted;
 * then the bytes of each span of time are known (struct timeline_sizes), and each part is written
 * by a pass of its own.
 */
#include "report/timeline/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/timeline/chrome.h"
#include "report/timeline/perfetto.h"
#include "report/util/gzip_out.h"

/* The file that bytes go to: packed or plain. */
struct target {
	struct gzip_out *packed;
	FILE *plain;
	uint64_t nr_bytes, most_bytes;
	bool is_too_large;
};

struct job {
	struct timeline_file *file;
	struct process *const *processes;
	size_t nr_processes;
};

/* ---- paths ---- */

static bool ends_in(const char *text, const char *end)
{
	size_t length = strlen(text), nr_end = strlen(end);

	return length >= nr_end && strcmp(text + length - nr_end, end) == 0;
}

static bool is_stdout(const char *path)
{
	return strcmp(path, "-") == 0;
}

static bool is_json(const char *path)
{
	return ends_in(path, ".json") || ends_in(path, ".json.gz") || is_stdout(path);
}

bool timeline_file_is_path(const char *path)
{
	return is_json(path) || ends_in(path, ".pftrace") || ends_in(path, ".pftrace.gz");
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *timeline_file_part(const char *path, size_t nr)
{
	size_t nr_end = strlen(ends_in(path, ".gz") ? ".json.gz" : ".json");
	size_t nr_stem = strlen(path) - nr_end;
	struct buf part = {0};

	buf_add(&part, path, nr_stem);
	buf_printf(&part, "-%zu%s", nr, path + nr_stem);
	buf_char(&part, '\0');
	return part.bytes;
}

/* ---- one file ---- */

static int flush(void *context, const char *bytes, size_t nr_bytes)
{
	struct target *target = context;

	target->nr_bytes += nr_bytes;
	if (target->most_bytes && target->nr_bytes > target->most_bytes) {
		target->is_too_large = true;
		return -EFBIG;
	}
	if (target->packed) {
		return gzip_out_write(target->packed, bytes, nr_bytes);
	}
	errno = 0;
	return fwrite(bytes, 1, nr_bytes, target->plain) == nr_bytes ? 0 : errno ? -errno : -EIO;
}

static int open_target(struct target *target, const char *path)
{
	if (ends_in(path, ".gz")) {
		return gzip_out_open(&target->packed, path);
	}
	target->plain = is_stdout(path) ? stdout : fopen(path, "w");
	return target->plain ? 0 : -errno;
}

static int close_target(struct target *target)
{
	if (target->packed) {
		return gzip_out_close(target->packed);
	}
	return (target->plain == stdout ? fflush(stdout) : fclose(target->plain)) ? -errno : 0;
}

/*
 * part: NULL for a Perfetto trace. is_too_large: NULL, or true if the file passed most_bytes; the
 * rest of it was only counted.
 */
static int write_one(const struct job *job, const char *path, const struct timeline_part *part,
	struct timeline_sizes *sizes, bool *is_too_large)
{
	struct target target = {.most_bytes = is_too_large ? job->file->most_bytes : 0};
	struct buf out;
	int error = open_target(&target, path), error_of_rest;

	if (error) {
		return error;
	}
	buf_init(&out, flush, &target);
	if (part) {
		const struct chrome_file chrome = {
			.name = base_name(path),
			.filter = job->file->filter,
			.part = part,
			.sizes = sizes,
		};

		chrome_write(job->processes, job->nr_processes, &chrome, &out);
	} else {
		perfetto_write(job->processes, job->nr_processes, job->file->filter, &out);
	}
	error = buf_flush(&out);
	buf_fini(&out);
	error_of_rest = close_target(&target);
	if (is_too_large) {
		*is_too_large = target.is_too_large;
	}
	return error ? error : error_of_rest;
}

/* ---- parts ---- */

/* Parts of at most most_bytes each; a span with more is one part. The caller frees them. */
static struct timeline_part *cut(
	const struct timeline_sizes *sizes, uint64_t most_bytes, size_t *nr_parts)
{
	struct timeline_part *parts = NULL;
	size_t capacity = 0, nr = 0;
	uint64_t nr_bytes = 0;

	for (size_t i = 0; i < TIMELINE_SPANS; i++) {
		uint64_t ns = sizes->begin_ns + i * sizes->span_ns;

		if (!i || (nr_bytes && nr_bytes + sizes->bytes[i] > most_bytes)) {
			parts = array_grow(parts, nr, &capacity, sizeof(*parts));
			if (nr) {
				parts[nr - 1].end_ns = ns;
			}
			parts[nr] = (struct timeline_part){.begin_ns = nr ? ns : 0, .nr = nr + 1};
			nr++;
			nr_bytes = 0;
		}
		nr_bytes += sizes->bytes[i];
	}
	parts[nr - 1].end_ns = UINT64_MAX;
	for (size_t i = 0; i < nr; i++) {
		parts[i].nr_parts = nr;
	}
	*nr_parts = nr;
	return parts;
}

/* They may be anybody's, so they stay; but opening all parts would open them, too. */
static size_t count_older(const struct timeline_file *file)
{
	size_t nr = 0;
	bool is_there;

	do {
		char *path = timeline_file_part(file->path, file->nr_parts + nr + 1);

		is_there = access(path, F_OK) == 0;
		nr += is_there;
		free(path);
	} while (is_there);
	return nr;
}

static int write_parts(const struct job *job, const struct timeline_sizes *sizes)
{
	struct timeline_file *file = job->file;
	struct timeline_part *parts = cut(sizes, file->most_bytes, &file->nr_parts);
	int error = unlink(file->path) ? -errno : 0;

	for (size_t i = 0; i < file->nr_parts && !error; i++) {
		char *path = timeline_file_part(file->path, i + 1);

		error = write_one(job, path, &parts[i], NULL, NULL);
		free(path);
	}
	file->nr_older = count_older(file);
	free(parts);
	return error;
}

int timeline_file_write(
	struct timeline_file *file, struct process *const *processes, size_t nr_processes)
{
	const struct job job = {file, processes, nr_processes};
	const struct timeline_part whole = {.end_ns = UINT64_MAX};
	struct timeline_sizes *sizes;
	bool is_too_large = false;
	int error;

	file->nr_parts = file->nr_older = 0;
	if (!is_json(file->path)) {
		return write_one(&job, file->path, NULL, NULL, NULL);
	}
	if (!file->most_bytes || is_stdout(file->path)) {
		return write_one(&job, file->path, &whole, NULL, NULL);
	}
	sizes = mem_zeroed(1, sizeof(*sizes));
	error = write_one(&job, file->path, &whole, sizes, &is_too_large);
	if (is_too_large) {
		error = write_parts(&job, sizes);
	}
	free(sizes);
	return error;
}
