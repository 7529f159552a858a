/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gen_stream FILE [EVENTS [SEED]]: the reference stream; without EVENTS the small one, with EVENTS
 * 0 one of nonsense. gen_stream FILE hostile DIR: one that means harm; FILE ops: a framework's;
 * FILE worker: one of a data loader's; FILE hang: a rank that hangs and is killed; FILE python:
 * with Python stacks; FILE cpu, FILE cpu python: with CPU samples; FILE gc, FILE gc rare: with
 * collections of garbage; FILE os: with calls of the C library; FILE cpu-wait: with waits for a
 * CPU; FILE sched: with context switches; FILE placement: of two NUMA nodes; FILE wait: with a loop
 * that waits; FILE gil: with waits for Python's lock; FILE counted: with calls that are only
 * counted; FILE graph: with a CUDA graph; FILE wrapped: with correlation IDs of more than 32 bits;
 * FILE nested: with driver calls within others; FILE nccl RANK [inside]: one of two ranks; FILE
 * measured [network|early]: one whose waits NCCL measured; FILE network: one with requests to
 * network devices; FILE launched RANK: the same of a launcher's job, each on a host of its own;
 * FILE model EVENTS [RANK WORLD]: a long run of a framework, or of one of its ranks; FILE drift PPM
 * EVENTS: such a run whose GPU has a clock that is that much faster; FILE ticks PPM EVENTS: one
 * where all clocks are that much faster than ticks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/gen/gen.h"

int main(int argc, char **argv)
{
	struct gen *gen;

	if (argc < 2) {
		fprintf(stderr, "usage: gen_stream FILE [EVENTS [SEED]]\n");
		return 2;
	}
	gen = gen_open(argv[1]);
	if (argc > 3 && !strcmp(argv[2], "hostile")) {
		gen_hostile(gen, argv[3]);
	} else if (argc > 3 && !strcmp(argv[2], "model")) {
		uint64_t rank = argc > 5 ? strtoull(argv[4], NULL, 10) : 0;

		if (argc > 5) {
			gen_info(gen, "rank.world", argv[4]);
			gen_info(gen, "rank.world_size", argv[5]);
		}
		gen_model(gen, strtoull(argv[3], NULL, 10), 1 + rank);
	} else if (argc > 4 && !strcmp(argv[2], "drift")) {
		gen_device_rate(gen, strtoll(argv[3], NULL, 10));
		gen_model(gen, strtoull(argv[4], NULL, 10), 1);
	} else if (argc > 4 && !strcmp(argv[2], "ticks")) {
		gen_tick_rate(gen, strtoll(argv[3], NULL, 10));
		gen_model(gen, strtoull(argv[4], NULL, 10), 1);
	} else if (argc > 2 && !strcmp(argv[2], "ops")) {
		gen_ops(gen);
	} else if (argc > 2 && !strcmp(argv[2], "worker")) {
		gen_info(gen, "process.command", "python train.py");
		gen_info(gen, "loader.worker", "3");
		gen_info(gen, "loader.workers", "4");
		gen_op(gen, "aten::stack", 1000, 2000);
	} else if (argc > 2 && !strcmp(argv[2], "python")) {
		gen_python(gen);
	} else if (argc > 2 && !strcmp(argv[2], "gc")) {
		gen_gc(gen, argc > 3);
	} else if (argc > 2 && !strcmp(argv[2], "cpu-wait")) {
		gen_cpu_wait(gen);
	} else if (argc > 2 && !strcmp(argv[2], "sched")) {
		gen_sched(gen);
	} else if (argc > 2 && !strcmp(argv[2], "placement")) {
		gen_placement(gen);
	} else if (argc > 2 && !strcmp(argv[2], "compiled")) {
		gen_compiled(gen);
	} else if (argc > 2 && !strcmp(argv[2], "wait")) {
		gen_wait(gen);
	} else if (argc > 2 && !strcmp(argv[2], "measured")) {
		gen_measured(gen, argc == 3			? GEN_MEASURED_LATE
				  : !strcmp(argv[3], "network") ? GEN_MEASURED_NETWORK
								: GEN_MEASURED_EARLY);
	} else if (argc > 2 && !strcmp(argv[2], "network")) {
		gen_network(gen);
	} else if (argc > 2 && !strcmp(argv[2], "compile")) {
		gen_compile(gen);
	} else if (argc > 2 && !strcmp(argv[2], "compile_samples")) {
		gen_compile_samples(gen);
	} else if (argc > 2 && !strcmp(argv[2], "gil")) {
		gen_gil(gen);
	} else if (argc > 2 && !strcmp(argv[2], "os")) {
		gen_os(gen);
	} else if (argc > 2 && !strcmp(argv[2], "stacks")) {
		gen_stacks(gen);
	} else if (argc > 2 && !strcmp(argv[2], "cpu")) {
		gen_cpu(gen, argc > 3);
	} else if (argc > 2 && !strcmp(argv[2], "counted")) {
		gen_counted(gen);
	} else if (argc > 2 && !strcmp(argv[2], "graph")) {
		gen_graph(gen);
	} else if (argc > 2 && !strcmp(argv[2], "wrapped")) {
		gen_wrapped(gen);
	} else if (argc > 2 && !strcmp(argv[2], "nested")) {
		gen_nested(gen);
	} else if (argc > 2 && !strcmp(argv[2], "hang")) {
		gen_hang(gen);
		gen_close(gen, NULL);
		return 0;
	} else if (argc > 3 && !strcmp(argv[2], "launched")) {
		gen_info(gen, "process.command", "python train.py");
		gen_info(gen, "rank.world", argv[3]);
		gen_info(gen, "rank.world_size", "2");
		gen_info(gen, "host.boot_id", argv[3]); /* each on a host of its own */
		gen_info(gen, "process.ancestors", "50:7 1:1");
		gen_info(gen, "process.first_launched", "50:7");
		gen_info(gen, "job.id", "4711");
		gen_info(gen, "job.step", "0");
		gen_info(gen, "job.master", "node0");
		gen_info(gen, "job.port", "29500");
		gen_op(gen, "aten::mm", 1000, 2000);
	} else if (argc > 3 && !strcmp(argv[2], "nccl")) {
		gen_nccl(gen, (uint32_t)strtoul(argv[3], NULL, 10), argc > 4);
	} else if (argc > 2) {
		uint64_t nr_events = strtoull(argv[2], NULL, 10);
		uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;

		if (nr_events) {
			gen_training(gen, nr_events, seed);
		} else {
			gen_wild(gen, seed);
		}
	} else {
		gen_small(gen);
	}
	gen_close(gen, "exit");
	return 0;
}
