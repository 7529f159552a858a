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

#include <asm/perf_regs.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "collector/stream/facts.h"
#include "collector/util/file_text.h"
#include "collector/util/log.h"
#include "collector/util/notice.h"
#include "collector/util/private_fd.h"

/* The kernel's own, where /proc does not show it. */
#define DEFAULT_MLOCK_KB 516u

/* The kernel has no limit for a process that may lock memory (CAP_IPC_LOCK): this is our own. */
#define PRIVILEGED_BYTES (32u << 20)

/* The registers of a sample with a copy of the stack, as the kernel orders them. */
static const struct {
	uint8_t number; /* the kernel's */
	uint8_t reg;	/* enum frame_register */
} registers[] = {
#ifdef __aarch64__
	{PERF_REG_ARM64_X29, FRAME_FP},
	{PERF_REG_ARM64_LR, FRAME_RA},
	{PERF_REG_ARM64_SP, FRAME_SP},
	{PERF_REG_ARM64_PC, FRAME_NR_REGISTERS},
#else
	{PERF_REG_X86_BX, FRAME_BX},
	{PERF_REG_X86_BP, FRAME_FP},
	{PERF_REG_X86_SP, FRAME_SP},
	{PERF_REG_X86_IP, FRAME_NR_REGISTERS},
	{PERF_REG_X86_R10, FRAME_R10},
	{PERF_REG_X86_R13, FRAME_R13},
#endif
};
#define NR_REGISTERS (sizeof(registers) / sizeof(registers[0]))

/* The kernel refuses samples of itself to users where perf_event_paranoid is above 1. */
static struct {
	bool is_user_only;
	bool is_known; /* a thread has an event */
	bool is_asked, is_filtered, is_checked;
	bool has_reasons; /* switches say whether the thread can still run */
} mode;

/* The first kernel whose records of switches have PERF_RECORD_MISC_SWITCH_OUT_PREEMPT. */
#define REASONS_MAJOR 4u
#define REASONS_MINOR 17u

/* Does the kernel of that release ("4.18.0") say why a thread leaves its CPU? */
static bool has_reasons(const char *release)
{
	char *end;
	uint64_t major = strtoull(release, &end, 10);
	uint64_t minor = *end == '.' ? strtoull(end + 1, NULL, 10) : 0;

	return major > REASONS_MAJOR || (major == REASONS_MAJOR && minor >= REASONS_MINOR);
}

void cpu_ring_begin(bool is_asked)
{
	struct utsname host;

	memset(&mode, 0, sizeof(mode));
	mode.is_asked = is_asked;
	mode.has_reasons = !uname(&host) && has_reasons(host.release);
}

bool cpu_ring_is_filtered(void)
{
	return mode.is_filtered;
}

void cpu_ring_check_filter(void)
{
	mode.is_checked = false;
}

/*
 * A seccomp filter may kill the process for a call that it does not know. So the call is not tried
 * under a filter, also one that came after the start, unless the user asks for events.
 */
static bool look_for_filter(void)
{
	uint64_t seccomp;

	if (!mode.is_checked) {
		mode.is_checked = true;
		mode.is_filtered =
			!mode.is_asked &&
			file_text_number("/proc/thread-self/status", "Seccomp:", &seccomp) &&
			seccomp;
	}
	return mode.is_filtered;
}

bool cpu_ring_has_kernel(void)
{
	return mode.is_known && !mode.is_user_only;
}

static void add_copy(struct perf_event_attr *attr)
{
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_stack_user = CPU_RING_STACK_BYTES;
	for (size_t i = 0; i < NR_REGISTERS; i++) {
		attr->sample_regs_user |= 1ull << registers[i].number;
	}
}

/* Does not ask for more frames than an administrator allows. */
static int open_event(const struct cpu_ring_want *want)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5, /* kernels since 4.8 know as much */
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = want->period_ns,
		.sample_type = PERF_SAMPLE_TIME,
		.exclude_kernel = mode.is_user_only,
		.exclude_hv = 1,
		.exclude_callchain_kernel = 1,
		.comm = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = !want->wakes_early};
	long fd;

	if (want->wakes_early) {
		attr.wakeup_events = 1;
	} else {
		attr.wakeup_watermark = want->ring_bytes / 2 - 1;
	}
	if (want->has_switches) {
		attr.context_switch = attr.task = attr.sample_id_all = 1;
		attr.sample_type |= PERF_SAMPLE_CPU;
	}
	if (!want->period_ns) {
		attr.config = PERF_COUNT_SW_DUMMY;
	} else if (want->copies_stack) {
		add_copy(&attr);
	} else {
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
		attr.sample_max_stack = CPU_RING_MAX_FRAMES;
	}
	fd = syscall(SYS_perf_event_open, &attr, want->tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

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
	int fd = look_for_filter() ? -EPERM : open_event_as_allowed(want);

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

static bool look_for_capabilities(const char *line, void *data)
{
	static const char name[] = "CapEff:";

	if (strncmp(line, name, sizeof(name) - 1) != 0) {
		return false;
	}
	*(uint64_t *)data = strtoull(line + sizeof(name) - 1, NULL, 16);
	return true;
}

/* It may lock what it wants, outside of user namespaces, whose numbers of users are others. */
static bool is_privileged(void)
{
	uint64_t capabilities = 0, nr_users = 0;

	return file_text_find("/proc/self/status", '\n', look_for_capabilities, &capabilities) &&
	       capabilities >> CAP_IPC_LOCK & 1 &&
	       file_text_number("/proc/self/uid_map", "         0          0 ", &nr_users) &&
	       nr_users == UINT32_MAX;
}

uint64_t cpu_ring_most_locked_bytes(void)
{
	uint64_t kb;
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (is_privileged()) {
		return PRIVILEGED_BYTES;
	}
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

/*
 * Returns bytes of the ring where they are, or if its end lies within them, a copy. The kernel
 * writes whole words, so a header never lies across the end.
 */
static const void *bytes_at(
	const struct perf_event_mmap_page *ring, uint64_t at, uint64_t nr_bytes, uint64_t *copy)
{
	const char *data = (const char *)ring + ring->data_offset;
	uint64_t from = at % ring->data_size, nr_first = ring->data_size - from;

	if (nr_bytes <= nr_first) {
		return data + from;
	}
	memcpy(copy, data + from, nr_first);
	memcpy((char *)copy + nr_first, data, nr_bytes - nr_first);
	return copy;
}

/* The kernel writes at data_head, and not beyond data_tail, which is ours. */
uint64_t cpu_ring_read(struct perf_event_mmap_page *ring,
	void (*on_record)(void *context, const struct perf_event_header *header), void *context)
{
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = ring->data_tail, end = at + 2 * ring->data_size, most = head - at;
	uint64_t copy[CPU_RING_RECORD_BYTES / 8];

	while (head - at >= sizeof(struct perf_event_header) && at < end) {
		const struct perf_event_header *header = bytes_at(ring, at, sizeof(*header), copy);
		uint16_t nr_bytes = header->size;
		uint64_t next = at + nr_bytes;

		if (nr_bytes < sizeof(*header) || nr_bytes > head - at) {
			next = head; /* not as the kernel writes it */
		} else if (nr_bytes <= sizeof(copy)) {
			on_record(context, bytes_at(ring, at, nr_bytes, copy));
		}
		/* A buffer that fills meanwhile is seen before it has room again. */
		head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
		most = head - at > most ? head - at : most;
		at = next;
		__atomic_store_n(&ring->data_tail, at, __ATOMIC_RELEASE);
	}
	return most;
}

/* Words that a record has left. */
struct words {
	const uint64_t *at;
	size_t nr;
};

static bool has_words(struct words *words, size_t nr, const uint64_t **at)
{
	if (words->nr < nr) {
		return false;
	}
	*at = words->at;
	words->at += nr;
	words->nr -= nr;
	return true;
}

static bool decode_chain(struct words *words, struct cpu_ring_sample *sample)
{
	const uint64_t *nr;

	if (!has_words(words, 1, &nr) || !has_words(words, *nr, &sample->addresses)) {
		return false;
	}
	sample->nr = *nr;
	return true;
}

/* A thread that has no registers, or those of another word size, has a sample without a stack. */
static bool decode_copy(struct words *words, struct cpu_ring_sample *sample)
{
	const uint64_t *abi, *values, *nr_asked, *bytes, *nr_bytes;

	if (!has_words(words, 1, &abi)) {
		return false;
	}
	if (*abi != PERF_SAMPLE_REGS_ABI_64) {
		return true;
	}
	if (!has_words(words, NR_REGISTERS, &values) || !has_words(words, 1, &nr_asked)) {
		return false;
	}
	for (size_t i = 0; i < NR_REGISTERS; i++) {
		if (registers[i].reg < FRAME_NR_REGISTERS) {
			sample->copy.registers[registers[i].reg] = values[i];
		} else {
			sample->copy.pc = values[i];
		}
	}
	if (!*nr_asked) {
		return true;
	}
	if (!has_words(words, *nr_asked / sizeof(*bytes), &bytes) ||
		!has_words(words, 1, &nr_bytes) || *nr_bytes > *nr_asked) {
		return false;
	}
	sample->copy.bytes = (const uint8_t *)bytes;
	sample->copy.nr_bytes = *nr_bytes;
	return true;
}

bool cpu_ring_decode(const struct perf_event_header *header, size_t nr_bytes,
	struct cpu_ring_form form, struct cpu_ring_sample *sample)
{
	struct words words = {(const uint64_t *)(const void *)(header + 1), 0};
	const uint64_t *time, *cpu;

	*sample = (struct cpu_ring_sample){0};
	if (nr_bytes < sizeof(*header) || header->type != PERF_RECORD_SAMPLE) {
		return false;
	}
	words.nr = (nr_bytes - sizeof(*header)) / sizeof(*words.at);
	if (!has_words(&words, 1, &time) || (form.has_switches && !has_words(&words, 1, &cpu))) {
		return false;
	}
	sample->monotonic_ns = *time;
	sample->is_copy = form.copies_stack;
	return form.copies_stack ? decode_copy(&words, sample) : decode_chain(&words, sample);
}

static bool find_what(const struct perf_event_header *header, enum cpu_ring_what *what)
{
	switch (header->type) {
	case PERF_RECORD_SWITCH:
		*what = !(header->misc & PERF_RECORD_MISC_SWITCH_OUT)	     ? CPU_RING_SWITCHED_IN
			: !mode.has_reasons				     ? CPU_RING_SWITCHED_OUT
			: header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? CPU_RING_PREEMPTED
									     : CPU_RING_BLOCKED;
		return true;
	case PERF_RECORD_EXIT:
		*what = CPU_RING_EXITED;
		return true;
	case PERF_RECORD_LOST:
		*what = CPU_RING_LOST;
		return true;
	default:
		return false;
	}
}

/* Time and CPU stand last in each of them (sample_id_all). */
bool cpu_ring_decode_switch(
	const struct perf_event_header *header, size_t nr_bytes, struct cpu_ring_switch *record)
{
	const struct {
		uint64_t time;
		uint32_t cpu, reserved;
	} *last = (const void *)((const char *)header + nr_bytes - sizeof(*last));

	if (nr_bytes < CPU_RING_SWITCH_BYTES || !find_what(header, &record->what)) {
		return false;
	}
	record->monotonic_ns = last->time;
	record->cpu = last->cpu;
	return true;
}

/*
 * A return address is that behind the call, perhaps of another function, so callers have the
 * address before it.
 */
uint32_t cpu_ring_frames(
	const struct cpu_ring_sample *sample, uint64_t *addresses, uint32_t most, bool *is_cut)
{
	uint32_t nr = 0;

	*is_cut = false;
	if (sample->is_copy && !sample->copy.pc) {
		return 0;
	}
	if (sample->is_copy) {
		return stack_walk(&sample->copy, addresses, most, is_cut, NULL);
	}
	for (uint64_t i = 0; i < sample->nr && nr < most; i++) {
		uint64_t address = sample->addresses[i];

		if (address < (uint64_t)PERF_CONTEXT_MAX) {
			addresses[nr] = nr ? address - 1 : address;
			nr++;
		}
	}
	return nr;
}

bool cpu_ring_decode_name(const struct perf_event_header *header, char *name, size_t nr_bytes)
{
	const struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char name[];
	} *record = (const void *)header;

	if (header->type != PERF_RECORD_COMM || header->size <= sizeof(*record)) {
		return false;
	}
	log_format(name, nr_bytes, "%.*s", (int)(header->size - sizeof(*record)), record->name);
	return true;
}

uint64_t cpu_ring_decode_lost(const struct perf_event_header *header)
{
	const struct {
		struct perf_event_header header;
		uint64_t id, nr;
	} *record = (const void *)header;

	return header->type == PERF_RECORD_LOST && header->size >= sizeof(*record) ? record->nr : 0;
}

/* Where no record follows, they are at most the periods of CPU time for which none was taken. */
uint64_t cpu_ring_lost(uint64_t cpu_ns, uint64_t period_ns, uint64_t nr_taken)
{
	uint64_t nr = cpu_ns / period_ns;

	return nr > nr_taken ? nr - nr_taken : 0;
}
