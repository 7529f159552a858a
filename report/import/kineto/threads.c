/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives the threads of a trace numbers in order of their first event, and keeps the names that
 * metadata events give threads and processes, before or after these events.
 */
#include "report/import/kineto/threads.h"

#include <string.h>

#include "report/util/string_pool.h"
#include "report/util/hash.h"
#include "report/util/text.h"
#include "report/util/sort.h"

#define NAME_BYTES 64u
/* The most names kept, with or without a thread. */
#define MAX_THREADS (1u << 20)

struct kineto_thread {
	struct kineto_thread_key key;
	uint32_t id;   /* 0: no event of it yet */
	uint64_t seen; /* ns */
	char name[NAME_BYTES];
	uint32_t process_name; /* of string_pool.h; of the process, if tid is 0 */
	UT_hash_handle hh;
};

void kineto_threads_fini(struct kineto_threads *threads)
{
	hash_free(threads->by_key);
	*threads = (struct kineto_threads){0};
}

/* Returns the number, or for a text one that no process and no thread has. */
static uint64_t key_of(const struct kineto_json *json, const struct kineto_event *event,
	enum kineto_number number, int token)
{
	if (kineto_has(event, number) || !token) {
		return event->numbers[number];
	}
	return hash_fnv_add(HASH_FNV_BEGIN, json->bytes + json->tokens[token].start,
		       (size_t)(json->tokens[token].end - json->tokens[token].start)) |
	       1ull << 63;
}

struct kineto_thread_key kineto_threads_key(
	const struct kineto_json *json, const struct kineto_event *event)
{
	return (struct kineto_thread_key){key_of(json, event, KINETO_pid, event->pid),
		key_of(json, event, KINETO_tid, event->tid)};
}

static struct kineto_thread *find(
	struct kineto_threads *threads, const struct kineto_thread_key *key)
{
	struct kineto_thread *thread = threads->last;

	if (thread && thread->key.tid == key->tid && thread->key.pid == key->pid) {
		return thread;
	}
	hash_put(threads->by_key, key, key, thread);
	threads->last = thread;
	return thread;
}

uint32_t kineto_threads_id(struct kineto_threads *threads, const struct kineto_json *json,
	const struct kineto_event *event)
{
	const struct kineto_thread_key key = kineto_threads_key(json, event);
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

/* Is it a space and digits? */
static bool is_number(const char *text, size_t nr_bytes)
{
	size_t i = 1;

	while (i < nr_bytes && text[i] >= '0' && text[i] <= '9') {
		i++;
	}
	return *text == ' ' && i > 1 && i == nr_bytes;
}

/* Kineto writes "thread 123 (name)". A thread called "thread", or "thread 123", has no name. */
static void copy_thread_name(char name[NAME_BYTES], const char *text, size_t nr_bytes)
{
	const char *open =
		nr_bytes > 8 && !memcmp(text, "thread ", 7) ? memchr(text, '(', nr_bytes) : NULL;

	if (open && text[nr_bytes - 1] == ')') {
		nr_bytes -= (size_t)(open + 2 - text);
		text = open + 1;
	} else if (nr_bytes >= 6 && !memcmp(text, "thread", 6) &&
		   (nr_bytes == 6 || is_number(text + 6, nr_bytes - 6))) {
		nr_bytes = 0;
	}
	copy_name(name, text, nr_bytes);
}

void kineto_threads_name(
	struct kineto_threads *threads, struct kineto_json *json, const struct kineto_event *event)
{
	struct kineto_thread_key key = kineto_threads_key(json, event);
	const char *text;
	size_t nr_bytes;

	if (!event->name || !event->label || HASH_COUNT(threads->by_key) >= MAX_THREADS) {
		return;
	}
	if (kineto_json_is(json, event->name, "thread_name", 11)) {
		text = kineto_json_text(json, event->label, &nr_bytes);
		copy_thread_name(find(threads, &key)->name, text, nr_bytes);
	} else if (kineto_json_is(json, event->name, "process_name", 12)) {
		key.tid = 0;
		text = kineto_json_text(json, event->label, &nr_bytes);
		find(threads, &key)->process_name = string_pool_intern(text, nr_bytes);
	}
}

static uint32_t cut_to_32(uint64_t number)
{
	return number <= UINT32_MAX ? (uint32_t)number : 0;
}

static int by_id(struct kineto_thread *a, struct kineto_thread *b)
{
	return COMPARE(a->id, b->id);
}

const char *kineto_threads_process(const struct kineto_threads *threads, uint64_t pid)
{
	const struct kineto_thread_key key = {pid, 0};
	struct kineto_thread *process;

	HASH_FIND(hh, threads->by_key, &key, sizeof(key), process);
	return process ? string_pool_text(process->process_name, NULL) : "";
}

uint32_t kineto_threads_write(
	struct kineto_threads *threads, struct import_out *out, const char **name)
{
	struct kineto_thread *thread, *next, *first = NULL;

	HASH_SORT(threads->by_key, by_id);
	HASH_ITER(hh, threads->by_key, thread, next)
	{
		struct gprof_row_thread *row;
		uint32_t text;

		if (!thread->id) {
			continue;
		}
		/* Python functions outside of all threads have pid 0. */
		first = !first || (!first->key.pid && thread->key.pid) ? thread : first;
		text = import_out_string(out, thread->name, strlen(thread->name));
		row = import_out_row(out, GPROF_TABLE_thread);
		row->tick = thread->seen;
		row->thread = thread->id;
		row->tid = cut_to_32(thread->key.tid);
		row->name = text;
		row->what = GPROF_THREAD_SEEN;
	}
	*name = first ? kineto_threads_process(threads, first->key.pid) : "";
	return first ? cut_to_32(first->key.pid) : 0;
}
