/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds libtorch and registers with its observer interface. If an assumption fails, the observer
 * stays off and the stream says why.
 */
#include "preload/torch/torch.h"

#include <link.h>
#include <string.h>

#include "collector/util/claim.h"
#include "collector/util/config.h"
#include "collector/util/loaded_objects.h"
#include "collector/util/log.h"
#include "collector/util/target.h"
#include "preload/hook/hook.h"
#include "preload/nvtx/nvtx_record.h"
#include "preload/python/op_stack.h"
#include "preload/python/python.h"
#include "preload/torch/torch_try.h"
#include "preload/torch/worker.h"

/*
 * A look may start the recorder, which takes up to 2 s; after this long no thread is busy with it.
 */
#define MAX_NS 10000000000u

/* The parts of PyTorch that are mapped. */
struct mapped {
	struct elf libtorch, python;
	bool has_libtorch, has_python;
	unsigned int nr_libtorch;
};

static struct torch_state {
	char path[1024];
	atomic_bool is_done; /* attached, or off for good */
	struct claim look;
	atomic_bool is_reported;    /* that there are several */
	atomic_bool is_due;	    /* `linked` was not ready at the first look */
	atomic_bool is_opened;	    /* dlopen was called */
	_Atomic uint64_t nr_mapped; /* objects mapped by the loader at the last look */
	uint64_t handle;	    /* of all scopes except the users', which mark steps */
	void (*enable)(uint64_t handle);
	void (*disable)(uint64_t handle);
	_Atomic bool is_off; /* the handle is disabled */
	atomic_bool is_attached;
	struct mapped linked; /* what the program began with */
} state;

void torch_after_fork(bool is_child)
{
	torch_change_after_fork(is_child);
	if (is_child) {
		hook_after_fork();
		claim_drop(&state.look);
		worker_forget();
	}
}

/* ---- registering ---- */

/* enum config_torch. Timers need what ends steps. */
static uint64_t level(void)
{
	uint64_t level = config_number(CONFIG_TORCH);

	return config_flag(CONFIG_TIMER_ONLY) && level > TORCH_STEPS ? TORCH_STEPS : level;
}

/* Separately, since the users' ranges stay enabled while no window is open: they mark steps. */
static void add_both(const struct torch_functions *f, bool has_shapes)
{
	struct torch_callback users = {
		.begin = has_shapes ? torch_op_begin_shapes : torch_op_begin, .end = torch_op_end};
	struct torch_callback others = users;

	users.scopes[TORCH_SCOPE_USER] = true;
	torch_add(f, users);
	if (level() >= TORCH_OPS) {
		memset(others.scopes, 1, sizeof(others.scopes));
		others.scopes[TORCH_SCOPE_USER] = false;
		others.needs_inputs = has_shapes;
		state.handle = torch_add(f, others);
	}
}

/* Are shapes wanted, and can they be had? */
static bool try_shapes(const struct elf *libtorch, const struct torch_functions *f)
{
	const char *why;

	if (level() < TORCH_SHAPES) {
		return false;
	}
	why = torch_shape_try(libtorch, f);
	if (why) {
		notice_add("no PyTorch shapes", 0, "%s: %s; operators are recorded without shapes",
			state.path, why);
	}
	return !why;
}

/*
 * A look may happen while the loader still runs constructors of libraries that libtorch needs.
 * PyTorch's Python library sets a type when its module is made, which is later; without Python, a
 * text of libtorch shows that its constructors have run.
 */
static bool is_ready(const struct mapped *mapped)
{
	static const char *const texts[] = {"_ZN2at19kParamCommsCallNameB5cxx11E",
		"_ZN2at19kParamCommsCallNameE", "_ZN5torch19kParamCommsCallNameB5cxx11E"};
	void *const *word = NULL;

	if (mapped->has_python) {
		word = elf_find(&mapped->python, "THPGeneratorClass");
	}
	for (size_t i = 0; !mapped->has_python && !word && i < sizeof(texts) / sizeof(texts[0]);
		i++) {
		word = elf_find(&mapped->libtorch, texts[i]);
	}
	return word && *word;
}

/* While nothing is recorded, operators should cost nothing. */
bool torch_set_enabled(bool is_wanted)
{
	bool was_off = atomic_load(&state.is_attached) && atomic_load(&state.is_off);

	if (!atomic_load(&state.is_attached) || !state.handle || was_off == !is_wanted ||
		!torch_change_try()) {
		return was_off;
	}
	if (atomic_exchange(&state.is_off, !is_wanted) == is_wanted) {
		(is_wanted ? state.enable : state.disable)(state.handle);
	}
	torch_change_end();
	return was_off;
}

/*
 * The recorder's thread reports windows only at its next turn, and may have opened one since. While
 * it starts, which may take long, operators are counted as lost.
 */
static void begin_closed(void)
{
	if (hook_mode() & (COLLECTOR_RECORD | COLLECTOR_COLD)) {
		return;
	}
	torch_set_enabled(false);
	if (hook_mode() & COLLECTOR_RECORD) {
		torch_set_enabled(true);
	}
}

/*
 * NULL if it is registered; or next time, since another observer would see our tries, or other
 * threads fork all the time. Else why not.
 */
static const char *observe(const struct elf *libtorch, struct torch_functions *f)
{
	const char *why = torch_resolve(libtorch, f);

	if (why || torch_has_observer(f) || !torch_change_begin()) {
		return why;
	}
	why = torch_try_out(f);
	if (!why) {
		add_both(f, try_shapes(libtorch, f));
		*(void **)&state.enable = f->enable;
		*(void **)&state.disable = f->disable;
		atomic_store(&state.is_attached, true);
	}
	torch_change_end();
	return why;
}

static void attach(const struct elf *libtorch)
{
	struct torch_functions f = {0};
	const char *why;

	if (hook_mode() & COLLECTOR_COLD) {
		recorder_ensure_started(); /* reads the variables */
	}
	if (level() == TORCH_OFF) {
		atomic_store(&state.is_done, true);
		return;
	}
	why = observe(libtorch, &f);
	atomic_store(&state.is_done, why || atomic_load(&state.is_attached));
	if (why) {
		notice_add("no PyTorch operators", 0,
			"%s: %s; operators are not recorded, NVTX ranges are", state.path, why);
	} else if (atomic_load(&state.is_attached)) {
		log_message(LOG_INFO,
			"torch: before(%s), sequence at %u, scope at %u, forward thread at %u of "
			"the range in %s",
			f.before_text ? "text" : "variant", torch_layout.sequence_at,
			torch_layout.scope_at, torch_layout.forward_thread_at, state.path);
		begin_closed();
	}
}

/* ---- looking ---- */

static int look_at_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct mapped *mapped = data;
	const char *path = info->dlpi_name ? info->dlpi_name : "";

	(void)size;
	if (loaded_objects_begins(path, "libtorch_cpu.so")) {
		mapped->nr_libtorch++;
		if (mapped->nr_libtorch == 1 && elf_open(&mapped->libtorch, info)) {
			log_format(state.path, sizeof(state.path), "%s", path);
			mapped->has_libtorch = true;
		}
	} else if (loaded_objects_begins(path, "libtorch_python.so")) {
		mapped->has_python = elf_open(&mapped->python, info);
	}
	return 0;
}

static int count_mapped(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	*(uint64_t *)data = info->dlpi_adds;
	return 1;
}

static void report_several(const struct mapped *mapped)
{
	if (mapped->nr_libtorch > 1 && atomic_load(&state.is_done) &&
		!atomic_exchange(&state.is_reported, true)) {
		notice_add("several PyTorch", 0,
			"%u of them in this process; only the operators of %s are recorded",
			mapped->nr_libtorch, state.path);
	}
}

/* Examines what is mapped, if that is more than at the last look. */
static void look(struct mapped *mapped)
{
	uint64_t nr_mapped = 0;
	bool was_done = atomic_load(&state.is_done);

	loaded_objects_visit(count_mapped, &nr_mapped);
	if (nr_mapped == atomic_load(&state.nr_mapped)) {
		return;
	}
	loaded_objects_visit(look_at_object, mapped);
	if (!was_done && mapped->has_libtorch && is_ready(mapped)) {
		attach(&mapped->libtorch);
		if (atomic_load(&state.is_attached)) {
			worker_expect();
		}
	}
	if (!mapped->has_libtorch || was_done) {
		atomic_store(&state.nr_mapped, nr_mapped);
	}
	report_several(mapped);
}

static bool begin_look(struct ring_mark *mark)
{
	if (!claim_ask(&state.look, MAX_NS)) {
		return false;
	}
	ring_enter_profiler(&ring_tls, mark);
	return true;
}

/* Returns true if another thread, which has mapped more, has found this one at work. */
static bool end_look(const struct ring_mark *mark)
{
	ring_leave_profiler(&ring_tls, mark);
	return claim_leave(&state.look);
}

static void look_once(void)
{
	struct ring_mark mark;
	TARGET_KEEP_ERRNO;

	while (begin_look(&mark)) {
		struct mapped mapped = {0};

		look(&mapped);
		if (!end_look(&mark)) {
			break;
		}
	}
}

void torch_look(void)
{
	if (!atomic_load(&state.is_done)) {
		look_once();
	}
}

void torch_look_again(void)
{
	atomic_store_explicit(&state.is_opened, true, memory_order_relaxed);
	if (!atomic_load(&state.is_reported)) {
		look_once();
	}
}

void torch_look_opened(void)
{
	if (atomic_load_explicit(&state.is_opened, memory_order_relaxed)) {
		torch_look();
	}
}

void torch_report_missed(void)
{
	struct mapped mapped = {0};
	struct ring_mark mark;

	if ((!atomic_load(&state.is_opened) && !atomic_load(&state.is_due)) ||
		atomic_load(&state.is_done) || hook_mode() & COLLECTOR_COLD ||
		level() == TORCH_OFF || !begin_look(&mark)) {
		return;
	}
	loaded_objects_visit(look_at_object, &mapped);
	if (mapped.has_libtorch) {
		notice_add("no PyTorch operators", 0,
			"%s: gprof saw the program start no thread and open no library after "
			"it, or another observer was there; operators are not recorded, NVTX "
			"ranges are",
			state.path);
	}
	end_look(&mark);
}

COMPAT_START_CODE static int is_libtorch(struct dl_phdr_info *info, size_t size, void *unused)
{
	/* Beside what each process writes at its start: a constant would take a page of its own. */
	static char name[] COMPAT_AT_START = "libtorch_cpu.so";

	(void)size;
	(void)unused;
	return loaded_objects_begins(info->dlpi_name ? info->dlpi_name : "", name);
}

COMPAT_START_CODE void torch_look_first(void)
{
	struct ring_mark mark;

	/* In every process: most are left alone here, without touching a page of gprof. */
	if (!dl_iterate_phdr(is_libtorch, NULL) || !begin_look(&mark)) {
		return;
	}
	look(&state.linked);
	end_look(&mark);
	atomic_store(&state.is_due, state.linked.has_libtorch && !atomic_load(&state.is_done));
}

void torch_look_late(void)
{
	struct ring_mark mark;
	TARGET_KEEP_ERRNO;

	if (!atomic_load_explicit(&state.is_due, memory_order_relaxed) || !begin_look(&mark)) {
		return;
	}
	if (!atomic_load(&state.is_done) && is_ready(&state.linked)) {
		attach(&state.linked.libtorch);
	}
	atomic_store(&state.is_due, !atomic_load(&state.is_done));
	end_look(&mark);
}
