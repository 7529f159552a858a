/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time budget: what the wall time of each step of a process went to. Every nanosecond of a step
 * belongs to exactly one part, so that the parts sum to the step. At any time the first that
 * applies counts:
 *
 *     computing       a kernel that computes runs on a GPU of the process
 *     copies, sets    a copy or memset runs; copies by their direction
 *     communication   a kernel of a collective runs; without GPUs, or on the host: a collective.
 *                     Where it is known when its ranks came (rank_waits.h) it is in turn
 *                     - transfer, from when the last of them came;
 *                     - communication, as long as one runs of which that is unknown;
 *                     - waiting for a rank, until then.
 *     idle            else, by what the work that ends the gap was waiting for. Its launch is the
 *                     call with its correlation ID (of several that begin together, the first):
 *                     - The gap up to the end of that launch counts by what the launching thread
 *                       did (host_states.h).
 *                     - The rest is launch latency.
 *                     - If the launch had ended before the gap began, or more than half of the gap
 *                       and more than BUDGET_LATENCY_NS lie behind it, all of it is latency; above
 *                       BUDGET_QUEUE_NS it is a dependency: on an event, another stream or process.
 *                     After the last work of a process its thread that launched last counts.
 *     unknown         all idle time of a process that lost too many activities of its launches: a
 *                     GPU may have worked then.
 *
 * A gap that began while the launching thread waited for the GPU was opened by that wait: `drained`
 * has the time of such gaps. So was one that began while another thread waited, if the launching
 * thread took over from it in the same step (host_sweep_is_handed_over): a program waits in one
 * thread and launches the next work in another one, as PyTorch does that of backward.
 *
 * A step ends with the last work that was launched in it, if that is later than its mark, and the
 * next one begins there; work of one step that outlasts the next is cut where that one begins. A
 * user's ranges, modules and steps are no operators: what lies in them counts.
 *
 * Fed by op_walk.c from the last event to the first. A step is closed, that is, summed, as soon as
 * all launches of the one before it are known. A step with more activities than BUDGET_MAX (or a
 * program without steps, which counts as one) is closed in stretches, the later half of them
 * at a time: exact where devices run work in the order of its launches. Events that come later for
 * a closed stretch are cut off and counted.
 *
 * Memory: the intervals of two steps, and of the host as far as it is ahead of devices, up to 8 MB
 * of each part and state (interval_queue.h); BUDGET_MAX activities, 32 MB, and with devices as
 * many kernels, 150 MB; 500 bytes for each step; that of compile_samples.h; with site_of that of
 * gap_owners.h and of busy_owners.h.
 */
#ifndef REPORT_BUDGET_BUDGET_H
#define REPORT_BUDGET_BUDGET_H

#include "report/budget/busy_owners.h"
#include "report/budget/compile_samples.h"
#include "report/budget/device_utilization.h"
#include "report/budget/gap_owners.h"
#include "report/budget/host_states.h"
#include "report/budget/launch_counter.h"
#include "report/budget/long_calls.h"
#include "report/comm/rank_waits.h"
#include "report/ops/op_launch.h"
#include "report/ops/op_walk.h"
#include "report/table/table.h"
#include "report/util/interval_queue.h"
#include "report/util/intervals.h"

enum budget_part {
	BUDGET_COMPUTING,
	BUDGET_UPLOAD,	 /* copies to a GPU */
	BUDGET_DOWNLOAD, /* copies from a GPU */
	BUDGET_COPY,	 /* other copies */
	BUDGET_SET,
	BUDGET_TRANSFER, /* communication, as the next two */
	BUDGET_COMMUNICATION,
	BUDGET_RANK_WAIT,
	BUDGET_HOST, /* from here on by enum host_state; the GPU is idle */
	BUDGET_USER = BUDGET_HOST + HOST_USER,
	BUDGET_LATENCY,
	BUDGET_DEPENDENCY,
	BUDGET_UNKNOWN, /* instead of all other idle time: see budget_has_lost */
	NR_BUDGET_PARTS,
	NR_BUDGET_BUSY = BUDGET_HOST,
	NR_BUDGET_IDLE = NR_BUDGET_PARTS - BUDGET_HOST,
};

/* Key, title and meaning of each part, for tables. */
extern const struct budget_part_text {
	const char *key, *title, *help;
} budget_part_texts[NR_BUDGET_PARTS];

/* A shorter time behind a launch is latency. A longer gap behind a launch is a dependency. */
#define BUDGET_LATENCY_NS 10000u
#define BUDGET_QUEUE_NS	  100000u

/* A launch that takes as long as this while the GPU is idle loads code. */
#define BUDGET_LOADING_NS 1000000u

/* Activities that are held at once, and intervals of a part out of order. */
#define BUDGET_MAX (1u << 20)

struct budget_step {
	uint64_t number;
	uint32_t place;		   /* as in phase_segment; 0: there are no steps */
	uint64_t begin_ns, end_ns; /* of the marks; then of the step as above */
	uint64_t device_end_ns;	   /* of what was launched in it */
	uint64_t devices_end_ns;   /* `devices` are up to there */
	uint64_t ns[NR_BUDGET_PARTS];
	/*
	 * By what the host did: parts of latency and dependencies, with budget.has_late, and of
	 * unknown time; parts of gaps that a wait opened
	 */
	uint64_t late_ns[NR_HOST_STATES + 1], drained_ns[NR_HOST_STATES + 1];
	uint64_t capture_ns; /* between the calls that begin and end the capture of a graph */
	struct device_utilization *devices; /* nr_devices of the budget at that time */
	size_t nr_devices;
	bool is_begun; /* its last stretch is closed, so its end is known */
	bool is_whole; /* all of it was recorded */
};

/*
 * A stretch within a step in which no GPU of the process works: one that lies in two steps is two.
 * The times of `ns` sum to it.
 */
struct budget_gap {
	const struct budget_step *step;
	uint64_t begin, end;
	uint64_t ns[NR_BUDGET_IDLE]; /* by part, from BUDGET_HOST on */
	bool is_of_host;	     /* else all of it is latency or a dependency */
	bool is_drained;	     /* opened by a wait */
	bool is_cut;		     /* no work ends it, or work behind a later piece of it does */
	/*
	 * With budget.site_of: the sites of what launched the work that ends it, and by state of
	 * the call or operator with most of it
	 */
	struct budget_site launch, owners[GAP_OWNER_STATES];
};

/*
 * Does on_owned get the time of that state in the gap, owner by owner? So it does of all states
 * that have owners but calls of the operating system in gaps that a wait opened.
 */
static inline bool budget_is_divided(const struct budget_gap *gap, unsigned int state)
{
	return state < NR_HOST_STATES && gap_owners_has((enum host_state)state) &&
	       (state != HOST_OS || !gap->is_drained);
}

/* Work that has owners while nothing else runs: parts of enum budget_part that it may be of. */
enum budget_owned {
	BUDGET_OWNED_UPLOADS,
	BUDGET_OWNED_DOWNLOADS,
	BUDGET_OWNED_COMMUNICATION, /* without waiting for a rank */
	NR_BUDGET_OWNED,
};

/* Sites that budget.site_of does not return. */
enum budget_unknown_site {
	BUDGET_SITE_UNKNOWN,
	BUDGET_SITE_NOTHING, /* no work ends the gap */
};

/* Work that may end a gap. */
struct budget_work {
	uint64_t begin, end;
	uint64_t launch_end; /* of its call; 0: unknown */
	uint32_t site;	     /* of its call, see budget.site_of */
	uint8_t slot;	     /* of the thread that launched it */
};

struct budget_works {
	struct budget_work *items;
	size_t head, nr, capacity; /* from head on; of a heap it is 0 */
};

/* So many streams may be at work for which the host is ahead by different times. */
#define BUDGET_RUNS 4u

/* The call that took longest, all its calls together. */
struct call_top {
	struct idmap ns; /* uint64_t by name */
	uint64_t most_ns;
	uint32_t name; /* of string_pool.h; 0: there was none */
};

struct budget {
	struct process *process;
	struct budget_step *steps; /* by time */
	size_t nr_steps;
	uint32_t *step_of;     /* 1 + index in steps, by budget_step.place; 0: none */
	size_t nr_open;	       /* steps still to be summed: the first ones */
	uint64_t closed_ns;    /* what is later belongs to steps that are */
	uint64_t closing_tick; /* the last open step can be closed from here on; if several are */
	uint64_t before_ns;    /* end of the work that was launched before the first step */
	struct interval_queue busy[NR_BUDGET_BUSY];
	struct host_states host;
	/* Work of what is not closed: most of it comes by falling begins, stream for stream; the
	 * rest is a heap, what begins last on top. */
	struct budget_works runs[BUDGET_RUNS], stray_works;
	size_t nr_works;	 /* of all of them */
	struct budget_work next; /* the first work behind what is closed; begin 0: none */
	struct idmap calls;	 /* by their ids in the stream, see budget.c */
	struct long_calls long_calls;
	/* The longest among calls that the user chose (select.h) */
	struct call_top slow;  /* that start up, in steps; without steps, or allocate or load */
	struct call_top waits; /* that wait, or read back */
	/* The call that came last: what it launched shows what it did. */
	struct {
		uint64_t begin, end, tick; /* the tick of its begin */
		uint32_t thread, name, site, step;
		uint8_t state, table;
		bool is_there, has_site;
	} call;
	uint64_t capture_end; /* of the capture of a graph that is under way, going back; 0: none */
	uint8_t last_slot;    /* of the thread that launched last; HOST_OTHERS: unknown */
	bool has_last;
	struct device_work work;
	size_t most; /* BUDGET_MAX; tests have it small */
	bool has_steps, has_devices;
	bool has_late;	  /* late_ns of steps is wanted */
	bool has_pauses;  /* devices count until the next step begins, as in TensorBoard */
	bool is_done;	  /* what is still to come is before the first step */
	bool is_too_much; /* more than that at once: nothing more is kept, nothing known */
	uint64_t nr_late; /* events that belong to steps already closed, cut off there */
	uint64_t nr_cut;  /* events cut off, since that stretch of their own step was closed */
	uint64_t nr_untimed;
	unsigned int loaders; /* bits of enum op_loader */
	/*
	 * The first and the last time of operators, ranges, calls of CUDA and activities; 0: there
	 * are none
	 */
	uint64_t seen_begin, seen_end;
	struct compile_samples compiled; /* states of their threads, too */
	size_t nr_compiled;		 /* those still to come: the first ones */
	uint64_t compiled_tick;		 /* the end of the last of these; 0: there are none */
	bool is_trimmed; /* nothing else counts: not calls of the system, nor the profiler's own
			    work */
	struct launch_counter counter;
	struct budget_launches launches; /* after budget_end */
	/* When ranks came to the operations of this process; NULL: unknown. */
	const struct rank_waits *rank_waits;
	/* Gets each gap of a step that is closed, from the last to the first; may be NULL. */
	void (*on_gap)(void *context, const struct budget_gap *gap);
	/*
	 * Gets the times of parts that have owners, with site_of: where they come from. Those of a
	 * gap come before it: see budget_is_divided.
	 */
	void (*on_owned)(void *context, const struct budget_step *step, enum budget_part part,
		const struct budget_site *site, uint64_t ns);
	/*
	 * Says where a call comes from, with the innermost operator around it; call NULL: where
	 * that operator does. name: of the kernel that it launched; 0: its own. Gaps have these
	 * numbers. NULL: nobody asks.
	 */
	uint32_t (*site_of)(
		void *context, uint32_t name, const struct op_call *call, const struct op *op);
	void *gap_context;
	/* Gets the CPU samples of each gap, see code_samples.h; NULL: nobody asks. */
	struct code_samples *code;
	/* with site_of: */
	struct gap_owners owners;
	struct busy_owners owned[NR_BUDGET_OWNED];
};

/* In the order of struct op_view's callbacks. has_devices: the devices of steps are wanted, too. */
void budget_begin(struct budget *budget, struct process *process, bool has_devices);
void budget_enter(struct budget *budget, const struct op *op);
/* For op_view.enter_wants. */
bool budget_wants_covered(uint32_t name, uint8_t framework, uint8_t scope);
void budget_call(struct budget *budget, const struct op_call *call, const struct op *op);
void budget_range(struct budget *budget, const struct op_range *range);
void budget_collection(struct budget *budget, const struct op_collection *collection);
void budget_record(struct budget *budget, const struct op_record *record,
	const struct op_call *call, const struct op *op);
void budget_end(struct budget *budget, const struct phases *phases);
void budget_fini(struct budget *budget);

/* Warns of what a budget that has ended lacks of a process, if anything: sanity_add. */
void budget_warn(const struct process *process, bool is_too_much, uint64_t nr_cut);

/*
 * After budget_end, for those who kept a gap of on_gap: its time is unknown if that of the steps
 * is.
 */
void budget_settle_gap(const struct budget *budget, struct budget_gap *gap);

/* ---- the same time as PyTorch's TensorBoard plugin divides it ---- */

/*
 * At any time the first of kernel, copy, set, communication, call of CUDA, data loader, operator on
 * the CPU that covers it, else other. The plugin's parts do not sum to a step that is covered
 * wholly.
 */
enum budget_plugin_part {
	BUDGET_PLUGIN_KERNEL,
	BUDGET_PLUGIN_MEMCPY,
	BUDGET_PLUGIN_MEMSET,
	BUDGET_PLUGIN_COMMUNICATION,
	BUDGET_PLUGIN_RUNTIME,
	BUDGET_PLUGIN_DATALOADER,
	BUDGET_PLUGIN_CPU,
	BUDGET_PLUGIN_OTHER,
	NR_BUDGET_PLUGIN_PARTS,
};

/* A column for each of them, titled as in TensorBoard. */
#define BUDGET_PLUGIN_COLUMNS                                                                    \
	TABLE_COLUMN("kernel_ns", "Kernel", TABLE_MEAN_TIME, .help = "a computing kernel runs"), \
		TABLE_COLUMN("memcpy_ns", "Memcpy", TABLE_MEAN_TIME, .help = "a copy runs"),     \
		TABLE_COLUMN("memset_ns", "Memset", TABLE_MEAN_TIME, .help = "a memset runs"),   \
		TABLE_COLUMN("communication_ns", "Communication", TABLE_MEAN_TIME,               \
			.help = "a communication kernel runs"),                                  \
		TABLE_COLUMN("runtime_ns", "Runtime", TABLE_MEAN_TIME,                           \
			.help = "the host is in a CUDA API call"),                               \
		TABLE_COLUMN("dataloader_ns", "DataLoader", TABLE_MEAN_TIME,                     \
			.help = "the host is in the data loader"),                               \
		TABLE_COLUMN("cpu_exec_ns", "CPU Exec", TABLE_MEAN_TIME,                         \
			.help = "the host is in an operator"),                                   \
		TABLE_COLUMN("other_ns", "Other", TABLE_MEAN_TIME, .help = "none of these")

void budget_plugin_parts(const struct budget_step *step, uint64_t ns[NR_BUDGET_PLUGIN_PARTS]);

/* ---- sums ---- */

/* All communication of `parts`. */
static inline uint64_t budget_communication(const uint64_t parts[NR_BUDGET_PARTS])
{
	return parts[BUDGET_TRANSFER] + parts[BUDGET_COMMUNICATION] + parts[BUDGET_RANK_WAIT];
}

/*
 * The parts that summaries of processes began with, numbered as in budget_lone_part. The others
 * came later and are facts of their own (reduced.h), in the order of budget_later_parts.
 */
#define NR_BUDGET_LONE_PARTS (NR_BUDGET_PARTS - 4u)

#define NR_BUDGET_LATER_PARTS 4u
extern const uint8_t budget_later_parts[NR_BUDGET_LATER_PARTS]; /* of enum budget_part */

/* Numbers in files. */
static inline unsigned int budget_lone_part(unsigned int number)
{
	const unsigned int gil = BUDGET_HOST + HOST_GIL, gc = BUDGET_HOST + HOST_GC;

	return number < BUDGET_TRANSFER		   ? number
	       : number == BUDGET_TRANSFER	   ? (unsigned int)BUDGET_COMMUNICATION
	       : number + 3 < gil		   ? number + 3
	       : number < NR_BUDGET_LONE_PARTS - 1 ? number + 5
						   : gc;
}

/* The sums over the whole steps of a process. */
enum budget_sum {
	BUDGET_SUM_STEPS, /* 0: all that was recorded is one */
	BUDGET_SUM_NS,
	BUDGET_SUM_PLUGIN, /* ns, by enum budget_plugin_part */
	BUDGET_SUM_CUT = BUDGET_SUM_PLUGIN + NR_BUDGET_PLUGIN_PARTS, /* events that lack a part */
	NR_BUDGET_SUMS,
};

/* The numbers of struct budget_launches, as facts of a process. */
#define NR_BUDGET_LAUNCHES 4u

static inline void budget_get_launches(
	const struct budget_launches *launches, uint64_t facts[NR_BUDGET_LAUNCHES])
{
	facts[0] = launches->all;
	facts[1] = launches->graphs;
	facts[2] = launches->lost;
	facts[3] = launches->timeless;
}

static inline struct budget_launches budget_set_launches(const uint64_t facts[NR_BUDGET_LAUNCHES])
{
	return (struct budget_launches){facts[0], facts[1], facts[2], facts[3]};
}

#endif
