/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One plane of an XSpace, the trace format of XLA's profiler (xplane.proto in openxla/xla): lines
 * of events, and tables of the names of events and of their arguments ("stats").
 *
 * The names follow the events that use them, so a plane is read twice: first its tables, then its
 * events. All texts point into the bytes of the plane.
 */
#ifndef REPORT_IMPORT_XPLANE_PLANE_H
#define REPORT_IMPORT_XPLANE_PLANE_H

#include <string.h>

#include "report/import/xplane/wire.h"
#include "report/util/text.h"

/* Stats that are read, by their names in xplane_schema.cc. */
#define XPLANE_STATS(S)            \
	S(addr)                    \
	S(allocation_bytes)        \
	S(allocator_name)          \
	S(bytes_allocated)         \
	S(bytes_reserved)          \
	S(clock_rate)              \
	S(compute_cap_major)       \
	S(compute_cap_minor)       \
	S(context_id)              \
	S(core_count)              \
	S(correlation_id)          \
	S(cuda_driver_version)     \
	S(cuda_graph_exec_id)      \
	S(cuda_graph_id)           \
	S(cuda_graph_node_id)      \
	S(cuda_runtime_version)    \
	S(device_id)               \
	S(device_type_string)      \
	S(gpu_device_name)         \
	S(hlo_module)              \
	S(hlo_op)                  \
	S(jax_version)             \
	S(jaxlib_version)          \
	S(kernel_details)          \
	S(memalloc_details)        \
	S(memcpy_details)          \
	S(memory_bandwidth)        \
	S(memory_size)             \
	S(MemFree_details)         \
	S(MemoryResidency_details) \
	S(Memset_details)          \
	S(process_id)              \
	S(profile_start_time)      \
	S(step_num)

enum xplane_stat {
#define S(name) XPLANE_##name,
	XPLANE_STATS(S)
#undef S
		XPLANE_NR_STATS,
};

/* The numbers and texts of a plane, an event or a kind of event; a number has no text. */
struct xplane_stats {
	uint64_t has; /* a bit for each enum xplane_stat */
	struct xplane_value {
		uint64_t
			number; /* negative ones in two's complement; of a fraction what is whole */
		struct wire text;
	} values[XPLANE_NR_STATS];
};

static inline bool xplane_has(const struct xplane_stats *stats, enum xplane_stat stat)
{
	return (stats->has >> stat & 1) != 0;
}

/* The number of a stat, 0 if there is none. */
static inline uint64_t xplane_number(const struct xplane_stats *stats, enum xplane_stat stat)
{
	return xplane_has(stats, stat) ? stats->values[stat].number : 0;
}

/* The text of a stat, empty if there is none. */
static inline struct wire xplane_text(const struct xplane_stats *stats, enum xplane_stat stat)
{
	return xplane_has(stats, stat) ? stats->values[stat].text : (struct wire){0};
}

static inline bool xplane_is(const struct wire *text, const char *other)
{
	return text_is((const char *)text->at, wire_length(text), other);
}

static inline bool xplane_begins(const struct wire *text, const char *prefix)
{
	return wire_length(text) >= strlen(prefix) && !memcmp(text->at, prefix, strlen(prefix));
}

/* The plain decimal number that a text begins with after `prefix`, anywhere; false: none. */
bool xplane_find_number(const struct wire *text, const char *prefix, uint64_t *value);

struct xplane_kind; /* of events */
struct xplane_name; /* of a stat */

struct xplane_plane {
	struct wire name;
	struct wire *lines;
	size_t nr_lines, line_capacity;
	struct xplane_kind *kinds;
	struct xplane_name *names;
	struct xplane_kind *last_kind;
	struct xplane_stats stats;
	uint64_t nr_bad; /* messages that are damaged; they lose what follows in them */
};

struct xplane_line {
	struct wire name;
	int64_t id, timestamp_ns;
	struct wire events; /* all fields of the line, for xplane_event_next */
};

struct xplane_event {
	struct wire name, display_name; /* the latter is mostly empty */
	bool is_aggregate;		/* a number of occurrences without a time */
	bool has_time;			/* false: out of the range of 64-bit nanoseconds */
	uint64_t begin, end;		/* ns of the trace's clock, each rounded to the nearest */
	struct xplane_stats stats;
};

/* Reads the tables of a plane. The bytes must stay until xplane_plane_fini. */
void xplane_plane_init(struct xplane_plane *plane, const struct wire *bytes);
void xplane_plane_fini(struct xplane_plane *plane);

/* Reads what a line says of itself. */
void xplane_line_init(
	struct xplane_plane *plane, struct xplane_line *line, const struct wire *bytes);

/* The next event of a line; false at its end. */
bool xplane_event_next(
	struct xplane_plane *plane, struct xplane_line *line, struct xplane_event *event);

#endif
