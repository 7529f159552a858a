/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data of the page's flame graphs, which page/flame.js reads: JSON,
 *
 *     {"names": [text, ...], "trees": {"modules": TREE, "stacks": TREE}}
 *
 * where TREE is {"parent": [], "name": [], "kind": [], "gpu": [], "cpu": [], "launches": []}: for
 * each frame the place of an earlier one, that of its name, enum flame_kind and its own time.
 * Frame 0 is the root, and frames of one parent are in the order in which they began first. If
 * there are several phases or steps, TREE has "parts" too, with "frame", "phase" (enum phase),
 * "steps" and the weights: what a frame has of its own there. "ranges" has what "steps" means:
 * [number of the first step, of the last one, numbers in each range]; 0 stands for no step.
 * "range_steps" has how many steps of the run are in each range.
 * Frames of less than HTML_FLAME_MIN of the root by every weight become one
 * frame of their parent, of kind FLAME_REST; its name is their number. `stacks` is there if any
 * Python stack was recorded; "unsampled" in it has the weights of what has none. The page of two
 * runs has "other" with the trees of B beside "trees", both without frames of processes and with
 * the same ranges.
 */
#ifndef REPORT_HTML_FLAME_DATA_H
#define REPORT_HTML_FLAME_DATA_H

#include "report/session/session.h"
#include "report/timeline/flame.h"

#define HTML_FLAME_MIN 5000u /* one in so many */

#define HTML_FLAME_WALKS 2u

/* The trees of a run, while they are made. */
struct html_flame_run {
	struct flame modules, stacks;
	struct flame_reading *readings[HTML_FLAME_WALKS];
	struct op_walk walks[HTML_FLAME_WALKS]; /* for op_walk_run over the processes of the run */
	size_t nr;
};

/*
 * Begins to read a run. ranges: those of both runs where there are two, or NULL. The caller runs
 * the walks and then calls html_flame_write, which frees what this has made. See flame_begin.
 */
void html_flame_begin(struct html_flame_run *run, const struct cmd_input *input,
	const struct flame_ranges *ranges);

/* Writes the JSON; nothing if there is nothing to draw. other: B of two runs, or NULL. */
void html_flame_write(struct html_flame_run *run, struct html_flame_run *other, struct buf *out);

#endif
