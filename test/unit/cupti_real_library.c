/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real libcupti: the probe finds the sizes of its records, and its own GetNextRecord steps over
 * buffers of them. What cannot be used is refused.
 */
#include <string.h>

#include "collector/cupti/callback.h"
#include "collector/cupti/cupti.h"
#include "collector/util/notice.h"
#include "test/sim/cupti_abi.h"
#include "test/unit/cupti_real.h"
#include "test/unit/unit.h"

/* Bytes of a record, measured with the real libraries. */
static const struct {
	uint32_t kind;
	const char *name;
	uint32_t bytes_11_8, bytes_12_4, bytes_13_0; /* 0: the kind is not known there */
} sizes[] = {
	{CUPTI_KIND_MEMCPY, "memcpy", 88, 88, 96},
	{CUPTI_KIND_MEMSET, "memset", 88, 88, 88},
	{CUPTI_KIND_KERNEL, "kernel", 200, 208, 216},
	{CUPTI_KIND_CONCURRENT_KERNEL, "concurrent kernel", 200, 208, 216},
	{CUPTI_KIND_DRIVER, "driver", 40, 40, 40},
	{CUPTI_KIND_RUNTIME, "runtime", 40, 40, 40},
	{CUPTI_KIND_DEVICE, "device", 176, 184, 184},
	{CUPTI_KIND_CONTEXT, "context", 16, 24, 32},
	{CUPTI_KIND_NAME, "name", 32, 32, 32},
	{CUPTI_KIND_MARKER, "marker", 56, 56, 56},
	{CUPTI_KIND_MARKER_DATA, "marker data", 32, 32, 40},
	{CUPTI_KIND_OVERHEAD, "overhead", 40, 56, 56},
	{CUPTI_KIND_CDP_KERNEL, "cdp kernel", 144, 144, 144},
	{CUPTI_KIND_PREEMPTION, "preemption", 40, 40, 40},
	{CUPTI_KIND_ENVIRONMENT, "environment", 40, 40, 40},
	{CUPTI_KIND_MEMCPY2, "peer memcpy", 96, 96, 96},
	{CUPTI_KIND_UNIFIED_MEMORY_COUNTER, "unified memory", 64, 64, 104},
	{CUPTI_KIND_FUNCTION, "function", 32, 32, 32},
	{CUPTI_KIND_MODULE, "module", 24, 24, 24},
	{CUPTI_KIND_CUDA_EVENT, "event", 24, 24, 56},
	{CUPTI_KIND_STREAM, "stream", 24, 24, 24},
	{CUPTI_KIND_SYNCHRONIZATION, "synchronisation", 40, 40, 56},
	{CUPTI_KIND_EXTERNAL_CORRELATION, "external correlation", 24, 24, 24},
	{CUPTI_KIND_NVLINK, "nvlink", 136, 136, 136},
	{CUPTI_KIND_MEMORY, "memory", 80, 80, 80},
	{CUPTI_KIND_PCIE, "pcie", 168, 168, 168},
	{CUPTI_KIND_INTERNAL_LAUNCH_API, "internal launch", 40, 40, 40},
	{CUPTI_KIND_MEMORY2, "memory2", 120, 120, 128},
	{CUPTI_KIND_MEMORY_POOL, "memory pool", 72, 72, 80},
	{CUPTI_KIND_GRAPH_TRACE, "graph", 48, 56, 56},
	{CUPTI_KIND_JIT, "jit", 64, 72, 72},
	{CUPTI_KIND_DEVICE_GRAPH_TRACE, "device graph", 0, 0, 56},
	{CUPTI_KIND_MEM_DECOMPRESS, "decompression", 0, 0, 64},
	{CUPTI_KIND_CONFIDENTIAL_COMPUTE_ROTATION, "key rotation", 0, 0, 32},
};

static uint32_t no_call(const char *name, uint8_t api)
{
	(void)name;
	(void)api;
	return 1;
}

static uint32_t expected_bytes(size_t i)
{
	if (cupti_real_is("11.8")) {
		return sizes[i].bytes_11_8;
	}
	return cupti_real_is("12.4") ? sizes[i].bytes_12_4 : sizes[i].bytes_13_0;
}

START_TEST(probe_finds_the_size_of_every_record)
{
	bool is_new = cupti_real_is("new"), is_between = cupti_real_is("12.9");

	cupti_real_load();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t want = expected_bytes(i);
		uint32_t bytes = cupti_record_bytes(sizes[i].kind);

		/* Versions only append. */
		if (is_between) {
			ck_assert_uint_ge(bytes, sizes[i].bytes_12_4);
			ck_assert_uint_le(bytes, want);
			continue;
		}
		ck_assert_msg(is_new ? bytes >= want : bytes == want, "%s: %u bytes, not %u",
			sizes[i].name, bytes, want);
		ck_assert_uint_eq(bytes % CUPTI_RECORD_ALIGN, 0);
	}
}
END_TEST

START_TEST(library_steps_over_buffers_of_every_kind)
{
	cupti_real_load();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct cupti_record *record = NULL;
		uint64_t words[512] = {0};
		uint32_t bytes = cupti_record_bytes(sizes[i].kind);

		for (unsigned int n = 0; bytes && n < 10; n++) {
			memcpy((char *)words + n * bytes, &sizes[i].kind, sizeof(uint32_t));
		}
		for (unsigned int n = 0; bytes && n < 10; n++) {
			ck_assert_uint_eq(cupti.cuptiActivityGetNextRecord(
						  (uint8_t *)words, 10 * bytes, &record),
				CUPTI_OK);
			ck_assert_ptr_eq(record, (char *)words + n * bytes);
		}
		if (bytes) {
			ck_assert_uint_eq(cupti.cuptiActivityGetNextRecord(
						  (uint8_t *)words, 10 * bytes, &record),
				CUPTI_MAX_LIMIT_REACHED);
		}
	}
}
END_TEST

START_TEST(without_a_driver_it_is_refused_and_the_notice_says_so)
{
	struct notice notice;

	cupti_real_load();
	callback_init(no_call);
	ck_assert(!callback_start());
	ck_assert(!cupti_is_live());
	ck_assert(notice_take(&notice));
	ck_assert_str_eq(notice.cause, "CUPTI refused");
	ck_assert_msg(notice.code == CUPTI_NOT_INITIALIZED || notice.code == CUPTI_UNKNOWN, "%d",
		notice.code);
	ck_assert_ptr_nonnull(strstr(notice.text, "driver"));
	ck_assert_ptr_nonnull(strstr(notice.text,
		"device times, and calls of a statically linked CUDA runtime, are not recorded"));
}
END_TEST

START_TEST(library_that_tells_no_sizes_is_refused_rather_than_misread)
{
	struct notice notice;

	cupti_real_load();
	if (cupti_real_is("mute")) {
		ck_assert_uint_eq(cupti_record_bytes(CUPTI_KIND_CONCURRENT_KERNEL), 0);
		ck_assert(!cupti_probe_again());
		ck_assert(!cupti_is_live());
		ck_assert(notice_take(&notice));
		ck_assert_ptr_nonnull(strstr(notice.text, "record sizes"));
	} else {
		ck_assert(cupti_probe_again());
		ck_assert(cupti_is_live());
	}
}
END_TEST

/* Since 13.3 a library reports nothing without a driver: it can only refuse. */
Suite *unit_suite(void)
{
	const TTest *const tests[] = {without_a_driver_it_is_refused_and_the_notice_says_so,
		library_that_tells_no_sizes_is_refused_rather_than_misread,
		probe_finds_the_size_of_every_record, library_steps_over_buffers_of_every_kind};

	return unit_make("cupti", tests, cupti_real_is("mute") ? 2 : 4);
}
