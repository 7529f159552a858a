/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The communicators of the process, by their handles: their identity on all ranks, and how many
 * operations this rank has begun on them, also while nothing is recorded, so that numbers agree
 * between ranks. Any thread; no lock.
 */
#ifndef PRELOAD_NCCL_NCCL_COMM_H
#define PRELOAD_NCCL_NCCL_COMM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/format/format.h"
#include "preload/abi/nccl_abi.h"

/* Sends to and receives from ranks from here on are not numbered. */
#define NCCL_COMM_PEERS 128u

/* The bytes of a communicator's name; a longer one is cut. */
#define NCCL_COMM_NAME_BYTES 64u

/* Is it in the stream, and has the library identified it? */
enum nccl_comm_row { NCCL_COMM_UNWRITTEN, NCCL_COMM_UNIDENTIFIED, NCCL_COMM_IDENTIFIED };

enum nccl_comm_naming { NCCL_COMM_UNNAMED, NCCL_COMM_IS_NAMING, NCCL_COMM_NAMED };

struct nccl_comm_entry {
	_Atomic uintptr_t handle; /* 0 never used, NCCL_COMM_FREE, NCCL_COMM_BUSY or the handle */
	uint32_t id;		  /* in the stream */
	uint32_t parent;
	uint64_t key;	      /* of format.h */
	_Atomic int32_t rank; /* -1: not queried yet, or unknown */
	_Atomic uint32_t nr_ranks;
	bool is_hash; /* the handle is NCCL's hash, which is the key, too */
	/* NCCL's own, from its profiler plugin. */
	_Atomic enum nccl_comm_naming naming;
	uint64_t hash;
	char name[NCCL_COMM_NAME_BYTES];
	_Atomic enum nccl_comm_row state;
	_Atomic uint32_t nr_collectives, nr_split;
	_Atomic uint32_t nr_sent[NCCL_COMM_PEERS], nr_received[NCCL_COMM_PEERS];
};

/* The key of what all ranks make from these unique ids. */
uint64_t nccl_comm_key(const nccl_unique_id *ids, int nr_ids);

/* A key that no other communicator has: for communicators whose ranks are all made by one call. */
uint64_t nccl_comm_own_key(void);

/* The key of the communicators with that color, at this rank's next split or shrink of parent. */
uint64_t nccl_comm_split_key(struct nccl_comm_entry *parent, int64_t color);

/* A communicator was made. NULL if there are too many. */
struct nccl_comm_entry *nccl_comm_add(const nccl_comm *handle, uint64_t key, int32_t rank,
	uint32_t nr_ranks, const struct nccl_comm_entry *parent);

/* The entry of a handle, made if its creation was not recorded; NULL for none or too many. */
struct nccl_comm_entry *nccl_comm_find(const nccl_comm *handle);

/* It is gone; its handle may come again. */
void nccl_comm_drop(const nccl_comm *handle);

/*
 * By NCCL's own hash instead of the handle, the same on all ranks, for calls known from ranges.
 * These rarely name the rank. Two ranks of a communicator never share a device: while the ranges of
 * the process name one device, every entry with a hash belongs to one rank. Once they name two,
 * ranks are unknown, and operations have no numbers.
 */
struct nccl_comm_entry *nccl_comm_find_hash(uint64_t hash);
void nccl_comm_drop_hash(uint64_t hash);

/* Details from a range; rank -1 or nr_ranks 0: unknown. comm may be NULL. */
void nccl_comm_know(struct nccl_comm_entry *comm, int32_t rank, uint32_t nr_ranks);

/* The entry of the communicator that this address is within; NULL: there is none. */
struct nccl_comm_entry *nccl_comm_find_around(uintptr_t at);

/* Sets the name that NCCL has for it. */
void nccl_comm_name(struct nccl_comm_entry *comm, uint64_t hash, const char *name);

/* A range names a device, by its number in the process. */
void nccl_comm_use_device(uint32_t device);

/* The number of an operation that begins now, 0 if it is not counted. */
uint32_t nccl_comm_count(struct nccl_comm_entry *comm, enum gprof_nccl kind, int peer);

/*
 * The id for rows about it, 0 for NULL. Writes it to the stream before the first such row, and
 * again when more is known. function: any function of the communicator's library, which supplies
 * missing details; queried only if that is safe.
 */
uint32_t nccl_comm_id(struct nccl_comm_entry *comm, const void *function, bool may_ask);

#endif
