/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One event and one buffer for each thread. An event that new threads inherit needs a buffer for
 * each CPU, and an event for each pair of CPU and thread that is there at the start: on a machine
 * with 128 CPUs that adds over a millisecond to each pthread_create (about 10 us for each event),
 * where the event of a thread costs its creator nothing. The price is that a thread is found up to
 * an interval of reads after it began.
 *
 * The mapping of a buffer keeps its event alive, so its descriptor is closed at once: sampling uses
 * none of the target's numbers. The kernel does not copy such a mapping into a forked child, and
 * unmapping it ends the event. Without descriptors, prctl switches all events of this thread.
 *
 *   /proc/self/task --scan()--> open_task() --> ring of a thread
 *   ring --read_ring()--> cpu_sample_decode() --> add_sample() --> native_stack.c, code_map.c
 */
#include "collector/sample/cpu_sample.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector/format/format.h"
#include "collector/sample/code_map.h"
#include "collector/sample/native_stack.h"
#include "collector/step/step.h"
#include "collector/stream/batch.h"
#include "collector/stream/dictionary.h"
#include "collector/util/clock.h"
#include "collector/util/config.h"
#include "collector/util/dir.h"
#include "collector/util/file_text.h"
#include "collector/util/log.h"
#include "collector/util/loss.h"
#include "collector/util/memory.h"
#include "collector/util/mode.h"
#include "collector/util/notice.h"
#include "collector/util/private_fd.h"

/* Threads at the same time; a notice if there are more. */
#define MAX_THREADS 8192u
/* The kernel's own bound (kernel.perf_event_max_stack), unless an administrator has changed it. */
#define MAX_FRAMES 127u
#define READ_NS	   100000000u
/* The list of threads is read as rarely as its reading takes this part of the time. */
#define COST_PARTS 1000u
/* Header, time, number of frames, and all frames with a mark of context. */
#define RECORD_BYTES (sizeof(struct perf_event_header) + 8 * (2 + MAX_FRAMES + 1))
#define NAME_BYTES   16u
/* For the first size of a buffer: a stack of some 20 frames, and so many threads. */
#define USUAL_RECORD_BYTES 192u
#define USUAL_THREADS	   128u
/* The kernel's own, where /proc does not show it. */
#define DEFAULT_MLOCK_KB 516u

struct thread {
	uint32_t tid;
	bool is_seen;
	bool is_full; /* its buffer was, more than by half */
	char name[NAME_BYTES];
	struct perf_event_mmap_page *ring; /* NULL: not sampled */
};

static struct cpu_sample_state {
	uint64_t period_ns; /* 0: off */
	uint64_t due_ns, scan_due_ns;
	struct thread *threads;	   /* MAX_THREADS */
	uint32_t nr_threads, next; /* where a scan looks for the next one first */
	uint32_t own_tid;
	uint32_t first_ring_bytes, most_ring_bytes; /* without the first page */
	uint32_t page_bytes;
	uint64_t locked_bytes, max_locked_bytes;
	bool is_running, was_open;
} state;

/* ---- a thread's event ---- */

static void give_up(int code)
{
	static atomic_uint told_in;

	state.period_ns = 0;
	if (notice_is_first(&told_in)) {
		notice_add("no CPU samples", code,
			"the kernel refuses perf_event_open (%s): there are no CPU samples. Set "
			"kernel.perf_event_paranoid to 2 or less; in a container, also allow the "
			"call by its seccomp profile (docker run --cap-add PERFMON)",
			code == EACCES || code == EPERM ? "not permitted"
			: code == ENOSYS		? "no such call"
							: "error");
	}
}

static void report_no_room(int code)
{
	static atomic_uint told_in;

	if (notice_is_first(&told_in)) {
		notice_add("threads without CPU samples", code,
			"CPU samples of thread %u and perhaps others are missing: there is no more "
			"memory for them that a user may lock, or no descriptor, or there are over "
			"8,000 threads. Raise kernel.perf_event_mlock_kb, or ulimit -n",
			state.threads[state.nr_threads].tid);
	}
}

/* Does not ask for more frames than an administrator allows. */
static int open_event(uint32_t tid)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5, /* kernels since 4.8 know as much */
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = state.period_ns,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.exclude_callchain_kernel = 1,
		.comm = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.sample_max_stack = MAX_FRAMES};
	long fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == EOVERFLOW) {
		attr.sample_max_stack = 0;
		fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return fd < 0 ? -errno : (int)fd;
}

static void close_ring(struct thread *thread)
{
	size_t nr_bytes;

	if (thread->ring) {
		nr_bytes = state.page_bytes + thread->ring->data_size;
		munmap(thread->ring, nr_bytes);
		state.locked_bytes -= nr_bytes;
		thread->ring = NULL;
	}
}

/*
 * Maps a buffer; NULL: impossible. Kernels before 4.1 do not say where its data lie, and neither
 * does what the target may by now have opened at that number.
 */
static struct perf_event_mmap_page *map_ring(int fd, uint32_t ring_bytes)
{
	size_t nr_bytes = state.page_bytes + ring_bytes;
	struct perf_event_mmap_page *ring =
		mmap(NULL, nr_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (ring == MAP_FAILED) {
		return NULL;
	}
	if (ring->data_size != ring_bytes || ring->data_offset != state.page_bytes) {
		munmap(ring, nr_bytes);
		return NULL;
	}
	return ring;
}

/*
 * Gives the thread a new event with a buffer of that size, in place of the one that it has. Returns
 * 0 or -errno; then it keeps what it has.
 */
static int open_ring(struct thread *thread, uint32_t ring_bytes)
{
	size_t nr_bytes = state.page_bytes + ring_bytes;
	struct perf_event_mmap_page *ring;
	struct private_fd held;
	int fd;

	if (state.locked_bytes + nr_bytes > state.max_locked_bytes) {
		return -ENOMEM;
	}
	fd = open_event(thread->tid);
	if (fd < 0) {
		return fd;
	}
	private_fd_adopt(&held, fd);
	ring = map_ring(fd, ring_bytes);
	private_fd_close(&held);
	if (!ring) {
		return -ENOMEM;
	}
	close_ring(thread);
	thread->ring = ring;
	state.locked_bytes += nr_bytes;
	return 0;
}

/* Threads that run all the time, in deep stacks, get more room than those that wait. */
static void grow_ring(struct thread *thread)
{
	uint64_t bytes = 2 * thread->ring->data_size;

	thread->is_full = false;
	if (bytes <= state.most_ring_bytes) {
		open_ring(thread, (uint32_t)bytes);
	}
}

static void read_name(struct thread *thread)
{
	char path[64];

	log_format(path, sizeof(path), "/proc/self/task/%u/comm", thread->tid);
	file_text_read(path, thread->name, sizeof(thread->name));
	thread->name[strcspn(thread->name, "\n")] = 0;
}

/* ---- all threads ---- */

static bool is_shortage(int rc)
{
	return rc == -EMFILE || rc == -ENFILE || rc == -ENOMEM;
}

/* If the first thread is refused, all are; later refusals are of single threads. */
static void add_thread(uint32_t tid)
{
	struct thread *thread = &state.threads[state.nr_threads];
	int rc;

	*thread = (struct thread){.tid = tid, .is_seen = true};
	if (state.nr_threads == MAX_THREADS - 1) {
		report_no_room(0);
		return;
	}
	rc = open_ring(thread, state.first_ring_bytes);
	if (rc == -ENOMEM) {
		rc = open_ring(thread, state.page_bytes);
	}
	if (rc == -ESRCH) {
		return; /* it has ended */
	}
	if (rc && !is_shortage(rc) && !state.locked_bytes) {
		give_up(-rc);
		return;
	}
	if (rc) {
		report_no_room(-rc);
	}
	read_name(thread);
	state.nr_threads++;
}

static struct thread *find_thread(uint32_t tid)
{
	for (uint32_t i = 0; i < state.nr_threads; i++) {
		uint32_t at = (state.next + i) % state.nr_threads;

		if (state.threads[at].tid == tid) {
			state.next = at + 1;
			return &state.threads[at];
		}
	}
	return NULL;
}

static void look_at_task(void *unused, const char *name)
{
	uint32_t tid = (uint32_t)strtoull(name, NULL, 10);
	struct thread *thread;

	(void)unused;
	if (!tid || tid == state.own_tid || !state.period_ns) {
		return;
	}
	thread = find_thread(tid);
	if (thread) {
		thread->is_seen = true;
	} else {
		add_thread(tid);
	}
}

static void drop_ended(void)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < state.nr_threads; i++) {
		struct thread *thread = &state.threads[i];

		if (thread->is_seen) {
			thread->is_seen = false;
			state.threads[nr++] = *thread;
		} else {
			close_ring(thread);
		}
	}
	state.nr_threads = nr;
}

/* A thread that begins during the scan is in the next one. */
static void scan(uint64_t now_ns)
{
	uint64_t before_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

	state.next = 0;
	dir_each("/proc/self/task", look_at_task, NULL);
	drop_ended();
	state.scan_due_ns =
		now_ns + (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns) * COST_PARTS;
}

/* ---- samples ---- */

bool cpu_sample_decode(
	const struct perf_event_header *header, size_t nr_bytes, struct cpu_sample_record *sample)
{
	const uint64_t *words = (const uint64_t *)(const void *)(header + 1);
	size_t nr_words = nr_bytes / sizeof(*words) - 1; /* without the header */

	if (nr_bytes < sizeof(*header) || header->type != PERF_RECORD_SAMPLE || nr_words < 2 ||
		words[1] > nr_words - 2) {
		return false;
	}
	*sample = (struct cpu_sample_record){words[0], words + 2, words[1]};
	return true;
}

/*
 * Takes the places of the frames, the innermost first. A return address is that behind the call,
 * perhaps of another function, so callers have the address before it. Without frame pointers the
 * chain goes astray; it ends where there is no code.
 */
static uint32_t find_places(const struct cpu_sample_record *sample, struct code_place *places)
{
	uint32_t nr = 0;

	for (uint64_t i = 0; i < sample->nr && nr < MAX_FRAMES; i++) {
		uint64_t address = sample->addresses[i];

		if (address >= (uint64_t)PERF_CONTEXT_MAX) {
			continue;
		}
		if (!code_map_find(nr ? address - 1 : address, &places[nr])) {
			if (nr) {
				break;
			}
			code_map_want_memory();
		}
		nr++;
	}
	return nr;
}

static void add_sample(struct thread *thread, const struct cpu_sample_record *sample,
	const struct clock_anchor *now)
{
	struct code_place places[MAX_FRAMES];
	uint32_t nr = find_places(sample, places), stack = 0, name;
	struct gprof_row_cpu_sample *row;

	for (uint32_t i = nr; i > 0; i--) {
		stack = native_stack_add(stack, places[i - 1].file, places[i - 1].address);
	}
	name = dictionary_text(thread->name, strlen(thread->name));
	row = batch_add(GPROF_TABLE_cpu_sample);
	row->time = clock_raw_before(now, sample->monotonic_ns);
	row->ns = state.period_ns;
	row->task = thread->tid;
	row->native_stack = stack;
	row->name = name;
}

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char name[];
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, nr;
};

static void take_record(struct thread *thread, const struct perf_event_header *header,
	const struct clock_anchor *now, bool is_wanted)
{
	const struct comm_record *comm = (const void *)header;
	const struct lost_record *lost = (const void *)header;
	struct cpu_sample_record sample;

	if (header->type == PERF_RECORD_COMM && header->size > sizeof(*comm)) {
		log_format(thread->name, sizeof(thread->name), "%.*s",
			(int)(header->size - sizeof(*comm)), comm->name);
	} else if (header->type == PERF_RECORD_LOST && header->size >= sizeof(*lost) && is_wanted) {
		loss_add(LOSS_CPU_SAMPLE, lost->nr);
	} else if (is_wanted && cpu_sample_decode(header, header->size, &sample)) {
		add_sample(thread, &sample, now);
	}
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
static void read_ring(struct thread *thread, const struct clock_anchor *now, bool is_wanted)
{
	struct perf_event_mmap_page *ring = thread->ring;
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE), at = ring->data_tail;
	const char *data = (const char *)ring + ring->data_offset;
	union {
		struct perf_event_header header;
		uint64_t words[(RECORD_BYTES + 7) / 8];
	} record;

	thread->is_full = 2 * (head - at) > ring->data_size;
	while (head - at >= sizeof(record.header)) {
		copy_out(&record, data, at, ring->data_size, sizeof(record.header));
		if (record.header.size < sizeof(record.header) || record.header.size > head - at) {
			break; /* not as the kernel writes it */
		}
		if (record.header.size <= sizeof(record)) {
			copy_out(&record, data, at, ring->data_size, record.header.size);
			take_record(thread, &record.header, now, is_wanted);
		}
		at += record.header.size;
	}
	__atomic_store_n(&ring->data_tail, head, __ATOMIC_RELEASE);
}

/* Samples that the kernel takes after the anchor have its time, microseconds too early. */
static void read_all(bool is_wanted)
{
	struct clock_anchor now;

	code_map_look();
	now = clock_take_anchor();
	for (uint32_t i = 0; i < state.nr_threads; i++) {
		if (state.threads[i].ring) {
			read_ring(&state.threads[i], &now, is_wanted);
		}
		if (state.threads[i].is_full && state.is_running) {
			grow_ring(&state.threads[i]);
		}
	}
}

/* ---- when ---- */

static bool is_open(void)
{
	return (atomic_load(&collector_mode) & COLLECTOR_RECORD) != 0;
}

/* Before and in record windows. */
static bool is_wanted(void)
{
	return state.period_ns && (is_open() || step_wants_activity());
}

static void set_running(bool is_running)
{
	if (is_running != state.is_running) {
		state.is_running = is_running;
		prctl(is_running ? PR_TASK_PERF_EVENTS_ENABLE : PR_TASK_PERF_EVENTS_DISABLE);
	}
}

static void take(uint64_t now_ns)
{
	bool is_open_now = is_open();

	if (state.is_running && now_ns >= state.scan_due_ns) {
		scan(now_ns);
	}
	read_all(is_open_now || state.was_open);
	state.was_open = is_open_now;
	state.due_ns = now_ns + READ_NS;
}

/* Bytes that each user may lock for such buffers besides RLIMIT_MEMLOCK. */
static uint64_t find_max_locked(void)
{
	uint64_t kb;
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (!file_text_number("/proc/sys/kernel/perf_event_mlock_kb", "", &kb)) {
		kb = DEFAULT_MLOCK_KB;
	}
	return kb * 1024 * (nr_cpus > 0 ? (uint64_t)nr_cpus : 1);
}

/* The room for what the kernel takes between two reads, with records of that size. */
static uint32_t find_ring_bytes(uint64_t hz, uint64_t record_bytes, uint64_t most)
{
	uint64_t bytes = state.page_bytes, wanted = hz * record_bytes * READ_NS / 1000000000u;

	while (bytes < wanted && bytes * 2 <= most) {
		bytes *= 2;
	}
	return (uint32_t)bytes;
}

void cpu_sample_init(void)
{
	uint64_t hz = config_number(CONFIG_CPU_HZ);
	long page_bytes = sysconf(_SC_PAGESIZE);
	static atomic_uint told_in;

	if (!hz || config_flag(CONFIG_TIMER_ONLY) || page_bytes <= 0) {
		return;
	}
	if (!state.threads) {
		state.threads = memory_map(MAX_THREADS * sizeof(*state.threads));
	}
	if (!state.threads || native_stack_init()) {
		notice_no_memory(&told_in, "what the CPUs do");
		return;
	}
	state.own_tid = (uint32_t)syscall(SYS_gettid);
	state.page_bytes = (uint32_t)page_bytes;
	state.max_locked_bytes = find_max_locked();
	state.first_ring_bytes =
		find_ring_bytes(hz, USUAL_RECORD_BYTES, state.max_locked_bytes / USUAL_THREADS);
	/* Two reads may lie twice as far apart where CPUs are scarce. */
	state.most_ring_bytes = find_ring_bytes(2 * hz, RECORD_BYTES, state.max_locked_bytes);
	state.period_ns = 1000000000u / hz;
	state.is_running = true;
}

void cpu_sample_take(uint64_t now_ns)
{
	if (!state.period_ns) {
		return;
	}
	if (is_wanted() != state.is_running) {
		set_running(!state.is_running);
		take(now_ns);
	} else if (state.is_running && now_ns >= state.due_ns) {
		take(now_ns);
	}
}

uint64_t cpu_sample_due_ns(void)
{
	return is_wanted() ? state.due_ns : UINT64_MAX;
}

/* First the pointer, then the memory: a fork in between must not leave a child with a stale one. */
static void fini(void)
{
	struct thread *threads = state.threads;

	memset(&state, 0, sizeof(state));
	if (threads) {
		munmap(threads, MAX_THREADS * sizeof(*threads));
	}
	native_stack_fini();
	code_map_fini();
}

void cpu_sample_end(void)
{
	if (!state.threads) {
		return;
	}
	if (state.period_ns) {
		take(clock_monotonic_ns());
	}
	for (uint32_t i = 0; i < state.nr_threads; i++) {
		close_ring(&state.threads[i]);
	}
	fini();
}

/* The drain may have been at work when the program forked, so the memory is kept and used again. */
void cpu_sample_forget(void)
{
	if (state.threads) {
		state = (struct cpu_sample_state){.threads = state.threads};
		code_map_forget();
	}
}
