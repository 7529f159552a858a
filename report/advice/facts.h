/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts of one process that the rules of `advice` judge: times of whole steps and what fills
 * them, kernels and copies by what is wrong with them, with the call sites that they come from.
 *
 * Times are of whole steps, or of all that was recorded where there are none (`base`). Kernels are
 * all that there are. Bounded by steps, different kernels and call sites, and the gaps that are
 * kept.
 */
#ifndef REPORT_ADVICE_FACTS_H
#define REPORT_ADVICE_FACTS_H

#include "report/gpu/gaps.h"
#include "report/gpu/overlap.h"
#include "report/gpu/utilization.h"
#include "report/budget/gap_places.h"
#include "report/model/model.h"
#include "report/model/os_files.h"
#include "report/ops/counted_steps.h"
#include "report/ops/op_walk.h"
#include "report/util/buf.h"
#include "report/util/hash.h"
#include "report/util/idmap.h"

/*
 * Sums of time by what is wrong with it, its cause, and for each cause by call sites (operator,
 * Python stack, and what was called or ran). Bounded by how many different sites there are, not by
 * how often they come.
 */

enum advice_cause {
	ADVICE_LOADER,	       /* time in a loader's __next__ */
	ADVICE_GAP,	       /* gaps of the time budget, by what ended them */
	ADVICE_LONG_GAP,       /* the long ones of these */
	ADVICE_COMMUNICATION,  /* kernels */
	ADVICE_MULTIPLY,       /* kernels that multiply matrices without tensor cores */
	ADVICE_OCCUPANCY,      /* kernels that fill little of a multiprocessor */
	ADVICE_SMALL_KERNEL,   /* launches that take longer than their kernels: by how much */
	ADVICE_PAGEABLE,       /* copies to devices from pageable memory */
	ADVICE_PAGEABLE_ASYNC, /* calls of the asynchronous ones of them */
	ADVICE_COPY_SYNC,      /* calls of synchronous copies, but no small ones to a device */
	ADVICE_SET_SYNC,       /* calls of synchronous sets */
	ADVICE_SMALL_COPY,     /* copies between host and devices of little */
	ADVICE_HOST_COPY,      /* large copies between host and devices */
	ADVICE_WAIT,	       /* calls that wait */
	ADVICE_LOADING,	       /* code that is loaded or compiled */
	ADVICE_ALLOCATION,     /* cudaMalloc, cudaFree and their kin */
	NR_ADVICE_CAUSES,
};

/* When: bits for masks. */
enum advice_when {
	ADVICE_OUTSIDE, /* of whole steps */
	ADVICE_FIRST,	/* in the first step, which warms up */
	ADVICE_LATER,	/* in others; everything where there are no steps */
	NR_ADVICE_WHENS,
};

struct advice_sum {
	uint64_t nr, ns;
};

struct advice_site {
	struct {
		uint32_t cause;
		struct gap_place_key place;
	} key;
	struct advice_sum sums[NR_ADVICE_WHENS];
	UT_hash_handle hh;
};

struct advice_sites {
	struct advice_site *sites;
	struct advice_sum sums[NR_ADVICE_CAUSES][NR_ADVICE_WHENS];
};

/* Divides sums into means: by how many, and the words for it. */
struct advice_mean {
	double nr;
	const char *per; /* as " per step", or "" */
};

/* Is that the name of the range that PyTorch has around a collective of NCCL, "nccl:all_reduce"? */
bool advice_is_nccl_range(const char *name);

/* Starts with all zeros. */
void advice_sites_fini(struct advice_sites *sites);

void advice_sites_add(struct advice_sites *sites, enum advice_cause cause, enum advice_when when,
	uint64_t ns, const struct gap_place_key *place);

void advice_sites_add_sum(struct advice_sites *sites, enum advice_cause cause,
	enum advice_when when, const struct advice_sum *sum, const struct gap_place_key *place);

/* Returns the sum over the times in the mask (1 << enum advice_when). */
struct advice_sum advice_sites_sum(
	const struct advice_sites *sites, enum advice_cause cause, unsigned int mask);

/* Returns the name of what was called or ran at the site with most time, "" if there is none. */
const char *advice_sites_top(
	const struct advice_sites *sites, enum advice_cause cause, unsigned int mask);

#define ADVICE_NR_TOP_SITES 3u

/* Puts the sites with most time there, those with most first; NULL behind them. */
void advice_sites_find_top(const struct advice_sites *sites, enum advice_cause cause,
	unsigned int mask, const struct advice_site **top);

/*
 * Appends the three sites with most time, as "12.3 ms, 40 x cudaMemcpy in aten::item, train.py(12):
 * step; ...": means, or sums if `mean` is NULL. Nothing if there are none. Names are made fit to be
 * shown. process: whose stacks they are; NULL: stacks are names.
 */
void advice_sites_add_text(const struct advice_sites *sites, enum advice_cause cause,
	unsigned int mask, struct process *process, const struct advice_mean *mean,
	struct buf *out);

/* Appends the same without times and numbers. */
void advice_sites_add_names(const struct advice_sites *sites, enum advice_cause cause,
	unsigned int mask, struct process *process, struct buf *out);

/* A copy is small up to here; a rate is taken of copies from there on. */
#define ADVICE_SMALL_COPY_BYTES (64u << 10)
#define ADVICE_LARGE_COPY_BYTES (1u << 20)

/* Percent of the warps that could be there. */
#define ADVICE_LOW_OCCUPANCY 25u

/* A kernel that begins within this of its launch's end was waited for. */
#define ADVICE_BEHIND_NS 20000u

/* The first launch of a kernel is slow if code is loaded for it. */
#define ADVICE_SLOW_LAUNCH_NS 1000000u

#define ADVICE_MAX_DEVICES 256u

struct advice_memory {
	uint64_t reserved_bytes, sampled_bytes, total_bytes; /* 0 unknown */
};

/* The first launch of a kernel. */
struct advice_launch {
	uint64_t ns; /* of the call */
	uint32_t name, op, py_stack;
	uint8_t when; /* enum advice_when */
};

/* A launch, with what it launched. */
struct advice_launched {
	uint64_t call_ns, activities_ns;
	uint32_t what, op, py_stack;
	uint8_t when;
	bool is_waited_for; /* something of it began as soon as it could */
};

struct advice_facts {
	struct process *process;
	bool is_brief; /* sentences want the names of places, but neither stacks nor rules */
	struct advice_sites sites;
	struct gap_places gap_places;
	struct gaps gaps;		 /* the longest gaps of the budget */
	struct gap gap;			 /* the last one; it may have begun in an earlier step */
	bool lacks_gaps;		 /* more of a step overlapped than budget.h holds */
	struct budget_launches launches; /* those lost may make idle time unknown */
	uint64_t starved_ns;	/* the host was in the data loader and no GPU worked, in `base` */
	size_t nr_devices;	/* that had work */
	uint64_t work_begin_ns; /* the first activity begins then */
	struct overlap_times times; /* of all devices, in `base` */
	uint64_t device_ns;	    /* `base` of all devices together; 0 without device records */
	uint64_t base_ns, first_ns; /* of the steps, or of the recording; of the first step */
	uint64_t nr_steps;	    /* whole ones, 0: `base` is the recording */
	uint64_t median_step_ns;
	unsigned int base_mask,
		later_mask; /* of advice_sites: of `base`, and but for its first step */
	uint64_t loader_ns;
	/* kernels, all that were recorded */
	uint64_t nr_kernels, kernel_ns, tensor_ns[3]; /* by enum tensor_use */
	uint64_t eligible_ns;	    /* that multiply, of operators that could use tensor cores */
	uint64_t unknown_ns;	    /* of those: whose names do not show whether they do */
	uint64_t kernel_union_ns;   /* of each device's kernels */
	uint64_t unjudged_ns;	    /* of which no occupancy is known */
	struct advice_sites limits; /* of occupancy: what it is limited by, ADVICE_OCCUPANCY */
	/*
	 * For causes of copies the time that their sums leave out: that of the calls, or of the
	 * copies.
	 */
	uint64_t other_ns[NR_ADVICE_CAUSES][NR_ADVICE_WHENS];
	uint64_t copied_bytes; /* large copies between host and devices; ADVICE_HOST_COPY has times
				*/
	struct idmap places;   /* bool, by place: those that ran kernels */
	uint32_t last_place;
	struct advice_memory memory[ADVICE_MAX_DEVICES];
	uint64_t longest_gap_ns, gap_limit_ns; /* the longest of the times that count */
	uint64_t nr_buckets, nr_low_buckets;   /* buckets of time, and those in which a device was
						  busy too little */
	uint32_t capability;		       /* the least of the devices: 75 is 7.5; 0 unknown */
	bool is_judged;			       /* it has a loop, or work on devices */
	/* Its device that others wait for longest; NULL: steps of its ranks cannot be compared. */
	const struct straggler *straggler;
	bool has_ops, has_loader, has_gpu, is_imported, is_training;
	bool uses_data_parallel, uses_ddp, uses_nccl, uses_gloo;
	const char *why_no_gpu;
	/* while it is collected */
	struct idmap shapes, calls, ops; /* see facts.c */
	struct idmap kernels;		 /* struct advice_launch, by the kernel's name */
	bool has_launched;		 /* some call that comes later launched something */
	struct advice_launched launched; /* the last launch: more of it may come */
	bool *is_recorded;		 /* steps, as phases_step counts */
	struct counted_steps counted;
	struct os_files os_files;
};

void advice_facts_init(struct advice_facts *facts, struct process *process);
void advice_facts_fini(struct advice_facts *facts);

/* The scan: a batch of alloc. */
void advice_facts_take_allocs(struct advice_facts *facts, const struct batch *batch);

/* The pass over operators, as in op_view. */
void advice_facts_begin(struct advice_facts *facts);
/* For op_view.op_wants. */
bool advice_facts_wants_op(uint32_t name, uint8_t framework, uint8_t scope);
void advice_facts_take_op(struct advice_facts *facts, const struct op *op);
void advice_facts_take_call(
	struct advice_facts *facts, const struct op_call *call, const struct op *op);
void advice_facts_take_record(struct advice_facts *facts, const struct op_record *record,
	const struct op_call *call, const struct op *op);
/* Do what site_of, on_gap and on_owned of budget.h ask for. */
uint32_t advice_facts_site(
	struct advice_facts *facts, uint32_t name, const struct op_call *call, const struct op *op);
void advice_facts_take_gap(struct advice_facts *facts, const struct budget_gap *gap);
void advice_facts_take_owned(struct advice_facts *facts, enum gap_cost cost,
	const struct budget_step *step, const struct budget_site *site, uint64_t ns);
/* Call it after the last gap: it adds what can be said once all of the process was seen. */
void advice_total(struct advice_facts *facts, const struct phases *phases,
	const struct overlap *overlap, const struct utilization *usage);

#endif
