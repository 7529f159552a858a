/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of several processes may have the same text; then they have the same frames. */
#include "report/sql/native_frames.h"

#include <stdlib.h>
#include <string.h>

#include "report/model/native_stack.h"
#include "report/util/buf.h"
#include "report/util/idset.h"
#include "report/util/string_pool.h"
#include "report/util/sort.h"

static uint32_t demangled(uint32_t name)
{
	size_t nr_bytes;
	const char *text = string_pool_demangled(name, &nr_bytes);

	return string_pool_intern(text, nr_bytes);
}

static void add_stack(
	struct native_frames *frames, struct process *process, uint32_t id, uint32_t text)
{
	uint32_t depth = 0;

	do {
		const struct model_native_stack *stack = idmap_get(&process->native_stacks, id);
		uint64_t address = stack ? stack->address : 0;
		struct native_frame frame = native_stack_frame(process, id, &id);

		frames->rows = array_grow(
			frames->rows, frames->nr, &frames->capacity, sizeof(*frames->rows));
		frames->rows[frames->nr++] = (struct native_frames_row){
			text, depth, demangled(frame.function), frame.file, address};
	} while (id && ++depth < NATIVE_STACK_MAX_FRAMES);
}

static int compare(const void *a, const void *b)
{
	const struct native_frames_row *one = a, *other = b;
	uint64_t x = (uint64_t)one->stack << 32 | one->depth;
	uint64_t y = (uint64_t)other->stack << 32 | other->depth;

	return COMPARE(x, y);
}

struct native_frames native_frames_make(struct process *const *processes, size_t nr_processes)
{
	struct native_frames frames = {0};
	struct idset *done = idset_create();

	for (size_t p = 0; p < nr_processes; p++) {
		for (uint32_t id = 1; id < processes[p]->native_stacks.nr_near; id++) {
			uint32_t text = native_stack_is_known(processes[p], id)
						? native_stack_text(processes[p], id)
						: 0;

			if (text && !idset_has(done, text)) {
				idset_add(done, text);
				add_stack(&frames, processes[p], id, text);
			}
		}
	}
	idset_destroy(done);
	if (frames.nr) {
		qsort(frames.rows, frames.nr, sizeof(*frames.rows), compare);
	}
	return frames;
}

void native_frames_fini(struct native_frames *frames)
{
	free(frames->rows);
	*frames = (struct native_frames){0};
}

size_t native_frames_find(const struct native_frames *frames, uint64_t stack)
{
	size_t low = 0, high = frames->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (frames->rows[middle].stack < stack) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}
