/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash of the sums of each row and thread. Which thread has most is decided at the end, by time,
 * then by number, so that it does not depend on the order of rows.
 */
#include "report/host/os_threads.h"

#include <string.h>

#include "report/model/mixed_stack.h"
#include "report/model/os_files.h"
#include "report/util/hash.h"

struct os_thread {
	struct {
		struct process *process;
		uint32_t row, thread;
	} key;
	uint64_t ns;
	UT_hash_handle hh;
};

void os_threads_add(struct os_threads *threads, uint32_t row, struct process *process,
	uint32_t thread, uint64_t ns)
{
	struct os_thread key, *found;

	memset(&key, 0, sizeof(key));
	key.key.process = process;
	key.key.row = row;
	key.key.thread = thread;
	hash_put(threads->all, key, &key.key, found);
	found->ns += ns;
}

uint32_t os_thread_name(struct process *process, uint32_t thread)
{
	const struct model_thread *known = idmap_get(&process->threads, thread);

	return os_thread_text(known ? known->name : 0, process_tid(process, thread));
}

static bool is_more(const struct os_thread *a, const struct os_thread *b)
{
	return !b || a->ns > b->ns || (a->ns == b->ns && a->key.thread < b->key.thread);
}

void os_threads_finish(struct os_threads *threads, size_t nr_rows,
	uint32_t (*name)(struct process *process, uint32_t thread))
{
	const struct os_thread **most = mem_zeroed(nr_rows + 1, sizeof(*most));

	free(threads->rows);
	threads->rows = mem_zeroed(nr_rows + 1, sizeof(*threads->rows));
	for (const struct os_thread *each = threads->all; each; each = each->hh.next) {
		threads->rows[each->key.row].nr++;
		if (is_more(each, most[each->key.row])) {
			most[each->key.row] = each;
		}
	}
	for (size_t i = 0; i < nr_rows; i++) {
		threads->rows[i].most =
			most[i] ? name(most[i]->key.process, most[i]->key.thread) : 0;
	}
	free(most);
}

/* Returns a number of string_pool.h, 0: unknown. */
static uint32_t caller_of(struct process *process, uint64_t native_stack, uint64_t py_stack)
{
	uint64_t id = mixed_stack_id(native_stack, py_stack);
	uint32_t site = py_stack ? 0 : native_stack_site(process, (uint32_t)native_stack);

	return site || !id ? site : mixed_stack_place(process, id);
}

void os_callers_add(struct os_threads *callers, uint32_t row, struct process *process,
	uint64_t native_stack, uint64_t py_stack, uint64_t ns)
{
	uint32_t caller = caller_of(process, native_stack, py_stack);

	if (caller) {
		os_threads_add(callers, row, NULL, caller, ns);
	}
}

static uint32_t caller_name(struct process *process, uint32_t caller)
{
	(void)process;
	return caller;
}

void os_callers_finish(struct os_threads *callers, size_t nr_rows)
{
	os_threads_finish(callers, nr_rows, caller_name);
}

void os_threads_fini(struct os_threads *threads)
{
	hash_free(threads->all);
	free(threads->rows);
	*threads = (struct os_threads){0};
}
