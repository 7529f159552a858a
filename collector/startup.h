/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must be there before the first event: settings from a file, the stream, the rings, the
 * schema. All that touches a file system happens here, on the drain thread, since a file system
 * may hang and the host must not.
 */
#ifndef COLLECTOR_STARTUP_H
#define COLLECTOR_STARTUP_H

#include "collector/format/block.h"
#include "collector/util/config.h"

/* The drain thread, first thing. Fills `ticks`. Returns 0 or -errno: nothing can be recorded. */
int startup_run(struct block_ticks *ticks);

/*
 * The variable whose file or directory startup_run is busy with, CONFIG_NR for none. Any thread:
 * who has to go on without the recorder can say what did not answer.
 */
enum config_name startup_waits_for(void);

/* What the rings take: half of GPROF_BUFFER_MB, less where the host's memory is limited. */
uint64_t startup_ring_bytes(void);

/* The stream is closed: removes the file of the rings. The drain thread, last thing. */
void startup_undo(void);

#endif
