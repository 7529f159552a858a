/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sample/cpu_limit.h"

#include "test/unit/unit.h"

static void is_limit(uint64_t milli_cpus, uint64_t throttled_ns)
{
	uint64_t cpus, ns;

	cpu_limit_init(unit_root());
	ck_assert(cpu_limit_read(&cpus, &ns));
	ck_assert_uint_eq(cpus, milli_cpus);
	ck_assert_uint_eq(ns, throttled_ns);
}

static void is_unlimited(void)
{
	uint64_t cpus, ns;

	cpu_limit_init(unit_root());
	ck_assert(!cpu_limit_read(&cpus, &ns));
}

START_TEST(process_without_a_limit_has_none)
{
	is_unlimited();
	unit_put("/proc/self/cgroup", "0::/job\n");
	is_unlimited();
	unit_put("/sys/fs/cgroup/job/cpu.max", "max 100000\n");
	unit_put("/sys/fs/cgroup/job/cpu.stat", "usage_usec 5\nthrottled_usec 0\n");
	is_unlimited();
	cpu_limit_close();
}
END_TEST

START_TEST(version_2_takes_the_nearest_limit_and_its_time)
{
	uint64_t cpus, ns;

	unit_put("/proc/self/cgroup", "0::/job/step\n");
	unit_put("/sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
	unit_put("/sys/fs/cgroup/job/cpu.max", "350000 100000\n");
	unit_put("/sys/fs/cgroup/job/cpu.stat",
		"usage_usec 5\nnr_periods 7\nnr_throttled 3\nthrottled_usec 123456\nnr_bursts 0\n");
	is_limit(3500, 123456000);
	/* It is read anew. */
	unit_put("/sys/fs/cgroup/job/cpu.stat", "throttled_usec 200000\n");
	cpu_limit_init(unit_root());
	ck_assert(cpu_limit_read(&cpus, &ns));
	ck_assert_uint_eq(ns, 200000000);
	cpu_limit_close();
	ck_assert(!cpu_limit_read(&cpus, &ns));
}
END_TEST

START_TEST(version_1_is_read_from_the_folder_of_its_controller)
{
	unit_put("/proc/self/cgroup", "4:cpu,cpuacct:/docker/0123\n0::/\n");
	unit_put("/sys/fs/cgroup/cpu/docker/0123/cpu.cfs_quota_us", "-1\n");
	unit_put("/sys/fs/cgroup/cpu/docker/0123/cpu.cfs_period_us", "100000\n");
	is_unlimited();
	unit_put("/sys/fs/cgroup/cpu/docker/cpu.cfs_quota_us", "50000\n");
	unit_put("/sys/fs/cgroup/cpu/docker/cpu.cfs_period_us", "100000\n");
	unit_put("/sys/fs/cgroup/cpu/docker/cpu.stat", "nr_periods 9\nthrottled_time 777\n");
	is_limit(500, 777);
	cpu_limit_close();
}
END_TEST

START_TEST(text_that_is_no_limit_is_none)
{
	static const char *const texts[] = {"", "max", "max 100000", "100000", "100000 ",
		"100000 0", "-1 100000", "x 1", "1 x"};
	uint64_t cpus;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ck_assert_msg(!cpu_limit_parse(texts[i], &cpus), "'%s'", texts[i]);
	}
	ck_assert(cpu_limit_parse("100000 100000\n", &cpus));
	ck_assert_uint_eq(cpus, 1000);
}
END_TEST

UNIT_SUITE("cpu_limit", process_without_a_limit_has_none,
	version_2_takes_the_nearest_limit_and_its_time,
	version_1_is_read_from_the_folder_of_its_controller, text_that_is_no_limit_is_none)
