/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data of the page's timeline, which page/timeline_data.js reads: base64 of a zlib stream of
 *
 *     the length of the JSON (32 bits, little-endian), the JSON, columns of varints (LEB128)
 *
 * The JSON: `tracks` [parent, kind, process, rank, name, label] (kind: process, thread, other;
 * parent 0 is none, else its place + 1), `rows` [track, depth, slices, buckets], `strings`, `sets`
 * of arguments [category, is an instant, key, type, value, ...], `keys`, `categories`, `columns`
 * (the lengths in bytes), and the number and the longest of the dropped slices (timeline_lod.h).
 *
 * Columns of slices, all rows one after the other: gap since the end before in the row, length,
 * name, set, correlation, number, flow. Correlation and flow are 0 for none, else 1 + the zigzag
 * of the step from the one before in the row. Of buckets: gap since the one before, busy ns,
 * longest ns, its name, count.
 */
#ifndef REPORT_HTML_TIMELINE_DATA_H
#define REPORT_HTML_TIMELINE_DATA_H

#include "report/comm/nccl_ops.h"
#include "report/session/session.h"

/* The bytes of the page that it takes, unless the user sets them. */
#define HTML_TIMELINE_BYTES 2000000u

/* Writes the base64, at most `bytes` of it; nothing if there is no slice. */
void html_timeline_write(const struct cmd_input *input, size_t bytes, struct buf *out);

/* A part of a process, from begin_ns to before end_ns since time 0. */
struct html_window {
	size_t process; /* its index in the input */
	uint64_t begin_ns, end_ns;
};

/* The most slices of a window: more than anybody can tell apart on a screen. */
#define HTML_WINDOW_SLICES 250000u

/*
 * Writes the same for all slices that overlap a window, each one by one. Writes nothing and returns
 * false if they are more than HTML_WINDOW_SLICES. Flows of autograd nodes have numbers of their
 * own. collectives: see tracks_collectives_read.
 */
bool html_timeline_write_window(const struct cmd_input *input, const struct html_window *window,
	const struct nccl_ops *collectives, struct buf *out);

#endif
