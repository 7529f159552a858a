/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes of CUDA graphs as they are made: a row for each node that the program creates or captures,
 * and for each copy of one. The report finds by them which code a kernel of a graph belongs to,
 * since the code ran only when its node was created. Nothing happens when a graph is launched.
 */
#ifndef COLLECTOR_CUPTI_GRAPH_NODES_H
#define COLLECTOR_CUPTI_GRAPH_NODES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Switches CUPTI's callbacks about nodes, also where launches are recorded as a whole: then the
 * rows alone say what a launch runs. The drain thread.
 */
void graph_nodes_set_enabled(bool is_wanted);

/*
 * Adds the row of a callback of CUPTI's resource domain (struct cupti_resource_data) to the ring of
 * this thread. On the target's thread, inside its call; it calls CUPTI only for IDs.
 */
void graph_nodes_take(uint32_t cbid, const void *data);

#endif
