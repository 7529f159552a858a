/* SPDX-License-Identifier: Apache-2.0 */
/* Record sizes of the versions, the version chosen, and the walk through a buffer. */
#include "test/sim/cupti.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	uint8_t kind;
	uint16_t bytes[3]; /* 11.8, 12.4, 13.0; 0: unknown kind there */
} strides[] = {
	{1, {88, 88, 96}},
	{2, {88, 88, 88}},
	{3, {200, 208, 216}},
	{4, {40, 40, 40}},
	{5, {40, 40, 40}},
	{6, {24, 24, 0}},
	{7, {24, 24, 0}},
	{8, {176, 184, 184}},
	{9, {16, 24, 32}},
	{10, {200, 208, 216}},
	{11, {32, 32, 32}},
	{12, {56, 56, 56}},
	{13, {32, 32, 40}},
	{14, {24, 24, 0}},
	{15, {56, 56, 0}},
	{16, {40, 40, 0}},
	{17, {40, 56, 56}},
	{18, {144, 144, 144}},
	{19, {40, 40, 40}},
	{20, {40, 40, 40}},
	{21, {32, 32, 0}},
	{22, {96, 96, 96}},
	{23, {32, 32, 0}},
	{24, {48, 48, 0}},
	{25, {64, 64, 104}},
	{26, {32, 32, 32}},
	{27, {24, 24, 24}},
	{28, {24, 24, 24}},
	{29, {56, 56, 0}},
	{30, {40, 40, 0}},
	{31, {32, 32, 0}},
	{32, {24, 24, 0}},
	{33, {152, 152, 152}},
	{34, {152, 152, 152}},
	{35, {120, 120, 120}},
	{36, {24, 24, 56}},
	{37, {24, 24, 24}},
	{38, {40, 40, 56}},
	{39, {24, 24, 24}},
	{40, {136, 136, 136}},
	{41, {32, 32, 0}},
	{42, {32, 32, 0}},
	{43, {32, 32, 0}},
	{44, {32, 32, 0}},
	{45, {80, 80, 80}},
	{46, {168, 168, 168}},
	{47, {40, 40, 40}},
	{48, {40, 40, 40}},
	{49, {120, 120, 128}},
	{50, {72, 72, 80}},
	{51, {48, 56, 56}},
	{52, {64, 72, 72}},
	{53, {0, 0, 56}},
	{54, {0, 0, 64}},
	{55, {0, 0, 32}},
};

/* SIM_CUPTI=11.8, 12.4 or 13.0 overrides what the library's name says. */
int cupti_sim_level(void)
{
	static _Atomic int level;
	int l = atomic_load_explicit(&level, memory_order_relaxed);

	if (!l) {
		const char *text = getenv("SIM_CUPTI");

		l = SIM_CUPTI_LEVEL;
		if (text && strcmp(text, "11.8") == 0) {
			l = 11080;
		} else if (text && strcmp(text, "12.4") == 0) {
			l = 12040;
		} else if (text && strcmp(text, "13.0") == 0) {
			l = 13000;
		}
		atomic_store(&level, l);
	}
	return l;
}

size_t cupti_sim_stride(uint32_t kind)
{
	int column = cupti_sim_level() >= 13000 ? 2 : cupti_sim_level() >= 12000;

	for (size_t i = 0; i < sizeof(strides) / sizeof(strides[0]); i++) {
		if (strides[i].kind == kind) {
			return strides[i].bytes[column];
		}
	}
	return 0;
}

SIM_EXPORT int cuptiActivityGetNextRecord(
	uint8_t *buffer, size_t valid_bytes, struct cupti_record **record);

SIM_EXPORT int cuptiActivityGetNextRecord(
	uint8_t *buffer, size_t valid_bytes, struct cupti_record **record)
{
	uint8_t *at = buffer;
	int unknown = cupti_sim_level() >= 12000 ? CUPTI_INVALID_KIND : CUPTI_UNKNOWN;

	if (!buffer || !record) {
		return CUPTI_INVALID_PARAMETER;
	}
	if (*record) {
		size_t stride = cupti_sim_stride((*record)->kind);

		if (!stride) {
			return unknown;
		}
		at = (uint8_t *)*record + stride;
	}
	if (at >= buffer + valid_bytes || (size_t)(buffer + valid_bytes - at) < sizeof(uint32_t)) {
		return CUPTI_MAX_LIMIT_REACHED;
	}
	struct cupti_record *next = (struct cupti_record *)at;
	size_t stride = cupti_sim_stride(next->kind);

	if (!stride) {
		return unknown;
	}
	if ((size_t)(buffer + valid_bytes - at) < stride) {
		return CUPTI_MAX_LIMIT_REACHED;
	}
	*record = next;
	return CUPTI_OK;
}

struct sim_core *cupti_sim_core(void)
{
	static _Atomic(struct sim_core *) core;
	struct sim_core *found = atomic_load(&core);
	int (*get_table)(const void **table, const void *uuid);
	const void *table = NULL;

	if (found) {
		return found;
	}
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	*(void **)&get_table = driver ? dlsym(driver, "cuGetExportTable") : NULL;
	if (get_table && get_table(&table, "simulated-cuda-1") == 0) {
		found = (struct sim_core *)table;
		atomic_store(&core, found);
	}
	return found;
}

int cupti_sim_refusal(void)
{
	const char *text = getenv("SIM_CUPTI_INIT");

	/* The real one hangs or crashes then. */
	if (cupti_sim_core() && cupti_sim_core()->is_gone()) {
		abort();
	}
	if (text && *text) {
		return atoi(text);
	}
	if (!cupti_sim_core()) {
		return cupti_sim_level() >= 13000 ? CUPTI_UNKNOWN : CUPTI_NOT_INITIALIZED;
	}
	return CUPTI_OK;
}
