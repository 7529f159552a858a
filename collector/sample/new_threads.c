/* SPDX-License-Identifier: Apache-2.0 */
/* A ring without locks, in which new threads overwrite what is not read in time. */
#include "collector/sample/new_threads.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/sample/task_list.h"

#define MAX_BEGUN 256u /* between two reads; a scan finds the others */

static struct {
	atomic_bool is_wanted;
	atomic_uint nr; /* at any time */
	_Atomic uint32_t tids[MAX_BEGUN];
	uint32_t nr_read;
} begun;

void new_threads_add(void)
{
	unsigned int i;

	if (atomic_load_explicit(&begun.is_wanted, memory_order_relaxed)) {
		i = atomic_fetch_add(&begun.nr, 1);
		atomic_store(&begun.tids[i % MAX_BEGUN], (uint32_t)syscall(SYS_gettid));
	}
}

void new_threads_want(bool is_wanted)
{
	atomic_store(&begun.is_wanted, is_wanted);
}

/*
 * By now a number may be nobody's, or of a thread of another process. A thread that has not written
 * its number yet is left to the scan.
 */
void new_threads_each(void (*on_thread)(uint32_t tid))
{
	unsigned int nr = atomic_load(&begun.nr);

	if (nr - begun.nr_read > MAX_BEGUN) {
		begun.nr_read = nr - MAX_BEGUN;
	}
	for (; begun.nr_read != nr; begun.nr_read++) {
		uint32_t tid = atomic_exchange(&begun.tids[begun.nr_read % MAX_BEGUN], 0);

		if (tid && task_exists(tid)) {
			on_thread(tid);
		}
	}
}

void new_threads_forget(void)
{
	new_threads_want(false);
	begun.nr_read = atomic_load(&begun.nr);
}
