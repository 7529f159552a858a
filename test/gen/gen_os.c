/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of 1,000 us whose GPU waits for calls of the C library:
 *
 *       0-10 us   a launch, whose kernel runs from 20 to 220 us
 *     250-600 us  another thread waits for a lock, which a third one has
 *     300-550 us  the thread of the loop reads 64 KiB of a file, in every fifth step 2 us longer
 *     560-580 us  it receives 1,000 bytes from a peer
 *     600-605 us  a launch, whose kernel runs from 610 to 900 us
 *
 * A call before the first step fails. 1,000 shorter reads are only counted. The reads come from
 * main() through read_sample() and the library of C++, the receipt from a line of Python.
 */
#include "test/gen/gen.h"

#define START_NS     1000000000ull
#define NR_STEPS     25u
#define LOCK_ADDRESS 0x7f0000001040ull
#define CALLER	     0x7f0000401235ull
#define HOLDER_TID   77u

enum { FILE_DATA = 1, FILE_PEER };
enum { STACK_LOCK = 1, STACK_MAIN, STACK_SAMPLE, STACK_READ };

/* name: of a file that is met for the first time, or NULL. */
static struct gprof_row_os_call *call(struct gen *gen, const char *function, uint32_t thread,
	uint64_t at, uint64_t dur_us, const char *name)
{
	uint32_t text = name ? gen_string(gen, name) : 0;
	struct gprof_row_os_call *row = gen_os_call(gen, function, thread, at, at + dur_us * 1000);

	row->name = text;
	return row;
}

static void move(struct gprof_row_os_call *row, uint32_t file, uint64_t bytes)
{
	row->file = file;
	row->bytes = bytes;
	row->returned = (int64_t)bytes;
}

static void add_calls(struct gen *gen, uint32_t number, uint64_t at)
{
	struct gprof_row_os_call *lock, *read, *receive;

	read = call(gen, "read", 1, at + 300000, number % 5 ? 250 : 252,
		number ? NULL : "/data/train.tar");
	move(read, FILE_DATA, 65536);
	read->native_stack = STACK_READ;
	receive = call(gen, "recv", 1, at + 560000, 20, number ? NULL : "10.0.0.2:29500");
	move(receive, FILE_PEER, 1000);
	receive->py_stack = 2;
	lock = call(gen, "pthread_mutex_lock", 2, at + 250000, 350, NULL);
	lock->object = LOCK_ADDRESS;
	lock->caller = CALLER;
	lock->native_stack = STACK_LOCK;
	lock->holder = HOLDER_TID;
}

static void add_file(struct gen *gen, uint32_t id, const char *name)
{
	uint32_t path = gen_string(gen, name);
	struct gprof_row_code_file *file = gen_row(gen, GPROF_TABLE_code_file);

	file->id = id;
	file->path = path;
}

/* name: of the function, or NULL. */
static void add_stack(
	struct gen *gen, uint32_t id, uint32_t parent, uint32_t file, const char *name)
{
	uint32_t text = name ? gen_string(gen, name) : 0;
	struct gprof_row_native_stack *stack = gen_row(gen, GPROF_TABLE_native_stack);

	stack->id = id;
	stack->parent = parent;
	stack->code_file = file;
	stack->address = 0x1234;
	stack->name = text;
}

/* The place that takes the lock is in a file that nobody has. */
static void add_stacks(struct gen *gen)
{
	add_file(gen, 1, "/nowhere/libqueue.so");
	add_file(gen, 2, "/nowhere/train");
	add_file(gen, 3, "/nowhere/libstdc++.so.6");
	add_stack(gen, STACK_LOCK, 0, 1, NULL);
	add_stack(gen, STACK_MAIN, 0, 2, "main");
	add_stack(gen, STACK_SAMPLE, STACK_MAIN, 2, "read_sample");
	add_stack(gen, STACK_READ, STACK_SAMPLE, 3, "std::__basic_file<char>::xsgetn");
	gen_py_file(gen, 1, "/home/me/train.py");
	gen_py_code(gen, 1, 1, 30, "<module>");
	gen_py_code(gen, 2, 1, 10, "receive");
	gen_py_stack(gen, 1, 0, 1, 42);
	gen_py_stack(gen, 2, 1, 2, 12);
}

void gen_os(struct gen *gen)
{
	uint64_t at = START_NS;
	struct gprof_row_os_call *failed;
	struct gprof_row_os_count *count;

	gen_info_bytes(gen, "process.command", "python\0train.py", 15);
	gen_info(gen, "step.rule", "nvtx:step");
	gen_anchor(gen, at, at, at + GEN_CUPTI_OFFSET_NS);
	add_stacks(gen);
	failed = call(gen, "open64", 1, at, 3, "/data/no-such-file");
	failed->returned = -1;
	failed->result = 2; /* ENOENT */
	at += 10000;
	for (uint32_t i = 0; i < NR_STEPS; i++) {
		gen_step(gen, i, at);
		gen_launch(gen, at, 20, 200, 2 * i + 1);
		add_calls(gen, i, at);
		gen_launch(gen, at + 600000, 10, 290, 2 * i + 2);
		at += 1000000;
	}
	gen_step(gen, NR_STEPS, at);
	count = gen_row(gen, GPROF_TABLE_os_count);
	count->begin = START_NS;
	count->dur = at;
	count->call = gen_call(gen, "read", GPROF_API_THREAD);
	count->nr = 1000;
	count->bytes = 4096000;
	gen_anchor(gen, at, at, at + GEN_CUPTI_OFFSET_NS);
	gen_flush(gen);
}
