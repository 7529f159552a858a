/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jumps out of Python's calls, as a signal handler or a library with errors of its own does. What
 * the interpreter knows of the thread is put back, so that Python itself goes on.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <string.h>

#define STATE_BYTES 128u

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
