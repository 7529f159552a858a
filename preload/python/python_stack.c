/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks to ids. A stack is a node of a tree: a frame, and the stack of its caller. Files, code and
 * nodes are identified by content and not by address, since Python reuses the memory of functions.
 * Three tables of bounded size, without locks; the index of an entry is its id, and the thread that
 * adds an entry writes the row that defines it.
 */
#include "preload/python/python.h"

#include <string.h>

#include "collector/util/config.h"
#include "collector/util/hash.h"
#include "collector/util/memory.h"
#include "preload/hook/hook.h"
#include "preload/python/python_frame.h"
#include "preload/python/python_room.h"

#define MAX_FRAMES 128u /* in a stack; one more frame stands for those further out */
#define FILE_BITS  13u
#define CODE_BITS  16u
#define NODE_BITS  18u
/* The parts of a node's key: its parent, an id from 0 on, and the instruction. */
#define PARENT_BITS (NODE_BITS + 1u)
#define OFFSET_BITS (63u - CODE_BITS - PARENT_BITS)

/* Stacks take at most this part of a thread's time. */
#define COST_SHARE 32u

struct tables {
	_Atomic uint32_t nr_files, nr_codes, nr_nodes;
	_Atomic uint64_t files[1u << FILE_BITS];
	_Atomic uint64_t codes[1u << CODE_BITS];
	_Atomic uint64_t nodes[1u << NODE_BITS];
	_Atomic uint8_t wanted[1u << CODE_BITS]; /* of codes: WANTED, UNWANTED or unknown */
};

_Atomic uint32_t python_parts;

static void *_Atomic tables;

/* When the thread may have its next stack, in the raw clock. */
static __thread uint64_t next_raw __attribute__((tls_model("initial-exec")));

/* Mapped at first use, so that a forked child drops it without touching it. */
static struct tables *get_tables(void)
{
	static atomic_uint reported_in;
	struct tables *now = atomic_load_explicit(&tables, memory_order_acquire);

	if (__builtin_expect(!now, 0)) {
		now = memory_map_once(&tables, sizeof(*now));
	}
	if (__builtin_expect(!now, 0)) {
		notice_no_memory(&reported_in, "Python stacks");
	}
	return now;
}

void python_stack_forget(void)
{
	atomic_store(&tables, NULL);
}

/* ---- a table ---- */

/* The id of a key other than 0, 0 if the table is half full; *is_new: the caller must define it. */
static uint32_t find(_Atomic uint64_t *keys, uint32_t bits, _Atomic uint32_t *nr_used, uint64_t key,
	bool *is_new)
{
	uint32_t mask = (1u << bits) - 1;
	uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15u >> (64 - bits));

	*is_new = false;
	for (;; at++) {
		uint64_t have = atomic_load_explicit(&keys[at & mask], memory_order_relaxed);

		if (!have) {
			if (atomic_load_explicit(nr_used, memory_order_relaxed) > mask / 2) {
				return 0;
			}
			if (atomic_compare_exchange_strong(&keys[at & mask], &have, key)) {
				atomic_fetch_add(nr_used, 1);
				*is_new = true;
				return (at & mask) + 1;
			}
		}
		if (have == key) {
			return (at & mask) + 1;
		}
	}
}

static uint64_t hash_name(const struct python_text *text)
{
	uint64_t hash = hash_mix(text->unit_bytes, text->nr_bytes + text->nr_omitted);
	uint32_t at = 0;
	uint64_t value;

	for (; at + sizeof(value) <= text->nr_bytes; at += sizeof(value)) {
		memcpy(&value, text->bytes + at, sizeof(value));
		hash = hash_mix(hash, value);
	}
	value = 0;
	memcpy(&value, text->bytes + at, text->nr_bytes - at);
	return hash_mix(hash, value) | 1; /* never 0 */
}

/* ---- what stands in them ---- */

static uint32_t file_id(struct tables *t, const struct python_text *file, uint64_t hash)
{
	char utf8[PYTHON_UTF8_BYTES];
	bool is_new;
	uint32_t id = find(t->files, FILE_BITS, &t->nr_files, hash, &is_new);

	if (is_new) {
		struct gprof_row_py_file row = {.id = id};

		loss_add(LOSS_PYTHON_TEXT, file->nr_omitted != 0);
		ring_emit(&row, GPROF_TABLE_py_file, utf8, python_text_utf8(file, utf8));
	}
	return id;
}

static void write_code(struct tables *t, uint32_t id, uint32_t line, const struct python_text *file,
	uint64_t file_hash, const struct python_text *name)
{
	struct gprof_row_py_code row = {.id = id, .line = line};
	char utf8[PYTHON_UTF8_BYTES];

	row.py_file = file_id(t, file, file_hash);
	if (!row.py_file) {
		loss_add(LOSS_PYTHON_FILE, 1);
	}
	loss_add(LOSS_PYTHON_TEXT, name->nr_omitted != 0);
	ring_emit(&row, GPROF_TABLE_py_code, utf8, python_text_utf8(name, utf8));
}

/* Returns the ID of the function; 0 if there are too many functions. */
static uint32_t code_of(struct tables *t, const struct python_text *file,
	const struct python_text *name, uint32_t line)
{
	uint64_t file_hash = hash_name(file);
	uint64_t hash = hash_mix(hash_mix(file_hash, hash_name(name)), line) | 1;
	bool is_new;
	uint32_t id = find(t->codes, CODE_BITS, &t->nr_codes, hash, &is_new);

	if (is_new) {
		write_code(t, id, line, file, file_hash, name);
	}
	return id;
}

/* As code_of; also returns 0 if the memory is not what it should be. */
static uint32_t code_id(struct tables *t, const struct python_frame *frame)
{
	struct python_text file, name;

	return python_text_read(&file, frame->file) && python_text_read(&name, frame->name)
		       ? code_of(t, &file, &name, frame->point.first_line)
		       : 0;
}

/* ---- functions by themselves ---- */

enum { WANTED = 1, UNWANTED = 2 };

/* Does one of the prefixes begin `path`? */
static bool has_prefix(const char *path, const char *prefixes)
{
	while (*prefixes) {
		size_t nr_bytes = (size_t)(strchrnul(prefixes, ',') - prefixes);

		if (nr_bytes && !strncmp(path, prefixes, nr_bytes)) {
			return true;
		}
		prefixes += nr_bytes + (prefixes[nr_bytes] == ',');
	}
	return false;
}

/* Matches the path, its part inside the folder of installed packages, or the file name. */
static bool is_wanted(const char *path)
{
	static const char *const marks[] = {"/site-packages/", "/dist-packages/"};
	const char *prefixes = config_text(CONFIG_PYTHON_FILTER);
	const char *base = strrchr(path, '/');

	if (!*prefixes || has_prefix(path, prefixes) || (base && has_prefix(base + 1, prefixes))) {
		return true;
	}
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const char *at = strstr(path, marks[i]);

		if (at && has_prefix(at + strlen(marks[i]), prefixes)) {
			return true;
		}
	}
	return false;
}

static bool is_file_wanted(const struct python_frame *frame)
{
	struct python_text file;
	char utf8[PYTHON_UTF8_BYTES];

	if (!python_text_read(&file, frame->file)) {
		return false;
	}
	python_text_utf8(&file, utf8);
	return is_wanted(utf8);
}

uint32_t python_code_wanted(const struct python_frame *frame)
{
	struct tables *t = get_tables();
	uint32_t id = t ? code_id(t, frame) : 0;
	_Atomic uint8_t *wanted;

	if (!id) {
		if (is_file_wanted(frame)) {
			loss_add(LOSS_PYTHON_CODE, 1);
		}
		return 0;
	}
	wanted = &t->wanted[id - 1];
	if (!atomic_load_explicit(wanted, memory_order_relaxed)) {
		atomic_store(wanted, is_file_wanted(frame) ? WANTED : UNWANTED);
	}
	return atomic_load_explicit(wanted, memory_order_relaxed) == WANTED ? id : 0;
}

/* ---- a stack ---- */

static uint32_t node_id(
	struct tables *t, uint32_t parent, uint32_t code, const struct python_point *point)
{
	uint64_t at = point->offset / 2 & ((1u << OFFSET_BITS) - 1);
	uint64_t key = ((at << CODE_BITS | (code - 1)) << PARENT_BITS | parent) | 1ull << 63;
	bool is_new;
	uint32_t id = find(t->nodes, NODE_BITS, &t->nr_nodes, key, &is_new);

	if (is_new) {
		struct gprof_row_py_stack row = {.id = id,
			.parent = parent,
			.py_code = code,
			.line = point->lines ? python_point_line(point) : 0};

		ring_emit(&row, GPROF_TABLE_py_stack, NULL, 0);
	}
	return id;
}

/* Returns the function that stands for omitted outer frames. */
static uint32_t outer_frames(struct tables *t)
{
	static const struct python_text file = {"...", 3, 1, 0}, name = {"outer frames", 12, 1, 0};
	static const struct python_point nowhere;
	uint32_t code = code_of(t, &file, &name, 0);

	return code ? node_id(t, 0, code, &nowhere) : 0;
}

/* From the innermost frame outwards, and back again from caller to callee. */
static uint32_t walk(struct tables *t, uintptr_t at)
{
	struct python_point points[MAX_FRAMES];
	uint32_t codes[MAX_FRAMES];
	uint32_t nr_frames = 0, stack = 0;

	for (uint32_t i = 0; at; i++) {
		struct python_frame frame;

		if (!python_frame_read(&frame, at)) {
			return 0;
		}
		at = frame.next;
		if (frame.code ? nr_frames == MAX_FRAMES : i >= 2 * MAX_FRAMES) {
			stack = outer_frames(t);
			if (!stack) {
				return 0;
			}
			break;
		}
		if (!frame.code) {
			continue;
		}
		codes[nr_frames] = code_id(t, &frame);
		if (!codes[nr_frames]) {
			return 0;
		}
		points[nr_frames++] = frame.point;
	}
	while (nr_frames > 0) {
		nr_frames--;
		stack = node_id(t, stack, codes[nr_frames], &points[nr_frames]);
		if (!stack) {
			return 0;
		}
	}
	return stack;
}

uint64_t python_raw_of(uint64_t ns)
{
	static _Atomic uint64_t ticks; /* (ticks << 32) of a raw unit; a tick is a ns */
	uint64_t mult = atomic_load_explicit(&ticks, memory_order_relaxed);

	if (!mult) {
		mult = clock_calibrate();
		atomic_store_explicit(&ticks, mult, memory_order_relaxed);
	}
	return (ns << 32) / mult;
}

/* When the thread may have its next stack, after one that began at `begin`. */
static uint64_t when_next(uint64_t begin)
{
	uint64_t hz = config_number(CONFIG_PYTHON_HZ);
	uint64_t rest = (clock_raw() - begin) * COST_SHARE, interval;

	if (!hz) {
		return begin;
	}
	interval = python_raw_of(1000000000u / hz);
	return begin + (rest > interval ? rest : interval);
}

static uint32_t take(uintptr_t top, uint64_t now)
{
	struct ring_tls *self = &ring_tls;
	struct tables *t = get_tables();
	struct ring_mark mark;
	uint32_t stack;

	if (!t) {
		return 0;
	}
	ring_enter_profiler(self, &mark);
	stack = python_room(RING_STACK) < PYTHON_ROOM_BYTES ? 0 : walk(t, top);
	ring_leave_profiler(self, &mark);
	if (!stack) {
		loss_add(LOSS_PYTHON, 1);
	}
	next_raw = when_next(now);
	return stack;
}

struct python_place python_stack_take(const struct python_place *outer)
{
	struct python_place place = {0};
	uint64_t now = clock_raw();
	const void *state;
	uintptr_t top;
	bool is_due;

	if (!(hook_mode() & COLLECTOR_RECORD) || ring_in_profiler(&ring_tls)) {
		return place;
	}
	is_due = (int64_t)(now - next_raw) >= 0;
	if (!is_due && !(outer && outer->stack)) {
		return place;
	}
	state = python_thread_state();
	top = state ? python_frame_top(state) : 0;
	if (!top) {
		return place;
	}
	if (outer && outer->frame == top) {
		return *outer;
	}
	if (is_due) {
		place = (struct python_place){.frame = top, .stack = take(top, now)};
	}
	return place;
}
