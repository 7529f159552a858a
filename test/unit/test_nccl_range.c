/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/util/loss.h"
#include "collector/util/mode.h"
#include "preload/nccl/nccl_range.h"

#include "collector/util/clock.h"
#include "collector/util/notice.h"
#include "preload/hook/hook.h"
#include "preload/nccl/nccl_comm.h"
#include "test/unit/unit.h"

enum { DOMAIN = 7, OTHER = 8, ALL_REDUCE = 21, SHRINK = 22, GROUP_START = 23, INIT = 24 };
enum { SCHEMA = NVTX_ENTRY_OWN + 5 };

/* The recorder of this test never starts. */
uint32_t recorder_ensure_started_counting_loss(uintptr_t caller)
{
	(void)caller;
	return hook_mode();
}

/* Of ranges the caller is not known. */
bool hook_is_nccl(uintptr_t address)
{
	(void)address;
	return false;
}

struct payload {
	int32_t redop;
	int32_t rank;
	uint64_t bytes, comm;
};

static void describe(uint32_t domain)
{
	const struct nvtx_schema_entry entries[] = {
		{.type = SCHEMA + 9, .name = "Reduction operation"},
		{.type = NVTX_ENTRY_INT, .name = "Rank", .offset = 4},
		{.type = NVTX_ENTRY_SIZE, .name = "Message size [bytes]", .offset = 8},
		{.type = NVTX_ENTRY_UINT64, .name = "NCCL communicator ID", .offset = 16},
		{.type = NVTX_ENTRY_UINT64, .name = "something else", .offset = 24}};
	const struct nvtx_schema schema = {.fields = NVTX_SCHEMA_HAS_ENTRIES | NVTX_SCHEMA_HAS_ID,
		.entries = entries,
		.nr_entries = 5,
		.id = SCHEMA};

	nccl_range_domain(domain, domain == DOMAIN ? "NCCL" : "other");
	nccl_range_string(domain, ALL_REDUCE, "ncclAllReduce");
	nccl_range_string(domain, SHRINK, "ncclCommShrink");
	nccl_range_string(domain, GROUP_START, "ncclGroupStart");
	nccl_range_string(domain, INIT, "ncclCommInitRank");
	nccl_range_schema(domain, &schema);
}

static void begin(uint32_t domain, uint32_t string, const struct nvtx_payload_data *data)
{
	const struct nvtx_attributes attributes = {.version = 3,
		.size = sizeof(attributes),
		.payload_type = data ? NVTX_PAYLOAD_EXTENDED : 0,
		.reserved = data ? 1 : 0,
		.payload = (uintptr_t)data,
		.message_type = NVTX_MESSAGE_REGISTERED};

	nccl_range_push(domain, string, &attributes);
}

/* A collective on that communicator; the size of its payload as it is said. */
static void all_reduce(uint32_t domain, uint64_t schema, uint64_t comm, size_t size)
{
	const struct payload payload = {.comm = comm, .bytes = 40};
	const struct nvtx_payload_data data = {schema, size, &payload};

	begin(domain, ALL_REDUCE, &data);
	nccl_range_pop(domain, NULL, 0);
}

static uint32_t nr_counted(uint64_t comm)
{
	return nccl_comm_find_hash(comm)->nr_collectives;
}

START_TEST(payloads_are_read_where_their_schemas_say)
{
	describe(DOMAIN);
	all_reduce(DOMAIN, SCHEMA, 99, sizeof(struct payload));
	all_reduce(DOMAIN, SCHEMA, 99, sizeof(struct payload));
	all_reduce(DOMAIN, SCHEMA, 98, sizeof(struct payload));
	ck_assert_uint_eq(nr_counted(99), 2);
	ck_assert_uint_eq(nr_counted(98), 1);
}
END_TEST

START_TEST(what_no_schema_or_size_tells_is_not_read)
{
	describe(DOMAIN);
	all_reduce(DOMAIN, SCHEMA + 1, 99, sizeof(struct payload));
	all_reduce(DOMAIN, SCHEMA, 99, sizeof(struct payload) - 1);
	all_reduce(DOMAIN, SCHEMA, 99, SIZE_MAX);
	begin(DOMAIN, ALL_REDUCE, NULL);
	nccl_range_pop(DOMAIN, NULL, 0);
	nccl_range_pop(DOMAIN, NULL, 0); /* of nothing */
	ck_assert_uint_eq(nr_counted(99), 0);
	all_reduce(DOMAIN, SCHEMA, 99, sizeof(struct payload));
	ck_assert_uint_eq(nr_counted(99), 1);
}
END_TEST

START_TEST(ranges_of_other_domains_are_no_calls)
{
	describe(OTHER);
	all_reduce(OTHER, SCHEMA, 99, sizeof(struct payload));
	all_reduce(0, SCHEMA, 99, sizeof(struct payload));
	ck_assert_uint_eq(nr_counted(99), 0);
}
END_TEST

START_TEST(ranges_in_ranges_are_no_calls)
{
	describe(DOMAIN);
	begin(DOMAIN, GROUP_START, NULL);
	all_reduce(DOMAIN, SCHEMA, 99, sizeof(struct payload));
	nccl_range_pop(DOMAIN, NULL, 0);
	ck_assert_uint_eq(nr_counted(99), 0);
}
END_TEST

/* What it says of ranks is of the communicator that it was made from. */
START_TEST(a_new_communicator_does_not_take_its_parents_rank)
{
	const struct payload payload = {.comm = 99, .rank = 3};
	const struct nvtx_payload_data data = {SCHEMA, sizeof(payload), &payload};

	describe(DOMAIN);
	begin(DOMAIN, SHRINK, NULL);
	nccl_range_pop(DOMAIN, &data, 1);
	ck_assert_int_eq(nccl_comm_find_hash(99)->rank, -1);
	begin(DOMAIN, INIT, NULL);
	nccl_range_pop(DOMAIN, &data, 1);
	ck_assert_int_eq(nccl_comm_find_hash(99)->rank, 3);
}
END_TEST

static uint64_t nr_left(void)
{
	return loss_take(LOSS_LEFT);
}

/* As a program begins it again that has come back by a jump, and as a function put into another. */
START_TEST(a_range_at_the_place_of_another_is_within_it_or_comes_after_it_was_left)
{
	clock_init(NULL);
	ck_assert_int_eq(ring_start(NULL, 1, 8 * RING_CHUNK_BYTES), 0);
	atomic_store(&collector_mode, COLLECTOR_RECORD);
	describe(DOMAIN);
	for (int i = 0; i < 2; i++) {
		begin(DOMAIN, ALL_REDUCE, NULL);
	}
	nccl_range_pop(DOMAIN, NULL, 0);
	nccl_range_pop(DOMAIN, NULL, 0);
	all_reduce(DOMAIN, SCHEMA, 97, sizeof(struct payload));
	ck_assert_uint_eq(nr_left(), 0);
	for (int i = 0; i < 4; i++) {
		begin(DOMAIN, ALL_REDUCE, NULL);
	}
	nccl_range_pop(DOMAIN, NULL, 0);
	all_reduce(DOMAIN, SCHEMA, 97, sizeof(struct payload));
	ck_assert_uint_eq(nr_left(), 3);
	ck_assert_uint_eq(nr_counted(97), 2);
}
END_TEST

START_TEST(copies_of_nccl_beyond_the_most_are_told_and_the_others_go_on)
{
	enum { MOST = 4, FIRST = 100 };
	struct notice notice;

	for (uint32_t i = 0; i <= MOST; i++) {
		ck_assert(!notice_take(&notice));
		nccl_range_domain(FIRST + i, "NCCL");
		describe(FIRST + i);
	}
	ck_assert(notice_take(&notice));
	ck_assert_str_eq(notice.cause, "NCCL's ranges");
	ck_assert(!notice_take(&notice));
	for (uint32_t i = 0; i <= MOST; i++) {
		all_reduce(FIRST + i, SCHEMA, 50 + i, sizeof(struct payload));
		ck_assert_uint_eq(nr_counted(50 + i), i < MOST);
	}
}
END_TEST

UNIT_SUITE("nccl_range", a_range_at_the_place_of_another_is_within_it_or_comes_after_it_was_left,
	payloads_are_read_where_their_schemas_say, what_no_schema_or_size_tells_is_not_read,
	ranges_of_other_domains_are_no_calls, ranges_in_ranges_are_no_calls,
	a_new_communicator_does_not_take_its_parents_rank,
	copies_of_nccl_beyond_the_most_are_told_and_the_others_go_on)
