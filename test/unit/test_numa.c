/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sample/numa.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "collector/cupti/device.h"
#include "test/unit/unit.h"

static char found[512], long_value[2048];
static bool is_long;

static void add(const char *key, const char *value)
{
	if (is_long && strstr(key, "node.")) {
		snprintf(long_value, sizeof(long_value), "%s", value);
		return;
	}
	strcat(strcat(strcat(strcat(found, key), "="), value), ";");
}

static void has(const char *text)
{
	ck_assert_msg(strstr(found, text), "%s: no %s", found, text);
}

START_TEST(nodes_are_those_with_cpus)
{
	found[0] = 0;
	unit_put("/sys/devices/system/node/node0/cpulist", "0-15,32-47\n");
	unit_put("/sys/devices/system/node/node12/cpulist", "16-31,48-63\n");
	unit_put("/sys/devices/system/node/node2/cpulist", "\n"); /* memory of a GPU */
	unit_put("/sys/devices/system/node/nodes/cpulist", "7\n");
	unit_put("/sys/devices/system/node/node1x/cpulist", "7\n");
	unit_put("/sys/devices/system/node/online", "0-12\n");
	ck_assert_uint_eq(numa_find_nodes(unit_root(), add), 2);
	has("host.numa_nodes=2;");
	has("host.numa_node.0=0-15,32-47;");
	has("host.numa_node.12=16-31,48-63;");
	ck_assert(!strstr(found, "=7"));
}
END_TEST

/* As on hosts whose firmware numbers CPUs in turns. */
START_TEST(a_long_list_of_cpus_ends_with_a_whole_number)
{
	char list[4096] = "", want[1024];

	for (int cpu = 0; cpu < 2000; cpu += 4) {
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%d,", cpu);
	}
	unit_put("/sys/devices/system/node/node0/cpulist", list);
	found[0] = 0;
	is_long = true;
	ck_assert_uint_eq(numa_find_nodes(unit_root(), add), 1);
	memcpy(want, list, sizeof(want) - 1);
	want[sizeof(want) - 1] = 0;
	*strrchr(want, ',') = 0;
	ck_assert_str_eq(long_value, want);
	is_long = false;
}
END_TEST

START_TEST(a_kernel_without_nodes_says_nothing)
{
	found[0] = 0;
	ck_assert_uint_eq(numa_find_nodes(unit_root(), add), 0);
	ck_assert_str_eq(found, "");
}
END_TEST

START_TEST(the_node_of_a_gpu_is_that_of_its_pci_device)
{
	uint64_t node = 7;

	unit_put("/sys/bus/pci/devices/0000:18:00.0/numa_node", "1\n");
	unit_put("/sys/bus/pci/devices/0001:af:1f.0/numa_node", "0\n");
	unit_put("/sys/bus/pci/devices/0000:19:00.0/numa_node", "-1\n");
	unit_put("/sys/bus/pci/devices/0000:1a:00.0/numa_node", "1x\n");
	unit_put("/sys/bus/pci/devices/0000:1b:00.0/numa_node", "");
	ck_assert(device_numa_node(unit_root(), 0, 0x18, 0, &node));
	ck_assert_uint_eq(node, 1);
	ck_assert(device_numa_node(unit_root(), 1, 0xaf, 0x1f, &node));
	ck_assert_uint_eq(node, 0);
	ck_assert(!device_numa_node(unit_root(), 0, 0x19, 0, &node));
	ck_assert(!device_numa_node(unit_root(), 0, 0x1a, 0, &node));
	ck_assert(!device_numa_node(unit_root(), 0, 0x1b, 0, &node));
	ck_assert(!device_numa_node(unit_root(), 0, 0x20, 0, &node));
}
END_TEST

START_TEST(memory_that_may_be_written_is_looked_at)
{
	static const char *const others[] = {"", "x", "55-44", "5500-5600 r--p 0 0:0 0",
		"5500-5600 r-xp 0 0:0 0", "5500-5600 -w-p 0", "5600-5500 rw-p 0", "5500- rw-p 0",
		"7f00-7f10 rw-s 00000000 00:05 12 /dev/nvidia0",
		"7f00-7f10 rw-s 00000000 00:05 12 /dev/nvidia-uvm"};
	uint64_t begin, end;

	ck_assert(numa_read_map("7f0000000000-7f0000200000 rw-p 00000000 00:00 0 ", &begin, &end));
	ck_assert_uint_eq(begin, 0x7f0000000000);
	ck_assert_uint_eq(end, 0x7f0000200000);
	ck_assert(numa_read_map("7f00-7f10 rw-s 0 00:1a 5 /dev/shm/torch_1", &begin, &end));
	ck_assert(numa_read_map("7f00-7f10 rw-s 0 00:1a 5 /dev/zero (deleted)", &begin, &end));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		ck_assert_msg(!numa_read_map(others[i], &begin, &end), "%s", others[i]);
	}
}
END_TEST

/* What the process never touched is on no node, and stays so. */
START_TEST(pages_are_counted_by_their_node)
{
	enum { NR = 100, PAGE = 4096 };
	char *memory = mmap(
		NULL, 2 * NR * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *pages[2 * NR];
	uint32_t counts[NUMA_NR] = {0}, nr_known = 0;

	ck_assert(memory != MAP_FAILED);
	madvise(memory, 2 * NR * PAGE, MADV_NOHUGEPAGE);
	for (unsigned int i = 0; i < 2 * NR; i++) {
		pages[i] = memory + i * PAGE;
		if (i < NR) {
			memory[i * PAGE] = 1;
		}
	}
	numa_count(pages, 2 * NR, counts);
	for (unsigned int node = 0; node < NUMA_UNKNOWN; node++) {
		nr_known += counts[node];
	}
	if (!nr_known) {
		unit_skip("pages_are_counted_by_their_node", "the kernel refuses move_pages()");
		return;
	}
	ck_assert_uint_eq(nr_known, NR);
	ck_assert_uint_eq(counts[NUMA_UNKNOWN], NR);
	munmap(memory, 2 * NR * PAGE);
}
END_TEST

static uint64_t nr_pages;

static void add_pages(uint8_t metric, uint8_t node, uint64_t pages)
{
	(void)node;
	ck_assert_uint_eq(metric, GPROF_METRIC_PROCESS_PINNED_NODE_PAGES);
	nr_pages += pages;
}

static uint64_t pages_of_look(void)
{
	nr_pages = 0;
	numa_look_at_pinned(add_pages);
	return nr_pages;
}

/* Of more ranges than there is room for, the largest count. */
START_TEST(pinned_ranges_count_until_they_are_freed)
{
	struct gprof_row_api_alloc call = {
		.space = GPROF_SPACE_HOST, .address = 1 << 20, .bytes = 65536};

	ck_assert_uint_eq(pages_of_look(), 0);
	numa_saw(&call);
	ck_assert_uint_eq(pages_of_look(), 8);
	numa_saw(&call); /* the call that freed it was not seen */
	ck_assert_uint_eq(pages_of_look(), 8);
	call.op = 1;
	numa_saw(&call);
	ck_assert_uint_eq(pages_of_look(), 0);
	call = (struct gprof_row_api_alloc){.address = 1 << 20, .bytes = 65536}; /* of a device */
	numa_saw(&call);
	call.space = GPROF_SPACE_HOST;
	call.result = 2; /* it failed */
	numa_saw(&call);
	ck_assert_uint_eq(pages_of_look(), 0);
	call.result = 0;
	for (uint32_t i = 0; i < 200; i++) {
		call.address += 1 << 20;
		call.bytes = 4096 + i;
		numa_saw(&call);
	}
	ck_assert_uint_eq(pages_of_look(), 64 * 8);
	call.op = 1; /* the last one is the largest */
	numa_saw(&call);
	ck_assert_uint_eq(pages_of_look(), 63 * 8);
	call.address -= 100 << 20; /* a smaller one has given way */
	numa_saw(&call);
	ck_assert_uint_eq(pages_of_look(), 63 * 8);
}
END_TEST

UNIT_SUITE("numa", nodes_are_those_with_cpus, a_long_list_of_cpus_ends_with_a_whole_number,
	a_kernel_without_nodes_says_nothing, the_node_of_a_gpu_is_that_of_its_pci_device,
	memory_that_may_be_written_is_looked_at, pages_are_counted_by_their_node,
	pinned_ranges_count_until_they_are_freed)
