/* SPDX-License-Identifier: Apache-2.0 */
#include "report/kineto/top.h"

#include <stdlib.h>

/* ---- devices ---- */

/* Blocks that a multiprocessor holds; by compute capability, CUDA C++ Programming Guide. */
static uint64_t most_blocks(uint64_t major, uint64_t minor)
{
	switch (major * 10 + minor) {
	case 50 ... 72:
	case 80:
	case 90:
	case 100 ... 103:
		return 32;
	case 89:
	case 110 ... 121:
		return 24;
	case 75:
	case 86 ... 88:
	case 30 ... 37:
		return 16;
	default:
		return 0;
	}
}

static void add_attribute(struct kineto_out *out, uint32_t device, const char *name, uint64_t value)
{
	uint32_t text = kineto_out_string(out, name, strlen(name));
	struct gprof_row_attribute *row = kineto_out_row(out, GPROF_TABLE_attribute);

	row->device = device;
	row->name = text;
	row->value = value;
}

/* The value of a key of an object, 0 if there is none. */
static int find(const struct kineto_json *json, int object, const char *key)
{
	int end = json->tokens[object].end, i = object + 1;

	while (i + 1 < json->nr_tokens && json->tokens[i].start < end) {
		if (json->tokens[i].size == 1 && kineto_json_is(json, i, key, strlen(key))) {
			return i + 1;
		}
		i = json->tokens[i].size == 1 ? kineto_json_next(json, i + 1)
					      : kineto_json_next(json, i);
	}
	return 0;
}

static bool find_number(
	const struct kineto_json *json, int object, const char *key, uint64_t *value)
{
	int token = find(json, object, key);

	return token && kineto_json_number(json, token, value);
}

static void take_device(struct kineto_json *json, int object, struct kineto_out *out)
{
	static const struct {
		const char *key, *name;
	} attributes[] = {
		{"totalGlobalMem", "memory_bytes"},
		{"computeMajor", "capability_major"},
		{"computeMinor", "capability_minor"},
		{"maxThreadsPerBlock", "max_threads_per_block"},
		{"maxThreadsPerMultiprocessor", "max_threads_per_multiprocessor"},
		{"regsPerBlock", "registers_per_block"},
		{"regsPerMultiprocessor", "registers_per_multiprocessor"},
		{"warpSize", "warp_threads"},
		{"sharedMemPerBlock", "shared_bytes_per_block"},
		{"sharedMemPerMultiprocessor", "shared_bytes_per_multiprocessor"},
		{"sharedMemPerBlockOptin", "shared_bytes_per_block_optin"},
		{"numSms", "multiprocessors"},
	};
	struct gprof_row_device *row;
	uint64_t id, major, minor = 0, threads, warp, value;
	uint32_t name = 0;
	int token = find(json, object, "name");

	if (!find_number(json, object, "id", &id) || id >= UINT32_MAX) {
		return;
	}
	if (token) {
		size_t nr_bytes;
		const char *text = kineto_json_text(json, token, &nr_bytes);

		name = kineto_out_string(out, text, nr_bytes);
	}
	row = kineto_out_row(out, GPROF_TABLE_device);
	row->id = (uint32_t)id;
	row->name = name;
	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
		if (find_number(json, object, attributes[i].key, &value)) {
			add_attribute(out, (uint32_t)id, attributes[i].name, value);
		}
	}
	if (find_number(json, object, "maxThreadsPerMultiprocessor", &threads) &&
		find_number(json, object, "warpSize", &warp) && warp) {
		add_attribute(out, (uint32_t)id, "max_warps_per_multiprocessor", threads / warp);
	}
	find_number(json, object, "computeMinor", &minor);
	if (find_number(json, object, "computeMajor", &major) && major < 100 && minor < 10 &&
		most_blocks(major, minor)) {
		add_attribute(out, (uint32_t)id, "max_blocks_per_multiprocessor",
			most_blocks(major, minor));
	}
}

/* ---- facts ---- */

static void take_fact(struct kineto_json *json, int token, const char *name, struct kineto_out *out)
{
	const char *text;
	size_t nr_bytes;

	if (json->tokens[token].type == JSMN_STRING || json->tokens[token].type == JSMN_PRIMITIVE) {
		text = kineto_json_text(json, token, &nr_bytes);
		kineto_out_fact(out, name, text, nr_bytes);
	}
}

static void take_distributed(
	struct kineto_top *top, struct kineto_json *json, struct kineto_out *out)
{
	static const struct {
		const char *key, *name;
	} facts[] = {
		{"rank", "rank.world"},
		{"world_size", "rank.world_size"},
		{"backend", "rank.backend"},
		{"nccl_version", "nccl.version"},
	};

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		int token = find(json, 0, facts[i].key);

		if (token) {
			take_fact(json, token, facts[i].name, out);
		}
	}
	top->has_rank = find_number(json, 0, "rank", &top->rank);
}

static bool is_key(const char *key, size_t nr_key, const char *name)
{
	return strlen(name) == nr_key && !memcmp(key, name, nr_key);
}

void kineto_top_take(struct kineto_top *top, const char *key, size_t nr_key,
	struct kineto_json *json, struct kineto_out *out)
{
	static const struct {
		const char *key, *name;
	} facts[] = {
		{"host_name", "host.name"},
		{"cupti_version", "cupti.version"},
		{"cuda_runtime_version", "cuda.runtime_version"},
		{"cuda_driver_version", "cuda.driver_version"},
		{"trace_id", "trace.id"},
		{"traceName", "trace.name"},
		{"record_shapes", "trace.record_shapes"},
		{"profile_memory", "trace.profile_memory"},
		{"with_stack", "trace.with_stack"},
		{"with_flops", "trace.with_flops"},
		{"with_modules", "trace.with_modules"},
		{"schemaVersion", "trace.version"},
	};

	if (is_key(key, nr_key, "baseTimeNanoseconds")) {
		kineto_json_number(json, 0, &top->base_ns);
	} else if (is_key(key, nr_key, "distributedInfo")) {
		take_distributed(top, json, out);
	} else if (is_key(key, nr_key, "deviceProperties") && json->tokens[0].type == JSMN_ARRAY) {
		for (int i = 1; i < json->nr_tokens; i = kineto_json_next(json, i)) {
			if (json->tokens[i].type == JSMN_OBJECT) {
				take_device(json, i, out);
			}
		}
	}
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (is_key(key, nr_key, facts[i].key)) {
			take_fact(json, 0, facts[i].name, out);
		}
	}
}
