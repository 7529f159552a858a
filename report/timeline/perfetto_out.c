/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/perfetto_out.h"

#include <stdlib.h>

#include "report/util/string_pool.h"
#include "report/timeline/perfetto.pb-c.h"
#include "report/util/text.h"

/* Any, but the same everywhere. */
#define SEQUENCE 1u

/* TracePacket.SequenceFlags */
#define STATE_CLEARED 1u
#define STATE_NEEDED  2u

/* BuiltinClock */
#define CLOCK_REAL 1u
#define CLOCK_BOOT 6u /* what times without a clock are of */

#define PACKET_TAG	 (1u << 3 | 2u) /* Trace.packet */
#define ANNOTATION_TAG	 4u		/* TrackEvent.debug_annotations */
#define LENGTH_DELIMITED 2u

/* Of a packet without texts. */
#define USUAL_BYTES 4096u

typedef Gprof__Perfetto__TracePacket packet_t;
typedef Gprof__Perfetto__TrackEvent track_event_t;
typedef Gprof__Perfetto__DebugAnnotation annotation_t;
typedef Gprof__Perfetto__TrackDescriptor track_t;
typedef Gprof__Perfetto__InternedName interned_name_t;
typedef Gprof__Perfetto__InternedString interned_text_t;

/* ---- packets ---- */

/* Readers take times for numbers with a sign; those of damaged streams may be anything. */
static uint64_t shown_ns(uint64_t ns)
{
	return ns < INT64_MAX ? ns : INT64_MAX;
}

/* most: what it takes at most, 0 if that has to be counted. */
static void write_packet(struct perfetto_out *out, packet_t *packet, uint32_t flags, size_t most)
{
	uint8_t head[1 + 10];
	size_t nr_head = 0, nr_bytes, rest;

	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = SEQUENCE;
	packet->has_sequence_flags = true;
	packet->sequence_flags = flags;
	most = most ? most : gprof__perfetto__trace_packet__get_packed_size(packet);
	if (most > out->capacity) {
		out->packet = mem_resize(out->packet, most, 1);
		out->capacity = most;
	}
	nr_bytes = gprof__perfetto__trace_packet__pack(packet, out->packet);
	head[nr_head++] = PACKET_TAG;
	for (rest = nr_bytes; rest >= 0x80; rest >>= 7) {
		head[nr_head++] = (uint8_t)(rest | 0x80);
	}
	head[nr_head++] = (uint8_t)rest;
	buf_add(out->buf, head, nr_head);
	buf_add(out->buf, out->packet, nr_bytes);
}

/* Categories and keys are few and written at once. */
static void write_words(struct perfetto_out *out)
{
	packet_t packet = GPROF__PERFETTO__TRACE_PACKET__INIT;
	Gprof__Perfetto__InternedData data = GPROF__PERFETTO__INTERNED_DATA__INIT;
	interned_name_t words[PERFETTO_NR_CATEGORIES + PERFETTO_NR_KEYS];
	interned_name_t *list[PERFETTO_NR_CATEGORIES + PERFETTO_NR_KEYS];
	size_t nr = 0;

	for (unsigned int i = 1; i < PERFETTO_NR_CATEGORIES + PERFETTO_NR_KEYS; i++) {
		bool is_key = i >= PERFETTO_NR_CATEGORIES;
		interned_name_t *word = &words[nr];

		if (i == PERFETTO_NR_CATEGORIES) {
			continue;
		}
		gprof__perfetto__interned_name__init(word);
		word->has_iid = true;
		word->iid = is_key ? i - PERFETTO_NR_CATEGORIES : i;
		/* Which nobody writes to. */
		word->name = (char *)(is_key ? perfetto_key_word(i - PERFETTO_NR_CATEGORIES)
					     : perfetto_category_word(i));
		list[nr++] = word;
	}
	data.n_event_categories = PERFETTO_NR_CATEGORIES - 1;
	data.event_categories = list;
	data.n_debug_annotation_names = PERFETTO_NR_KEYS - 1;
	data.debug_annotation_names = list + PERFETTO_NR_CATEGORIES - 1;
	packet.interned_data = &data;
	write_packet(out, &packet, STATE_CLEARED | STATE_NEEDED, 0);
}

static void write_clocks(struct perfetto_out *out, uint64_t ns, uint64_t realtime_ns)
{
	packet_t packet = GPROF__PERFETTO__TRACE_PACKET__INIT;
	Gprof__Perfetto__ClockSnapshot snapshot = GPROF__PERFETTO__CLOCK_SNAPSHOT__INIT;
	Gprof__Perfetto__ClockSnapshot__Clock boot = GPROF__PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT;
	Gprof__Perfetto__ClockSnapshot__Clock real = boot;
	Gprof__Perfetto__ClockSnapshot__Clock *both[] = {&boot, &real};

	boot.has_clock_id = real.has_clock_id = true;
	boot.has_timestamp = real.has_timestamp = true;
	boot.clock_id = CLOCK_BOOT;
	boot.timestamp = ns;
	real.clock_id = CLOCK_REAL;
	real.timestamp = realtime_ns;
	snapshot.n_clocks = 2;
	snapshot.clocks = both;
	packet.clock_snapshot = &snapshot;
	write_packet(out, &packet, STATE_NEEDED, 0);
}

void perfetto_out_begin(
	struct perfetto_out *out, struct buf *buf, uint64_t ns, uint64_t realtime_ns)
{
	*out = (struct perfetto_out){.buf = buf, .names = idset_create(), .texts = idset_create()};
	out->packet = mem_resize(NULL, USUAL_BYTES, 1);
	out->capacity = USUAL_BYTES;
	write_words(out);
	write_clocks(out, ns, realtime_ns);
}

void perfetto_out_begin_sink(struct perfetto_out *out, const struct perfetto_sink *sink)
{
	*out = (struct perfetto_out){
		.sink = sink, .names = idset_create(), .texts = idset_create()};
}

void perfetto_out_end(struct perfetto_out *out)
{
	idset_destroy(out->names);
	idset_destroy(out->texts);
	free(out->packet);
}

/* ---- texts ---- */

/* What a number of names.h is, as UTF-8 without controls, and with its NUL. */
static void show(uint32_t name, struct buf *text)
{
	size_t nr_bytes;
	const char *bytes = string_pool_shown(name, &nr_bytes);

	text_add_shown(text, bytes, nr_bytes, 0);
	buf_char(text, '\0');
}

static void write_text(struct perfetto_out *out, uint32_t name, bool is_name)
{
	packet_t packet = GPROF__PERFETTO__TRACE_PACKET__INIT;
	Gprof__Perfetto__InternedData data = GPROF__PERFETTO__INTERNED_DATA__INIT;
	interned_name_t event_name = GPROF__PERFETTO__INTERNED_NAME__INIT;
	interned_text_t value = GPROF__PERFETTO__INTERNED_STRING__INIT;
	interned_name_t *names = &event_name;
	interned_text_t *values = &value;
	struct buf text = {0};

	show(name, &text);
	event_name.has_iid = value.has_iid = true;
	event_name.iid = value.iid = (uint64_t)name + 1;
	event_name.name = text.bytes;
	value.has_str = true;
	value.str.data = (uint8_t *)text.bytes;
	value.str.len = text.nr_bytes - 1;
	data.n_event_names = is_name;
	data.event_names = &names;
	data.n_debug_annotation_string_values = !is_name;
	data.debug_annotation_string_values = &values;
	packet.interned_data = &data;
	write_packet(out, &packet, STATE_NEEDED, 0);
	buf_fini(&text);
}

static void need_name(struct perfetto_out *out, uint32_t name)
{
	if (!idset_has(out->names, name)) {
		idset_add(out->names, name);
		write_text(out, name, true);
	}
}

static void need_text(struct perfetto_out *out, uint32_t name)
{
	if (!idset_has(out->texts, name)) {
		idset_add(out->texts, name);
		write_text(out, name, false);
	}
}

/* ---- tracks ---- */

/* False: it went to the sink. */
static bool is_packet(struct perfetto_out *out, const struct perfetto_track *track)
{
	if (out->sink) {
		out->sink->track(out->sink->context, track);
	}
	return !out->sink;
}

static void write_track(struct perfetto_out *out, track_t *track, uint64_t uuid, uint64_t parent,
	const char *name, int32_t rank)
{
	packet_t packet = GPROF__PERFETTO__TRACE_PACKET__INIT;

	track->has_uuid = true;
	track->uuid = uuid;
	track->has_parent_uuid = parent != 0;
	track->parent_uuid = parent;
	track->name = (char *)(uintptr_t)name;
	track->has_child_ordering = true;
	track->child_ordering = GPROF__PERFETTO__TRACK_DESCRIPTOR__CHILD_TRACKS_ORDERING__EXPLICIT;
	track->has_sibling_order_rank = true;
	track->sibling_order_rank = rank;
	packet.track_descriptor = track;
	write_packet(out, &packet, STATE_NEEDED, 0);
}

void perfetto_out_process(struct perfetto_out *out, uint64_t track, uint32_t pid, const char *name,
	const char *label, int32_t rank)
{
	track_t descriptor = GPROF__PERFETTO__TRACK_DESCRIPTOR__INIT;
	Gprof__Perfetto__ProcessDescriptor process = GPROF__PERFETTO__PROCESS_DESCRIPTOR__INIT;
	char *labels = (char *)(uintptr_t)label;

	if (!is_packet(out, &(struct perfetto_track){
				    track, 0, name, label, rank, PERFETTO_TRACK_PROCESS})) {
		return;
	}
	process.has_pid = true;
	process.pid = (int32_t)pid;
	process.process_name = (char *)(uintptr_t)name;
	process.n_process_labels = label && *label;
	process.process_labels = &labels;
	descriptor.process = &process;
	write_track(out, &descriptor, track, 0, NULL, rank);
}

void perfetto_out_thread(struct perfetto_out *out, uint64_t track, uint64_t parent, uint32_t pid,
	uint32_t tid, const char *name, int32_t rank)
{
	track_t descriptor = GPROF__PERFETTO__TRACK_DESCRIPTOR__INIT;
	Gprof__Perfetto__ThreadDescriptor thread = GPROF__PERFETTO__THREAD_DESCRIPTOR__INIT;

	if (!is_packet(out, &(struct perfetto_track){
				    track, parent, name, NULL, rank, PERFETTO_TRACK_THREAD})) {
		return;
	}
	thread.has_pid = true;
	thread.pid = (int32_t)pid;
	thread.has_tid = true;
	thread.tid = (int32_t)tid;
	thread.thread_name = (char *)(uintptr_t)name;
	descriptor.thread = &thread;
	write_track(out, &descriptor, track, parent, NULL, rank);
}

void perfetto_out_track(
	struct perfetto_out *out, uint64_t track, uint64_t parent, const char *name, int32_t rank)
{
	track_t descriptor = GPROF__PERFETTO__TRACK_DESCRIPTOR__INIT;

	if (is_packet(out, &(struct perfetto_track){
				   track, parent, name, NULL, rank, PERFETTO_TRACK_OTHER})) {
		write_track(out, &descriptor, track, parent, name, rank);
	}
}

void perfetto_out_counter_track(struct perfetto_out *out, uint64_t track, uint64_t parent,
	const char *name, const char *unit, int32_t rank)
{
	track_t descriptor = GPROF__PERFETTO__TRACK_DESCRIPTOR__INIT;
	Gprof__Perfetto__CounterDescriptor counter = GPROF__PERFETTO__COUNTER_DESCRIPTOR__INIT;

	if (out->sink) {
		return;
	}
	counter.unit_name = *unit ? (char *)(uintptr_t)unit : NULL;
	descriptor.counter = &counter;
	write_track(out, &descriptor, track, parent, name, rank);
}

/* ---- events ---- */

static void fill_annotation(
	struct perfetto_out *out, const struct perfetto_arg *arg, annotation_t *annotation)
{
	gprof__perfetto__debug_annotation__init(annotation);
	annotation->has_name_iid = true;
	annotation->name_iid = arg->key;
	switch (arg->kind) {
	case PERFETTO_UINT:
		annotation->has_uint_value = true;
		annotation->uint_value = arg->number;
		break;
	case PERFETTO_INT:
		annotation->has_int_value = true;
		annotation->int_value = arg->integer;
		break;
	case PERFETTO_DOUBLE:
		annotation->has_double_value = true;
		annotation->double_value = arg->real;
		break;
	default:
		need_text(out, arg->text);
		annotation->has_string_value_iid = true;
		annotation->string_value_iid = (uint64_t)arg->text + 1;
		break;
	}
}

void perfetto_out_pack(
	struct perfetto_out *out, const struct perfetto_event *event, struct buf *packed)
{
	track_event_t track_event = GPROF__PERFETTO__TRACK_EVENT__INIT;
	annotation_t annotations[PERFETTO_ARGS], *list[PERFETTO_ARGS];

	if (out->sink) {
		buf_add(packed, event->args, event->nr_args * sizeof(*event->args));
		return;
	}
	for (unsigned int i = 0; i < event->nr_args; i++) {
		fill_annotation(out, &event->args[i], &annotations[i]);
		list[i] = &annotations[i];
	}
	track_event.n_debug_annotations = event->nr_args;
	track_event.debug_annotations = list;
	buf_reserve(packed, gprof__perfetto__track_event__get_packed_size(&track_event));
	packed->nr_bytes =
		gprof__perfetto__track_event__pack(&track_event, (uint8_t *)packed->bytes);
}

static void write_event(struct perfetto_out *out, const struct perfetto_event *event,
	Gprof__Perfetto__TrackEvent__Type type)
{
	packet_t packet = GPROF__PERFETTO__TRACE_PACKET__INIT;
	track_event_t track_event = GPROF__PERFETTO__TRACK_EVENT__INIT;
	annotation_t annotations[PERFETTO_ARGS], *list[PERFETTO_ARGS];
	uint64_t category = event->category, flows[PERFETTO_FLOWS];
	ProtobufCMessageUnknownField more;
	bool has_more = event->packed && event->packed->nr_bytes > 1;

	need_name(out, event->name);
	for (unsigned int i = 0; i < event->nr_args; i++) {
		fill_annotation(out, &event->args[i], &annotations[i]);
		list[i] = &annotations[i];
	}
	memcpy(flows, event->flows, sizeof(flows));
	packet.has_timestamp = true;
	packet.timestamp = shown_ns(event->ns);
	packet.track_event = &track_event;
	track_event.has_type = true;
	track_event.type = type;
	track_event.has_track_uuid = true;
	track_event.track_uuid = event->track;
	track_event.has_name_iid = true;
	track_event.name_iid = (uint64_t)event->name + 1;
	track_event.n_category_iids = category != PERFETTO_NONE;
	track_event.category_iids = &category;
	track_event.n_debug_annotations = event->nr_args;
	track_event.debug_annotations = list;
	track_event.n_flow_ids = event->nr_flows;
	track_event.flow_ids = flows;
	if (has_more) {
		/* Bytes behind the first tag, which the library writes; more tags lie in them. */
		more.tag = ANNOTATION_TAG;
		more.wire_type = LENGTH_DELIMITED;
		more.data = (uint8_t *)event->packed->bytes + 1;
		more.len = event->packed->nr_bytes - 1;
		track_event.base.n_unknown_fields = 1;
		track_event.base.unknown_fields = &more;
	}
	write_packet(out, &packet, STATE_NEEDED,
		has_more && event->packed->nr_bytes > USUAL_BYTES / 2 ? 0 : USUAL_BYTES);
}

void perfetto_out_slice(struct perfetto_out *out, const struct perfetto_event *event)
{
	out->nr_slices++;
	if (out->sink) {
		out->sink->slice(out->sink->context, event, false);
		return;
	}
	write_event(out, event, GPROF__PERFETTO__TRACK_EVENT__TYPE__SLICE_BEGIN);
}

void perfetto_out_instant(struct perfetto_out *out, const struct perfetto_event *event)
{
	out->nr_instants++;
	if (out->sink) {
		out->sink->slice(out->sink->context, event, true);
		return;
	}
	write_event(out, event, GPROF__PERFETTO__TRACK_EVENT__TYPE__INSTANT);
}

void perfetto_out_slice_end(struct perfetto_out *out, uint64_t track, uint64_t ns)
{
	packet_t packet = GPROF__PERFETTO__TRACE_PACKET__INIT;
	track_event_t track_event = GPROF__PERFETTO__TRACK_EVENT__INIT;

	if (out->sink) {
		out->sink->slice_end(out->sink->context, track);
		return;
	}
	packet.has_timestamp = true;
	packet.timestamp = shown_ns(ns);
	packet.track_event = &track_event;
	track_event.has_type = true;
	track_event.type = GPROF__PERFETTO__TRACK_EVENT__TYPE__SLICE_END;
	track_event.has_track_uuid = true;
	track_event.track_uuid = track;
	write_packet(out, &packet, STATE_NEEDED, USUAL_BYTES);
}

void perfetto_out_count(struct perfetto_out *out, uint64_t track, uint64_t ns, double value)
{
	packet_t packet = GPROF__PERFETTO__TRACE_PACKET__INIT;
	track_event_t track_event = GPROF__PERFETTO__TRACK_EVENT__INIT;

	if (out->sink) {
		return;
	}
	out->nr_counts++;
	packet.has_timestamp = true;
	packet.timestamp = shown_ns(ns);
	packet.track_event = &track_event;
	track_event.has_type = true;
	track_event.type = GPROF__PERFETTO__TRACK_EVENT__TYPE__COUNTER;
	track_event.has_track_uuid = true;
	track_event.track_uuid = track;
	track_event.has_double_counter_value = true;
	track_event.double_counter_value = value;
	write_packet(out, &packet, STATE_NEEDED, USUAL_BYTES);
}
