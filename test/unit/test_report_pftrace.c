/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/timeline/chrome.h"
#include "report/timeline/perfetto.pb-c.h"
#include "report/timeline/perfetto.h"
#include "report/timeline/track_counters.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

enum { SLICES = 400 };

typedef Gprof__Perfetto__Trace trace_t;
typedef Gprof__Perfetto__TrackEvent track_event_t;

/* A slice as a viewer sees it. */
struct seen {
	uint64_t name, track, begin, end;
};

struct replay {
	trace_t *trace;
	struct seen *slices;
	size_t nr_slices, nr_instants, nr_counts, nr_flows;
};

static int by_time(const void *a, const void *b)
{
	const Gprof__Perfetto__TracePacket *x = *(Gprof__Perfetto__TracePacket *const *)a;
	const Gprof__Perfetto__TracePacket *y = *(Gprof__Perfetto__TracePacket *const *)b;

	if (x->timestamp != y->timestamp) {
		return x->timestamp < y->timestamp ? -1 : 1;
	}
	return (x->trusted_packet_sequence_id > y->trusted_packet_sequence_id) -
	       (x->trusted_packet_sequence_id < y->trusted_packet_sequence_id);
}

/* An end closes what was opened last on its track. */
static void take_event(struct replay *replay, const Gprof__Perfetto__TracePacket *packet)
{
	const track_event_t *event = packet->track_event;
	size_t i = replay->nr_slices;

	switch (event->type) {
	case GPROF__PERFETTO__TRACK_EVENT__TYPE__SLICE_BEGIN:
		replay->slices[replay->nr_slices++] = (struct seen){
			event->name_iid, event->track_uuid, packet->timestamp, UINT64_MAX};
		replay->nr_flows += event->n_flow_ids;
		break;
	case GPROF__PERFETTO__TRACK_EVENT__TYPE__SLICE_END:
		while (i && !(replay->slices[i - 1].track == event->track_uuid &&
				    replay->slices[i - 1].end == UINT64_MAX)) {
			i--;
		}
		ck_assert_uint_gt(i, 0);
		replay->slices[i - 1].end = packet->timestamp;
		break;
	case GPROF__PERFETTO__TRACK_EVENT__TYPE__INSTANT:
		replay->nr_instants++;
		break;
	default:
		replay->nr_counts++;
		break;
	}
}

/* Reads a trace as viewers do: its events in the order of time, then of the file. */
static struct replay replay_of(const struct buf *bytes)
{
	struct replay replay = {.trace = gprof__perfetto__trace__unpack(
					NULL, bytes->nr_bytes, (const uint8_t *)bytes->bytes)};
	size_t nr;

	ck_assert_ptr_nonnull(replay.trace);
	nr = replay.trace->n_packet;
	replay.slices = mem_zeroed(nr, sizeof(*replay.slices));
	/* All are of one sequence; its field keeps the places in the file. */
	for (size_t i = 0; i < nr; i++) {
		replay.trace->packet[i]->trusted_packet_sequence_id = (uint32_t)i;
	}
	qsort(replay.trace->packet, nr, sizeof(*replay.trace->packet), by_time);
	for (size_t i = 0; i < nr; i++) {
		if (replay.trace->packet[i]->track_event) {
			take_event(&replay, replay.trace->packet[i]);
		}
	}
	for (size_t i = 0; i < replay.nr_slices; i++) {
		ck_assert_uint_ne(replay.slices[i].end, UINT64_MAX);
	}
	return replay;
}

static void replay_fini(struct replay *replay)
{
	gprof__perfetto__trace__free_unpacked(replay->trace, NULL);
	free(replay->slices);
}

/* ---- lanes ---- */

static int by_begin(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->begin != y->begin) {
		return x->begin < y->begin ? -1 : 1;
	}
	return (x->end < y->end) - (x->end > y->end);
}

static void check_random(unsigned int seed, enum track_row_kind kind)
{
	struct seen slices[SLICES];
	struct perfetto perfetto;
	const struct track_sink sink = perfetto_sink(&perfetto);
	struct track_rows rows = {.sink = &sink, .next_track = 1};
	struct buf bytes = {0};
	struct replay replay;
	size_t row = track_rows_add(&rows, kind, 1, 2, 0, mem_text("row"));

	srand(seed);
	for (size_t i = 0; i < SLICES; i++) {
		slices[i].begin = 1000 + (uint64_t)rand() % 200;
		slices[i].end = slices[i].begin + (uint64_t)rand() % (seed % 60 + 1);
	}
	qsort(slices, SLICES, sizeof(*slices), by_begin);
	perfetto_init(&perfetto, &bytes);
	for (size_t i = 0; i < SLICES; i++) {
		char text[16];
		struct track_slice event = {.ns = slices[i].begin,
			.name = string_pool_intern(
				text, (size_t)snprintf(text, sizeof(text), "slice %zu", i))};

		slices[i].name = (uint64_t)event.name + 1;
		event.dur_ns = slices[i].end - slices[i].begin;
		track_rows_place(&rows, row, &event);
		sink.slice(&perfetto, &event, false);
	}
	track_rows_close(&rows);
	perfetto_fini(&perfetto);
	track_rows_clear(&rows);
	replay = replay_of(&bytes);
	ck_assert_uint_eq(replay.nr_slices, SLICES);
	for (size_t i = 0; i < SLICES; i++) {
		const struct seen *seen = &replay.slices[i];
		size_t k = 0;

		while (k < SLICES && slices[k].name != seen->name) {
			k++;
		}
		ck_assert_uint_lt(k, SLICES);
		ck_assert_uint_eq(slices[k].begin, seen->begin);
		ck_assert_uint_eq(slices[k].end, seen->end);
		for (size_t j = 0; kind == TRACK_ROW_STREAM && j < i; j++) {
			ck_assert(replay.slices[j].track != seen->track ||
				  replay.slices[j].end <= seen->begin);
		}
	}
	replay_fini(&replay);
	buf_fini(&bytes);
}

START_TEST(every_slice_keeps_its_begin_and_end_however_they_overlap)
{
	for (unsigned int seed = 1; seed <= 16; seed++) {
		check_random(seed, TRACK_ROW_NVTX);
		check_random(seed, TRACK_ROW_STREAM);
	}
}
END_TEST

/* ---- whole streams ---- */

static const unsigned int slice_tables[] = {GPROF_TABLE_api, GPROF_TABLE_api_launch,
	GPROF_TABLE_api_copy, GPROF_TABLE_api_set, GPROF_TABLE_api_alloc, GPROF_TABLE_api_sync,
	GPROF_TABLE_op, GPROF_TABLE_py_call, GPROF_TABLE_kernel, GPROF_TABLE_memcpy,
	GPROF_TABLE_memset, GPROF_TABLE_graph, GPROF_TABLE_sync, GPROF_TABLE_overhead};

static struct replay write_of(struct process *process, const struct timeline_filter *filter)
{
	struct buf bytes = {0};
	struct perfetto_written written = perfetto_write(&process, 1, filter, &bytes);
	struct replay replay = replay_of(&bytes);

	ck_assert_uint_eq(replay.nr_slices, written.nr_slices);
	ck_assert_uint_eq(replay.nr_instants, written.nr_instants);
	ck_assert_uint_eq(replay.nr_counts, written.nr_counts);
	buf_fini(&bytes);
	return replay;
}

static void check_counts(const char *path)
{
	struct process *process = streams_process(path);
	static const uint32_t apart[] = {TIMELINE_API, TIMELINE_OPS, TIMELINE_NVTX, TIMELINE_PYTHON,
		TIMELINE_GPU, TIMELINE_COUNTERS, TIMELINE_STEPS, TIMELINE_MARKS};
	struct replay all = write_of(process, NULL);
	size_t nr_rows = 0, nr_slices = 0, nr_counts = 0;

	for (size_t i = 0; i < sizeof(slice_tables) / sizeof(slice_tables[0]); i++) {
		nr_rows += stream_table(process->stream, slice_tables[i])
				   ? streams_rows(process->stream, slice_tables[i])
				   : 0;
	}
	/* And these have no table of whole rows: steps, windows, NVTX. */
	for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]); i++) {
		struct timeline_filter filter = {.tracks = apart[i]};
		struct replay part = write_of(process, &filter);

		nr_slices += part.nr_slices;
		nr_counts += part.nr_counts;
		if (apart[i] == TIMELINE_NVTX || apart[i] == TIMELINE_STEPS) {
			nr_rows += part.nr_slices;
		}
		replay_fini(&part);
	}
	ck_assert_uint_gt(all.nr_slices, 0);
	ck_assert_uint_gt(all.nr_flows, 1);
	ck_assert_uint_eq(all.nr_slices, nr_rows);
	ck_assert_uint_eq(all.nr_slices, nr_slices);
	ck_assert_uint_le(nr_counts, all.nr_counts); /* queues need both calls and work */
	replay_fini(&all);
	process_destroy(process);
}

START_TEST(every_row_is_a_slice)
{
	check_counts(streams_small("a.gprof"));
	check_counts(streams_ops("b.gprof"));
}
END_TEST

START_TEST(times_and_lengths_choose)
{
	struct process *process = streams_process(streams_ops("a.gprof"));
	struct replay all = write_of(process, NULL);
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < all.nr_slices; i++) {
		first = all.slices[i].begin < first ? all.slices[i].begin : first;
		last = all.slices[i].end > last ? all.slices[i].end : last;
	}
	for (uint64_t part = 0; part < 4; part++) {
		struct timeline_filter filter = {.has_time = true,
			.begin_ns = (last - first) / 4 * part,
			.end_ns = (last - first) / 4 * (part + 1),
			.min_ns = part * 1000,
			.tracks = TIMELINE_API | TIMELINE_OPS | TIMELINE_GPU | TIMELINE_STEPS};
		struct timeline_filter whole = {.tracks = filter.tracks};
		struct replay some = write_of(process, &filter), base = write_of(process, &whole);
		/* The axis begins an hour before the first event, wherever a step began. */
		uint64_t begin = 3600000000000ull + filter.begin_ns;
		uint64_t end = 3600000000000ull + filter.end_ns;
		size_t nr = 0;

		for (size_t i = 0; i < base.nr_slices; i++) {
			const struct seen *slice = &base.slices[i];
			uint64_t dur = slice->end - slice->begin;

			nr += (!dur || dur >= filter.min_ns) && slice->begin < end &&
			      (slice->end > begin || slice->begin == begin);
		}
		ck_assert_uint_gt(nr, 0);
		ck_assert_uint_lt(nr, base.nr_slices);
		ck_assert_uint_eq(some.nr_slices, nr);
		replay_fini(&some);
		replay_fini(&base);
	}
	replay_fini(&all);
	process_destroy(process);
}
END_TEST

START_TEST(times_are_read_with_their_units)
{
	static const struct {
		const char *text;
		uint64_t begin, end;
	} good[] = {{"1.2s-1.4s", 1200000000, 1400000000}, {"300ms-", 300000000, UINT64_MAX},
		{"-5us", 0, 5000}, {"1-2", 1000000000, 2000000000}, {"7ns-0.5us", 7, 500}};
	static const char *const bad[] = {"", "-", "1s", "2s-1s", "1s-1s", "x-1s", "1m-2m",
		"1s-2sx", "nan-1s", "0x-1", "1s--2s", "inf-"};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct timeline_filter filter = {0};

		ck_assert(timeline_filter_parse_time(&filter, good[i].text));
		ck_assert_uint_eq(filter.begin_ns, good[i].begin);
		ck_assert_uint_eq(filter.end_ns, good[i].end);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct timeline_filter filter = {0};

		ck_assert_msg(!timeline_filter_parse_time(&filter, bad[i]), "%s", bad[i]);
	}
}
END_TEST

START_TEST(tracks_are_words)
{
	struct timeline_filter filter = {0};

	ck_assert(timeline_filter_parse_tracks(&filter, "gpu,api"));
	ck_assert_uint_eq(filter.tracks, TIMELINE_GPU | TIMELINE_API);
	ck_assert(!timeline_filter_parse_tracks(&filter, "gpu,gpus"));
	filter.tracks = 0;
	ck_assert(!timeline_filter_parse_tracks(&filter, ""));
}
END_TEST

START_TEST(nonsense_is_no_harm)
{
	for (uint32_t seed = 1; seed <= 3; seed++) {
		const char *path = streams_path("wild");
		struct gen *gen = gen_open(path);
		struct process *process;
		struct replay replay;

		gen_wild(gen, seed);
		gen_close(gen, NULL);
		process = streams_process(path);
		replay = write_of(process, NULL);
		replay_fini(&replay);
		process_destroy(process);
	}
}
END_TEST

/* ---- queues ---- */

static void check_counts_of(const struct replay *replay, uint64_t track,
	const uint64_t (*expected)[2], size_t nr_expected)
{
	size_t nr = 0;

	for (size_t i = 0; i < replay->trace->n_packet; i++) {
		const Gprof__Perfetto__TracePacket *packet = replay->trace->packet[i];

		if (!packet->track_event || packet->track_event->track_uuid != track) {
			continue;
		}
		ck_assert_uint_lt(nr, nr_expected);
		ck_assert_uint_eq(packet->timestamp, expected[nr][0]);
		ck_assert_uint_eq(
			(uint64_t)packet->track_event->double_counter_value, expected[nr][1]);
		nr++;
	}
	ck_assert_uint_eq(nr, nr_expected);
}

/* A call (stream 0) or the begin of its work, as slices come. */
struct queued {
	uint32_t correlation, stream;
	uint64_t ns;
};

static struct replay play_queues(const struct queued *events, size_t nr_events)
{
	struct launch_queues queues;
	struct perfetto perfetto;
	const struct track_sink sink = perfetto_sink(&perfetto);
	struct buf bytes = {0};
	struct replay replay;
	uint64_t call_ns;

	launch_queues_init(&queues);
	perfetto_init(&perfetto, &bytes);
	for (size_t i = 0; i < nr_events; i++) {
		const struct queued *event = &events[i];
		struct launch_queue *queue;

		if (!event->stream) {
			launch_queues_launch(&queues, event->correlation, event->ns);
		} else if (launch_queues_begin(&queues, event->correlation, &call_ns)) {
			queue = launch_queues_find(&queues, 0, event->stream);
			queue->track = event->stream;
			launch_queue_add(queue, &sink, call_ns, event->ns);
		}
	}
	launch_queues_end(&queues, &sink);
	perfetto_fini(&perfetto);
	launch_queues_fini(&queues);
	replay = replay_of(&bytes);
	buf_fini(&bytes);
	return replay;
}

START_TEST(each_stream_has_its_queue)
{
	/* 9 begins before its call, and 1 is a graph of two kernels. */
	static const struct queued events[] = {{9, 7, 5}, {9, 0, 6}, {1, 0, 10}, {2, 0, 20},
		{3, 0, 30}, {1, 7, 40}, {1, 8, 41}, {2, 8, 45}, {4, 0, 50}, {3, 7, 100},
		{4, 7, 200}};
	static const uint64_t seventh[][2] = {
		{10, 1}, {30, 2}, {40, 1}, {50, 2}, {100, 1}, {200, 0}};
	static const uint64_t eighth[][2] = {{20, 1}, {45, 0}};
	struct replay replay = play_queues(events, sizeof(events) / sizeof(events[0]));

	check_counts_of(&replay, 7, seventh, 6);
	check_counts_of(&replay, 8, eighth, 2);
	replay_fini(&replay);
}
END_TEST

/* The second call's work is served first: its own time is not before what was written. */
START_TEST(queues_never_go_back_in_time)
{
	static const struct queued events[] = {{1, 0, 10}, {2, 0, 20}, {2, 7, 30}, {1, 7, 40}};
	static const uint64_t counts[][2] = {{20, 1}, {20, 2}, {30, 1}, {40, 0}};
	struct replay replay = play_queues(events, sizeof(events) / sizeof(events[0]));

	check_counts_of(&replay, 7, counts, 4);
	replay_fini(&replay);
}
END_TEST

/* ---- sinks ---- */

struct taken {
	size_t nr_tracks, nr_slices, nr_ends, nr_instants;
	uint64_t sum, first_ns;
};

static uint64_t mark_of(uint64_t name, uint64_t track, uint64_t begin, uint64_t end)
{
	return (name * 31 + track) * 0x9e3779b97f4a7c15ull ^ begin * 7 ^ end * 13;
}

static void take_begin(void *context, uint64_t base_ns, uint64_t first_ns, uint64_t last_ns)
{
	struct taken *taken = context;

	ck_assert_uint_gt(base_ns, 0);
	ck_assert_uint_lt(first_ns, last_ns);
	taken->first_ns = first_ns;
}

static void take_track(void *context, const struct track *track)
{
	struct taken *taken = context;

	taken->nr_tracks++;
	ck_assert_ptr_nonnull(track->name);
	ck_assert_uint_ne(track->id, track->parent);
}

static void take_slice(void *context, const struct track_slice *event, bool is_instant)
{
	struct taken *taken = context;

	ck_assert_uint_gt(event->track, 0);
	if (is_instant) {
		taken->nr_instants++;
		return;
	}
	taken->nr_slices++;
	taken->sum += mark_of(
		(uint64_t)event->name + 1, event->track, event->ns, event->ns + event->dur_ns);
}

static void take_end(void *context, uint64_t track, uint64_t ns)
{
	ck_assert_uint_gt(ns, 0);
	ck_assert_uint_gt(track, 0);
	((struct taken *)context)->nr_ends++;
}

START_TEST(a_sink_gets_what_packets_would_hold)
{
	const char *const paths[] = {streams_small("a.gprof"), streams_ops("b.gprof")};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct process *process = streams_process(paths[i]);
		struct taken taken = {0};
		const struct track_sink sink = {.begin = take_begin,
			.track = take_track,
			.slice = take_slice,
			.slice_end = take_end,
			.context = &taken};
		/* Tracks of counters have numbers, too. */
		struct timeline_filter filter = {.tracks = 0xff & ~TIMELINE_COUNTERS};
		struct replay replay = write_of(process, &filter);
		uint64_t sum = 0;

		for (size_t k = 0; k < replay.nr_slices; k++) {
			const struct seen *slice = &replay.slices[k];

			sum += mark_of(slice->name, slice->track, slice->begin, slice->end);
		}
		tracks_walk(&process, 1, &filter, &sink);
		ck_assert_uint_gt(taken.first_ns, 0);
		ck_assert_uint_gt(taken.nr_tracks, 2);
		ck_assert_uint_eq(taken.nr_slices, replay.nr_slices);
		ck_assert_uint_eq(taken.nr_ends, replay.nr_slices);
		ck_assert_uint_eq(taken.nr_instants, replay.nr_instants);
		ck_assert_uint_eq(taken.sum, sum);
		replay_fini(&replay);
		process_destroy(process);
	}
}
END_TEST

/* ---- slices of the same time ---- */

/* In 3 ticks of this clock passes 1 ns. */
static struct gen *open_ticking(const char *path)
{
	struct gen *gen = gen_open(path);

	gen_anchor(gen, 3000, 1000, 1000);
	gen_anchor(gen, 3003000, 1001000, 1001000);
	return gen;
}

static void add_row_call(struct gen *gen, uint64_t begin, uint64_t end)
{
	struct gprof_row_api_launch *call = gen_row(gen, GPROF_TABLE_api_launch);

	call->begin = begin;
	call->dur = end;
	call->thread = 1;
	call->call = gen_call(gen, "cudaLaunchKernel", GPROF_API_RUNTIME);
}

/* As the recorder has them: what ends first comes first. */
static struct process *make_ties(const char *name)
{
	const char *path = streams_path(name);
	struct gen *gen = open_ticking(path);

	add_row_call(gen, 6001, 9002);
	gen_op(gen, "3", 6001, 9002);
	gen_op(gen, "2", 6001, 9002);
	gen_op(gen, "1", 6000, 9003); /* the same ns */
	gen_op(gen, "0", 6000, 9010);
	gen_op(gen, "4", 12000, 15000);
	gen_close(gen, "exit");
	return streams_process(path);
}

struct nested {
	char names[8][24];
	uint32_t depths[8];
	size_t nr;
};

static void ignore_begin(void *context, uint64_t base_ns, uint64_t first_ns, uint64_t last_ns)
{
	(void)context;
	(void)base_ns;
	(void)first_ns;
	(void)last_ns;
}

static void ignore_track(void *context, const struct track *track)
{
	(void)context;
	(void)track;
}

static void add_nested(void *context, const struct track_slice *event, bool is_instant)
{
	struct nested *nested = context;

	ck_assert(!is_instant);
	ck_assert_uint_lt(nested->nr, 8);
	snprintf(nested->names[nested->nr], sizeof(nested->names[0]), "%s",
		string_pool_text(event->name, NULL));
	nested->depths[nested->nr++] = event->depth;
}

START_TEST(of_slices_with_the_same_time_the_outer_one_comes_first)
{
	static const char *const names[] = {"0", "1", "2", "3", "cudaLaunchKernel", "4"};
	struct process *process = make_ties("ties.gprof");
	struct nested nested = {0};
	const struct track_sink sink = {.begin = ignore_begin,
		.track = ignore_track,
		.slice = add_nested,
		.context = &nested};

	tracks_walk(&process, 1, NULL, &sink);
	ck_assert_uint_eq(nested.nr, 6);
	for (size_t i = 0; i < nested.nr; i++) {
		ck_assert_str_eq(nested.names[i], names[i]);
		ck_assert_uint_eq(nested.depths[i], i < 5 ? i : 0);
	}
	process_destroy(process);
}
END_TEST

/* Viewers take the first of two that have the same time for the outer one. */
START_TEST(in_json_the_outer_of_two_operators_comes_first_too)
{
	struct process *process = make_ties("ties.gprof");
	struct buf json = {0};
	const char *at;

	chrome_write(&process, 1, &(struct chrome_file){.name = "t.json"}, &json);
	buf_char(&json, '\0');
	at = json.bytes;
	for (const char *const *name =
			(const char *const[]){"\"1\"", "\"2\"", "\"3\"", "\"4\"", NULL};
		*name; name++) {
		at = strstr(at, *name);
		ck_assert_ptr_nonnull(at);
	}
	buf_fini(&json);
	process_destroy(process);
}
END_TEST

/* ---- parts ---- */

START_TEST(every_event_counts_in_the_span_of_time_it_begins_in)
{
	static struct timeline_sizes sizes;
	static const struct timeline_part whole = {.end_ns = UINT64_MAX};
	const char *path = streams_path("overhead.gprof");
	struct gen *gen = gen_open(path);
	struct process *process;
	struct buf json = {0};
	size_t nr_spans = 0;

	gen_anchor(gen, 1000, 1000, 1000);
	for (uint64_t i = 0; i < 10; i++) {
		struct gprof_row_overhead *row = gen_row(gen, GPROF_TABLE_overhead);

		row->begin = 1000000 * (i + 1);
		row->dur = row->begin + 10;
		row->tid = 1;
	}
	gen_close(gen, "exit");
	process = streams_process(path);
	chrome_write(&process, 1,
		&(struct chrome_file){.name = "t.json", .part = &whole, .sizes = &sizes}, &json);
	for (size_t i = 0; i < TIMELINE_SPANS; i++) {
		nr_spans += sizes.bytes[i] > 0;
	}
	ck_assert_uint_ge(nr_spans, 10);
	buf_fini(&json);
	process_destroy(process);
}
END_TEST

UNIT_SUITE("report/pftrace", every_slice_keeps_its_begin_and_end_however_they_overlap,
	every_row_is_a_slice, times_and_lengths_choose, times_are_read_with_their_units,
	tracks_are_words, nonsense_is_no_harm, each_stream_has_its_queue,
	queues_never_go_back_in_time, a_sink_gets_what_packets_would_hold,
	of_slices_with_the_same_time_the_outer_one_comes_first,
	in_json_the_outer_of_two_operators_comes_first_too,
	every_event_counts_in_the_span_of_time_it_begins_in)
