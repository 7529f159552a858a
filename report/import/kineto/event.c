/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills struct kineto_event from the tokens of one parsed event, and makes texts of the shapes of
 * operators. Most keys of a trace are not needed: find_key() tells them apart by their length
 * first. Values stay tokens where the converter may not need them.
 */
#include "report/import/kineto/event.h"
#include "report/util/text.h"

#include <stdlib.h>
#include <strings.h>

struct key {
	const char *name;
	uint8_t nr_bytes;
	uint8_t number; /* enum kineto_number, or more */
};

enum {
	SIZE = KINETO_NR_NUMBERS,
	DEVICE_ID,
	GRID,
	BLOCK,
	BLOCKS_PER_SM,
	DIMS,
	TYPES,
	CONCRETE,
	LABEL,
	STACK,
	COLLECTIVE,
	ELEMENT,
	GROUP_NAME,
	GROUP_WORDS,
	GROUP_RANKS,
	TASK_TYPE,
	NO_KEY,
};

#define KEY(name, number)                      \
	{                                      \
		name, sizeof(name) - 1, number \
	}

/* Sorted by length, so that few are compared; `first` has the index of the first of each length. */
static const struct key keys[] = {
	KEY("Seq", KINETO_collective_number),
	KEY("Addr", KINETO_address),
	KEY("grid", GRID),
	KEY("name", LABEL),
	KEY("block", BLOCK),
	KEY("bytes", KINETO_bytes),
	KEY("Bytes", SIZE),
	KEY("dtype", ELEMENT),
	KEY("device", KINETO_device),
	KEY("stream", KINETO_stream),
	KEY("thread", KINETO_thread),
	KEY("context", KINETO_context),
	KEY("channel", KINETO_channel),
	KEY("graph id", KINETO_graph),
	KEY("toDevice", KINETO_to_device),
	KEY("Src Rank", KINETO_source_rank),
	KEY("Dst Rank", KINETO_target_rank),
	KEY("Device Id", DEVICE_ID),
	KEY("Python id", KINETO_python_id),
	KEY("toContext", KINETO_to_context),
	KEY("Task Type", TASK_TYPE),
	KEY("collected", KINETO_collected),
	KEY("Input Dims", DIMS),
	KEY("Input type", TYPES),
	KEY("Call stack", STACK),
	KEY("fromDevice", KINETO_from_device),
	KEY("Group size", KINETO_group_size),
	KEY("correlation", KINETO_correlation),
	KEY("External id", KINETO_external),
	KEY("external id", KINETO_external),
	KEY("Device Type", KINETO_device_type),
	KEY("fromContext", KINETO_from_context),
	KEY("shared memory", KINETO_shared),
	KEY("Fwd thread id", KINETO_forward_thread),
	KEY("graph node id", KINETO_graph_node),
	KEY("connection_id", KINETO_connection),
	KEY("In msg nelems", KINETO_elements_in),
	KEY("uncollectable", KINETO_uncollectable),
	KEY("blocks per SM", BLOCKS_PER_SM),
	KEY("Total Reserved", KINETO_reserved),
	KEY("Out msg nelems", KINETO_elements_out),
	KEY("Sequence number", KINETO_sequence),
	KEY("Concrete Inputs", CONCRETE),
	KEY("Total Allocated", KINETO_allocated),
	KEY("Collective name", COLLECTIVE),
	KEY("Python parent id", KINETO_python_parent),
	KEY("Process Group Name", GROUP_NAME),
	KEY("Process Group Ranks", GROUP_RANKS),
	KEY("registers per thread", KINETO_registers),
	KEY("Process Group Description", GROUP_WORDS),
	KEY("est. achieved occupancy %", KINETO_occupancy),
};
#define NR_KEYS (sizeof(keys) / sizeof(keys[0]))

/* The numbers in `first` are indexes into keys[]; a new key moves all that follow. */
static unsigned int find_key(const char *name, size_t nr_bytes)
{
	static const uint8_t first[] = {[3] = 0,
		[4] = 1,
		[5] = 4,
		[6] = 8,
		[7] = 11,
		[8] = 13,
		[9] = 17,
		[10] = 22,
		[11] = 27,
		[13] = 32,
		[14] = 39,
		[15] = 41,
		[16] = 45,
		[18] = 46,
		[19] = 47,
		[20] = 48,
		[25] = 49};

	if (nr_bytes < 3 || nr_bytes >= sizeof(first)) {
		return NO_KEY;
	}
	for (size_t i = first[nr_bytes]; i < NR_KEYS && keys[i].nr_bytes == nr_bytes; i++) {
		if (!memcmp(keys[i].name, name, nr_bytes)) {
			return keys[i].number;
		}
	}
	return NO_KEY;
}

bool kineto_event_is_flow(const char *bytes, size_t nr_bytes)
{
	size_t i = 1;

	while (i < nr_bytes && (bytes[i] == ' ' || bytes[i] == '\n')) {
		i++;
	}
	if (nr_bytes - i < 16 || memcmp(bytes + i, "\"ph\"", 4)) {
		return false;
	}
	for (i += 4; i + 3 < nr_bytes && (bytes[i] == ' ' || bytes[i] == ':'); i++) {
	}
	return bytes[i] == '"' &&
	       (bytes[i + 1] == 's' || bytes[i + 1] == 'f' || bytes[i + 1] == 't') &&
	       bytes[i + 2] == '"';
}

/* Older versions of PyTorch write the same categories with capitals. */
static uint8_t category_of(const char *text, size_t nr_bytes)
{
	static const struct {
		const char *name;
		uint8_t category;
	} known[] = {
		{"cpu_op", KINETO_OP},
		{"kernel", KINETO_KERNEL},
		{"cuda_runtime", KINETO_RUNTIME},
		{"python_function", KINETO_PYTHON},
		{"cpu_instant_event", KINETO_INSTANT},
		{"user_annotation", KINETO_RANGE},
		{"gpu_memcpy", KINETO_MEMCPY},
		{"gpu_memset", KINETO_MEMSET},
		{"cuda_driver", KINETO_DRIVER},
		{"cuda_sync", KINETO_SYNC},
		{"gpu_user_annotation", KINETO_GPU_RANGE},
		{"overhead", KINETO_OVERHEAD},
		{"operator", KINETO_OP},
		{"runtime", KINETO_RUNTIME},
		{"driver", KINETO_DRIVER},
		{"memcpy", KINETO_MEMCPY},
		{"memset", KINETO_MEMSET},
		{"trace", KINETO_TRACE},
		{"library", KINETO_LIBRARY},
		{"nccl", KINETO_NCCL},
		{"thread_state", KINETO_STATE},
		/* Other devices; those of ROCm have CUDA's. */
		{"xpu_runtime", KINETO_RUNTIME},
		{"xpu_driver", KINETO_DRIVER},
		{"mtia_runtime", KINETO_RUNTIME},
		{"mtia_ccp_events", KINETO_KERNEL},
		{"hpu_op", KINETO_RUNTIME},
		{"privateuse1_runtime", KINETO_RUNTIME},
		{"privateuse1_driver", KINETO_DRIVER},
		/* Ascend's: a queue between the thread of an operator and that of its launches. */
		{"enqueue", KINETO_RUNTIME},
		{"dequeue", KINETO_RUNTIME},
		{"async_npu", KINETO_LINK},
		{"cpu_to_cuda", KINETO_LINK},
		{"ac2g", KINETO_FLOW},
		{"async", KINETO_FLOW},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strlen(known[i].name) == nr_bytes &&
			!strncasecmp(known[i].name, text, nr_bytes)) {
			return known[i].category;
		}
	}
	return KINETO_NONE;
}

static void set_number(
	const struct kineto_json *json, struct kineto_event *event, unsigned int number, int value)
{
	if (kineto_json_number(json, value, &event->numbers[number])) {
		event->has |= 1ull << number;
	}
}

static void read_three(const struct kineto_json *json, int value, uint32_t three[3])
{
	int end = kineto_json_next(json, value);

	for (int i = 0; i < 3 && value + 1 + i < end; i++) {
		uint64_t number;

		if (kineto_json_number(json, value + 1 + i, &number) && number <= UINT32_MAX) {
			three[i] = (uint32_t)number;
		}
	}
}

static void read_argument(
	const struct kineto_json *json, struct kineto_event *event, unsigned int key, int value)
{
	switch (key) {
	case BLOCKS_PER_SM: /* thousandths, as of microseconds */
		if (kineto_json_ns(json, value, &event->numbers[KINETO_blocks_milli])) {
			event->has |= 1ull << KINETO_blocks_milli;
		}
		break;
	case SIZE:
		if (!kineto_json_signed(json, value, &event->size)) {
			event->size = 0;
		}
		break;
	case DEVICE_ID:
		if (!kineto_json_signed(json, value, &event->device_id)) {
			event->device_id = -1;
		}
		break;
	case GRID:
		read_three(json, value, event->grid);
		break;
	case BLOCK:
		read_three(json, value, event->block);
		break;
	case DIMS:
		event->dims = value;
		break;
	case TYPES:
		event->types = value;
		break;
	case CONCRETE:
		event->concrete = value;
		break;
	case LABEL:
		event->label = value;
		break;
	case STACK:
		event->stack = value;
		break;
	case COLLECTIVE:
		event->collective = value;
		break;
	case ELEMENT:
		event->element = value;
		break;
	case GROUP_NAME:
		event->group_name = value;
		break;
	case GROUP_WORDS:
		event->group_words = value;
		break;
	case GROUP_RANKS:
		event->group_ranks = value;
		break;
	case TASK_TYPE:
		event->task_type = value;
		break;
	default:
		set_number(json, event, key, value);
		break;
	}
}

/* Returns the token after the arguments. */
static int read_arguments(const struct kineto_json *json, struct kineto_event *event, int object)
{
	const jsmntok_t *tokens = json->tokens;
	int end = tokens[object].end, i = object + 1;

	if (tokens[object].type != JSMN_OBJECT) {
		return kineto_json_next(json, object);
	}
	while (i + 1 < json->nr_tokens && tokens[i].start < end) {
		unsigned int key =
			find_key(json->bytes + tokens[i].start, kineto_json_length(json, i));

		if (tokens[i].size != 1) { /* not a key with a value */
			i = kineto_json_next(json, i);
			continue;
		}
		if (key != NO_KEY) {
			read_argument(json, event, key, i + 1);
		}
		i = tokens[i + 1].size ? kineto_json_next(json, i + 1) : i + 2;
	}
	return i;
}

/* Reads a member of the event other than its arguments. */
static void read_member(
	const struct kineto_json *json, struct kineto_event *event, int key, int value)
{
	const char *name = json->bytes + json->tokens[key].start;
	const char *text = json->bytes + json->tokens[value].start;
	size_t nr_bytes = kineto_json_length(json, value);

	switch (kineto_json_length(json, key)) {
	case 2:
		if (!memcmp(name, "ts", 2)) {
			event->has_begin = kineto_json_ns(json, value, &event->begin);
		} else if (!memcmp(name, "ph", 2)) {
			event->phase = nr_bytes ? *text : '\0';
		} else if (!memcmp(name, "id", 2)) {
			event->id = value;
		}
		break;
	case 3:
		if (!memcmp(name, "dur", 3)) {
			event->has_dur = kineto_json_ns(json, value, &event->dur);
		} else if (!memcmp(name, "cat", 3)) {
			event->category = category_of(text, nr_bytes);
			event->kind = value;
		} else if (!memcmp(name, "pid", 3)) {
			event->pid = value;
			set_number(json, event, KINETO_pid, value);
		} else if (!memcmp(name, "tid", 3)) {
			event->tid = value;
			set_number(json, event, KINETO_tid, value);
		}
		break;
	case 4:
		if (!memcmp(name, "name", 4)) {
			event->name = value;
		}
		break;
	default:
		break;
	}
}

bool kineto_event_read(const struct kineto_json *json, struct kineto_event *event)
{
	int i = 1;

	*event = (struct kineto_event){.device_id = -1};
	if (json->nr_tokens < 1 || json->tokens[0].type != JSMN_OBJECT) {
		return false;
	}
	while (i + 1 < json->nr_tokens) {
		if (json->tokens[i].size != 1) {
			i = kineto_json_next(json, i);
		} else if (kineto_json_is(json, i, "args", 4)) {
			i = read_arguments(json, event, i + 1);
		} else {
			read_member(json, event, i, i + 1);
			i = kineto_json_next(json, i + 1);
		}
	}
	return event->phase != '\0';
}

/* ---- shapes ---- */

#define NR_KNOWN    16384u
#define ARENA_BYTES (16u << 20)

void kineto_shapes_init(struct kineto_shapes *shapes)
{
	*shapes = (struct kineto_shapes){0};
}

void kineto_shapes_fini(struct kineto_shapes *shapes)
{
	intern_fini(&shapes->known);
	buf_fini(&shapes->key);
	buf_fini(&shapes->text);
	free(shapes->ids);
}

/* Element types as Kineto and the recorder name them; of several the usual one comes first. */
static const char *const type_names[][2] = {{"float", "float32"}, {"double", "float64"},
	{"c10::Half", "float16"}, {"c10::BFloat16", "bfloat16"}, {"long int", "int64"},
	{"long", "int64"}, {"long long", "int64"}, {"int", "int32"}, {"short int", "int16"},
	{"short", "int16"}, {"signed char", "int8"}, {"char", "int8"}, {"unsigned char", "uint8"},
	{"bool", "bool"}, {"c10::complex<float>", "complex64"},
	{"c10::complex<double>", "complex128"}, {"c10::complex<c10::Half>", "complex32"},
	{"c10::Float8_e4m3fn", "float8_e4m3fn"}, {"c10::Float8_e5m2", "float8_e5m2"},
	{"c10::qint8", "qint8"}, {"c10::quint8", "quint8"}, {"c10::qint32", "qint32"},
	{"unsigned short", "uint16"}, {"unsigned int", "uint32"}, {"unsigned long", "uint64"}};

/* The recorder's name of an element type; NULL: no tensor. */
static const char *type_name_of(const char *text, size_t nr_bytes)
{
	for (size_t i = 0; i < sizeof(type_names) / sizeof(type_names[0]); i++) {
		if (text_is(text, nr_bytes, type_names[i][0])) {
			return type_names[i][1];
		}
	}
	return NULL;
}

static const char *type_name(const struct kineto_json *json, int token)
{
	return type_name_of(
		json->bytes + json->tokens[token].start, kineto_json_length(json, token));
}

const char *kineto_shape_type(const char *name, size_t nr_bytes)
{
	for (size_t i = 0; i < sizeof(type_names) / sizeof(type_names[0]); i++) {
		if (text_is(name, nr_bytes, type_names[i][1])) {
			return type_names[i][0];
		}
	}
	return NULL;
}

/* Adds the sizes of one input; false if they contain lists. */
static bool add_sizes(struct buf *text, const struct kineto_json *json, int dims)
{
	int end = kineto_json_next(json, dims);
	size_t before = text->nr_bytes;

	buf_char(text, '[');
	for (int i = dims + 1; i < end; i++) {
		uint64_t size;

		if (json->tokens[i].type != JSMN_PRIMITIVE || !kineto_json_number(json, i, &size)) {
			text->nr_bytes = before;
			return false;
		}
		if (i > dims + 1) {
			buf_char(text, ',');
		}
		buf_uint(text, size);
	}
	buf_char(text, ']');
	return true;
}

/* Adds "[2, 2]" as "(2,2)", and "[True, False]" as "(true,false)"; false for any other text. */
static bool add_list(struct buf *text, const struct kineto_json *json, int concrete)
{
	const char *from = json->bytes + json->tokens[concrete].start;
	size_t nr_bytes = kineto_json_length(json, concrete);
	bool is_mask = nr_bytes > 1 && strchr("TtFf", from[1]);

	if (nr_bytes < 3 || from[0] != '[' || from[nr_bytes - 1] != ']' ||
		strspn(from + 1, is_mask ? "TtrueFfals, " : "0123456789, ") != nr_bytes - 2) {
		return false;
	}
	buf_char(text, '(');
	for (size_t i = 1; i < nr_bytes - 1; i++) {
		if (from[i] != ' ') {
			buf_char(text, is_mask ? (char)(from[i] | 0x20) : from[i]);
		}
	}
	buf_char(text, ')');
	return true;
}

/* Returns whether it is a tensor or a list of integers; type, concrete: 0 if there is none. */
static bool add_input(
	struct buf *text, const struct kineto_json *json, int dims, int type, int concrete)
{
	const char *name = type ? type_name(json, type) : NULL;
	bool has_sizes = json->tokens[dims].type == JSMN_ARRAY && json->tokens[dims].size > 0;

	if (json->tokens[dims].type == JSMN_ARRAY && (name || has_sizes)) {
		size_t before = text->nr_bytes;

		buf_text(text, name ? name : "?");
		if (add_sizes(text, json, dims)) {
			return true;
		}
		text->nr_bytes = before;
	}
	if (concrete && add_list(text, json, concrete)) {
		return true;
	}
	buf_text(text, "scalar");
	return false;
}

/* The elements of an array of the trace, one after the other; 0 behind the last. */
struct elements {
	int token, end;
};

static struct elements elements_of(const struct kineto_json *json, int array)
{
	return array ? (struct elements){array + 1, kineto_json_next(json, array)}
		     : (struct elements){0, 0};
}

static int next_element(const struct kineto_json *json, struct elements *elements)
{
	int token = elements->token < elements->end ? elements->token : 0;

	elements->token = token ? kineto_json_next(json, token) : 0;
	return token;
}

/*
 * Ascend's profiler writes one text for all inputs: "64,3,32,32;\\r\\n;\\r\\n". This takes the next
 * one; false at the end.
 */
static bool next_input(const char **at, const char *end, const char **input, size_t *nr_bytes)
{
	const char *next;

	while (end - *at >= 2 && **at == '\\') {
		*at += 2;
	}
	if (*at >= end) {
		return false;
	}
	next = memchr(*at, ';', (size_t)(end - *at));
	next = next ? next : end;
	*input = *at;
	*nr_bytes = (size_t)(next - *at);
	*at = next < end ? next + 1 : end;
	return true;
}

static void make_text_of_texts(
	struct buf *text, const struct kineto_json *json, const struct kineto_inputs *inputs)
{
	const char *dims = json->bytes + json->tokens[inputs->dims].start;
	const char *types = inputs->types ? json->bytes + json->tokens[inputs->types].start : NULL;
	const char *end = dims + kineto_json_length(json, inputs->dims);
	const char *end_types = types ? types + kineto_json_length(json, inputs->types) : NULL;
	const char *sizes, *type;
	size_t nr_sizes, nr_type, whole = 0;

	while (text->nr_bytes < GPROF_TEXT_BYTES && next_input(&dims, end, &sizes, &nr_sizes)) {
		bool has_type = types && next_input(&types, end_types, &type, &nr_type);
		const char *name = has_type ? type_name_of(type, nr_type) : NULL;

		if (text->nr_bytes) {
			buf_text(text, ", ");
		}
		if (!name && !nr_sizes) {
			buf_text(text, "scalar");
			continue;
		}
		buf_text(text, name ? name : "?");
		buf_char(text, '[');
		buf_add(text, sizes, nr_sizes);
		buf_char(text, ']');
		whole = text->nr_bytes;
	}
	text->nr_bytes = whole;
}

/* Inputs after the last tensor or list are left out, as the recorder does. */
static void make_text(
	struct buf *text, const struct kineto_json *json, const struct kineto_inputs *inputs)
{
	struct elements types = elements_of(json, inputs->types),
			lists = elements_of(json, inputs->lists);
	int end = kineto_json_next(json, inputs->dims);
	size_t whole = 0; /* up to the last tensor or list */

	text->nr_bytes = 0;
	if (json->tokens[inputs->dims].type == JSMN_STRING) {
		make_text_of_texts(text, json, inputs);
		return;
	}
	for (int i = inputs->dims + 1; i < end && text->nr_bytes < GPROF_TEXT_BYTES;
		i = kineto_json_next(json, i)) {
		int type = next_element(json, &types), list = next_element(json, &lists);

		if (text->nr_bytes) {
			buf_text(text, ", ");
		}
		if (add_input(text, json, i, type, list)) {
			whole = text->nr_bytes;
		}
	}
	text->nr_bytes = whole;
}

/*
 * The key is the JSON text of the three arguments, so that inputs that were seen before are found
 * without making their text.
 */
uint32_t kineto_shapes_id(struct kineto_shapes *shapes, const struct kineto_json *json,
	const struct kineto_inputs *inputs, struct import_out *out)
{
	const int tokens[] = {inputs->dims, inputs->types, inputs->lists};
	const struct intern_entry *entry;
	bool is_new;

	if (!shapes->known.entries && intern_init(&shapes->known, NR_KNOWN, ARENA_BYTES, 0)) {
		return 0;
	}
	shapes->key.nr_bytes = 0;
	for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
		if (tokens[i]) {
			buf_add(&shapes->key, json->bytes + json->tokens[tokens[i]].start,
				kineto_json_length(json, tokens[i]));
		}
		buf_char(&shapes->key, '|');
	}
	entry = intern_find(&shapes->known, shapes->key.bytes, shapes->key.nr_bytes, &is_new);
	if (!entry) {
		return 0;
	}
	if (is_new) {
		uint32_t name = 0;

		while (shapes->capacity <= entry->id) {
			shapes->ids = array_grow(shapes->ids, shapes->capacity, &shapes->capacity,
				sizeof(*shapes->ids));
		}
		make_text(&shapes->text, json, inputs);
		name = import_out_string(out, shapes->text.bytes, shapes->text.nr_bytes);
		shapes->ids[entry->id] = name ? ++shapes->nr_ids : 0;
		if (name) {
			struct gprof_row_op_shape *row = import_out_row(out, GPROF_TABLE_op_shape);

			row->id = shapes->nr_ids;
			row->name = name;
		}
	}
	return shapes->ids[entry->id];
}
