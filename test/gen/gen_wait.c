/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of 100 ms whose GPU computes for 5 ms and then waits for a loop that mostly waits itself.
 * gprof looks at it each 20 ms:
 *
 *     20, 40 ms    it sleeps, at line 4 of train.py
 *     60 ms        it reads files, in a package that line 41 of data.py has called
 *     80 ms        in turn: it waits for Python's lock, which the other thread holds, for another
 * thread in Python's own library that line 30 of train.py has called, for a child process, for a
 * page of a file that is mapped, and, with frames that were not read, for a pipe 90 ms        it
 * runs, as a CPU sample of 10 ms says
 *
 * Another thread that launches nothing in these steps has no Python code while it polls.
 */
#include "test/gen/gen.h"

#define START_NS  1000000000ull
#define MS	  1000000ull
#define NR_STEPS  25u
#define LOOK_NS	  20000000ull
#define CPU_NS	  10000000ull
#define LOOP_TID  4242u
#define OTHER_TID 4260u
#define NR_TURNS  5u

enum { LOOP = 1, OTHER };
enum { TRAIN = 1, DATA, IMAGE, THREADING, SUBPROCESS };	     /* files */
enum { MODULE = 1, STEP, LOAD, OPEN_IMAGE, WAIT, TRY_WAIT }; /* functions */
enum {							     /* stacks */
	AT_4 = 1,
	AT_12,
	AT_30,
	AT_41,
	AT_44,
	IN_IMAGE,
	IN_THREADING,
	IN_SUBPROCESS,
	AT_51,
};

static void add_definitions(struct gen *gen)
{
	gen_info_bytes(gen, "process.command", "python\0train.py", 15);
	gen_info(gen, "step.rule", "nvtx:step");
	gen_anchor(gen, START_NS, START_NS, START_NS + GEN_CUPTI_OFFSET_NS);
	gen_thread(gen, LOOP, LOOP_TID, "python");
	gen_thread(gen, OTHER, OTHER_TID, "server");
	gen_py_file(gen, TRAIN, "/nowhere/train.py");
	gen_py_file(gen, DATA, "/nowhere/data.py");
	gen_py_file(gen, IMAGE, "/nowhere/lib/python3.12/site-packages/PIL/Image.py");
	gen_py_file(gen, THREADING, "/usr/lib/python3.12/threading.py");
	gen_py_file(gen, SUBPROCESS, "/usr/lib/python3.12/subprocess.py");
	gen_py_code(gen, MODULE, TRAIN, 1, "<module>");
	gen_py_code(gen, STEP, TRAIN, 10, "step");
	gen_py_code(gen, LOAD, DATA, 40, "load");
	gen_py_code(gen, OPEN_IMAGE, IMAGE, 3000, "open");
	gen_py_code(gen, WAIT, THREADING, 340, "wait");
	gen_py_code(gen, TRY_WAIT, SUBPROCESS, 2000, "_try_wait");
	gen_py_stack(gen, AT_4, 0, MODULE, 4);
	gen_py_stack(gen, AT_12, AT_4, STEP, 12);
	gen_py_stack(gen, AT_30, 0, MODULE, 30);
	gen_py_stack(gen, AT_41, AT_30, LOAD, 41);
	gen_py_stack(gen, AT_44, AT_30, LOAD, 44);
	gen_py_stack(gen, IN_IMAGE, AT_41, OPEN_IMAGE, 3277);
	gen_py_stack(gen, IN_THREADING, AT_30, WAIT, 355);
	gen_py_stack(gen, IN_SUBPROCESS, AT_30, TRY_WAIT, 2011);
	gen_py_stack(gen, AT_51, 0, LOAD, 51);
}

/* What a look finds; its time, thread and object are to be filled in. */
static const struct gprof_row_wait_sample sleeps = {.kind = GPROF_OS_SLEEP, .py_stack = AT_4};
static const struct gprof_row_wait_sample reads = {.kind = GPROF_OS_READ, .py_stack = IN_IMAGE};
static const struct gprof_row_wait_sample polls = {.kind = GPROF_OS_POLL};
static const struct gprof_row_wait_sample turns[NR_TURNS] = {
	{.kind = GPROF_OS_GIL, .py_stack = AT_12, .holder = OTHER_TID, .holder_stack = AT_51},
	{.kind = GPROF_OS_WAIT, .py_stack = IN_THREADING},
	{.kind = GPROF_OS_PROCESS, .py_stack = IN_SUBPROCESS},
	{.kind = GPROF_OS_FAULT, .py_stack = AT_44},
	{.kind = GPROF_OS_READ, .py_stack = GPROF_PY_STACK_NOT_READ},
};

static const char *const turn_calls[NR_TURNS] = {"futex", "futex", "wait4", "page fault", "read"};

static void look(struct gen *gen, uint64_t at, uint32_t tid, const struct gprof_row_wait_sample *of,
	const char *call, const char *object)
{
	uint32_t call_id = gen_string(gen, call);
	uint32_t object_id = object ? gen_string(gen, object) : 0;
	uint32_t name = gen_string(gen, tid == LOOP_TID ? "python" : "server");
	struct gprof_row_wait_sample *row = gen_row(gen, GPROF_TABLE_wait_sample);

	*row = *of;
	row->time = at;
	row->ns = LOOK_NS;
	row->task = tid;
	row->syscall = call_id;
	row->object = object_id;
	row->name = name;
}

static void add_looks(struct gen *gen, uint64_t at, uint32_t turn)
{
	look(gen, at + 20 * MS, LOOP_TID, &sleeps, "clock_nanosleep", NULL);
	look(gen, at + 40 * MS, LOOP_TID, &sleeps, "clock_nanosleep", NULL);
	look(gen, at + 60 * MS, LOOP_TID, &reads, "read", "/data/train/*.jpg");
	look(gen, at + 80 * MS, LOOP_TID, &turns[turn], turn_calls[turn],
		turn == NR_TURNS - 1 ? "pipe" : NULL);
	if (turn == 0) {
		look(gen, at + 80 * MS, OTHER_TID, &polls, "epoll_wait", NULL);
	}
}

static void add_cpu_sample(struct gen *gen, uint64_t at)
{
	uint32_t name = gen_string(gen, "python");
	struct gprof_row_cpu_sample *row = gen_row(gen, GPROF_TABLE_cpu_sample);

	row->time = at;
	row->ns = CPU_NS;
	row->task = LOOP_TID;
	row->name = name;
	row->py_stack = AT_12;
}

void gen_wait(struct gen *gen)
{
	uint64_t at = START_NS;

	add_definitions(gen);
	for (uint32_t i = 0; i < NR_STEPS; i++) {
		gen_step(gen, i, at);
		gen_launch(gen, at, 20, 5000, i + 1);
		add_looks(gen, at, i % NR_TURNS);
		add_cpu_sample(gen, at + 90 * MS);
		at += 100 * MS;
	}
	gen_step(gen, NR_STEPS, at);
	gen_anchor(gen, at, at, at + GEN_CUPTI_OFFSET_NS);
	gen_flush(gen);
}
