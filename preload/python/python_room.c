/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages below the stack pointer are tried one by one, but for the main thread's, which grow into
 * what is not mapped yet.
 */
#include "preload/python/python_room.h"

#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/ring/own_stack.h"
#include "collector/util/target.h"

#define PAGE_BITS 12u
#define MAX_BYTES (512u << 10) /* below which we do not look */

/*
 * The pages of a stack, as far as they are known, in one word, since signals may come in between.
 */
#define NR_BITS 24u
_Static_assert(OWN_STACK_PAGE_BYTES == 1u << PAGE_BITS, "bits of a page");
_Static_assert(OWN_STACK_MAX_MAIN_BYTES >> PAGE_BITS < 1u << NR_BITS, "fits");

static __thread uint64_t known __attribute__((tls_model("initial-exec")));
static uint64_t main_stack;

static uint64_t pack(uintptr_t floor, uintptr_t here)
{
	uint64_t first = floor >> PAGE_BITS;

	return first << NR_BITS | ((here >> PAGE_BITS) + 1 - first);
}

static bool is_in(uint64_t pages, uintptr_t here)
{
	return (here >> PAGE_BITS) - (pages >> NR_BITS) < (pages & ((1u << NR_BITS) - 1));
}

void python_room_start(void)
{
	uintptr_t low, high;

	if (own_stack_of_main(&low, &high)) {
		main_stack = pack(low, high);
	}
}

static uint64_t look(uintptr_t here)
{
	uintptr_t floor = here & ~(uintptr_t)(OWN_STACK_PAGE_BYTES - 1);
	TARGET_KEEP_ERRNO;

	if (syscall(SYS_gettid) == getpid() && is_in(main_stack, here)) {
		return main_stack;
	}
	while (here - floor < MAX_BYTES && own_stack_is_readable(floor - OWN_STACK_PAGE_BYTES)) {
		floor -= OWN_STACK_PAGE_BYTES;
	}
	return pack(floor, here);
}

uint32_t python_room(uintptr_t here)
{
	uint64_t pages = known;

	if (__builtin_expect(!is_in(pages, here), 0)) {
		known = pages = look(here);
	}
	return (uint32_t)(here - (pages >> NR_BITS << PAGE_BITS));
}
