/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes texts of Python stacks for the Python views, the timeline and the verdict. The stream
 * stores each stack as its innermost frame and the number of its parent, so that stacks share their
 * outer frames. A text is built at the first question and kept with the stack: the same few stacks
 * stand beside many events.
 */
#include "report/model/py_stack.h"

#include <string.h>

#include "report/util/buf.h"
#include "report/util/string_pool.h"

/* A damaged stream may have cycles. */
#define MAX_FRAMES 256u

/* The part of the path after the last folder of Python's library or packages. */
static const char *short_file(const char *file)
{
	static const char *const folders[] = {"/site-packages/", "/dist-packages/"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		const char *at = strstr(file, folders[i]);

		if (at) {
			return at + strlen(folders[i]);
		}
	}
	return file;
}

/* In ".../lib/python3.12/json/decoder.py", but not in a folder of the user's like lib/python. */
static bool is_in_library(const char *path)
{
	static const char folder[] = "/lib/python3.";
	const char *version = strstr(path, folder);

	version = version ? version + strlen(folder) : path;
	return version != path && version[strspn(version, "0123456789")] == '/';
}

bool py_file_is_standard(uint32_t file)
{
	const char *path = file ? string_pool_text(file, NULL) : "";

	return short_file(path) == path &&
	       (is_in_library(path) || strncmp(path, "<frozen ", strlen("<frozen ")) == 0);
}

/* The path from the package on, of a file that is in a folder of packages; else NULL. */
static const char *in_packages(const char *path)
{
	const char *version;

	if (short_file(path) != path) {
		return short_file(path);
	}
	version = is_in_library(path) ? strstr(path, "/lib/python3.") : NULL;
	return version ? strchr(version + strlen("/lib/"), '/') + 1 : NULL;
}

/* PyTorch's own code, which programs do not change; what its loaders do says more than their call.
 */
bool py_file_is_framework(uint32_t file)
{
	static const char torch[] = "torch/", data[] = "torch/utils/data/";
	const char *name = file ? in_packages(string_pool_text(file, NULL)) : NULL;

	return name && !strncmp(name, torch, strlen(torch)) &&
	       strncmp(name, data, strlen(data)) != 0;
}

bool py_file_is_library(uint32_t file)
{
	const char *path = file ? string_pool_text(file, NULL) : "";

	return short_file(path) != path || py_file_is_standard(file);
}

uint32_t py_file_package(uint32_t file)
{
	static const char init[] = "/__init__.py";
	const char *path = file ? string_pool_text(file, NULL) : "", *name = in_packages(path);
	size_t nr_bytes = strlen(path);

	if (!name) {
		const char *end = path + nr_bytes;

		/* Its own folder is the package of __init__.py. */
		if (nr_bytes > strlen(init) && !strcmp(end - strlen(init), init)) {
			end -= strlen(init);
		}
		for (name = end; name > path && name[-1] != '/'; name--) {
		}
	}
	nr_bytes = strcspn(name, "/");
	if (nr_bytes > 3 && !strncmp(name + nr_bytes - 3, ".py", 3)) {
		nr_bytes -= 3;
	}
	return string_pool_intern(name, nr_bytes);
}

static void add_frame(struct buf *text, uint32_t file, uint32_t line, uint32_t function)
{
	buf_text(text, file ? short_file(string_pool_text(file, NULL)) : "(unknown)");
	if (line) {
		buf_printf(text, "(%u)", line);
	}
	buf_text(text, ": ");
	buf_text(text, string_pool_text(function, NULL));
}

static void add_code(struct buf *text, const struct model_py_code *code, uint32_t line)
{
	if (!code) {
		buf_text(text, "(unknown)");
		return;
	}
	add_frame(text, code->file, line, code->name);
}

uint32_t py_frame_text(uint32_t file, uint32_t line, uint32_t function)
{
	struct buf text = {0};
	uint32_t name;

	add_frame(&text, file, line, function);
	name = string_pool_intern(text.bytes, text.nr_bytes);
	buf_fini(&text);
	return name;
}

uint32_t py_frame_short_text(uint32_t file, uint32_t line, uint32_t function)
{
	const char *path = file ? string_pool_text(file, NULL) : "";
	const char *slash = short_file(path) == path ? strrchr(path, '/') : NULL;

	if (slash && slash[1]) {
		file = string_pool_intern(slash + 1, strlen(slash + 1));
	}
	return py_frame_text(file, line, function);
}

uint32_t py_code_text(struct process *process, uint32_t id)
{
	struct model_py_code *code = idmap_get(&process->py_codes, id);
	struct buf text = {0};

	if (!code) {
		return process_string(process, UINT32_MAX);
	}
	if (!code->text) {
		add_code(&text, code, code->line);
		code->text = string_pool_intern(text.bytes, text.nr_bytes);
		buf_fini(&text);
	}
	return code->text;
}

/* Adds the stack, innermost frame first. */
static void add_stack(struct buf *text, const struct process *process,
	const struct model_py_stack *stack, const char *separator,
	void (*add)(struct buf *text, const struct model_py_code *code, uint32_t line))
{
	for (unsigned int i = 0; stack && i < MAX_FRAMES; i++) {
		buf_text(text, i ? separator : "");
		add(text, idmap_get(&process->py_codes, stack->code), stack->line);
		stack = stack->parent ? idmap_get(&process->py_stacks, stack->parent) : NULL;
	}
}

uint32_t py_stack_text(struct process *process, uint32_t id)
{
	struct model_py_stack *stack = idmap_get(&process->py_stacks, id);
	struct buf text = {0};

	if (!stack) {
		return process_string(process, UINT32_MAX);
	}
	if (!stack->text) {
		add_stack(&text, process, stack, " <- ", add_code);
		stack->text = string_pool_intern(text.bytes, text.nr_bytes);
		buf_fini(&text);
	}
	return stack->text;
}

/* A frame of a file has a line, 0 if that is unknown; one of no file is its name alone. */
static void add_trace_code(struct buf *text, const struct model_py_code *code, uint32_t line)
{
	if (code && code->file) {
		buf_printf(text, "%s(%u): ", short_file(string_pool_text(code->file, NULL)), line);
	}
	buf_text(text, code ? string_pool_text(code->name, NULL) : "(unknown)");
}

uint32_t py_stack_trace_text(struct process *process, uint32_t id)
{
	struct model_py_stack *stack = idmap_get(&process->py_stacks, id);
	struct buf text = {0};

	if (!stack) {
		return process_string(process, UINT32_MAX);
	}
	if (!stack->trace_text) {
		add_stack(&text, process, stack, ";", add_trace_code);
		stack->trace_text = string_pool_intern(text.bytes, text.nr_bytes);
		buf_fini(&text);
	}
	return stack->trace_text;
}
