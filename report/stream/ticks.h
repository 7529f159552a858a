/* SPDX-License-Identifier: Apache-2.0 */
/* Times of the raw CPU clock, as rings and some facts have them, and ticks, as tables have them. */
#ifndef REPORT_STREAM_TICKS_H
#define REPORT_STREAM_TICKS_H

#include "collector/format/format.h"

static inline uint64_t ticks_of_raw(const struct gprof_file_header *header, uint64_t raw)
{
	return (uint64_t)(((unsigned __int128)(raw - header->tick_base) * header->tick_mult) >> 32);
}

#endif
