/* SPDX-License-Identifier: Apache-2.0 */
/* Events besides calls (collector.h): steps, ranges, threads. */

#include "collector/collector.h"
#include "collector/cupti/cupti.h"
#include "collector/sample/new_threads.h"
#include "collector/step/step.h"
#include "collector/stream/facts.h"
#include "collector/thread.h"
#include "collector/util/config.h"
#include "collector/util/target.h"

void collector_step(enum gprof_step_rule rule)
{
	if (collector_is_running()) {
		step_mark(rule);
	}
}

void collector_range(const char *name, uint64_t begin, uint64_t end)
{
	TARGET_KEEP_ERRNO;

	if (collector_is_running()) {
		step_range(name, begin, end);
	}
}

void collector_gradient(void)
{
	step_gradient();
}

bool collector_times_fetch(const char *name)
{
	return collector_is_running() && config_flag(CONFIG_TIMER_ONLY) && step_is_open() &&
	       step_auto_is_fetch(name);
}

bool collector_is_step_range(const char *name, uint64_t nr_bytes)
{
	return step_is_range(name, nr_bytes);
}

void collector_capture(bool is_on)
{
	if (collector_is_running()) {
		step_capture(is_on);
	}
}

void collector_thread_began(uint32_t parent)
{
	if (collector_is_running()) {
		thread_began(parent);
		new_threads_add();
	}
}

void collector_thread_named(const char *name)
{
	if (collector_is_running()) {
		thread_emit(GPROF_THREAD_NAMED, 0, name);
	}
}

void collector_loader_worker(uint32_t number, uint32_t nr_workers)
{
	facts_set_worker(number, nr_workers);
}

bool collector_is_cupti(uintptr_t start)
{
	return cupti_has_code(start);
}
