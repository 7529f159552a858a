/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sessions of all GPUs. The drain thread owns them; other threads only ask for their end, by an
 * atomic variable, and wait until none runs.
 */
#include "collector/cupti/cupti_pm.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>

#include "collector/cupti/cupti.h"
#include "collector/cupti/cupti_share.h"
#include "collector/cupti/device.h"
#include "collector/cupti/pm_session.h"
#include "collector/ring/ring.h"
#include "collector/util/config.h"
#include "collector/util/file_text.h"
#include "collector/util/log.h"
#include "collector/util/mode.h"
#include "collector/util/notice.h"
#include "collector/util/target.h"

/* Samples are read so often; the buffer of the hardware has room for longer. */
#define LOOK_NS 50000000u
/* A client waits so long for the end of the sessions. */
#define YIELD_TRIES 2500u
#define PAUSE_NS    200000u
/* CUPTI_API_VERSION of CUDA 12.6 */
#define OLDEST_CUPTI 24u
/* CAP_SYS_ADMIN */
#define ADMIN_BIT 21u
/* A clock that falls by more than this many percent as the samples start. */
#define CLOCK_PERCENT 5u

static struct pm_state {
	bool is_found, is_initialized;
	bool is_off;		 /* refused for all GPUs */
	atomic_bool must_end;	 /* a client waits for the end of the sessions */
	atomic_bool is_left;	 /* to a client, for good */
	atomic_uint nr_sessions; /* counted before they begin, so that a client waits for each */
	uint64_t due_ns;
	uint32_t noticed; /* a bit for each metric that a notice has named */
	struct {
		struct pm_session session;
		bool is_there, is_refused, has_clock;
		uint64_t clock_mhz; /* before the session */
	} gpus[DEVICE_MAX];
} state;

/* ---- refusals ---- */

static const char *remedy(uint32_t code)
{
	switch (code) {
	case CUPTI_INSUFFICIENT_PRIVILEGES:
	case CUPTI_VIRTUALIZED_DEVICE_PRIVILEGES:
		return "the driver restricts counters to administrators: load it with "
		       "NVreg_RestrictProfilingToAdminUsers=0, or run with CAP_SYS_ADMIN";
	case PM_HARDWARE_BUSY:
		return "another tool holds the counters of the GPU, such as DCGM (dcgmi prof "
		       "--pause), nsys or ncu: end it";
	case CUPTI_VIRTUALIZED_DEVICE:
		return "the GPU is virtualised: ask the host's administrator to allow profiling";
	case CUPTI_CONFIDENTIAL_COMPUTING:
		return "the GPU runs in confidential-compute mode, which forbids profiling";
	case PM_MIG_DEVICE:
		return "CUPTI does not sample MIG instances: use a whole GPU";
	case PM_CMP_DEVICE:
	case PM_SLI_DEVICE:
	case PM_WSL_DEVICE:
	case PM_INVALID_CHIP_NAME:
	case CUPTI_NOT_SUPPORTED:
		return "this CUPTI cannot sample this GPU or system";
	case CUPTI_OUT_OF_MEMORY:
		return "memory is short";
	case CUPTI_UNKNOWN:
		return "libnvperf_host.so and libnvperf_target.so must be beside libcupti, and the "
		       "driver must be as new as it";
	default:
		return "see CUPTI's documentation of this code";
	}
}

static void refuse(int device, const char *what, uint32_t code)
{
	const char *text = "?";

	cupti.cuptiGetResultString(code, &text);
	notice_add("PM sampling refused", (int)code,
		"GPU %d: %s: %s (%u); %s. Counters are not sampled by CUPTI (GPROF_METRICS)",
		device, what, text, code, remedy(code));
}

/* One notice for all GPUs. */
static void switch_off(const char *why)
{
	state.is_off = true;
	notice_add("PM sampling refused", 0,
		"%s. Counters are not sampled by CUPTI (GPROF_METRICS)", why);
}

static bool is_admin(void)
{
	char text[4096], *at;
	uint64_t bits = 0;

	file_text_read("/proc/self/status", text, sizeof(text));
	at = strstr(text, "\nCapEff:\t");
	for (at = at ? at + 9 : text; *at && strchr("0123456789abcdef", *at); at++) {
		bits = bits << 4 | (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
	}
	return bits >> ADMIN_BIT & 1;
}

bool cupti_pm_is_restricted(const char *root)
{
	char path[PATH_MAX];
	uint64_t number;

	log_format(path, sizeof(path), "%s/proc/driver/nvidia/params", root);
	return file_text_number(path, "RmProfilingAdminOnly:", &number) && number;
}

/* Names the metrics of `bits`, in order. */
static void name_metrics(char *text, size_t room, uint32_t bits)
{
	size_t n = 0;

	*text = 0;
	for (unsigned int i = 0; i < PM_NR_METRICS; i++) {
		if (bits & 1u << i) {
			n += log_format(
				text + n, room - n, "%s%s", n ? ", " : "", pm_metrics[i].word);
		}
	}
}

static void report_left_out(int device, const struct pm_session *session)
{
	uint32_t bits = (session->unknown | session->in_more_passes) & ~state.noticed;
	char unknown[256], more[256];

	if (!bits) {
		return;
	}
	state.noticed |= bits;
	name_metrics(unknown, sizeof(unknown), session->unknown);
	name_metrics(more, sizeof(more), session->in_more_passes);
	notice_add("PM sampling in part", 0, "GPU %d: not sampled: %s%s%s%s%s", device, unknown,
		*unknown ? " (CUPTI does not know these metrics for this GPU)" : "",
		*unknown && *more ? "; " : "", more,
		*more ? " (they do not fit in one pass with the others: name fewer in "
			"GPROF_METRICS)"
		      : "");
}

/* ---- sessions ---- */

uint32_t cupti_pm_metrics(uint64_t words)
{
	uint32_t metrics = (uint32_t)(words >> METRICS_FIRST_NAME);

	for (unsigned int i = 0; i < PM_NR_METRICS && words & 1u << METRICS_PM; i++) {
		metrics |= pm_metrics[i].is_default ? 1u << i : 0;
	}
	return words & 1u << METRICS_OFF ? 0 : metrics;
}

static uint32_t wanted(void)
{
	return cupti_pm_metrics(config_number(CONFIG_METRICS));
}

void cupti_pm_find(void)
{
	static const char names[][24] = {"libnvperf_host.so", "libnvperf_target.so"};
	const char *slash = strrchr(cupti.path, '/');
	char path[PATH_MAX];

	state.is_found = wanted() != 0;
	for (int i = 0; state.is_found && slash && i < 2; i++) {
		log_format(path, sizeof(path), "%.*s/%s", (int)(slash - cupti.path), cupti.path,
			names[i]);
		dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	}
}

static void end_session(int device)
{
	pm_session_end(&state.gpus[device].session);
	state.gpus[device].is_there = false;
	atomic_fetch_sub(&state.nr_sessions, 1);
}

static void fail(int device, uint32_t code)
{
	const char *failed = state.gpus[device].session.failed;

	state.gpus[device].is_refused = true;
	if (!failed && code == CUPTI_UNKNOWN) {
		notice_add("PM sampling refused", 0,
			"GPU %d: the samples' times are of another clock than CUPTI's; they were "
			"dropped. Use the CUPTI of the program's CUDA",
			device);
	} else if (failed) {
		refuse(device, failed, code);
	}
	end_session(device);
}

static void note_clock(int device, bool (*read_clock)(int device, uint64_t *mhz))
{
	uint64_t before = state.gpus[device].clock_mhz, now;

	if (!state.gpus[device].has_clock || !read_clock(device, &now)) {
		return;
	}
	state.gpus[device].has_clock = false;
	device_add_attribute(device, "sm_clock_before_pm_mhz", before);
	device_add_attribute(device, "sm_clock_with_pm_mhz", now);
	if (now * 100 < before * (100 - CLOCK_PERCENT)) {
		notice_add("SM clock", 0,
			"GPU %d: the SM clock fell from %llu to %llu MHz as CUPTI's samples of "
			"counters started, which may have locked it: compare kernel times with a "
			"run without them (GPROF_METRICS=default)",
			device, (unsigned long long)before, (unsigned long long)now);
	}
}

static void begin_session(int device, bool (*read_clock)(int device, uint64_t *mhz))
{
	struct pm_session *session = &state.gpus[device].session;
	uint32_t code;

	atomic_fetch_add(&state.nr_sessions, 1);
	if (atomic_load(&state.must_end) || atomic_load(&state.is_left)) {
		atomic_fetch_sub(&state.nr_sessions, 1);
		return;
	}
	state.gpus[device].has_clock = read_clock(device, &state.gpus[device].clock_mhz);
	state.gpus[device].is_there = true;
	code = pm_session_begin(
		session, device, wanted(), (uint32_t)config_number(CONFIG_METRICS_US));
	report_left_out(device, session);
	if (code) {
		fail(device, code);
		return;
	}
	device_add_attribute(device, "pm_interval_ns", config_number(CONFIG_METRICS_US) * 1000u);
}

/* CUPTI prepares itself with the first session. */
static bool initialize(void)
{
	struct pm_initialize params = {.size = PM_BYTES(pm_initialize, private)};
	uint32_t code;

	if (state.is_initialized) {
		return true;
	}
	if (cupti.version < OLDEST_CUPTI || !cupti.cuptiPmSamplingEnable ||
		!cupti.cuptiProfilerInitialize) {
		switch_off("CUPTI is too old: it samples counters since CUDA 12.6");
		return false;
	}
	if (cupti_pm_is_restricted("") && !is_admin()) {
		switch_off("the driver restricts counters to administrators "
			   "(RmProfilingAdminOnly in /proc/driver/nvidia/params): load it with "
			   "NVreg_RestrictProfilingToAdminUsers=0, or run with CAP_SYS_ADMIN");
		return false;
	}
	code = cupti.cuptiProfilerInitialize(&params);
	if (code) {
		state.is_off = true;
		refuse(0, "cuptiProfilerInitialize", code);
	}
	state.is_initialized = !code;
	return !code;
}

/* A GPU that the process uses only now gets its session; a pause ends its samples alone. */
static void begin_sessions(bool (*read_clock)(int device, uint64_t *mhz))
{
	if (!cupti_share_begin_call()) {
		return;
	}
	for (int device = 0; device < DEVICE_MAX && !state.is_off; device++) {
		if (!state.gpus[device].is_there && !state.gpus[device].is_refused &&
			device_is_used(device) && initialize()) {
			begin_session(device, read_clock);
		}
	}
	cupti_share_end_call();
}

static uint32_t update(int device, bool is_recording, bool (*read_clock)(int, uint64_t *))
{
	struct pm_session *session = &state.gpus[device].session;

	if (!is_recording) {
		return session->is_started ? pm_session_stop(session) : CUPTI_OK;
	}
	if (!session->is_started) {
		return pm_session_start(session);
	}
	note_clock(device, read_clock);
	return pm_session_decode(session);
}

void cupti_pm_end(void)
{
	for (int device = 0; device < DEVICE_MAX; device++) {
		if (state.gpus[device].is_there && cupti_is_live() && !device_is_gone()) {
			end_session(device);
		} else if (state.gpus[device].is_there) {
			pm_session_forget(&state.gpus[device].session);
			state.gpus[device].is_there = false;
			atomic_fetch_sub(&state.nr_sessions, 1);
		}
	}
}

/* A client waits for this, or has begun to profile. */
static void obey_clients(void)
{
	if (atomic_load(&state.must_end)) {
		cupti_pm_end();
		atomic_store(&state.must_end, false);
	}
	if (state.is_found && !state.is_off && atomic_load(&state.is_left)) {
		switch_off("another CUPTI client of the process profiles counters, which gprof "
			   "leaves to it: run without it, or without PM sampling");
	}
}

static bool is_wanted(void)
{
	return state.is_found && !state.is_off && cupti_is_live();
}

void cupti_pm_take(uint64_t now_ns, bool (*read_clock)(int device, uint64_t *mhz))
{
	bool is_recording = atomic_load(&collector_mode) & COLLECTOR_RECORD;

	obey_clients();
	if (!is_wanted() || now_ns < state.due_ns) {
		return;
	}
	state.due_ns = now_ns + LOOK_NS;
	if (is_recording) {
		begin_sessions(read_clock);
	}
	for (int device = 0; device < DEVICE_MAX; device++) {
		uint32_t code = state.gpus[device].is_there
					? update(device, is_recording, read_clock)
					: CUPTI_OK;

		if (code) {
			fail(device, code);
		}
	}
}

uint64_t cupti_pm_due_ns(void)
{
	bool is_recording = atomic_load(&collector_mode) & COLLECTOR_RECORD;

	return is_wanted() && (is_recording || atomic_load(&state.nr_sessions)) ? state.due_ns
										: UINT64_MAX;
}

bool cupti_pm_has(int device)
{
	return state.gpus[device].is_there && state.gpus[device].session.is_started;
}

/* ---- for other threads ---- */

void cupti_pm_yield(void)
{
	if (!atomic_load(&state.nr_sessions)) {
		return;
	}
	atomic_store(&state.must_end, true);
	for (unsigned int i = 0; i < YIELD_TRIES && atomic_load(&state.nr_sessions); i++) {
		ring_wake();
		target_pause(PAUSE_NS);
	}
}

void cupti_pm_leave(void)
{
	atomic_store(&state.is_left, true);
	cupti_pm_yield();
}

void cupti_pm_forget(void)
{
	memset((void *)&state, 0, sizeof(state));
}
