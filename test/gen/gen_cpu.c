/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU samples of two threads, each of which stands for 10 ms, in files that are not there:
 *
 *     python   12  decode <- load <- main      in libdecode.so, called from python3.12
 *               3  load <- main                in python3.12
 *               2  code without a file, called by load
 *     worker    4  decode <- decode            recursive; one sample in a frame whose caller is
 * lost 1  the kernel's clock, in no file
 *
 * With has_python also a thread of Python:
 *
 *     loader    6  decode, in load at line 12 of dataset.py, called from line 30 of its <module>
 *               2  load, at line 14
 *               3  load, whose Python frames were not read
 *               1  none of Python
 */
#include "test/gen/gen.h"

#define START_NS  1000000000ull
#define PERIOD_NS 10000000ull

enum { NO_FILE, PYTHON, DECODE, CLOCK };
enum { MAIN_TID = 4242, WORKER_TID = 4250, LOADER_TID = 4260 };
enum stack { NONE, MAIN, LOAD, DECODE_OF_LOAD, COMPILED, OUTER, INNER, ALONE };

static void add_file(struct gen *gen, uint32_t id, const char *path, const char *build_id)
{
	uint32_t path_id = gen_string(gen, path);
	uint32_t build = build_id ? gen_string(gen, build_id) : 0;
	struct gprof_row_code_file *row = gen_row(gen, GPROF_TABLE_code_file);

	row->id = id;
	row->path = path_id;
	row->build_id = build;
}

static void add_stack(
	struct gen *gen, enum stack id, enum stack parent, uint32_t file, uint64_t address)
{
	struct gprof_row_native_stack *row = gen_row(gen, GPROF_TABLE_native_stack);

	row->id = id;
	row->parent = parent;
	row->code_file = file;
	row->address = address;
}

static void add_mixed_samples(struct gen *gen, unsigned int nr, uint32_t tid, const char *name,
	enum stack stack, uint32_t py_stack)
{
	static uint64_t time;

	for (unsigned int i = 0; i < nr; i++) {
		uint32_t name_id = gen_string(gen, name);
		struct gprof_row_cpu_sample *row = gen_row(gen, GPROF_TABLE_cpu_sample);

		time += PERIOD_NS;
		row->time = START_NS + time;
		row->ns = PERIOD_NS;
		row->task = tid;
		row->native_stack = stack;
		row->name = name_id;
		row->py_stack = py_stack;
	}
}

static void add_samples(
	struct gen *gen, unsigned int nr, uint32_t tid, const char *name, enum stack stack)
{
	add_mixed_samples(gen, nr, tid, name, stack, 0);
}

enum py_stack { PY_NONE, PY_MODULE, PY_LOAD, PY_LOAD_LATER };

static void add_python(struct gen *gen)
{
	gen_py_file(gen, 1, "/nowhere/dataset.py");
	gen_py_code(gen, 1, 1, 1, "<module>");
	gen_py_code(gen, 2, 1, 10, "load");
	gen_py_stack(gen, PY_MODULE, PY_NONE, 1, 30);
	gen_py_stack(gen, PY_LOAD, PY_MODULE, 2, 12);
	gen_py_stack(gen, PY_LOAD_LATER, PY_MODULE, 2, 14);
	add_mixed_samples(gen, 6, LOADER_TID, "loader", DECODE_OF_LOAD, PY_LOAD);
	add_mixed_samples(gen, 2, LOADER_TID, "loader", LOAD, PY_LOAD_LATER);
	add_mixed_samples(gen, 3, LOADER_TID, "loader", LOAD, GPROF_PY_STACK_NOT_READ);
	add_mixed_samples(gen, 1, LOADER_TID, "loader", LOAD, 0);
}

void gen_cpu(struct gen *gen, bool has_python)
{
	gen_info_bytes(gen, "process.command", "python\0train.py", 15);
	gen_anchor(gen, START_NS, START_NS, START_NS + GEN_CUPTI_OFFSET_NS);
	gen_anchor(gen, 2 * START_NS, 2 * START_NS, 2 * START_NS + GEN_CUPTI_OFFSET_NS);
	add_file(
		gen, PYTHON, "/nowhere/bin/python3.12", "00112233445566778899aabbccddeeff00112233");
	add_file(gen, DECODE, "/nowhere/lib/libdecode.so", NULL);
	add_file(gen, CLOCK, "linux-vdso.so.1", NULL);
	add_stack(gen, MAIN, NONE, PYTHON, 0x1000);
	add_stack(gen, LOAD, MAIN, PYTHON, 0x2000);
	add_stack(gen, DECODE_OF_LOAD, LOAD, DECODE, 0x500);
	add_stack(gen, COMPILED, LOAD, NO_FILE, 0x7f0000001000);
	add_stack(gen, OUTER, NONE, DECODE, 0x500);
	add_stack(gen, INNER, OUTER, DECODE, 0x500);
	add_stack(gen, ALONE, NONE, CLOCK, 0x700);
	add_samples(gen, 12, MAIN_TID, "python", DECODE_OF_LOAD);
	add_samples(gen, 3, MAIN_TID, "python", LOAD);
	add_samples(gen, 2, MAIN_TID, "python", COMPILED);
	add_samples(gen, 4, WORKER_TID, "worker", INNER);
	add_samples(gen, 1, WORKER_TID, "worker", OUTER);
	add_samples(gen, 1, WORKER_TID, "worker", ALONE);
	if (has_python) {
		add_python(gen);
	}
	gen_flush(gen);
}
