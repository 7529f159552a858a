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

enum perfetto_category {
	PERFETTO_NONE,
	PERFETTO_RUNTIME,
	PERFETTO_DRIVER,
	PERFETTO_LIBRARY,
	PERFETTO_OPERATOR,
	PERFETTO_ANNOTATION,
	PERFETTO_PYTHON,
	PERFETTO_KERNEL,
	PERFETTO_NCCL,
	PERFETTO_COPY,
	PERFETTO_SET,
	PERFETTO_SYNC,
	PERFETTO_OVERHEAD,
	PERFETTO_STEP,
	PERFETTO_MARK,
	PERFETTO_COMM,
	PERFETTO_NCCL_API,
	PERFETTO_NR_CATEGORIES,
};

enum perfetto_key {
	PERFETTO_KEY_NONE,
	PERFETTO_KEY_CORRELATION,
	PERFETTO_KEY_RESULT,
	PERFETTO_KEY_STACK,
	PERFETTO_KEY_SEQUENCE,
	PERFETTO_KEY_INPUTS,
	PERFETTO_KEY_PAYLOAD,
	PERFETTO_KEY_DEVICE,
	PERFETTO_KEY_CONTEXT,
	PERFETTO_KEY_STREAM,
	PERFETTO_KEY_GRAPH,
	PERFETTO_KEY_GRAPH_NODE,
	PERFETTO_KEY_BYTES,
	PERFETTO_KEY_RATE,
	PERFETTO_KEY_GRID,
	PERFETTO_KEY_BLOCK,
	PERFETTO_KEY_CLUSTER,
	PERFETTO_KEY_REGISTERS,
	PERFETTO_KEY_STATIC_SHARED,
	PERFETTO_KEY_DYNAMIC_SHARED,
	PERFETTO_KEY_BLOCKS_PER_SM,
	PERFETTO_KEY_WARPS_PER_SM,
	PERFETTO_KEY_OCCUPANCY,
	PERFETTO_KEY_LIMITER,
	PERFETTO_KEY_COUNT,
	PERFETTO_KEY_CODE,
	PERFETTO_KEY_ALGBW,
	PERFETTO_KEY_COMM,
	PERFETTO_NR_KEYS,
};

struct perfetto_event;

/* What a track is, for those who take no packets. */
enum perfetto_track_kind { PERFETTO_TRACK_PROCESS, PERFETTO_TRACK_THREAD, PERFETTO_TRACK_OTHER };

struct perfetto_track {
	uint64_t track, parent; /* parent 0: none */
	const char *name;	/* UTF-8 */
	const char *label;	/* of a process */
	int32_t rank;		/* of its order among its siblings */
	enum perfetto_track_kind kind;
};

/*
 * Takes tracks, slices and moments in place of packets; counters are not for it. Slices of a track
 * come as they go into packets: an end is of the innermost one that is open.
 */
struct perfetto_sink {
	void (*track)(void *context, const struct perfetto_track *track);
	void (*slice)(void *context, const struct perfetto_event *event, bool is_moment);
	void (*slice_end)(void *context, uint64_t track); /* moments have none */
	void *context;
};

struct perfetto_out {
	struct buf *buf;
	const struct perfetto_sink *sink; /* NULL: packets into buf */
	struct idset *names, *texts;	  /* of names.h, that were written */
	uint8_t *packet;		  /* room for one */
	size_t capacity;
	uint64_t nr_slices, nr_instants, nr_counts;
};

enum perfetto_value { PERFETTO_UINT, PERFETTO_INT, PERFETTO_DOUBLE, PERFETTO_TEXT };

struct perfetto_arg {
	uint8_t key;  /* enum perfetto_key */
	uint8_t kind; /* enum perfetto_value */
	union {
		uint64_t number;
		int64_t integer;
		double real;
		uint32_t text; /* of names.h */
	};
};

#define PERFETTO_ARGS  16u
#define PERFETTO_FLOWS 4u

struct perfetto_event {
	uint64_t track, ns;
	uint64_t dur_ns; /* of a slice; packets tell its end by itself */
	uint32_t name;	 /* of names.h */
	uint8_t category;
	uint8_t nr_args, nr_flows;
	struct perfetto_arg args[PERFETTO_ARGS];
	uint64_t flows[PERFETTO_FLOWS]; /* the same number at both ends, 0 is none */
	const struct buf *packed;	/* more arguments, by perfetto_out_pack; NULL none */
};

/* Words of the file: "cuda_runtime", "registers per thread"; NULL for PERFETTO_NONE. */
const char *perfetto_category_word(enum perfetto_category category);
const char *perfetto_key_word(enum perfetto_key key);

/* Writes what stands first. realtime_ns: CLOCK_REALTIME at ns. */
void perfetto_out_begin(
	struct perfetto_out *out, struct buf *buf, uint64_t ns, uint64_t realtime_ns);
void perfetto_out_begin_sink(struct perfetto_out *out, const struct perfetto_sink *sink);
void perfetto_out_end(struct perfetto_out *out);

/* Tracks must be written before events name them. Names are UTF-8. rank: their order. */
void perfetto_out_process(struct perfetto_out *out, uint64_t track, uint32_t pid, const char *name,
	const char *label, int32_t rank);
void perfetto_out_thread(struct perfetto_out *out, uint64_t track, uint64_t parent, uint32_t pid,
	uint32_t tid, const char *name, int32_t rank);
void perfetto_out_track(
	struct perfetto_out *out, uint64_t track, uint64_t parent, const char *name, int32_t rank);
void perfetto_out_counter_track(struct perfetto_out *out, uint64_t track, uint64_t parent,
	const char *name, const char *unit, int32_t rank);

/* The begin of a slice, or a moment; its end; a value of a counter. */
void perfetto_out_slice(struct perfetto_out *out, const struct perfetto_event *event);
void perfetto_out_instant(struct perfetto_out *out, const struct perfetto_event *event);
void perfetto_out_slice_end(struct perfetto_out *out, uint64_t track, uint64_t ns);
void perfetto_out_count(struct perfetto_out *out, uint64_t track, uint64_t ns, double value);

/* Adds one; without effect where there is no room. */
void perfetto_event_uint(struct perfetto_event *event, enum perfetto_key key, uint64_t number);
void perfetto_event_int(struct perfetto_event *event, enum perfetto_key key, int64_t integer);
void perfetto_event_double(struct perfetto_event *event, enum perfetto_key key, double real);
void perfetto_event_text(struct perfetto_event *event, enum perfetto_key key, uint32_t text);
void perfetto_event_flow(struct perfetto_event *event, uint64_t flow);

/*
 * Writes the texts of the arguments and packs these, for events that have the same again. For a
 * sink `packed` holds them as they are, struct perfetto_arg.
 */
void perfetto_out_pack(
	struct perfetto_out *out, const struct perfetto_event *event, struct buf *packed);

#endif
