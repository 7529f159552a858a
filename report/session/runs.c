/* SPDX-License-Identifier: Apache-2.0 */
/* Groups processes into runs: a union-find whose rules are those of runs.h, in that order. */
#include "report/session/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/process_exit.h"
#include "report/util/hash.h"
#include "report/util/sort.h"

/* A launcher and its ranks may have shells and wrappers between them. */
#define MAX_GENERATIONS 3u
/* Clocks of hosts are taken to differ by no more. */
#define MAX_CLOCKS_NS 10000000000u
/* Between the starts of ranks that one process starts. */
#define MAX_STARTS_NS 10000000000u
/* On a busy machine the recorder of a running process may lag behind by this much. */
#define MAX_UNWRITTEN_NS 10000000000u

/* ---- what a process says ---- */

static uint32_t text_of(const struct process *process, const char *key)
{
	const char *value = process_fact(process, key, "");

	return *value ? string_pool_intern(value, strlen(value)) : 0;
}

/* The number that torchrun gives to jobs without a rendezvous of their own is "none". */
static uint32_t job_of(const struct process *process)
{
	return strcmp(process_fact(process, "job.id", ""), "none") == 0
		       ? 0
		       : text_of(process, "job.id");
}

/* The name of a stream, which has .part behind it while it is open. */
static uint32_t name_of(const char *path)
{
	static const char part[] = ".part";
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t length = strlen(name), nr_part = sizeof(part) - 1;

	if (length > nr_part && strcmp(name + length - nr_part, part) == 0) {
		length -= nr_part;
	}
	return string_pool_intern(name, length);
}

/* A process that makes no calls is still there while its samples go on. */
static uint64_t end_of(const struct process *process)
{
	uint64_t begin_ns = process->stream->header.start_realtime_ns;
	uint64_t end_ns = process->alive_ns + (uint64_t)process->realtime_offset_ns;

	if (process_exit_state(process) == PROCESS_EXIT_RUNS) {
		return UINT64_MAX;
	}
	return process->has_anchors && process->alive_ns && end_ns > begin_ns ? end_ns : begin_ns;
}

struct runs_process runs_describe(const struct process *process)
{
	const struct stream *stream = process->stream;

	return (struct runs_process){
		.path = string_pool_intern(stream->path, strlen(stream->path)),
		.name = name_of(stream->path),
		.id = text_of(process, "config.GPROF_RUN"),
		.first = text_of(process, "process.first_launched"),
		.ancestors = text_of(process, "process.ancestors"),
		.forker = text_of(process, "process.parent_stream"),
		.job = job_of(process),
		.job_step = text_of(process, "job.step"),
		.master = text_of(process, "job.master"),
		.port = text_of(process, "job.port"),
		.boot = process->boot,
		.pid_namespace = process->pid_namespace,
		.ancestor_namespace = process->ancestor_namespace,
		.pid = process->pid,
		.start_ticks = process->start_ticks,
		.rank = process->rank,
		.world = process->world,
		.begin_ns = stream->header.start_realtime_ns,
		.end_ns = end_of(process),
		.is_open = process_exit_state(process) == PROCESS_EXIT_UNKNOWN,
		.is_restarted = process_number(process, "job.restarts") >= 0,
		.is_trace = stream->is_trace,
	};
}

/* ---- groups ---- */

struct groups {
	struct runs_process *all;
	size_t nr;
	size_t *order;	     /* their indexes by begin, then by path */
	size_t *parent;	     /* of each index; the first of a group is its own */
	struct idmap firsts; /* size_t: 1 + the index of the first process with a key */
};

static size_t group_of(const struct groups *groups, size_t place)
{
	while (groups->parent[place] != place) {
		groups->parent[place] = groups->parent[groups->parent[place]];
		place = groups->parent[place];
	}
	return place;
}

static void unite(const struct groups *groups, size_t a, size_t b)
{
	groups->parent[group_of(groups, b)] = group_of(groups, a);
}

/* Kinds of keys, so that those of different kinds differ. */
enum key {
	KEY_ID = 1,
	KEY_LAUNCH,
	KEY_PROCESS,
	KEY_NAME,
	KEY_RESTARTS,
	KEY_JOB,
	KEY_MASTER,
	KEY_ANY
};

static uint64_t key_of(enum key kind, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return hash_mix(hash_mix(hash_mix(hash_mix(hash_mix(kind) ^ a) ^ b) ^ c) ^ d) | 1;
}

static uint64_t process_key(
	enum key kind, uint32_t boot, uint32_t pid_namespace, uint64_t pid, uint64_t ticks)
{
	return key_of(kind, (uint64_t)boot << 32 | pid_namespace, pid, ticks, 0);
}

static uint64_t ancestor_key(
	enum key kind, const struct runs_process *process, uint64_t pid, uint64_t ticks)
{
	return process_key(kind, process->boot, process->ancestor_namespace, pid, ticks);
}

/* With the first process of that key it is in one group. */
static void unite_by_key(struct groups *groups, uint64_t key, size_t place)
{
	size_t *first = idmap_put(&groups->firsts, key);

	if (*first) {
		unite(groups, *first - 1, place);
	} else {
		*first = place + 1;
	}
}

static void unite_with(struct groups *groups, uint64_t key, size_t place)
{
	const size_t *first = idmap_get(&groups->firsts, key);

	if (first) {
		unite(groups, *first - 1, place);
	}
}

/* Reads the next `pid:start_ticks`. */
static bool next_ancestor(const char **at, unsigned int *pid, unsigned long long *ticks)
{
	int used;

	if (sscanf(*at, " %9u:%18llu%n", pid, ticks, &used) != 2) {
		return false;
	}
	*at += used;
	return true;
}

static const char *ancestors_of(const struct runs_process *process)
{
	return process->boot && process->ancestors ? string_pool_text(process->ancestors, NULL)
						   : "";
}

static void add_keys(struct groups *groups, size_t place)
{
	const struct runs_process *process = &groups->all[place];

	if (process->id) {
		unite_by_key(groups, key_of(KEY_ID, process->id, 0, 0, 0), place);
	}
	if (process->first && process->boot) {
		unite_by_key(groups, ancestor_key(KEY_LAUNCH, process, process->first, 0), place);
	}
	if (process->start_ticks >= 0 && process->boot) {
		unite_by_key(groups,
			process_key(KEY_PROCESS, process->boot, process->pid_namespace,
				process->pid, (uint64_t)process->start_ticks),
			place);
	}
	unite_by_key(groups, key_of(KEY_NAME, process->name, 0, 0, 0), place);
}

static void unite_kin(struct groups *groups, size_t place)
{
	const struct runs_process *process = &groups->all[place];
	const char *at = ancestors_of(process);
	unsigned long long ticks;
	unsigned int pid;

	if (process->forker) {
		unite_with(groups, key_of(KEY_NAME, process->forker, 0, 0, 0), place);
	}
	for (bool is_parent = true; next_ancestor(&at, &pid, &ticks); is_parent = false) {
		unite_with(groups, ancestor_key(KEY_PROCESS, process, pid, ticks), place);
		if (is_parent && process->is_restarted) {
			unite_by_key(
				groups, ancestor_key(KEY_RESTARTS, process, pid, ticks), place);
		}
	}
}

/* ---- ranks ---- */

/* Processes of which some are ranks, on their way to be one run. */
struct family {
	const struct runs_process *rank; /* the first of them; NULL: there are none */
	uint64_t key, begin_ns, end_ns;
	size_t *places; /* of its processes */
	size_t nr_places, capacity;
	bool is_known; /* where it comes from */
	bool is_open;  /* end_ns is that of a process whose end nobody saw */
};

static void add_place(struct family *family, const struct groups *groups, size_t place)
{
	const struct runs_process *process = &groups->all[place];

	family->places = array_grow(
		family->places, family->nr_places, &family->capacity, sizeof(*family->places));
	family->places[family->nr_places++] = place;
	family->begin_ns =
		family->begin_ns < process->begin_ns ? family->begin_ns : process->begin_ns;
	if (process->end_ns >= family->end_ns) {
		family->end_ns = process->end_ns;
		family->is_open = process->is_open;
	}
	family->rank = !family->rank && process->rank >= 0 ? process : family->rank;
	family->is_known |= process->ancestors || process->id || process->forker;
}

/* The groups of now; the caller frees them. */
static struct family *families_of(const struct groups *groups, size_t *nr)
{
	struct family *families = mem_zeroed(groups->nr, sizeof(*families));
	size_t *family_of = mem_zeroed(groups->nr, sizeof(*family_of)); /* 1 + its index */

	*nr = 0;
	for (size_t i = 0; i < groups->nr; i++) {
		size_t place = groups->order[i], group = group_of(groups, place);

		if (groups->all[place].is_trace) {
			continue;
		}
		if (!family_of[group]) {
			families[*nr] = (struct family){.begin_ns = UINT64_MAX};
			family_of[group] = ++*nr;
		}
		add_place(&families[family_of[group] - 1], groups, place);
	}
	free(family_of);
	return families;
}

static void free_families(struct family *families, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(families[i].places);
	}
	free(families);
}

static bool have_rank_twice(
	const struct groups *groups, const struct family *a, const struct family *b)
{
	for (size_t i = 0; i < a->nr_places; i++) {
		const struct runs_process *x = &groups->all[a->places[i]];

		for (size_t k = 0; x->rank >= 0 && k < b->nr_places; k++) {
			const struct runs_process *y = &groups->all[b->places[k]];

			if (x->rank == y->rank) {
				return true;
			}
		}
	}
	return false;
}

static bool differ(uint32_t a, uint32_t b)
{
	return a && b && a != b;
}

/* The time in which nobody saw either of them. */
static uint64_t gap_between(const struct family *a, const struct family *b)
{
	const struct family *first = a->end_ns < b->begin_ns ? a : b;
	const struct family *second = first == a ? b : a;
	uint64_t gap_ns, unwritten_ns = first->rank && first->is_open ? MAX_UNWRITTEN_NS : 0;

	if (first->end_ns >= second->begin_ns) {
		return 0;
	}
	gap_ns = second->begin_ns - first->end_ns;
	return gap_ns > unwritten_ns ? gap_ns - unwritten_ns : 0;
}

/* How far apart two ranks may be that do not overlap, with the same boot and with two. */
struct apart {
	uint64_t here_ns, hosts_ns;
};

/* May both be ranks of one run? */
static bool may_be_one(const struct groups *groups, const struct family *a, const struct family *b,
	struct apart apart)
{
	const struct runs_process *x = a->rank, *y = b->rank;

	if (gap_between(a, b) > (x && y && x->boot != y->boot ? apart.hosts_ns : apart.here_ns)) {
		return false;
	}
	if (!x || !y) {
		return !x && !y;
	}
	return !differ(x->job, y->job) && !differ(x->job_step, y->job_step) &&
	       !differ(x->master, y->master) && !differ(x->port, y->port) &&
	       (x->world == y->world || x->world < 0 || y->world < 0) &&
	       !have_rank_twice(groups, a, b);
}

/*
 * Returns what ranks of one run have in common; the generations are tried in order. 0: this one
 * says nothing of the family.
 */
static uint64_t generation_key(const struct family *family, unsigned int generation)
{
	const char *at = family->rank ? ancestors_of(family->rank) : "";
	unsigned long long ticks;
	unsigned int pid;
	bool is_found = false;

	for (unsigned int i = 0; i <= generation; i++) {
		is_found = next_ancestor(&at, &pid, &ticks);
	}
	return is_found ? ancestor_key(KEY_PROCESS, family->rank, pid, ticks) : 0;
}

static uint64_t job_key(const struct family *family)
{
	const struct runs_process *rank = family->rank;

	return rank && (rank->job || rank->job_step)
		       ? key_of(KEY_JOB, rank->job, rank->job_step, 0, 0)
		       : 0;
}

/* Launches that have IDs, and no master in common, are what they seem: several. */
static uint64_t master_key(const struct family *family)
{
	const struct runs_process *rank = family->rank;
	bool is_alone;

	if (!rank) {
		return family->is_known ? 0 : key_of(KEY_ANY, 0, 0, 0, 0);
	}
	is_alone = rank->id && !(rank->master && rank->port);
	return key_of(KEY_MASTER, (uint64_t)rank->world, rank->master, rank->port,
		is_alone ? rank->id : 0);
}

static int compare_families(const void *a, const void *b)
{
	const struct family *x = a, *y = b;

	return ORDER(COMPARE(x->key, y->key), COMPARE(x->begin_ns, y->begin_ns));
}

/* Those of one key: each joins the first of the others before it with which it may be one. */
static void unite_families(
	struct groups *groups, struct family *families, size_t nr, struct apart apart)
{
	for (size_t i = 1; i < nr; i++) {
		for (size_t k = 0; k < i; k++) {
			if (families[k].nr_places &&
				may_be_one(groups, &families[k], &families[i], apart)) {
				for (size_t p = 0; p < families[i].nr_places; p++) {
					add_place(&families[k], groups, families[i].places[p]);
				}
				unite(groups, families[k].places[0], families[i].places[0]);
				families[i].nr_places = 0;
				break;
			}
		}
	}
}

enum { STAGE_JOB = MAX_GENERATIONS, STAGE_MASTER, NR_STAGES };

static void unite_ranks(struct groups *groups, unsigned int stage, struct apart apart)
{
	size_t nr, end;
	struct family *families = families_of(groups, &nr);

	for (size_t i = 0; i < nr; i++) {
		struct family *family = &families[i];
		bool is_single = family->rank && family->rank->world == 1;

		family->key = is_single			? 0
			      : stage < MAX_GENERATIONS ? generation_key(family, stage)
			      : stage == STAGE_JOB	? job_key(family)
							: master_key(family);
	}
	natural_sort(families, nr, sizeof(*families), compare_families);
	for (size_t i = 0; i < nr; i = end) {
		for (end = i + 1; end < nr && families[end].key == families[i].key;) {
			end++;
		}
		if (families[i].key) {
			unite_families(groups, families + i, end - i, apart);
		}
	}
	free_families(families, nr);
}

/* ---- all of it ---- */

static const struct runs_process *compared;

static int compare_places(const void *a, const void *b)
{
	const struct runs_process *x = &compared[*(const size_t *)a];
	const struct runs_process *y = &compared[*(const size_t *)b];

	return ORDER(COMPARE(x->begin_ns, y->begin_ns),
		strcmp(string_pool_text(x->path, NULL), string_pool_text(y->path, NULL)));
}

/* By their begin. */
static size_t number_runs(struct groups *groups)
{
	size_t *run_of = mem_zeroed(groups->nr, sizeof(*run_of)), nr_runs = 0;

	for (size_t i = 0; i < groups->nr; i++) {
		size_t place = groups->order[i], group = group_of(groups, place);

		if (!groups->all[place].is_trace) {
			run_of[group] = run_of[group] ? run_of[group] : ++nr_runs;
			groups->all[place].run = run_of[group];
		}
	}
	free(run_of);
	return nr_runs;
}

size_t runs_group(struct runs_process *processes, size_t nr_processes)
{
	struct groups groups = {.all = processes, .nr = nr_processes};
	size_t nr_runs;

	groups.order = mem_zeroed(nr_processes, sizeof(*groups.order));
	groups.parent = mem_zeroed(nr_processes, sizeof(*groups.parent));
	idmap_init(&groups.firsts, sizeof(size_t));
	for (size_t i = 0; i < nr_processes; i++) {
		groups.order[i] = i;
		groups.parent[i] = i;
	}
	compared = processes;
	natural_sort(groups.order, nr_processes, sizeof(*groups.order), compare_places);
	for (size_t i = 0; i < nr_processes; i++) {
		if (!processes[i].is_trace) {
			add_keys(&groups, i);
		}
	}
	for (size_t i = 0; i < nr_processes; i++) {
		if (!processes[i].is_trace) {
			unite_kin(&groups, i);
		}
	}
	for (unsigned int stage = 0; stage < NR_STAGES; stage++) {
		unite_ranks(&groups, stage, (struct apart){0, 0});
	}
	for (unsigned int stage = STAGE_JOB; stage < NR_STAGES; stage++) {
		unite_ranks(&groups, stage, (struct apart){0, MAX_CLOCKS_NS});
	}
	/* Programs of a moment may come one after the other, on a machine that is busy. */
	unite_ranks(&groups, 0, (struct apart){MAX_STARTS_NS, 0});
	nr_runs = number_runs(&groups);
	idmap_fini(&groups.firsts);
	free(groups.order);
	free(groups.parent);
	return nr_runs;
}
