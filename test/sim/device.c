/* SPDX-License-Identifier: Apache-2.0 */
/* Devices and contexts: an H200's figures, and which context a thread uses. */
#include "test/sim/model.h"

#include <stdio.h>
#include <string.h>

#include "test/sim/cupti_abi.h"

static struct sim_device devices[SIM_MAX_DEVICES];
static pthread_mutex_t context_lock = PTHREAD_MUTEX_INITIALIZER;

void sim_devices_create(void);

void sim_devices_create(void)
{
	for (int i = 0; i < sim_config.nr_devices; i++) {
		struct sim_device *d = &devices[i];

		d->index = i;
		snprintf(d->name, sizeof(d->name), "NVIDIA H200");
		memcpy(d->uuid, "\x5e\x5e\x51\x4d", 4);
		d->uuid[15] = (uint8_t)i;
		d->memory_bytes = 150121545728u;
	}
}

int sim_device_count(void)
{
	return sim_config.nr_devices;
}

struct sim_device *sim_device(int index)
{
	return index >= 0 && index < sim_config.nr_devices ? &devices[index] : NULL;
}

struct sim_context *sim_primary(int index)
{
	struct sim_device *d = sim_device(index);
	bool is_new = false;

	if (!d) {
		return NULL;
	}
	pthread_mutex_lock(&context_lock);
	if (!d->primary) {
		struct sim_context *context = sim_context_create(d, 0);

		if (context) {
			context->is_primary = true;
			/* Others ask whether it is there without the lock. */
			__atomic_store_n(&d->primary, context, __ATOMIC_RELEASE);
			is_new = true;
		}
	}
	pthread_mutex_unlock(&context_lock);
	struct sim_trace *trace = atomic_load(&sim_core.trace);

	if (is_new && trace) {
		trace->resource(CUPTI_RESOURCE_CONTEXT_CREATED, d->primary, d->primary->legacy);
	}
	return d->primary;
}

struct sim_context *sim_context(void)
{
	struct sim_thread *t = sim_thread();

	if (t->depth > 0 && t->stack[t->depth - 1]) {
		return t->stack[t->depth - 1];
	}
	if (!sim_is_initialized()) {
		return NULL;
	}
	struct sim_context *c = sim_primary(0);

	if (c) {
		t->depth = t->depth ? t->depth : 1;
		t->stack[t->depth - 1] = c;
	}
	return c;
}

int sim_set_device(int index)
{
	struct sim_thread *t = sim_thread();
	struct sim_context *c = sim_primary(index);

	if (!c) {
		return SIM_INVALID_DEVICE;
	}
	t->depth = t->depth ? t->depth : 1;
	t->stack[t->depth - 1] = c;
	return SIM_OK;
}

int sim_peer_enable(int device, bool enable)
{
	struct sim_context *c = sim_context();
	int r = SIM_OK;

	if (!c || !sim_device(device) || device == c->device->index) {
		return SIM_INVALID_DEVICE;
	}
	uint32_t bit = 1u << device;

	pthread_mutex_lock(&sim_lock);
	if (!(c->device->peers & bit) == !enable) {
		r = enable ? SIM_PEER_ALREADY_ENABLED : SIM_PEER_NOT_ENABLED;
	} else {
		c->device->peers ^= bit;
	}
	pthread_mutex_unlock(&sim_lock);
	return r;
}

/* The attribute numbers are the same in both APIs; those not listed are 0, "no". */
static const struct {
	uint16_t attribute;
	int value;
} attributes[] = {
	{1, 1024}, /* threads per block */
	{2, 1024}, /* block x, y, z */
	{3, 1024},
	{4, 64},
	{5, 2147483647}, /* grid x, y, z */
	{6, 65535},
	{7, 65535},
	{8, 49152},	  /* shared bytes per block */
	{9, 65536},	  /* constant bytes */
	{10, 32},	  /* warp */
	{11, 2147483647}, /* pitch */
	{12, 65536},	  /* registers per block */
	{13, 1980000},	  /* clock, kHz */
	{14, 512},	  /* texture alignment */
	{15, 1},	  /* overlap */
	{16, 132},	  /* multiprocessors */
	{19, 1},	  /* maps host memory */
	{31, 1},	  /* concurrent kernels */
	{32, 1},	  /* ECC */
	{36, 3201000},	  /* memory clock, kHz */
	{37, 6144},	  /* memory bus, bits */
	{38, 62914560},	  /* L2 */
	{39, 2048},	  /* threads per multiprocessor */
	{40, 3},	  /* copy engines */
	{41, 1},	  /* unified addressing */
	{75, 9},	  /* compute capability */
	{76, 0},
	{78, 1},
	{79, 1},
	{80, 1},
	{81, 233472}, /* shared bytes per multiprocessor */
	{82, 65536},  /* registers per multiprocessor */
	{83, 1},      /* managed memory */
	{86, 0},
	{87, 2},
	{89, 1},
	{90, 1},
	{91, 1},
	{95, 1},      /* cooperative launch */
	{97, 232448}, /* shared bytes per block, opted in */
	{99, 1},
	{102, 1},
	{106, 32}, /* blocks per multiprocessor */
	{111, 1024},
	{115, 1}, /* memory pools */
	{120, 1}, /* clusters */
	{125, 1},
};

int sim_device_attribute(int *value, int attribute, int device)
{
	if (!value) {
		return SIM_INVALID_VALUE;
	}
	if (!sim_device(device)) {
		return SIM_INVALID_DEVICE;
	}
	*value = attribute == 33 ? 0x18 + device : 0; /* PCI bus */
	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
		if (attributes[i].attribute == attribute) {
			*value = attributes[i].value;
		}
	}
	return SIM_OK;
}
