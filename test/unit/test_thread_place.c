/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sample/thread_place.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/format/codes.h"
#include "test/unit/unit.h"

/* Fields 3 to 52 of stat, each its own number, but for what is given. */
static const char *stat_text(const char *name, const char *faults, const char *cpu)
{
	static char text[1024];
	int n = snprintf(text, sizeof(text), "4242 (%s) S", name);

	for (int field = 4; field <= 52; field++) {
		n += field == 12   ? snprintf(text + n, sizeof(text) - (size_t)n, " %s", faults)
		     : field == 39 ? snprintf(text + n, sizeof(text) - (size_t)n, " %s", cpu)
				   : snprintf(text + n, sizeof(text) - (size_t)n, " %d", field);
	}
	snprintf(text + n, sizeof(text) - (size_t)n, "\n");
	return text;
}

START_TEST(stat_has_faults_and_the_cpu)
{
	uint64_t faults;
	uint32_t cpu;

	ck_assert(thread_place_read_stat(stat_text("python", "77", "191"), &cpu, &faults));
	ck_assert_uint_eq(faults, 77);
	ck_assert_uint_eq(cpu, 191);
	ck_assert(thread_place_read_stat(stat_text("a) R 1 (b", "1", "0"), &cpu, &faults));
	ck_assert_uint_eq(faults, 1);
	ck_assert_uint_eq(cpu, 0);
}
END_TEST

START_TEST(odd_stat_is_unknown)
{
	static const char *const texts[] = {
		"", "1", "1 (x", "1 (x)", "1 (x) S", "1 (x) S 1 2 3 4 5 6 7 8 9"};
	uint64_t faults;
	uint32_t cpu;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ck_assert_msg(!thread_place_read_stat(texts[i], &cpu, &faults), "%s", texts[i]);
	}
	ck_assert(!thread_place_read_stat(stat_text("x", "y", "1"), &cpu, &faults));
	ck_assert(!thread_place_read_stat(stat_text("x", "1", "y"), &cpu, &faults));
	ck_assert(!thread_place_read_stat(stat_text("x", "1", "-1"), &cpu, &faults));
}
END_TEST

START_TEST(sched_has_migrations)
{
	static const char *const texts[] = {"", "se.nr_migrations : 5\n", "x\nse.nr_migrations\n",
		"x\nse.nr_migrations : \n", "x\nse.nr_migrations : -5\n", "x\nse.nr_migrations : 5",
		"x\nse.nr_migrations_cold : 5\n"};
	uint64_t nr;

	ck_assert(thread_place_read_sched(
		"se.nr_migrations (4242, #threads: 1)\n-----\nse.exec_start : 1.5\n"
		"se.nr_migrations                             :                   31\n"
		"nr_switches : 7\n",
		&nr));
	ck_assert_uint_eq(nr, 31);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ck_assert_msg(!thread_place_read_sched(texts[i], &nr), "%s", texts[i]);
	}
}
END_TEST

/* getrusage() counts the same faults. */
START_TEST(the_kernel_says_where_a_thread_is)
{
	struct thread_place place;
	struct rusage usage;
	char task[48];

	snprintf(task, sizeof(task), "/proc/self/task/%ld", syscall(SYS_gettid));
	thread_place_open(&place, task);
	ck_assert(place.known & GPROF_THREAD_CPU_KNOWN);
	ck_assert_uint_lt(place.cpu, (unsigned int)sysconf(_SC_NPROCESSORS_CONF));
	thread_place_look(&place);
	ck_assert(!getrusage(RUSAGE_THREAD, &usage));
	ck_assert_uint_le(place.major_faults, (uint64_t)usage.ru_majflt);
	thread_place_look_at_frequency(&place); /* most virtual machines have none */
	ck_assert(!place.cpu_khz || (place.cpu_khz > 100000 && place.cpu_khz < 10000000));
	thread_place_close(&place);
	ck_assert_int_eq(place.stat.fd, -1);
}
END_TEST

START_TEST(a_thread_that_has_ended_is_nowhere)
{
	struct thread_place place;

	thread_place_open(&place, "/proc/self/task/0");
	ck_assert_uint_eq(place.known, 0);
	thread_place_look(&place);
	thread_place_look_at_frequency(&place);
	ck_assert_uint_eq(place.known, 0);
	ck_assert_uint_eq(place.cpu_khz, 0);
	thread_place_close(&place);
}
END_TEST

UNIT_SUITE("thread_place", stat_has_faults_and_the_cpu, odd_stat_is_unknown, sched_has_migrations,
	the_kernel_says_where_a_thread_is, a_thread_that_has_ended_is_nowhere)
