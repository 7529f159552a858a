/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One loop: it sleeps until a flush, a sample or a command is due or a thread wakes it, takes what
 * the rings and CUPTI have, and every GPROF_FLUSH_MS writes a group of blocks. Only this thread
 * writes the stream, so batches, dictionary and encoder need no lock. Threads of the target that
 * need it (the end of the process, a switch) leave a request in an atomic variable and wait for a
 * bounded time.
 *
 *   rings ------------ ring_read() ------> ring_to_rows.c --+
 *                                                           +--> batch --> block --> stream file
 *   CUPTI's buffers -- activity_drain() -> record.c --------+
 */
#include "collector/drain.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector/cupti/activity.h"
#include "collector/cupti/buffer.h"
#include "collector/cupti/cupti.h"
#include "collector/cupti/cupti_share.h"
#include "collector/cupti/device.h"
#include "collector/cupti/cupti_pm.h"
#include "collector/cupti/share_clock.h"
#include "collector/hang/hang.h"
#include "collector/ring/correlation_ids.h"
#include "collector/ring/ending.h"
#include "collector/ring/os_counts.h"
#include "collector/ring/ring.h"
#include "collector/ring_to_rows.h"
#include "collector/sample/call_site.h"
#include "collector/sample/cpu_sample.h"
#include "collector/sample/launch_stack.h"
#include "collector/sample/nvml.h"
#include "collector/sample/sample.h"
#include "collector/startup.h"
#include "collector/step/control.h"
#include "collector/step/period.h"
#include "collector/step/step.h"
#include "collector/step/window.h"
#include "collector/stream/batch.h"
#include "collector/stream/calls.h"
#include "collector/stream/dictionary.h"
#include "collector/stream/facts.h"
#include "collector/stream/leftover.h"
#include "collector/stream/loss_rows.h"
#include "collector/stream/stream.h"
#include "collector/thread.h"
#include "collector/util/clock.h"
#include "collector/util/config.h"
#include "collector/util/cpus.h"
#include "collector/util/log.h"
#include "collector/util/loss.h"
#include "collector/util/mode.h"
#include "collector/util/notice.h"
#include "collector/util/pace.h"
#include "collector/util/start_progress.h"
#include "collector/util/target.h"

/* In 1/256: a fuller pool is written at once, whatever the time. */
#define FLUSH_FILL 48u
/* At the end the target waits while there is progress, and at most this long without any. */
#define STALL_NS    1000000000u
#define MS_NS	    1000000u
#define MOMENT_NS   200000u
#define STACK_BYTES (256u << 10)
/* Once the stream is full, it says so often how much is lost, if the rings do not fill earlier. */
#define FULL_NS 5000000000u
/* The thread that starts the recorder has this long to let the first event in. */
#define START_MS 20u
/* Interval of checks whether the target's last thread has ended, once its main thread has. */
#define LONELY_MS 10u

enum { SWITCH_NONE, SWITCH_ON, SWITCH_OFF };

static struct drain_state {
	struct block_ticks ticks;
	uint32_t flush_ms;
	uint64_t flushed_ns; /* CLOCK_MONOTONIC of the last flush */
	uint64_t grouped_ns; /* of the last group in the stream */
	uint64_t stepped_ns; /* of the last interval step */
	uint64_t counted;    /* clock_raw when counted calls were last taken */
	uint64_t nr_lost;
	atomic_bool is_attached;
	bool has_cuda_facts;
	bool was_wanted; /* whether CUPTI was, at the last look */
	uint64_t nr_windows;
	bool is_late; /* forked after CUDA was in use; the notice is still missing */
	atomic_bool is_leaving;
	atomic_bool has_open_counts; /* it took counts that no closed group of the stream has yet */
	atomic_uint nr_asked, nr_answered; /* by drain_catch_up */
	atomic_uint switch_to;		   /* by drain_switch, 0: nothing new */
	atomic_bool is_stopping;
	atomic_bool is_done;
	struct drain_owner owner;
	atomic_int tid; /* of the thread, 0 before its first instruction */
	atomic_uint progress;
	const char *how;
	sigset_t signal_mask; /* of the thread that started the recorder */
	struct drain_result result;
} drain;

/* CUPTI's side is made by the attaching thread; before that it must not even be looked at. */
static void drain_activity(void)
{
	if (atomic_load(&drain.is_attached) && activity_drain()) {
		atomic_fetch_add(&drain.progress, 1);
	}
}

static void flush_activity(bool is_last)
{
	window_flush_begins();
	if (atomic_load(&drain.is_attached)) {
		cupti_share_flush(is_last);
	}
}

/* ---- a flush ---- */

static void add_anchor(void)
{
	struct clock_anchor anchor = clock_take_anchor();
	struct gprof_row_anchor *row = batch_add(GPROF_TABLE_anchor);
	struct clock_pair pair;

	row->tick = anchor.raw;
	row->monotonic_ns = anchor.monotonic_ns;
	row->realtime_ns = anchor.realtime_ns;
	row->error_ns = anchor.error_ns;
	if (atomic_load(&drain.is_attached) && cupti_is_live() &&
		share_clock_read_pair(clock_raw, cupti_timestamp, &pair)) {
		/* Taken shortly after the anchor: ticks are ns, close enough for that distance. */
		row->cupti_ns = pair.theirs - (block_tick(&drain.ticks, pair.ours) -
						      block_tick(&drain.ticks, anchor.raw));
	}
}

static void add_position(
	void *context, struct ring_thread *thread, uint32_t chunk_seq, uint32_t offset)
{
	struct gprof_row_checkpoint *row = batch_add(GPROF_TABLE_checkpoint);

	row->tick = *(const uint64_t *)context;
	row->thread = thread->id;
	row->chunk_seq = chunk_seq;
	row->offset = offset;
}

static uint16_t call_of_count(unsigned int counted)
{
	static _Atomic uint16_t calls[RING_NR_COUNTS];
	uint16_t call = atomic_load(&calls[counted]);

	if (!call) {
		call = (uint16_t)calls_counted(counted);
		atomic_store(&calls[counted], call);
	}
	return call;
}

static struct gprof_row_api_count count_row(
	const uint64_t *now, const struct ring_thread *thread, unsigned int counted, uint64_t nr)
{
	return (struct gprof_row_api_count){.begin = drain.counted,
		.dur = *now,
		.thread = thread->id,
		.call = call_of_count(counted),
		.nr = nr};
}

static void add_count(
	void *now, const struct ring_thread *thread, unsigned int counted, uint64_t nr)
{
	if (stream_takes_counts()) {
		*(struct gprof_row_api_count *)batch_add(GPROF_TABLE_api_count) =
			count_row(now, thread, counted, nr);
	} else { /* no room: the end of the stream would cut this row off */
		loss_add(LOSS_LIMIT, nr);
	}
}

static void emit_count(
	void *now, const struct ring_thread *thread, unsigned int counted, uint64_t nr)
{
	struct gprof_row_api_count row = count_row(now, thread, counted, nr);

	ring_emit(&row, GPROF_TABLE_api_count, NULL, 0);
}

static struct gprof_row_os_count os_count_row(
	const uint64_t *now, unsigned int call, uint64_t nr, uint64_t bytes)
{
	return (struct gprof_row_os_count){.begin = drain.counted,
		.dur = *now,
		.call = (uint16_t)(os_counts_first_call() + call),
		.nr = nr,
		.bytes = bytes};
}

static void add_os_count(void *now, unsigned int call, uint64_t nr, uint64_t bytes)
{
	if (stream_takes_counts()) {
		*(struct gprof_row_os_count *)batch_add(GPROF_TABLE_os_count) =
			os_count_row(now, call, nr, bytes);
	} else {
		loss_add(LOSS_LIMIT, nr);
	}
}

static void emit_os_count(void *now, unsigned int call, uint64_t nr, uint64_t bytes)
{
	struct gprof_row_os_count row = os_count_row(now, call, nr, bytes);

	ring_emit(&row, GPROF_TABLE_os_count, NULL, 0);
}

static void take_counts(uint64_t now)
{
	atomic_store(&drain.has_open_counts, true);
	ring_take_counts(add_count, &now);
	os_counts_take(add_os_count, &now);
	drain.counted = now;
}

/* Stays silent in the many children that never use a GPU, such as loader workers and shells. */
static void report_late_fork(void)
{
	if (drain.is_late && batch_nr_rows(GPROF_TABLE_api_launch) +
				     batch_nr_rows(GPROF_TABLE_api_copy) +
				     batch_nr_rows(GPROF_TABLE_api_alloc)) {
		drain.is_late = false;
		notice_add("forked child", 0,
			"the process was forked when CUDA was in use, and neither CUDA nor CUPTI "
			"works after that: its CUDA calls have no device times. Start it with "
			"spawn or forkserver");
	}
}

/*
 * In a full stream, a group says only how much is lost. Each overwrites the one before it, or else
 * they would fill a disk in some weeks.
 */
static void begin_tail(void)
{
	if (stream_cut_tail()) {
		drain.nr_lost -= loss_take_back_tail();
	}
	loss_begin_tail();
	step_add_facts(false);
	facts_add_worker();
	batch_write_all();
	stream_begin_tail();
}

/* The group of FORMAT.md: blocks, then the checkpoint, and only then ring space is freed. */
static void write_group(uint64_t now)
{
	struct gprof_row_checkpoint *group;

	add_anchor();
	drain.nr_lost += loss_add_rows();
	step_add_facts(false);
	facts_add_worker();
	batch_write_all();
	drain.nr_lost += loss_add_rows();	   /* losses of the write above */
	group = batch_add(GPROF_TABLE_checkpoint); /* thread 0: closes the group, threads or not */
	group->tick = now;
	group->newest_correlation = correlation_ids_newest();
	ring_positions(add_position, &now);
	batch_write_all();
	atomic_store(&drain.has_open_counts, false);
	ring_release();
}

/*
 * One round: all that has arrived becomes rows, and these a group. In a full stream only the number
 * of lost events is news, which is written now and then, and at the end.
 */
static void flush(bool is_last)
{
	uint64_t now = clock_raw(), now_ns = clock_monotonic_ns();

	drain_activity();
	ring_read(ring_to_rows_add, NULL);
	take_counts(now);
	period_end_steps();
	report_late_fork();
	dictionary_look();
	if (stream_is_full()) {
		batch_drop_all();
		atomic_store(&drain.has_open_counts, false);
		if (!is_last && ring_fill() < FLUSH_FILL && now_ns - drain.grouped_ns < FULL_NS) {
			return;
		}
		begin_tail();
	}
	drain.grouped_ns = now_ns;
	write_group(now);
	log_message(LOG_DEBUG, "flushed: %llu events so far, %llu lost, %llu bytes",
		(unsigned long long)stream_rows(), (unsigned long long)drain.nr_lost,
		(unsigned long long)stream_bytes());
}

/* ---- the thread ---- */

static void add_cuda_facts(void)
{
	if (cupti_is_live()) {
		facts_add_number("cupti.version", cupti.version);
		facts_add("cupti.path", cupti.path);
		facts_add_number("cupti.gpu_bytes_max", activity_gpu_bytes());
	}
	device_add(cupti_is_live());
}

/* was_off: what records the events of a window was switched on only now, or is still off. */
static void look_for_late_window(bool was_off)
{
	static atomic_uint told_in;
	uint64_t nr_windows = window_newest();

	if (was_off && nr_windows != drain.nr_windows && notice_is_first(&told_in)) {
		notice_add("late window", 0,
			"a record window opened before CUPTI, or gprof's observer of PyTorch, was "
			"switched on (busy machine, or steps of microseconds); its first kernels, "
			"copies and operators may be missing. Add ready steps to GPROF_SCHEDULE");
	}
	drain.nr_windows = nr_windows;
}

static void update_windows(void)
{
	bool is_wanted = step_wants_activity();
	bool was_off = drain.owner.set_enabled(is_wanted);

	if (atomic_load(&drain.is_attached)) {
		if (is_wanted && !drain.was_wanted) {
			correlation_ids_missed();
		}
		if (!drain.has_cuda_facts && cupti_share_begin_call()) {
			drain.has_cuda_facts = true;
			add_cuda_facts();
			cupti_share_end_call();
		}
		cupti_share_set_enabled(is_wanted);
		was_off |= !drain.was_wanted && cupti_is_live();
		drain.was_wanted = is_wanted;
	}
	look_for_late_window(was_off);
}

/* CUPTI is up before a window opens. */
static void obey(struct control_command command)
{
	step_prepare(command.first, command.end);
	update_windows();
	step_command(command.first, command.end);
}

/* Obeys a new command in the control file. */
static void look_for_command(void)
{
	struct control_command command;

	if (control_look(&command)) {
		obey(command);
	}
}

/* Opens or closes a window if the program called drain_switch. */
static void look_for_switch(void)
{
	switch (atomic_exchange(&drain.switch_to, SWITCH_NONE)) {
	case SWITCH_ON:
		obey(CONTROL_START);
		break;
	case SWITCH_OFF:
		obey(CONTROL_STOP);
		break;
	default:
		break;
	}
}

/* Returns the time until a flush, an interval step or a sample is due; is_lonely: without main. */
static uint32_t next_timeout_ms(bool is_lonely)
{
	uint64_t now = clock_monotonic_ns();
	uint64_t due = drain.flushed_ns + (uint64_t)drain.flush_ms * MS_NS;
	uint64_t step = drain.stepped_ns + (uint64_t)step_interval_ms() * MS_NS;
	uint64_t sample = sample_due_ns(), cpu_sample = cpu_sample_due_ns();
	uint64_t stack = launch_stack_due_ns();
	uint64_t counters = atomic_load(&drain.is_attached) ? cupti_pm_due_ns() : UINT64_MAX;

	if (is_lonely) {
		return LONELY_MS;
	}
	due = step_interval_ms() && step < due ? step : due;
	due = sample < due ? sample : due;
	due = cpu_sample < due ? cpu_sample : due;
	due = stack < due ? stack : due;
	due = counters < due ? counters : due;
	return due > now ? (uint32_t)((due - now + MS_NS - 1) / MS_NS) : 0;
}

/* CUPTI must not be called after it, if our handler was too late or the target continued. */
static void look_for_teardown(void)
{
	if (atomic_load(&drain.is_attached) && cupti_is_live() && device_is_gone()) {
		cupti_end("the driver was torn down before the end of the recording");
	}
}

/* One pass of the loop. Only what is due costs time; rings that fill early are written early. */
static void work(void)
{
	uint64_t now = clock_monotonic_ns();
	uint32_t interval = step_interval_ms();
	bool is_due = now - drain.flushed_ns >= (uint64_t)drain.flush_ms * MS_NS;

	look_for_teardown();
	if (is_due) {
		look_for_command();
	}
	update_windows();
	if (interval && now - drain.stepped_ns >= (uint64_t)interval * MS_NS) {
		drain.stepped_ns = now;
		step_mark(GPROF_STEP_INTERVAL);
	}
	drain_activity();
	sample_take(now, atomic_load(&drain.is_attached));
	if (atomic_load(&drain.is_attached)) {
		cupti_pm_take(now, nvml_sm_clock);
	}
	cpu_sample_take(now);
	launch_stack_look(now);
	if (is_due) {
		ending_look();
		flush_activity(false);
		drain.flushed_ns = now;
		flush(false);
		if (hang_look()) {
			flush(false);
		}
	} else if (ring_fill() >= FLUSH_FILL) {
		flush(false);
	}
}

/* The driver is torn down next: what CUPTI has comes now, and it is not called any more. */
static void leave_activity(void)
{
	update_windows();
	cupti_pm_end();
	flush_activity(true);
	drain_activity();
	add_anchor(); /* the last one with CUPTI's clock */
	atomic_store(&drain.is_attached, false);
}

/* Answers threads that wait in drain_catch_up(). */
static void catch_up(void)
{
	unsigned int nr_asked = atomic_load(&drain.nr_asked);

	if (nr_asked == atomic_load(&drain.nr_answered)) {
		return;
	}
	look_for_teardown();
	look_for_switch();
	if (atomic_load(&drain.is_leaving)) {
		leave_activity();
	} else {
		flush_activity(false);
		flush(false);
	}
	atomic_store(&drain.nr_answered, nr_asked);
}

/*
 * Two flushes. The first writes the last events. Then the facts about the end may use the room that
 * a limited stream keeps for them.
 */
static void finish(void)
{
	struct stream_lost rest;

	look_for_teardown();
	update_windows();
	cupti_pm_end();
	flush_activity(true);
	sample_take(clock_monotonic_ns(), false);
	cpu_sample_end();
	launch_stack_end();
	flush(false);
	hang_look();
	drain.result.cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	facts_add_number("overhead.drain_cpu_ns", drain.result.cpu_ns);
	step_add_facts(true);
	facts_add_end(drain.how);
	stream_begin_end();
	flush(true);
	call_site_fini();
	rest = stream_take_lost();
	drain.result.nr_lost = drain.nr_lost + rest.disk + rest.limit;
	drain.result.nr_events = stream_rows();
	stream_finish();
	startup_undo();
}

/* All that the recorder needs is ready before on_ready(), which lets the program go on. */
static int prepare(void)
{
	int rc;

	atomic_store(&drain.tid, (int)syscall(SYS_gettid));
	start_progress_signal();
	cpus_step_aside();
	ring_stay_in_profiler(&ring_tls);
	prctl(PR_SET_NAME, "gprof");
	/*
	 * The thread that started this one may be forbidden to read the CPU's counter; CUPTI and
	 * NVML read it.
	 */
	prctl(PR_SET_TSC, (unsigned long)PR_TSC_ENABLE);
	rc = startup_run(&drain.ticks);
	ring_to_rows_init(); /* which depends on how steps are found */
	control_init();
	hang_init();
	leftover_begin();
	drain.flush_ms = (uint32_t)config_number(CONFIG_FLUSH_MS);
	drain.flushed_ns = drain.stepped_ns = clock_monotonic_ns();
	drain.counted = clock_raw();
	drain.owner.on_ready(rc);
	return rc;
}

/* Waits until the drain thread has ended: then this thread is the last one. */
static void *last_main(void *drain_tid)
{
	while (!syscall(SYS_tgkill, syscall(SYS_getpid), (long)(intptr_t)drain_tid, 0L)) {
		target_pause(MS_NS);
	}
	pthread_sigmask(SIG_SETMASK, &drain.signal_mask, NULL);
	return NULL;
}

/*
 * The program's exit handlers run in its last thread. The drain has a small stack, and signals may
 * be pending on it, such as a file size limit; so a thread with the program's defaults outlives it.
 */
static void make_last_thread(void)
{
	pthread_t thread;

	cpus_step_back();
	pthread_create(&thread, NULL, last_main, (void *)(intptr_t)syscall(SYS_gettid));
}

/* The process ends with this thread, or might: main has left. */
static void leave(enum thread_last alone)
{
	pace_hurry();
	if (alone == THREAD_LAST_YES) {
		ending_mark(GPROF_END_EXIT, 0);
	} else {
		notice_add("recording ended", 0,
			"the main thread called pthread_exit, and without /proc the end of the "
			"last thread is invisible; later events are not recorded. Mount /proc");
	}
	drain.how = ending_word(GPROF_END_EXIT);
	step_stop();
	atomic_store(&collector_mode, 0);
}

/* Returns how full the rings or CUPTI's buffers are, whichever is fuller, in 1/256. */
static unsigned int fill(void)
{
	unsigned int rings = ring_fill(), buffers = buffer_fill();

	return rings > buffers ? rings : buffers;
}

/* Continues to record during leftover_move(), which may take minutes. */
static bool keep_up(void)
{
	ring_wait(0);
	catch_up();
	work();
	return atomic_load(&drain.is_stopping);
}

/*
 * The schema and the facts are in the stream before any event can be. Rings that killed processes
 * have left are moved while the new ones are already read (keep_up).
 */
static void *drain_main(void *unused)
{
	enum thread_last alone = THREAD_LAST_NO;
	bool is_lonely;
	uint32_t ms;

	(void)unused;
	if (prepare()) {
		return NULL;
	}
	flush(false);
	ring_wait(START_MS);
	drain.owner.take_over();
	pace_begin(fill);
	leftover_move(keep_up);
	is_lonely = thread_has_main_left();
	ms = next_timeout_ms(is_lonely);
	while (!atomic_load(&drain.is_stopping) && alone == THREAD_LAST_NO) {
		bool is_woken = ring_wait(ms), has_sampled;

		pace_next();
		has_sampled = cpu_sample_catch();
		ms = next_timeout_ms(is_lonely);
		if (has_sampled && !is_woken && ms) {
			continue;
		}
		catch_up();
		work();
		/* The C library ends the process with its last thread, and that is this one then.
		 */
		alone = thread_look_for_last();
		is_lonely = thread_has_main_left();
		ms = next_timeout_ms(is_lonely);
	}
	if (alone != THREAD_LAST_NO) {
		leave(alone);
	}
	finish();
	atomic_store(&drain.is_done, true);
	if (alone != THREAD_LAST_NO) {
		make_last_thread();
	}
	return NULL;
}

uint64_t drain_cpu_ns(void)
{
	int tid = atomic_load(&drain.tid);

	return tid ? clock_thread_cpu_ns((uint32_t)tid) : 0;
}

static int create(size_t stack_bytes)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int rc = pthread_attr_init(&attributes);

	if (rc) {
		return rc;
	}
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (stack_bytes) {
		pthread_attr_setstacksize(&attributes, stack_bytes);
	}
	rc = pthread_create(&thread, &attributes, drain_main, NULL);
	pthread_attr_destroy(&attributes);
	return rc;
}

int drain_start(const struct drain_owner *owner, const sigset_t *signal_mask)
{
	int rc;

	drain.owner = *owner;
	drain.signal_mask = *signal_mask;
	rc = create(STACK_BYTES);
	if (rc == EINVAL) {
		rc = create(0); /* the target's thread-local variables alone are larger */
	}
	return -rc;
}

void drain_attach(bool is_wanted)
{
	drain.was_wanted = is_wanted;
	atomic_store(&drain.is_attached, true);
	ring_wake();
}

/* Waits while there is progress, for a bounded time. */
static bool wait_until(bool (*is_over)(unsigned int number), unsigned int number)
{
	uint64_t begin = clock_monotonic_ns();
	uint64_t moved = begin;
	unsigned int progress = 0;

	ring_wake();
	while (!is_over(number)) {
		uint64_t now = clock_monotonic_ns();
		unsigned int seen = atomic_load(&drain.progress) + stream_progress();

		moved = seen == progress ? moved : now;
		progress = seen;
		if (now - moved > STALL_NS || now - begin > ending_patience_ns()) {
			return false;
		}
		target_pause(MOMENT_NS);
	}
	return true;
}

static bool has_written_counts(unsigned int unused)
{
	(void)unused;
	return !atomic_load(&drain.has_open_counts);
}

/*
 * Rows stay in the ring until a closed group of the stream has them, so a reader finds them after
 * an exec. Counts do not: the drain takes them first and closes the group later. An exec in between
 * would lose them, so this waits for the group.
 */
void drain_leave_counts(void)
{
	uint64_t now = clock_raw();

	ring_take_counts(emit_count, &now);
	os_counts_take(emit_os_count, &now);
	if (!has_written_counts(0)) {
		wait_until(has_written_counts, 0);
	}
}

static bool is_caught_up(unsigned int number)
{
	return (int)(atomic_load(&drain.nr_answered) - number) >= 0 || atomic_load(&drain.is_done);
}

bool drain_catch_up(bool is_leaving)
{
	if (is_leaving) {
		pace_hurry();
		atomic_store(&drain.is_leaving, true);
	}
	return wait_until(is_caught_up, atomic_fetch_add(&drain.nr_asked, 1) + 1);
}

bool drain_switch(bool is_on)
{
	atomic_store(&drain.switch_to, is_on ? SWITCH_ON : SWITCH_OFF);
	return drain_catch_up(false);
}

static bool has_stopped(unsigned int unused)
{
	(void)unused;
	return atomic_load(&drain.is_done);
}

bool drain_stop(const char *how, struct drain_result *result)
{
	drain.how = how;
	pace_hurry();
	atomic_store(&drain.is_stopping, true);
	if (!wait_until(has_stopped, 0)) {
		return false;
	}
	*result = drain.result;
	return true;
}

void drain_forget(bool is_late)
{
	pace_forget();
	memset((void *)&drain, 0, sizeof(drain));
	drain.is_late = is_late;
}
