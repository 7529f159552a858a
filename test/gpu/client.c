/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least that a profiler of kernels asks of CUPTI: what that costs, gprof cannot cost less. The
 * driver loads it by CUDA_INJECTION64_PATH. CLIENT lists the kinds of activity by their numbers;
 * 0 is callbacks of launches.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "test/sim/cupti_abi.h"

enum { BUFFER_BYTES = 4 << 20, CBID_RT_LAUNCH = 211, CBID_DRV_LAUNCH = 307 };

static void request(uint8_t **buffer, size_t *nr_bytes, size_t *nr_records_max)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*nr_bytes = BUFFER_BYTES;
	*nr_records_max = 0;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)context;
	(void)stream;
	(void)size;
	(void)valid;
	free(buffer);
}

static void on_call(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	(void)userdata;
	(void)domain;
	(void)cbid;
	(void)data;
}

static struct {
	uint32_t (*cuptiActivityRegisterCallbacks)(
		cupti_buffer_requested_fn, cupti_buffer_completed_fn);
	uint32_t (*cuptiActivityEnable)(uint32_t kind);
	uint32_t (*cuptiActivitySetAttribute)(int attribute, size_t *nr_bytes, void *value);
	uint32_t (*cuptiSubscribe)(cupti_subscriber *, cupti_callback_fn, void *);
	uint32_t (*cuptiEnableCallback)(uint32_t, cupti_subscriber, uint32_t, uint32_t);
} cupti;

/* The driver looks it up by its name. */
__attribute__((visibility("default"))) int InitializeInjection(void);

/* CLIENT_ATTRIBUTES: NUMBER=VALUE, comma-separated, of CUpti_ActivityAttribute; values of a byte
 * from 8 on. */
static void set_attributes(const char *text)
{
	while (text && *text) {
		char *end;
		int attribute = (int)strtol(text, &end, 10);
		size_t value = *end == '=' ? strtoul(end + 1, &end, 10) : 0, nr_bytes;
		uint8_t small = (uint8_t)value;
		bool is_small = attribute == 5 || attribute == 8 || attribute == 9;

		nr_bytes = is_small ? sizeof(small) : sizeof(value);
		fprintf(stderr, "client: attribute %d: %u\n", attribute,
			cupti.cuptiActivitySetAttribute(
				attribute, &nr_bytes, is_small ? (void *)&small : (void *)&value));
		text = *end ? end + 1 : end;
	}
}

int InitializeInjection(void)
{
	const char *kinds = getenv("CLIENT");
	void *library = dlopen("libcupti.so.13", RTLD_NOW);
	cupti_subscriber subscriber;

	library = library ? library : dlopen("libcupti.so.12", RTLD_NOW);
	if (!library) {
		fprintf(stderr, "client: %s\n", dlerror());
		return 0;
	}
#define FIND(name) *(void **)&cupti.name = dlsym(library, #name)
	FIND(cuptiActivityRegisterCallbacks);
	FIND(cuptiActivityEnable);
	FIND(cuptiActivitySetAttribute);
	FIND(cuptiSubscribe);
	FIND(cuptiEnableCallback);
	set_attributes(getenv("CLIENT_ATTRIBUTES"));
	cupti.cuptiActivityRegisterCallbacks(request, complete);
	while (kinds && *kinds) {
		char *end;
		uint32_t kind = (uint32_t)strtoul(kinds, &end, 10);

		if (kind) {
			cupti.cuptiActivityEnable(kind);
		} else if (!cupti.cuptiSubscribe(&subscriber, on_call, NULL)) {
			cupti.cuptiEnableCallback(
				1, subscriber, CUPTI_DOMAIN_RUNTIME, CBID_RT_LAUNCH);
			cupti.cuptiEnableCallback(
				1, subscriber, CUPTI_DOMAIN_DRIVER, CBID_DRV_LAUNCH);
		}
		kinds = *end ? end + 1 : end;
	}
	fprintf(stderr, "client: ready\n");
	return 1;
}
