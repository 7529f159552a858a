/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognises stacks that were walked before. A walk depends on few words of a stack
 * (stack_walk.h): a thread that finds all of them again has the same frames, and need not walk.
 *
 *   drain:   stack_walk() --words--> stack_recipes_add()
 *   thread:  stack_recipes_find() --> the stack's id
 *
 * One thread adds. Others find at the same time, without a lock; what they read is only a hint
 * until the end, when they look whether all was forgotten meanwhile.
 */
#ifndef COLLECTOR_RING_STACK_RECIPES_H
#define COLLECTOR_RING_STACK_RECIPES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The registers that a thread knows have the numbers of enum frame_register below this. */
#define STACK_NR_REGISTERS 4u

/*
 * A walk depended on these values: its frames follow from them alone, while the code is the same.
 * So where a thread finds them again, its stack has the same frames.
 */
struct stack_word {
	uint32_t at; /* bytes above the stack pointer, or STACK_WORD_REGISTER + a register */
	bool is_address;
	uint64_t value; /* of code; is_address: bytes above the stack pointer */
};

#define STACK_WORD_REGISTER 0x80000000u
#define STACK_MAX_WORDS	    384u

struct stack_words {
	struct stack_word all[STACK_MAX_WORDS]; /* in the order in which they were needed */
	uint32_t nr;
	bool is_whole; /* all are here */
};

/*
 * A return address in the form that struct stack_word has: its signature, of pointer
 * authentication, is in the upper bits.
 */
static inline uint64_t stack_code_address(uint64_t address)
{
#ifdef __aarch64__
	return address & 0xffffffffffffu;
#else
	return address;
#endif
}

#define STACK_RECIPES_WORDS 65536u
#define STACK_RECIPES_EXITS 16384u

/*
 * A recipe is a run of words in `words`, up to one whose place is STACK_RECIPE_END, which has the
 * id. Where a stack differs from it, an exit leads to the run that other stacks have from there on.
 * So the words before are read once for all stacks that share them.
 */
struct stack_recipe_word {
	_Atomic uint64_t value;
	_Atomic uint32_t at; /* as in struct stack_word; see STACK_RECIPE_ADDRESS */
};

#define STACK_RECIPE_ADDRESS 0x40000000u /* in `at`: the value is one of the stack */
#define STACK_RECIPE_END     UINT32_MAX

/* It leads from the word `from` with that value, which is not the one there, to the word `to`. */
struct stack_recipe_exit {
	_Atomic uint64_t value;
	_Atomic uint64_t from_to; /* from << 32 | to; 0: none */
};

struct stack_recipes {
	_Atomic uint32_t era; /* odd: it is being changed */
	uint32_t nr_words, nr_exits;
	struct stack_recipe_word words[STACK_RECIPES_WORDS + 1]; /* the last is an end */
	struct stack_recipe_exit exits[STACK_RECIPES_EXITS];
};

/* The stack of a thread: its registers, and its bytes from the stack pointer on. */
struct stack_view {
	uint64_t sp, nr_bytes;
	uint64_t registers[STACK_NR_REGISTERS];
};

/* The id of the stack, 0: not known. Reads the stack itself; any thread, also in a handler. */
uint32_t stack_recipes_find(const struct stack_recipes *recipes, const struct stack_view *view);

/*
 * Adds a stack. Returns false if there is no room: then the caller should forget all. Words that no
 * thread can look for (is_whole is false, other registers) are left out: nothing is added.
 */
bool stack_recipes_add(
	struct stack_recipes *recipes, const struct stack_words *words, uint32_t stack);

/* Forgets all recipes. */
void stack_recipes_forget(struct stack_recipes *recipes);

#endif
