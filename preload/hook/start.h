/* SPDX-License-Identifier: Apache-2.0 */
/* What the start of the recorder takes of later folders, which this one does not know. */
#ifndef PRELOAD_HOOK_START_H
#define PRELOAD_HOOK_START_H

struct start_parts {
	void (*prepare)(void); /* before the recorder starts, or finds that it has */
	void (*report)(void);  /* after it */
};

/*
 * Defines them, once in the library. The linker brings them here, and no constructor: a hook may
 * run before any of ours.
 */
#define START_PARTS \
	static const struct start_parts parts __attribute__((section("gprof_start_parts"), used))

#endif
