/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows on a terminal how far a pass is. scan.c, op_load.c and the importers count rows; the clock
 * is read at each count, but the line is written at most five times a second. With workers, each
 * process counts in memory that all share, and the first one shows the sum.
 */
#include "report/util/progress.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define FIRST_NS 1000000000ull
#define NEXT_NS	 200000000ull

static struct progress_state {
	const char *what;
	uint64_t total, done;
	uint64_t next_ns;
	bool is_shown;
} progress;

/* The whole of a pass, in the unit in which processes count what they have done of it. */
#define PASS 65536u

/* One line for several processes. */
static struct progress_all {
	_Atomic uint32_t *done; /* of each process, in memory that all share; NULL: no such line */
	unsigned int nr_workers, own;
	unsigned int nr_passes, nr_own_passes; /* of all; that this process has ended */
} all;

static bool is_disabled;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool has_terminal(void)
{
	const char *term = getenv("TERM");

	return !is_disabled && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

static double share_of_pass(void)
{
	return progress.total ? (double)progress.done / (double)progress.total : 1;
}

static double share_of_all(void)
{
	double done = 0;

	for (unsigned int i = 0; i <= all.nr_workers; i++) {
		done += atomic_load_explicit(&all.done[i], memory_order_relaxed);
	}
	done = all.nr_passes ? done / PASS / all.nr_passes : 0;
	return done < 0.99 ? done : 0.99; /* what follows the passes takes its time, too */
}

static void tell_all(double share)
{
	atomic_store_explicit(&all.done[all.own],
		all.nr_own_passes * PASS + (uint32_t)((share < 1 ? share : 1) * PASS),
		memory_order_relaxed);
}

void progress_start(const char *what, uint64_t total)
{
	if (all.done) {
		progress.total = total;
		progress.done = 0;
		return;
	}
	progress = (struct progress_state){.what = what, .total = total};
	if (has_terminal()) {
		progress.next_ns = now_ns() + FIRST_NS;
	}
}

void progress_show(void)
{
	uint64_t now;
	double share;

	if (!progress.next_ns || all.own) {
		return;
	}
	now = now_ns();
	if (now >= progress.next_ns) {
		share = all.done ? share_of_all() : share_of_pass();
		fprintf(stderr, "\rgprof-report: %s, %.0f %% ", progress.what,
			100 * (share < 1 ? share : 1));
		progress.next_ns = now + NEXT_NS;
		progress.is_shown = true;
	}
}

void progress_add(uint64_t done)
{
	progress.done += done;
	if (all.done) {
		tell_all(share_of_pass());
	}
	progress_show();
}

/* Nothing appears from now on. */
static void progress_disable(void)
{
	progress = (struct progress_state){0};
	is_disabled = true;
}

static void clear_line(void)
{
	if (progress.is_shown) {
		fputs("\r\033[K", stderr);
	}
	progress = (struct progress_state){0};
}

void progress_stop(void)
{
	if (all.done) {
		all.nr_own_passes++;
		tell_all(0);
	} else {
		clear_line();
	}
}

/* ---- one line for several processes ---- */

static size_t all_bytes(void)
{
	return (PROGRESS_MAX_WORKERS + 1) * sizeof(*all.done);
}

void progress_start_all(const char *what, unsigned int nr_passes)
{
	void *memory = has_terminal() ? mmap(NULL, all_bytes(), PROT_READ | PROT_WRITE,
						MAP_SHARED | MAP_ANONYMOUS, -1, 0)
				      : MAP_FAILED;

	if (memory != MAP_FAILED) {
		progress_start(what, 0);
		all = (struct progress_all){.done = memory, .nr_passes = nr_passes};
	}
}

void progress_stop_all(void)
{
	if (all.done) {
		munmap(all.done, all_bytes());
		all = (struct progress_all){0};
		clear_line();
	}
}

unsigned int progress_add_worker(void)
{
	return all.nr_workers < PROGRESS_MAX_WORKERS ? ++all.nr_workers : 0;
}

void progress_be_worker(unsigned int worker)
{
	if (!all.done || !worker) {
		all.done = NULL;
		progress_disable();
		return;
	}
	all.own = worker;
	all.nr_own_passes = 0;
}

bool progress_is_of_all(void)
{
	return all.done != NULL;
}
