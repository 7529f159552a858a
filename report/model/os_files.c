/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row names a file by a number, and the first row with it has the name, in whichever thread and
 * step that was. So names are read from all blocks before the rows are. In most blocks both columns
 * are constant, which costs nothing to decode.
 */
#include "report/model/os_files.h"

#include <string.h>

#include "report/model/os_kind.h"
#include "report/stream/stream.h"
#include "report/util/buf.h"

#define HELD_BY "held by "

void os_files_fini(struct os_files *files)
{
	if (files->process) {
		idmap_fini(&files->names);
	}
	*files = (struct os_files){0};
}

static void add_names(struct os_files *files, const struct batch *batch)
{
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		uint64_t file = batch->col[COL_os_call_file][i];
		uint64_t name = batch->col[COL_os_call_name][i];

		if (file && name) {
			*(uint32_t *)idmap_put(&files->names, file) =
				process_string(files->process, name);
		}
	}
}

void os_files_begin(struct os_files *files, struct process *process)
{
	os_files_fini(files);
	files->process = process;
	idmap_init(&files->names, sizeof(uint32_t));
	for (size_t i = 0; i < process->stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_block_table(process->stream, i) == GPROF_TABLE_os_call &&
			!stream_load(process->stream, i, COLS(os_call, file, name), 0, &batch)) {
			add_names(files, &batch);
		}
	}
}

uint32_t os_files_name(const struct os_files *files, uint64_t file, uint64_t name)
{
	const uint32_t *known = file ? idmap_get(&files->names, file) : NULL;

	if (known) {
		return *known;
	}
	return name ? process_string(files->process, name) : 0;
}

uint32_t os_files_group(uint32_t name)
{
	const char *path = string_pool_text(name, NULL), *file = strrchr(path, '/'), *extension;
	struct buf text = {0};

	if (*path != '/' || !file[1]) {
		return name;
	}
	extension = strrchr(file + 2, '.');
	buf_add(&text, path, (size_t)(file + 1 - path));
	buf_char(&text, '*');
	buf_text(&text, extension ? extension : "");
	name = string_pool_intern(text.bytes, text.nr_bytes);
	buf_fini(&text);
	return name;
}

uint32_t os_files_call(const struct os_files *files, uint32_t function, uint64_t file)
{
	bool has_holder = file & OS_FILES_HOLDER;
	uint32_t name = has_holder ? os_thread_text_of(files->process, (uint32_t)file)
				   : os_files_name(files, file, 0);
	const char *by = !has_holder				 ? ""
			 : os_kind_of(function) == GPROF_OS_WAIT ? "for "
								 : HELD_BY;
	struct buf text = {0};

	if (!name) {
		return function;
	}
	buf_printf(&text, "%s(%s%s)", string_pool_text(function, NULL), by,
		string_pool_text(name, NULL));
	name = string_pool_intern(text.bytes, text.nr_bytes);
	buf_fini(&text);
	return name;
}

uint32_t os_files_function(uint32_t name)
{
	const char *text = string_pool_text(name, NULL);

	return string_pool_intern(text, strcspn(text, "("));
}

uint32_t os_files_holder(uint32_t name)
{
	const char *text = string_pool_text(name, NULL);
	const char *holder = strstr(text, "(" HELD_BY);

	holder = holder ? holder + strlen("(" HELD_BY) : text + strlen(text);
	return *holder ? string_pool_intern(holder, strlen(holder) - 1) : 0;
}

uint32_t os_thread_text(uint32_t name, uint32_t tid)
{
	struct buf text = {0};

	if (name) {
		buf_printf(&text, "%s (%u)", string_pool_text(name, NULL), tid);
	} else {
		buf_printf(&text, "thread %u", tid);
	}
	name = string_pool_intern(text.bytes, text.nr_bytes);
	buf_fini(&text);
	return name;
}

uint32_t os_thread_text_of(struct process *process, uint32_t tid)
{
	const uint32_t *id = idmap_get(&process->thread_of, tid);
	const struct model_thread *thread = id ? idmap_get(&process->threads, *id) : NULL;

	return os_thread_text(thread ? thread->name : 0, tid);
}
