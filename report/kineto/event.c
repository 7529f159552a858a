/* SPDX-License-Identifier: Apache-2.0 */
#include "report/kineto/event.h"

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
	DIMS,
	TYPES,
	LABEL,
	STACK,
	COLLECTIVE,
	ELEMENT,
	GROUP_NAME,
	GROUP_WORDS,
	GROUP_RANKS,
	NO_KEY,
};

#define KEY(name, number)                      \
	{                                      \
		name, sizeof(name) - 1, number \
	}

/* By length, so that few are compared; the first of a length is found in `first`. */
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
	KEY("context", KINETO_context),
	KEY("channel", KINETO_channel),
	KEY("graph id", KINETO_graph),
	KEY("toDevice", KINETO_to_device),
	KEY("Src Rank", KINETO_source_rank),
	KEY("Dst Rank", KINETO_target_rank),
	KEY("Device Id", DEVICE_ID),
	KEY("Python id", KINETO_python_id),
	KEY("toContext", KINETO_to_context),
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
	KEY("In msg nelems", KINETO_elements_in),
	KEY("Total Reserved", KINETO_reserved),
	KEY("Out msg nelems", KINETO_elements_out),
	KEY("Sequence number", KINETO_sequence),
	KEY("Total Allocated", KINETO_allocated),
	KEY("Collective name", COLLECTIVE),
	KEY("Python parent id", KINETO_python_parent),
	KEY("Process Group Name", GROUP_NAME),
	KEY("Process Group Ranks", GROUP_RANKS),
	KEY("registers per thread", KINETO_registers),
	KEY("Process Group Description", GROUP_WORDS),
};
#define NR_KEYS (sizeof(keys) / sizeof(keys[0]))

static unsigned int find_key(const char *name, size_t nr_bytes)
{
	static const uint8_t first[] = {[3] = 0,
		[4] = 1,
		[5] = 4,
		[6] = 8,
		[7] = 10,
		[8] = 12,
		[9] = 16,
		[10] = 19,
		[11] = 24,
		[13] = 29,
		[14] = 33,
		[15] = 35,
		[16] = 38,
		[18] = 39,
		[19] = 40,
		[20] = 41,
		[25] = 42};

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
	default:
		set_number(json, event, key, value);
		break;
	}
}

/* Returns the token behind them. */
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

		if (tokens[i].size != 1) { /* no key with a value */
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

/* A member of the event but its arguments. */
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
		}
		break;
	case 3:
		if (!memcmp(name, "dur", 3)) {
			event->has_dur = kineto_json_ns(json, value, &event->dur);
		} else if (!memcmp(name, "cat", 3)) {
			event->category = category_of(text, nr_bytes);
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
