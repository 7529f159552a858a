/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of a Perfetto trace (perfetto.proto) into a buffer. All stand in one sequence, which has
 * its texts once: categories and keys at its begin, names and texts before the first that uses
 * them. Times are ns on an axis of the caller's.
 */
#ifndef REPORT_TIMELINE_PERFETTO_OUT_H
#define REPORT_TIMELINE_PERFETTO_OUT_H

#include "report/util/buf.h"
#include "report/util/idset.h"

enum pftrace_category {
	PFTRACE_NONE,
	PFTRACE_RUNTIME,
	PFTRACE_DRIVER,
	PFTRACE_LIBRARY,
	PFTRACE_OPERATOR,
	PFTRACE_ANNOTATION,
	PFTRACE_PYTHON,
	PFTRACE_KERNEL,
	PFTRACE_NCCL,
	PFTRACE_COPY,
	PFTRACE_SET,
	PFTRACE_SYNC,
	PFTRACE_OVERHEAD,
	PFTRACE_STEP,
	PFTRACE_MARK,
	PFTRACE_COMM,
	PFTRACE_NCCL_API,
	PFTRACE_NR_CATEGORIES,
};

enum pftrace_key {
	PFTRACE_KEY_NONE,
	PFTRACE_KEY_CORRELATION,
	PFTRACE_KEY_RESULT,
	PFTRACE_KEY_STACK,
	PFTRACE_KEY_SEQUENCE,
	PFTRACE_KEY_INPUTS,
	PFTRACE_KEY_PAYLOAD,
	PFTRACE_KEY_DEVICE,
	PFTRACE_KEY_CONTEXT,
	PFTRACE_KEY_STREAM,
	PFTRACE_KEY_GRAPH,
	PFTRACE_KEY_GRAPH_NODE,
	PFTRACE_KEY_BYTES,
	PFTRACE_KEY_RATE,
	PFTRACE_KEY_GRID,
	PFTRACE_KEY_BLOCK,
	PFTRACE_KEY_CLUSTER,
	PFTRACE_KEY_REGISTERS,
	PFTRACE_KEY_STATIC_SHARED,
	PFTRACE_KEY_DYNAMIC_SHARED,
	PFTRACE_KEY_BLOCKS_PER_SM,
	PFTRACE_KEY_WARPS_PER_SM,
	PFTRACE_KEY_OCCUPANCY,
	PFTRACE_KEY_LIMITER,
	PFTRACE_KEY_COUNT,
	PFTRACE_KEY_CODE,
	PFTRACE_KEY_ALGBW,
	PFTRACE_KEY_COMM,
	PFTRACE_NR_KEYS,
};

struct pftrace_event;

/* What a track is, for those who take no packets. */
enum pftrace_track_kind { PFTRACE_TRACK_PROCESS, PFTRACE_TRACK_THREAD, PFTRACE_TRACK_OTHER };

struct pftrace_track {
	uint64_t track, parent; /* parent 0: none */
	const char *name;	/* UTF-8 */
	const char *label;	/* of a process */
	int32_t rank;		/* of its order among its siblings */
	enum pftrace_track_kind kind;
};

/*
 * Takes tracks, slices and moments in place of packets; counters are not for it. Slices of a track
 * come as they go into packets: an end is of the innermost one that is open.
 */
struct pftrace_sink {
	void (*track)(void *context, const struct pftrace_track *track);
	void (*slice)(void *context, const struct pftrace_event *event, bool is_moment);
	void (*slice_end)(void *context, uint64_t track); /* moments have none */
	void *context;
};

struct pftrace_out {
	struct buf *buf;
	const struct pftrace_sink *sink; /* NULL: packets into buf */
	struct idset *names, *texts;	 /* of names.h, that were written */
	uint8_t *packet;		 /* room for one */
	size_t capacity;
	uint64_t nr_slices, nr_instants, nr_counts;
};

enum pftrace_value { PFTRACE_UINT, PFTRACE_INT, PFTRACE_DOUBLE, PFTRACE_TEXT };

struct pftrace_arg {
	uint8_t key;  /* enum pftrace_key */
	uint8_t kind; /* enum pftrace_value */
	union {
		uint64_t number;
		int64_t integer;
		double real;
		uint32_t text; /* of names.h */
	};
};

#define PFTRACE_ARGS  16u
#define PFTRACE_FLOWS 4u

struct pftrace_event {
	uint64_t track, ns;
	uint64_t dur_ns; /* of a slice; packets tell its end by itself */
	uint32_t name;	 /* of names.h */
	uint8_t category;
	uint8_t nr_args, nr_flows;
	struct pftrace_arg args[PFTRACE_ARGS];
	uint64_t flows[PFTRACE_FLOWS]; /* the same number at both ends, 0 is none */
	const struct buf *packed;      /* more arguments, by pftrace_out_pack; NULL none */
};

/* Words of the file: "cuda_runtime", "registers per thread"; NULL for PFTRACE_NONE. */
const char *pftrace_category_word(enum pftrace_category category);
const char *pftrace_key_word(enum pftrace_key key);

/* Writes what stands first. realtime_ns: CLOCK_REALTIME at ns. */
void pftrace_out_begin(struct pftrace_out *out, struct buf *buf, uint64_t ns, uint64_t realtime_ns);
void pftrace_out_begin_sink(struct pftrace_out *out, const struct pftrace_sink *sink);
void pftrace_out_end(struct pftrace_out *out);

/* Tracks must be written before events name them. Names are UTF-8. rank: their order. */
void pftrace_out_process(struct pftrace_out *out, uint64_t track, uint32_t pid, const char *name,
	const char *label, int32_t rank);
void pftrace_out_thread(struct pftrace_out *out, uint64_t track, uint64_t parent, uint32_t pid,
	uint32_t tid, const char *name, int32_t rank);
void pftrace_out_track(
	struct pftrace_out *out, uint64_t track, uint64_t parent, const char *name, int32_t rank);
void pftrace_out_counter_track(struct pftrace_out *out, uint64_t track, uint64_t parent,
	const char *name, const char *unit, int32_t rank);

/* The begin of a slice, or a moment; its end; a value of a counter. */
void pftrace_out_slice(struct pftrace_out *out, const struct pftrace_event *event);
void pftrace_out_instant(struct pftrace_out *out, const struct pftrace_event *event);
void pftrace_out_slice_end(struct pftrace_out *out, uint64_t track, uint64_t ns);
void pftrace_out_count(struct pftrace_out *out, uint64_t track, uint64_t ns, double value);

/* Adds one; without effect where there is no room. */
void pftrace_event_uint(struct pftrace_event *event, enum pftrace_key key, uint64_t number);
void pftrace_event_int(struct pftrace_event *event, enum pftrace_key key, int64_t integer);
void pftrace_event_double(struct pftrace_event *event, enum pftrace_key key, double real);
void pftrace_event_text(struct pftrace_event *event, enum pftrace_key key, uint32_t text);
void pftrace_event_flow(struct pftrace_event *event, uint64_t flow);

/*
 * Writes the texts of the arguments and packs these, for events that have the same again. For a
 * sink `packed` holds them as they are, struct pftrace_arg.
 */
void pftrace_out_pack(
	struct pftrace_out *out, const struct pftrace_event *event, struct buf *packed);

#endif
