/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of addresses, sorted. The loader counts what it has loaded and unloaded, so most looks
 * read two numbers of its. Under the loader's lock only memory is copied; ids and rows are made
 * later, and only for objects with samples.
 *
 * A just-in-time compiler's code is in no object: it is looked for in /proc/self/maps when a sample
 * lies at an unknown address. A read takes milliseconds in a large process, so the next one waits
 * a thousand times as long.
 */
#include "collector/sample/code_map.h"

#include <elf.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/sample/native_stack.h"
#include "collector/stream/dictionary.h"
#include "collector/util/clock.h"
#include "collector/util/file_text.h"
#include "collector/util/loaded_objects.h"
#include "collector/util/memory.h"
#include "collector/util/notice.h"

#define COST_PARTS 1000u
#define MIN_NS	   1000000000u
#define NO_OBJECT  UINT32_MAX
/* The room of each array at first; all grow. */
#define FIRST_BYTES 65536u

/* An array in memory apart from the target's malloc. */
struct room {
	char *bytes;
	size_t nr_bytes, capacity;
};

struct object {
	uint64_t bias; /* its addresses minus those of its symbols */
	struct code_frames frames;
	size_t path; /* in `paths` */
	uint8_t build_id[NATIVE_STACK_BUILD_ID_BYTES];
	uint32_t nr_id_bytes;
	uint32_t file; /* 0: no sample so far */
	uint32_t era;  /* dictionary_era() when `file` was defined */
};

struct range {
	uint64_t begin, end;
	uint32_t object; /* NO_OBJECT: memory without a file */
};

static struct code_map_state {
	struct room ranges, objects, paths;
	unsigned long long nr_loaded, nr_unloaded; /* the loader's counts at the last look */
	bool has_looked, wants_memory;
	bool has_lost; /* the loader has unloaded some since the last look, or does not say */
	uint32_t era;
	uint64_t memory_due_ns;
} state;

/* ---- arrays ---- */

/* The old memory goes last: a fork in between must not leave a child with a stale pointer. */
static bool grow_room(struct room *room, size_t capacity)
{
	static atomic_uint told_in;
	const struct room before = *room;
	char *bytes = memory_map(capacity);

	if (!bytes) {
		notice_no_memory(&told_in, "where some CPU samples lie");
		return false;
	}
	if (before.bytes) {
		memcpy(bytes, before.bytes, before.nr_bytes);
	}
	room->bytes = bytes;
	room->capacity = capacity;
	if (before.bytes) {
		munmap(before.bytes, before.capacity);
	}
	return true;
}

/* Returns room for so many bytes more, NULL if there is no memory. */
static void *add_bytes(struct room *room, size_t nr_bytes)
{
	size_t capacity = room->capacity ? room->capacity : FIRST_BYTES;

	while (room->nr_bytes + nr_bytes > capacity) {
		capacity *= 2;
	}
	if (capacity != room->capacity && !grow_room(room, capacity)) {
		return NULL;
	}
	room->nr_bytes += nr_bytes;
	return room->bytes + room->nr_bytes - nr_bytes;
}

static void free_room(struct room *room)
{
	const struct room before = *room;

	*room = (struct room){0};
	if (before.bytes) {
		munmap(before.bytes, before.capacity);
	}
}

static struct range *ranges(void)
{
	return (struct range *)(void *)state.ranges.bytes;
}

static size_t nr_ranges(void)
{
	return state.ranges.nr_bytes / sizeof(struct range);
}

static struct object *object_at(uint32_t place)
{
	return (struct object *)(void *)state.objects.bytes + place;
}

/* The number of ranges that begin at or before the address. */
static size_t find_after(uint64_t address)
{
	size_t low = 0, high = nr_ranges();

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges()[middle].begin <= address) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

static const struct range *find_range(uint64_t address)
{
	size_t after = find_after(address);

	return after && address < ranges()[after - 1].end ? &ranges()[after - 1] : NULL;
}

static void add_range(uint64_t begin, uint64_t end, uint32_t object)
{
	size_t at = find_after(begin), nr = nr_ranges();
	struct range *all;

	if (begin < end && add_bytes(&state.ranges, sizeof(*all))) {
		all = ranges();
		memmove(&all[at + 1], &all[at], (nr - at) * sizeof(*all));
		all[at] = (struct range){begin, end, object};
	}
}

/* ---- the loader's objects ---- */

const uint8_t *code_map_build_id(
	const uint8_t *notes, uint64_t nr_note_bytes, uint64_t align, uint32_t *nr_bytes)
{
	uint64_t at = 0, mask = align == 8 ? 7 : 3;
	ElfW(Nhdr) note;

	while (nr_note_bytes - at >= sizeof(note)) {
		uint64_t name, content, next;

		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		content = (name + note.n_namesz + mask) & ~mask;
		next = (content + note.n_descsz + mask) & ~mask;
		if (content + note.n_descsz > nr_note_bytes) {
			break;
		}
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
			!memcmp(notes + name, "GNU", 4)) {
			*nr_bytes = note.n_descsz;
			return notes + content;
		}
		at = next < nr_note_bytes ? next : nr_note_bytes;
	}
	return NULL;
}

static void find_build_id(struct object *object, const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum && !object->nr_id_bytes; i++) {
		const ElfW(Phdr) *notes = &info->dlpi_phdr[i];
		const ElfW(Phdr) *segment =
			notes->p_type == PT_NOTE
				? loaded_objects_segment(info, info->dlpi_addr + notes->p_vaddr)
				: NULL;
		const uint8_t *id;
		uint32_t nr = 0;

		if (!segment || !(segment->p_flags & PF_R) ||
			notes->p_vaddr - segment->p_vaddr + notes->p_memsz > segment->p_filesz) {
			continue;
		}
		id = code_map_build_id((const uint8_t *)info->dlpi_addr + notes->p_vaddr,
			notes->p_memsz, notes->p_align, &nr);
		if (id) {
			object->nr_id_bytes =
				nr < NATIVE_STACK_BUILD_ID_BYTES ? nr : NATIVE_STACK_BUILD_ID_BYTES;
			memcpy(object->build_id, id, object->nr_id_bytes);
		}
	}
}

/* ThreadSanitizer does not see the lock that guards the loader's names. */
__attribute__((no_sanitize_thread)) static size_t length_of(const char *path)
{
	size_t nr = 0;

	while (path[nr]) {
		nr++;
	}
	return nr;
}

__attribute__((no_sanitize_thread)) static void copy_path(char *to, const char *path, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		to[i] = path[i];
	}
}

/* The loader has no name for the program itself, whose path comes as `data`. */
static int take_object(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *path = info->dlpi_name && *info->dlpi_name ? info->dlpi_name : data;
	uint32_t place = (uint32_t)(state.objects.nr_bytes / sizeof(struct object));
	struct object *object = add_bytes(&state.objects, sizeof(*object));
	size_t nr_path = length_of(path) + 1;
	char *copy = object ? add_bytes(&state.paths, nr_path) : NULL;

	(void)size;
	if (!copy) {
		return 1;
	}
	copy_path(copy, path, nr_path);
	*object = (struct object){
		.bias = info->dlpi_addr, .path = (size_t)(copy - state.paths.bytes)};
	find_build_id(object, info);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t begin = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
			add_range(begin, begin + segment->p_memsz, place);
		} else if (segment->p_type == PT_GNU_EH_FRAME) {
			object->frames = (struct code_frames){begin, segment->p_memsz};
		}
	}
	return 0;
}

/* A loader without these counts has all objects taken at each look. */
static int look_at_counts(struct dl_phdr_info *info, size_t size, void *is_same)
{
	state.has_lost = true;
	if (size >= sizeof(*info)) {
		state.has_lost = !state.has_looked || info->dlpi_subs != state.nr_unloaded;
		*(bool *)is_same = !state.has_lost && info->dlpi_adds == state.nr_loaded;
		state.nr_loaded = info->dlpi_adds;
		state.nr_unloaded = info->dlpi_subs;
	}
	return 1;
}

static void take_objects(void)
{
	char program[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	program[n > 0 ? n : 0] = 0;
	state.ranges.nr_bytes = state.objects.nr_bytes = state.paths.nr_bytes = 0;
	loaded_objects_visit(take_object, program);
	state.has_looked = true;
	state.era += state.has_lost;
}

/* ---- other memory ---- */

bool code_map_read_line(const char *line, uint64_t *begin, uint64_t *end)
{
	char *at;

	*begin = strtoull(line, &at, 16);
	if (at == line || *at != '-') {
		return false;
	}
	*end = strtoull(at + 1, &at, 16);
	return at[0] == ' ' && at[1] && at[2] && at[3] == 'x';
}

static bool take_line(const char *line, void *unused)
{
	uint64_t begin, end;

	(void)unused;
	if (code_map_read_line(line, &begin, &end) && !find_range(begin) && !find_range(end - 1)) {
		add_range(begin, end, NO_OBJECT);
	}
	return false;
}

/* Unmapped memory stays in the list until the loader's objects change. */
static void take_memory(void)
{
	uint64_t now_ns = clock_monotonic_ns(), before_ns, cost_ns;

	if (now_ns < state.memory_due_ns) {
		return;
	}
	before_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	file_text_find("/proc/self/maps", '\n', take_line, NULL);
	cost_ns = (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns) * COST_PARTS;
	state.memory_due_ns = now_ns + (cost_ns > MIN_NS ? cost_ns : MIN_NS);
	state.wants_memory = false;
}

void code_map_look(void)
{
	bool is_same = false;

	loaded_objects_visit(look_at_counts, &is_same);
	if (!is_same) {
		take_objects();
	}
	if (state.wants_memory) {
		take_memory();
	}
}

void code_map_want_memory(void)
{
	state.wants_memory = true;
}

bool code_map_find(uint64_t address, struct code_place *place)
{
	const struct range *range = find_range(address);
	struct object *object;

	*place = (struct code_place){0, address};
	if (!range || range->object == NO_OBJECT) {
		return range != NULL;
	}
	object = object_at(range->object);
	if (!object->file || object->era != dictionary_era()) {
		object->file = native_stack_file(
			state.paths.bytes + object->path, object->build_id, object->nr_id_bytes);
		object->era = dictionary_era();
	}
	*place = (struct code_place){object->file, address - object->bias};
	return true;
}

bool code_map_frames(uint64_t address, struct code_frames *frames)
{
	const struct range *range = find_range(address);

	*frames = (struct code_frames){0};
	if (range && range->object != NO_OBJECT) {
		*frames = object_at(range->object)->frames;
	}
	return range != NULL;
}

uint32_t code_map_era(void)
{
	return state.era;
}

/*
 * Where a chain of frame pointers goes astray, it ends at what is no code. Only the innermost frame
 * may be in code that is not known yet.
 */
uint32_t code_map_stack(const uint64_t *addresses, uint32_t nr, bool is_cut)
{
	struct code_place places[CODE_MAP_MAX_FRAMES];
	uint32_t nr_known = 0, stack;

	nr = nr < CODE_MAP_MAX_FRAMES ? nr : CODE_MAP_MAX_FRAMES;
	if (nr && !code_map_find(addresses[0], &places[0])) {
		code_map_want_memory();
		nr_known = 1;
	}
	while (nr_known < nr && code_map_find(addresses[nr_known], &places[nr_known])) {
		nr_known++;
	}
	stack = is_cut && nr_known == nr ? native_stack_outer() : 0;
	for (uint32_t i = nr_known; i > 0; i--) {
		stack = native_stack_add(stack, places[i - 1].file, places[i - 1].address);
	}
	return stack;
}

void code_map_forget(void)
{
	state.ranges.nr_bytes = state.objects.nr_bytes = state.paths.nr_bytes = 0;
	state.has_looked = state.wants_memory = false;
	state.memory_due_ns = 0;
	state.era++;
}

void code_map_fini(void)
{
	free_room(&state.ranges);
	free_room(&state.objects);
	free_room(&state.paths);
	memset(&state, 0, sizeof(state));
}
