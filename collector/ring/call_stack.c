/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread reads its stack from its stack pointer up to the end of that stack, which must be known
 * for certain. The main thread's is where the kernel has put the program's name. That of another
 * thread ends below its thread pointer: the C library keeps what describes a thread at the upper
 * end of its stack. All pages between must be mapped, which the kernel says. So the stack of a
 * coroutine or of a signal handler is not read: no description of a thread lies above it.
 */
#include "collector/ring/call_stack.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "collector/ring/own_stack.h"
#include "collector/ring/ring.h"
#include "collector/util/clock.h"
#include "collector/util/loss.h"
#include "collector/util/memory.h"
#include "collector/util/target.h"

/* Each of so many copies wakes the drain, before the slots are full. */
#define WAKE_COPIES (CALL_STACK_SLOTS / 4)
/* A thread tries so many slots. */
#define NR_TRIES 4u
/* Copies take at most this part of a thread's time, ... */
#define COST_PARTS 100u
/* ... and at first as much as of so long a time. */
#define FIRST_NS 20000000u

#define MAX_BYTES (1u << 20) /* of another thread's stack */
#define NR_FAILED 64u

/* Numbers of enum frame_register. */
enum { STACK_FP = 1, STACK_BX, STACK_RA };

_Atomic uint64_t call_stack_min_raw = UINT64_MAX;

static struct call_stack_state {
	struct call_stacks *stacks;
	uint64_t first_raw;
	uintptr_t main_low, main_high;
} state;

/* A thread keeps what it knows of its stack in one word, since signals may come in between. */
static __thread uintptr_t known_low __attribute__((tls_model("initial-exec"))); /* + 1: main's */
static __thread uint32_t nr_failed __attribute__((tls_model("initial-exec")));
/* When the thread may take its next copy, in the raw clock. */
static __thread uint64_t next_raw __attribute__((tls_model("initial-exec")));

void call_stack_miss(enum loss_cause cause)
{
	if (state.stacks->counts_losses) {
		loss_add(cause, 1);
	}
	atomic_fetch_add(&state.stacks->nr_missed, 1);
}

/* ---- the stack of the calling thread ---- */

static inline uintptr_t thread_pointer(void)
{
	uintptr_t pointer;

#if defined(__x86_64__)
	__asm__("mov %%fs:0, %0" : "=r"(pointer));
#elif defined(__aarch64__)
	__asm__("mrs %0, tpidr_el0" : "=r"(pointer));
#else
	pointer = 0; /* no stacks */
#endif
	return pointer;
}

/* Returns up to where memory is mapped from `low` on, but not more than `high`. */
static uintptr_t find_unmapped(uintptr_t low, uintptr_t high)
{
	uintptr_t at = low & ~(uintptr_t)(OWN_STACK_PAGE_BYTES - 1);

	while (at < high && own_stack_is_readable(at)) {
		at += OWN_STACK_PAGE_BYTES;
	}
	return at < high ? at : high;
}

static bool is_mapped(uintptr_t low, uintptr_t high)
{
	return high - low <= MAX_BYTES && find_unmapped(low, high) == high;
}

static uintptr_t end_of(uintptr_t known)
{
	return known & 1 ? state.main_high : thread_pointer();
}

/* Finds the end of the stack that `sp` is on, 0 if it is not the thread's own. */
static __attribute__((noinline)) uintptr_t look_for_end(uintptr_t sp)
{
	uintptr_t low = sp & ~(uintptr_t)(OWN_STACK_PAGE_BYTES - 1), known = known_low;
	uintptr_t end = known > sp && !(known & 1) ? known : thread_pointer();
	TARGET_KEEP_ERRNO;

	if (nr_failed == NR_FAILED) {
		return 0;
	}
	if (sp >= state.main_low && sp < state.main_high && syscall(SYS_gettid) == getpid()) {
		known_low = state.main_low | 1;
		return state.main_high;
	}
	if (sp < end && is_mapped(low, end)) {
		known_low = low;
		return thread_pointer();
	}
	nr_failed++;
	return 0;
}

static inline uintptr_t find_end(uintptr_t sp)
{
	uintptr_t known = known_low, end = end_of(known);

	return known && sp >= (known & ~(uintptr_t)1) && sp < end ? end : look_for_end(sp);
}

/* ---- copies ---- */

/*
 * The stack of a coroutine that lies below the thread's own looks like a part of that, and what is
 * between them may have been unmapped since. A known stack is read without such a look: where the
 * words before are the same, the next one is the return address of a frame that is there.
 */
static uint64_t count_bytes(const struct stack_view *view)
{
	uint64_t nr_bytes = view->nr_bytes < CALL_STACK_BYTES ? view->nr_bytes : CALL_STACK_BYTES;
	uintptr_t end = find_unmapped(view->sp, view->sp + nr_bytes);

	return end > view->sp ? end - view->sp : 0;
}

/* It does what memcpy would, which sanitizers forbid to read frames of callers. */
__attribute__((no_sanitize("address", "thread"))) static void copy_stack(
	struct call_stack_slot *slot, const struct stack_view *view)
{
	const volatile uint64_t *from = (const volatile uint64_t *)(uintptr_t)view->sp;
	uint64_t nr_bytes = count_bytes(view);

	for (uint64_t i = 0; i < nr_bytes / sizeof(*from); i++) {
		slot->bytes[i] = from[i];
	}
	slot->view = *view;
	slot->view.nr_bytes = nr_bytes & ~(sizeof(*from) - 1);
}

/* Returns a slot that nobody uses, and the number of a copy; NULL if these few are all in use. */
static struct call_stack_slot *take_slot(uint32_t *number)
{
	for (uint32_t i = 0; i < NR_TRIES; i++) {
		uint32_t before = CALL_STACK_FREE;
		struct call_stack_slot *slot;

		*number = atomic_fetch_add(&state.stacks->nr_copies, 1) | GPROF_STACK_OF_COPY;
		slot = &state.stacks->slots[*number % CALL_STACK_SLOTS];
		if (atomic_compare_exchange_strong(&slot->state, &before, CALL_STACK_TAKEN)) {
			return slot;
		}
	}
	return NULL;
}

static __attribute__((noinline)) uint32_t take_copy(const struct stack_view *view, uint64_t pc)
{
	uint64_t now = clock_raw(), first = now - state.first_raw, cost;
	uint32_t number;
	struct call_stack_slot *slot = NULL;
	TARGET_KEEP_ERRNO;

	next_raw = (int64_t)(next_raw - first) < 0 ? first : next_raw;
	if ((int64_t)(next_raw - now) < 0) {
		slot = take_slot(&number);
	}
	if (!slot) {
		call_stack_miss(LOSS_STACK_NEW);
		return 0;
	}
	slot->number = number;
	slot->unloads = atomic_load(&state.stacks->unloads);
	slot->pc = pc;
	copy_stack(slot, view);
	atomic_store_explicit(&slot->state, CALL_STACK_FULL, memory_order_release);
	if (number % WAKE_COPIES == 0) {
		ring_wake();
	}
	cost = (clock_raw() - now) * COST_PARTS; /* more if the thread lost its CPU meanwhile */
	next_raw += cost < state.first_raw ? cost : state.first_raw;
	return number;
}

/* The registers here, from which the walk begins; frames of gprof are left out of the stack. */
__attribute__((noinline, no_sanitize("thread"))) uint32_t call_stack_take(void)
{
	struct stack_view view = {0};
	uint64_t pc;
	uintptr_t end;
	uint32_t stack = 0;

	/* Where none are taken, a clock that went back by one looks like the longest call. */
	if (atomic_load_explicit(&call_stack_min_raw, memory_order_relaxed) == UINT64_MAX) {
		return 0;
	}
#if defined(__aarch64__)
	__asm__ volatile("mov %0, sp\n\tmov %1, x29\n\tmov %2, x30\n\tadr %3, ."
			 : "=&r"(view.sp), "=&r"(view.registers[STACK_FP]),
			 "=&r"(view.registers[STACK_RA]), "=&r"(pc));
#elif defined(__x86_64__)
	__asm__ volatile("mov %%rsp, %0\n\tmov %%rbp, %1\n\tmov %%rbx, %2\n\tlea 0(%%rip), %3"
			 : "=m"(view.sp), "=m"(view.registers[STACK_FP]),
			 "=m"(view.registers[STACK_BX]), "=&r"(pc));
#else
	pc = 0;
#endif
	end = find_end(view.sp);
	if (!end) {
		call_stack_miss(LOSS_STACK_PLACE);
		return 0;
	}
	view.nr_bytes = end - view.sp;
	if (atomic_load_explicit(&state.stacks->unloads, memory_order_acquire) ==
		atomic_load_explicit(&state.stacks->known_unloads, memory_order_acquire)) {
		stack = stack_recipes_find(&state.stacks->recipes, &view);
	}
	return stack ? stack : take_copy(&view, pc);
}

void call_stack_unload(void)
{
	if (state.stacks) {
		atomic_fetch_add(&state.stacks->unloads, 1);
	}
}

/* ---- the drain ---- */

static uint64_t raw_of(uint64_t ns, uint64_t tick_mult)
{
	return (uint64_t)(((unsigned __int128)ns << 32) / tick_mult);
}

static void find_main_stack(void)
{
	uintptr_t low, high;

	if (own_stack_of_main(&low, &high)) {
		state.main_low = low & ~(uintptr_t)1;
		state.main_high = high & ~(uintptr_t)(sizeof(uint64_t) - 1);
	}
}

struct call_stacks *call_stack_start(uint64_t min_ns, uint64_t tick_mult)
{
	if (!state.stacks) {
		state.stacks = memory_map(sizeof(*state.stacks));
	}
	if (!state.stacks) {
		return NULL;
	}
	memory_touch(state.stacks->recipes.exits, sizeof(state.stacks->recipes.exits));
	memory_touch(state.stacks->slots, sizeof(state.stacks->slots));
	stack_recipes_forget(&state.stacks->recipes);
	find_main_stack();
	state.first_raw = raw_of(FIRST_NS, tick_mult);
	atomic_store(&call_stack_min_raw, min_ns ? raw_of(min_ns, tick_mult) : 0);
	return state.stacks;
}

void call_stack_stop(void)
{
	atomic_store(&call_stack_min_raw, UINT64_MAX);
}

void call_stack_forget(void)
{
	call_stack_stop();
	if (state.stacks) {
		for (uint32_t i = 0; i < CALL_STACK_SLOTS; i++) {
			atomic_store(&state.stacks->slots[i].state, CALL_STACK_FREE);
		}
		atomic_store(&state.stacks->known_unloads, atomic_load(&state.stacks->unloads));
		atomic_store(&state.stacks->nr_missed, 0);
	}
}
