/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of three threads in turns, of which some lie within calls of NCCL. */
#include "report/comm/nccl_ops.h"

#include <stdlib.h>

#include "test/unit/report_made.h"

enum { NR_THREADS = 3, NR_ROUNDS = 2000 };

static struct nccl_launches launches;
static size_t ops[NR_THREADS * NR_ROUNDS + 2]; /* by id: what find should say */

static void add_call(struct gen *gen, uint32_t thread, uint32_t id)
{
	struct gprof_row_api_launch *row = gen_row(gen, GPROF_TABLE_api_launch);

	row->begin = 1000 + id;
	row->dur = 1001 + id;
	row->thread = thread;
	row->correlation = id;
}

/*
 * Thread t launches ids t, t + 3 and so on. Its rounds 4 to 6 of each ten are in one call, which
 * the ids of others lie between, too; those of every third call are of several operations.
 */
static struct stream *make(void)
{
	const char *path = streams_path("launches.gprof");
	struct gen *gen = gen_open(path);

	for (uint32_t thread = NR_THREADS; thread >= 1; thread--) {
		for (uint32_t round = 0; round < NR_ROUNDS; round++) {
			uint32_t id = thread + round * NR_THREADS, tens = round / 10;
			bool is_of_several = tens % 3 == 2, is_in = round % 10 / 4 == 1;

			add_call(gen, thread, id);
			ops[id] = is_in && round % 10 < 7 && !is_of_several
					  ? tens * NR_THREADS + thread
					  : NCCL_LAUNCH_NONE;
			if (round % 10 == 4) {
				nccl_launches_add(&launches,
					&(struct nccl_span){thread, id - NR_THREADS,
						id + 2 * NR_THREADS,
						is_of_several ? NCCL_LAUNCH_NONE
							      : tens * NR_THREADS + thread});
			}
		}
		gen_flush(gen);
	}
	gen_close(gen, "exit");
	return streams_open(path);
}

START_TEST(each_launch_within_a_call_is_of_its_operation)
{
	struct stream *stream = make();
	uint64_t seed = 7;

	nccl_launches_read(&launches, stream);
	for (uint32_t id = 1; id <= NR_THREADS * NR_ROUNDS; id++) {
		ck_assert_msg(nccl_launches_find(&launches, id) == ops[id], "%u", id);
	}
	ck_assert_uint_eq(nccl_launches_find(&launches, 0), NCCL_LAUNCH_NONE);
	ck_assert_uint_eq(nccl_launches_find(&launches, UINT32_MAX), NCCL_LAUNCH_NONE);
	for (int i = 0; i < 10000; i++) {
		uint32_t id = 1 + (uint32_t)(unit_random(&seed) % (NR_THREADS * NR_ROUNDS));

		ck_assert_msg(nccl_launches_find(&launches, id) == ops[id], "%u", id);
	}
	nccl_launches_fini(&launches);
	stream_close(stream);
}
END_TEST

/* Of one whose thread is not known it is the last. */
START_TEST(a_call_of_no_thread_has_one_launch)
{
	struct stream *stream = make();

	nccl_launches_clear(&launches);
	nccl_launches_add(&launches, &(struct nccl_span){0, 10, 12, 5});
	nccl_launches_add(&launches, &(struct nccl_span){1, 20, 20, 6}); /* it has none */
	nccl_launches_read(&launches, stream);
	ck_assert_uint_eq(nccl_launches_find(&launches, 11), NCCL_LAUNCH_NONE);
	ck_assert_uint_eq(nccl_launches_find(&launches, 12), 5);
	ck_assert_uint_eq(nccl_launches_find(&launches, 20), NCCL_LAUNCH_NONE);
	nccl_launches_clear(&launches);
	nccl_launches_read(&launches, stream);
	ck_assert_uint_eq(nccl_launches_find(&launches, 12), NCCL_LAUNCH_NONE);
	nccl_launches_fini(&launches);
	stream_close(stream);
}
END_TEST

UNIT_SUITE("report/nccl_launch", each_launch_within_a_call_is_of_its_operation,
	a_call_of_no_thread_has_one_launch)
