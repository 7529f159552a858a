/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares everything before the first event: settings from a file, the stream, the rings, the
 * schema. All file system access is here, on the drain thread: a file system may hang, and the
 * target must not.
 */
#ifndef COLLECTOR_STARTUP_H
#define COLLECTOR_STARTUP_H

#include "collector/format/block.h"
#include "collector/util/config.h"

/*
 * Only the drain thread calls it, before all else. Fills `ticks`. Returns 0 or -errno: nothing can
 * be recorded.
 */
int startup_run(struct block_ticks *ticks);

/*
 * The variable whose file or directory startup_run waits for, CONFIG_NR for none. Any thread: for
 * the message of a process that must continue without the recorder.
 */
enum config_name startup_waits_for(void);

/* Size of the rings: half of GPROF_BUFFER_MB, less if the target's memory is limited. */
uint64_t startup_ring_bytes(void);

/*
 * Removes the file of the rings after the stream is closed. Only the drain thread calls it, after
 * all else.
 */
void startup_undo(void);

#endif
