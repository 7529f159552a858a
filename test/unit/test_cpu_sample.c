/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sample/cpu_ring.h"
#include "collector/sample/cpu_sample.h"

#include <sys/mman.h>

#include "collector/sample/code_map.h"
#include "collector/sample/native_stack.h"
#include "collector/sample/python_sample.h"
#include "collector/stream/dictionary.h"
#include "collector/util/file_text.h"
#include "test/unit/unit.h"
#include "test/unit/written.h"

#define CHAINS ((struct cpu_ring_form){.copies_stack = false})
#define COPIES ((struct cpu_ring_form){.copies_stack = true})

static struct decode_block *blocks;
static size_t nr_blocks;

static void finish(void)
{
	native_stack_fini();
	blocks = written_end(&nr_blocks);
}

struct record {
	struct perf_event_header header;
	uint64_t words[8];
};

static struct record make_record(uint64_t nr)
{
	return (struct record){{.type = PERF_RECORD_SAMPLE, .size = sizeof(struct record)},
		{1234, nr, 11, 12, 13}};
}

START_TEST(a_sample_has_its_time_and_its_addresses)
{
	struct record record = make_record(3);
	struct cpu_ring_sample sample;

	ck_assert(cpu_ring_decode(&record.header, sizeof(record), CHAINS, &sample));
	ck_assert_uint_eq(sample.monotonic_ns, 1234);
	ck_assert_uint_eq(sample.nr, 3);
	ck_assert_uint_eq(sample.addresses[2], 13);
}
END_TEST

START_TEST(records_that_claim_more_than_they_have_are_none)
{
	static const uint64_t wrong[] = {7, 1000, UINT64_MAX, UINT64_MAX - 1};
	struct record record = make_record(6);
	struct cpu_ring_sample sample;

	ck_assert(cpu_ring_decode(&record.header, sizeof(record), CHAINS, &sample));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		record.words[1] = wrong[i];
		ck_assert_msg(!cpu_ring_decode(&record.header, sizeof(record), CHAINS, &sample),
			"%zu", i);
	}
	record.words[1] = 0;
	for (size_t nr_bytes = 0; nr_bytes < 24; nr_bytes++) {
		ck_assert(!cpu_ring_decode(&record.header, nr_bytes, CHAINS, &sample));
	}
	ck_assert(cpu_ring_decode(&record.header, 24, CHAINS, &sample));
	record.header.type = PERF_RECORD_COMM;
	ck_assert(!cpu_ring_decode(&record.header, sizeof(record), CHAINS, &sample));
}
END_TEST

/* A record as the kernel writes it: registers in its order, the copy, and how much it filled. */
#ifdef __aarch64__
enum { NR_REGISTERS = 4, PC_AT = 3, SP_AT = 2 };
#else
enum { NR_REGISTERS = 6, PC_AT = 3, SP_AT = 2 };
#endif
#define NR_STACK_WORDS (CPU_RING_STACK_BYTES / 8)

struct copy_record {
	struct perf_event_header header;
	uint64_t time, abi, registers[NR_REGISTERS], nr_asked, stack[NR_STACK_WORDS], nr_bytes;
};

START_TEST(a_sample_with_a_copy_has_registers_and_the_stack)
{
	static struct copy_record record = {
		.header = {.type = PERF_RECORD_SAMPLE, .size = sizeof(record)},
		.time = 1234,
		.abi = 2,
		.registers = {[PC_AT] = 77, [SP_AT] = 88},
		.nr_asked = CPU_RING_STACK_BYTES,
		.stack = {99},
		.nr_bytes = 640};
	struct cpu_ring_sample sample;

	ck_assert_uint_le(sizeof(record), CPU_RING_RECORD_BYTES);
	ck_assert(cpu_ring_decode(&record.header, sizeof(record), COPIES, &sample));
	ck_assert_uint_eq(sample.monotonic_ns, 1234);
	ck_assert_uint_eq(sample.copy.pc, 77);
	ck_assert_uint_eq(sample.copy.registers[FRAME_SP], 88);
	ck_assert_uint_eq(sample.copy.nr_bytes, 640);
	ck_assert_uint_eq(sample.copy.bytes[0], 99);
	for (size_t nr_bytes = 0; nr_bytes < sizeof(record); nr_bytes += 8) {
		bool is_whole = cpu_ring_decode(&record.header, nr_bytes, COPIES, &sample);

		ck_assert(!is_whole);
	}
	record.nr_bytes = record.nr_asked + 8;
	ck_assert(!cpu_ring_decode(&record.header, sizeof(record), COPIES, &sample));
	record.nr_asked = UINT64_MAX;
	ck_assert(!cpu_ring_decode(&record.header, sizeof(record), COPIES, &sample));
	record.abi = 0; /* no registers follow */
	ck_assert(cpu_ring_decode(&record.header, sizeof(record), COPIES, &sample));
	ck_assert_uint_eq(sample.copy.pc, 0);
	ck_assert_uint_eq(sample.copy.nr_bytes, 0);
}
END_TEST

START_TEST(a_chain_has_the_last_bytes_of_calls)
{
	struct record record = make_record(3);
	uint64_t addresses[2];
	struct cpu_ring_sample sample;
	bool is_cut;

	record.words[2] = PERF_CONTEXT_USER;
	ck_assert(cpu_ring_decode(&record.header, sizeof(record), CHAINS, &sample));
	ck_assert_uint_eq(cpu_ring_frames(&sample, addresses, 2, &is_cut), 2);
	ck_assert_uint_eq(addresses[0], 12);
	ck_assert_uint_eq(addresses[1], 12);
	ck_assert(!is_cut);
}
END_TEST

/* Notes with a name of 4 bytes. */
struct note {
	uint32_t nr_name_bytes, nr_bytes, type;
	char name[4];
	uint8_t content[8];
};

START_TEST(the_build_id_is_the_note_of_its_kind)
{
	const struct note notes[] = {
		{4, 8, 5 /* properties */, "GNU", {1, 1, 1, 1, 1, 1, 1, 1}},
		{4, 8, 3, "Xen", {2, 2, 2, 2, 2, 2, 2, 2}},
		{4, 8, 3, "GNU", {3, 4, 5, 6, 7, 8, 9, 10}},
	};
	uint32_t nr = 0;
	const uint8_t *id = code_map_build_id((const uint8_t *)notes, sizeof(notes), 4, &nr);

	ck_assert_ptr_eq(id, notes[2].content);
	ck_assert_uint_eq(nr, 8);
	ck_assert_ptr_null(code_map_build_id((const uint8_t *)notes, 2 * sizeof(notes[0]), 4, &nr));
}
END_TEST

START_TEST(notes_that_are_cut_or_lie_have_no_build_id)
{
	struct note note = {4, 8, 3, "GNU", {0}};
	uint32_t nr;

	for (uint64_t nr_bytes = 0; nr_bytes < sizeof(note); nr_bytes++) {
		ck_assert_ptr_null(code_map_build_id((const uint8_t *)&note, nr_bytes, 4, &nr));
	}
	note.nr_bytes = UINT32_MAX;
	ck_assert_ptr_null(code_map_build_id((const uint8_t *)&note, sizeof(note), 8, &nr));
	note = (struct note){UINT32_MAX, 8, 3, "GNU", {0}};
	ck_assert_ptr_null(code_map_build_id((const uint8_t *)&note, sizeof(note), 4, &nr));
}
END_TEST

START_TEST(only_executable_memory_counts)
{
	uint64_t begin, end;

	ck_assert(code_map_read_line("7f00-7fff r-xp 00000000 00:00 0 ", &begin, &end));
	ck_assert_uint_eq(begin, 0x7f00);
	ck_assert_uint_eq(end, 0x7fff);
	ck_assert(code_map_read_line("7f00-7fff rwxs 00000000 00:01 5 /memfd:jit", &begin, &end));
	ck_assert(!code_map_read_line("7f00-7fff rw-p 00000000 00:00 0", &begin, &end));
	ck_assert(!code_map_read_line("7f00-7fff", &begin, &end));
	ck_assert(!code_map_read_line("7f00-7fff r", &begin, &end));
	ck_assert(!code_map_read_line("", &begin, &end));
	ck_assert(!code_map_read_line("x", &begin, &end));
}
END_TEST

START_TEST(code_of_the_program_is_found_and_other_memory_is_not)
{
	const uint64_t here = (uint64_t)(uintptr_t)&unit_suite;
	struct code_place place, again;

	written_begin();
	ck_assert_int_eq(native_stack_init(), 0);
	code_map_look();
	ck_assert(!code_map_find(8, &place));
	ck_assert_uint_eq(place.file, 0);
	ck_assert_uint_eq(place.address, 8);
	ck_assert(!code_map_find((uint64_t)(uintptr_t)&place, &place));
	ck_assert(code_map_find(here, &place));
	ck_assert_uint_ne(place.file, 0);
	ck_assert(code_map_find(here + 1, &again));
	ck_assert_uint_eq(again.file, place.file);
	ck_assert_uint_eq(again.address, place.address + 1);
	code_map_look(); /* nothing was loaded */
	ck_assert(code_map_find(here, &again));
	ck_assert_uint_eq(again.file, place.file);
	code_map_fini();
	finish();
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_code_file), 1);
}
END_TEST

/* As a just-in-time compiler makes it. */
START_TEST(code_without_a_file_is_found_when_wanted)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t at = (uint64_t)(uintptr_t)code + 100;
	struct code_place place;

	ck_assert_ptr_ne(code, MAP_FAILED);
	written_begin();
	ck_assert_int_eq(native_stack_init(), 0);
	code_map_look();
	ck_assert(!code_map_find(at, &place));
	code_map_want_memory();
	code_map_look();
	ck_assert(code_map_find(at, &place));
	ck_assert_uint_eq(place.file, 0);
	ck_assert_uint_eq(place.address, at);
	code_map_fini();
	finish();
}
END_TEST

START_TEST(stacks_share_their_outer_frames)
{
	uint32_t file, outer, inner;

	written_begin();
	ck_assert_int_eq(native_stack_init(), 0);
	file = native_stack_file("/lib/one.so", (const uint8_t *)"\x0a\xff", 2);
	ck_assert_uint_eq(native_stack_file("/lib/one.so", (const uint8_t *)"\x0a\xff", 2), file);
	ck_assert_uint_ne(native_stack_file("/lib/one.so", NULL, 0), file);
	outer = native_stack_add(0, file, 0x10);
	inner = native_stack_add(outer, file, 0x20);
	ck_assert_uint_eq(native_stack_add(outer, file, 0x20), inner);
	ck_assert_uint_ne(native_stack_add(outer, file, 0x21), inner);
	finish();
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_code_file), 2);
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_native_stack), 3);
}
END_TEST

START_TEST(unknown_outer_frames_are_a_frame_of_their_own)
{
	const uint64_t here = (uint64_t)(uintptr_t)&unit_suite, chain[] = {here, here + 1, 8};
	uint32_t whole, cut;

	written_begin();
	ck_assert_int_eq(native_stack_init(), 0);
	code_map_look();
	whole = code_map_stack(chain, 2, false);
	cut = code_map_stack(chain, 2, true);
	ck_assert_uint_ne(whole, cut);
	ck_assert_uint_eq(code_map_stack(chain, 2, true), cut);
	ck_assert_uint_eq(code_map_stack(chain, 3, false), whole); /* where there is no code */
	ck_assert_uint_eq(code_map_stack(chain, 0, false), 0);
	code_map_fini();
	finish();
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_native_stack), 5);
}
END_TEST

START_TEST(forgotten_stacks_are_defined_again)
{
	uint32_t file, stack;

	written_begin();
	ck_assert_int_eq(native_stack_init(), 0);
	file = native_stack_file("/lib/one.so", NULL, 0);
	stack = native_stack_add(0, file, 0x10);
	dictionary_forget();
	ck_assert_uint_gt(native_stack_file("/lib/one.so", NULL, 0), file);
	ck_assert_uint_gt(native_stack_add(0, file, 0x10), stack);
	finish();
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_native_stack), 2);
}
END_TEST

/* ---- Python ---- */

static unsigned int nr_named;
static bool is_gone;

static bool name_point(const struct python_point_at *at, struct python_names *names)
{
	nr_named++;
	*names = (struct python_names){"train.py", at->code == 1 ? "main" : "step", at->offset};
	return !is_gone;
}

static const struct python_sampler sampler = {.name = name_point};

/* main at an instruction, which calls step. */
static struct python_stack make_python(uint32_t offset)
{
	return (struct python_stack){{{2, 3, 4, 5, 6, 8}, {1, 3, 4, 5, 1, offset}}, 2, false};
}

START_TEST(python_stacks_are_named_once_and_share_outer_frames)
{
	struct python_stack stack = make_python(2), other = make_python(4);
	uint32_t id;

	written_begin();
	ck_assert_int_eq(python_sample_init(), 0);
	id = python_sample_add(&sampler, &stack);
	ck_assert_uint_gt(id, 1u << 20); /* none of the program's own threads */
	ck_assert_uint_eq(python_sample_add(&sampler, &stack), id);
	ck_assert_uint_eq(nr_named, 2);
	ck_assert_uint_ne(python_sample_add(&sampler, &other), id);
	stack.is_cut = true;
	ck_assert_uint_ne(python_sample_add(&sampler, &stack), id);
	python_sample_fini();
	finish();
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_py_file), 2); /* "..." */
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_py_code), 3);
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_py_stack), 7);
}
END_TEST

START_TEST(a_python_stack_without_names_is_none_and_is_tried_again)
{
	struct python_stack stack = make_python(2);

	written_begin();
	ck_assert_int_eq(python_sample_init(), 0);
	is_gone = true;
	ck_assert_uint_eq(python_sample_add(&sampler, &stack), GPROF_PY_STACK_NOT_READ);
	is_gone = false;
	ck_assert_uint_ne(python_sample_add(&sampler, &stack), 0);
	dictionary_forget();
	ck_assert_uint_ne(python_sample_add(&sampler, &stack), 0);
	python_sample_fini();
	finish();
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_py_stack), 4);
}
END_TEST

START_TEST(samples_that_a_full_buffer_had_no_room_for_are_the_periods_without_one)
{
	ck_assert_uint_eq(cpu_ring_lost(100, 10, 7), 3);
	ck_assert_uint_eq(cpu_ring_lost(109, 10, 10), 0);
	ck_assert_uint_eq(cpu_ring_lost(0, 10, 4), 0);
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {a_sample_has_its_time_and_its_addresses,
		records_that_claim_more_than_they_have_are_none,
		a_sample_with_a_copy_has_registers_and_the_stack,
		a_chain_has_the_last_bytes_of_calls, unknown_outer_frames_are_a_frame_of_their_own,
		the_build_id_is_the_note_of_its_kind, notes_that_are_cut_or_lie_have_no_build_id,
		only_executable_memory_counts, code_of_the_program_is_found_and_other_memory_is_not,
		python_stacks_are_named_once_and_share_outer_frames,
		a_python_stack_without_names_is_none_and_is_tried_again,
		samples_that_a_full_buffer_had_no_room_for_are_the_periods_without_one,
		stacks_share_their_outer_frames, forgotten_stacks_are_defined_again,
		code_without_a_file_is_found_when_wanted};
	size_t nr = sizeof(tests) / sizeof(tests[0]);
	char text[2];

	if (!file_text_read("/proc/self/maps", text, sizeof(text))) {
		unit_skip(tests[--nr]->name, "no /proc/self/maps of its own, as under qemu");
	}
	return unit_make("cpu_sample", tests, nr);
}
