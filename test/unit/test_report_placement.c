/* SPDX-License-Identifier: Apache-2.0 */
/* NUMA nodes of CPUs, threads and pages, from whatever a stream says; and what storage delivers. */
#include "report/budget/placement.h"

#include <string.h>

#include "test/unit/report_made.h"

#define MS 1000000ull

static struct numa_map map_of(const char *node0, const char *node1)
{
	struct gen *gen = gen_open(streams_path("map.gprof"));
	struct process *process;
	struct numa_map map;

	gen_info(gen, "host.numa_nodes", "2");
	gen_info(gen, "host.numa_node.0", node0);
	gen_info(gen, "host.numa_node.1", node1);
	gen_close(gen, "exit");
	process = streams_process(streams_path("map.gprof"));
	numa_map_init(&map, process);
	process_destroy(process);
	return map;
}

static void is_on(const struct numa_map *map, uint64_t cpu, int32_t node)
{
	ck_assert_msg(numa_map_node(map, cpu) == node, "CPU %u: %d", (unsigned int)cpu,
		numa_map_node(map, cpu));
}

START_TEST(cpus_have_the_nodes_that_the_kernel_lists)
{
	struct numa_map map = map_of("0-15,32-47", "16-31,48-62,63");

	ck_assert_uint_eq(map.nr_nodes, 2);
	is_on(&map, 0, 0);
	is_on(&map, 15, 0);
	is_on(&map, 47, 0);
	is_on(&map, 16, 1);
	is_on(&map, 63, 1);
	is_on(&map, 64, NUMA_NODE_UNKNOWN);
	is_on(&map, UINT64_MAX, NUMA_NODE_UNKNOWN);
	numa_map_fini(&map);
}
END_TEST

START_TEST(odd_lists_say_what_they_can)
{
	static const char *const texts[] = {"", ",", "-", "x", "-3", "5-", "5-x", "9-5", " 5"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct numa_map map = map_of(texts[i], "70,7-8,x,9");

		is_on(&map, 5, NUMA_NODE_UNKNOWN);
		is_on(&map, 70, 1);
		is_on(&map, 8, 1);
		is_on(&map, 9, NUMA_NODE_UNKNOWN);
		numa_map_fini(&map);
	}
}
END_TEST

static void sample(struct made *made, uint64_t at, uint8_t metric, uint8_t device, uint64_t value)
{
	struct gprof_row_sample *row = gen_row(made->gen, GPROF_TABLE_sample);

	row->time = at;
	row->value = value;
	row->metric = metric;
	row->device = device;
}

static void thread_row(struct made *made, uint64_t at, uint64_t cpu_ns, uint32_t cpu, uint8_t known)
{
	struct gprof_row_thread_cpu *row = gen_row(made->gen, GPROF_TABLE_thread_cpu);

	row->time = at;
	row->cpu_ns = cpu_ns;
	row->thread = 1;
	row->cpu = cpu;
	row->known = known;
}

/* A launch between two samples; node: of the GPU, -1: unknown. */
static struct placement placement(const char *nodes, int node, bool is_worker, bool has_steps)
{
	struct made made = made_open("placed.gprof");
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);
	struct process *process;
	struct placement found;

	gen_info(made.gen, "host.numa_nodes", nodes);
	gen_info(made.gen, "host.numa_node.0", "0-1");
	gen_info(made.gen, "host.numa_node.1", "2-3");
	if (node >= 0) {
		made_attribute(&made, 0, "numa_node", (uint64_t)node);
	}
	if (is_worker) {
		gen_info(made.gen, "loader.worker", "1");
		gen_info(made.gen, "loader.workers", "2");
	}
	gen_thread(made.gen, 1, GEN_PID, NULL);
	for (uint32_t i = 0; i < 5; i++) {
		uint64_t at = (100 + 100 * i) * MS;

		thread_row(&made, at, 100 * MS * i, i == 4 ? 3 : 1, i == 2 ? 0 : 3);
		sample(&made, at, GPROF_METRIC_PROCESS_READ_BYTES, 255, 5000 + 1000 * i);
		sample(&made, at, GPROF_METRIC_PROCESS_STORAGE_READ_BYTES, 255, 3000 + 600 * i);
		if (has_steps && (i == 1 || i == 3)) {
			made_step(&made, at, i);
		}
	}
	sample(&made, 500 * MS, GPROF_METRIC_PROCESS_PINNED_NODE_PAGES, 0, 3);
	sample(&made, 500 * MS, GPROF_METRIC_PROCESS_PINNED_NODE_PAGES, 1, 1);
	sample(&made, 500 * MS, GPROF_METRIC_PROCESS_PINNED_NODE_PAGES, 255, 9);
	made_launch(&made, shape, 200 * MS, 10000, 201 * MS, 202 * MS);
	gen_close(made.gen, "exit");
	process = streams_process(made.path);
	found = placement_of(process);
	process_destroy(process);
	return found;
}

/* A row of whose CPU nothing is known counts nowhere; pages on no node neither. */
START_TEST(what_is_far_from_the_gpu_has_a_share)
{
	struct placement found = placement("2", 1, false, false);

	ck_assert_uint_eq(found.nr_nodes, 2);
	ck_assert_int_eq(found.gpu_node, 1);
	ck_assert_uint_eq(found.threads.all, 300 * MS);
	ck_assert_uint_eq(found.threads.near, 100 * MS);
	ck_assert_int_eq(found.threads.node, 0);
	ck_assert_double_eq_tol(placement_far_pct(&found, &found.threads), 66.67, 0.01);
	ck_assert_double_eq_tol(placement_far_pct(&found, &found.pinned), 75, 0.01);
	ck_assert_double_lt(placement_far_pct(&found, &found.memory), 0);
	ck_assert_int_eq(found.memory.node, NUMA_NODE_UNKNOWN);
}
END_TEST

START_TEST(nothing_is_far_where_nodes_are_unknown_or_one)
{
	struct placement found = placement("2", -1, false, false);

	ck_assert_double_lt(placement_far_pct(&found, &found.threads), 0);
	ck_assert_int_eq(found.threads.node, 0);
	found = placement("1", 0, false, false);
	ck_assert_double_lt(placement_far_pct(&found, &found.threads), 0);
	found = placement("0", 0, false, false);
	ck_assert_int_eq(found.threads.node, NUMA_NODE_UNKNOWN);
}
END_TEST

START_TEST(a_loop_reads_in_its_steps_and_a_worker_always)
{
	struct placement found = placement("1", -1, false, false);

	ck_assert(found.has_reads);
	ck_assert_uint_eq(found.read_bytes, 4000);
	ck_assert_uint_eq(found.storage_bytes, 2400);
	ck_assert_uint_eq(found.read_ns, 400 * MS);
	found = placement("1", -1, false, true);
	ck_assert_uint_eq(found.read_bytes, 2000);
	ck_assert_uint_eq(found.storage_bytes, 1200);
	ck_assert_uint_eq(found.read_ns, 200 * MS);
	found = placement("1", -1, true, false);
	ck_assert_uint_eq(found.read_bytes, 9000);
	ck_assert_uint_eq(found.storage_bytes, 5400);
}
END_TEST

UNIT_SUITE("report/placement", cpus_have_the_nodes_that_the_kernel_lists,
	odd_lists_say_what_they_can, what_is_far_from_the_gpu_has_a_share,
	nothing_is_far_where_nodes_are_unknown_or_one,
	a_loop_reads_in_its_steps_and_a_worker_always)
