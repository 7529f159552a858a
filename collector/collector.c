/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of the recorder in one process. The first event starts the drain thread and waits for
 * it, but only while the start makes progress; `gate`, which one exchange decides, then says
 * whether that thread still waits or the drain lets the first event in. Handlers of fork make a
 * child cold again.
 *
 *   COLD --first event--> STARTING --open_gate()--> RUNNING --collector_stop()--> STOPPED
 *    ^                       |                                                       ^
 *    |                       +---- refused, or the process ends before it is ready --+
 *    +---- begin_child(), in a forked child
 */
#include "collector/collector.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>

#include "collector/cupti/activity.h"
#include "collector/cupti/callback.h"
#include "collector/cupti/cupti.h"
#include "collector/cupti/cupti_share.h"
#include "collector/cupti/device.h"
#include "collector/cupti/cupti_pm.h"
#include "collector/drain.h"
#include "collector/exit_message.h"
#include "collector/ring/os_counts.h"
#include "collector/sample/cpu_sample.h"
#include "collector/sample/launch_stack.h"
#include "collector/sample/nvml.h"
#include "collector/sample/sample.h"
#include "collector/startup.h"
#include "collector/step/step.h"
#include "collector/step/window.h"
#include "collector/stream/batch.h"
#include "collector/stream/calls.h"
#include "collector/stream/facts.h"
#include "collector/stream/stream.h"
#include "collector/thread.h"
#include "collector/util/config.h"
#include "collector/util/cpus.h"
#include "collector/util/loaded_objects.h"
#include "collector/util/log.h"
#include "collector/util/start_progress.h"
#include "collector/util/target.h"

/*
 * The target's first call waits for the recorder this many times without any sign of progress or
 * CPU use: a file system that hangs takes longer. On an overloaded machine the recorder may wait
 * for a core repeatedly, or before its first instruction: START_MAX_NS is the total.
 */
#define START_LOOK_NS 50000000u
#define START_LOOKS   4
#define START_MAX_NS  2000000000u
/* A process that ends waits as long as for its last events (drain.c), if it does not abort. */
#define END_WAIT_NS 1000000000u

enum phase { PHASE_COLD, PHASE_STARTING, PHASE_RUNNING, PHASE_STOPPED };
/*
 * Decides who lets the first event in: the starting thread, or the drain if that thread has gone
 * on.
 */
enum gate { GATE_UNDECIDED, GATE_DRAIN_READY, GATE_TARGET_TIMED_OUT };

static struct collector_state {
	uint64_t begun_ns;
	atomic_int phase;
	atomic_int gate;
	atomic_bool is_init;
	atomic_bool is_started; /* or failed: nobody needs to wait any more */
	atomic_bool is_attached;
	atomic_bool wants_attach;
	bool may_attach; /* false in the child of a process that used CUPTI */
	bool has_atfork;
	bool is_child;	    /* forked */
	const char *holder; /* of CUPTI, if it must be left to another tool */
	const struct collector_source *_Atomic source;
} state = {.may_attach = true};

/* In musl and other C libraries this may be missing; a reference that must resolve would kill. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
	void *dso) __attribute__((weak));

bool collector_is_running(void)
{
	return atomic_load(&state.phase) == PHASE_RUNNING && atomic_load(&collector_page.is_ours);
}

void collector_leave_counts(void)
{
	TARGET_KEEP_ERRNO;

	if (collector_is_running()) {
		drain_leave_counts();
	}
}

static void after_fork(bool is_child)
{
	const struct collector_source *source = atomic_load(&state.source);

	if (source) {
		source->after_fork(is_child);
	}
}

static void on_fork(void)
{
	const struct collector_source *source = atomic_load(&state.source);

	nvml_hold();
	if (source) {
		source->before_fork();
	}
	loaded_objects_before_fork();
}

static void on_fork_parent(void)
{
	loaded_objects_after_fork(false);
	after_fork(false);
	nvml_release();
}

/* Makes the recorder cold again. It never touches CUPTI if the parent's did. */
static void begin_child(void);

static void on_fork_child(void)
{
	TARGET_KEEP_ERRNO;

	loaded_objects_after_fork(true);
	after_fork(true);
	nvml_forget();
	begin_child();
}

/* Switches recording off for the rest of the process. */
COMPAT_START_CODE static void stay_off(void)
{
	atomic_store(&state.phase, PHASE_STOPPED);
	atomic_store(&state.is_started, true);
	atomic_store(&collector_mode, 0);
}

/*
 * Runs in every process that loads the library, recorded or not: it reads one variable, and leaves
 * the rest to the start.
 */
COMPAT_START_CODE void collector_init(
	const char *names, const struct calls_hook *calls, uint32_t nr_calls)
{
	if (atomic_exchange(&state.is_init, true)) {
		return;
	}
	log_remember_stderr();
	/*
	 * Registered here because another thread may fork while the first one starts the recorder,
	 * and in every process because calls are routed even where nothing is recorded.
	 */
	state.has_atfork = __register_atfork &&
			   !__register_atfork(on_fork, on_fork_parent, on_fork_child, NULL);
	/* A program with more rights than its user: not even the user's variables are read. */
	if (getauxval(AT_SECURE) || !target_is_beside_program()) {
		stay_off();
		return;
	}
	config_init_enable();
	calls_init(names, calls, nr_calls);
	if (!config_flag(CONFIG_ENABLE)) {
		stay_off();
		return;
	}
	cpus_remember();
	thread_reserve_key();
}

/* ---- start ---- */

static void attach(bool is_late);

/* The recorder is ready: the first event may come. */
static void open_gate(void)
{
	int starting = PHASE_STARTING;

	if (!atomic_compare_exchange_strong(&state.phase, &starting, PHASE_RUNNING)) {
		return; /* the process ends, and has said what is missing */
	}
	step_start(); /* COLD until then, so that no other thread goes by meanwhile */
	log_message(LOG_INFO, "recording to %s", stream_path());
	atomic_store(&state.is_started, true);
	start_progress_signal();
	if (atomic_exchange(&state.wants_attach, false)) {
		attach(true);
	}
}

/* On the drain thread, when its start-up is over. */
static void on_ready(int rc)
{
	int gate = GATE_UNDECIDED;

	if (rc) {
		atomic_store(&state.phase, PHASE_STOPPED);
		if (rc != -ECANCELED) { /* not switched off by GPROF_CONFIG's file */
			exit_message_refused(config_text(CONFIG_DIR), rc);
		}
		stay_off();
	} else if (!atomic_compare_exchange_strong(&state.gate, &gate, GATE_DRAIN_READY)) {
		open_gate();
	}
	start_progress_signal();
}

static void take_over(void)
{
	if (atomic_load(&state.phase) == PHASE_STARTING) {
		open_gate();
	}
}

/* Has the start progressed? Each signal of it counts, and CPU time of its thread. */
static bool has_come_on(uint32_t *nr_moves, uint64_t *cpu_ns)
{
	uint32_t moves = start_progress_count();
	uint64_t cpu = drain_cpu_ns();
	bool is_new = moves != *nr_moves || cpu != *cpu_ns;

	*nr_moves = moves;
	*cpu_ns = cpu;
	return is_new;
}

/* Waits until the start has reached that gate, is over, or makes no more progress. */
static void wait_for_gate(enum gate gate)
{
	uint64_t end = clock_monotonic_ns() + START_MAX_NS, until, cpu_ns = 0;
	uint32_t nr_moves = 0;
	int nr_looks = 0;

	while (!atomic_load(&state.is_started) && atomic_load(&state.gate) < (int)gate &&
		nr_looks < START_LOOKS && clock_monotonic_ns() < end) {
		until = clock_monotonic_ns() + START_LOOK_NS;
		/* Before its first instruction it can but wait for a core. */
		nr_looks = has_come_on(&nr_moves, &cpu_ns) || !nr_moves ? 0 : nr_looks + 1;
		while (!atomic_load(&state.is_started) && atomic_load(&state.gate) < (int)gate &&
			start_progress_count() == nr_moves &&
			start_progress_wait(nr_moves, until)) {
		}
	}
}

/* Bounded: the file system may hang, or the drain need a lock of the loader's that we hold. */
static void wait_until_ready(void)
{
	int gate = GATE_UNDECIDED;

	wait_for_gate(GATE_DRAIN_READY);
	if (!atomic_load(&state.is_started) &&
		!atomic_compare_exchange_strong(&state.gate, &gate, GATE_TARGET_TIMED_OUT) &&
		gate == GATE_DRAIN_READY) {
		open_gate();
	}
	start_progress_signal();
}

/*
 * For threads that arrive while the first one starts the recorder, which takes about a millisecond.
 * After one long wait, no thread waits again.
 */
static void wait_for_start(void)
{
	int gate = GATE_UNDECIDED;

	wait_for_gate(GATE_TARGET_TIMED_OUT);
	atomic_compare_exchange_strong(&state.gate, &gate, GATE_TARGET_TIMED_OUT);
}

static bool set_enabled(bool is_wanted)
{
	const struct collector_source *source = atomic_load(&state.source);

	return source && source->set_enabled(is_wanted);
}

static int begin_start(const sigset_t *signal_mask)
{
	const struct drain_owner owner = {on_ready, take_over, set_enabled};
	const struct collector_source *source = atomic_load(&state.source);

	/* Here and not on the drain thread: the target may change its environment later. */
	config_init();
	log_init((enum log_level)config_number(CONFIG_LOG), config_text(CONFIG_LOG_FILE),
		config_flag(CONFIG_QUIET));
	facts_look();
	clock_init(source ? source->find_clock() : NULL);
	state.begun_ns = clock_monotonic_ns();
	ending_begin();
	target_wipe_page_in_children();
	if (!state.has_atfork && __register_atfork) {
		notice_add("no memory", 0,
			"the C library accepts no fork handler; forked children are not recorded");
	}
	return drain_start(&owner, signal_mask);
}

/*
 * Until the drain thread is there no signal handler may jump out of the start, which nobody else
 * would bring to its end.
 */
static void start(void)
{
	sigset_t all, before;
	int rc = -ENOSYS; /* see compat.h */

	if (pthread_sigmask) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		rc = begin_start(&before);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	if (rc) {
		on_ready(rc);
	} else {
		wait_until_ready();
	}
}

bool collector_start(void)
{
	TARGET_LEAVE_ALONE;
	struct ring_mark mark;
	int phase = PHASE_COLD;
	bool is_first = atomic_compare_exchange_strong(&state.phase, &phase, PHASE_STARTING);

	if (is_first) {
		ring_enter_profiler(&ring_tls, &mark);
		start();
		ring_leave_profiler(&ring_tls, &mark);
	} else if (!atomic_load(&state.is_started) && !ring_in_profiler(&ring_tls)) {
		wait_for_start();
	}
	return is_first;
}

static bool wants_cupti(void)
{
	return config_flag(CONFIG_CUPTI) && !config_flag(CONFIG_TIMER_ONLY);
}

static void report_late_start(void)
{
	notice_add("late start", 0,
		"CUDA was ready before the recorder, on a busy machine or a slow disk; calls that "
		"only CUPTI sees, such as those of a static runtime, were neither recorded nor "
		"counted until then");
}

/* is_late: CUDA was ready before the recorder. */
static void attach(bool is_late)
{
	bool is_wanted = step_wants_activity();

	if (!state.may_attach) {
		return;
	}
	if (!collector_is_running()) {
		/* The program has ended since the recorder was ready; the drain still writes. */
		if (is_late && wants_cupti() && !clock_is_forbidden && !state.holder) {
			report_late_start();
		}
		return;
	}
	if (atomic_exchange(&state.is_attached, true)) {
		return;
	}
	device_find();
	if (config_number(CONFIG_SAMPLE_MS) && !config_flag(CONFIG_TIMER_ONLY)) {
		nvml_find();
	}
	if (!wants_cupti()) {
		notice_add("no CUPTI", 0,
			"GPROF_CUPTI=0 or GPROF_TIMER_ONLY=1 disables CUPTI; kernels and copies "
			"have no device times");
	} else if (clock_is_forbidden) {
		notice_add("no CUPTI", 0,
			"the program forbids its threads to read the CPU's counter (PR_SET_TSC), "
			"which CUPTI's thread does; kernels and copies have no device times");
	} else if (state.holder) {
		notice_add("CUPTI holder", 0,
			"%s is in the process, and fails beside another client of "
			"CUPTI; " WITHOUT_CUPTI ". Run without it to record them",
			state.holder);
	} else if (!cupti_load()) {
		if (is_late) {
			report_late_start();
		}
		cupti_pm_find();
		cupti_share_attach(startup_ring_bytes() / 2, is_wanted);
	}
	drain_attach(is_wanted);
}

void collector_attach(const char *holder)
{
	TARGET_LEAVE_ALONE;
	struct ring_mark mark;

	ring_enter_profiler(&ring_tls, &mark);
	state.holder = holder;
	/* If the start still hangs, the drain attaches after it. */
	atomic_store(&state.wants_attach, true);
	if (collector_is_running() && atomic_exchange(&state.wants_attach, false)) {
		attach(false);
	}
	ring_leave_profiler(&ring_tls, &mark);
}

/* ---- end ---- */

/*
 * A process that ends before the recorder has started: its calls go into the stream as lost if the
 * target has continued, else the exit line reports them. A signal handler in the starting thread
 * would wait for itself.
 */
static void finish_start(void)
{
	uint64_t patience = ending_patience_ns();
	uint64_t until = clock_monotonic_ns() + (patience < END_WAIT_NS ? patience : END_WAIT_NS);
	int starting = PHASE_STARTING;
	uint32_t nr_moves;

	do {
		nr_moves = start_progress_count();
	} while (!atomic_load(&state.is_started) && !ring_in_profiler(&ring_tls) &&
		 start_progress_wait(nr_moves, until));
	if (atomic_compare_exchange_strong(&state.phase, &starting, PHASE_STOPPED)) {
		atomic_store(&collector_mode, 0);
		exit_message_never_started(loss_take(LOSS_START), startup_waits_for());
	}
}

static void stop(const char *how)
{
	struct drain_result result;

	step_stop();
	atomic_store(&collector_mode, 0);
	if (drain_stop(how, &result)) {
		exit_message_recorded(result.nr_events, result.nr_lost, result.cpu_ns,
			clock_monotonic_ns() - state.begun_ns, state.is_child);
	} else {
		exit_message_unfinished();
	}
}

void collector_stop(const char *how)
{
	TARGET_LEAVE_ALONE;
	int running = PHASE_RUNNING;

	if (atomic_load(&state.phase) == PHASE_STARTING) {
		finish_start();
	}
	if (collector_is_running() &&
		atomic_compare_exchange_strong(&state.phase, &running, PHASE_STOPPED)) {
		stop(how);
	}
}

void collector_catch_up(bool is_exit)
{
	TARGET_LEAVE_ALONE;

	if (collector_is_running() && (!is_exit || atomic_load(&state.is_attached))) {
		drain_catch_up(is_exit);
	}
}

int collector_switch(bool is_on)
{
	TARGET_LEAVE_ALONE;
	struct ring_mark mark;
	int rc = -EIO;

	ring_enter_profiler(&ring_tls, &mark);
	if (collector_is_running()) {
		rc = step_is_open() == is_on ? 0 : drain_switch(is_on) ? 1 : -EIO;
	}
	ring_leave_profiler(&ring_tls, &mark);
	return rc;
}

const char *collector_stream(void)
{
	return collector_is_running() ? stream_path() : NULL;
}

uint64_t collector_window(void)
{
	return window_newest();
}

COMPAT_START_CODE void collector_set_source(const struct collector_source *source)
{
	atomic_store(&state.source, source);
}

/*
 * First everything forgets what the parent had. The phase comes last: from then on a call of the
 * child may start its own recorder.
 */
static void begin_child(void)
{
	const struct collector_source *source = atomic_load(&state.source);
	bool can_record;

	if (!config_flag(CONFIG_ENABLE)) {
		return;
	}
	if (atomic_load(&state.phase) == PHASE_COLD) {
		/* A child's child: the fork has wiped the page once more. */
		if (atomic_load(&collector_mode) != COLLECTOR_COLD) {
			atomic_store(&collector_mode, COLLECTOR_COLD);
		}
		return;
	}
	if (source) {
		source->forget();
	}
	facts_set_parent(stream_path());
	state.is_child = true;
	state.may_attach = state.may_attach && !atomic_load(&state.is_attached);
	cupti_share_forget();
	cupti_forget();
	cupti_pm_forget();
	activity_forget();
	callback_forget();
	drain_forget(!state.may_attach);
	can_record = ring_forget();
	os_counts_forget();
	batch_forget();
	notice_forget();
	loss_forget();
	stream_forget();
	sample_forget();
	cpu_sample_forget();
	launch_stack_forget();
	calls_forget();
	atomic_store(&state.is_attached, false);
	atomic_store(&state.wants_attach, false);
	atomic_store(&state.is_started, !can_record);
	start_progress_forget();
	atomic_store(&state.gate, GATE_UNDECIDED);
	atomic_store(&collector_mode, can_record ? COLLECTOR_COLD : 0);
	atomic_store(&state.phase, can_record ? PHASE_COLD : PHASE_STOPPED);
	if (!can_record) {
		log_message(LOG_INFO, "not recording: forked by a signal handler that had "
				      "interrupted the recording of an event");
	}
}
