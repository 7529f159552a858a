/* SPDX-License-Identifier: Apache-2.0 */
#include "report/kineto/gpu.h"

#include "report/model/api.h"

#define UNKNOWN UINT32_MAX

/* "stream 7" in older traces; where args do not tell. */
static uint32_t stream_of(const struct kineto_convert *take, const struct kineto_event *event)
{
	const struct kineto_json *json = &take->json;
	uint32_t stream = 0;

	if (kineto_has(event, KINETO_stream)) {
		return kineto_narrow(event, KINETO_stream);
	}
	if (kineto_has(event, KINETO_tid)) {
		return kineto_narrow(event, KINETO_tid);
	}
	for (int i = event->tid ? json->tokens[event->tid].start : 0;
		event->tid && i < json->tokens[event->tid].end; i++) {
		char c = json->bytes[i];

		stream = c >= '0' && c <= '9' ? stream * 10 + (uint32_t)(c - '0') : 0;
	}
	return stream;
}

static uint32_t place_of(struct kineto_convert *take, const struct kineto_event *event)
{
	uint32_t device = UNKNOWN;

	if (kineto_has(event, KINETO_device)) {
		device = kineto_narrow(event, KINETO_device);
	} else if (kineto_has(event, KINETO_pid)) {
		device = kineto_narrow(event, KINETO_pid);
	}
	return kineto_out_place(
		take->out, device, kineto_narrow(event, KINETO_context), stream_of(take, event));
}

static struct kineto_row *add_work(
	struct kineto_convert *take, const struct kineto_event *event, uint8_t table)
{
	uint32_t place = place_of(take, event);
	struct kineto_row *row = kineto_convert_row(take, event, table);

	row->work.place = place;
	row->work.correlation = kineto_narrow(event, KINETO_correlation);
	row->work.graph = kineto_narrow(event, KINETO_graph);
	row->work.graph_node = event->numbers[KINETO_graph_node];
	row->work.bytes = event->numbers[KINETO_bytes];
	row->thread = kineto_narrow(event, KINETO_channel);
	return row;
}

static void add_nccl(struct kineto_convert *take, const struct kineto_event *event)
{
	uint8_t kind = kineto_nccl_kind(&take->json, event);
	struct kineto_row *row;

	if (kind) {
		row = kineto_convert_row(take, event, GPROF_TABLE_nccl);
		row->kind = kind;
		row->nccl.correlation = kineto_narrow(event, KINETO_correlation);
		kineto_nccl_take(&take->nccl, &take->json, event, row);
	}
}

/* Static and dynamic shared memory come as one number. */
void kineto_gpu_kernel(struct kineto_convert *take, const struct kineto_event *event)
{
	struct gprof_row_shape shape;
	uint32_t id;

	memset(&shape, 0, sizeof(shape)); /* its padding is part of the key */
	shape.name = kineto_convert_string(take, event->name);
	shape.grid_x = event->grid[0];
	shape.grid_y = event->grid[1];
	shape.grid_z = event->grid[2];
	shape.block_x = event->block[0];
	shape.block_y = event->block[1];
	shape.block_z = event->block[2];
	shape.registers = kineto_narrow(event, KINETO_registers);
	shape.dynamic_shared_bytes = kineto_narrow(event, KINETO_shared);
	id = kineto_out_shape(take->out, &shape);
	add_work(take, event, GPROF_TABLE_kernel)->work.shape = id;
	if (event->collective) {
		add_nccl(take, event);
	}
}

/* The number of a name that one of the lists of api.h gives, by asking for all. */
static uint8_t number_of(const char *text, size_t nr_bytes, const char *(*name_of)(uint32_t),
	uint8_t first, uint8_t most)
{
	for (uint8_t i = first; i <= most; i++) {
		const char *name = name_of(i);

		if (strlen(name) == nr_bytes && !memcmp(name, text, nr_bytes)) {
			return i;
		}
	}
	return 0;
}

#define MOST_COPY_KIND	 10
#define MOST_MEMORY_KIND 7
#define MOST_SYNC	 4

/* A kind of memory by its name, added where it is none of CUPTI's (other devices' traces). */
static uint8_t memory_of(const char *text, size_t nr_bytes)
{
	uint8_t found = number_of(text, nr_bytes, api_memory_name, 1, MOST_MEMORY_KIND);
	bool is_unknown = nr_bytes == 7 && !memcmp(text, "Unknown", 7);

	return found || is_unknown ? found : (uint8_t)api_add_name(text, nr_bytes, false);
}

/* "Memcpy HtoD (Pageable -> Device)" */
static bool read_copy(struct kineto_row *row, const char *name, size_t nr_bytes)
{
	const char *end = name + nr_bytes;
	const char *open = memchr(name, '(', nr_bytes);
	const char *arrow = open ? memmem(open, (size_t)(end - open), " -> ", 4) : NULL;

	if (!arrow || open - name < 9 || open[-1] != ' ' || end[-1] != ')' ||
		memcmp(name, "Memcpy ", 7)) {
		return false;
	}
	row->kind = number_of(
		name + 7, (size_t)(open - 1 - (name + 7)), api_copy_name, 1, MOST_COPY_KIND);
	if (arrow - open > API_MOST_MEMORY_NAME || end - arrow > API_MOST_MEMORY_NAME) {
		return false;
	}
	row->source = memory_of(open + 1, (size_t)(arrow - (open + 1)));
	row->target = memory_of(arrow + 4, (size_t)(end - 1 - (arrow + 4)));
	return row->kind != 0;
}

void kineto_gpu_copy(struct kineto_convert *take, const struct kineto_event *event)
{
	struct kineto_row *row = add_work(take, event, GPROF_TABLE_memcpy);
	size_t nr_bytes;
	const char *name = kineto_json_text(&take->json, event->name, &nr_bytes);

	if (!read_copy(row, name, nr_bytes)) {
		row->kind = (uint8_t)api_add_name(name, nr_bytes, true);
		row->source = row->target = 0;
	}
}

/* "Memset (Device)" */
void kineto_gpu_set(struct kineto_convert *take, const struct kineto_event *event)
{
	struct kineto_row *row = add_work(take, event, GPROF_TABLE_memset);
	size_t nr_bytes;
	const char *name = kineto_json_text(&take->json, event->name, &nr_bytes);

	if (nr_bytes > 9 && nr_bytes < API_MOST_MEMORY_NAME && !memcmp(name, "Memset (", 8) &&
		name[nr_bytes - 1] == ')') {
		row->target = memory_of(name + 8, nr_bytes - 9);
	} else {
		row->target = (uint8_t)api_add_name(name, nr_bytes, true);
	}
}

void kineto_gpu_sync(struct kineto_convert *take, const struct kineto_event *event)
{
	struct kineto_row *row = add_work(take, event, GPROF_TABLE_sync);

	row->kind = number_of(take->json.bytes + take->json.tokens[event->name].start,
		kineto_json_length(&take->json, event->name), api_sync_name, 1, MOST_SYNC);
}

/* CUPTI counts its own in the upper half; see api_overhead_name. */
static const char *overhead_name(uint32_t kind)
{
	return api_overhead_name(kind << 16);
}

void kineto_gpu_overhead(struct kineto_convert *take, const struct kineto_event *event)
{
	struct kineto_row *row = kineto_convert_row(take, event, GPROF_TABLE_overhead);
	const char *name = take->json.bytes + take->json.tokens[event->name].start;
	size_t nr_bytes = kineto_json_length(&take->json, event->name);

	row->work.shape = (uint32_t)number_of(name, nr_bytes, overhead_name, 1, 8) << 16;
	if (kineto_json_is(&take->json, event->name, "Driver Compiler", 15)) {
		row->work.shape = 1;
	}
}
