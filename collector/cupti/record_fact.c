/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's records about devices, contexts and streams. */
#include "collector/cupti/record_read.h"

#include "collector/cupti/device.h"
#include "collector/stream/batch.h"
#include "collector/stream/dictionary.h"

static void add_attribute(uint32_t device, const char *name, uint64_t value)
{
	uint32_t id = dictionary_text(name, strlen(name));
	struct gprof_row_attribute *row = batch_add(GPROF_TABLE_attribute);

	row->device = device;
	row->name = id;
	row->value = value;
}

void record_take_device(const struct cupti_record *record)
{
	READ(cupti_device, record);
	const struct {
		const char *name;
		uint64_t value;
	} attributes[] = {
		{"memory_bandwidth_kb_per_s", r->memory_bandwidth},
		{"memory_bytes", r->memory_bytes},
		{"constant_bytes", r->constant_bytes},
		{"l2_bytes", r->l2_bytes},
		{"warp_threads", r->threads_per_warp},
		{"core_clock_khz", r->core_clock_khz},
		{"copy_engines", r->nr_copy_engines},
		{"multiprocessors", r->nr_multiprocessors},
		{"max_warps_per_multiprocessor", r->max_warps_per_multiprocessor},
		{"max_blocks_per_multiprocessor", r->max_blocks_per_multiprocessor},
		{"shared_bytes_per_multiprocessor", r->max_shared_bytes_per_multiprocessor},
		{"registers_per_multiprocessor", r->max_registers_per_multiprocessor},
		{"registers_per_block", r->max_registers_per_block},
		{"shared_bytes_per_block", r->max_shared_bytes_per_block},
		{"max_threads_per_block", r->max_threads_per_block},
		{"capability_major", r->capability_major},
		{"capability_minor", r->capability_minor},
		{"mig_enabled", r->is_mig_enabled},
	};
	struct gprof_row_device *row;
	uint32_t name = dictionary_name(r->name);
	struct gprof_text uuid = batch_text((const char *)r->uuid, sizeof(r->uuid));

	/* Texts come first: making room for one may write the rows that wait. */
	row = batch_add(GPROF_TABLE_device);
	row->id = r->id;
	row->name = name;
	row->uuid = uuid;
	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
		add_attribute(r->id, attributes[i].name, attributes[i].value);
	}
}

void record_take_context(const struct cupti_record *record)
{
	READ(cupti_context, record);
	struct gprof_row_context *row = batch_add(GPROF_TABLE_context);

	row->id = r->context_id;
	row->device = r->device_id;
	row->parent = r->parent_context_id;
	row->null_stream = r->null_stream_id;
	row->is_green = r->is_green_context;
	device_saw(r->device_id);
}

void record_take_stream(const struct cupti_record *record)
{
	READ(cupti_stream, record);
	struct gprof_row_stream *row = batch_add(GPROF_TABLE_stream);

	row->context = r->context_id;
	row->stream = r->stream_id;
	row->priority = r->priority;
	row->flags = r->flag;
}
