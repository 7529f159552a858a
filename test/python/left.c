/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jumps out of Python's calls, as a signal handler or a library with its own errors does. It
 * restores the interpreter's state of the thread, so that Python itself goes on. It also calls
 * Python on other stacks, as libraries of coroutines do.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STATE_BYTES 128u
#define FAR_BYTES   (128u << 20) /* between stacks */

static jmp_buf place;

/* Calls it; returns 1 if it was left by jump(). */
int run(void (*callback)(void))
{
	void *(*get)(void);
	char before[STATE_BYTES];
	void *state;

	*(void **)&get = dlsym(RTLD_DEFAULT, "PyThreadState_Get");
	state = get();
	memcpy(before, state, STATE_BYTES);
	if (!setjmp(place)) {
		callback();
		return 0;
	}
	memcpy(get(), before, STATE_BYTES);
	return 1;
}

void jump(void)
{
	longjmp(place, 1);
}

void elsewhere(void (*callback)(void))
{
	void *stack = mmap(NULL, FAR_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ucontext_t here, there;

	if (stack == MAP_FAILED || getcontext(&there)) {
		return;
	}
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = FAR_BYTES;
	there.uc_link = &here;
	makecontext(&there, callback, 0);
	swapcontext(&here, &there);
	munmap(stack, FAR_BYTES);
}
