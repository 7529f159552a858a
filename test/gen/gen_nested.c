/* SPDX-License-Identifier: Apache-2.0 */
#include "test/gen/gen.h"

#define START_NS 1000000000ull

static void call(struct gen *gen, unsigned int table, uint16_t id, uint32_t at_us, uint32_t dur_us,
	uint32_t correlation)
{
	struct gprof_row_api *row = gen_row(gen, table);

	row->begin = START_NS + at_us * 1000ull;
	row->dur = row->begin + dur_us * 1000ull;
	row->thread = 1;
	row->call = id;
	row->correlation = correlation;
	row->source = table == GPROF_TABLE_api_alloc ? GPROF_SOURCE_HOOK : GPROF_SOURCE_CALLBACK;
}

void gen_nested(struct gen *gen)
{
	uint16_t allocate = gen_call(gen, "cudaMalloc", GPROF_API_RUNTIME);
	uint16_t driver = gen_call(gen, "cuMemAlloc_v2", GPROF_API_DRIVER);
	uint16_t attribute = gen_call(gen, "cuDeviceGetAttribute", GPROF_API_DRIVER);
	struct gprof_row_thread *thread = gen_row(gen, GPROF_TABLE_thread);

	thread->tick = START_NS;
	thread->thread = 1;
	thread->tid = GEN_PID;
	gen_info_bytes(gen, "process.command", "./vector_add", 13);
	gen_info(gen, "config.GPROF_DRIVER", "1");
	gen_anchor(gen, START_NS, START_NS, 0);
	call(gen, GPROF_TABLE_api, attribute, 5, 1, 1);
	call(gen, GPROF_TABLE_api, attribute, 7, 1, 2);
	for (uint32_t i = 0; i < 3; i++) {
		call(gen, GPROF_TABLE_api_alloc, allocate, 10 + 20 * i, 10 + i, 3 + i);
		call(gen, GPROF_TABLE_api_nested, attribute, 11 + 20 * i, 1, 3 + i);
		call(gen, GPROF_TABLE_api_nested, driver, 13 + 20 * i, 5, 3 + i);
	}
}
