/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mapping of a buffer keeps its event alive, so its descriptor is closed at once: sampling uses
 * none of the target's numbers. The kernel does not copy such a mapping into a forked child, and
 * unmapping it ends the event.
 *
 * To be woken by a record without a descriptor to wait for, the drain has the kernel send a signal
 * to it alone (F_OWNER_TID), which it blocks, and waits for in ring_wait(). The request belongs to
 * the open file, and the mapping keeps that file open.
 */
#include "collector/sample/cpu_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector/stream/facts.h"
#include "collector/util/file_text.h"
#include "collector/util/notice.h"
#include "collector/util/private_fd.h"

/* The kernel's own, where /proc does not show it. */
#define DEFAULT_MLOCK_KB 516u

/* The kernel refuses samples of itself to users where perf_event_paranoid is above 1. */
static struct {
	bool is_user_only;
	bool is_known; /* a thread has an event */
} mode;

void cpu_ring_begin(void)
{
	mode.is_user_only = mode.is_known = false;
}

bool cpu_ring_has_kernel(void)
{
	return mode.is_known && !mode.is_user_only;
}

/* Does not ask for more frames than an administrator allows. */
static int open_event(const struct cpu_ring_want *want)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5, /* kernels since 4.8 know as much */
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = want->period_ns,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
		.exclude_kernel = mode.is_user_only,
		.exclude_hv = 1,
		.exclude_callchain_kernel = 1,
		.comm = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.wakeup_events = want->waked_tid != 0,
		.sample_max_stack = CPU_RING_MAX_FRAMES};
	long fd = syscall(SYS_perf_event_open, &attr, want->tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == EOVERFLOW) {
		attr.sample_max_stack = 0;
		fd = syscall(SYS_perf_event_open, &attr, want->tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return fd < 0 ? -errno : (int)fd;
}

/* A program may give up its privileges while it runs. */
static void report_user_only(void)
{
	static atomic_uint told_in;

	if (mode.is_known && notice_is_first(&told_in)) {
		facts_add_number("cpu_samples.has_kernel", 0);
		notice_add("CPU samples without the kernel", 0,
			"the program is no longer allowed to sample the kernel: CPU samples of "
			"threads that have begun since then are of user mode alone");
	}
}

static int open_event_as_allowed(const struct cpu_ring_want *want)
{
	int fd = open_event(want);

	if ((fd == -EACCES || fd == -EPERM) && !mode.is_user_only) {
		mode.is_user_only = true;
		fd = open_event(want);
		if (fd >= 0) {
			report_user_only();
		}
	}
	mode.is_known = mode.is_known || fd >= 0;
	return fd;
}

/*
 * Maps a buffer; NULL: impossible. Kernels before 4.1 do not say where its data lie, and neither
 * does what the target may by now have opened at that number.
 */
static struct perf_event_mmap_page *map_ring(int fd, uint32_t ring_bytes)
{
	size_t nr_bytes = cpu_ring_locked_bytes(ring_bytes);
	struct perf_event_mmap_page *ring =
		mmap(NULL, nr_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (ring == MAP_FAILED) {
		return NULL;
	}
	if (ring->data_size != ring_bytes || ring->data_offset != nr_bytes - ring_bytes) {
		munmap(ring, nr_bytes);
		return NULL;
	}
	return ring;
}

/* The target may have opened a file of its own at that number, so it is looked at first. */
static void ask_for_signal(struct private_fd *held, int tid)
{
	struct f_owner_ex owner = {F_OWNER_TID, tid};

	if (!private_fd_check(held) && !fcntl(held->fd, F_SETOWN_EX, &owner) &&
		!fcntl(held->fd, F_SETSIG, CPU_RING_SIGNAL)) {
		fcntl(held->fd, F_SETFL, O_RDWR | O_ASYNC);
	}
}

int cpu_ring_open(struct perf_event_mmap_page **ring, const struct cpu_ring_want *want)
{
	struct private_fd held;
	int fd = open_event_as_allowed(want);

	if (fd < 0) {
		return fd;
	}
	private_fd_adopt(&held, fd);
	*ring = map_ring(fd, want->ring_bytes);
	if (*ring && want->waked_tid) {
		ask_for_signal(&held, want->waked_tid);
	}
	private_fd_close(&held);
	return *ring ? 0 : -ENOMEM;
}

size_t cpu_ring_locked_bytes(uint32_t ring_bytes)
{
	return (size_t)sysconf(_SC_PAGESIZE) + ring_bytes;
}

uint64_t cpu_ring_most_locked_bytes(void)
{
	uint64_t kb;
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (!file_text_number("/proc/sys/kernel/perf_event_mlock_kb", "", &kb)) {
		kb = DEFAULT_MLOCK_KB;
	}
	return kb * 1024 * (nr_cpus > 0 ? (uint64_t)nr_cpus : 1);
}

uint32_t cpu_ring_bytes(uint64_t wanted_bytes, uint64_t page_bytes, uint64_t most)
{
	uint64_t bytes = page_bytes;

	while (bytes < wanted_bytes && bytes * 2 <= most) {
		bytes *= 2;
	}
	return (uint32_t)bytes;
}

void cpu_ring_close(struct perf_event_mmap_page *ring)
{
	munmap(ring, cpu_ring_locked_bytes((uint32_t)ring->data_size));
}

/* Copies bytes out of the ring, whose end may lie within them. */
static void copy_out(void *out, const char *data, uint64_t at, uint64_t ring_bytes, size_t nr_bytes)
{
	uint64_t from = at % ring_bytes;
	size_t nr_first = nr_bytes < ring_bytes - from ? nr_bytes : (size_t)(ring_bytes - from);

	memcpy(out, data + from, nr_first);
	memcpy((char *)out + nr_first, data, nr_bytes - nr_first);
}

/* The kernel writes at data_head, and not beyond data_tail, which is ours. */
uint64_t cpu_ring_read(struct perf_event_mmap_page *ring,
	void (*on_record)(void *context, const struct perf_event_header *header), void *context)
{
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE),
		 begin = ring->data_tail;
	const char *data = (const char *)ring + ring->data_offset;
	uint64_t at = begin;
	union {
		struct perf_event_header header;
		uint64_t words[(CPU_RING_RECORD_BYTES + 7) / 8];
	} record;

	while (head - at >= sizeof(record.header)) {
		copy_out(&record, data, at, ring->data_size, sizeof(record.header));
		if (record.header.size < sizeof(record.header) || record.header.size > head - at) {
			break; /* not as the kernel writes it */
		}
		if (record.header.size <= sizeof(record)) {
			copy_out(&record, data, at, ring->data_size, record.header.size);
			on_record(context, &record.header);
		}
		at += record.header.size;
	}
	__atomic_store_n(&ring->data_tail, head, __ATOMIC_RELEASE);
	return head - begin;
}

bool cpu_ring_decode(
	const struct perf_event_header *header, size_t nr_bytes, struct cpu_ring_sample *sample)
{
	const uint64_t *words = (const uint64_t *)(const void *)(header + 1);
	size_t nr_words = nr_bytes / sizeof(*words) - 1; /* without the header */

	if (nr_bytes < sizeof(*header) || header->type != PERF_RECORD_SAMPLE || nr_words < 2 ||
		words[1] > nr_words - 2) {
		return false;
	}
	*sample = (struct cpu_ring_sample){words[0], words + 2, words[1]};
	return true;
}

/* Where no record follows, they are at most the periods of CPU time for which none was taken. */
uint64_t cpu_ring_lost(uint64_t cpu_ns, uint64_t period_ns, uint64_t nr_taken)
{
	uint64_t nr = cpu_ns / period_ns;

	return nr > nr_taken ? nr - nr_taken : 0;
}
