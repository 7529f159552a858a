/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a thread come in the order of their times, except where a stream is damaged. */
#include "report/host/thread_states.h"

#include <string.h>

static struct thread_states_key make_key(struct process *process, uint32_t tid, uint32_t name)
{
	struct thread_states_key key;

	memset(&key, 0, sizeof(key));
	key.process = process;
	key.tid = tid;
	key.name = name;
	return key;
}

/* A thread migrates when it runs on another CPU than in the row that ends as this one begins. */
static void add_place(struct thread_states *thread, const struct batch *b, uint32_t i, bool runs)
{
	uint64_t begin = b->col[COL_thread_state_begin][i];
	uint64_t cpu = b->col[COL_thread_state_cpu][i];

	thread->nr_migrations +=
		runs && thread->has_cpu && thread->last_end == begin && thread->last_cpu != cpu;
	thread->first_begin = thread->has_cpu ? thread->first_begin : begin;
	thread->has_cpu = true;
	thread->last_cpu = cpu;
	thread->last_end = begin + b->col[COL_thread_state_dur][i];
}

void thread_states_add(struct thread_states **all, struct process *process, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t name = b->col[COL_thread_state_name][i];
		const struct thread_states_key key =
			make_key(process, (uint32_t)b->col[COL_thread_state_task][i],
				name ? process_string(process, name) : 0);
		struct thread_states *thread;
		uint64_t state = b->col[COL_thread_state_state][i];
		uint64_t ns =
			clock_map_duration(&process->host_clock, b->col[COL_thread_state_dur][i]);
		bool is_switched =
			b->col[COL_thread_state_switches][i] & GPROF_THREAD_SWITCHED_AT_BEGIN;

		if (!state || state >= THREAD_STATES_NR) {
			continue; /* of a later version */
		}
		hash_put(*all, key, &key, thread);
		thread->ns[state] += ns;
		thread->ns[0] += ns;
		thread->nr_preempted += is_switched && state == GPROF_THREAD_RUNNABLE;
		thread->nr_blocked += is_switched && state == GPROF_THREAD_BLOCKED;
		thread->nr_off += is_switched && state == GPROF_THREAD_OFF_CPU;
		add_place(thread, b, i, state == GPROF_THREAD_RUNNING);
	}
}

struct thread_states *thread_states_by_tid(const struct thread_states *all)
{
	struct thread_states *sums = NULL, *sum;

	for (const struct thread_states *each = all; each; each = each->hh.next) {
		const struct thread_states_key key = make_key(each->key.process, each->key.tid, 0);

		hash_put(sums, key, &key, sum);
		for (size_t i = 0; i < THREAD_STATES_NR; i++) {
			sum->ns[i] += each->ns[i];
		}
		sum->nr_preempted += each->nr_preempted;
		sum->nr_blocked += each->nr_blocked;
		sum->nr_off += each->nr_off;
		sum->nr_migrations += each->nr_migrations;
		sum->last_name = each->key.name;
		sum->first_begin = sum->has_cpu && sum->first_begin < each->first_begin
					   ? sum->first_begin
					   : each->first_begin;
		sum->last_end = sum->last_end > each->last_end ? sum->last_end : each->last_end;
		sum->has_cpu = true;
	}
	return sums;
}

struct thread_states *thread_states_find(
	struct thread_states *all, struct process *process, uint32_t tid, uint32_t name)
{
	const struct thread_states_key key = make_key(process, tid, name);
	struct thread_states *found;

	HASH_FIND(hh, all, &key, sizeof(key), found);
	return found;
}

uint64_t thread_states_unknown_ns(const struct thread_states *thread)
{
	uint64_t all_ns = thread->last_end > thread->first_begin
				  ? clock_map_duration(&thread->key.process->host_clock,
					    thread->last_end - thread->first_begin)
				  : 0;

	return thread->key.process->select ? UINT64_MAX
	       : all_ns > thread->ns[0]	   ? all_ns - thread->ns[0]
					   : 0;
}

const char *thread_state_name(uint8_t state)
{
	static const char *const names[THREAD_STATES_NR] = {
		"unknown", "running", "preempted", "blocked", "off CPU"};

	return names[state < THREAD_STATES_NR ? state : 0];
}
