/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process came from which: by the stream that a forked child names, by identity for exec, and
 * by the pids and start times of its ancestors for a spawned one. Never by time alone, since pids
 * come back.
 */
#ifndef REPORT_MODEL_PROCESS_TREE_H
#define REPORT_MODEL_PROCESS_TREE_H

#include "report/util/buf.h"
#include "report/model/model.h"

enum process_tree_link {
	PROCESS_TREE_NONE,  /* no stream of an ancestor is among them */
	PROCESS_TREE_FORK,  /* a child made by fork */
	PROCESS_TREE_SPAWN, /* started as a program of its own, by the parent or through others */
	PROCESS_TREE_EXEC,  /* the same process, with another program */
};

struct process_tree_member {
	enum process_tree_link link;
	size_t parent; /* index; valid unless PROCESS_TREE_NONE */
};

/*
 * Its number, from 0 on, if it says that it is a worker of a data loader, and of how many; else -1.
 */
int64_t process_tree_worker(const struct process *process, int64_t *nr_workers);

/* Appends ", loader worker N of M" for such a worker. */
void process_tree_add_worker(struct buf *out, const struct process *process);

/* Appends what a process is called beside others: "loader worker N", or its command, cut. */
void process_tree_add_name(struct buf *out, const struct process *process);

/* Fills one member for each process. */
void process_tree_find(
	struct process *const *all, size_t nr_all, struct process_tree_member *members);

/* Appends the tree, a line each: pid, how it came, what it is called, how it ended. */
void process_tree_add_tree(struct buf *out, struct process *const *all, size_t nr_all,
	const struct process_tree_member *members);

/* Appends how this one came to be, as the rest of a sentence. */
void process_tree_add_begin(struct buf *out, struct process *const *all, size_t index,
	const struct process_tree_member *members);

#endif
