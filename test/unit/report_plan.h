/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of advice share: a training loop as planned, of which rules may find something. */
#ifndef TEST_UNIT_REPORT_PLAN_H
#define TEST_UNIT_REPORT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#define PLAN_STEP_US 100000u
#define PLAN_STEPS   4u
#define PLAN_TENSOR  "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn"
#define PLAN_SGEMM   "volta_sgemm_128x64_nn"
#define PLAN_PLAIN   "void at::native::vectorized_elementwise_kernel<4>(int)"
#define PLAN_NCCL    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclWorkElem)"
#define PLAN_NEVER   UINT32_MAX

struct plan_work {
	const char *name;	       /* NULL: there is none */
	uint32_t begin, end;	       /* us of the step */
	uint32_t call_us, call_end_us; /* the launch; both 0: 10 us that end when it begins */
	uint32_t blocks; /* of its grid; 0: many. The device has 108 multiprocessors */
};

/* A step, which comes PLAN_STEPS times; all zeros is one that no rule has anything against. */
struct plan {
	uint32_t wait_us;		   /* 500 if 0; PLAN_NEVER: no loader */
	uint32_t busy_from_us, busy_to_us; /* of the GPU: 1,000 and 99,000 if 0 */
	uint32_t late_us;		   /* so much later in the last step */
	const char *kernel;		   /* that it is busy with */
	struct plan_work second;	   /* on another stream */
	struct {
		const char *name;
		uint32_t begin_us, end_us, copy_kind, source, target, flags;
		uint64_t bytes, ns; /* ns: instead of an end */
	} copy;			    /* or set, if copy_kind is 0 */
	struct {
		const char *name;
		uint32_t us;
		bool is_first_alone; /* in the first step alone */
	} call;
	uint32_t copy_call_us; /* how long the call of the copy takes; 1 if 0 */
	uint32_t graph_us;     /* a call at 20,000 that launches a graph of 100 kernels of 1 us */
	const char *ops[2];    /* seen, too */
	uint32_t capability;   /* 75 is 7.5; 80 if 0; PLAN_NEVER: unknown */
	uint32_t peak_bytes;   /* of 100 */
	uint32_t rank;	       /* counts from 1; 0: none */
	/* The host has so many NUMA nodes, with the GPU at node 1: permille of CPU time and of
	 * pinned pages at node 0. 0: unknown */
	struct {
		uint32_t nr_nodes, threads, pages;
		bool lacks_gpu; /* its node is unknown */
	} numa;
	bool has_no_devices, has_no_steps;
	bool is_trace;	     /* of PyTorch's profiler */
	bool ends_with_call; /* `call` once more behind all steps */
};

/* Its stream, in the test's directory. */
const char *plan_write(const struct plan *plan, const char *name);

#endif
