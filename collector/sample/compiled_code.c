/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines are read one by one. A note holds for the first call after it that launches work; between
 * them are more comments, assignments of buffers and the choice of a stream. The definition of a
 * kernel has the same note, but is no call: another kernel with the same code has no definition of
 * its own, and other nodes.
 *
 * PyTorch 2.0 to 2.2 leaves out "Topologically Sorted".
 */
#include "collector/sample/compiled_code.h"

#include <string.h>

#include "collector/format/format.h"
#include "collector/stream/batch.h"
#include "collector/stream/dictionary.h"
#include "collector/util/clock.h"
#include "collector/util/config.h"
#include "collector/util/file_text.h"
#include "collector/util/loss.h"

/* A kernel may replace hundreds of operators. */
#define LINE_BYTES 32768u
/* A module's name is c and 51 digits of base 32. */
#define DIGITS	   "abcdefghijklmnopqrstuvwxyz234567"
#define NAME_CHARS 52u

#define AGAIN_NS 10000000000u

#define NODES	  "Source Nodes: ["
#define OPERATORS "], Original ATen: ["

static struct compiled_code_state {
	char room[LINE_BYTES];
	char note_line[LINE_BYTES]; /* the last note; "" if its call was met */
	uint32_t line;
	uint32_t file; /* its name, in table string */
	uint32_t era;  /* dictionary_era() of the last module */
	uint64_t again_ns;
	bool has_era, is_too_soon;
} state;

bool compiled_code_is_module(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return *name == 'c' && strspn(name, DIGITS) == NAME_CHARS &&
	       strcmp(name + NAME_CHARS, ".py") == 0 && slash && slash - path >= 2 &&
	       !memcmp(slash - 2, name + 1, 2) && (slash - path == 2 || slash[-3] == '/');
}

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

bool compiled_code_read_note(const char *line, struct compiled_note *note)
{
	const char *nodes, *operators, *end;

	line = skip_blanks(line);
	nodes = *line == '#' ? strstr(line, NODES) : NULL;
	if (!nodes) {
		return false;
	}
	nodes += strlen(NODES);
	operators = strstr(nodes, OPERATORS);
	end = operators ? strchr(operators + strlen(OPERATORS), ']') : NULL;
	*note = (struct compiled_note){.nodes = {nodes, (uint32_t)strlen(nodes)}, .is_cut = !end};
	if (operators) {
		note->nodes.nr_bytes = (uint32_t)(operators - nodes);
	}
	if (end) {
		operators += strlen(OPERATORS);
		note->operators = (struct compiled_text){operators, (uint32_t)(end - operators)};
	}
	return true;
}

static bool begins_with(struct compiled_text text, const char *with)
{
	return text.nr_bytes > strlen(with) && !memcmp(text.bytes, with, strlen(with));
}

/* Not by the program's locale. */
static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.';
}

/* Returns the name before the line's first bracket, which it calls first. */
static struct compiled_text called(const char *line)
{
	const char *bracket = strchr(line, '('), *begin = bracket;

	while (begin && begin > line && is_name_byte(begin[-1])) {
		begin--;
	}
	return (struct compiled_text){begin, begin ? (uint32_t)(bracket - begin) : 0};
}

bool compiled_code_read_call(const char *line, struct compiled_text *name)
{
	static const char run[] = ".run";
	const uint32_t nr_run = sizeof(run) - 1;
	struct compiled_text text = called(skip_blanks(line));
	bool is_run =
		text.nr_bytes > nr_run && !memcmp(text.bytes + text.nr_bytes - nr_run, run, nr_run);

	if (is_run) {
		text.nr_bytes -= nr_run;
	}
	*name = text;
	if (text.nr_bytes && !memchr(text.bytes, '.', text.nr_bytes)) {
		return is_run || begins_with(text, "cpp_");
	}
	return begins_with(text, "extern_kernels.") || begins_with(text, "torch.ops.") ||
	       begins_with(text, "aten.");
}

static uint32_t text_id(struct compiled_text text)
{
	return text.nr_bytes ? dictionary_text(text.bytes, text.nr_bytes) : 0;
}

static void add_call(struct compiled_text called_name)
{
	uint32_t name = text_id(called_name), operators, nodes;
	struct gprof_row_compiled_call *row;
	struct compiled_note note;

	compiled_code_read_note(state.note_line, &note);
	operators = text_id(note.operators);
	nodes = text_id(note.nodes);
	if (note.is_cut) {
		loss_add(LOSS_TEXT, 1);
	}
	row = batch_add(GPROF_TABLE_compiled_call);
	row->file = state.file;
	row->line = state.line;
	row->name = name;
	row->operators = operators;
	row->nodes = nodes;
}

/* A function ends where the next one begins: a note never holds for another function's call. */
static bool is_boundary(const char *line)
{
	line = skip_blanks(line);
	return !strncmp(line, "def ", 4) || !strncmp(line, "class ", 6) ||
	       !strncmp(line, "return", 6) || strstr(line, "async_compile.") != NULL;
}

static bool look_at_line(const char *line, void *data)
{
	struct compiled_text name;
	struct compiled_note note;

	(void)data;
	state.line++;
	if (compiled_code_read_note(line, &note)) {
		memcpy(state.note_line, line, strlen(line) + 1);
	} else if (!state.note_line[0] || *skip_blanks(line) == '#') {
		return false;
	} else if (is_boundary(line)) {
		state.note_line[0] = 0;
	} else if (compiled_code_read_call(line, &name)) {
		add_call(name);
		state.note_line[0] = 0;
	}
	return false;
}

/*
 * A stream that refuses definitions gets them again and again. Modules are read again for one of
 * these times in AGAIN_NS, and count as not read in the others.
 */
static bool is_too_soon(void)
{
	uint64_t now_ns;

	if (!state.has_era || state.era != dictionary_era()) {
		now_ns = clock_monotonic_ns();
		state.is_too_soon =
			state.has_era && state.again_ns && now_ns - state.again_ns < AGAIN_NS;
		if (state.has_era && !state.is_too_soon) {
			state.again_ns = now_ns;
		}
		state.era = dictionary_era();
		state.has_era = true;
	}
	return state.is_too_soon;
}

void compiled_code_look(const char *path)
{
	if (config_number(CONFIG_TORCH) < TORCH_OPS || !compiled_code_is_module(path)) {
		return;
	}
	if (is_too_soon()) {
		loss_add(LOSS_COMPILED, 1);
		return;
	}
	state.line = 0;
	state.note_line[0] = 0;
	state.file = dictionary_text(path, strlen(path));
	file_text_find_in(path, '\n', state.room, sizeof(state.room), look_at_line, NULL);
	if (!state.line) {
		loss_add(LOSS_COMPILED, 1);
	}
}
