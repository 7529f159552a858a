/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_pages() without target nodes moves nothing: it says where pages are, and touches none. A
 * walk over all pages (/proc/PID/numa_maps) would hold up the target's own calls of mmap. So a look
 * takes a few pages of each pinned range, and pages at equal distances of all other memory:
 *
 *   /proc/self/maps, first pass: bytes in all --> distance --> second pass: pages --> move_pages()
 */
#include "collector/sample/numa.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/stream/facts.h"
#include "collector/util/dir.h"
#include "collector/util/file_text.h"
#include "collector/util/log.h"
#include "collector/util/notice.h"

#define FIRST_LOOK_NS 2000000000u
#define LOOK_NS	      10000000000u
/* The largest pinned ranges; what is smaller hardly counts. */
#define NR_RANGES 64u
/* Pages of a look: of each range, and of all other memory together. */
#define NR_RANGE_PAGES 8u
#define NR_PAGES       512u
#define CPUS_BYTES     1024u
#define PAGE_BYTES     4096u /* the least; a larger one is found by any address in it */

struct range {
	uint64_t address, bytes; /* 0 bytes: none */
};

static struct numa_state {
	bool is_refused;
	unsigned int nr_nodes;
	uint64_t due_ns;
	struct range ranges[NR_RANGES];
} state;

/* ---- nodes ---- */

struct node_search {
	const char *root;
	void (*add)(const char *key, const char *value);
	unsigned int nr;
};

/* Memory of GPUs may be a node, too, without CPUs. */
static void look_at_node(void *context, const char *name)
{
	struct node_search *search = context;
	char path[PATH_MAX], cpus[CPUS_BYTES], key[48];
	char *end;

	if (strncmp(name, "node", 4) != 0 || name[4] < '0' || name[4] > '9' ||
		(strtoull(name + 4, &end, 10), *end)) {
		return;
	}
	log_format(path, sizeof(path), "%s/sys/devices/system/node/%s/cpulist", search->root, name);
	file_text_read(path, cpus, sizeof(cpus));
	end = strpbrk(cpus, "\n");
	end = end ? end : strrchr(cpus, ','); /* of a longer list the last number may be cut */
	*(end ? end : cpus) = 0;
	if (*cpus) {
		log_format(key, sizeof(key), "host.numa_node.%s", name + 4);
		search->add(key, cpus);
		search->nr++;
	}
}

unsigned int numa_find_nodes(const char *root, void (*add)(const char *key, const char *value))
{
	struct node_search search = {root, add, 0};
	char path[PATH_MAX], number[16];

	log_format(path, sizeof(path), "%s/sys/devices/system/node", root);
	dir_each(path, look_at_node, &search);
	if (search.nr) {
		log_format(number, sizeof(number), "%u", search.nr);
		add("host.numa_nodes", number);
	}
	return search.nr;
}

void numa_init(void)
{
	memset(&state, 0, sizeof(state));
	state.nr_nodes = numa_find_nodes("", facts_add);
}

/* ---- pages ---- */

void numa_count(void *const *pages, unsigned int nr, uint32_t counts[NUMA_NR])
{
	int nodes[64];

	for (unsigned int at = 0; at < nr;) {
		unsigned int some = nr - at < 64 ? nr - at : 64;
		long rc =
			syscall(SYS_move_pages, 0, (unsigned long)some, pages + at, NULL, nodes, 0);

		for (unsigned int i = 0; i < some; i++) {
			bool is_known = !rc && nodes[i] >= 0 && nodes[i] < (int)NUMA_UNKNOWN;

			counts[is_known ? (unsigned int)nodes[i] : NUMA_UNKNOWN]++;
		}
		at += some;
	}
}

static void add_counts(uint8_t metric, const uint32_t counts[NUMA_NR],
	void (*add)(uint8_t metric, uint8_t node, uint64_t pages))
{
	for (unsigned int node = 0; node < NUMA_NR; node++) {
		if (counts[node]) {
			add(metric, (uint8_t)node, counts[node]);
		}
	}
}

/* ---- pinned memory ---- */

/* A new range takes the place of the smallest one, if that is smaller. */
void numa_saw(const struct gprof_row_api_alloc *call)
{
	struct range *smallest = &state.ranges[0];

	if (call->space != GPROF_SPACE_HOST || call->result || !call->address) {
		return;
	}
	for (unsigned int i = 0; i < NR_RANGES; i++) {
		struct range *range = &state.ranges[i];

		if (range->bytes && range->address == call->address) {
			range->bytes = 0; /* it is freed, or was unnoticed */
		}
		smallest = range->bytes < smallest->bytes ? range : smallest;
	}
	if (!call->op && call->bytes > smallest->bytes) {
		*smallest = (struct range){call->address, call->bytes};
	}
}

void numa_look_at_pinned(void (*add)(uint8_t metric, uint8_t node, uint64_t pages))
{
	uint32_t counts[NUMA_NR] = {0};

	for (unsigned int i = 0; i < NR_RANGES; i++) {
		const struct range *range = &state.ranges[i];
		void *pages[NR_RANGE_PAGES];

		for (unsigned int k = 0; k < NR_RANGE_PAGES; k++) {
			pages[k] = (void *)(uintptr_t)(range->address +
						       range->bytes / NR_RANGE_PAGES * k);
		}
		if (range->bytes) {
			numa_count(pages, NR_RANGE_PAGES, counts);
		}
	}
	add_counts(GPROF_METRIC_PROCESS_PINNED_NODE_PAGES, counts, add);
}

/* ---- all memory ---- */

struct map_search {
	uint64_t bytes, distance; /* of maps so far; 0: they are only summed */
	uint64_t next;		  /* the next page, as far behind the first one */
	unsigned int nr;
	void *pages[NR_PAGES];
};

/* A driver's memory has no pages of the kernel's; /dev/shm and /dev/zero have. */
static bool is_of_driver(const char *line)
{
	const char *path = strstr(line, " /dev/");

	return path && strncmp(path, " /dev/shm/", 10) != 0 && strncmp(path, " /dev/zero", 10) != 0;
}

bool numa_read_map(const char *line, uint64_t *begin, uint64_t *end)
{
	char *at;

	*begin = strtoull(line, &at, 16);
	if (at == line || *at != '-') {
		return false;
	}
	line = at + 1;
	*end = strtoull(line, &at, 16);
	return at != line && !strncmp(at, " rw", 3) && *end > *begin && !is_of_driver(at);
}

static bool look_at_map(const char *line, void *context)
{
	struct map_search *search = context;
	uint64_t begin, end;

	if (!numa_read_map(line, &begin, &end)) {
		return false;
	}
	while (search->distance && search->next < search->bytes + (end - begin) &&
		search->nr < NR_PAGES) {
		search->pages[search->nr++] =
			(void *)(uintptr_t)(begin + (search->next - search->bytes));
		search->next += search->distance;
	}
	search->bytes += end - begin;
	return false;
}

/* Many of these pages were never touched, and are nowhere. */
static void look_at_memory(void (*add)(uint8_t metric, uint8_t node, uint64_t pages))
{
	struct map_search search = {0};
	uint32_t counts[NUMA_NR] = {0};

	file_text_find("/proc/self/maps", '\n', look_at_map, &search);
	search.distance = search.bytes / NR_PAGES / PAGE_BYTES * PAGE_BYTES;
	search.distance = search.distance ? search.distance : PAGE_BYTES;
	search.bytes = 0;
	file_text_find("/proc/self/maps", '\n', look_at_map, &search);
	numa_count(search.pages, search.nr, counts);
	counts[NUMA_UNKNOWN] = 0;
	add_counts(GPROF_METRIC_PROCESS_NODE_PAGES, counts, add);
}

/* ---- looks ---- */

/* A filter may kill the process for a call that it does not know, so the call is not tried. */
static bool is_filtered(void)
{
	uint64_t mode;

	return file_text_number("/proc/thread-self/status", "Seccomp:", &mode) && mode;
}

static void refuse(int code)
{
	state.is_refused = true;
	notice_add("no NUMA nodes of memory", code,
		"on which of the %u NUMA nodes memory lies is unknown: %s; the nodes of threads "
		"and GPUs are known",
		state.nr_nodes,
		code ? "the kernel refuses move_pages()"
		     : "a seccomp filter, as containers have, may forbid move_pages()");
}

static bool may_look(void)
{
	if (state.nr_nodes < 2 || state.is_refused) {
		return false;
	}
	if (is_filtered()) {
		refuse(0);
	} else if (syscall(SYS_move_pages, 0, 0ul, NULL, NULL, NULL, 0)) {
		refuse(errno);
	}
	return !state.is_refused;
}

void numa_take(uint64_t now_ns, void (*add)(uint8_t metric, uint8_t node, uint64_t pages))
{
	if (!state.due_ns) {
		state.due_ns = now_ns + FIRST_LOOK_NS;
	}
	if (now_ns >= state.due_ns && may_look()) {
		state.due_ns = now_ns + LOOK_NS;
		numa_look_at_pinned(add);
		look_at_memory(add);
	}
}
