/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drain walks the copies before it reads the rows that have their numbers, or when such a row
 * comes: the thread has filled its slot before it wrote the row.
 */
#include "collector/sample/launch_stack.h"

#include <string.h>

#include "collector/ring/call_stack.h"
#include "collector/ring/os_counts.h"
#include "collector/sample/code_map.h"
#include "collector/sample/native_stack.h"
#include "collector/sample/stack_walk.h"
#include "collector/stream/dictionary.h"
#include "collector/stream/facts.h"
#include "collector/util/clock.h"
#include "collector/util/config.h"
#include "collector/util/notice.h"
#include "collector/util/own_code.h"

/* Copies whose numbers may still be in rows of rings. */
#define NR_DONE 4096u
/* Shorter calls have no stack, unless all have: a known stack costs less than 1 % of that. */
#define MIN_NS 10000u
/* The drain looks again so soon after a look that found copies, and later after one that did not.
 */
#define LOOK_NS	    2000000u
#define LOOK_MAX_NS 100000000u
/* Walks take at most this part of the drain's time, ... */
#define COST_PARTS 10u
/* ... and at first as much as of so long a time. */
#define FIRST_NS 2000000000u

static struct launch_stack_state {
	struct call_stacks *stacks; /* NULL: none are taken */
	bool is_on;
	uint32_t code_era, dictionary_era; /* of the recipes */
	uint32_t first_unloads;		   /* copies that were taken before it are not valid */
	uint64_t due_ns, pause_ns;
	uint64_t next_ns; /* before it, no slot is free again */
	struct {
		uint32_t number, id; /* of a copy, and of its stack */
	} done[NR_DONE];
} state;

/* As for the calls of libgprof-os.so, stacks that nobody asked for come with CPU samples only. */
static bool is_wanted(void)
{
	return config_number(CONFIG_LAUNCH_STACKS) != LAUNCH_STACKS_OFF &&
	       !config_flag(CONFIG_TIMER_ONLY) &&
	       (config_is_given(CONFIG_LAUNCH_STACKS) || config_number(CONFIG_CPU_HZ));
}

static void forget_recipes(void)
{
	stack_recipes_forget(&state.stacks->recipes);
	state.code_era = code_map_era();
	state.dictionary_era = dictionary_era();
}

void launch_stack_init(uint64_t tick_mult)
{
	bool is_all = config_number(CONFIG_LAUNCH_STACKS) == LAUNCH_STACKS_ALL;
	static atomic_uint told_in;

	if (!is_wanted()) {
		return;
	}
	if (!stack_walk_init()) {
		if (config_is_given(CONFIG_LAUNCH_STACKS)) {
			notice_add("no C stacks", 0,
				"C stacks of calls are not recorded: the system forbids "
				"process_vm_readv (seccomp), or memory is short. Allow it");
		}
		return;
	}
	if (native_stack_is_on() || !native_stack_init()) {
		state.stacks = call_stack_start(is_all ? 0 : MIN_NS, tick_mult);
	}
	if (!state.stacks) {
		notice_no_memory(&told_in, "C stacks of calls");
		return;
	}
	state.stacks->counts_losses = config_is_given(CONFIG_LAUNCH_STACKS);
	state.pause_ns = LOOK_NS;
	state.is_on = true;
}

/*
 * What a recipe says is true only as long as the same code is at its addresses. Most calls of
 * dlclose unload nothing.
 */
static void look_at_code(void)
{
	uint32_t unloads = atomic_load(&state.stacks->unloads);

	code_map_look();
	if (state.code_era != code_map_era()) {
		state.first_unloads = unloads + (unloads & 1); /* odd: one is under way */
	}
	if (state.code_era != code_map_era() || state.dictionary_era != dictionary_era()) {
		forget_recipes();
	}
	atomic_store(&state.stacks->known_unloads, unloads);
}

/* Was its code there when it was copied, and as long as it was walked? */
static bool is_valid(const struct call_stack_slot *slot)
{
	return (int32_t)(slot->unloads - state.first_unloads) >= 0 &&
	       atomic_load(&state.stacks->unloads) == atomic_load(&state.stacks->known_unloads);
}

static bool is_ours(uint64_t address)
{
	return own_code_has(address) || os_counts_is_code(address);
}

/* Returns the id of the stack, 0 if it is unknown. */
static uint32_t walk(const struct call_stack_slot *slot)
{
	struct stack_copy copy = {.pc = slot->pc,
		.bytes = (const uint8_t *)slot->bytes,
		.nr_bytes = slot->view.nr_bytes};
	static struct stack_words words;
	uint64_t addresses[CODE_MAP_MAX_FRAMES];
	uint32_t nr, nr_ours = 0, id;
	bool is_cut;

	memcpy(copy.registers, slot->view.registers, sizeof(slot->view.registers));
	copy.registers[FRAME_SP] = slot->view.sp;
	nr = stack_walk(&copy, addresses, CODE_MAP_MAX_FRAMES, &is_cut, &words);
	while (nr_ours < nr && is_ours(addresses[nr_ours])) {
		nr_ours++; /* the innermost frames */
	}
	id = code_map_stack(addresses + nr_ours, nr - nr_ours, is_cut);
	if (!is_valid(slot) || !launch_stack_is_id(id)) {
		call_stack_miss(LOSS_STACK_NEW);
		return 0;
	}
	if (!stack_recipes_add(&state.stacks->recipes, &words, id)) {
		forget_recipes(); /* those that are still in use are added anew */
	}
	return id;
}

/* Returns how many copies are there, with their slots. */
static uint32_t find_copies(struct call_stack_slot *copies[CALL_STACK_SLOTS])
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < CALL_STACK_SLOTS; i++) {
		struct call_stack_slot *slot = &state.stacks->slots[i];

		if (atomic_load_explicit(&slot->state, memory_order_acquire) == CALL_STACK_FULL) {
			copies[nr++] = slot;
		}
	}
	return nr;
}

/* A program whose every stack is new would otherwise keep the drain busy with them. */
static void free_slots(uint64_t now_ns)
{
	for (uint32_t i = 0; i < CALL_STACK_SLOTS && now_ns >= state.next_ns; i++) {
		struct call_stack_slot *slot = &state.stacks->slots[i];

		if (atomic_load_explicit(&slot->state, memory_order_relaxed) == CALL_STACK_WALKED) {
			atomic_store_explicit(&slot->state, CALL_STACK_FREE, memory_order_release);
		}
	}
}

static void pay(uint64_t now_ns, uint64_t cost_ns)
{
	uint64_t first_ns = now_ns > FIRST_NS ? now_ns - FIRST_NS : 0;

	state.next_ns = state.next_ns > first_ns ? state.next_ns : first_ns;
	state.next_ns += cost_ns * COST_PARTS;
}

static void walk_these(struct call_stack_slot *const *copies, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t number = copies[i]->number, at = number % NR_DONE;

		state.done[at].id = walk(copies[i]);
		state.done[at].number = number;
		atomic_store_explicit(&copies[i]->state, CALL_STACK_WALKED, memory_order_relaxed);
	}
}

/* Copies come first, then the look at the code: a later copy may have code that it did not see. */
static bool walk_all(void)
{
	struct call_stack_slot *copies[CALL_STACK_SLOTS];
	uint32_t nr = find_copies(copies);
	uint64_t now_ns = clock_monotonic_ns(), before_ns;

	if (nr) {
		before_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
		look_at_code();
		walk_these(copies, nr);
		pay(now_ns, clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns);
	}
	free_slots(now_ns);
	return nr > 0;
}

/* A thread may have woken the drain before a look is due. */
void launch_stack_look(uint64_t now_ns)
{
	if (state.is_on) {
		if (!state.code_era) {
			look_at_code(); /* before a library can be unloaded */
		}
		state.pause_ns = walk_all() ? LOOK_NS : state.pause_ns * 2;
		state.pause_ns = state.pause_ns < LOOK_MAX_NS ? state.pause_ns : LOOK_MAX_NS;
		state.due_ns = now_ns + state.pause_ns;
		state.due_ns = state.due_ns > state.next_ns ? state.due_ns : state.next_ns;
	}
}

uint64_t launch_stack_due_ns(void)
{
	return state.is_on ? state.due_ns : UINT64_MAX;
}

uint32_t launch_stack_id(uint32_t stack)
{
	uint32_t at = stack % NR_DONE;

	if (state.done[at].number != stack && state.is_on) {
		walk_all();
	}
	if (state.done[at].number != stack) {
		call_stack_miss(LOSS_STACK_NEW);
		return 0;
	}
	return state.done[at].id;
}

void launch_stack_end(void)
{
	call_stack_stop();
	if (state.is_on) {
		walk_all();
		state.is_on = false;
		facts_add_number("call_stacks.missing", atomic_load(&state.stacks->nr_missed));
	}
}

void launch_stack_forget(void)
{
	call_stack_forget();
	if (state.stacks) {
		memset(&state, 0, sizeof(state));
		code_map_forget();
	}
}
