/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows that slices of device work stand in: a stream's first lane that is free by then. Work of
 * one stream may overlap (graphs, programmatic launches), and viewers drop slices that partly
 * overlap in one row.
 */
#ifndef REPORT_TIMELINE_JSON_ROW_H
#define REPORT_TIMELINE_JSON_ROW_H

#include "report/timeline/timeline.h"

/* Lanes of a stream; what overlaps more often shares the last one. */
#define TIMELINE_LANES 256u

struct timeline_rows;

struct timeline_rows *timeline_rows_create(void);
void timeline_rows_destroy(struct timeline_rows *rows);

/*
 * The tid in the file for a slice, which must not begin before those that came before. is_sync: a
 * wait for the stream, which has rows of its own.
 */
uint32_t timeline_rows_place(struct timeline_rows *rows, const struct model_place *place,
	bool is_sync, uint64_t begin_ns, uint64_t end_ns);

/* The pid in the file of a device of the process at hand. */
uint32_t timeline_device_pid(const struct timeline *timeline, uint32_t device);

/* Writes what devices and rows are called. */
void timeline_rows_name(const struct timeline_rows *rows, struct timeline *timeline);

#endif
