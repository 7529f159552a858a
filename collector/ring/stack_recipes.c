/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words and exits are only added, and an exit is visible after the words that it leads to. So a
 * thread that finds needs no lock. Only stack_recipes_forget writes what threads may be reading,
 * and changes the era, by which they notice.
 */
#include "collector/ring/stack_recipes.h"

#include "collector/util/hash.h"

/* ThreadSanitizer does not know fences; it finds races of other variables without them. */
#ifdef __SANITIZE_THREAD__
#define FENCE(order) atomic_signal_fence(order)
#else
#define FENCE(order) atomic_thread_fence(order)
#endif

/* An exit lies so many places after its own at most; at half the room, hardly any needs four. */
#define MAX_PROBES 16u
#define MAX_EXITS  (STACK_RECIPES_EXITS / 2)

static uint32_t place_of(uint32_t from, uint64_t value)
{
	return (uint32_t)(hash_mix(value, from) >> 16) % STACK_RECIPES_EXITS;
}

/* Returns where the exit leads, 0 if there is none. */
static uint32_t find_exit(const struct stack_recipes *recipes, uint32_t from, uint64_t value)
{
	uint32_t place = place_of(from, value);

	for (uint32_t i = 0; i < MAX_PROBES; i++) {
		const struct stack_recipe_exit *exit =
			&recipes->exits[(place + i) % STACK_RECIPES_EXITS];
		uint64_t from_to = atomic_load_explicit(&exit->from_to, memory_order_acquire);

		if (!from_to) {
			break;
		}
		if (from_to >> 32 == from &&
			atomic_load_explicit(&exit->value, memory_order_relaxed) == value) {
			return (uint32_t)from_to;
		}
	}
	return 0;
}

/*
 * Reads what stands at that place of the stack, which belongs to frames of callers. Sanitizers
 * forbid that.
 */
__attribute__((no_sanitize("address", "thread"))) static bool read_place(
	const struct stack_view *view, uint32_t at, uint64_t *value)
{
	uint32_t place = at & ~STACK_RECIPE_ADDRESS;

	if (place & STACK_WORD_REGISTER) {
		place &= ~STACK_WORD_REGISTER;
		if (place >= STACK_NR_REGISTERS) {
			return false;
		}
		*value = view->registers[place];
	} else {
		if (view->nr_bytes < sizeof(*value) || place > view->nr_bytes - sizeof(*value)) {
			return false;
		}
		*value = *(const uint64_t *)(uintptr_t)(view->sp + place);
	}
	*value = at & STACK_RECIPE_ADDRESS ? *value - view->sp : stack_code_address(*value);
	return true;
}

/*
 * Goes along a run while the stack has its words. Most are return addresses, and most stacks are
 * known, so this loop is what a stack costs. The last word of the array is an end, which stays.
 */
__attribute__((no_sanitize("address", "thread"))) static const struct stack_recipe_word *follow(
	const struct stack_recipe_word *word, const struct stack_view *view, uint32_t last)
{
	for (;; word++) {
		uint32_t at = atomic_load_explicit(&word->at, memory_order_relaxed);
		uint64_t value;

		if (at > last) {
			return word; /* no return address, or not in the stack */
		}
		value = stack_code_address(*(const uint64_t *)(uintptr_t)(view->sp + at));
		if (value != atomic_load_explicit(&word->value, memory_order_relaxed)) {
			return word;
		}
	}
}

/* The last place of a return address. */
static uint32_t last_place(const struct stack_view *view)
{
	uint64_t last = view->nr_bytes - sizeof(uint64_t);

	return last < STACK_RECIPE_ADDRESS ? (uint32_t)last : STACK_RECIPE_ADDRESS - 1;
}

static uint32_t find(const struct stack_recipes *recipes, const struct stack_view *view)
{
	const struct stack_recipe_word *word = recipes->words;
	uint32_t last = last_place(view);

	for (uint32_t nr = 0; nr <= STACK_MAX_WORDS; nr++) {
		uint64_t wanted, value;
		uint32_t at, to;

		word = follow(word, view, last);
		at = atomic_load_explicit(&word->at, memory_order_relaxed);
		wanted = atomic_load_explicit(&word->value, memory_order_relaxed);
		if (at == STACK_RECIPE_END) {
			return (uint32_t)wanted;
		}
		if (!read_place(view, at, &value)) {
			return 0;
		}
		if (value == wanted) {
			word++;
			continue;
		}
		to = find_exit(recipes, (uint32_t)(word - recipes->words), value);
		if (!to) {
			return 0;
		}
		word = recipes->words + to;
	}
	return 0;
}

uint32_t stack_recipes_find(const struct stack_recipes *recipes, const struct stack_view *view)
{
	uint32_t era = atomic_load_explicit(&recipes->era, memory_order_acquire), found;

	if (view->nr_bytes < sizeof(uint64_t)) {
		return 0;
	}
	found = find(recipes, view);
	FENCE(memory_order_acquire);
	return era & 1 || era != atomic_load_explicit(&recipes->era, memory_order_relaxed) ? 0
											   : found;
}

/* ---- adding ---- */

static uint32_t code_at(const struct stack_word *word)
{
	return word->at | (word->is_address ? STACK_RECIPE_ADDRESS : 0);
}

/* Can a thread look for these? Words of the stack are aligned where compilers made the code. */
static bool is_usable(const struct stack_words *words)
{
	for (uint32_t i = 0; i < words->nr; i++) {
		uint32_t at = words->all[i].at;

		if (at & STACK_WORD_REGISTER ? (at & ~STACK_WORD_REGISTER) >= STACK_NR_REGISTERS
					     : at & STACK_RECIPE_ADDRESS || at % 8) {
			return false;
		}
	}
	return words->is_whole && words->nr;
}

static void put_word(struct stack_recipes *recipes, uint32_t at, uint64_t value)
{
	struct stack_recipe_word *word = &recipes->words[recipes->nr_words++];

	atomic_store_explicit(&word->value, value, memory_order_relaxed);
	atomic_store_explicit(&word->at, at, memory_order_relaxed);
}

static bool put_exit(struct stack_recipes *recipes, uint32_t from, uint64_t value, uint32_t to)
{
	uint32_t place = place_of(from, value);

	for (uint32_t i = 0; i < MAX_PROBES && recipes->nr_exits < MAX_EXITS; i++) {
		struct stack_recipe_exit *exit = &recipes->exits[(place + i) % STACK_RECIPES_EXITS];

		if (!atomic_load_explicit(&exit->from_to, memory_order_relaxed)) {
			atomic_store_explicit(&exit->value, value, memory_order_relaxed);
			atomic_store_explicit(
				&exit->from_to, (uint64_t)from << 32 | to, memory_order_release);
			recipes->nr_exits++;
			return true;
		}
	}
	return false;
}

/* The words from `first` on, behind all others. */
static void put_run(struct stack_recipes *recipes, const struct stack_words *words, uint32_t first,
	uint32_t stack)
{
	for (uint32_t i = first; i < words->nr; i++) {
		put_word(recipes, code_at(&words->all[i]), words->all[i].value);
	}
	put_word(recipes, STACK_RECIPE_END, stack);
}

static void begin_change(struct stack_recipes *recipes)
{
	atomic_fetch_add_explicit(&recipes->era, 1, memory_order_relaxed);
	FENCE(memory_order_release);
}

static void end_change(struct stack_recipes *recipes)
{
	atomic_fetch_add_explicit(&recipes->era, 1, memory_order_release);
}

/* The first words of all are read by threads that have found no exit. */
static bool put_first(
	struct stack_recipes *recipes, const struct stack_words *words, uint32_t stack)
{
	begin_change(recipes);
	put_run(recipes, words, 0, stack);
	end_change(recipes);
	return true;
}

/*
 * Follows the recipe as far as it is known. The same words lead to the same next place, so it never
 * leaves the run at a place of another kind.
 */
bool stack_recipes_add(
	struct stack_recipes *recipes, const struct stack_words *words, uint32_t stack)
{
	uint32_t from = 0, i = 0, to;

	if (!is_usable(words)) {
		return true;
	}
	if (recipes->nr_words + words->nr + 1 > STACK_RECIPES_WORDS) {
		return false;
	}
	if (!recipes->nr_words) {
		return put_first(recipes, words, stack);
	}
	for (; i < words->nr; i++) {
		struct stack_recipe_word *word = &recipes->words[from];
		uint64_t value = words->all[i].value;

		if (atomic_load(&word->at) != code_at(&words->all[i])) {
			return true; /* the code has changed: it is not worth a recipe */
		}
		if (atomic_load(&word->value) == value) {
			from++;
			continue;
		}
		to = find_exit(recipes, from, value);
		if (!to) {
			to = recipes->nr_words;
			put_run(recipes, words, i + 1, stack);
			return put_exit(recipes, from, value, to);
		}
		from = to;
	}
	return true; /* two threads have asked for it at once */
}

static void put_end(struct stack_recipe_word *word)
{
	atomic_store_explicit(&word->at, STACK_RECIPE_END, memory_order_relaxed);
	atomic_store_explicit(&word->value, 0, memory_order_relaxed);
}

void stack_recipes_forget(struct stack_recipes *recipes)
{
	begin_change(recipes);
	recipes->nr_words = recipes->nr_exits = 0;
	put_end(&recipes->words[0]);
	put_end(&recipes->words[STACK_RECIPES_WORDS]);
	for (uint32_t i = 0; i < STACK_RECIPES_EXITS; i++) {
		atomic_store_explicit(&recipes->exits[i].from_to, 0, memory_order_relaxed);
	}
	end_change(recipes);
}
