/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of processes. Fork: the child names its parent's stream. Exec: both have the same
 * identity. Spawn: the child names pids and start times of its ancestors. Time alone never decides,
 * since pids are reused.
 */
#ifndef REPORT_MODEL_PROCESS_TREE_H
#define REPORT_MODEL_PROCESS_TREE_H

#include "report/util/buf.h"
#include "report/model/model.h"

enum process_tree_link {
	PROCESS_TREE_NONE,  /* no ancestor has a stream here */
	PROCESS_TREE_FORK,  /* a child made by fork */
	PROCESS_TREE_SPAWN, /* a program of its own, started directly or indirectly */
	PROCESS_TREE_EXEC,  /* the same process, with another program */
};

struct process_tree_member {
	enum process_tree_link link;
	size_t parent; /* index; valid unless PROCESS_TREE_NONE */
};

/* The number of a data loader worker, from 0, and how many there are; -1 for other processes. */
int64_t process_tree_worker(const struct process *process, int64_t *nr_workers);

/* Appends ", loader worker N of M" for such a worker. */
void process_tree_add_worker(struct buf *out, const struct process *process);

/* Appends a short name of the process: "loader worker N", or its command, cut. */
void process_tree_add_name(struct buf *out, const struct process *process);

/* Looks at all other processes for that of `index`. */
struct process_tree_member process_tree_find_one(
	struct process *const *all, size_t nr_all, size_t index);

/* Fills one member for each process. */
void process_tree_find(
	struct process *const *all, size_t nr_all, struct process_tree_member *members);

/* Appends the tree, one line each: pid, origin, name, end. */
void process_tree_add_tree(struct buf *out, struct process *const *all, size_t nr_all,
	const struct process_tree_member *members);

/*
 * Appends how this process began, as the rest of a sentence. False: it is not recorded, or it was
 * the first one of its run.
 */
bool process_tree_add_begin(struct buf *out, struct process *const *all, size_t index,
	const struct process_tree_member *member);

#endif
