/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stack is its innermost frame and the id of its caller's stack, so stacks share their outer
 * frames. If the stream may lack definitions (dictionary_forget), all are made anew, by new ids.
 */
#include "collector/sample/native_stack.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "collector/format/format.h"
#include "collector/format/intern.h"
#include "collector/stream/batch.h"
#include "collector/stream/dictionary.h"
#include "collector/util/log.h"
#include "collector/util/notice.h"

#define NR_FILES 256u
/* Doublings of them, up to 262,144 files and 1,048,576 stacks. */
#define MORE_FILES  10u
#define NR_STACKS   32768u
#define MORE_STACKS 5u

struct file_key {
	uint32_t path, build_id; /* IDs in table string */
};

struct stack_key {
	uint32_t parent, file;
	uint64_t address;
};

static struct native_stack_state {
	struct intern files;
	struct intern stacks;
	uint32_t era; /* dictionary_era() when the IDs were made */
} state;

int native_stack_init(void)
{
	int rc =
		intern_init(&state.files, NR_FILES, NR_FILES * sizeof(struct file_key), MORE_FILES);

	state.era = dictionary_era();
	return rc ? rc
		  : intern_init(&state.stacks, NR_STACKS, NR_STACKS * sizeof(struct stack_key),
			    MORE_STACKS);
}

bool native_stack_is_on(void)
{
	return state.files.entries && state.files.arena && state.stacks.entries &&
	       state.stacks.arena;
}

void native_stack_fini(void)
{
	intern_fini(&state.files);
	intern_fini(&state.stacks);
	memset(&state, 0, sizeof(state));
}

static void look_at_era(void)
{
	if (state.era != dictionary_era()) {
		intern_forget(&state.files);
		intern_forget(&state.stacks);
		state.era = dictionary_era();
	}
}

/* Nothing is lost then, as in dictionary_look. */
static void look_at_room(void)
{
	static atomic_uint told_in;

	if (state.stacks.nr_forgotten && notice_is_first(&told_in)) {
		notice_add("many names", 0,
			"the program has over 1,048,576 native stacks, more than gprof remembers, "
			"or memory is short; nothing is lost, but they are defined again and "
			"again, and the file grows faster. Lower GPROF_CPU_HZ");
	}
}

static uint32_t name_build_id(const uint8_t *build_id, size_t nr_bytes)
{
	char text[2 * NATIVE_STACK_BUILD_ID_BYTES + 1];
	size_t n = 0;

	for (size_t i = 0; i < nr_bytes && i < NATIVE_STACK_BUILD_ID_BYTES; i++) {
		n += log_format(
			text + n, sizeof(text) - n, "%x%x", build_id[i] >> 4, build_id[i] & 15);
	}
	return dictionary_text(text, n);
}

uint32_t native_stack_file(const char *path, const uint8_t *build_id, size_t nr_bytes)
{
	struct file_key key = {
		dictionary_text(path, strlen(path)), name_build_id(build_id, nr_bytes)};
	const struct intern_entry *entry;
	struct gprof_row_code_file *row;
	bool is_new;

	look_at_era();
	entry = intern_find(&state.files, &key, sizeof(key), &is_new);
	if (is_new) {
		row = batch_add(GPROF_TABLE_code_file);
		row->id = entry->id;
		row->path = key.path;
		row->build_id = key.build_id;
	}
	return entry->id;
}

/* name: 0 if that of the place is not known here. */
static uint32_t add(struct stack_key key, uint32_t name)
{
	const struct intern_entry *entry;
	struct gprof_row_native_stack *row;
	bool is_new;

	entry = intern_find(&state.stacks, &key, sizeof(key), &is_new);
	if (is_new) {
		row = batch_add(GPROF_TABLE_native_stack);
		row->id = entry->id;
		row->parent = key.parent;
		row->code_file = key.file;
		row->address = key.address;
		row->name = name;
		look_at_room();
	}
	return entry->id;
}

uint32_t native_stack_add(uint32_t parent, uint32_t file, uint64_t address)
{
	look_at_era();
	return add((struct stack_key){parent, file, address}, 0);
}

uint32_t native_stack_outer(void)
{
	static const char text[] = GPROF_NATIVE_STACK_OUTER;
	uint32_t name = dictionary_text(text, sizeof(text) - 1);

	look_at_era();
	return add((struct stack_key){0}, name);
}
