/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of threads from the kernel's records of context switches. */
#include "collector/sample/thread_switches.h"

#include <stdlib.h>

#include "test/unit/unit.h"
#include "test/unit/written.h"

struct want {
	uint64_t begin, end;
	uint32_t cpu;
	uint8_t state, switches;
};

static struct thread_switches switches;
static struct clock_anchor now;
static uint64_t base_ns;

static struct thread_switches_of of(bool is_wanted)
{
	return (struct thread_switches_of){77, "worker", &now, is_wanted};
}

static void start(void)
{
	written_begin();
	now = clock_take_anchor();
	base_ns = now.monotonic_ns - 1000000;
	thread_switches_begin(&switches, &now, base_ns);
}

static void add(enum cpu_ring_what what, uint64_t ns, uint32_t cpu)
{
	const struct thread_switches_of whose = of(true);

	thread_switches_add(
		&switches, &whose, &(const struct cpu_ring_switch){base_ns + ns, cpu, what});
}

static uint64_t value(
	const struct decode_block *blocks, size_t nr_blocks, const char *column, size_t row)
{
	return decode_value(blocks, nr_blocks, GPROF_TABLE_thread_state, column, row);
}

/* A time of the stream, whose ticks are those of the counter, or ns where there is none. */
static uint64_t tick(uint64_t ns)
{
	return clock_raw_near(&now, base_ns + ns);
}

/* Times may be off by a few ticks: two clocks are joined. */
static void is_near(uint64_t have, uint64_t want)
{
	ck_assert_uint_le(have > want ? have - want : want - have, 100);
}

static void expect(const struct want *want, size_t nr)
{
	size_t nr_blocks;
	struct decode_block *blocks = written_end(&nr_blocks);

	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_thread_state), nr);
	for (size_t i = 0; i < nr; i++) {
		is_near(value(blocks, nr_blocks, "begin", i), tick(want[i].begin));
		is_near(value(blocks, nr_blocks, "dur", i),
			tick(want[i].end) - tick(want[i].begin));
		ck_assert_uint_eq(value(blocks, nr_blocks, "cpu", i), want[i].cpu);
		ck_assert_uint_eq(value(blocks, nr_blocks, "state", i), want[i].state);
		ck_assert_uint_eq(value(blocks, nr_blocks, "switches", i), want[i].switches);
		ck_assert_uint_eq(value(blocks, nr_blocks, "task", i), 77);
	}
	for (size_t i = 0; i < nr_blocks; i++) {
		decode_free(&blocks[i]);
	}
	free(blocks);
}

START_TEST(switches_say_what_a_thread_does_in_between)
{
	static const struct want want[] = {{0, 10000, 3, GPROF_THREAD_RUNNING, 2},
		{10000, 30000, 3, GPROF_THREAD_BLOCKED, 3},
		{30000, 60000, 1, GPROF_THREAD_RUNNING, 3},
		{60000, 100000, 1, GPROF_THREAD_RUNNABLE, 3},
		{100000, 150000, 1, GPROF_THREAD_RUNNING, 1}};

	start();
	add(CPU_RING_BLOCKED, 10000, 3);
	add(CPU_RING_SWITCHED_IN, 30000, 1);
	add(CPU_RING_PREEMPTED, 60000, 1);
	add(CPU_RING_SWITCHED_IN, 100000, 1);
	add(CPU_RING_EXITED, 150000, 1);
	add(CPU_RING_SWITCHED_IN, 160000, 1); /* it has ended */
	expect(want, 5);
}
END_TEST

START_TEST(a_thread_that_is_off_the_cpu_at_the_start_is_so_for_an_unknown_reason)
{
	static const struct want want[] = {{0, 10000, 3, GPROF_THREAD_OFF_CPU, 2},
		{10000, 1000000, 3, GPROF_THREAD_RUNNING, 1}};
	const struct thread_switches_of whose = of(true);

	start();
	add(CPU_RING_SWITCHED_IN, 10000, 3);
	thread_switches_end(&switches, &whose);
	expect(want, 2);
}
END_TEST

START_TEST(the_time_of_lost_records_is_unknown)
{
	static const struct want want[] = {
		{0, 10000, 3, GPROF_THREAD_RUNNING, 2}, {50000, 70000, 2, GPROF_THREAD_RUNNING, 2}};

	start();
	add(CPU_RING_BLOCKED, 10000, 3);
	add(CPU_RING_LOST, 50000, 2);
	add(CPU_RING_SWITCHED_OUT, 70000, 2);
	expect(want, 2);
}
END_TEST

START_TEST(records_that_two_buffers_have_count_once)
{
	static const struct want want[] = {
		{0, 10000, 3, GPROF_THREAD_RUNNING, 2}, {10000, 30000, 3, GPROF_THREAD_BLOCKED, 3}};

	start();
	for (int i = 0; i < 2; i++) {
		add(CPU_RING_BLOCKED, 10000, 3);
		add(CPU_RING_SWITCHED_IN, 30000, 1);
	}
	expect(want, 2);
}
END_TEST

START_TEST(what_is_not_wanted_has_no_rows_and_is_cut)
{
	static const struct want want[] = {{1000000, 1010000, 3, GPROF_THREAD_RUNNING, 2}};
	const struct thread_switches_of whose = of(false);

	start();
	thread_switches_add(&switches, &whose,
		&(const struct cpu_ring_switch){base_ns + 10000, 3, CPU_RING_SWITCHED_IN});
	thread_switches_cut(&switches, &whose);
	add(CPU_RING_BLOCKED, 1010000, 3);
	expect(want, 1);
}
END_TEST

START_TEST(records_of_the_kernel_have_time_and_cpu_at_their_end)
{
	struct {
		struct perf_event_header header;
		uint64_t words[8];
	} record = {{PERF_RECORD_SWITCH, 0, 24}, {1234, 5}};
	struct cpu_ring_switch out;

	ck_assert(cpu_ring_decode_switch(&record.header, 24, &out));
	ck_assert_uint_eq(out.what, CPU_RING_SWITCHED_IN);
	ck_assert_uint_eq(out.monotonic_ns, 1234);
	ck_assert_uint_eq(out.cpu, 5);
	ck_assert(!cpu_ring_decode_switch(&record.header, 16, &out));
	record.header.misc = PERF_RECORD_MISC_SWITCH_OUT;
	cpu_ring_begin(false);
	ck_assert(cpu_ring_decode_switch(&record.header, 24, &out));
	ck_assert(out.what == CPU_RING_BLOCKED || out.what == CPU_RING_SWITCHED_OUT);
	record.header.type = PERF_RECORD_LOST;
	record.words[2] = 99;
	ck_assert(cpu_ring_decode_switch(&record.header, 40, &out));
	ck_assert_uint_eq(out.what, CPU_RING_LOST);
	ck_assert_uint_eq(out.monotonic_ns, 99);
	record.header.type = PERF_RECORD_SAMPLE;
	ck_assert(!cpu_ring_decode_switch(&record.header, 40, &out));
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {switches_say_what_a_thread_does_in_between,
		a_thread_that_is_off_the_cpu_at_the_start_is_so_for_an_unknown_reason,
		the_time_of_lost_records_is_unknown, records_that_two_buffers_have_count_once,
		what_is_not_wanted_has_no_rows_and_is_cut,
		records_of_the_kernel_have_time_and_cpu_at_their_end};

	return unit_make("thread_switches", tests, sizeof(tests) / sizeof(tests[0]));
}
