/* SPDX-License-Identifier: Apache-2.0 */
#include "report/util/progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static bool is_disabled;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void progress_start(const char *what, uint64_t total)
{
	const char *term = getenv("TERM");

	progress = (struct progress_state){.what = what, .total = total};
	if (!is_disabled && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0) {
		progress.next_ns = now_ns() + FIRST_NS;
	}
}

void progress_add(uint64_t done)
{
	uint64_t now;

	progress.done += done;
	if (!progress.next_ns) {
		return;
	}
	now = now_ns();
	if (now >= progress.next_ns) {
		double share = progress.total ? (double)progress.done / (double)progress.total : 1;

		fprintf(stderr, "\rgprof-report: %s, %.0f %% ", progress.what, 100 * share);
		progress.next_ns = now + NEXT_NS;
		progress.is_shown = true;
	}
}

void progress_disable(void)
{
	progress = (struct progress_state){0};
	is_disabled = true;
}

void progress_stop(void)
{
	if (progress.is_shown) {
		fputs("\r\033[K", stderr);
	}
	progress = (struct progress_state){0};
}
