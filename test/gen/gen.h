/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes streams for tests, through the recorder's own encoder but without a recorder: every byte
 * follows from the calls. Rows are collected per table and written as blocks when one is full or
 * gen_flush is called; definitions go before the events that use them.
 */
#ifndef TEST_GEN_GEN_H
#define TEST_GEN_GEN_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/format/format.h"

struct gen;

/* Begins a stream: header (id, pid and start fixed) and schema. Exits with a message on failure. */
struct gen *gen_open(const char *path);

/* A row of table, zeroed, to be filled in; SPAN fields hold the end, as in the recorder. */
void *gen_row(struct gen *gen, unsigned int table);

/* Rows of definitions; ids count from 1. Texts are copied. */
uint32_t gen_string(struct gen *gen, const char *text);
uint32_t gen_string_bytes(struct gen *gen, const char *bytes, uint32_t nr_bytes);
uint16_t gen_call(struct gen *gen, const char *name, uint8_t api);
uint32_t gen_place(struct gen *gen, uint32_t device, uint32_t context, uint32_t stream);
void gen_info(struct gen *gen, const char *key, const char *value);
void gen_info_bytes(struct gen *gen, const char *key, const char *value, uint32_t nr_bytes);
void gen_device(struct gen *gen, uint32_t id, const char *name);

/* A thread by its number in the stream and the system's; name: NULL if it has none. */
void gen_thread(struct gen *gen, uint32_t thread, uint32_t tid, const char *name);

/* Python's files, functions and stacks, with ids of the caller; parent 0: the outermost frame. */
void gen_py_file(struct gen *gen, uint32_t id, const char *path);
void gen_py_code(struct gen *gen, uint32_t id, uint32_t file, uint32_t line, const char *name);
void gen_py_stack(struct gen *gen, uint32_t id, uint32_t parent, uint32_t code, uint32_t line);

/* A row of a call of the C library, for more to be filled in. */
struct gprof_row_os_call *gen_os_call(
	struct gen *gen, const char *function, uint32_t thread, uint64_t begin, uint64_t end);

/* Ids of op rows' names and shapes. */
uint32_t gen_op_name(struct gen *gen, const char *name);
uint32_t gen_op_shape(struct gen *gen, const char *shape);

/* A row of an operator of that name on thread 1, for more to be filled in. */
struct gprof_row_op *gen_op(struct gen *gen, const char *name, uint64_t begin, uint64_t end);

/* A row of NVTX on a thread, for more to be filled in; op: enum gprof_nvtx_op. */
struct gprof_row_nvtx *gen_nvtx(struct gen *gen, uint32_t thread, uint8_t op, uint64_t time);

/*
 * A launch of 5 us on thread 1, and its kernel of work_us on GPU 0, which begins delay_us after the
 * begin of the launch. Anchors must say that the GPU's clock is GEN_CUPTI_OFFSET_NS ahead.
 */
void gen_launch(struct gen *gen, uint64_t at, uint32_t delay_us, uint32_t work_us, uint32_t id);

/* The same by the kernel's own begin and end. The rows are the caller's until the next gen_row. */
struct gen_launched {
	struct gprof_row_api_launch *launch;
	struct gprof_row_kernel *kernel;
};
struct gen_launched gen_kernel(
	struct gen *gen, uint64_t at, uint64_t begin, uint64_t end, uint32_t id);

/* The begin of a step, which NVTX marks on thread 1. */
void gen_step(struct gen *gen, uint32_t number, uint64_t at);

/* A moment on all clocks, all of them counting ns: realtime = monotonic + a fixed offset. */
void gen_anchor(struct gen *gen, uint64_t tick, uint64_t monotonic_ns, uint64_t cupti_ns);

/*
 * The clock of the device counts that much faster than others from the first anchor on: times of
 * GPU activities and anchors change as they are written. Call it before any of them.
 */
void gen_device_rate(struct gen *gen, int64_t ppm);

/* All clocks count that much faster than ticks. Call it before any row, too. */
void gen_tick_rate(struct gen *gen, int64_t ppm);

/* Writes the waiting rows. The correlation IDs of later rows are nearest to `id`. */
void gen_newest_correlation(struct gen *gen, uint64_t id);

/* Writes what waits. */
void gen_flush(struct gen *gen);

/* Flushes and closes; how: the fact end.how, NULL leaves the stream unfinished. */
void gen_close(struct gen *gen, const char *how);

#define GEN_STREAM_ID	       0x1122334455667788ull
#define GEN_PID		       4242u
#define GEN_START_NS	       1790000000000000000ull
#define GEN_REALTIME_OFFSET_NS 1789999999000000000ull
#define GEN_CUPTI_OFFSET_NS    500000000ull

/*
 * The reference stream of the benches: a training loop of about 1,000 kernel launches a step, 60 %
 * API calls of 4 threads, 30 % kernels of 200 names, 10 % copies and ranges. Durations and gaps are
 * log-normal; the same seed gives the same stream.
 */
void gen_training(struct gen *gen, uint64_t nr_events, uint64_t seed);

/*
 * A long run of a framework: steps of some 3,500 events with operators in each other on two
 * threads, NVTX ranges, allocations, calls, and work on three streams, a thirtieth of it of NCCL;
 * in groups with checkpoints, as the recorder writes them. Stops after the step that reaches
 * nr_events.
 */
void gen_model(struct gen *gen, uint64_t nr_events, uint64_t seed);

/* Training steps of a framework: operators with shapes, allocations, samples, kernels. */
void gen_ops(struct gen *gen);
void gen_python(struct gen *gen);

/* Steps with collections of Python's garbage: in each one, or rarely and long. */
void gen_gc(struct gen *gen, bool is_rare);

/* Steps some of which compile by torch.compile; see gen_compile.c. */
void gen_compile(struct gen *gen);

/* Steps that compile, by samples alone; see gen_compile_samples.c. */
void gen_compile_samples(struct gen *gen);

/* Steps that run what torch.compile generated; see gen_compiled.c. */
void gen_compiled(struct gen *gen);

/* Steps whose GPU waits for calls of the C library; see gen_os.c. */
void gen_os(struct gen *gen);

/* Steps of a program whose calls have native stacks; see gen_stacks.c. */
void gen_stacks(struct gen *gen);

/* Steps without a GPU whose loop waits for a CPU; see gen_cpu_wait.c. */
void gen_cpu_wait(struct gen *gen);

/* Steps whose context switches are recorded; see gen_sched.c. */
void gen_sched(struct gen *gen);

/* Steps of a process far from its GPU, that reads from storage; see gen_placement.c. */
void gen_placement(struct gen *gen);

/* Steps whose GPU waits for a loop that waits itself; see gen_wait.c. */
void gen_wait(struct gen *gen);

/* Steps whose GPU waits for Python's lock, with CPU samples; see gen_gil.c. */
void gen_gil(struct gen *gen);

/* CPU samples with native stacks. */
void gen_cpu(struct gen *gen, bool has_python);

/* NCCL's operations on one of two ranks; has_inside: with what its profiler plugin saw. */
void gen_nccl(struct gen *gen, uint32_t rank, bool has_inside);

/* One rank alone whose receives NCCL measured: the other rank is late, the network slow, or the
 * other rank early; see gen_measured.c. */
enum gen_measured { GEN_MEASURED_LATE, GEN_MEASURED_NETWORK, GEN_MEASURED_EARLY };
void gen_measured(struct gen *gen, enum gen_measured how);

/* Requests of NCCL to network devices, of which some are slow; see gen_network.c. */
void gen_network(struct gen *gen);

/* Driver calls within calls of the runtime. */
void gen_nested(struct gen *gen);

/* A CUDA graph that operators captured: launched, updated, and one that was captured before. */
void gen_graph(struct gen *gen);

/* Calls that are only counted; two streams, an event and a wait, all named by handles alone. */
void gen_counted(struct gen *gen);

/* The same after CUPTI's IDs have wrapped: the IDs of the last two steps have the same low 32 bits
 * as those of the first two. */
void gen_wrapped(struct gen *gen);

/* One of a rank that stalls, and is killed in its second stall. */
void gen_hang(struct gen *gen);

/* A small stream with some of everything, for golden files and as seeds for fuzzing. */
void gen_small(struct gen *gen);

/* Rows of every table full of numbers and bytes that make no sense: a stream that is well-formed
 * and nothing else. */
void gen_wild(struct gen *gen, uint64_t seed);

/*
 * Texts, names, lengths and ids that mean harm to whoever shows or follows them; `dir` is where a
 * file lies that the stream names and nobody may open.
 */
void gen_hostile(struct gen *gen, const char *dir);

#endif
