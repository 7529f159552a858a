/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at who holds Python's lock (GIL), and where: rows of table gil_sample. CPU samples do not
 * say it: a thread that runs may have released the lock, and one that waits in C code may keep it.
 * The target runs no instruction for it. For the drain thread.
 */
#ifndef COLLECTOR_SAMPLE_GIL_SAMPLE_H
#define COLLECTOR_SAMPLE_GIL_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/ring/python_frames.h"
#include "collector/util/clock.h"

struct gil_holder {
	uint32_t tid;	   /* 0: unknown */
	uint32_t py_stack; /* an id, or as in table cpu_sample */
	bool is_sure;	   /* it held the lock before and after its stack was read */
};

/* *holder counts if the lock is held. */
enum python_held gil_holder_find(const struct python_sampler *python, struct gil_holder *holder);

/*
 * To be called as often as waits are looked at: looks if it is time, and adds a row for the time
 * since the last look; the first one only begins. python: NULL if there is none. name_of: the name
 * of a thread, "" if unknown.
 */
void gil_sample_look(const struct python_sampler *python, const struct clock_anchor *now,
	const char *(*name_of)(uint32_t tid));

/* The next look is the first one. */
void gil_sample_stop(void);

#endif
