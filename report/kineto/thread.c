/* SPDX-License-Identifier: Apache-2.0 */
#include "report/kineto/thread.h"

#include <stdlib.h>

#include "report/util/hash.h"

#define NAME_BYTES 64u
/* Names of so many, threads or not, at most. */
#define MOST_THREADS (1u << 20)

struct thread_key {
	uint64_t pid, tid;
};

struct kineto_thread {
	struct thread_key key;
	uint32_t id;   /* 0: no event of it yet */
	uint64_t seen; /* ns */
	char name[NAME_BYTES];
	char process_name[NAME_BYTES]; /* where tid is 0, of the process */
	UT_hash_handle hh;
};

void kineto_threads_fini(struct kineto_threads *threads)
{
	hash_free(threads->by_key);
	*threads = (struct kineto_threads){0};
}

/* A number, or for a text one that no process and no thread has. */
static uint64_t number_of(const struct kineto_json *json, const struct kineto_event *event,
	enum kineto_number number, int token)
{
	uint64_t hash = 0xcbf29ce484222325u;

	if (kineto_has(event, number) || !token) {
		return event->numbers[number];
	}
	for (int i = json->tokens[token].start; i < json->tokens[token].end; i++) {
		hash = (hash ^ (unsigned char)json->bytes[i]) * 0x100000001b3u;
	}
	return hash | 1ull << 63;
}

static struct kineto_thread *find(struct kineto_threads *threads, const struct thread_key *key)
{
	struct kineto_thread *thread = threads->last;

	if (thread && thread->key.tid == key->tid && thread->key.pid == key->pid) {
		return thread;
	}
	HASH_FIND(hh, threads->by_key, key, sizeof(*key), thread);
	if (!thread) {
		thread = mem_zeroed(1, sizeof(*thread));
		thread->key = *key;
		HASH_ADD(hh, threads->by_key, key, sizeof(thread->key), thread);
	}
	threads->last = thread;
	return thread;
}

uint32_t kineto_threads_id(struct kineto_threads *threads, const struct kineto_json *json,
	const struct kineto_event *event)
{
	const struct thread_key key = {number_of(json, event, KINETO_pid, event->pid),
		number_of(json, event, KINETO_tid, event->tid)};
	struct kineto_thread *thread = find(threads, &key);

	if (!thread->id) {
		thread->id = ++threads->nr_ids;
		thread->seen = event->begin;
	}
	thread->seen = event->begin < thread->seen ? event->begin : thread->seen;
	return thread->id;
}

static void copy_name(char name[NAME_BYTES], const char *text, size_t nr_bytes)
{
	if (nr_bytes >= NAME_BYTES) {
		nr_bytes = NAME_BYTES - 1;
		while (nr_bytes && (text[nr_bytes] & 0xc0) == 0x80) {
			nr_bytes--; /* not within a character of UTF-8 */
		}
	}
	memcpy(name, text, nr_bytes);
	name[nr_bytes] = '\0';
}

/* Kineto writes "thread 123 (name)". */
static void copy_thread_name(char name[NAME_BYTES], const char *text, size_t nr_bytes)
{
	const char *open =
		nr_bytes > 8 && !memcmp(text, "thread ", 7) ? memchr(text, '(', nr_bytes) : NULL;

	if (open && text[nr_bytes - 1] == ')') {
		nr_bytes -= (size_t)(open + 2 - text);
		text = open + 1;
	}
	copy_name(name, text, nr_bytes);
}

void kineto_threads_name(
	struct kineto_threads *threads, struct kineto_json *json, const struct kineto_event *event)
{
	struct thread_key key = {number_of(json, event, KINETO_pid, event->pid),
		number_of(json, event, KINETO_tid, event->tid)};
	const char *text;
	size_t nr_bytes;

	if (!event->name || !event->label || HASH_COUNT(threads->by_key) >= MOST_THREADS) {
		return;
	}
	if (kineto_json_is(json, event->name, "thread_name", 11)) {
		text = kineto_json_text(json, event->label, &nr_bytes);
		copy_thread_name(find(threads, &key)->name, text, nr_bytes);
	} else if (kineto_json_is(json, event->name, "process_name", 12)) {
		key.tid = 0;
		text = kineto_json_text(json, event->label, &nr_bytes);
		copy_name(find(threads, &key)->process_name, text, nr_bytes);
	}
}

static uint32_t narrow(uint64_t number)
{
	return number <= UINT32_MAX ? (uint32_t)number : 0;
}

static int by_id(struct kineto_thread *a, struct kineto_thread *b)
{
	return (a->id > b->id) - (a->id < b->id);
}

uint32_t kineto_threads_write(
	struct kineto_threads *threads, struct kineto_out *out, const char **name)
{
	struct kineto_thread *thread, *next, *process = NULL, *first = NULL;

	HASH_SORT(threads->by_key, by_id);
	HASH_ITER(hh, threads->by_key, thread, next)
	{
		struct gprof_row_thread *row;
		uint32_t text;

		if (!thread->id) {
			continue;
		}
		/* Python's functions outside of any thread are of pid 0. */
		first = !first || (!first->key.pid && thread->key.pid) ? thread : first;
		text = kineto_out_string(out, thread->name, strlen(thread->name));
		row = kineto_out_row(out, GPROF_TABLE_thread);
		row->tick = thread->seen;
		row->thread = thread->id;
		row->tid = narrow(thread->key.tid);
		row->name = text;
		row->what = GPROF_THREAD_SEEN;
	}
	*name = "";
	if (first) {
		const struct thread_key key = {first->key.pid, 0};

		HASH_FIND(hh, threads->by_key, &key, sizeof(key), process);
		*name = process ? process->process_name : "";
	}
	return first ? narrow(first->key.pid) : 0;
}
