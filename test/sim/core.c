/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of the model, its start, and API frames. The start is what the real driver does in
 * cuInit: read the environment, find the devices, load the injection library and call it.
 */
#include "test/sim/model.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void sim_devices_create(void);

const uint8_t sim_core_uuid[16] = "simulated-cuda-1";

struct sim_core sim_core = {
#define CORE(ret, name, params) .name = sim_##name,
#include "test/sim/core.def"
};

static struct {
	pthread_mutex_t lock;
	_Atomic bool is_ready; /* devices are there */
	_Atomic bool is_done;  /* and the injection has returned */
	_Atomic bool is_forked;
	_Atomic bool is_gone;
	_Atomic uint32_t next_correlation;
} core = {.lock = PTHREAD_MUTEX_INITIALIZER, .next_correlation = 1};

static __thread struct sim_thread this_thread;

struct sim_thread *sim_thread(void)
{
	return &this_thread;
}

bool sim_is_initialized(void)
{
	return atomic_load(&core.is_ready) && !atomic_load(&core.is_forked);
}

/* A context does not survive a fork: everything but a new process's own calls fails in the child.
 */
static void forked(void)
{
	/* Another thread of the parent may have been in the middle of it. */
	pthread_mutex_init(&core.lock, NULL);
	if (atomic_load(&core.is_ready)) {
		atomic_store(&core.is_done, true);
		atomic_store(&core.is_forked, true);
		atomic_store(&sim_core.trace, NULL);
	}
}

__attribute__((constructor)) static void look_for_forks(void)
{
	pthread_atfork(NULL, NULL, forked);
}

bool sim_is_gone(void)
{
	return atomic_load(&core.is_gone);
}

/* As the real driver's own exit handler, registered by the first cuInit. */
static void tear_down(void)
{
	atomic_store(&core.is_gone, true);
}

static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*start)(void);

	if (library) {
		*(void **)&start = dlsym(library, "InitializeInjection");
		if (start) {
			start();
		}
	}
}

/* Other threads wait for the injection; it may itself call cuInit, on the thread it is called on.
 */
static void start(void)
{
	static __thread bool is_inside;

	if (is_inside) {
		return;
	}
	is_inside = true;
	pthread_mutex_lock(&core.lock);
	if (!atomic_load(&core.is_done)) {
		sim_config_read();
		sim_devices_create();
		atomic_store(&core.is_ready, true);
		if (getenv("SIM_TEARDOWN")) {
			atexit(tear_down);
		}
		inject();
		atomic_store_explicit(&core.is_done, true, memory_order_release);
	}
	pthread_mutex_unlock(&core.lock);
	is_inside = false;
}

int sim_init(void)
{
	if (SIM_UNLIKELY(!atomic_load_explicit(&core.is_done, memory_order_acquire))) {
		start();
	}
	if (atomic_load(&core.is_forked)) {
		return SIM_NOT_INITIALIZED;
	}
	return sim_config.nr_devices ? SIM_OK : SIM_NO_DEVICE;
}

uint32_t sim_correlation(void)
{
	return this_thread.frame ? this_thread.frame->correlation_id : 0;
}

/* For programs that look it up: sets the correlation ID of the next call. */
SIM_EXPORT void simNumberCalls(uint32_t next);

SIM_EXPORT void simNumberCalls(uint32_t next)
{
	atomic_store(&core.next_correlation, next);
}

/* A driver call inside a runtime call shares the outer one's correlation ID. */
void sim_enter(struct sim_frame *f)
{
	struct sim_trace *trace = atomic_load(&sim_core.trace);
	struct sim_thread *t = &this_thread;

	f->thread = t;
	f->up = t->frame;
	f->flags = 0;
	f->correlation_data = 0;
	f->correlation_id =
		f->up ? f->up->correlation_id : atomic_fetch_add(&core.next_correlation, 1);
	t->frame = f;
	if (!t->tid) {
		t->tid = (uint32_t)syscall(SYS_gettid);
	}
	if (trace && f->cbid < SIM_MAX_CBID) {
		f->flags = atomic_load_explicit(
			&trace->want[f->domain - 1][f->cbid], memory_order_relaxed);
		if (f->flags) {
			f->start_ns = sim_now();
			trace->enter(f);
		}
	}
}

void sim_leave(struct sim_frame *f)
{
	struct sim_trace *trace = atomic_load(&sim_core.trace);

	if (trace && f->flags) {
		trace->leave(f);
	}
	this_thread.frame = f->up;
}
