/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/timeline_out.h"

#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>

#include "report/util/string_pool.h"
#include "report/util/pack.h"
#include "report/timeline/perfetto_out.h"
#include "report/util/text.h"

/* Of the room, for buckets. */
#define GRID_SHARE 4u

enum {
	COLUMN_GAP,
	COLUMN_LENGTH,
	COLUMN_NAME,
	COLUMN_SET,
	COLUMN_CORRELATION,
	COLUMN_NUMBER,
	COLUMN_ARROW,
	COLUMN_BUCKET,
	COLUMN_BUSY,
	COLUMN_LONGEST,
	COLUMN_LONGEST_NAME,
	COLUMN_COUNT,
	NR_COLUMNS,
};

struct packing {
	struct html_timeline *timeline;
	struct html_texts texts;
	struct idmap sets; /* uint32_t, by the set */
	struct buf set_json;
	struct buf columns[NR_COLUMNS];
	size_t *nr_slices, *nr_buckets; /* by row */
	struct buf bytes;		/* all of it, compressed */
};

/* ---- numbers for texts and sets ---- */

/* The place of an id, given out in order; *is_new: just now. */
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

uint32_t html_texts_place(struct html_texts *texts, uint32_t name)
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

static uint32_t set_place(struct packing *packing, uint32_t set)
{
	bool is_new;
	uint32_t place = place_of(&packing->sets, set, &is_new);

	if (is_new) {
		buf_text(&packing->set_json, packing->set_json.nr_bytes ? ",\n" : "");
		html_timeline_add_set(&packing->texts, set, &packing->set_json);
	}
	return place;
}

/* ---- columns ---- */

static void add_number(struct packing *packing, int column, uint64_t value)
{
	pack_uint(&packing->columns[column], value);
}

/* 0 stays 0; others by how far they are from the one before, which is mostly near. */
static void add_id(struct packing *packing, int column, uint32_t id, uint32_t *before)
{
	int64_t step = (int64_t)id - (int64_t)*before;

	if (!id) {
		add_number(packing, column, 0);
		return;
	}
	add_number(packing, column, 1 + (uint64_t)(step < 0 ? -2 * step - 1 : 2 * step));
	*before = id;
}

static void add_slices(struct packing *packing)
{
	const struct html_keep *keep = &packing->timeline->keep;
	uint32_t row = UINT32_MAX, correlation = 0, arrow = 0;
	uint64_t end_ns = 0;

	for (size_t i = 0; i < keep->nr; i++) {
		const struct html_slice *slice = &keep->slices[i];

		if (slice->row != row) {
			row = slice->row;
			correlation = arrow = 0;
			end_ns = 0;
		}
		packing->nr_slices[row]++;
		/* Those of one row and depth are one after the other, but for damaged streams. */
		add_number(packing, COLUMN_GAP,
			slice->begin_ns > end_ns ? slice->begin_ns - end_ns : 0);
		add_number(packing, COLUMN_LENGTH, slice->dur_ns);
		add_number(packing, COLUMN_NAME, html_texts_place(&packing->texts, slice->name));
		add_number(packing, COLUMN_SET, set_place(packing, slice->set));
		add_id(packing, COLUMN_CORRELATION, slice->correlation, &correlation);
		add_number(packing, COLUMN_NUMBER, slice->number);
		add_id(packing, COLUMN_ARROW, slice->arrow, &arrow);
		end_ns = slice->begin_ns + slice->dur_ns;
	}
}

static void add_buckets(struct packing *packing)
{
	const struct html_keep *keep = &packing->timeline->keep;

	for (size_t row = 0; row < packing->timeline->nr_rows && row < keep->nr_rows; row++) {
		const struct html_bucket *grid = keep->grids[row];
		size_t before = 0;

		for (size_t i = 0; grid && i < keep->nr_buckets; i++) {
			if (!grid[i].nr && !grid[i].busy_ns) {
				continue;
			}
			packing->nr_buckets[row]++;
			add_number(packing, COLUMN_BUCKET, i - before);
			add_number(packing, COLUMN_BUSY, grid[i].busy_ns);
			add_number(packing, COLUMN_LONGEST, grid[i].longest_ns);
			add_number(packing, COLUMN_LONGEST_NAME,
				html_texts_place(&packing->texts, grid[i].name));
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
			html_texts_place(&packing->texts, track->name),
			html_texts_place(&packing->texts, track->label));
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
	for (unsigned int i = 1; i < PERFETTO_NR_CATEGORIES; i++) {
		buf_printf(json, ",\"%s\"", perfetto_category_word((enum perfetto_category)i));
	}
	buf_text(json, "],\n\"keys\":[null");
	for (unsigned int i = 1; i < PERFETTO_NR_KEYS; i++) {
		buf_printf(json, ",\"%s\"", perfetto_key_word((enum perfetto_key)i));
	}
	buf_text(json, "]");
}

static void add_json(struct packing *packing, struct buf *json)
{
	const struct html_timeline *timeline = packing->timeline;
	const struct html_keep *keep = &timeline->keep;

	buf_printf(json,
		"{\"base_ns\":\"%" PRIu64 "\",\"first_ns\":%" PRIu64 ",\"last_ns\":%" PRIu64
		",\"all\":%" PRIu64,
		timeline->base_ns, timeline->first_ns, timeline->last_ns, timeline->nr_all);
	buf_printf(json,
		",\"dropped\":%" PRIu64 ",\"longest_dropped_ns\":%" PRIu64
		",\"bucket_shift\":%u,\"bucket_first_ns\":%" PRIu64,
		keep->nr_dropped, keep->longest_dropped_ns, keep->shift, keep->first_ns);
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
	buf_flush_much(out);
}

/* Drops what does not fit, and packs again until it does. */
void html_timeline_out(struct html_timeline *timeline, struct buf *out)
{
	struct html_keep *keep = &timeline->keep;
	size_t room = timeline->bytes / 4 * 3, grids;
	struct packing packing;

	html_keep_sort(keep);
	packing_init(&packing, timeline);
	pack(&packing);
	while (packing.bytes.nr_bytes > room &&
		(keep->nr || keep->nr_buckets > HTML_KEEP_LEAST_BUCKETS)) {
		grids = column_bytes(&packing, COLUMN_BUCKET, COLUMN_COUNT);
		if ((grids > room / GRID_SHARE || !keep->nr) &&
			keep->nr_buckets > HTML_KEEP_LEAST_BUCKETS) {
			html_keep_widen(keep);
		} else {
			/* Some more than by proportion: buckets take the place of slices. */
			html_keep_cut(keep, (size_t)((double)keep->nr * 0.9 * (double)room /
						     (double)packing.bytes.nr_bytes));
		}
		packing_fini(&packing);
		packing_init(&packing, timeline);
		pack(&packing);
	}
	add_base64(out, &packing.bytes);
	packing_fini(&packing);
}
