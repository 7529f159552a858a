/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sink of tracks.c that writes Perfetto traces. Each callback packs one message with protobuf-c
 * and puts its length before it. Texts are packets of their own, to which events refer by number;
 * arguments that many slices share, such as a launch shape, are packed once and copied as bytes.
 */
#include "report/timeline/perfetto.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/string_pool.h"
#include "report/timeline/perfetto.pb-c.h"
#include "report/util/text.h"

/*
 * Any numbers will do. The reader takes the last thread that a sequence describes for that of its
 * events, so descriptors have a sequence of their own.
 */
#define EVENTS	    1u
#define DESCRIPTORS 2u

/* TracePacket.SequenceFlags */
#define STATE_CLEARED 1u
#define STATE_NEEDED  2u

/* BuiltinClock */
#define CLOCK_REAL 1u
#define CLOCK_BOOT 6u /* the default clock of timestamps */

#define PACKET_TAG	 (1u << 3 | 2u) /* Trace.packet */
#define ANNOTATION_TAG	 4u		/* TrackEvent.debug_annotations */
#define LENGTH_DELIMITED 2u

/* Ranks of the tracks of a process are below it. */
#define BEHIND_PROCESS (1 << 26)

/* Enough for a packet without texts. */
#define USUAL_BYTES 4096u

typedef Gprof__Perfetto__TracePacket packet_t;
typedef Gprof__Perfetto__TrackEvent track_event_t;
typedef Gprof__Perfetto__DebugAnnotation annotation_t;
typedef Gprof__Perfetto__TrackDescriptor track_descriptor_t;
typedef Gprof__Perfetto__InternedName interned_name_t;
typedef Gprof__Perfetto__InternedString interned_text_t;

/* ---- packets ---- */

/* Readers take times as signed numbers; in damaged streams they may be too large. */
static uint64_t shown_ns(uint64_t ns)
{
	return ns < INT64_MAX ? ns : INT64_MAX;
}

/* most: an upper bound of the packet's bytes; 0: compute it. */
static void pack(struct perfetto *perfetto, packet_t *packet, size_t most)
{
	uint8_t head[1 + 10];
	size_t nr_head = 0, nr_bytes, rest;

	packet->has_trusted_packet_sequence_id = true;
	most = most ? most : gprof__perfetto__trace_packet__get_packed_size(packet);
	if (most > perfetto->capacity) {
		perfetto->packet = mem_resize(perfetto->packet, most, 1);
		perfetto->capacity = most;
	}
	nr_bytes = gprof__perfetto__trace_packet__pack(packet, perfetto->packet);
	head[nr_head++] = PACKET_TAG;
	for (rest = nr_bytes; rest >= 0x80; rest >>= 7) {
		head[nr_head++] = (uint8_t)(rest | 0x80);
	}
	head[nr_head++] = (uint8_t)rest;
	buf_add(perfetto->out, head, nr_head);
	buf_add(perfetto->out, perfetto->packet, nr_bytes);
}

static void write_packet(struct perfetto *perfetto, packet_t *packet, uint32_t flags, size_t most)
{
	packet->trusted_packet_sequence_id = EVENTS;
	packet->has_sequence_flags = true;
	packet->sequence_flags = flags;
	pack(perfetto, packet, most);
}

/* Categories and keys are few: all are written at the beginning. */
static void write_words(struct perfetto *perfetto)
{
	packet_t packet = GPROF__PERFETTO__TRACE_PACKET__INIT;
	Gprof__Perfetto__InternedData data = GPROF__PERFETTO__INTERNED_DATA__INIT;
	interned_name_t words[NR_CATEGORIES + NR_KEYS];
	interned_name_t *list[NR_CATEGORIES + NR_KEYS];
	size_t nr = 0;

	for (unsigned int i = 1; i < NR_CATEGORIES + NR_KEYS; i++) {
		bool is_key = i >= NR_CATEGORIES;
		interned_name_t *word = &words[nr];

		if (i == NR_CATEGORIES) {
			continue;
		}
		gprof__perfetto__interned_name__init(word);
		word->has_iid = true;
		word->iid = is_key ? i - NR_CATEGORIES : i;
		word->name =
			(char *)(is_key ? arg_names[i - NR_CATEGORIES].name : category_words[i]);
		list[nr++] = word;
	}
	data.n_event_categories = NR_CATEGORIES - 1;
	data.event_categories = list;
	data.n_debug_annotation_names = NR_KEYS - 1;
	data.debug_annotation_names = list + NR_CATEGORIES - 1;
	packet.interned_data = &data;
	write_packet(perfetto, &packet, STATE_CLEARED | STATE_NEEDED, 0);
}

static void write_clocks(struct perfetto *perfetto, uint64_t ns, uint64_t realtime_ns)
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
	write_packet(perfetto, &packet, STATE_NEEDED, 0);
}

/* ---- texts ---- */

/* Adds a text of string_pool.h as UTF-8 without control characters, with its NUL. */
static void show(uint32_t name, struct buf *text)
{
	size_t nr_bytes;
	const char *bytes = string_pool_shown(name, &nr_bytes);

	text_add_shown(text, bytes, nr_bytes, 0);
	buf_char(text, '\0');
}

static void write_text(struct perfetto *perfetto, uint32_t name, bool is_name)
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
	write_packet(perfetto, &packet, STATE_NEEDED, 0);
	buf_fini(&text);
}

static void need_name(struct perfetto *perfetto, uint32_t name)
{
	if (!idset_has(perfetto->names, name)) {
		idset_add(perfetto->names, name);
		write_text(perfetto, name, true);
	}
}

static void need_text(struct perfetto *perfetto, uint32_t name)
{
	if (!idset_has(perfetto->texts, name)) {
		idset_add(perfetto->texts, name);
		write_text(perfetto, name, false);
	}
}

/* ---- tracks ---- */

static void write_descriptor(struct perfetto *perfetto, track_descriptor_t *descriptor)
{
	packet_t packet = GPROF__PERFETTO__TRACE_PACKET__INIT;

	packet.trusted_packet_sequence_id = DESCRIPTORS;
	packet.track_descriptor = descriptor;
	pack(perfetto, &packet, 0);
}

/* The parent of all tracks: processes are in the order of their ranks. */
static void write_root(struct perfetto *perfetto)
{
	track_descriptor_t descriptor = GPROF__PERFETTO__TRACK_DESCRIPTOR__INIT;

	descriptor.has_uuid = true;
	descriptor.has_process_ordering = true;
	descriptor.process_ordering =
		GPROF__PERFETTO__TRACK_DESCRIPTOR__PROCESS_ORDERING__PROCESS_ORDERING_EXPLICIT;
	write_descriptor(perfetto, &descriptor);
}

/* GPUs are in their process, behind what else it has. */
static void place_descriptor(
	struct perfetto *perfetto, track_descriptor_t *descriptor, const struct track *track)
{
	uint64_t parent = track->parent ? track->parent : track->process;

	descriptor->has_uuid = true;
	descriptor->uuid = track->id;
	descriptor->has_parent_uuid = parent != 0;
	descriptor->parent_uuid = parent;
	descriptor->has_child_ordering = true;
	descriptor->child_ordering =
		GPROF__PERFETTO__TRACK_DESCRIPTOR__CHILD_TRACKS_ORDERING__EXPLICIT;
	descriptor->has_sibling_order_rank = true;
	descriptor->sibling_order_rank =
		track->rank + (parent == track->parent ? 0 : BEHIND_PROCESS);
	write_descriptor(perfetto, descriptor);
}

/* protobuf-c takes texts that it does not change as char *. */
static char *text_of(const char *text)
{
	return (char *)(uintptr_t)text;
}

static void write_track(void *context, const struct track *track)
{
	track_descriptor_t descriptor = GPROF__PERFETTO__TRACK_DESCRIPTOR__INIT;
	Gprof__Perfetto__ProcessDescriptor process = GPROF__PERFETTO__PROCESS_DESCRIPTOR__INIT;
	Gprof__Perfetto__ThreadDescriptor thread = GPROF__PERFETTO__THREAD_DESCRIPTOR__INIT;
	char *label = text_of(track->label);
	bool is_unknown = strcmp(track->name, "?") == 0;

	switch (track->kind) {
	case TRACK_PROCESS:
		process.has_pid = true;
		process.pid = (int32_t)track->pid;
		process.process_name = is_unknown ? NULL : text_of(track->name);
		process.n_process_labels = label && *label;
		process.process_labels = &label;
		descriptor.process = &process;
		break;
	case TRACK_THREAD:
		thread.has_pid = true;
		thread.pid = (int32_t)track->pid;
		thread.has_tid = true;
		thread.tid = (int32_t)track->tid;
		thread.thread_name = text_of(track->thread_name); /* the viewer adds the tid */
		descriptor.thread = &thread;
		break;
	default:
		descriptor.name = text_of(track->name);
		break;
	}
	place_descriptor(context, &descriptor, track);
}

static void write_counter_track(void *context, const struct track *track, const char *unit)
{
	track_descriptor_t descriptor = GPROF__PERFETTO__TRACK_DESCRIPTOR__INIT;
	Gprof__Perfetto__CounterDescriptor counter = GPROF__PERFETTO__COUNTER_DESCRIPTOR__INIT;

	counter.unit_name = *unit ? text_of(unit) : NULL;
	descriptor.name = text_of(track->name);
	descriptor.counter = &counter;
	place_descriptor(context, &descriptor, track);
}

static void write_begin(void *context, uint64_t base_ns, uint64_t first_ns, uint64_t last_ns)
{
	struct perfetto *perfetto = context;

	(void)last_ns;
	write_words(perfetto);
	write_root(perfetto);
	write_clocks(perfetto, first_ns, base_ns + first_ns);
}

/* ---- events ---- */

static void fill_annotation(
	struct perfetto *perfetto, const struct arg *arg, annotation_t *annotation)
{
	gprof__perfetto__debug_annotation__init(annotation);
	annotation->has_name_iid = true;
	annotation->name_iid = arg->key;
	switch (arg->type) {
	case ARG_UINT:
		annotation->has_uint_value = true;
		annotation->uint_value = arg->number;
		break;
	case ARG_INT:
		annotation->has_int_value = true;
		annotation->int_value = arg->integer;
		break;
	case ARG_DOUBLE:
		annotation->has_double_value = true;
		annotation->double_value = arg->real;
		break;
	default:
		need_text(perfetto, arg->text);
		annotation->has_string_value_iid = true;
		annotation->string_value_iid = (uint64_t)arg->text + 1;
		break;
	}
}

static size_t fill_annotations(struct perfetto *perfetto, const struct slice_args *args,
	annotation_t *annotations, annotation_t **list)
{
	for (unsigned int i = 0; i < args->nr; i++) {
		fill_annotation(perfetto, &args->args[i], &annotations[i]);
		list[i] = &annotations[i];
	}
	return args->nr;
}

/* Packs arguments once, for all slices that have them. */
static void pack_shared(void *context, struct shared_args *shared)
{
	track_event_t event = GPROF__PERFETTO__TRACK_EVENT__INIT;
	annotation_t annotations[SLICE_ARGS], *list[SLICE_ARGS];

	event.n_debug_annotations = fill_annotations(context, &shared->made, annotations, list);
	event.debug_annotations = list;
	buf_reserve(&shared->packed, gprof__perfetto__track_event__get_packed_size(&event));
	shared->packed.nr_bytes =
		gprof__perfetto__track_event__pack(&event, (uint8_t *)shared->packed.bytes);
}

/* An upper bound of the bytes saves a pass over all members that would compute them. */
static void write_event(struct perfetto *perfetto, const struct track_slice *slice,
	Gprof__Perfetto__TrackEvent__Type type)
{
	packet_t packet = GPROF__PERFETTO__TRACE_PACKET__INIT;
	track_event_t track_event = GPROF__PERFETTO__TRACK_EVENT__INIT;
	annotation_t annotations[SLICE_ARGS], *list[SLICE_ARGS];
	uint64_t category = slice->category, flows[TRACK_SLICE_FLOWS];
	ProtobufCMessageUnknownField more;
	const struct buf *packed = slice->args.shared ? &slice->args.shared->packed : NULL;
	bool has_more = packed && packed->nr_bytes > 1;

	need_name(perfetto, slice->name);
	memcpy(flows, slice->flows, sizeof(flows));
	packet.has_timestamp = true;
	packet.timestamp = shown_ns(slice->ns);
	packet.track_event = &track_event;
	track_event.has_type = true;
	track_event.type = type;
	track_event.has_track_uuid = true;
	track_event.track_uuid = slice->track;
	track_event.has_name_iid = true;
	track_event.name_iid = (uint64_t)slice->name + 1;
	track_event.n_category_iids = category != CATEGORY_NONE;
	track_event.category_iids = &category;
	track_event.n_debug_annotations =
		fill_annotations(perfetto, &slice->args, annotations, list);
	track_event.debug_annotations = list;
	track_event.n_flow_ids = slice->nr_flows;
	track_event.flow_ids = flows;
	if (has_more) {
		/* The library writes the first tag; the bytes behind it contain the other tags. */
		more.tag = ANNOTATION_TAG;
		more.wire_type = LENGTH_DELIMITED;
		more.data = (uint8_t *)packed->bytes + 1;
		more.len = packed->nr_bytes - 1;
		track_event.base.n_unknown_fields = 1;
		track_event.base.unknown_fields = &more;
	}
	write_packet(perfetto, &packet, STATE_NEEDED,
		has_more && packed->nr_bytes > USUAL_BYTES / 2 ? 0 : USUAL_BYTES);
}

static void write_slice(void *context, const struct track_slice *slice, bool is_instant)
{
	struct perfetto *perfetto = context;

	perfetto->written.nr_slices += !is_instant;
	perfetto->written.nr_instants += is_instant;
	write_event(perfetto, slice,
		is_instant ? GPROF__PERFETTO__TRACK_EVENT__TYPE__INSTANT
			   : GPROF__PERFETTO__TRACK_EVENT__TYPE__SLICE_BEGIN);
}

static void write_slice_end(void *context, uint64_t track, uint64_t ns)
{
	packet_t packet = GPROF__PERFETTO__TRACE_PACKET__INIT;
	track_event_t track_event = GPROF__PERFETTO__TRACK_EVENT__INIT;

	packet.has_timestamp = true;
	packet.timestamp = shown_ns(ns);
	packet.track_event = &track_event;
	track_event.has_type = true;
	track_event.type = GPROF__PERFETTO__TRACK_EVENT__TYPE__SLICE_END;
	track_event.has_track_uuid = true;
	track_event.track_uuid = track;
	write_packet(context, &packet, STATE_NEEDED, USUAL_BYTES);
}

static void write_count(void *context, uint64_t track, uint64_t ns, double value)
{
	struct perfetto *perfetto = context;

	packet_t packet = GPROF__PERFETTO__TRACE_PACKET__INIT;
	track_event_t track_event = GPROF__PERFETTO__TRACK_EVENT__INIT;

	perfetto->written.nr_counts++;
	packet.has_timestamp = true;
	packet.timestamp = shown_ns(ns);
	packet.track_event = &track_event;
	track_event.has_type = true;
	track_event.type = GPROF__PERFETTO__TRACK_EVENT__TYPE__COUNTER;
	track_event.has_track_uuid = true;
	track_event.track_uuid = track;
	track_event.has_double_counter_value = true;
	track_event.double_counter_value = value;
	write_packet(perfetto, &packet, STATE_NEEDED, USUAL_BYTES);
}

/* ---- the sink ---- */

void perfetto_init(struct perfetto *perfetto, struct buf *out)
{
	*perfetto = (struct perfetto){.out = out,
		.names = idset_create(),
		.texts = idset_create(),
		.packet = mem_resize(NULL, USUAL_BYTES, 1),
		.capacity = USUAL_BYTES};
}

void perfetto_fini(struct perfetto *perfetto)
{
	idset_destroy(perfetto->names);
	idset_destroy(perfetto->texts);
	free(perfetto->packet);
}

struct track_sink perfetto_sink(struct perfetto *perfetto)
{
	return (struct track_sink){.has_launch_flows = true,
		.track = write_track,
		.slice = write_slice,
		.slice_end = write_slice_end,
		.share = pack_shared,
		.counter_track = write_counter_track,
		.count = write_count,
		.begin = write_begin,
		.context = perfetto};
}

struct perfetto_written perfetto_write(struct process *const *processes, size_t nr_processes,
	const struct timeline_filter *filter, struct buf *out)
{
	struct perfetto perfetto;
	const struct track_sink sink = perfetto_sink(&perfetto);

	perfetto_init(&perfetto, out);
	tracks_walk(processes, nr_processes, filter, &sink);
	perfetto_fini(&perfetto);
	return perfetto.written;
}
