/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink of tracks.c that keeps each slice or sums it up as it comes (timeline_lod.c). Arguments
 * become sets that many slices share, interned as bytes. At the end all of it is packed, and again
 * with fewer slices or wider buckets until it fits the room (write_packed).
 */
#include "report/html/timeline_data.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "report/html/timeline_lod.h"
#include "report/timeline/tracks.h"
#include "report/util/pack.h"
#include "report/util/string_pool.h"
#include "report/util/text.h"

/* Deeper slices of a track share the last row. */
#define DEEPEST 255u

/* The least that a compressed slice takes, and the most slices that are kept. */
#define SLICE_BYTES 3u
#define MAX_SLICES  1000000u

/* The share of the room that buckets may take: 1 / this. */
#define GRID_SHARE 4u

struct html_track {
	uint32_t parent;  /* its id, 0 none */
	uint32_t process; /* counting from 1 */
	int32_t rank;
	uint8_t kind; /* enum track_kind */
	uint32_t name, label;
	uint32_t *rows; /* by depth: indexes in html_timeline.rows */
	size_t nr_rows, row_capacity;
};

struct html_row {
	uint32_t track, depth; /* index in html_timeline.tracks */
};

struct html_timeline {
	size_t bytes;	    /* of base64 */
	size_t most_slices; /* one by one */
	uint64_t base_ns, first_ns, last_ns;
	struct idmap tracks; /* struct html_track */
	struct html_row *rows;
	size_t nr_rows, row_capacity;
	uint32_t process;
	uint64_t nr_all;
	struct html_lod lod;
};

/* ---- tracks and rows ---- */

static void on_track(void *context, const struct track *track)
{
	struct html_timeline *timeline = context;
	struct html_track *new = idmap_put(&timeline->tracks, (uint32_t)track->id);
	const char *label = track->label ? track->label : "";

	timeline->process += track->kind == TRACK_PROCESS;
	*new = (struct html_track){.parent = (uint32_t)track->parent,
		.process = timeline->process,
		.rank = track->rank,
		.kind = (uint8_t)track->kind,
		.name = string_pool_intern(track->name, strlen(track->name)),
		.label = string_pool_intern(label, strlen(label))};
}

static uint32_t row_of(
	struct html_timeline *timeline, const struct track_slice *event, struct html_track *track)
{
	uint32_t depth = event->depth < DEEPEST ? event->depth : DEEPEST;

	while (depth >= track->nr_rows) {
		track->rows = array_grow(
			track->rows, track->nr_rows, &track->row_capacity, sizeof(*track->rows));
		timeline->rows = array_grow(timeline->rows, timeline->nr_rows,
			&timeline->row_capacity, sizeof(*timeline->rows));
		timeline->rows[timeline->nr_rows] = (struct html_row){
			(uint32_t)idmap_find(&timeline->tracks, (uint32_t)event->track),
			(uint32_t)track->nr_rows};
		track->rows[track->nr_rows++] = (uint32_t)timeline->nr_rows++;
	}
	return track->rows[depth];
}

/* ---- arguments ---- */

/* Arguments that are the same for many slices, interned by their bytes. */
struct set {
	uint8_t category;
	uint8_t is_instant;
	uint8_t nr_args;
	struct {
		uint8_t key, type;
		uint64_t value;
	} __attribute__((packed)) args[2 * SLICE_ARGS];
} __attribute__((packed));

static bool is_own_number(const struct arg *arg)
{
	return arg->type == ARG_UINT && arg->number >> 53 == 0 &&
	       (arg->key == KEY_BYTES || arg->key == KEY_SEQUENCE || arg->key == KEY_PAYLOAD ||
		       arg->key == KEY_GRAPH_NODE);
}

/* One number of a slice is kept beside its set, so that copies of different sizes share a set. */
static void add_args(
	struct set *set, struct html_slice *slice, const struct slice_args *args, bool *has_number)
{
	for (size_t i = 0; i < args->nr && set->nr_args < 2 * SLICE_ARGS; i++) {
		const struct arg *arg = &args->args[i];
		uint64_t value = arg->number;
		uint8_t type = arg->type;

		if (arg->key == KEY_CORRELATION) {
			slice->correlation = value;
			continue;
		}
		if (arg->key == KEY_RATE) {
			continue; /* the page has bytes and times */
		}
		if (is_own_number(arg) && !*has_number) {
			*has_number = true;
			slice->number = value;
			type = ARG_OWN_NUMBER;
			value = 0;
		} else if (type == ARG_TEXT) {
			value = arg->text;
		}
		set->args[set->nr_args].key = arg->key;
		set->args[set->nr_args].type = type;
		set->args[set->nr_args++].value = value;
	}
}

static uint32_t set_of(const struct track_slice *event, struct html_slice *slice)
{
	struct set set = {.category = event->category, .is_instant = slice->is_instant};
	bool has_number = false;

	add_args(&set, slice, &event->args, &has_number);
	if (event->args.shared) {
		add_args(&set, slice, &event->args.shared->made, &has_number);
	}
	return string_pool_intern(
		(const char *)&set, offsetof(struct set, args) + set.nr_args * sizeof(set.args[0]));
}

/* ---- slices ---- */

/* The flow of an operator and its autograd node; the page finds those of launches by itself. */
static uint32_t flow_of(const struct track_slice *event)
{
	for (unsigned int i = 0; i < event->nr_flows; i++) {
		if (event->flows[i] & AUTOGRAD_FLOW) {
			return (uint32_t)event->flows[i] & INT32_MAX;
		}
	}
	return 0;
}

/* False: a slice without a track. */
static bool make_slice(struct html_timeline *timeline, const struct track_slice *event,
	bool is_instant, struct html_slice *slice)
{
	struct html_track *track = idmap_get(&timeline->tracks, (uint32_t)event->track);

	*slice = (struct html_slice){.begin_ns = event->ns,
		.dur_ns = event->dur_ns,
		.name = event->name,
		.is_instant = is_instant};
	slice->row = track ? row_of(timeline, event, track) : 0;
	return track != NULL;
}

static bool take_bare(void *context, const struct track_slice *event)
{
	struct html_timeline *timeline = context;
	struct html_slice slice;

	if (!make_slice(timeline, event, false, &slice) || !html_lod_drop(&timeline->lod, &slice)) {
		return false;
	}
	timeline->nr_all++;
	return true;
}

static void on_slice(void *context, const struct track_slice *event, bool is_instant)
{
	struct html_timeline *timeline = context;
	struct html_slice slice;

	if (!make_slice(timeline, event, is_instant, &slice)) {
		return;
	}
	timeline->nr_all++;
	if (!html_lod_drop(&timeline->lod, &slice)) {
		slice.flow = flow_of(event);
		slice.set = set_of(event, &slice);
		html_lod_keep(&timeline->lod, &slice);
	}
}

static void on_begin(void *context, uint64_t base_ns, uint64_t first_ns, uint64_t last_ns)
{
	struct html_timeline *timeline = context;

	timeline->base_ns = base_ns;
	timeline->first_ns = first_ns;
	timeline->last_ns = last_ns;
	html_lod_init(&timeline->lod, timeline->most_slices, first_ns, last_ns);
}

/* ---- the bytes of the page ---- */

enum {
	COLUMN_GAP,
	COLUMN_LENGTH,
	COLUMN_NAME,
	COLUMN_SET,
	COLUMN_CORRELATION,
	COLUMN_NUMBER,
	COLUMN_FLOW,
	COLUMN_BUCKET,
	COLUMN_BUSY,
	COLUMN_LONGEST,
	COLUMN_LONGEST_NAME,
	COLUMN_COUNT,
	NR_COLUMNS,
};

/* Texts of string_pool.h that the page has, numbered as they are used. */
struct texts {
	struct idmap places; /* uint32_t, by name */
	struct buf json;
};

struct packing {
	struct html_timeline *timeline;
	struct texts texts;
	struct idmap sets; /* uint32_t, by the set */
	struct buf set_json;
	struct buf columns[NR_COLUMNS];
	size_t *nr_slices, *nr_buckets; /* by row */
	struct buf bytes;		/* all of it, compressed */
};

/* Returns the index of an id; new ids get the next one. */
static uint32_t place_of(struct idmap *places, uint32_t id, bool *is_new)
{
	int64_t found = idmap_find(places, id);

	*is_new = found < 0;
	if (*is_new) {
		idmap_put(places, id);
		return (uint32_t)places->nr - 1;
	}
	return (uint32_t)found;
}

static uint32_t text_place(struct texts *texts, uint32_t name)
{
	bool is_new;
	uint32_t place = place_of(&texts->places, name, &is_new);

	if (is_new) {
		size_t nr_bytes;
		const char *bytes = string_pool_shown(name, &nr_bytes);

		buf_text(&texts->json, texts->json.nr_bytes ? ",\n" : "");
		text_add_json(&texts->json, bytes, nr_bytes);
	}
	return place;
}

/* JavaScript rounds long numbers: they become texts. */
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

static void add_set(struct texts *texts, uint32_t name, struct buf *json)
{
	size_t nr_bytes;
	const struct set *set = (const struct set *)(const void *)string_pool_text(name, &nr_bytes);

	buf_printf(json, "[%u,%u", set->category, set->is_instant);
	for (unsigned int i = 0; i < set->nr_args; i++) {
		uint64_t value = set->args[i].value;
		double real;

		buf_printf(json, ",%u,%u,", set->args[i].key, set->args[i].type);
		switch (set->args[i].type) {
		case ARG_DOUBLE:
			memcpy(&real, &value, sizeof(real));
			buf_printf(json, isfinite(real) ? "%.9g" : "null", real);
			break;
		case ARG_TEXT:
			buf_uint(json, text_place(texts, (uint32_t)value));
			break;
		default:
			add_integer(json, value, set->args[i].type == ARG_INT);
			break;
		}
	}
	buf_char(json, ']');
}

static uint32_t set_place(struct packing *packing, uint32_t set)
{
	bool is_new;
	uint32_t place = place_of(&packing->sets, set, &is_new);

	if (is_new) {
		buf_text(&packing->set_json, packing->set_json.nr_bytes ? ",\n" : "");
		add_set(&packing->texts, set, &packing->set_json);
	}
	return place;
}

/* ---- columns ---- */

static void add_number(struct packing *packing, int column, uint64_t value)
{
	pack_uint(&packing->columns[column], value);
}

/* 0 stays 0; others become the distance to the id before, which is mostly small. */
static void add_id(struct packing *packing, int column, uint64_t id, uint64_t *before)
{
	int64_t step = (int64_t)(id - *before);

	if (!id) {
		add_number(packing, column, 0);
		return;
	}
	add_number(packing, column, 1 + ((uint64_t)step << 1 ^ (uint64_t)(step >> 63)));
	*before = id;
}

/*
 * Times and ids are written as differences from the slice before on the row: small numbers pack
 * well.
 */
static void add_slices(struct packing *packing)
{
	const struct html_lod *lod = &packing->timeline->lod;
	uint64_t correlation = 0, flow = 0, end_ns = 0;
	uint32_t row = UINT32_MAX;

	for (size_t i = 0; i < lod->nr; i++) {
		const struct html_slice *slice = &lod->slices[i];

		if (slice->row != row) {
			row = slice->row;
			correlation = flow = 0;
			end_ns = 0;
		}
		packing->nr_slices[row]++;
		/* Slices of one row do not overlap, except in damaged streams. */
		add_number(packing, COLUMN_GAP,
			slice->begin_ns > end_ns ? slice->begin_ns - end_ns : 0);
		add_number(packing, COLUMN_LENGTH, slice->dur_ns);
		add_number(packing, COLUMN_NAME, text_place(&packing->texts, slice->name));
		add_number(packing, COLUMN_SET, set_place(packing, slice->set));
		add_id(packing, COLUMN_CORRELATION, slice->correlation, &correlation);
		add_number(packing, COLUMN_NUMBER, slice->number);
		add_id(packing, COLUMN_FLOW, slice->flow, &flow);
		end_ns = slice->begin_ns + slice->dur_ns;
	}
}

static void add_buckets(struct packing *packing)
{
	const struct html_lod *lod = &packing->timeline->lod;

	for (size_t row = 0; row < packing->timeline->nr_rows && row < lod->nr_rows; row++) {
		const struct html_bucket *grid = lod->grids[row];
		size_t before = 0;

		for (size_t i = 0; grid && i < lod->nr_buckets; i++) {
			if (!grid[i].nr && !grid[i].busy_ns) {
				continue;
			}
			packing->nr_buckets[row]++;
			add_number(packing, COLUMN_BUCKET, i - before);
			add_number(packing, COLUMN_BUSY, grid[i].busy_ns);
			add_number(packing, COLUMN_LONGEST, grid[i].longest_ns);
			add_number(packing, COLUMN_LONGEST_NAME,
				text_place(&packing->texts, grid[i].name));
			add_number(packing, COLUMN_COUNT, grid[i].nr);
			before = i;
		}
	}
}

/* ---- the JSON ---- */

static void add_tracks(struct packing *packing, struct buf *json)
{
	struct html_timeline *timeline = packing->timeline;

	buf_text(json, ",\n\"tracks\":[");
	for (size_t i = 0; i < timeline->tracks.nr; i++) {
		const struct html_track *track = idmap_at(&timeline->tracks, i);

		buf_printf(json, "%s[%" PRId64 ",%u,%" PRIu32 ",%" PRId32, i ? "," : "",
			idmap_find(&timeline->tracks, track->parent) + 1, track->kind,
			track->process, track->rank);
		buf_printf(json, ",%" PRIu32 ",%" PRIu32 "]",
			text_place(&packing->texts, track->name),
			text_place(&packing->texts, track->label));
	}
	buf_text(json, "],\n\"rows\":[");
	for (size_t i = 0; i < timeline->nr_rows; i++) {
		buf_printf(json, "%s[%" PRIu32 ",%" PRIu32 ",%zu,%zu]", i ? "," : "",
			timeline->rows[i].track, timeline->rows[i].depth, packing->nr_slices[i],
			packing->nr_buckets[i]);
	}
	buf_text(json, "]");
}

static void add_words(struct buf *json)
{
	buf_text(json, ",\n\"categories\":[null");
	for (unsigned int i = 1; i < NR_CATEGORIES; i++) {
		buf_printf(json, ",\"%s\"", category_words[i]);
	}
	buf_text(json, "],\n\"keys\":[null");
	for (unsigned int i = 1; i < NR_KEYS; i++) {
		buf_printf(json, ",\"%s\"", arg_names[i].name);
	}
	buf_text(json, "]");
}

static void add_json(struct packing *packing, struct buf *json)
{
	const struct html_timeline *timeline = packing->timeline;
	const struct html_lod *lod = &timeline->lod;

	buf_printf(json,
		"{\"base_ns\":\"%" PRIu64 "\",\"first_ns\":%" PRIu64 ",\"last_ns\":%" PRIu64
		",\"all\":%" PRIu64,
		timeline->base_ns, timeline->first_ns, timeline->last_ns, timeline->nr_all);
	buf_printf(json,
		",\"dropped\":%" PRIu64 ",\"longest_dropped_ns\":%" PRIu64
		",\"bucket_shift\":%u,\"bucket_first_ns\":%" PRIu64,
		lod->nr_dropped, lod->longest_dropped_ns, lod->shift, lod->first_ns);
	add_tracks(packing, json);
	add_words(json);
	buf_text(json, ",\n\"columns\":[");
	for (int i = 0; i < NR_COLUMNS; i++) {
		buf_printf(json, "%s%zu", i ? "," : "", packing->columns[i].nr_bytes);
	}
	buf_text(json, "],\n\"sets\":[");
	buf_add(json, packing->set_json.bytes, packing->set_json.nr_bytes);
	buf_text(json, "],\n\"strings\":[");
	buf_add(json, packing->texts.json.bytes, packing->texts.json.nr_bytes);
	buf_text(json, "]}\n");
}

/* ---- packing ---- */

static void deflate_into(const struct buf *plain, struct buf *packed)
{
	uLongf nr = compressBound(plain->nr_bytes);

	buf_reserve(packed, nr);
	if (compress2((Bytef *)packed->bytes, &nr, (const Bytef *)plain->bytes, plain->nr_bytes,
		    6) == Z_OK) {
		packed->nr_bytes = nr;
	}
}

static void packing_init(struct packing *packing, struct html_timeline *timeline)
{
	*packing = (struct packing){.timeline = timeline,
		.nr_slices = mem_zeroed(timeline->nr_rows + 1, sizeof(size_t)),
		.nr_buckets = mem_zeroed(timeline->nr_rows + 1, sizeof(size_t))};
	idmap_init(&packing->texts.places, sizeof(uint8_t));
	idmap_init(&packing->sets, sizeof(uint8_t));
}

static void packing_fini(struct packing *packing)
{
	for (int i = 0; i < NR_COLUMNS; i++) {
		buf_fini(&packing->columns[i]);
	}
	idmap_fini(&packing->texts.places);
	buf_fini(&packing->texts.json);
	idmap_fini(&packing->sets);
	buf_fini(&packing->set_json);
	free(packing->nr_slices);
	free(packing->nr_buckets);
	buf_fini(&packing->bytes);
}

static size_t column_bytes(const struct packing *packing, int first, int last)
{
	struct buf plain = {0}, packed = {0};
	size_t nr;

	for (int i = first; i <= last; i++) {
		buf_add(&plain, packing->columns[i].bytes, packing->columns[i].nr_bytes);
	}
	deflate_into(&plain, &packed);
	nr = packed.nr_bytes;
	buf_fini(&plain);
	buf_fini(&packed);
	return nr;
}

static void pack(struct packing *packing)
{
	struct buf json = {0}, plain = {0};

	add_buckets(packing);
	add_slices(packing);
	add_json(packing, &json);
	for (int i = 0; i < 4; i++) {
		buf_char(&plain, (char)(json.nr_bytes >> 8 * i));
	}
	buf_add(&plain, json.bytes, json.nr_bytes);
	for (int i = 0; i < NR_COLUMNS; i++) {
		buf_add(&plain, packing->columns[i].bytes, packing->columns[i].nr_bytes);
	}
	deflate_into(&plain, &packing->bytes);
	buf_fini(&json);
	buf_fini(&plain);
}

static void add_base64(struct buf *out, const struct buf *bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *at = (const unsigned char *)bytes->bytes;

	for (size_t i = 0; i < bytes->nr_bytes; i += 3) {
		size_t nr = bytes->nr_bytes - i < 3 ? bytes->nr_bytes - i : 3;
		uint32_t three = (uint32_t)at[i] << 16 | (nr > 1 ? (uint32_t)at[i + 1] << 8 : 0) |
				 (nr > 2 ? at[i + 2] : 0);
		char four[4] = {digits[three >> 18], digits[three >> 12 & 63],
			nr > 1 ? digits[three >> 6 & 63] : '=', nr > 2 ? digits[three & 63] : '='};

		buf_add(out, four, sizeof(four));
	}
	buf_flush_if_large(out);
}

/* Packs; drops slices and packs again until the bytes fit. */
static void write_packed(struct html_timeline *timeline, struct buf *out)
{
	struct html_lod *lod = &timeline->lod;
	size_t room = timeline->bytes / 4 * 3, grids;
	struct packing packing;

	html_lod_sort(lod);
	packing_init(&packing, timeline);
	pack(&packing);
	while (packing.bytes.nr_bytes > room &&
		(lod->nr || lod->nr_buckets > HTML_LOD_MIN_BUCKETS)) {
		grids = column_bytes(&packing, COLUMN_BUCKET, COLUMN_COUNT);
		if ((grids > room / GRID_SHARE || !lod->nr) &&
			lod->nr_buckets > HTML_LOD_MIN_BUCKETS) {
			html_lod_widen(lod);
		} else {
			/* More than in proportion, since dropped slices need buckets. */
			html_lod_cut(lod, (size_t)((double)lod->nr * 0.9 * (double)room /
						   (double)packing.bytes.nr_bytes));
		}
		packing_fini(&packing);
		packing_init(&packing, timeline);
		pack(&packing);
	}
	add_base64(out, &packing.bytes);
	packing_fini(&packing);
}

/* ---- the whole ---- */

/* Counters have pages of their own. */
#define TRACKS                                                                          \
	(TIMELINE_API | TIMELINE_OPS | TIMELINE_NVTX | TIMELINE_PYTHON | TIMELINE_GPU | \
		TIMELINE_STEPS | TIMELINE_MARKS)

static struct track_sink sink_of(struct html_timeline *timeline)
{
	idmap_init(&timeline->tracks, sizeof(struct html_track));
	return (struct track_sink){.begin = on_begin,
		.track = on_track,
		.slice = on_slice,
		.take_bare = take_bare,
		.context = timeline};
}

static void timeline_fini(struct html_timeline *timeline)
{
	for (size_t i = 0; i < timeline->tracks.nr; i++) {
		free(((struct html_track *)idmap_at(&timeline->tracks, i))->rows);
	}
	idmap_fini(&timeline->tracks);
	html_lod_fini(&timeline->lod);
	free(timeline->rows);
}

void html_timeline_write(const struct cmd_input *input, size_t bytes, struct buf *out)
{
	size_t nr = bytes / SLICE_BYTES;
	struct html_timeline timeline = {
		.bytes = bytes, .most_slices = nr < MAX_SLICES ? nr + 1 : MAX_SLICES};
	const struct track_sink sink = sink_of(&timeline);
	const struct timeline_filter filter = {.tracks = TRACKS};

	tracks_walk(input->processes, input->nr_processes, &filter, &sink);
	if (timeline.nr_all) {
		write_packed(&timeline, out);
	}
	timeline_fini(&timeline);
}

/* Refuses a time whose blocks have too many events before it reads them. */
bool html_timeline_write_window(const struct cmd_input *input, const struct html_window *window,
	const struct nccl_ops *collectives, struct buf *out)
{
	struct html_timeline timeline = {.bytes = SIZE_MAX,
		.most_slices = HTML_WINDOW_SLICES,
		.process = (uint32_t)window->process};
	const struct track_sink sink = sink_of(&timeline);
	const struct timeline_filter filter = {.tracks = TRACKS,
		.has_time = true,
		.begin_ns = window->begin_ns,
		.end_ns = window->end_ns};
	bool fits = timeline_least_events(input->processes, input->nr_processes, window->process,
			    &filter) <= HTML_WINDOW_SLICES;

	if (fits) {
		tracks_walk_process(input->processes, input->nr_processes, window->process,
			collectives, &filter, &sink);
		fits = !timeline.lod.nr_dropped;
	}
	if (fits) {
		write_packed(&timeline, out);
	}
	timeline_fini(&timeline);
	return fits;
}
