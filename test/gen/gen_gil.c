/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of 10 ms whose GPU waits for Python's lock:
 *
 *     0.00-0.01 ms    a launch, whose kernel runs from 0.02 to 0.22 ms
 *     0.50-4.50 ms    the thread of the loop waits for the lock; the last 0.4 ms on its mutex
 *     4.60-4.90 ms    it waits again, for a collection of another thread
 *     5.00-5.01 ms    a launch, whose kernel runs from 5.02 to 9.90 ms
 *     6.00-6.30 ms    the other thread waits for the lock
 *
 * The other thread has CPU samples of 1 ms at 1 to 4 ms: three in json of Python's own library,
 * which line 12 of dataset.py has called, and one at line 14. Both run at 9 ms.
 *
 * gprof looks at the lock each 5 ms: at 2 ms the other thread has it, at 7 ms nobody, in every
 * fifth step the loop, whose frames could not be read, and once a thread that is not known.
 */
#include "test/gen/gen.h"

#define START_NS   1000000000ull
#define US	   1000ull
#define NR_STEPS   25u
#define SAMPLE_NS  1000000u
#define GIL_COND   0xa5b8c8ull
#define GIL_MUTEX  0xa5b8f8ull
#define LOOP_TID   4242u
#define LOADER_TID 4260u

enum { LOOP = 1, LOADER };
enum { DATASET = 1, DECODER };		       /* files */
enum { MODULE = 1, LOAD, DECODE };	       /* functions */
enum { IN_MODULE = 1, AT_12, AT_14, IN_JSON }; /* stacks */

static void add_definitions(struct gen *gen)
{
	gen_info_bytes(gen, "process.command", "python\0train.py", 15);
	gen_info(gen, "step.rule", "nvtx:step");
	gen_anchor(gen, START_NS, START_NS, START_NS + GEN_CUPTI_OFFSET_NS);
	gen_thread(gen, LOOP, LOOP_TID, "python");
	gen_thread(gen, LOADER, LOADER_TID, "loader");
	gen_py_file(gen, DATASET, "/nowhere/dataset.py");
	gen_py_file(gen, DECODER, "/usr/lib/python3.12/json/decoder.py");
	gen_py_code(gen, MODULE, DATASET, 1, "<module>");
	gen_py_code(gen, LOAD, DATASET, 1, "load");
	gen_py_code(gen, DECODE, DECODER, 1, "raw_decode");
	gen_py_stack(gen, IN_MODULE, 0, MODULE, 30);
	gen_py_stack(gen, AT_12, IN_MODULE, LOAD, 12);
	gen_py_stack(gen, AT_14, IN_MODULE, LOAD, 14);
	gen_py_stack(gen, IN_JSON, AT_12, DECODE, 353);
}

static void wait_for_lock(
	struct gen *gen, uint32_t thread, uint64_t at, uint64_t begin_us, uint64_t dur_us)
{
	uint64_t begin = at + begin_us * US;

	gen_os_call(gen, "python_gil", thread, begin, begin + dur_us * US)->object =
		dur_us == 400 ? GIL_MUTEX : GIL_COND;
}

static void collect(struct gen *gen, uint64_t at)
{
	struct gprof_row_py_gc *row = gen_row(gen, GPROF_TABLE_py_gc);

	row->begin = at;
	row->dur = at + 300 * US;
	row->thread = LOADER;
}

static void sample(struct gen *gen, uint32_t tid, uint64_t at, uint32_t stack)
{
	uint32_t name = gen_string(gen, tid == LOOP_TID ? "python" : "loader");
	struct gprof_row_cpu_sample *row = gen_row(gen, GPROF_TABLE_cpu_sample);

	row->time = at;
	row->ns = SAMPLE_NS;
	row->task = tid;
	row->name = name;
	row->py_stack = stack;
}

/* Both threads also run beside the second kernel. */
static void add_samples(struct gen *gen, uint64_t at)
{
	for (unsigned int i = 1; i <= 4; i++) {
		sample(gen, LOADER_TID, at + i * SAMPLE_NS, i == 2 ? AT_14 : IN_JSON);
	}
	sample(gen, LOADER_TID, at + 9 * SAMPLE_NS, AT_14);
	sample(gen, LOOP_TID, at + 9 * SAMPLE_NS, IN_MODULE);
}

static struct gprof_row_gil_sample *look_at_lock(struct gen *gen, uint64_t at, const char *thread)
{
	uint32_t name = thread ? gen_string(gen, thread) : 0;
	struct gprof_row_gil_sample *row = gen_row(gen, GPROF_TABLE_gil_sample);

	row->time = at;
	row->ns = 5000 * US;
	row->name = name;
	return row;
}

static void add_holders(struct gen *gen, uint64_t at, uint32_t step)
{
	struct gprof_row_gil_sample *row = look_at_lock(gen, at + 2000 * US, "loader");

	row->is_held = 1;
	row->task = LOADER_TID;
	row->py_stack = step % 4 ? IN_JSON : AT_14;
	row = look_at_lock(gen, at + 7000 * US, step % 5 ? NULL : "python");
	if (step % 5 == 0 || step == 7) {
		row->is_held = 1;
		row->task = step == 7 ? 0 : LOOP_TID;
		row->py_stack = GPROF_PY_STACK_NOT_READ;
	}
}

void gen_gil(struct gen *gen)
{
	uint64_t at = START_NS;

	add_definitions(gen);
	for (uint32_t i = 0; i < NR_STEPS; i++) {
		gen_step(gen, i, at);
		gen_launch(gen, at, 20, 200, 2 * i + 1);
		wait_for_lock(gen, LOOP, at, 500, 3600);
		wait_for_lock(gen, LOOP, at, 4100, 400);
		wait_for_lock(gen, LOOP, at, 4600, 300);
		collect(gen, at + 4600 * US);
		gen_launch(gen, at + 5000 * US, 20, 4880, 2 * i + 2);
		wait_for_lock(gen, LOADER, at, 6000, 300);
		add_samples(gen, at);
		add_holders(gen, at, i);
		at += 10000 * US;
	}
	gen_step(gen, NR_STEPS, at);
	gen_anchor(gen, at, at, at + GEN_CUPTI_OFFSET_NS);
	gen_flush(gen);
}
