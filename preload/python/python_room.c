/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C library knows the limits of its threads, but allocates memory to tell them. So pages below
 * are tried by a call of the kernel, which refuses to read the page that guards the end of a stack.
 * The main thread's stack grows into what is not mapped yet, up to its limit.
 */
#include "preload/python/python_room.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/util/target.h"

#define PAGE_BITS      12u
#define PAGE_BYTES     (1u << PAGE_BITS)
#define MAX_BYTES      (512u << 10) /* below which we do not look */
#define MAX_MAIN_BYTES (64u << 20)

/*
 * The pages of a stack, as far as they are known, in one word, since signals may come in between.
 */
#define NR_BITS 24u
_Static_assert(MAX_MAIN_BYTES / PAGE_BYTES < 1u << NR_BITS, "fits");

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
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
	uintptr_t top = getauxval(AT_EXECFN); /* the kernel writes it at the upper end */

	getrlimit(RLIMIT_STACK, &limit);
	if (limit.rlim_cur > MAX_MAIN_BYTES) {
		limit.rlim_cur = MAX_MAIN_BYTES;
	}
	if (top > limit.rlim_cur) {
		main_stack = pack(top - limit.rlim_cur + PAGE_BYTES, top);
	}
}

/* The kernel reads the signals before it refuses to do with them what it does not know. */
static bool is_readable(uintptr_t at)
{
	return syscall(SYS_rt_sigprocmask, -1L, at, NULL, 8ul) != -1 || errno != EFAULT;
}

static uint64_t look(uintptr_t here)
{
	uintptr_t floor = here & ~(uintptr_t)(PAGE_BYTES - 1);
	TARGET_KEEP_ERRNO;

	if (syscall(SYS_gettid) == getpid() && is_in(main_stack, here)) {
		return main_stack;
	}
	while (here - floor < MAX_BYTES && is_readable(floor - PAGE_BYTES)) {
		floor -= PAGE_BYTES;
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
