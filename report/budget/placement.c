/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder has the CPUs of each node as the kernel writes them ("0-15,32-47"). The CPU time of
 * a thread between two rows counts on the node of the later one.
 */
#include "report/budget/placement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/process_tree.h"
#include "report/model/scan.h"
#include "report/util/buf.h"
#include "report/util/idmap.h"

struct numa_range {
	uint64_t first, last;
	int32_t node;
};

/* ---- nodes ---- */

static void add_range(struct numa_map *map, uint64_t first, uint64_t last, int32_t node)
{
	map->ranges = array_grow(map->ranges, map->nr, &map->capacity, sizeof(*map->ranges));
	map->ranges[map->nr++] = (struct numa_range){first, last, node};
}

/* Takes what is well-formed. */
static void add_cpus(struct numa_map *map, const char *cpus, int32_t node)
{
	while (*cpus >= '0' && *cpus <= '9') {
		char *end;
		uint64_t first = strtoull(cpus, &end, 10), last = first;

		if (*end == '-') {
			cpus = end + 1;
			last = strtoull(cpus, &end, 10);
			if (end == cpus) {
				return;
			}
		}
		if (last >= first) {
			add_range(map, first, last, node);
		}
		cpus = *end == ',' ? end + 1 : end;
	}
}

void numa_map_init(struct numa_map *map, const struct process *process)
{
	char key[32];

	*map = (struct numa_map){0};
	map->nr_nodes = strtoull(process_fact(process, "host.numa_nodes", "0"), NULL, 10);
	for (int32_t node = 0; map->nr_nodes && node < (int32_t)NUMA_NR_NODES; node++) {
		snprintf(key, sizeof(key), "host.numa_node.%d", node);
		add_cpus(map, process_fact(process, key, ""), node);
	}
}

void numa_map_fini(struct numa_map *map)
{
	free(map->ranges);
}

int32_t numa_map_node(const struct numa_map *map, uint64_t cpu)
{
	for (size_t i = 0; i < map->nr; i++) {
		if (cpu >= map->ranges[i].first && cpu <= map->ranges[i].last) {
			return map->ranges[i].node;
		}
	}
	return NUMA_NODE_UNKNOWN;
}

int32_t numa_device_node(const struct process *process, uint32_t device)
{
	uint64_t node;

	return process_attribute(process, device, "numa_node", &node) && node < NUMA_NR_NODES
		       ? (int32_t)node
		       : NUMA_NODE_UNKNOWN;
}

struct numa_share numa_share_of(const uint64_t nodes[NUMA_NR_NODES], int32_t near)
{
	struct numa_share share = {.node = NUMA_NODE_UNKNOWN};

	for (int32_t node = 0; node < (int32_t)NUMA_NR_NODES - 1; node++) {
		share.all += nodes[node];
		share.near += node == near ? nodes[node] : 0;
		if (nodes[node] > share.most) {
			share.most = nodes[node];
			share.node = node;
		}
	}
	return share;
}

int32_t numa_gpu_node(const struct process *process)
{
	int32_t node = NUMA_NODE_UNKNOWN;

	for (size_t i = 0; i < process->places.nr; i++) {
		const struct model_place *place = idmap_at(&process->places, i);
		int32_t its = numa_device_node(process, place->device);

		if (its == NUMA_NODE_UNKNOWN || (node != NUMA_NODE_UNKNOWN && its != node)) {
			return NUMA_NODE_UNKNOWN;
		}
		node = its;
	}
	return node;
}

/* ---- samples ---- */

struct counter {
	bool is_known, is_worker; /* of a worker all counts */
	uint64_t first, last;
	uint64_t first_ns, last_ns;
};

struct thread {
	bool is_known;
	uint64_t cpu_ns; /* in its last row */
};

struct placement_scan {
	struct process *process;
	struct numa_map map;
	struct idmap threads;	    /* struct thread, by thread */
	uint64_t first_ns, last_ns; /* what is read counts between them */
	uint64_t ran_ns[NUMA_NR_NODES], pinned[NUMA_NR_NODES], pages[NUMA_NR_NODES];
	struct counter reads, storage;
};

static void add_thread(struct placement_scan *scan, const struct batch *b, uint32_t row)
{
	struct thread *thread =
		idmap_put(&scan->threads, (uint32_t)b->col[COL_thread_cpu_thread][row]);
	uint64_t cpu_ns = b->col[COL_thread_cpu_cpu_ns][row];
	bool is_placed = b->col[COL_thread_cpu_known][row] & GPROF_THREAD_CPU_KNOWN;
	int32_t node = is_placed ? numa_map_node(&scan->map, b->col[COL_thread_cpu_cpu][row])
				 : NUMA_NODE_UNKNOWN;

	if (thread->is_known && cpu_ns > thread->cpu_ns && node != NUMA_NODE_UNKNOWN) {
		scan->ran_ns[node] += cpu_ns - thread->cpu_ns;
	}
	*thread = (struct thread){true, cpu_ns};
}

static void add_value(
	const struct placement_scan *scan, struct counter *counter, uint64_t ns, uint64_t value)
{
	if (ns < scan->first_ns || ns > scan->last_ns) {
		return;
	}
	if (!counter->is_known && !counter->is_worker) {
		counter->first = value;
		counter->first_ns = ns;
	}
	if (!counter->is_known) {
		counter->is_known = true;
		counter->last = value;
		counter->last_ns = ns;
	} else if (value >= counter->last && ns > counter->last_ns) {
		counter->last = value;
		counter->last_ns = ns;
	}
}

static void add_sample(struct placement_scan *scan, const struct batch *b, uint32_t row)
{
	uint64_t value = b->col[COL_sample_value][row], node = b->col[COL_sample_device][row];
	uint64_t ns = clock_map_time(&scan->process->host_clock, b->col[COL_sample_time][row]);

	switch (b->col[COL_sample_metric][row]) {
	case GPROF_METRIC_PROCESS_READ_BYTES:
		add_value(scan, &scan->reads, ns, value);
		break;
	case GPROF_METRIC_PROCESS_STORAGE_READ_BYTES:
		add_value(scan, &scan->storage, ns, value);
		break;
	case GPROF_METRIC_PROCESS_NODE_PAGES:
		scan->pages[node % NUMA_NR_NODES] += value;
		break;
	case GPROF_METRIC_PROCESS_PINNED_NODE_PAGES:
		scan->pinned[node % NUMA_NR_NODES] += value;
		break;
	default:
		break;
	}
}

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	(void)process;
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		if (b->table == GPROF_TABLE_thread_cpu) {
			add_thread(context, b, i);
		} else {
			add_sample(context, b, i);
		}
	}
}

static const struct scan_want wants[] = {
	{GPROF_TABLE_thread_cpu, COLS(thread_cpu, cpu_ns, thread, cpu, known), 0},
	{GPROF_TABLE_sample, COLS(sample, time, value, metric, device), 0},
};

static const struct scan_view scan_view = {.wants = wants,
	.nr_wants = sizeof(wants) / sizeof(wants[0]),
	.on_batch = on_batch,
	.ignores_selection = true};

/* At its start a loop reads its model. A worker reads data from its start on, where its counters
 * begin anew. */
static void find_span(struct placement_scan *scan)
{
	int64_t nr_workers;
	struct process *process = scan->process;

	scan->last_ns = UINT64_MAX;
	if (process_tree_worker(process, &nr_workers) >= 0) {
		scan->reads = scan->storage =
			(struct counter){.is_worker = true, .first_ns = process->first_ns};
	} else if (process->nr_steps > 1) {
		scan->first_ns = clock_map_time(&process->host_clock, process->steps[0].tick);
		scan->last_ns = clock_map_time(
			&process->host_clock, process->steps[process->nr_steps - 1].tick);
	}
}

struct placement placement_of(struct process *process)
{
	struct placement_scan scan = {.process = process};
	struct placement placement;

	find_span(&scan);
	numa_map_init(&scan.map, process);
	idmap_init(&scan.threads, sizeof(struct thread));
	scan_run(&process, 1, &(const struct scan){&scan_view, &scan}, 1);
	placement = (struct placement){
		.nr_nodes = scan.map.nr_nodes, .gpu_node = numa_gpu_node(process)};
	placement.threads = numa_share_of(scan.ran_ns, placement.gpu_node);
	placement.pinned = numa_share_of(scan.pinned, placement.gpu_node);
	placement.memory = numa_share_of(scan.pages, placement.gpu_node);
	placement.has_reads = scan.reads.is_known && scan.storage.is_known;
	placement.read_bytes = scan.reads.last - scan.reads.first;
	placement.storage_bytes = scan.storage.last - scan.storage.first;
	placement.read_ns = scan.storage.last_ns > scan.storage.first_ns
				    ? scan.storage.last_ns - scan.storage.first_ns
				    : 0;
	idmap_fini(&scan.threads);
	numa_map_fini(&scan.map);
	return placement;
}

double placement_far_pct(const struct placement *placement, const struct numa_share *share)
{
	return placement->nr_nodes > 1 && placement->gpu_node != NUMA_NODE_UNKNOWN && share->all
		       ? 100 * (double)(share->all - share->near) / (double)share->all
		       : -1;
}
