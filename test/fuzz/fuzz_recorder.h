/* SPDX-License-Identifier: Apache-2.0 */
/* What the targets of the recorder share. */
#ifndef TEST_FUZZ_FUZZ_RECORDER_H
#define TEST_FUZZ_FUZZ_RECORDER_H

/* No variable of ours is set but these, which keep the recorder quiet. */
void fuzz_recorder_clean(void);

/*
 * What the recorder does with settings once they are taken: each must be in its range, whatever was
 * set, each complaint be one line, and steps and schedules be parsed.
 */
void fuzz_recorder_use_settings(void);

#endif
