/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of views over time share: random work on devices, with the calls that launched it
 * and steps, as a stream and as an array that a plain second computation can walk. Times are ns
 * from 0 on; a stream has them from SCENE_BASE_NS on, on every clock.
 */
#ifndef TEST_UNIT_REPORT_SCENE_H
#define TEST_UNIT_REPORT_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#define SCENE_BASE_NS 1000000000ull
#define SCENE_WORKS   120u
#define SCENE_STEPS   5u
#define SCENE_DEVICES 2u
#define SCENE_STREAMS 3u
#define SCENE_TIMES   6000u

enum scene_kind {
	SCENE_COMPUTATION,
	SCENE_COMMUNICATION,
	SCENE_COPY,
};

struct scene_work {
	uint64_t begin, end;
	uint64_t call_begin, call_end;
	uint64_t bytes; /* of a copy */
	uint32_t device, stream, thread;
	uint32_t correlation;
	uint8_t kind; /* enum scene_kind */
	uint8_t name; /* of a computation: kernel 0 to 3 */
	bool has_call;
};

struct scene {
	struct scene_work works[SCENE_WORKS]; /* by the begin of the call */
	uint32_t nr_activities;
	uint64_t steps[SCENE_STEPS]; /* where step 10, 11 ... begin */
};

/*
 * Streams are worked off in order: what is launched first begins first; on one stream nothing
 * overlaps unless is_overlapping.
 */
void scene_make(struct scene *scene, uint64_t *seed, bool is_overlapping);

/* Its stream, in the test's directory; blocks are small, and records stand where they may. */
const char *scene_write(const struct scene *scene, const char *name, uint64_t *seed);

#endif
