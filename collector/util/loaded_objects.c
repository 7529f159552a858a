/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two counts form a handshake: visits that go on, and forks that go on. Each side raises its own
 * count before it looks at the other's, so at least one of them sees the other and waits. Signals
 * are blocked during a visit, except those of faults: a handler could fork, or jump out and leave
 * the count raised.
 */
#include "collector/util/loaded_objects.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "collector/util/clock.h"
#include "collector/util/log.h"
#include "collector/util/target.h"

/* A fork and a visit wait no longer than this for each other. */
#define WAIT_NS	  100000000u
#define MOMENT_NS 50000u

static struct loaded_objects_state {
	atomic_int nr_looks; /* going on */
	atomic_int nr_forks; /* likewise */
} state;

/* The calling thread is between the handlers before and after its fork. */
static __thread bool is_forking __attribute__((tls_model("initial-exec")));

static void hold_signals(sigset_t *before)
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
	sigset_t all;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		sigdelset(&all, own[i]);
	}
	sigprocmask(SIG_BLOCK, &all, before);
}

static void begin_look(void)
{
	uint64_t until = 0;

	for (;;) {
		atomic_fetch_add(&state.nr_looks, 1);
		if (!atomic_load(&state.nr_forks) || is_forking) {
			return;
		}
		until = until ? until : clock_monotonic_ns() + WAIT_NS;
		if (clock_monotonic_ns() >= until) {
			return; /* the fork may itself wait for what this thread holds */
		}
		atomic_fetch_sub(&state.nr_looks, 1);
		target_pause(MOMENT_NS);
	}
}

int loaded_objects_visit(
	int (*visit)(struct dl_phdr_info *info, size_t size, void *data), void *data)
{
	TARGET_KEEP_ERRNO;
	int rc;
	sigset_t before;

	hold_signals(&before);
	begin_look();
	rc = dl_iterate_phdr(visit, data);
	atomic_fetch_sub(&state.nr_looks, 1);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}

COMPAT_START_CODE const ElfW(Phdr) *
	loaded_objects_segment(const struct dl_phdr_info *info, uintptr_t address)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD &&
			address - info->dlpi_addr - segment->p_vaddr < segment->p_memsz) {
			return segment;
		}
	}
	return NULL;
}

struct code {
	uintptr_t address;
	char *name;
	size_t nr_bytes;
};

static int look_for_code(struct dl_phdr_info *info, size_t size, void *data)
{
	struct code *code = data;
	const char *path = info->dlpi_name ? info->dlpi_name : "", *slash;

	(void)size;
	if (!loaded_objects_contains(info, code->address)) {
		return 0;
	}
	/* The loader has no name for the program itself. */
	path = *path ? path : program_invocation_name;
	slash = strrchr(path, '/');
	log_format(code->name, code->nr_bytes, "%s", slash ? slash + 1 : path);
	return 1;
}

void loaded_objects_name_code(uintptr_t address, char *name, size_t nr_bytes)
{
	struct code code = {address, name, nr_bytes};

	loaded_objects_visit(look_for_code, &code);
}

COMPAT_START_CODE bool loaded_objects_begins(const char *path, const char *begin)
{
	const char *slash = strrchr(path, '/');

	return !strncmp(slash ? slash + 1 : path, begin, strlen(begin));
}

void loaded_objects_before_fork(void)
{
	uint64_t until = 0;

	is_forking = true;
	atomic_fetch_add(&state.nr_forks, 1);
	while (atomic_load(&state.nr_looks)) {
		until = until ? until : clock_monotonic_ns() + WAIT_NS;
		if (clock_monotonic_ns() >= until) {
			return;
		}
		target_pause(MOMENT_NS);
	}
}

void loaded_objects_after_fork(bool is_child)
{
	is_forking = false;
	if (is_child) {
		atomic_store(&state.nr_looks, 0);
		atomic_store(&state.nr_forks, 0);
	} else {
		atomic_fetch_sub(&state.nr_forks, 1);
	}
}
