/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/collector.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <time.h>
#include <unistd.h>

#include "collector/activity.h"
#include "collector/batch.h"
#include "collector/callback.h"
#include "collector/config.h"
#include "collector/cupti.h"
#include "collector/define.h"
#include "collector/device.h"
#include "collector/drain.h"
#include "collector/facts.h"
#include "collector/log.h"
#include "collector/notice.h"
#include "collector/record.h"
#include "collector/step.h"
#include "collector/stream.h"
#include "collector/thread.h"

#define STOP_DEADLINE_MS 10000u
#define MAX_CALLS	 2048u

/* Hooks may run before our constructor, so the first value must already lead to collector_start. */
_Atomic uint32_t collector_mode = COLLECTOR_COLD;
uint32_t collector_step_call;

enum phase { PHASE_COLD, PHASE_STARTING, PHASE_RUNNING, PHASE_STOPPED };

static struct collector_state {
	atomic_int phase;
	atomic_bool is_init;
	atomic_bool is_started; /* or failed: nobody needs to wait any more */
	atomic_bool is_attached;
	bool may_attach; /* false in the child of a process that used CUPTI */
	bool has_atfork;
	struct collector_call calls[MAX_CALLS];
	uint32_t nr_calls;
	uint32_t nr_hooks;
	const char *rings;
} state = {.may_attach = true};

/* In musl and other C libraries this may be missing; a reference that must resolve would kill. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
	void *dso) __attribute__((weak));

void collector_init(const struct collector_call *calls, uint32_t nr_calls)
{
	if (atomic_exchange(&state.is_init, true)) {
		return;
	}
	config_init();
	clock_init();
	log_init((enum log_level)config_number(CONFIG_LOG), config_text(CONFIG_LOG_FILE),
		config_flag(CONFIG_QUIET));
	state.nr_hooks = nr_calls < MAX_CALLS ? nr_calls : MAX_CALLS;
	memcpy(state.calls, calls, state.nr_hooks * sizeof(*calls));
	state.nr_calls = state.nr_hooks;
	if (!config_flag(CONFIG_ENABLE)) {
		atomic_store(&state.phase, PHASE_STOPPED);
		atomic_store(&collector_mode, 0);
	}
}

/* ---- names of calls ---- */

static uint32_t find_hook(const char *name)
{
	for (uint32_t i = 0; i < state.nr_calls; i++) {
		if (!strcmp(state.calls[i].name, name)) {
			return i + 1;
		}
	}
	return 0;
}

/* For callbacks: CUPTI knows calls that are not hooked. */
static uint32_t find_or_add_call(const char *name, uint8_t api)
{
	uint32_t id = find_hook(name);

	if (!id && state.nr_calls < MAX_CALLS) {
		state.calls[state.nr_calls] = (struct collector_call){.name = name, .api = api};
		id = ++state.nr_calls;
	}
	return id;
}

/* ---- start ---- */

static void add_schema(void)
{
	for (unsigned int t = 1; t < GPROF_NR_TABLES; t++) {
		const struct block_table *table = block_table(t);

		for (uint16_t c = 0; c < table->nr_columns; c++) {
			struct gprof_text table_name = batch_text(table->name, strlen(table->name));
			struct gprof_text name =
				batch_text(table->columns[c].name, strlen(table->columns[c].name));
			struct gprof_row_schema *row = batch_add(GPROF_TABLE_schema);

			row->table = (uint16_t)t;
			row->column = c;
			row->kind = table->columns[c].kind;
			row->width = table->columns[c].width;
			row->offset = table->columns[c].offset;
			row->row_bytes = table->row_bytes;
			row->table_name = table_name;
			row->name = name;
		}
	}
}

static void add_calls(void)
{
	for (uint32_t i = 0; i < state.nr_calls; i++) {
		uint32_t name = define_text(state.calls[i].name, strlen(state.calls[i].name));
		struct gprof_row_call *row = batch_add(GPROF_TABLE_call);

		row->id = i + 1;
		row->name = name;
		row->api = state.calls[i].api;
	}
}

static void say_wrong(const char *sentence)
{
	collector_notice("wrong setting", 0, "%s", sentence);
	log_message(LOG_WARN, "%s", sentence);
}

/* Beside the stream, else in shared memory, else in memory that dies with the process. */
static int start_rings(uint64_t pool_bytes)
{
	const bool beside[] = {true, false};
	int rc = -ENOSPC;

	for (int i = 0; i < 2 && rc; i++) {
		state.rings = stream_rings_path(pool_bytes, beside[i]);
		rc = state.rings ? ring_start(state.rings, stream_id(), pool_bytes) : rc;
	}
	if (rc) {
		state.rings = NULL;
		rc = ring_start(NULL, stream_id(), pool_bytes);
	}
	if (!state.rings || !stream_is_beside(state.rings)) {
		collector_notice("rings elsewhere", 0, "%s",
			state.rings ? state.rings
				    : "in memory only: events of the last moments are lost if the "
				      "process is killed");
	}
	return rc;
}

static void on_fork_child(void)
{
	int error = errno;

	collector_child();
	errno = error;
}

static int start(void)
{
	uint64_t buffer_bytes;
	struct block_ticks ticks;
	int rc;

	config_load();
	buffer_bytes = config_number(CONFIG_BUFFER_MB) << 20;
	config_complain(say_wrong);
	facts_look();
	ticks.mult = clock_calibrate();
	ticks.base = clock_raw();
	rc = batch_init();
	rc = rc ? rc : define_init();
	record_init();
	rc = rc ? rc
		: stream_start(config_text(CONFIG_DIR), config_number(CONFIG_MAX_MB) << 20, &ticks);
	if (rc) {
		return rc;
	}
	add_schema();
	callback_init(find_or_add_call);
	add_calls();
	/* Before the first event: without the schema nobody could read the rings of a killed
	 * process. */
	batch_write_all();
	/* Half for the rings, a quarter for CUPTI's buffers; the rest is the drain's. */
	rc = start_rings(buffer_bytes / 2);
	if (rc) {
		return rc;
	}
	thread_init();
	step_init(find_hook);
	if (!state.has_atfork && __register_atfork) {
		state.has_atfork = true;
		__register_atfork(NULL, NULL, on_fork_child, NULL);
	}
	return drain_start(&ticks, (uint32_t)config_number(CONFIG_FLUSH_MS));
}

/*
 * Where files may not grow (ulimit -f) the kernel sends SIGXFSZ to the thread that writes, which
 * ends a process that does not expect it. The drain thread has all signals blocked; this one is the
 * host's, so it is kept from seeing that one.
 */
static int start_unharmed(void)
{
	const struct timespec now = {0};
	sigset_t too_large, before;
	int rc;

	sigemptyset(&too_large);
	sigaddset(&too_large, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &too_large, &before);
	rc = start();
	while (!sigismember(&before, SIGXFSZ) && sigtimedwait(&too_large, NULL, &now) == SIGXFSZ) {
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/*
 * For the threads that come while the first one starts the recorder, which takes about a
 * millisecond. Bounded, since that thread may wait for a lock of the loader's that this one holds;
 * and after one long wait there is no other.
 */
static void wait_for_start(void)
{
	const struct timespec moment = {.tv_nsec = 20000};

	for (int i = 0; i < 2000; i++) {
		if (atomic_load(&state.is_started)) {
			return;
		}
		nanosleep(&moment, NULL);
	}
	atomic_store(&state.is_started, true);
}

void collector_start(void)
{
	int error = errno;
	int cold = PHASE_COLD;
	int rc;

	if (!atomic_compare_exchange_strong(&state.phase, &cold, PHASE_STARTING)) {
		if (!ring_is_inside(&ring_self)) {
			wait_for_start();
		}
		collector_lose(COLLECTOR_LOST_START, atomic_load(&state.phase) == PHASE_STARTING);
		errno = error;
		return;
	}
	ring_self.depth += RING_INSIDE;
	rc = pthread_sigmask ? start_unharmed() : -ENOSYS; /* see compat.h */
	if (rc) {
		collector_disable(config_text(CONFIG_DIR), rc);
	} else {
		atomic_store(&state.phase, PHASE_RUNNING);
		atomic_store(&collector_mode, 0);
		step_start();
		log_message(LOG_INFO, "recording to %s", stream_path());
	}
	atomic_store(&state.is_started, true);
	ring_self.depth -= RING_INSIDE;
	errno = error;
}

void collector_attach(void)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	int error = errno;

	/* Another thread may be in collector_start; in cuInit a few milliseconds do not matter. */
	for (int i = 0; i < 1000 && atomic_load(&state.phase) == PHASE_STARTING; i++) {
		nanosleep(&moment, NULL);
	}
	if (atomic_load(&state.phase) != PHASE_RUNNING || !state.may_attach ||
		atomic_exchange(&state.is_attached, true)) {
		return;
	}
	ring_self.depth += RING_INSIDE;
	device_find();
	if (!config_flag(CONFIG_CUPTI) || config_flag(CONFIG_TIMER_ONLY)) {
		collector_notice("no CUPTI", 0,
			"CUPTI is off by GPROF_CUPTI=0 or GPROF_TIMER_ONLY=1; kernels and copies "
			"have no "
			"device times");
	} else if (!cupti_load() && callback_start() && cupti_probe_again()) {
		activity_start((config_number(CONFIG_BUFFER_MB) << 20) / 4);
		callback_follow(step_wants_activity());
		activity_follow(step_wants_activity());
	}
	drain_attach();
	ring_self.depth -= RING_INSIDE;
	errno = error;
}

/* ---- end ---- */

static void say_end(const struct drain_result *result)
{
	if (result->nr_lost) {
		log_line("%llu events, %llu lost, in %s; next: gprof-report %s",
			(unsigned long long)result->nr_events, (unsigned long long)result->nr_lost,
			stream_path(), stream_dir());
	} else {
		log_line("%llu events, none lost, in %s; next: gprof-report %s",
			(unsigned long long)result->nr_events, stream_path(), stream_dir());
	}
}

void collector_stop(const char *how)
{
	int error = errno;
	int running = PHASE_RUNNING;
	struct drain_result result;

	if (!atomic_compare_exchange_strong(&state.phase, &running, PHASE_STOPPED)) {
		return;
	}
	atomic_store(&collector_mode, 0);
	if (drain_stop(how, STOP_DEADLINE_MS, &result)) {
		ring_stop(state.rings);
		say_end(&result);
	}
	errno = error;
}

void collector_child(void)
{
	if (atomic_load(&state.phase) == PHASE_COLD || !config_flag(CONFIG_ENABLE)) {
		return;
	}
	facts_set_parent(stream_path());
	state.may_attach = state.may_attach && !atomic_load(&state.is_attached);
	cupti_forget();
	activity_forget();
	callback_forget();
	drain_forget();
	ring_forget();
	batch_forget();
	notice_forget();
	stream_forget();
	atomic_store(&state.is_attached, false);
	atomic_store(&state.is_started, false);
	state.nr_calls = state.nr_hooks;
	atomic_store(&collector_mode, COLLECTOR_COLD);
	atomic_store(&state.phase, PHASE_COLD);
	if (!state.may_attach) {
		collector_notice("forked child", 0,
			"CUPTI does not work after a fork; host calls are recorded, device times "
			"are not");
	}
}

void collector_disable(const char *cause, int code)
{
	atomic_store(&state.phase, PHASE_STOPPED);
	atomic_store(&collector_mode, 0);
	log_message(LOG_WARN, "not recording: %s: error %d (%s)", cause, -code,
		code == -EACCES || code == -EROFS
			? "no permission; set GPROF_DIR to a directory that can be written"
			: (code == -ENOSPC ? "no space" : "see GPROF_DIR"));
}

/* ---- events that are not hooks ---- */

void collector_lose(enum collector_loss cause, uint64_t nr_events)
{
	notice_lose(cause, nr_events);
}

void collector_notice(const char *cause, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!notice_add(cause, code, format, args)) {
		notice_lose(COLLECTOR_LOST_NOTICE, 1);
	}
	va_end(args);
}

void collector_step(enum gprof_step_rule rule)
{
	if (atomic_load(&state.phase) == PHASE_RUNNING) {
		step_mark(rule);
	}
}

bool collector_is_step_range(const char *name, uint64_t nr_bytes)
{
	return step_is_range(name, nr_bytes);
}

void collector_capture(bool is_on)
{
	if (atomic_load(&state.phase) == PHASE_RUNNING) {
		step_capture(is_on);
	}
}

void collector_thread_began(uint32_t parent)
{
	thread_emit(GPROF_THREAD_CREATED, parent, "");
}

void collector_thread_named(const char *name)
{
	thread_emit(GPROF_THREAD_NAMED, 0, name);
}

bool collector_has_cupti(void)
{
	return cupti_is_live();
}

void collector_emit(void *row, unsigned int table, const char *text, uint64_t nr_bytes)
{
	struct gprof_row_head *head = row;
	uint32_t row_bytes = block_table(table)->row_bytes;
	uint32_t bytes;
	char *at;

	if (nr_bytes > GPROF_TEXT_BYTES) {
		nr_bytes = GPROF_TEXT_BYTES;
		collector_lose(COLLECTOR_LOST_TEXT, 1);
	}
	bytes = collector_row_bytes(row_bytes, nr_bytes);
	at = ring_reserve(&ring_self, bytes);
	if (!at) {
		return;
	}
	head->bytes = (uint16_t)bytes;
	head->table = (uint8_t)table;
	head->text_bytes = (uint32_t)nr_bytes;
	memcpy(at, row, row_bytes);
	if (nr_bytes) {
		memcpy(at + row_bytes, text, nr_bytes);
	}
	ring_commit(&ring_self, at, bytes);
}
