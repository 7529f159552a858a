/* SPDX-License-Identifier: Apache-2.0 */
/* The witness is backtrace(), by the unwinder of the compiler's own library. */
#include "collector/sample/stack_walk.h"

#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "collector/ring/safe_read.h"
#include "collector/sample/code_map.h"
#include "test/unit/unit.h"

#define MOST 127u

/* A copy of this thread's stack, as samples have it. */
struct here {
	struct stack_copy copy;
	uint8_t bytes[65536];
	void *callers[MOST];
	int nr_callers;
};

/* Takes registers and stack, as the kernel does. */
__attribute__((noinline, noclone, no_sanitize("address"))) static void look(struct here *here)
{
	uint64_t *registers = here->copy.registers;
	const uint8_t *sp;

#ifdef __aarch64__
	__asm__ volatile("mov %0, sp\n\tmov %1, x29\n\tmov %2, x30\n\tadr %3, ."
			 : "=r"(registers[FRAME_SP]), "=r"(registers[FRAME_FP]),
			 "=r"(registers[FRAME_RA]), "=r"(here->copy.pc));
#else
	__asm__ volatile("mov %%rsp, %0\n\tmov %%rbp, %1\n\tmov %%rbx, %2\n\tlea 0(%%rip), %3"
			 : "=m"(registers[FRAME_SP]), "=m"(registers[FRAME_FP]),
			 "=m"(registers[FRAME_BX]), "=&r"(here->copy.pc));
#endif
	here->nr_callers = backtrace(here->callers, MOST);
	sp = (const uint8_t *)(uintptr_t)registers[FRAME_SP];
	for (size_t i = 0; i < here->copy.nr_bytes; i++) {
		here->bytes[i] = sp[i]; /* as memcpy would, but for the sanitizer */
	}
	here->copy.bytes = here->bytes;
}

/* Keeps what it needs in registers, and has a frame whose size depends on the argument. */
__attribute__((noinline, noclone)) static unsigned int go_down(
	struct here *here, unsigned int depth)
{
	volatile uint8_t *room = __builtin_alloca(depth * 3 + 1);

	memset((void *)(uintptr_t)room, (int)depth, depth * 3 + 1);
	if (depth) {
		return go_down(here, depth - 1) + room[depth];
	}
	look(here);
	return room[0];
}

/* An aligned frame is found by a register of its own. */
__attribute__((noinline, noclone)) static unsigned int go_aligned(
	struct here *here, unsigned int depth)
{
	volatile uint8_t room[256] __attribute__((aligned(64)));

	memset((void *)(uintptr_t)room, (int)depth, sizeof(room));
	return go_down(here, depth) + room[depth % sizeof(room)];
}

static struct here here;

/* As a stack has it: the last byte of the call. */
static uint64_t caller(uint32_t i)
{
	return (uint64_t)(uintptr_t)here.callers[i] - 1;
}

/* Which of them is that one. A sanitizer's backtrace() begins with frames of its own. */
static uint32_t first_caller(uint64_t address)
{
	uint32_t i = 0;

	while (i < (uint32_t)here.nr_callers && caller(i) != address) {
		i++;
	}
	ck_assert_uint_lt(i, (uint32_t)here.nr_callers);
	return i;
}

/* No library is unloaded meanwhile. */
static bool read_directly(void *to, uint64_t from, uint32_t nr_bytes)
{
	memcpy(to, (const void *)(uintptr_t)from, nr_bytes);
	return true;
}

static void begin(uint64_t nr_bytes)
{
	memset(&here, 0, sizeof(here));
	here.copy.nr_bytes = nr_bytes;
	if (!stack_walk_init()) {
		stack_walk_read_by(read_directly);
	}
	code_map_look();
}

/* The stack above a test is small, so a copy of 4 KiB more than it needs must not reach its end. */
#define COPY_BYTES 3072u

START_TEST(a_stack_is_that_which_the_compilers_unwinder_finds)
{
	uint64_t addresses[MOST];
	bool is_cut;
	uint32_t nr;

	begin(COPY_BYTES);
	ck_assert_uint_gt(go_aligned(&here, 10), 0);
	nr = stack_walk(&here.copy, addresses, MOST, &is_cut, NULL);
	ck_assert_uint_ge(nr, 14);
	ck_assert_int_ge(here.nr_callers, (int)nr);
	for (uint32_t i = 1; i < nr; i++) {
		ck_assert_uint_eq(addresses[i], caller(i + first_caller(addresses[1]) - 1));
	}
	stack_walk_fini();
	code_map_fini();
}
END_TEST

#if !defined(__aarch64__) && !UNIT_IS_SLOW /* whose backtrace() does not pass handlers, as qemu's \
					    */
#define HAS_HANDLERS 1

static void on_signal(int signal)
{
	(void)signal;
	go_down(&here, 2);
}

/* The kernel's frame between takes 3 KiB and more. */
START_TEST(a_signal_handler_is_called_by_what_it_has_interrupted)
{
	uint64_t addresses[MOST];
	bool is_cut;
	uint32_t nr, nr_interrupted = 0;

	begin(COPY_BYTES + 3072);
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	nr = stack_walk(&here.copy, addresses, MOST, &is_cut, NULL);
	ck_assert_uint_ge(nr, 8);
	for (uint32_t i = 1; i < nr; i++) {
		nr_interrupted += addresses[i] == caller(i) + 1;
		ck_assert(addresses[i] == caller(i) || addresses[i] == caller(i) + 1);
	}
	ck_assert_uint_eq(nr_interrupted, 1);
	stack_walk_fini();
	code_map_fini();
}
END_TEST
#endif

/* Whatever else changes on the stack, its frames are the same. */
START_TEST(the_words_that_a_walk_needs_are_all_that_matters)
{
	static struct stack_words words, again;
	static bool is_needed[COPY_BYTES];
	uint64_t seed = 11, before[MOST], after[MOST];
	bool is_cut;
	uint32_t nr;

	begin(COPY_BYTES);
	go_aligned(&here, 10);
	nr = stack_walk(&here.copy, before, MOST, &is_cut, &words);
	ck_assert(words.is_whole);
	ck_assert_uint_ge(words.nr, nr - 1);
	memset(is_needed, 0, sizeof(is_needed));
	for (uint32_t i = 0; i < words.nr; i++) {
		if (!(words.all[i].at & STACK_WORD_REGISTER)) {
			memset(is_needed + words.all[i].at, 1, sizeof(uint64_t));
		}
	}
	for (uint32_t i = 0; i < COPY_BYTES; i++) {
		here.bytes[i] = is_needed[i] ? here.bytes[i] : (uint8_t)unit_random(&seed);
	}
	ck_assert_uint_eq(stack_walk(&here.copy, after, MOST, &is_cut, &again), nr);
	ck_assert_mem_eq(after, before, nr * sizeof(before[0]));
	ck_assert_uint_eq(again.nr, words.nr);
	ck_assert_mem_eq(again.all, words.all, words.nr * sizeof(words.all[0]));
	stack_walk_fini();
	code_map_fini();
}
END_TEST

START_TEST(a_stack_that_is_longer_than_its_copy_says_so)
{
	uint64_t addresses[MOST];
	bool is_cut;
	uint32_t nr, nr_before = 0;

	begin(COPY_BYTES);
	go_aligned(&here, 10);
	for (uint64_t nr_bytes = 0; nr_bytes < 512; nr_bytes += 8) {
		here.copy.nr_bytes = nr_bytes;
		nr = stack_walk(&here.copy, addresses, MOST, &is_cut, NULL);
		ck_assert(is_cut);
		ck_assert_uint_ge(nr, 1);
		ck_assert_uint_ge(nr, nr_before);
		nr_before = nr;
	}
	ck_assert_uint_gt(nr_before, 2);
	here.copy.nr_bytes = COPY_BYTES;
	ck_assert_uint_eq(stack_walk(&here.copy, addresses, 5, &is_cut, NULL), 5);
	ck_assert(is_cut);
	stack_walk_fini();
	code_map_fini();
}
END_TEST

/* As a just-in-time compiler's, which no object describes. */
START_TEST(code_without_a_description_has_a_frame_pointer)
{
	char *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t stack[64] = {0}, addresses[MOST];
	struct stack_copy copy = {.pc = (uint64_t)(uintptr_t)code + 5,
		.bytes = (const uint8_t *)stack,
		.nr_bytes = sizeof(stack)};
	bool is_cut;

	ck_assert_ptr_ne(code, MAP_FAILED);
	begin(0);
	code_map_want_memory();
	code_map_look();
	copy.registers[FRAME_SP] = 0x7000;
	copy.registers[FRAME_FP] = 0x7010;
	stack[2] = 0x7080; /* the caller's frame pointer, and its address */
	stack[3] = (uint64_t)(uintptr_t)code + 100;
	stack[16] = 0; /* the outermost */
	stack[17] = (uint64_t)(uintptr_t)code + 200;
	ck_assert_uint_eq(stack_walk(&copy, addresses, MOST, &is_cut, NULL), 3);
	ck_assert_uint_eq(addresses[0], copy.pc);
	ck_assert_uint_eq(addresses[1], stack[3] - 1);
	ck_assert_uint_eq(addresses[2], stack[17] - 1);
	ck_assert(!is_cut);
	stack[2] = 0x7010; /* a circle */
	ck_assert_uint_eq(stack_walk(&copy, addresses, MOST, &is_cut, NULL), 2);
	ck_assert(is_cut);
	stack[3] = 8; /* no code */
	ck_assert_uint_eq(stack_walk(&copy, addresses, MOST, &is_cut, NULL), 1);
	ck_assert(is_cut);
	stack_walk_fini();
	code_map_fini();
}
END_TEST

START_TEST(random_registers_and_stacks_end)
{
	uint64_t seed = 7, addresses[MOST], code = (uint64_t)(uintptr_t)&go_down;
	bool is_cut;

	begin(COPY_BYTES);
	go_aligned(&here, 10);
	for (uint32_t i = 0; i < 20000 / (UNIT_IS_SLOW ? 10 : 1); i++) {
		struct stack_copy copy = here.copy;

		copy.pc = code - 512 + unit_below(&seed, 2048);
		for (size_t reg = 0; reg < FRAME_NR_REGISTERS; reg++) {
			copy.registers[reg] +=
				unit_below(&seed, 3) ? 0 : unit_below(&seed, 512) - 256;
		}
		here.bytes[unit_below(&seed, COPY_BYTES)] = (uint8_t)unit_random(&seed);
		copy.nr_bytes = unit_below(&seed, COPY_BYTES);
		ck_assert_uint_le(stack_walk(&copy, addresses, MOST, &is_cut, NULL), MOST);
	}
	stack_walk_fini();
	code_map_fini();
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {
#ifdef HAS_HANDLERS
		a_signal_handler_is_called_by_what_it_has_interrupted,
#endif
		a_stack_is_that_which_the_compilers_unwinder_finds,
		the_words_that_a_walk_needs_are_all_that_matters,
		a_stack_that_is_longer_than_its_copy_says_so, random_registers_and_stacks_end,
		code_without_a_description_has_a_frame_pointer};
	size_t nr = sizeof(tests) / sizeof(tests[0]);

	if (!safe_read_works()) {
		unit_skip(tests[--nr]->name, "no /proc/self/maps of its own, as under qemu");
	}
	return unit_make("stack_walk", tests, nr);
}
