/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figures of the first screen: what ran, how long a step takes, where its time goes, and how
 * much it computes.
 *
 *     processes  Those with the training loop count: with steps, on GPUs, with ranks, with
 *                operators, each as far as any process has such. A rank that trains needs no
 *                operators. The others are helpers.
 *     steps      A step of a job takes as long as in its slowest rank: of those that have it the
 *                one whose steps that count take longest on average. Ranks that wait for each
 *                other take as long as that one; of others the job lasts until it has ended. The
 *                longest of each step would be longer than either. Steps that warm up and outliers
 *                do not count (step_series.h), unless the user chose the steps.
 *     shares     Each nanosecond of a step counts once (budget.h), of the steps of each process
 *                that count by its own (counted_steps.h). Without steps all of the recording
 *                counts.
 *     FLOP/s     The operations of operators with recorded shapes (flops.h), per GPU. MFU is the
 *                time that they take at the peak of the GPU for their types of numbers, as a share
 *                of the steps. Both are unknown if a convolution has an output of unknown size.
 *
 * Memory: that of budget.h, and 350 bytes a step.
 */
#ifndef REPORT_ANALYSIS_HEADLINE_H
#define REPORT_ANALYSIS_HEADLINE_H

#include "report/budget/budget.h"
#include "report/budget/cpu_waits.h"
#include "report/model/gpu_peak.h"
#include "report/ops/gc_sums.h"
#include "report/stats/step_series.h"
#include "report/table/figure_lines.h"

/* Floating-point operations, and how long they take at the peak of the GPU. */
struct headline_flops {
	double flops, peak_ns;
	double without_peak; /* those whose peak is unknown */
	bool lacks_sizes;    /* some are unknown: flops_lack_size */
};

struct headline_step {
	uint64_t number, ns;
	uint64_t begin_ns; /* CLOCK_MONOTONIC */
	uint32_t place;	   /* as in budget_step */
	uint64_t parts[NR_BUDGET_PARTS], phases[NR_PHASES];
	uint64_t drained[NR_HOST_STATES + 1]; /* as in budget_step */
	uint64_t capture_ns;		      /* the same */
	struct cpu_wait cpu_wait;
	bool counts, is_outlier; /* as counted_steps.h has it */
	struct headline_flops flops;
};

/* The loop takes a batch from its loader, or learns that there is none left. CLOCK_MONOTONIC. */
struct headline_batch {
	uint64_t begin_ns, end_ns;
};

struct headline_process {
	struct process *process;
	struct gc_sums *gc;	     /* NULL: nothing was collected */
	struct code_samples *code;   /* NULL: there are none, or nobody asks */
	struct cpu_times cpu_times;  /* all zeros: there are no samples */
	struct headline_step *steps; /* whole ones; without steps one with all of the recording */
	size_t nr_steps;
	struct headline_batch *batches; /* in their order */
	size_t nr_batches;
	uint32_t *devices; /* that had work */
	size_t nr_devices, device_capacity;
	struct budget_launches launches;
	uint32_t slow_name, wait_name; /* calls with most time in the budget; 0: none */
	uint8_t maker;		       /* enum device_maker */
	bool has_torch;
	bool has_compiled;	/* code that torch.compile made */
	unsigned int compilers; /* bits of enum op_compiler, of ranges that mark compilations */
	struct compile_samples compiled; /* those that samples show */
	bool has_operators;		 /* beside user ranges, steps and loaders */
	bool has_calls;			 /* it called CUDA, HIP or another GPU library */
	bool has_steps, has_gpu, has_ops;
	bool has_phases;      /* of a training: Forward and the others are known */
	bool has_parts;	      /* not more overlapped than budget.h holds */
	bool is_main;	      /* it counts */
	bool is_selected;     /* the user chose its steps */
	unsigned int loaders; /* bits of enum op_loader, of what the budget has */
};

#define HEADLINE_UNKNOWN_GPUS SIZE_MAX

/* The figures of all processes that count. */
struct headline_figures {
	const struct process *first;
	size_t nr_processes, nr_helpers, nr_ranks, nr_hosts;
	size_t nr_gpus;	   /* HEADLINE_UNKNOWN_GPUS: not known */
	uint32_t gpu_name; /* of string_pool.h; 0: they differ, or there are none */
	size_t nr_listed;  /* GPUs that the recording describes, with activities or without */
	bool has_calls;	   /* of CUDA or its like */
	uint64_t span_ns;  /* longest recording of a process, without what is left out */
	bool has_steps, has_gpu, has_parts, has_phases;
	bool is_selected;	   /* the user chose the steps */
	size_t nr_steps;	   /* those that count */
	uint64_t counted_ns;	   /* sum of these */
	struct step_series series; /* the others */
	bool has_all_parts;	   /* `parts` are of the others, too */
	bool has_lone_parts;	   /* each process was read by itself, not matched to others */
	size_t nr_step_rows;	   /* steps of each process that count, added up */
	double median_ns, mean_ns;
	uint64_t p99_ns;
	bool has_trend;
	double trend_pct;
	uint64_t parts_ns, parts[NR_BUDGET_PARTS]; /* of the first: all of them together */
	uint64_t drained[NR_HOST_STATES + 1];	   /* of these, in gaps that a wait opened */
	uint64_t capture_ns, nr_capturing;	   /* captures of graphs; steps with any */
	struct cpu_wait cpu_wait;		   /* in the steps that `parts` are of */
	struct budget_launches launches;
	bool has_lost;		       /* a process has unknown idle time, see budget.h */
	uint32_t slow_name, wait_name; /* as in headline_process, of the first that has one */
	uint8_t maker; /* enum device_maker, of the first process in which it is known */
	bool has_torch, has_compiled, has_operators; /* any of them has */
	unsigned int compilers;			     /* as there, of all of them */
	unsigned int loaders;			     /* bits of enum op_loader, of all of them */
	uint64_t phases_ns, phases[NR_PHASES];
	/* Sums over the outliers of each process */
	uint64_t nr_outlier_rows, outlier_ns, outlier_compilation_ns, outlier_phases[NR_PHASES];
	double flops_per_s, mfu_pct; /* 0 and NAN: unknown */
	bool lacks_sizes;	     /* therefore they are unknown, as in headline_flops */
};

struct headline {
	struct headline_process *processes;
	size_t nr_processes;
	struct headline_process *at;  /* the process being read */
	struct budget budget;	      /* of the process being read */
	struct headline_flops *flops; /* of it, by step as phases_step counts */
	struct gpu_peak peak;
	uint32_t last_place;
	size_t last_step;
	/* Each budget gets these, see budget.h; they may be NULL. */
	void (*on_gap)(void *context, const struct budget_gap *gap);
	void (*on_owned)(void *context, const struct budget_step *step, enum budget_part part,
		const struct budget_site *site, uint64_t ns);
	uint32_t (*site_of)(
		void *context, uint32_t name, const struct op_call *call, const struct op *op);
	void *gap_context;
	const struct rank_waits *rank_waits;
	bool wants_code; /* processes get their `code` */
};

/*
 * The callbacks that a view hands on, see struct view_part; context: the headline, which starts
 * with all zeros.
 */
extern const struct op_view headline_ops;
void headline_fini(struct headline *headline);

/* A step of the job, as its slowest rank has it; in headline_join_steps of any rank. */
struct headline_job_step {
	uint64_t number, ns;
	double rank_ns; /* mean of the steps of that rank that count */
};

/* Sorts the steps of all ranks, and leaves that of the slowest one of each number. */
size_t headline_join_steps(struct headline_job_step *steps, size_t nr);

/*
 * The steps that count, by rising numbers, after headline_figures: those of which its median is.
 * The caller frees them.
 */
struct headline_job_step *headline_job_steps(
	const struct headline *headline, const struct headline_figures *figures, size_t *nr);

/* After all processes. */
void headline_figures(struct headline *headline, struct headline_figures *figures);

/*
 * Reads steps alone, without calls and activities: the figures have the program, the ranks and the
 * times of steps of the first screen, and no parts. The caller calls headline_fini.
 */
void headline_read_steps(struct headline *headline, struct headline_figures *figures,
	struct process *const *processes, size_t nr_processes);

/*
 * Decides which of the joined steps count, unless the user chose them, and sets the statistics of
 * their times.
 */
void headline_set_steps(
	struct headline_figures *figures, const struct headline_job_step *steps, size_t nr);

/* All of them, also those that do not count. */
size_t headline_nr_steps(const struct headline_figures *figures);

/* ---- its lines ---- */

/* The numbers of shares of parts of the budget, and of phases. */
#define HEADLINE_NR_GPU_SHARES	 18u
#define HEADLINE_NR_CPU_SHARES	 9u
#define HEADLINE_NR_PHASE_SHARES 5u
#define HEADLINE_NR_WAIT_SHARES	 2u /* of the communication, where they are known */

/* A line "INCOMPLETE ..." and others, as of run_state_add_losses, if anything is missing. */
void headline_add_losses(struct figure_lines *lines, const struct headline_figures *figures,
	struct process *const *processes, size_t nr_processes);
void headline_add_step(struct figure_lines *lines, const struct headline_figures *figures);
void headline_add_outliers(struct figure_lines *lines, const struct headline_figures *figures);
void headline_add_gpu_shares(struct figure_lines *lines, const struct headline_figures *figures);
void headline_add_cpu_shares(struct figure_lines *lines, const struct headline_figures *figures);

/*
 * Adds the words for a run where no GPU has activities: that there is none, or that none were
 * recorded.
 */
void headline_add_no_gpu(struct buf *out, const struct headline_figures *figures);

/* ---- its row ---- */

#define HEADLINE_NR_FINDINGS	    3u
#define HEADLINE_NR_FINDING_COLUMNS 3u /* sentence, saved, its share */

enum headline_column {
	HEADLINE_PROGRAM,
	HEADLINE_PROCESSES,
	HEADLINE_HELPERS,
	HEADLINE_RANKS,
	HEADLINE_HOSTS,
	HEADLINE_GPUS,
	HEADLINE_GPU_NAME,
	HEADLINE_SPAN,
	HEADLINE_STEPS,
	HEADLINE_WARM_UP,
	HEADLINE_OUTLIERS,
	HEADLINE_OUTLIERS_NS,
	HEADLINE_MEDIAN,
	HEADLINE_MEAN,
	HEADLINE_P99,
	HEADLINE_TREND,
	HEADLINE_GPU_SHARES,
	HEADLINE_CPU_SHARES = HEADLINE_GPU_SHARES + 2 * HEADLINE_NR_GPU_SHARES,
	HEADLINE_PHASE_SHARES = HEADLINE_CPU_SHARES + 2 * HEADLINE_NR_CPU_SHARES,
	HEADLINE_WAIT_SHARES = HEADLINE_PHASE_SHARES + 2 * HEADLINE_NR_PHASE_SHARES,
	HEADLINE_FLOPS = HEADLINE_WAIT_SHARES + 2 * HEADLINE_NR_WAIT_SHARES,
	HEADLINE_MFU,
	HEADLINE_FINDINGS,
	HEADLINE_INCOMPLETE =
		HEADLINE_FINDINGS + HEADLINE_NR_FINDING_COLUMNS * HEADLINE_NR_FINDINGS,
	HEADLINE_NR_COLUMNS,
};

extern const struct table_column headline_columns[HEADLINE_NR_COLUMNS];

/* Sets all cells but those of the program, the findings and the incomplete processes. */
void headline_fill(const struct headline_figures *figures, struct table_cell *cells);

#endif
