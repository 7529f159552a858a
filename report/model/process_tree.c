/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the parent of each process of a dump, and prints the tree for `info` and the summary. It
 * works after all inputs are loaded, since a parent is found by what its child recorded of it. Exec
 * is tried first, since it is the surest: both streams are of one process. Then come fork, where
 * the child names its parent's file, and spawn, where it names its ancestors.
 */
#include "report/model/process_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/process_exit.h"
#include "report/util/text.h"

#define NAME_WIDTH 48u
#define NAME_BYTES 200u
/* Deeper trees are not indented further: streams may claim any depth. */
#define MAX_INDENT 20u

static const char *base_name(const struct process *process)
{
	const char *slash = strrchr(process->stream->path, '/');

	return slash ? slash + 1 : process->stream->path;
}

static uint64_t started_ns(const struct process *process)
{
	return process->stream->header.start_realtime_ns;
}

/* ---- parents ---- */

/* A closed stream has this name; an open one has `.part` behind it. */
static bool is_called(const struct process *process, const char *name)
{
	const char *base = base_name(process);
	size_t length = strlen(name);

	return strncmp(base, name, length) == 0 &&
	       (!base[length] || strcmp(base + length, ".part") == 0);
}

static bool find_forker(struct process *const *all, size_t nr_all, size_t child, size_t *parent)
{
	const char *name = process_fact(all[child], "process.parent_stream", "");

	for (size_t i = 0; *name && i < nr_all; i++) {
		if (i != child && is_called(all[i], name)) {
			*parent = i;
			return true;
		}
	}
	return false;
}

/* The last stream of that process which began before the child. */
static bool find_identity(struct process *const *all, size_t nr_all, const struct process *wanted,
	size_t child, size_t *parent)
{
	bool found = false;

	for (size_t i = 0; i < nr_all; i++) {
		if (i != child && process_is_same(all[i], wanted) &&
			started_ns(all[i]) < started_ns(all[child]) &&
			(!found || started_ns(all[i]) > started_ns(all[*parent]))) {
			*parent = i;
			found = true;
		}
	}
	return found;
}

/* The nearest of its ancestors, given as `pid:start_ticks`, that has a stream. */
static bool find_ancestor(struct process *const *all, size_t nr_all, size_t child, size_t *parent)
{
	const char *at = process_fact(all[child], "process.ancestors", "");
	struct process wanted = {
		.boot = all[child]->boot, .pid_namespace = all[child]->ancestor_namespace};
	unsigned int pid;
	long long ticks;
	int used;

	while (sscanf(at, " %9u:%18lld%n", &pid, &ticks, &used) == 2) {
		wanted.pid = pid;
		wanted.start_ticks = ticks;
		if (find_identity(all, nr_all, &wanted, child, parent)) {
			return true;
		}
		at += used;
	}
	return false;
}

/* A process of the same identity that began earlier can only be the same process before exec. */
struct process_tree_member process_tree_find_one(
	struct process *const *all, size_t nr_all, size_t index)
{
	struct process_tree_member member = {.link = PROCESS_TREE_NONE};

	if (find_identity(all, nr_all, all[index], index, &member.parent)) {
		member.link = PROCESS_TREE_EXEC;
	} else if (find_forker(all, nr_all, index, &member.parent)) {
		member.link = PROCESS_TREE_FORK;
	} else if (find_ancestor(all, nr_all, index, &member.parent)) {
		member.link = PROCESS_TREE_SPAWN;
	}
	return member;
}

void process_tree_find(
	struct process *const *all, size_t nr_all, struct process_tree_member *members)
{
	for (size_t i = 0; i < nr_all; i++) {
		members[i] = process_tree_find_one(all, nr_all, i);
	}
}

/* ---- words ---- */

int64_t process_tree_worker(const struct process *process, int64_t *nr_workers)
{
	int64_t number = process_number(process, "loader.worker");

	*nr_workers = process_number(process, "loader.workers");
	return number >= 0 && number < *nr_workers ? number : -1;
}

void process_tree_add_worker(struct buf *out, const struct process *process)
{
	int64_t nr_workers, number = process_tree_worker(process, &nr_workers);

	if (number >= 0) {
		buf_printf(out, ", loader worker %" PRId64 " of %" PRId64, number, nr_workers);
	}
}

void process_tree_add_name(struct buf *out, const struct process *process)
{
	const char *command = process_command(process);
	int64_t nr_workers, number = process_tree_worker(process, &nr_workers);

	if (number >= 0) {
		buf_printf(out, "loader worker %" PRId64, number);
	} else {
		buf_add(out, command, strnlen(command, NAME_BYTES));
	}
}

static const char *const link_words[] = {
	[PROCESS_TREE_NONE] = "",
	[PROCESS_TREE_FORK] = "fork  ",
	[PROCESS_TREE_SPAWN] = "spawn ",
	[PROCESS_TREE_EXEC] = "exec  ",
};

struct tree {
	struct buf *out;
	struct process *const *all;
	size_t nr_all;
	const struct process_tree_member *members;
	size_t *first_child, *next; /* lists of children by index + 1, 0 ends them */
	bool *is_shown;
};

/* Text from streams is untrusted: text_add_shown() makes it printable and cuts it to a width. */
static void add_line(struct tree *tree, size_t index, size_t depth)
{
	const struct process *process = tree->all[index];
	struct buf name = {0}, ending = {0};
	size_t width;

	tree->is_shown[index] = true;
	buf_pad(tree->out, ' ', 2 + 2 * (depth < MAX_INDENT ? depth : MAX_INDENT));
	buf_printf(tree->out, "%-7u %s", process->pid, link_words[tree->members[index].link]);
	process_tree_add_name(&name, process);
	width = text_add_shown(tree->out, name.bytes, name.nr_bytes, NAME_WIDTH);
	buf_pad(tree->out, ' ', NAME_WIDTH > width ? NAME_WIDTH - width : 0);
	buf_text(tree->out, "  ");
	process_exit_add_text(&ending, process, tree->all, tree->nr_all);
	text_add_shown(tree->out, ending.bytes, ending.nr_bytes, 0);
	buf_char(tree->out, '\n');
	buf_fini(&name);
	buf_fini(&ending);
}

/*
 * Without recursion, as streams may claim any depth: to the first child, else the next sibling,
 * else up. Each member has one parent and the root has none, so it terminates.
 */
static void add_branch(struct tree *tree, size_t root)
{
	size_t at = root, depth = 0;

	for (;;) {
		size_t child = tree->first_child[at];

		add_line(tree, at, depth);
		if (child) {
			at = child - 1;
			depth++;
			continue;
		}
		while (at != root && !tree->next[at]) {
			at = tree->members[at].parent;
			depth--;
		}
		if (at == root) {
			return;
		}
		at = tree->next[at] - 1;
	}
}

/* Goes through the members backwards so that each list of children is in the order of `all`. */
void process_tree_add_tree(struct buf *out, struct process *const *all, size_t nr_all,
	const struct process_tree_member *members)
{
	struct tree tree = {out, all, nr_all, members, mem_zeroed(nr_all, sizeof(size_t)),
		mem_zeroed(nr_all, sizeof(size_t)), mem_zeroed(nr_all, sizeof(bool))};

	for (size_t i = nr_all; i-- > 0;) {
		if (members[i].link != PROCESS_TREE_NONE) {
			tree.next[i] = tree.first_child[members[i].parent];
			tree.first_child[members[i].parent] = i + 1;
		}
	}
	for (size_t i = 0; i < nr_all; i++) {
		if (members[i].link == PROCESS_TREE_NONE) {
			add_branch(&tree, i);
		}
	}
	/* Streams that name each other as parents have no root. */
	for (size_t i = 0; i < nr_all; i++) {
		if (!tree.is_shown[i]) {
			add_line(&tree, i, 0);
		}
	}
	free(tree.first_child);
	free(tree.next);
	free(tree.is_shown);
}

/* What started the first process of a run, such as a shell, never has a stream. */
static bool is_first(const struct process *process)
{
	return strtoull(process_fact(process, "process.first_launched", "0"), NULL, 10) ==
	       process->pid;
}

bool process_tree_add_begin(struct buf *out, struct process *const *all, size_t index,
	const struct process_tree_member *member)
{
	static const char *const words[] = {
		[PROCESS_TREE_FORK] = "forked from",
		[PROCESS_TREE_SPAWN] = "started by",
		[PROCESS_TREE_EXEC] = "by exec in place of",
	};
	const struct process *process = all[index];
	const char *named = process_fact(process, "process.parent_stream", "");
	int64_t parent_pid = process_number(process, "process.parent_pid");

	if (member->link != PROCESS_TREE_NONE) {
		buf_printf(out, "%s process %u (%s)", words[member->link], all[member->parent]->pid,
			base_name(all[member->parent]));
	} else if (*named) {
		buf_printf(
			out, "forked from the process of %s, which is not among the inputs", named);
	} else if (parent_pid >= 0 && !is_first(process)) {
		buf_printf(out, "started by process %lld, which has no stream here",
			(long long)parent_pid);
	} else {
		return false;
	}
	return true;
}
