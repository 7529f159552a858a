/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/timeline.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "report/html/timeline_out.h"
#include "report/timeline/perfetto.h"

/* More in one row's depth share the last one. */
#define DEEPEST 255u

/* What compressed slices take at least; more of them than that are never kept. */
#define SLICE_BYTES 3u
#define MOST_SLICES 1000000u

/* ---- tracks and rows ---- */

static void take_track(void *context, const struct perfetto_track *track)
{
	struct html_timeline *timeline = context;
	struct html_track *new = idmap_put(&timeline->tracks, (uint32_t)track->track);
	const char *label = track->label ? track->label : "";

	timeline->process += track->kind == PERFETTO_TRACK_PROCESS;
	*new = (struct html_track){.parent = (uint32_t)track->parent,
		.process = timeline->process,
		.rank = track->rank,
		.kind = (uint8_t)track->kind,
		.name = string_pool_intern(track->name, strlen(track->name)),
		.label = string_pool_intern(label, strlen(label))};
}

static uint32_t row_of(struct html_timeline *timeline, uint32_t track_id, struct html_track *track)
{
	uint32_t depth = track->nr_open < DEEPEST ? track->nr_open : DEEPEST;

	while (depth >= track->nr_rows) {
		track->rows = array_grow(
			track->rows, track->nr_rows, &track->row_capacity, sizeof(*track->rows));
		timeline->rows = array_grow(timeline->rows, timeline->nr_rows,
			&timeline->row_capacity, sizeof(*timeline->rows));
		timeline->rows[timeline->nr_rows] =
			(struct html_row){(uint32_t)idmap_find(&timeline->tracks, track_id),
				(uint32_t)track->nr_rows};
		track->rows[track->nr_rows++] = (uint32_t)timeline->nr_rows++;
	}
	return track->rows[depth];
}

/* ---- arguments ---- */

/* What is the same for many slices is a set, known by its bytes. */
struct set {
	uint8_t category;
	uint8_t is_moment;
	uint8_t nr_args;
	struct {
		uint8_t key, kind;
		uint64_t value;
	} __attribute__((packed)) args[2 * PERFETTO_ARGS];
} __attribute__((packed));

static bool is_own_number(const struct perfetto_arg *arg)
{
	return arg->kind == PERFETTO_UINT && arg->number >> 53 == 0 &&
	       (arg->key == PERFETTO_KEY_BYTES || arg->key == PERFETTO_KEY_SEQUENCE ||
		       arg->key == PERFETTO_KEY_PAYLOAD || arg->key == PERFETTO_KEY_GRAPH_NODE);
}

static void add_args(struct set *set, struct html_slice *slice, const struct perfetto_arg *args,
	size_t nr, bool *has_number)
{
	for (size_t i = 0; i < nr && set->nr_args < 2 * PERFETTO_ARGS; i++) {
		uint64_t value = args[i].number;
		uint8_t kind = args[i].kind;

		if (args[i].key == PERFETTO_KEY_CORRELATION) {
			slice->correlation = (uint32_t)value;
			continue;
		}
		if (args[i].key == PERFETTO_KEY_RATE) {
			continue; /* the page has bytes and times */
		}
		if (is_own_number(&args[i]) && !*has_number) {
			*has_number = true;
			slice->number = value;
			kind = HTML_ARG_NUMBER;
			value = 0;
		} else if (kind == PERFETTO_TEXT) {
			value = args[i].text;
		}
		set->args[set->nr_args].key = args[i].key;
		set->args[set->nr_args].kind = kind;
		set->args[set->nr_args++].value = value;
	}
}

static uint32_t set_of(const struct perfetto_event *event, struct html_slice *slice)
{
	struct set set = {.category = event->category, .is_moment = slice->is_moment};
	bool has_number = false;

	add_args(&set, slice, event->args, event->nr_args, &has_number);
	if (event->packed) {
		add_args(&set, slice,
			(const struct perfetto_arg *)(const void *)event->packed->bytes,
			event->packed->nr_bytes / sizeof(struct perfetto_arg), &has_number);
	}
	return string_pool_intern(
		(const char *)&set, offsetof(struct set, args) + set.nr_args * sizeof(set.args[0]));
}

static void add_text(struct html_texts *texts, struct buf *json, uint64_t value)
{
	buf_uint(json, html_texts_place(texts, (uint32_t)value));
}

/* A number that JavaScript would round is a text. */
static void add_integer(struct buf *json, uint64_t value, bool is_signed)
{
	int64_t integer = (int64_t)value;
	bool is_long = is_signed ? integer >> 53 != 0 && integer >> 53 != -1 : value >> 53 != 0;

	buf_text(json, is_long ? "\"" : "");
	if (is_signed && integer < 0) {
		buf_char(json, '-');
		value = 0 - value;
	}
	buf_uint(json, value);
	buf_text(json, is_long ? "\"" : "");
}

void html_timeline_add_set(struct html_texts *texts, uint32_t name, struct buf *json)
{
	size_t nr_bytes;
	const struct set *set = (const struct set *)(const void *)string_pool_text(name, &nr_bytes);

	buf_printf(json, "[%u,%u", set->category, set->is_moment);
	for (unsigned int i = 0; i < set->nr_args; i++) {
		uint64_t value = set->args[i].value;
		double real;

		buf_printf(json, ",%u,%u,", set->args[i].key, set->args[i].kind);
		switch (set->args[i].kind) {
		case PERFETTO_DOUBLE:
			memcpy(&real, &value, sizeof(real));
			buf_printf(json, isfinite(real) ? "%.9g" : "null", real);
			break;
		case PERFETTO_TEXT:
			add_text(texts, json, value);
			break;
		default:
			add_integer(json, value, set->args[i].kind == PERFETTO_INT);
			break;
		}
	}
	buf_char(json, ']');
}

/* ---- slices ---- */

/* An arrow from a forward operator to its node: beside them only calls and work have flows. */
static uint32_t arrow_of(const struct perfetto_event *event)
{
	for (unsigned int i = 0; i < event->nr_flows; i++) {
		if (event->flows[i] & PERFETTO_AUTOGRAD_FLOW) {
			return (uint32_t)event->flows[i];
		}
	}
	return 0;
}

static void take_slice(void *context, const struct perfetto_event *event, bool is_moment)
{
	struct html_timeline *timeline = context;
	struct html_track *track = idmap_get(&timeline->tracks, (uint32_t)event->track);
	struct html_slice slice = {.begin_ns = event->ns,
		.dur_ns = event->dur_ns,
		.name = event->name,
		.arrow = arrow_of(event),
		.is_moment = is_moment};

	if (!track) {
		return;
	}
	timeline->nr_all++;
	slice.row = row_of(timeline, (uint32_t)event->track, track);
	if (html_keep_wants(&timeline->keep, &slice)) {
		slice.set = set_of(event, &slice);
	}
	html_keep_add(&timeline->keep, &slice);
	track->nr_open += !is_moment;
}

static void take_end(void *context, uint64_t id)
{
	struct html_timeline *timeline = context;
	struct html_track *track = idmap_get(&timeline->tracks, (uint32_t)id);

	if (track && track->nr_open) {
		track->nr_open--;
	}
}

static void take_begin(void *context, uint64_t base_ns, uint64_t first_ns, uint64_t last_ns)
{
	struct html_timeline *timeline = context;
	size_t nr = timeline->bytes / SLICE_BYTES;

	timeline->base_ns = base_ns;
	timeline->first_ns = first_ns;
	timeline->last_ns = last_ns;
	html_keep_init(&timeline->keep, nr < MOST_SLICES ? nr + 1 : MOST_SLICES, first_ns, last_ns);
}

void html_timeline_write(const struct cmd_input *input, size_t bytes, struct buf *out)
{
	struct html_timeline timeline = {.bytes = bytes};
	const struct perfetto_sink sink = {take_track, take_slice, take_end, &timeline};
	/* Curves have pages of their own. */
	const struct timeline_pick pick = {.tracks = TIMELINE_API | TIMELINE_OPS | TIMELINE_NVTX |
						     TIMELINE_PYTHON | TIMELINE_GPU |
						     TIMELINE_STEPS | TIMELINE_MARKS};

	idmap_init(&timeline.tracks, sizeof(struct html_track));
	perfetto_walk(input->processes, input->nr_processes, &pick, take_begin, &sink);
	if (timeline.nr_all) {
		html_timeline_out(&timeline, out);
	}
	for (size_t i = 0; i < timeline.tracks.nr; i++) {
		free(((struct html_track *)idmap_at(&timeline.tracks, i))->rows);
	}
	idmap_fini(&timeline.tracks);
	html_keep_fini(&timeline.keep);
	free(timeline.rows);
}
