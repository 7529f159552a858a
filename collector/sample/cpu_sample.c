/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One event and one buffer for each thread. An event that new threads inherit needs a buffer for
 * each CPU, and an event for each pair of CPU and thread that is there at the start: on a machine
 * with 128 CPUs that adds over a millisecond to each pthread_create (about 10 us for each event),
 * where the event of a thread costs its creator nothing. The price is that a thread is found up to
 * an interval of reads after it began: most say that they begin, a scan finds the others. Without
 * descriptors, prctl switches all events of this thread.
 *
 *   task_list.c --scan()--> open_ring() --> ring of a thread (cpu_ring.c)
 *   ring --read_ring()--> cpu_ring_decode() --> add_sample() --> stack_walk.c, code_map.c
 *                         cpu_ring_decode_switch() --> thread_switches.c
 *
 * The kernel knows nothing of Python's frames. So where a thread runs Python, each of its samples
 * wakes the drain, which reads the frames out of the interpreter's memory at once
 * (cpu_sample_catch), mostly within 100 us. What it reads later than MOMENT_PARTS allows is another
 * moment's, and the sample says that it has none.
 *
 * Where the kernel refuses events, the drain looks at the threads of Python itself, as often
 * (look_at_python). What one runs whose CPU clock advances meanwhile stands for the CPU time that
 * it has used since. Machine functions are unknown then.
 */
#include "collector/sample/cpu_sample.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector/format/format.h"
#include "collector/ring/python_frames.h"
#include "collector/ring/ring.h"
#include "collector/sample/code_map.h"
#include "collector/sample/cpu_notice.h"
#include "collector/sample/cpu_ring.h"
#include "collector/sample/cpu_room.h"
#include "collector/sample/gil_sample.h"
#include "collector/sample/native_stack.h"
#include "collector/sample/new_threads.h"
#include "collector/sample/python_sample.h"
#include "collector/sample/stack_walk.h"
#include "collector/sample/task_list.h"
#include "collector/sample/thread_switches.h"
#include "collector/sample/wait_sample.h"
#include "collector/step/step.h"
#include "collector/stream/batch.h"
#include "collector/stream/dictionary.h"
#include "collector/stream/facts.h"
#include "collector/util/clock.h"
#include "collector/util/config.h"
#include "collector/util/cpus.h"
#include "collector/util/loss.h"
#include "collector/util/memory.h"
#include "collector/util/mode.h"
#include "collector/util/notice.h"

/* Threads at the same time; further ones are counted. */
#define MAX_THREADS 8192u
#define READ_NS	    100000000u
/* Threads that each read looks at, where a scan of all may be due later. */
#define MAX_RECENT 64u
/* Python frames read later than this fraction of a period after the sample no longer match it. */
#define MOMENT_PARTS 8u
/* The list of threads is read as rarely as its reading takes this part of the time. */
#define COST_PARTS 1000u
#define NAME_BYTES 16u

struct thread {
	uint32_t tid;
	bool is_seen;
	bool is_full;	  /* its buffer is to grow */
	bool wakes;	  /* each of its samples wakes this thread */
	bool copies;	  /* it has a buffer with copies of its stack */
	bool is_tried;	  /* to be sampled */
	bool is_choked;	  /* records after those that were read may have found no room */
	uint32_t nr_lost; /* perhaps, after the last record */
	uint64_t cpu_ns;  /* that it had used when records were last read, or samples end with */
	uint64_t read_ns; /* CLOCK_MONOTONIC of that */
	uintptr_t python; /* its state in the interpreter, 0: none */
	char name[NAME_BYTES];
	struct perf_event_mmap_page *ring; /* NULL: not sampled */
	struct thread_switches switches;
};

static struct cpu_sample_state {
	uint64_t period_ns; /* 0: off */
	bool has_samples, has_switches;
	uint64_t due_ns, scan_due_ns;
	struct thread *threads;		   /* MAX_THREADS */
	uint32_t nr_threads, next;	   /* where a scan looks for the next one first */
	uint32_t nr_more, nr_more_counted; /* beyond MAX_THREADS */
	uint32_t own_tid;
	uint32_t nr_uncopied; /* threads whose stacks found no room for copies */
	bool is_running, was_open;
	bool copies;	    /* stacks; else the kernel follows frame pointers */
	bool awaits_signal; /* buffers with records send it */
	bool is_refused;    /* no thread gets an event */
	bool is_looking;    /* at threads of Python without an event */
	bool has_looked;
	uint64_t look_due_ns, wait_due_ns;
	const struct python_sampler *python; /* NULL: no Python */
	/* The state of the read that is under way. */
	struct clock_anchor now;
	bool is_wanted;
	struct python_moment moment;
} state;

static void read_ring(struct thread *thread);
static void finish_ring(struct thread *thread);

/* ---- a thread's event ---- */

static void give_up(int code)
{
	state.is_refused = state.is_looking = true;
	if (cpu_ring_is_filtered()) {
		cpu_notice_filter();
	} else {
		cpu_notice_refused(code);
	}
}

static void report_no_room(uint32_t tid, int code)
{
	loss_add(LOSS_CPU_THREAD, 1);
	if (cpu_ring_is_filtered()) {
		state.is_looking = true;
		cpu_notice_filter();
	} else {
		cpu_notice_no_room(tid, code);
	}
}

static void close_ring(struct thread *thread)
{
	if (thread->ring) {
		cpu_room_give_back((uint32_t)thread->ring->data_size, thread->copies);
		cpu_ring_close(thread->ring);
		thread->ring = NULL;
		thread->copies = false;
	}
}

static void on_foreign_signal(int signal)
{
	cpu_notice_signal(signal, state.python != NULL);
}

static void await_signal(void)
{
	if (!state.awaits_signal) {
		state.awaits_signal = true;
		ring_wait_for_signal(CPU_RING_SIGNAL, on_foreign_signal);
		cpus_hurry(true);
	}
}

/*
 * Gives the thread a new event with a buffer of that size, in place of the one that it has. Returns
 * 0 or -errno; then it keeps what it has.
 */
static int open_ring(struct thread *thread, uint32_t ring_bytes, bool copies)
{
	bool wakes = thread->python != 0;
	const struct cpu_ring_want want = {.tid = thread->tid,
		.period_ns = state.has_samples ? state.period_ns : 0,
		.ring_bytes = ring_bytes,
		.waked_tid = wakes || copies || state.has_switches ? (int)state.own_tid : 0,
		.wakes_early = wakes,
		.copies_stack = copies,
		.has_switches = state.has_switches};
	struct perf_event_mmap_page *ring;
	uint64_t opened_ns;
	int rc;

	if (!cpu_room_take(ring_bytes, copies)) {
		return -ENOMEM;
	}
	rc = cpu_ring_open(&ring, &want);
	if (rc) {
		cpu_room_give_back(ring_bytes, copies);
		return rc;
	}
	opened_ns = clock_monotonic_ns();
	if (thread->ring) {
		read_ring(thread);
	}
	if (!thread->ring || thread->is_choked) {
		thread_switches_begin(&thread->switches, &state.now, opened_ns);
	}
	if (thread->ring) {
		finish_ring(thread);
	}
	if (want.waked_tid) {
		await_signal();
	}
	thread->ring = ring;
	thread->wakes = wakes;
	thread->copies = copies;
	return 0;
}

/* Where there is no room for copies of its stack, or the kernel makes none, it has frame pointers.
 */
static int open_first_ring(struct thread *thread)
{
	bool is_main = thread->tid == (uint32_t)getpid();
	int rc = -EINVAL;

	if (state.copies) {
		rc = open_ring(thread, cpu_room_first(is_main, true), true);
		state.copies = rc != -EINVAL && rc != -EOPNOTSUPP;
	}
	if (state.copies && rc != -ENOMEM) {
		return rc;
	}
	rc = open_ring(thread, cpu_room_first(is_main, false), false);
	if (rc == -ENOMEM) {
		rc = open_ring(thread, cpu_room_least(), false);
	}
	state.nr_uncopied += state.copies && !rc;
	return rc;
}

/* Threads that run all the time, in deep stacks, get more room than those that wait. */
static void grow_ring(struct thread *thread)
{
	uint32_t bytes = cpu_room_larger((uint32_t)thread->ring->data_size, thread->copies);

	thread->is_full = false;
	if (bytes) {
		open_ring(thread, bytes, thread->copies);
	}
}

/* ---- all threads ---- */

static bool is_shortage(int rc)
{
	return rc == -EMFILE || rc == -ENFILE || rc == -ENOMEM;
}

/* If the first thread is refused, all are; later refusals are of single threads. */
static void sample(struct thread *thread)
{
	int rc = state.is_refused ? 0 : open_first_ring(thread);

	thread->is_tried = true;
	thread->cpu_ns = clock_thread_cpu_ns(thread->tid);
	thread->read_ns = state.now.monotonic_ns;
	if (rc == -ESRCH) {
		return; /* it has ended */
	}
	if (rc && !is_shortage(rc) && cpu_room_is_free()) {
		give_up(-rc);
	} else if (rc) {
		report_no_room(thread->tid, -rc);
	}
	task_read_name(thread->tid, thread->name, sizeof(thread->name));
}

static void add_thread(uint32_t tid)
{
	struct thread *thread = &state.threads[state.nr_threads];

	if (state.nr_threads == MAX_THREADS - 1) {
		if (state.nr_more++ == state.nr_more_counted) {
			state.nr_more_counted++;
			report_no_room(tid, 0);
		}
		return;
	}
	*thread = (struct thread){.tid = tid, .is_seen = true};
	state.nr_threads++;
}

/*
 * Opening takes low numbers of the program's for an instant. So threads that hardly run are not
 * sampled, but for those of the start, for which the program waits.
 */
static void sample_those_that_run(uint32_t first, bool is_start)
{
	for (uint32_t i = first; i < state.nr_threads; i++) {
		struct thread *thread = &state.threads[i];

		if (!thread->is_tried &&
			(is_start || state.has_switches ||
				clock_thread_cpu_ns(thread->tid) >= state.period_ns)) {
			sample(thread);
		}
	}
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
		} else if (thread->ring) {
			read_ring(thread);
			finish_ring(thread);
		}
	}
	state.nr_threads = nr;
}

/* Looks whether those that are known are all, and drops the ones that have ended. */
static bool knows_all(uint64_t now_ns)
{
	if (task_list_has(state.nr_threads + 1, now_ns)) { /* with this one */
		return true;
	}
	for (uint32_t i = 0; i < state.nr_threads; i++) {
		state.threads[i].is_seen = task_exists(state.threads[i].tid);
	}
	drop_ended();
	return task_list_has(state.nr_threads + 1, now_ns);
}

static void add_begun(uint32_t tid)
{
	if (!find_thread(tid)) {
		add_thread(tid);
	}
}

/* ---- threads of Python ---- */

static void on_python_thread(void *unused, uint32_t tid, uintptr_t python)
{
	struct thread *thread = tid == state.own_tid ? NULL : find_thread(tid);

	(void)unused;
	if (thread && !thread->ring && !thread->python) {
		thread->cpu_ns = clock_thread_cpu_ns(tid); /* looks begin */
	}
	if (thread && (thread->ring || state.is_looking)) {
		thread->python = python;
	}
	if (thread && thread->ring && !thread->wakes) {
		open_ring(thread, (uint32_t)thread->ring->data_size, thread->copies);
	}
	if (thread && thread->is_tried) {
		wait_sample_thread(tid, python, thread->name);
	}
}

/* Python may come later than we. */
static void find_python(void)
{
	const struct python_sampler *python =
		atomic_load_explicit(&python_sampler, memory_order_acquire);
	static atomic_uint told_in;

	if (python && !state.python && python->find()) {
		if (python_sample_init()) {
			notice_no_memory(&told_in, "Python stacks of CPU samples");
			return;
		}
		state.python = python;
		cpus_hurry(true); /* also where the kernel takes no samples */
	}
}

/*
 * Without Python, waits have no lines, and each thread costs a descriptor. So they are sampled only
 * if the user set GPROF_CPU_HZ.
 */
static void find_waiters(void)
{
	bool is_native = !state.python && config_is_given(CONFIG_CPU_HZ);

	wait_sample_begin_threads();
	if (state.python) {
		state.next = 0;
		state.python->each_thread(on_python_thread, NULL);
	}
	for (uint32_t i = 0; is_native && i < state.nr_threads; i++) {
		if (state.threads[i].is_tried) {
			wait_sample_thread(state.threads[i].tid, 0, state.threads[i].name);
		}
	}
	wait_sample_end_threads(&state.now);
}

/*
 * A thread that begins during the scan is in the next one. That Python is found takes long, and
 * happens once.
 */
static void scan(uint64_t now_ns, bool is_start)
{
	uint64_t before_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID), cost_ns;
	bool had_python = state.python != NULL;

	state.next = state.nr_more = 0;
	if (!knows_all(now_ns)) {
		task_list_read(now_ns, look_at_task, NULL);
		drop_ended();
	}
	sample_those_that_run(0, is_start);
	if (state.has_samples) {
		find_python();
		find_waiters();
	}
	cost_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
	state.scan_due_ns = now_ns + (had_python || !state.python ? cost_ns * COST_PARTS : 0);
}

/* ---- samples ---- */

/* A thread that ran no Python code then has no such stack. */
static uint32_t find_python_stack(const struct thread *thread, uint64_t sample_ns)
{
	return thread->python ? python_sample_at(state.python, &state.moment, sample_ns,
					state.period_ns / MOMENT_PARTS)
			      : 0;
}

static void add_row(const struct thread *thread, uint64_t monotonic_ns, uint64_t ns,
	uint32_t native_stack, uint32_t py_stack)
{
	uint32_t name = dictionary_text(thread->name, strlen(thread->name));
	struct gprof_row_cpu_sample *row = batch_add(GPROF_TABLE_cpu_sample);

	row->time = clock_raw_before(&state.now, monotonic_ns);
	row->ns = ns;
	row->task = thread->tid;
	row->native_stack = native_stack;
	row->name = name;
	row->py_stack = py_stack;
}

static void add_sample(const struct thread *thread, const struct cpu_ring_sample *sample)
{
	uint64_t addresses[CODE_MAP_MAX_FRAMES];
	uint32_t python = find_python_stack(thread, sample->monotonic_ns), nr;
	bool is_cut;

	nr = cpu_ring_frames(sample, addresses, CODE_MAP_MAX_FRAMES, &is_cut);
	add_row(thread, sample->monotonic_ns, state.period_ns,
		code_map_stack(addresses, nr, is_cut), python);
}

struct reading {
	struct thread *thread;
	uint32_t nr_samples;
	uint32_t most_bytes; /* of a record */
};

static struct thread_switches_of switches_of(const struct thread *thread, bool is_wanted)
{
	return (struct thread_switches_of){thread->tid, thread->name, &state.now, is_wanted};
}

static void take_record(void *context, const struct perf_event_header *header)
{
	struct reading *reading = context;
	struct thread *thread = reading->thread;
	const struct thread_switches_of of = switches_of(thread, state.is_wanted);
	const struct cpu_ring_form form = {thread->copies, state.has_switches};
	uint64_t nr_lost = cpu_ring_decode_lost(header);
	struct cpu_ring_sample sample;
	struct cpu_ring_switch record;

	reading->most_bytes =
		header->size > reading->most_bytes ? header->size : reading->most_bytes;
	loss_add(state.has_switches ? LOSS_SWITCH : LOSS_CPU_SAMPLE, state.is_wanted ? nr_lost : 0);
	if (state.has_switches && cpu_ring_decode_switch(header, header->size, &record)) {
		thread_switches_add(&thread->switches, &of, &record);
	} else if (!cpu_ring_decode_name(header, thread->name, sizeof(thread->name)) &&
		   cpu_ring_decode(header, header->size, form, &sample)) {
		reading->nr_samples++;
		if (state.is_wanted) {
			add_sample(thread, &sample);
		}
	}
}

/* The CPU time of the thread since the last read; of one that has ended, the time. */
static uint64_t take_cpu_ns(struct thread *thread)
{
	uint64_t cpu_ns = clock_thread_cpu_ns(thread->tid), used_ns = cpu_ns - thread->cpu_ns;

	if (cpu_ns <= thread->cpu_ns) {
		used_ns = state.now.monotonic_ns - thread->read_ns;
	}
	thread->cpu_ns = cpu_ns;
	thread->read_ns = state.now.monotonic_ns;
	return used_ns;
}

static void read_ring(struct thread *thread)
{
	struct reading reading = {.thread = thread};
	uint64_t ring_bytes = thread->ring->data_size, nr_bytes, used_ns;
	bool is_choked;

	nr_bytes = cpu_ring_read(thread->ring, take_record, &reading);
	is_choked = nr_bytes + reading.most_bytes >= ring_bytes;
	thread->is_full |=
		thread->copies ? 4 * nr_bytes > 3 * ring_bytes : 2 * nr_bytes > ring_bytes;
	if (nr_bytes) {
		thread->is_choked = is_choked;
		used_ns = take_cpu_ns(thread);
		thread->nr_lost = is_choked && state.is_wanted && state.has_samples
					  ? (uint32_t)cpu_ring_lost(
						    used_ns, state.period_ns, reading.nr_samples)
					  : 0;
	}
}

/* After the last look at a thread's buffer. */
static void finish_ring(struct thread *thread)
{
	loss_add(LOSS_CPU_SAMPLE, thread->nr_lost);
	loss_add(LOSS_SWITCH, state.has_switches && state.is_wanted && thread->is_choked);
	thread->nr_lost = 0;
	thread->is_choked = false;
	close_ring(thread);
}

static void begin_read(bool is_wanted)
{
	code_map_look();
	state.is_wanted = is_wanted;
	state.now = clock_take_anchor();
}

/* Samples that the kernel takes after the anchor have its time, microseconds too early. */
static void read_all(void)
{
	for (uint32_t i = 0; i < state.nr_threads; i++) {
		if (state.threads[i].ring) {
			read_ring(&state.threads[i]);
		}
		if (state.threads[i].is_full && state.is_running) {
			grow_ring(&state.threads[i]);
		}
	}
}

/* What threads have done so far has rows, or none if it is not wanted. */
static void cut_switches(bool is_wanted, bool goes_on)
{
	for (uint32_t i = 0; i < state.nr_threads && state.has_switches; i++) {
		const struct thread_switches_of of =
			switches_of(&state.threads[i], is_wanted && !state.threads[i].is_choked);

		(goes_on ? thread_switches_cut : thread_switches_end)(
			&state.threads[i].switches, &of);
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
	state.is_running = is_running;
	if (!is_running) {
		wait_sample_look(state.python, &state.now, false);
		gil_sample_stop();
	}
	for (uint32_t i = 0; i < state.nr_threads && is_running; i++) {
		thread_switches_begin(&state.threads[i].switches, &state.now, clock_monotonic_ns());
	}
	if (!state.is_refused) { /* else there is nothing to switch */
		prctl(is_running ? PR_TASK_PERF_EVENTS_ENABLE : PR_TASK_PERF_EVENTS_DISABLE);
	}
}

/*
 * Reads the Python frames of the threads that have a new sample, each before the sample itself, as
 * soon as possible.
 */
static bool catch_python(void)
{
	struct python_moment *moment = &state.moment;
	bool has_any = false;

	for (uint32_t i = 0; state.python && i < state.nr_threads; i++) {
		struct thread *thread = &state.threads[i];
		enum python_read result;

		if (!thread->python || !thread->ring || !cpu_ring_has_records(thread->ring)) {
			continue;
		}
		has_any = true;
		result = state.python->read(thread->tid, thread->python, &moment->stack);
		moment->ns = clock_monotonic_ns();
		moment->is_read = result == PYTHON_READ_STACK;
		begin_read(is_open() || state.was_open);
		read_ring(thread);
		if (result == PYTHON_READ_GONE) {
			thread->python = 0;
		}
		moment->is_read = false;
	}
	return has_any;
}

/* Others are read with Python's frames, or are read in time. */
static bool wakes_half_full(const struct thread *thread)
{
	return thread->ring && !thread->python && (thread->copies || state.has_switches);
}

/* Reads such buffers once one is half full: then none is for as long as that took. */
static bool catch_half_full(void)
{
	struct thread *end = state.threads + state.nr_threads, *at = state.threads;

	while (at < end && !(wakes_half_full(at) && cpu_ring_is_half_full(at->ring))) {
		at++;
	}
	if (at == end) {
		return false;
	}
	begin_read(is_open() || state.was_open);
	for (at = state.threads; at < end; at++) {
		if (wakes_half_full(at)) {
			read_ring(at);
		}
	}
	return true;
}

/* Looks at one, and adds the samples that this gives. */
static void look_at_thread(struct thread *thread, bool is_wanted)
{
	uint64_t nr;

	state.moment.ns = state.now.monotonic_ns;
	nr = python_sample_look(state.python,
		&(const struct python_looked){
			thread->tid, &thread->python, &thread->cpu_ns, state.period_ns, is_wanted},
		&state.moment);
	for (; nr; nr--) {
		add_row(thread, state.moment.ns, state.period_ns, 0,
			python_sample_at(state.python, &state.moment, state.moment.ns, 0));
	}
	state.moment.is_read = false;
}

/* Instead of the kernel's samples. The first look, and one after a closed window, only begins. */
static void look_at_python(uint64_t now_ns)
{
	bool is_wanted = state.has_looked && is_open();

	state.now = clock_take_anchor();
	for (uint32_t i = 0; i < state.nr_threads; i++) {
		if (state.threads[i].python && !state.threads[i].ring &&
			state.threads[i].is_tried) {
			look_at_thread(&state.threads[i], is_wanted);
		}
	}
	state.has_looked = is_open();
	state.look_due_ns = now_ns + state.period_ns;
}

static const char *name_of(uint32_t tid)
{
	const struct thread *thread = find_thread(tid);

	return thread ? thread->name : "";
}

/* Looks at what threads wait for and who holds Python's lock, which nothing else sees. */
static void look_at_waits(uint64_t now_ns)
{
	uint64_t next_ns;

	state.now = clock_take_anchor();
	next_ns = wait_sample_look(state.python, &state.now, is_open());
	gil_sample_look(is_open() ? state.python : NULL, &state.now, name_of);
	state.wait_due_ns = now_ns + (next_ns > state.period_ns ? next_ns : state.period_ns);
}

static void take(uint64_t now_ns)
{
	bool is_open_now = is_open();
	uint32_t nr_recent;

	cpu_ring_check_filter();
	catch_python();
	begin_read(is_open_now || state.was_open);
	read_all();
	if (!is_open_now) {
		cut_switches(state.was_open, state.is_running);
	}
	if (state.is_running) {
		new_threads_each(add_begun);
		nr_recent = state.nr_threads < MAX_RECENT ? state.nr_threads : MAX_RECENT;
		sample_those_that_run(state.nr_threads - nr_recent, false);
	}
	if (state.is_running && now_ns >= state.scan_due_ns) {
		scan(now_ns, false);
	}
	state.was_open = is_open_now;
	state.due_ns = now_ns + READ_NS;
}

void cpu_sample_init(void)
{
	uint64_t hz = config_number(CONFIG_CPU_HZ);
	static atomic_uint told_in;

	state.has_samples = hz != 0;
	state.has_switches = config_number(CONFIG_SCHED) == SCHED_ON;
	if ((!hz && !state.has_switches) || config_flag(CONFIG_TIMER_ONLY)) {
		return;
	}
	hz = hz ? hz : 1;
	if (!state.threads) {
		state.threads = memory_map(MAX_THREADS * sizeof(*state.threads));
	}
	if (!state.threads || native_stack_init()) {
		notice_no_memory(&told_in, "what the CPUs do");
		return;
	}
	state.own_tid = (uint32_t)syscall(SYS_gettid);
	/* Where nobody asks for samples, other profilers of this user keep half. */
	cpu_room_begin(
		hz, config_is_given(CONFIG_CPU_HZ) || state.has_switches, state.has_switches);
	state.copies = state.has_samples && cpu_room_has_copies() && stack_walk_init();
	state.period_ns = 1000000000u / hz;
	state.is_running = true;
	cpu_ring_begin(config_is_given(CONFIG_CPU_HZ) || state.has_switches);
	new_threads_want(true);
	/* Now, while the program waits for the start: files that are opened later take low numbers.
	 */
	state.now = clock_take_anchor();
	scan(state.now.monotonic_ns, true);
	if (state.has_samples) {
		facts_add_number(
			"cpu_samples.has_kernel", state.is_refused || cpu_ring_has_kernel());
		facts_add_number(
			"cpu_samples.stack_bytes", state.copies ? CPU_RING_STACK_BYTES : 0);
	}
}

bool cpu_sample_catch(void)
{
	uint64_t now_ns;
	bool has_any;

	if (!state.is_running) {
		return false;
	}
	has_any = catch_python();
	has_any |= catch_half_full();
	now_ns = clock_monotonic_ns();
	if (state.python && state.is_looking && now_ns >= state.look_due_ns) {
		look_at_python(now_ns);
		has_any = true;
	}
	if (wait_sample_has_threads() && now_ns >= state.wait_due_ns) {
		look_at_waits(now_ns);
		has_any = true;
	}
	return has_any;
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
	uint64_t due_ns = state.due_ns;

	if (!is_wanted()) {
		return UINT64_MAX;
	}
	if (state.python && state.is_looking && state.look_due_ns < due_ns) {
		due_ns = state.look_due_ns;
	}
	return wait_sample_has_threads() && state.wait_due_ns < due_ns ? state.wait_due_ns : due_ns;
}

/* First the pointer, then the memory: a fork in between must not leave a child with a stale one. */
static void fini(void)
{
	struct thread *threads = state.threads;

	memset(&state, 0, sizeof(state));
	if (threads) {
		munmap(threads, MAX_THREADS * sizeof(*threads));
	}
	task_list_forget();
	wait_sample_forget();
	gil_sample_stop();
	python_sample_fini();
}

void cpu_sample_end(void)
{
	new_threads_want(false);
	if (!state.threads) {
		return;
	}
	if (state.period_ns) {
		facts_add_number("cpu_samples.threads_without_copies", state.nr_uncopied);
		take(clock_monotonic_ns());
	}
	wait_sample_look(state.python, &state.now, false);
	cut_switches(state.is_wanted, false);
	for (uint32_t i = 0; i < state.nr_threads; i++) {
		if (state.threads[i].ring) {
			finish_ring(&state.threads[i]);
		}
	}
	if (state.awaits_signal) {
		ring_wait_for_signal(0, NULL);
	}
	if (state.awaits_signal || state.python) {
		cpus_hurry(false);
	}
	fini();
}

/* The drain may have been at work when the program forked, so the memory is kept and used again. */
void cpu_sample_forget(void)
{
	new_threads_forget();
	if (state.threads) {
		state = (struct cpu_sample_state){.threads = state.threads};
		task_list_forget();
		wait_sample_forget();
		gil_sample_stop();
		code_map_forget();
	}
}
