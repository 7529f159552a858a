/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open hash table, by the handle of a communicator or by the hash that ranges have. A removed
 * entry becomes FREE, not 0, so that searches continue behind it; a new one is BUSY until it is
 * complete. A communicator's row is written at its first use, and again once more is known of it.
 */
#include "preload/nccl/nccl_comm.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "collector/collector.h"
#include "collector/util/hash.h"
#include "collector/util/target.h"
#include "preload/base/modules.h"

#define MAX_COMMS	512u	   /* a power of two */
#define COLOR_SHIFT	1	   /* since -1 and 0 are colors as well */
#define COMM_BYTES	(1u << 20) /* NCCL's own struct has less than 200 KB */
#define IS_RESERVED(at) ((at) <= NCCL_COMM_BUSY)

/* Values that no handle has. */
enum { NCCL_COMM_FREE = 1, NCCL_COMM_BUSY = 2 };

static struct nccl_comm_state {
	struct nccl_comm_entry entries[MAX_COMMS]; /* open addressing */
	_Atomic uint32_t nr_ids;
	_Atomic uint32_t nr_own_keys;
	atomic_bool is_full;
	_Atomic uint32_t device; /* 1 + that of the ranges, 0 none yet */
	atomic_bool has_several_devices;
} state;

/* ---- keys ---- */

static uint64_t hash(uint64_t key, const void *bytes, size_t nr_bytes)
{
	key = hash_add(key, bytes, nr_bytes);
	return key ? key : 1;
}

uint64_t nccl_comm_key(const nccl_unique_id *ids, int nr_ids)
{
	return ids && nr_ids > 0 ? hash(HASH_BEGIN, ids, (size_t)nr_ids * sizeof(*ids)) : 0;
}

uint64_t nccl_comm_own_key(void)
{
	uint64_t facts[] = {
		clock_raw(), (uint64_t)getpid(), atomic_fetch_add(&state.nr_own_keys, 1)};

	return hash(HASH_BEGIN, facts, sizeof(facts));
}

uint64_t nccl_comm_split_key(struct nccl_comm_entry *parent, int64_t color)
{
	uint64_t facts[] = {parent ? atomic_fetch_add(&parent->nr_split, 1) : 0,
		(uint64_t)(color + COLOR_SHIFT)};

	return parent && parent->key ? hash(parent->key, facts, sizeof(facts)) : 0;
}

/* ---- the table ---- */

static uint32_t place_of(uintptr_t handle)
{
	return (uint32_t)((handle * 0x9e3779b97f4a7c15u) >> 32) & (MAX_COMMS - 1);
}

static struct nccl_comm_entry *look_for(uintptr_t handle)
{
	uint32_t place = place_of(handle);

	for (uint32_t i = 0; i < MAX_COMMS; i++) {
		struct nccl_comm_entry *entry = &state.entries[(place + i) & (MAX_COMMS - 1)];
		uintptr_t at = atomic_load_explicit(&entry->handle, memory_order_acquire);

		if (at == handle || !at) {
			return at ? entry : NULL;
		}
	}
	return NULL;
}

/* Returns an entry for a handle that is not there; NULL if all are in use. */
static struct nccl_comm_entry *claim(uintptr_t handle)
{
	uint32_t place = place_of(handle);

	for (uint32_t i = 0; i < MAX_COMMS; i++) {
		struct nccl_comm_entry *entry = &state.entries[(place + i) & (MAX_COMMS - 1)];
		uintptr_t at = atomic_load(&entry->handle);

		if (at <= NCCL_COMM_FREE &&
			atomic_compare_exchange_strong(&entry->handle, &at, NCCL_COMM_BUSY)) {
			return entry;
		}
	}
	return NULL;
}

static void report_full(void)
{
	if (!atomic_exchange(&state.is_full, true)) {
		notice_add("NCCL communicators", 0,
			"more than %u communicators at once; calls on the others are recorded "
			"without their communicator",
			MAX_COMMS);
	}
}

/* A new entry for a handle that is not there, to be published; NULL if there are too many. */
static struct nccl_comm_entry *put(uintptr_t at, uint64_t key, int32_t rank, uint32_t nr_ranks)
{
	struct nccl_comm_entry *entry = claim(at);

	if (!entry) {
		report_full();
		return NULL;
	}
	entry->id = atomic_fetch_add(&state.nr_ids, 1) + 1;
	entry->parent = 0;
	entry->key = key;
	entry->rank = rank;
	entry->nr_ranks = nr_ranks;
	entry->is_hash = false;
	atomic_store(&entry->naming, NCCL_COMM_UNNAMED);
	entry->hash = 0;
	memset(entry->name, 0, sizeof(entry->name));
	atomic_store(&entry->state, NCCL_COMM_UNWRITTEN);
	memset((void *)&entry->nr_collectives, 0,
		sizeof(*entry) - offsetof(struct nccl_comm_entry, nr_collectives));
	return entry;
}

static struct nccl_comm_entry *publish(struct nccl_comm_entry *entry, uintptr_t at)
{
	if (entry) {
		atomic_store_explicit(&entry->handle, at, memory_order_release);
	}
	return entry;
}

struct nccl_comm_entry *nccl_comm_add(const nccl_comm *handle, uint64_t key, int32_t rank,
	uint32_t nr_ranks, const struct nccl_comm_entry *parent)
{
	struct nccl_comm_entry *entry;

	if (IS_RESERVED((uintptr_t)handle)) {
		return NULL;
	}
	nccl_comm_drop(handle); /* it came again without our seeing the end of the other */
	entry = put((uintptr_t)handle, key, rank, nr_ranks);
	if (entry && parent) {
		entry->parent = parent->id;
	}
	return publish(entry, (uintptr_t)handle);
}

struct nccl_comm_entry *nccl_comm_find(const nccl_comm *handle)
{
	uintptr_t at = (uintptr_t)handle;
	struct nccl_comm_entry *entry = IS_RESERVED(at) ? NULL : look_for(at);

	return entry ? entry : nccl_comm_add(handle, 0, -1, 0, NULL);
}

void nccl_comm_drop(const nccl_comm *handle)
{
	uintptr_t at = (uintptr_t)handle;
	struct nccl_comm_entry *entry = IS_RESERVED(at) ? NULL : look_for(at);

	if (entry) {
		atomic_store(&entry->handle, NCCL_COMM_FREE);
	}
}

/* ---- by hash ---- */

struct nccl_comm_entry *nccl_comm_find_hash(uint64_t hash)
{
	struct nccl_comm_entry *entry = IS_RESERVED(hash) ? NULL : look_for(hash);

	if (entry || IS_RESERVED(hash)) {
		return entry;
	}
	entry = put(hash, hash, -1, 0);
	if (entry) {
		entry->is_hash = true;
	}
	return publish(entry, hash);
}

void nccl_comm_know(struct nccl_comm_entry *comm, int32_t rank, uint32_t nr_ranks)
{
	if (comm && nr_ranks && !comm->nr_ranks) {
		comm->nr_ranks = nr_ranks;
		atomic_store(&comm->state, NCCL_COMM_UNWRITTEN);
	}
	if (comm && rank >= 0 && comm->rank < 0) {
		comm->rank = rank;
		atomic_store(&comm->state, NCCL_COMM_UNWRITTEN);
	}
}

/* The nearest handle below, since each communicator is memory of its own. */
struct nccl_comm_entry *nccl_comm_find_around(uintptr_t at)
{
	struct nccl_comm_entry *nearest = NULL;
	uintptr_t distance = COMM_BYTES;

	for (uint32_t i = 0; i < MAX_COMMS; i++) {
		struct nccl_comm_entry *entry = &state.entries[i];
		uintptr_t handle = atomic_load_explicit(&entry->handle, memory_order_acquire);

		if (!IS_RESERVED(handle) && !entry->is_hash && at - handle < distance) {
			nearest = entry;
			distance = at - handle;
		}
	}
	return nearest;
}

/* Ranks of one process may share an entry; the first names it, and nobody reads a part of that. */
void nccl_comm_name(struct nccl_comm_entry *comm, uint64_t hash, const char *name)
{
	enum nccl_comm_naming unnamed = NCCL_COMM_UNNAMED;

	if ((!hash && !*name) ||
		!atomic_compare_exchange_strong(&comm->naming, &unnamed, NCCL_COMM_IS_NAMING)) {
		return;
	}
	comm->hash = hash;
	strncpy(comm->name, name, sizeof(comm->name) - 1);
	atomic_store(&comm->naming, NCCL_COMM_NAMED);
	atomic_store(&comm->state, NCCL_COMM_UNWRITTEN);
}

void nccl_comm_use_device(uint32_t device)
{
	uint32_t none = 0;

	if (!atomic_compare_exchange_strong(&state.device, &none, device + 1) &&
		none != device + 1) {
		atomic_store(&state.has_several_devices, true);
	}
}

void nccl_comm_drop_hash(uint64_t hash)
{
	nccl_comm_drop((const nccl_comm *)(uintptr_t)hash);
}

/* Does the process have several ranks, so that the hash names no single one? */
static bool is_ambiguous(const struct nccl_comm_entry *comm)
{
	return comm->is_hash && atomic_load(&state.has_several_devices);
}

/* ---- numbers ---- */

uint32_t nccl_comm_count(struct nccl_comm_entry *comm, enum gprof_nccl kind, int peer)
{
	if (!comm || is_ambiguous(comm) || kind > GPROF_NCCL_RECV) {
		return 0;
	}
	if (kind < GPROF_NCCL_SEND) {
		return atomic_fetch_add(&comm->nr_collectives, 1) + 1;
	}
	if (peer < 0 || peer >= (int)NCCL_COMM_PEERS) {
		return 0;
	}
	return 1 + atomic_fetch_add(kind == GPROF_NCCL_SEND ? &comm->nr_sent[peer]
							    : &comm->nr_received[peer],
			   1);
}

/* ---- in the stream ---- */

/* Queries the library itself, as the program could; -1 if it does not answer. */
static int ask(const void *function, const char *question, const nccl_comm *handle)
{
	int (*get)(const nccl_comm *comm, int *value) = NULL;
	int value = -1;

	if (function) {
		*(void **)&get = modules_find(function, question);
	}
	return get && get(handle, &value) == NCCL_SUCCESS ? value : -1;
}

static bool is_unknown(const struct nccl_comm_entry *comm)
{
	return comm->rank < 0 && !comm->is_hash;
}

static void write_comm(struct nccl_comm_entry *comm, const void *function, bool is_asked)
{
	const nccl_comm *handle = (const nccl_comm *)atomic_load(&comm->handle);
	bool is_named = atomic_load(&comm->naming) == NCCL_COMM_NAMED;
	struct gprof_row_nccl_comm row = {
		.tick = clock_raw(), .id = comm->id, .key = comm->key, .parent = comm->parent};

	if (is_asked && is_unknown(comm)) {
		int nr_ranks = ask(function, "ncclCommCount", handle);

		comm->rank = ask(function, "ncclCommUserRank", handle);
		comm->nr_ranks = nr_ranks > 0 ? (uint32_t)nr_ranks : 0;
	}
	row.rank = is_ambiguous(comm) ? -1 : comm->rank;
	row.nr_ranks = comm->nr_ranks;
	row.hash = is_named ? comm->hash : 0;
	ring_emit(&row, GPROF_TABLE_nccl_comm, comm->name, is_named ? strlen(comm->name) : 0);
}

uint32_t nccl_comm_id(struct nccl_comm_entry *comm, const void *function, bool may_ask)
{
	enum nccl_comm_row now = comm && !may_ask && is_unknown(comm) ? NCCL_COMM_UNIDENTIFIED
								      : NCCL_COMM_IDENTIFIED;
	TARGET_KEEP_ERRNO;

	/* It is already in the stream if it was the only one here; the later row counts. */
	if (comm && is_ambiguous(comm) && comm->rank >= 0) {
		comm->rank = -1;
		atomic_store(&comm->state, NCCL_COMM_UNWRITTEN);
	}
	if (comm && atomic_load(&comm->state) < now && atomic_exchange(&comm->state, now) < now) {
		write_comm(comm, function, may_ask);
	}
	return comm ? comm->id : 0;
}
