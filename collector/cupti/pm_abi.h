/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of CUPTI's PM sampling (since CUDA 12.6) that the recorder uses, in our own declarations
 * as of CUDA 13.0. The ABI test compares all of it with the real headers.
 *
 * Each function takes one structure. It begins with its size, which ends with its last field and
 * without padding (PM_BYTES), and with a pointer that stays NULL.
 */
#ifndef COLLECTOR_CUPTI_PM_ABI_H
#define COLLECTOR_CUPTI_PM_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Result codes beside those of cupti_abi.h. */
enum pm_result {
	PM_INVALID_METRIC_NAME = 17,
	PM_HARDWARE_BUSY = 26,
	PM_CMP_DEVICE = 42,
	PM_MIG_DEVICE = 43,
	PM_SLI_DEVICE = 44,
	PM_WSL_DEVICE = 45,
	PM_INVALID_CHIP_NAME = 46,
};

enum pm_number {
	PM_PROFILER_TYPE = 1, /* of the host object */
	PM_TRIGGER_SYSCLK = 0,
	PM_TRIGGER_TIME = 1, /* not on Turing and GA100 */
	PM_KEEP_OLDEST = 0,  /* a full buffer of the hardware sets `overflow` */
	PM_STOP_DATA_FULL = 1,
	PM_STOP_END_OF_RECORDS = 2,
};

#define PM_BYTES(type, last) (offsetof(struct type, last) + sizeof(((struct type *)NULL)->last))

/* cuptiProfilerInitialize. */
struct pm_initialize {
	size_t size;
	void *private;
};

struct pm_chip_name {
	size_t size;
	void *private;
	size_t device;
	const char *name; /* out; CUPTI's */
};

/* Twice: for the size with a NULL image, then for the image. */
struct pm_availability {
	size_t size;
	void *private;
	size_t device;
	size_t image_bytes;
	uint8_t *image;
};

/* ---- the host object: metrics by name ---- */

struct pm_host_initialize {
	size_t size;
	void *private;
	uint32_t type;
	const char *chip;
	const uint8_t *availability;
	void *host; /* out */
};

struct pm_host {
	size_t size;
	void *private;
	void *host;
};

/* After a name that it does not know (1), an object fails every call: make another one. */
struct pm_add_metrics {
	size_t size;
	void *private;
	void *host;
	const char **names;
	size_t nr_names;
};

struct pm_config_size {
	size_t size;
	void *private;
	void *host;
	size_t config_bytes; /* out */
};

struct pm_config {
	size_t size;
	void *private;
	void *host;
	size_t config_bytes;
	uint8_t *config;
};

struct pm_passes {
	size_t size;
	void *private;
	size_t config_bytes;
	uint8_t *config;
	size_t nr_passes; /* out */
};

struct pm_evaluate {
	size_t size;
	void *private;
	void *host;
	const uint8_t *image;
	size_t image_bytes;
	size_t index;
	const char **names;
	size_t nr_names;
	double *values;
};

/* ---- the sampler of a GPU ---- */

struct pm_enable {
	size_t size;
	void *private;
	size_t device;
	void *sampler; /* out */
};

/* cuptiPmSamplingStart, Stop and Disable. */
struct pm_sampler {
	size_t size;
	void *private;
	void *sampler;
};

struct pm_set_config {
	size_t size;
	void *private;
	void *sampler;
	size_t config_bytes;
	const uint8_t *config;
	size_t buffer_bytes; /* of the hardware */
	uint64_t interval;   /* ns, or clocks: by the trigger */
	uint32_t trigger;
	uint32_t append_mode;
};

struct pm_image_size {
	size_t size;
	void *private;
	void *sampler;
	const char **names;
	size_t nr_names;
	uint32_t max_samples;
	size_t image_bytes; /* out */
};

struct pm_image {
	size_t size;
	void *private;
	void *sampler;
	size_t image_bytes;
	uint8_t *image;
};

struct pm_decode {
	size_t size;
	void *private;
	void *sampler;
	uint8_t *image;
	size_t image_bytes;
	uint32_t stop_reason; /* out, as the next */
	uint8_t overflow;
};

struct pm_image_info {
	size_t size;
	void *private;
	const uint8_t *image;
	size_t image_bytes;
	size_t nr_samples; /* out, as the next two: that fit, are there, are complete */
	size_t nr_populated;
	size_t nr_completed;
};

struct pm_sample_info {
	size_t size;
	void *private;
	void *sampler;
	const uint8_t *image;
	size_t image_bytes;
	size_t index;
	uint64_t start_ns; /* out, as the next; wrong for the first sample after a start */
	uint64_t end_ns;
};

#endif
