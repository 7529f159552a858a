/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens each file once in a process, at the first question for one of its addresses. Names are kept
 * with the stacks, as the same few stacks stand beside many samples.
 */
#include "report/model/native_stack.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/util/buf.h"
#include "report/util/code_symbols.h"
#include "report/util/files.h"
#include "report/util/string_pool.h"

#define NS_PER_S 1000000000u

static uint32_t intern(const char *text)
{
	return string_pool_intern(text, strlen(text));
}

/* A path that the program gave the loader may be relative. */
static struct code_symbols *open_symbols(
	const struct process *process, const struct model_code_file *file)
{
	const char *path = string_pool_text(file->path, NULL);
	const char *build_id = string_pool_text(file->build_id, NULL);
	struct code_symbols *symbols;
	struct buf whole = {0};

	if (!strchr(path, '/') || process->stream->is_trace) {
		return NULL; /* the kernel's, in no file; or of another machine */
	}
	if (*path != '/') {
		buf_printf(&whole, "%s/", process_fact(process, "process.directory", ""));
	}
	buf_text(&whole, path);
	buf_char(&whole, '\0');
	symbols =
		code_symbols_open(whole.bytes, build_id, process->stream->header.start_realtime_ns);
	buf_fini(&whole);
	return symbols;
}

static struct model_code_file *find_file(struct process *process, uint32_t id)
{
	struct model_code_file *file = idmap_get(&process->code_files, id);
	const char *path, *slash;

	if (file && !file->name) {
		path = string_pool_text(file->path, NULL);
		slash = strrchr(path, '/');
		file->name = intern(slash && slash[1] ? slash + 1 : path);
		file->symbols = open_symbols(process, file);
	}
	return file;
}

/* ---- code without a file ---- */

/* Compilers write it on the machine where the process runs. */
static struct code_symbols *open_perf_map(const struct process *process)
{
	struct code_symbols *symbols = NULL;
	uint64_t nr_bytes = 0;
	struct stat status;
	char path[64];
	void *text;
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", process->pid);
	fd = plain_file_open(path, &nr_bytes);
	if (fd < 0) {
		return NULL;
	}
	if (fstat(fd, &status) ||
		(uint64_t)status.st_mtime < process->stream->header.start_realtime_ns / NS_PER_S) {
		nr_bytes = 0; /* of an earlier process with the same number */
	}
	text = nr_bytes ? mmap(NULL, nr_bytes, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	close(fd);
	if (text != MAP_FAILED) {
		symbols = code_symbols_of_perf_map(text, nr_bytes);
		munmap(text, nr_bytes);
	}
	return symbols;
}

static uint32_t name_jit(struct process *process, uint64_t address)
{
	const char *name = NULL;
	uint64_t begin;

	if (!process->has_jit_symbols) {
		process->has_jit_symbols = true;
		process->jit_symbols = open_perf_map(process);
	}
	if (process->jit_symbols) {
		name = code_symbols_find(process->jit_symbols, address, &begin);
	}
	return intern(name ? name : "(code without a file)");
}

/* ---- frames ---- */

static uint32_t name_in_file(const struct model_code_file *file, uint64_t address)
{
	uint64_t begin = address;
	const char *name = file->symbols ? code_symbols_find(file->symbols, address, &begin) : NULL;
	struct buf text = {0};
	uint32_t number;

	if (name) {
		return intern(name);
	}
	buf_printf(
		&text, "%s+0x%llx", string_pool_text(file->name, NULL), (unsigned long long)begin);
	number = string_pool_intern(text.bytes, text.nr_bytes);
	buf_fini(&text);
	return number;
}

struct native_frame native_stack_frame(struct process *process, uint32_t id, uint32_t *caller)
{
	struct model_native_stack *stack = idmap_get(&process->native_stacks, id);
	const struct model_code_file *file;

	*caller = 0;
	if (!stack) {
		return (struct native_frame){.function = id ? process_string(process, UINT32_MAX)
							    : string_pool_intern("(unknown)", 9)};
	}
	*caller = stack->parent;
	file = stack->code_file ? find_file(process, stack->code_file) : NULL;
	if (!stack->name) {
		stack->name = file ? name_in_file(file, stack->address)
				   : name_jit(process, stack->address);
	}
	return (struct native_frame){stack->name, file ? file->name : 0};
}

/*
 * Programs call through these: "libcudart.so.12", "libcublasLt.so.12", "libnccl.so.2",
 * "libnvrtc.so.12"; "libc.so.6", "libstdc++.so.6"; "python3.12", "libpython3.12.so.1.0".
 */
static bool is_between(uint32_t file)
{
	static const char *const prefixes[] = {"libcu", "libnccl", "libnv", "libc.", "libc-",
		"libpthread", "libstdc++", "libc++", "ld-", "python", "libpython", "libgprof"};
	const char *name = string_pool_text(file, NULL);

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (!strncmp(name, prefixes[i], strlen(prefixes[i]))) {
			return true;
		}
	}
	return false;
}

uint32_t native_stack_site(struct process *process, uint32_t id)
{
	for (unsigned int nr = 0; id && nr < NATIVE_STACK_MAX_FRAMES; nr++) {
		const struct model_native_stack *stack = idmap_get(&process->native_stacks, id);
		const struct model_code_file *file =
			stack && stack->code_file ? find_file(process, stack->code_file) : NULL;

		if (!stack) {
			break;
		}
		if (file && !is_between(file->name)) {
			return native_stack_frame(process, id, &id).function;
		}
		id = stack->parent;
	}
	return 0;
}

uint32_t native_stack_text(struct process *process, uint32_t id)
{
	struct buf text = {0};
	unsigned int nr_frames = 0;
	uint32_t number;

	do {
		uint32_t name = native_stack_frame(process, id, &id).function;

		buf_text(&text, nr_frames ? " <- " : "");
		buf_text(&text, string_pool_demangled(name, NULL));
	} while (id && ++nr_frames < NATIVE_STACK_MAX_FRAMES);
	number = string_pool_intern(text.bytes, text.nr_bytes);
	buf_fini(&text);
	return number;
}
