/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds by samples where a process runs and where its memory lies: on which NUMA nodes, beside that
 * of its GPU; and how much of what it reads storage has to deliver, because no page is in memory.
 */
#ifndef REPORT_BUDGET_PLACEMENT_H
#define REPORT_BUDGET_PLACEMENT_H

#include "report/model/model.h"

/* ---- nodes ---- */

#define NUMA_NODE_UNKNOWN -1
/* The recorder has no numbers of nodes from here on; the last one stands for unknown ones. */
#define NUMA_NR_NODES 256u

/* The CPUs of each node of a host. */
struct numa_map {
	struct numa_range *ranges;
	size_t nr, capacity;
	uint64_t nr_nodes; /* with CPUs; 0: unknown */
};

void numa_map_init(struct numa_map *map, const struct process *process);
void numa_map_fini(struct numa_map *map);

/* Returns NUMA_NODE_UNKNOWN if the recorder did not find it. */
int32_t numa_map_node(const struct numa_map *map, uint64_t cpu);

/* The node of a GPU; of all GPUs that a process used, NUMA_NODE_UNKNOWN if they differ. */
int32_t numa_device_node(const struct process *process, uint32_t device);
int32_t numa_gpu_node(const struct process *process);

/* The part of something that is on one node. */
struct numa_share {
	uint64_t all;  /* whose node is known */
	uint64_t near; /* on the node of the GPU */
	uint64_t most; /* on the node with most of it */
	int32_t node;  /* that node; NUMA_NODE_UNKNOWN: nothing is known */
};

/* Sums up what is on each node. near: of that one, or NUMA_NODE_UNKNOWN. */
struct numa_share numa_share_of(const uint64_t nodes[NUMA_NR_NODES], int32_t near);

/* ---- a process ---- */

struct placement {
	uint64_t nr_nodes; /* of the host; 0: unknown */
	int32_t gpu_node;  /* of all GPUs that it used; NUMA_NODE_UNKNOWN: or of different nodes */
	struct numa_share threads; /* CPU time of the first thread and of those that launch, ns */
	struct numa_share pinned, memory; /* pages that were looked at */
	bool has_reads;			  /* the next three are known */
	uint64_t read_bytes;		  /* by calls */
	uint64_t storage_bytes;		  /* from storage, also for page faults */
	uint64_t read_ns; /* from the first sample to the last one; of a loop, in its steps */
};

struct placement placement_of(struct process *process);

/* The share that is not near, in percent; below 0: unknown, or there is one node. */
double placement_far_pct(const struct placement *placement, const struct numa_share *share);

#endif
