/* SPDX-License-Identifier: Apache-2.0 */
#include "test/unit/report_scene.h"

#include <stdio.h>

#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

static struct scene_work make_work(uint64_t *seed, uint64_t call_begin)
{
	struct scene_work work = {.call_begin = call_begin};

	work.call_end = call_begin + 1 + unit_below(seed, 12);
	work.device = (uint32_t)unit_below(seed, SCENE_DEVICES);
	work.stream = 7 + (uint32_t)unit_below(seed, SCENE_STREAMS);
	work.kind = (uint8_t)unit_below(seed, 3);
	work.name = (uint8_t)unit_below(seed, 4);
	work.bytes = 1 + unit_below(seed, 5000);
	work.has_call = unit_below(seed, 10) != 0;
	return work;
}

void scene_make(struct scene *scene, uint64_t *seed, bool is_overlapping)
{
	uint64_t free_at[SCENE_DEVICES][SCENE_STREAMS] = {{0}};
	uint64_t host = 0;

	scene->nr_activities = SCENE_WORKS / 2 + (uint32_t)unit_below(seed, SCENE_WORKS / 2);
	for (uint32_t i = 0; i < scene->nr_activities; i++) {
		struct scene_work *work = &scene->works[i];
		uint64_t *free;

		*work = make_work(seed, host);
		work->thread = 1;
		work->correlation = i + 1;
		free = &free_at[work->device][work->stream - 7];
		work->begin = work->call_end + unit_below(seed, 8);
		work->begin = work->begin < *free ? *free : work->begin;
		work->end = work->begin + unit_below(seed, 90);
		*free = is_overlapping && work->end > work->begin ? work->begin + 1 : work->end;
		host = work->call_end + unit_below(seed, unit_below(seed, 4) ? 4 : 80);
	}
	for (unsigned int i = 0; i < SCENE_STEPS; i++) {
		scene->steps[i] = (i ? scene->steps[i - 1] : 0) + unit_below(seed, host / 4 + 2);
	}
}

static void write_shapes(struct gen *gen)
{
	static const char *const names[] = {"gemm", "softmax", "relu", "adam",
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)"};

	for (uint32_t i = 0; i < 5; i++) {
		uint32_t string = gen_string(gen, names[i]);
		struct gprof_row_shape *row = gen_row(gen, GPROF_TABLE_shape);

		row->id = i + 1;
		row->name = string;
	}
}

static void write_work(struct gen *gen, const struct scene_work *work, uint32_t place)
{
	if (work->kind == SCENE_COPY) {
		struct gprof_row_memcpy *row = gen_row(gen, GPROF_TABLE_memcpy);

		row->begin = SCENE_BASE_NS + work->begin;
		row->dur = SCENE_BASE_NS + work->end;
		row->place = place;
		row->correlation = work->correlation;
		row->bytes = work->bytes;
		row->copy_kind = 1 + work->name % 2;
		row->src_kind = row->dst_kind = 2;
	} else {
		struct gprof_row_kernel *row = gen_row(gen, GPROF_TABLE_kernel);

		row->begin = SCENE_BASE_NS + work->begin;
		row->dur = SCENE_BASE_NS + work->end;
		row->place = place;
		row->correlation = work->correlation;
		row->shape = work->kind == SCENE_COMMUNICATION ? 5 : 1u + work->name;
	}
}

static void write_call(struct gen *gen, const struct scene_work *work, uint16_t launch)
{
	struct gprof_row_api_launch *row = gen_row(gen, GPROF_TABLE_api_launch);

	row->begin = SCENE_BASE_NS + work->call_begin;
	row->dur = SCENE_BASE_NS + work->call_end;
	row->thread = work->thread;
	row->correlation = work->correlation;
	row->call = launch;
}

static void write_checkpoint(struct gen *gen)
{
	gen_flush(gen);
	gen_row(gen, GPROF_TABLE_checkpoint);
	gen_flush(gen);
}

/* Work that may be written before its call, in one group with it. */
#define AHEAD 6u

/* Calls go in as they end, work before or after. */
const char *scene_write(const struct scene *scene, const char *name, uint64_t *seed)
{
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);
	uint16_t launch = gen_call(gen, "cudaLaunchKernel", GPROF_API_RUNTIME);
	uint32_t places[SCENE_DEVICES][SCENE_STREAMS], nr_written = 0;

	gen_info(gen, "process.pid", "4242");
	gen_info(gen, "cupti.version", "12");
	gen_anchor(gen, SCENE_BASE_NS, SCENE_BASE_NS, SCENE_BASE_NS);
	for (uint32_t device = 0; device < SCENE_DEVICES; device++) {
		for (uint32_t stream = 0; stream < SCENE_STREAMS; stream++) {
			places[device][stream] = gen_place(gen, device, device + 1, stream + 7);
		}
	}
	write_shapes(gen);
	for (unsigned int i = 0; i < SCENE_STEPS; i++) {
		struct gprof_row_step *row = gen_row(gen, GPROF_TABLE_step);

		row->time = SCENE_BASE_NS + scene->steps[i];
		row->step = 10 + i;
		row->thread = 1;
		row->how = GPROF_STEP_CALL;
	}
	for (uint32_t i = 0; i < scene->nr_activities; i++) {
		if (scene->works[i].has_call) {
			write_call(gen, &scene->works[i], launch);
		}
		while (nr_written <= i + AHEAD && nr_written < scene->nr_activities &&
			unit_below(seed, 3)) {
			const struct scene_work *work = &scene->works[nr_written++];

			write_work(gen, work, places[work->device][work->stream - 7]);
		}
		if (nr_written <= i + 1 && !unit_below(seed, 12)) {
			write_checkpoint(gen);
		} else if (!unit_below(seed, 4)) {
			gen_flush(gen);
		}
	}
	for (; nr_written < scene->nr_activities; nr_written++) {
		const struct scene_work *work = &scene->works[nr_written];

		write_work(gen, work, places[work->device][work->stream - 7]);
	}
	gen_close(gen, "exit");
	return path;
}
