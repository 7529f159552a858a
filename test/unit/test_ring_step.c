/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signal handler at each single instruction of a row's write, as a chunk gets full: it leaves, or
 * makes calls of its own, on any stack. Every row is read or counted, and none is overwritten.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "collector/ring/ring.h"
#include "collector/util/loss.h"
#include "test/unit/unit.h"

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)

#include <ucontext.h>

#define TRAP_FLAG   0x100
#define MAX_STEPS   2000
#define ROWS_A_STEP 600
/* A sanitizer turns one instruction into about five: there, every fifth is enough. */
#ifdef __SANITIZE_ADDRESS__
#define STRIDE 5
#else
#define STRIDE 1
#endif
#define MAX_ROWS    (MAX_STEPS * (ROWS_A_STEP + 800ul))
#define STACK_BYTES 65536u
#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif

struct row {
	struct gprof_row_head head;
	uint64_t number;
	uint64_t copy[6];
};

/* What the handler does, where it runs, and whether the drain reads before the thread goes on. */
enum what { LEAVES, WRITES, LEAVES_A_CALL_AND_WRITES };
static const struct scene {
	enum what what;
	bool is_apart; /* on a stack of its own above the thread's, which sigaltstack does not tell
			*/
	bool is_drained;
} scenes[] = {{LEAVES, false, false}, {LEAVES, false, true}, {WRITES, false, false},
	{WRITES, false, true}, {WRITES, true, false}, {LEAVES_A_CALL_AND_WRITES, false, false},
	{LEAVES_A_CALL_AND_WRITES, true, true}};

static const struct scene *scene;
static volatile uint64_t nr_made;
static unsigned char *is_read;
static uint64_t nr_read, nr_wrong;
static volatile int nr_traps, wanted_trap;
static volatile sig_atomic_t is_stepping;
static sigjmp_buf before_the_row, before_the_call;

/*
 * A trap takes microseconds, on a virtual machine tens of them. So only the first row of a scene is
 * stepped through from its begin. Later ones stop at a breakpoint near the wanted instruction, at
 * an address that the first one came to once. A row that does not come there has gone another way,
 * and the next one is stepped through instead.
 */
static struct {
	unsigned char *at[MAX_STEPS]; /* by trap: the instruction that comes next */
	int nr;
	unsigned char *breakpoint; /* NULL: none */
	unsigned char instead;	   /* of its first byte */
	int trap;		   /* that it stands for */
} path;

extern unsigned char __executable_start[], etext[];

static bool may_have_breakpoint(int trap)
{
	bool is_once = path.at[trap] >= __executable_start && path.at[trap] < etext;

	for (int i = 1; i <= path.nr && is_once; i++) {
		is_once = i == trap || path.at[i] != path.at[trap];
	}
	return is_once;
}

static void put_byte(unsigned char *at, unsigned char byte)
{
	unsigned char *page = (unsigned char *)((uintptr_t)at & ~4095ul);

	if (mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC)) {
		ck_abort_msg("the program's code cannot be changed");
	}
	*at = byte;
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static void set_breakpoint(int trap)
{
	for (trap = trap < path.nr ? trap : path.nr; trap > 0 && !path.breakpoint; trap--) {
		if (may_have_breakpoint(trap)) {
			path.breakpoint = path.at[trap];
			path.instead = *path.breakpoint;
			path.trap = trap;
			put_byte(path.breakpoint, 0xcc);
		}
	}
}

static bool clear_breakpoint(void)
{
	bool is_set = path.breakpoint != NULL;

	if (is_set) {
		put_byte(path.breakpoint, path.instead);
		path.breakpoint = NULL;
	}
	return is_set;
}

/* The thread goes on before the instruction, as after the trap that comes there. */
static bool came_to_breakpoint(greg_t *registers)
{
	if (!path.breakpoint || registers[REG_RIP] != (greg_t)(path.breakpoint + 1)) {
		return false;
	}
	registers[REG_RIP]--;
	registers[REG_EFL] |= TRAP_FLAG;
	nr_traps = path.trap;
	return clear_breakpoint();
}

/* The first row is not interrupted. */
static bool is_before_wanted(greg_t *registers)
{
	if (!came_to_breakpoint(registers)) {
		nr_traps++;
	}
	if (wanted_trap == MAX_STEPS && nr_traps < MAX_STEPS) {
		path.at[nr_traps] = (unsigned char *)registers[REG_RIP];
		path.nr = nr_traps;
	}
	return nr_traps < wanted_trap;
}

static void see(void *context, struct ring_thread *thread, const struct gprof_row_head *head)
{
	const struct row *row = (const struct row *)head;

	(void)context;
	(void)thread;
	if (head->table != GPROF_TABLE_api || row->number >= nr_made || is_read[row->number] ||
		row->copy[5] != row->number) {
		nr_wrong++;
		return;
	}
	is_read[row->number] = 1;
	nr_read++;
}

static void *drain_main(void *unused)
{
	ring_read(see, NULL);
	ring_release();
	return unused;
}

static void drain(void)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, drain_main, NULL), 0);
	pthread_join(thread, NULL);
}

/* One instruction, so that no handler comes between. */
static uint64_t make_number(void)
{
	return __atomic_fetch_add(&nr_made, 1, __ATOMIC_SEQ_CST);
}

/* A hooked call, as preload/hook/hook.h makes one. */
static __attribute__((noinline)) void call(bool is_left)
{
	struct ring_mark mark = {0};
	uint64_t number;
	struct row *row;

	if (ring_tls.frame && ring_is_left(ring_tls.frame, RING_STACK)) {
		ring_recover(&ring_tls, RING_STACK);
	}
	mark.before = ring_tls.frame;
	ring_tls.frame = (uintptr_t)&mark;
	atomic_signal_fence(memory_order_seq_cst);
	number = make_number();
	if (is_left) {
		siglongjmp(before_the_call, 1);
	}
	row = (struct row *)ring_reserve(&ring_tls, sizeof(*row));
	if (row) {
		row->head =
			(struct gprof_row_head){.bytes = sizeof(*row), .table = GPROF_TABLE_api};
		row->number = number;
		for (int i = 0; i < 6; i++) {
			row->copy[i] = number;
		}
		ring_commit(&ring_tls, row, sizeof(*row));
	}
	atomic_signal_fence(memory_order_seq_cst);
	if (ring_tls.frame == (uintptr_t)&mark) {
		ring_tls.frame = mark.before;
	} else {
		ring_came_back();
	}
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	(void)number;
	(void)info;
	if (is_stepping && is_before_wanted(interrupted->uc_mcontext.gregs)) {
		return;
	}
	interrupted->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	if (!is_stepping) {
		return;
	}
	is_stepping = 0;
	if (scene->what == LEAVES) {
		siglongjmp(before_the_row, 1);
	}
	if (scene->what == LEAVES_A_CALL_AND_WRITES && !sigsetjmp(before_the_call, 0)) {
		call(true);
	}
	call(false);
}

/* A call of which each instruction, or each after the breakpoint, is followed by a trap. */
static __attribute__((noinline)) void step_through_a_call(void)
{
	is_stepping = 1;
	if (!path.breakpoint) {
		__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; orq %0, (%%rsp); popfq; lea "
				 "128(%%rsp), %%rsp" ::"i"(TRAP_FLAG)
				 : "memory", "cc");
	}
	call(false);
	is_stepping = 0;
	__asm__ volatile("nop" ::: "memory");
}

static uint64_t count_rest(void)
{
	return ring_take_left() + ring_take_lost() + loss_take(LOSS_SIGNAL) +
	       loss_take(LOSS_DAMAGED);
}

/* Interrupts a row that no longer fits into the chunk. */
static void interrupt_a_row(bool is_from_breakpoint)
{
	for (uint64_t filled = 0;
		(uint64_t)(ring_tls.end - ring_tls.at) >= sizeof(struct row) || !filled; filled++) {
		call(false);
	}
	if (scene->is_drained) {
		drain();
	}
	nr_traps = 0;
	if (is_from_breakpoint) {
		set_breakpoint(wanted_trap);
	}
	if (!sigsetjmp(before_the_row, 1)) {
		step_through_a_call();
	}
}

/* Returns false once the call has fewer instructions. */
static bool interrupt_at(int step)
{
	static uint64_t nr_counted, nr_interrupts;
	uint64_t missing, spare;

	nr_interrupts++;
	wanted_trap = step;
	interrupt_a_row(step < MAX_STEPS);
	if (clear_breakpoint()) {
		interrupt_a_row(false);
	}
	if (scene->is_drained) {
		drain();
	}
	for (int i = 0; i < ROWS_A_STEP; i++) {
		call(false);
	}
	drain();
	/*
	 * What is left in its last instructions is read and counted. A call that is left in a
	 * handler is not counted where the call around it comes back, which was taken for left.
	 */
	missing = nr_made - nr_read;
	spare = scene->what == LEAVES_A_CALL_AND_WRITES ? nr_interrupts : 0;
	nr_counted += count_rest();
	if (nr_wrong || missing > nr_counted + spare || nr_counted > missing + nr_interrupts * 2) {
		ck_abort_msg("instruction %d: %lu rows wrong; %lu made, %lu read, %lu counted",
			step, nr_wrong, nr_made, nr_read, nr_counted);
	}
	return nr_traps >= step;
}

static void *interrupt_everywhere(void *stack)
{
	stack_t apart = {.ss_sp = stack, .ss_size = STACK_BYTES, .ss_flags = (int)SS_AUTODISARM};
	int step = 1 + (int)(scene - scenes) % STRIDE;

	if (scene->is_apart) {
		ck_assert_int_eq(sigaltstack(&apart, NULL), 0);
	}
	ck_assert(!interrupt_at(MAX_STEPS));
	while (step < MAX_STEPS && interrupt_at(step)) {
		step += STRIDE;
	}
	ck_assert_int_gt(step, 50);
	ck_assert_int_lt(step, MAX_STEPS);
	return NULL;
}

START_TEST(a_handler_at_each_instruction_of_a_row_spoils_nothing)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER};
	pthread_attr_t attributes;
	pthread_t thread;
	char *stacks;

	scene = &scenes[_i];
	action.sa_flags |= scene->is_apart ? SA_ONSTACK : 0;
	is_read = calloc(MAX_ROWS, 1);
	stacks = aligned_alloc(4096, 17 * STACK_BYTES);
	ck_assert(is_read && stacks);
	ck_assert_int_eq(ring_start(NULL, 1, 8 << 20), 0);
	sigaction(SIGTRAP, &action, NULL);
	pthread_attr_init(&attributes);
	/* The handler's stack lies right above it. */
	pthread_attr_setstack(&attributes, stacks, 16 * STACK_BYTES);
	ck_assert_int_eq(pthread_create(&thread, &attributes, interrupt_everywhere,
				 stacks + 16 * STACK_BYTES),
		0);
	pthread_join(thread, NULL);
	free(is_read);
	free(stacks);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = unit_make("ring_step", NULL, 0);

	unit_loop(suite, a_handler_at_each_instruction_of_a_row_spoils_nothing,
		sizeof(scenes) / sizeof(scenes[0]));
	return suite;
}

#else

Suite *unit_suite(void)
{
	unit_skip("a_handler_at_each_instruction_of_a_row_spoils_nothing",
		"instructions are stepped through on x86-64, without ThreadSanitizer");
	return unit_make("ring_step", NULL, 0);
}

#endif
