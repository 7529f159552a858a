/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of 10 ms whose context switches are recorded. The loop's thread runs for 4 ms on CPU 2, is
 * preempted for 1 ms, runs for 2 ms on CPU 3, and is blocked for 3 ms. A worker without other
 * events is blocked for 8 ms and runs for 2 ms; its records of the steps 20 to 24 are lost, and why
 * it is off the CPU then until it runs again is unknown. The recording begins and ends as the loop
 * runs. The loop is blocked in read, which in every second step fread calls; each fourth call ends
 * before the thread runs again, so that it cannot be the one.
 */
#include "test/gen/gen.h"

#define START_NS   1000000000ull
#define MS	   1000000ull
#define NR_STEPS   40u
#define LOOP_TID   4242u
#define WORKER_TID 4343u

enum { LOOP = 1 };
enum { NO_SWITCH, AT_BEGIN, AT_END, AT_BOTH };

/* Where a thread goes on. */
struct walk {
	uint32_t tid;
	const char *name;
	uint64_t at;
};

static void go_on(struct gen *gen, struct walk *walk, uint8_t state, uint64_t ms, uint32_t cpu,
	uint8_t switches)
{
	uint32_t name = gen_string(gen, walk->name);
	struct gprof_row_thread_state *row = gen_row(gen, GPROF_TABLE_thread_state);

	row->begin = walk->at;
	walk->at += ms * MS;
	row->dur = walk->at;
	row->task = walk->tid;
	row->cpu = cpu;
	row->name = name;
	row->state = state;
	row->switches = switches;
}

static void add_loop(struct gen *gen, struct walk *walk, uint32_t step)
{
	go_on(gen, walk, GPROF_THREAD_RUNNING, 4, 2, step ? AT_BOTH : AT_END);
	go_on(gen, walk, GPROF_THREAD_RUNNABLE, 1, 2, AT_BOTH);
	go_on(gen, walk, GPROF_THREAD_RUNNING, 2, 3, AT_BOTH);
	go_on(gen, walk, GPROF_THREAD_BLOCKED, 3, 3, step + 1 < NR_STEPS ? AT_BOTH : AT_BEGIN);
}

static void add_calls(struct gen *gen, uint64_t at, uint32_t step)
{
	gen_os_call(gen, "read", LOOP, at + 6 * MS, at + (step % 4 == 3 ? 9 : 10) * MS);
	if (step % 2) {
		gen_os_call(gen, step % 4 == 3 ? "close" : "fread", LOOP, at + 5 * MS,
			at + (step % 4 == 3 ? 6 : 10) * MS);
	}
}

static void add_worker(struct gen *gen, struct walk *walk, uint32_t step)
{
	if (step >= 20 && step < 25) {
		walk->at += 10 * MS;
	} else if (step == 25) {
		go_on(gen, walk, GPROF_THREAD_OFF_CPU, 8, 1, AT_END);
		go_on(gen, walk, GPROF_THREAD_RUNNING, 2, 1, AT_BOTH);
	} else {
		go_on(gen, walk, GPROF_THREAD_BLOCKED, 8, 1, AT_BOTH);
		go_on(gen, walk, GPROF_THREAD_RUNNING, 2, 1, AT_BOTH);
	}
}

void gen_sched(struct gen *gen)
{
	struct walk loop = {LOOP_TID, "python", START_NS};
	struct walk worker = {WORKER_TID, "worker", START_NS};
	uint64_t at = START_NS;

	gen_info_bytes(gen, "process.command", "python\0train.py", 15);
	gen_info(gen, "step.rule", "nvtx:step");
	gen_anchor(gen, START_NS, START_NS, 0);
	gen_thread(gen, LOOP, LOOP_TID, "python");
	for (uint32_t i = 0; i < NR_STEPS; i++) {
		gen_step(gen, i, at);
		gen_op(gen, "aten::mm", at + 1 * MS, at + 9 * MS);
		add_loop(gen, &loop, i);
		add_calls(gen, at, i);
		add_worker(gen, &worker, i);
		at += 10 * MS;
	}
	gen_step(gen, NR_STEPS, at);
	gen_anchor(gen, at, at, 0);
	gen_flush(gen);
}
