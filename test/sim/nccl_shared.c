/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators over several processes: a barrier and one file of data a rank, in shared memory. */
#include "test/sim/nccl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "test/sim/nccl_comm.h"

enum { PATIENCE_S = 60, LOOK_NS = 20000, CLOCK_LOOKS = 4 };

/* What one rank sends to another one; messages count from 1. */
struct nccl_lane {
	_Atomic int nr_sent, nr_wanted, nr_taken;
	_Atomic uint64_t end_ns; /* of the one at hand, the clock of all */
};

struct nccl_shared {
	_Atomic int nr_joined;
	_Atomic int nr_left;
	_Atomic int nr_arrived; /* at the barrier */
	_Atomic int generation;
	_Atomic int nr_processes;
	_Atomic uint64_t end_ns; /* of the collective at hand, the clock of all */
	struct nccl_lane lanes[NCCL_MAX_RANKS][NCCL_MAX_RANKS]; /* from, to */
};

/* The number of the file of what goes from one rank to another; those of ranks come before. */
static int lane_file(int from, int to)
{
	return NCCL_MAX_RANKS * (from + 1) + to;
}

uint64_t nccl_id_hash(const struct nccl_id *id)
{
	uint64_t hash = 1469598103934665603u;

	for (size_t i = 0; i < sizeof(id->bytes); i++) {
		hash = (hash ^ (unsigned char)id->bytes[i]) * 1099511628211u;
	}
	return hash;
}

static void name_of(const struct nccl_clique *c, int rank, char *name, size_t bytes)
{
	snprintf(
		name, bytes, "/ncclsim-%016llx-%d", (unsigned long long)nccl_id_hash(&c->id), rank);
}

/* Sleeps, as those whom it waits for may have no core of their own. */
static bool wait_for(_Atomic int *value, int wanted)
{
	static const struct timespec moment = {0, LOOK_NS};
	time_t start = time(NULL);

	while (atomic_load(value) < wanted) {
		if (time(NULL) - start > PATIENCE_S) {
			return false;
		}
		nanosleep(&moment, NULL);
	}
	return true;
}

/* Maps the clique's meeting place, once a process. */
static int open_locked(struct nccl_clique *c, const char *name)
{
	if (c->shared) {
		return NCCL_OK;
	}
	int fd = shm_open(name, O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(struct nccl_shared)) != 0) {
		if (fd >= 0) {
			close(fd);
		}
		return NCCL_SYSTEM;
	}
	void *p = mmap(NULL, sizeof(*c->shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	close(fd);
	if (p == MAP_FAILED) {
		return NCCL_SYSTEM;
	}
	c->shared = p;
	atomic_fetch_add(&c->shared->nr_processes, 1);
	return NCCL_OK;
}

int nccl_join(struct nccl_clique *c, int nr_joining)
{
	char name[64];

	name_of(c, -1, name, sizeof(name));
	pthread_mutex_lock(&c->lock);
	int r = open_locked(c, name);

	pthread_mutex_unlock(&c->lock);
	if (r != NCCL_OK) {
		return r;
	}
	atomic_fetch_add(&c->shared->nr_joined, nr_joining);
	if (!wait_for(&c->shared->nr_joined, c->nr_ranks)) {
		shm_unlink(name);
		return NCCL_SYSTEM;
	}
	bool is_shared = atomic_load(&c->shared->nr_processes) > 1;

	pthread_mutex_lock(&c->lock);
	c->is_shared = is_shared;
	pthread_mutex_unlock(&c->lock);
	/* The barrier between processes counts ranks, so each brings one. */
	return is_shared && c->nr_here > 1 ? NCCL_INVALID_USAGE : NCCL_OK;
}

void nccl_leave(struct nccl_clique *c)
{
	char name[64];

	if (!c->shared) {
		return;
	}
	if (atomic_fetch_add(&c->shared->nr_left, 1) + 1 == atomic_load(&c->shared->nr_processes)) {
		for (int r = -1; r < c->nr_ranks; r++) {
			name_of(c, r, name, sizeof(name));
			shm_unlink(name);
			for (int to = 0; r >= 0 && to < c->nr_ranks; to++) {
				name_of(c, lane_file(r, to), name, sizeof(name));
				shm_unlink(name);
			}
		}
	}
	munmap(c->shared, sizeof(*c->shared));
	c->shared = NULL;
}

/* The clock of all processes; what the C library returns to one of them may be shifted. */
static uint64_t now_ns(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double gbps_of(const char *text)
{
	return text ? strtod(text, NULL) : 0;
}

/* How long data travel once all sides are there; by the slow link, if that is between a and b. */
static uint64_t transfer_ns(size_t bytes, int a, int b)
{
	const char *link = getenv("SIM_NCCL_LINK");
	double gbps = gbps_of(getenv("SIM_NCCL_GBPS"));
	int from = -1, to = -1, end = 0;

	if (link && sscanf(link, "%d-%d:%n", &from, &to, &end) == 2 && end &&
		((a == from && b == to) || (a == to && b == from))) {
		gbps = gbps_of(link + end);
	}
	return gbps > 0 ? (uint64_t)((double)bytes / gbps) : 0;
}

/* 0 is over. */
static void wait_until(uint64_t time_ns)
{
	struct timespec t = {(time_t)(time_ns / 1000000000u), (long)(time_ns % 1000000000u)};

	while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL) == EINTR) {
	}
}

/* What takes no time has no modelled end. */
static uint64_t arrival_of(uint64_t ns)
{
	return ns ? now_ns() + ns : 0;
}

/* A moment by the clock of this process, of which the model reads the time. */
static uint64_t own_time(uint64_t time_ns)
{
	uint64_t own_ns = 0, least_ns = UINT64_MAX;

	for (int i = 0; i < CLOCK_LOOKS; i++) {
		uint64_t before_ns = now_ns(), now = nccl_core()->now(), ns = now_ns() - before_ns;

		if (ns < least_ns) {
			least_ns = ns;
			own_ns = now + (time_ns - before_ns) - ns / 2;
		}
	}
	return own_ns;
}

/* That is the kernel's end on all ranks, whenever each gets to look at the clock. */
static void end_at(uint64_t end_ns)
{
	if (end_ns) {
		nccl_core()->end_kernel(own_time(end_ns));
	}
}

/*
 * Only one rank a process may be in a shared clique, so ranks and arrivals are one to one. What the
 * last one brings takes so long from then on.
 */
static bool barrier(struct nccl_clique *c, uint64_t ns)
{
	struct nccl_shared *s = c->shared;
	int generation = atomic_load(&s->generation);

	if (atomic_fetch_add(&s->nr_arrived, 1) + 1 == c->nr_ranks) {
		atomic_store(&s->nr_arrived, 0);
		atomic_store(&s->end_ns, arrival_of(ns));
		atomic_fetch_add(&s->generation, 1);
		return true;
	}
	return wait_for(&s->generation, generation + 1);
}

/* A rank's file of what it sends to all, or that of a lane. */
static void *map_file(const struct nccl_clique *c, int number, size_t bytes, bool is_mine)
{
	char name[64];

	name_of(c, number, name, sizeof(name));
	int fd = shm_open(name, is_mine ? O_RDWR | O_CREAT : O_RDONLY, 0600);

	if (fd < 0 || (is_mine && ftruncate(fd, (off_t)bytes) != 0)) {
		if (fd >= 0) {
			close(fd);
		}
		return NULL;
	}
	void *p =
		mmap(NULL, bytes, is_mine ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);

	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

int nccl_move_shared(struct nccl_op *op)
{
	struct nccl_clique *c = op->comm->clique;
	struct nccl_op parts[NCCL_MAX_RANKS];
	void *maps[NCCL_MAX_RANKS] = {NULL};
	bool is_wide = op->kind == NCCL_REDUCE_SCATTER || op->kind == NCCL_ALL_TO_ALL ||
		       op->kind == NCCL_SCATTER;
	size_t bytes = op->count * nccl_type_bytes(op->type) * (is_wide ? (size_t)c->nr_ranks : 1);
	int r = NCCL_OK;
	void *mine = map_file(c, op->comm->rank, bytes, true);

	if (mine && op->send) {
		memcpy(mine, op->send, bytes);
	}
	if (!mine || !barrier(c, transfer_ns(bytes, -1, -1))) {
		return NCCL_SYSTEM;
	}
	for (int i = 0; i < c->nr_ranks; i++) {
		maps[i] = i == op->comm->rank ? mine : map_file(c, i, bytes, false);
		parts[i] = *op;
		parts[i].send = maps[i];
		/* Others hand out their own. */
		parts[i].comm = i == op->comm->rank ? op->comm : NULL;
		r = maps[i] ? r : NCCL_SYSTEM;
	}
	r = r == NCCL_OK ? nccl_move(parts, c->nr_ranks) : r;
	uint64_t end_ns = atomic_load(&c->shared->end_ns);

	if (!barrier(c, 0)) {
		r = NCCL_SYSTEM;
	}
	wait_until(end_ns);
	end_at(end_ns);
	for (int i = 0; i < c->nr_ranks; i++) {
		if (maps[i]) {
			munmap(maps[i], bytes);
		}
	}
	return r;
}

/* ---- sends and receives ---- */

static struct nccl_lane *lane_of(const struct nccl_op *op, int *file)
{
	int from = op->kind == NCCL_SEND ? op->comm->rank : op->peer;
	int to = op->kind == NCCL_SEND ? op->peer : op->comm->rank;

	*file = lane_file(from, to);
	return &op->comm->clique->shared->lanes[from][to];
}

/* Says that this side is there, with the data of a send. */
static bool lane_begin(const struct nccl_op *op)
{
	size_t bytes = op->count * nccl_type_bytes(op->type);
	int file;
	struct nccl_lane *lane = lane_of(op, &file);

	if (op->kind == NCCL_RECV) {
		atomic_fetch_add(&lane->nr_wanted, 1);
		return true;
	}
	void *data = map_file(op->comm->clique, file, bytes, true);

	if (!data) {
		return false;
	}
	memcpy(data, op->send, bytes);
	munmap(data, bytes);
	atomic_fetch_add(&lane->nr_sent, 1);
	return true;
}

/*
 * Waits for the other side and until the data have travelled; a shorter receive takes less. end_ns:
 * the latest end so far.
 */
static bool lane_end(const struct nccl_op *op, uint64_t *end_ns)
{
	size_t bytes = op->count * nccl_type_bytes(op->type);
	int file;
	struct nccl_lane *lane = lane_of(op, &file);

	if (op->kind == NCCL_RECV) {
		void *data;

		if (!wait_for(&lane->nr_sent, atomic_load(&lane->nr_wanted))) {
			return false;
		}
		atomic_store(
			&lane->end_ns, arrival_of(transfer_ns(bytes, op->comm->rank, op->peer)));
		data = map_file(op->comm->clique, file, bytes, false);
		if (!data) {
			return false;
		}
		memcpy(op->recv, data, bytes);
		munmap(data, bytes);
		atomic_fetch_add(&lane->nr_taken, 1);
	} else if (!wait_for(&lane->nr_taken, atomic_load(&lane->nr_sent))) {
		return false;
	}
	wait_until(atomic_load(&lane->end_ns));
	*end_ns = sim_max(*end_ns, atomic_load(&lane->end_ns));
	return true;
}

int nccl_pass_shared(const struct nccl_op *ops, int nr)
{
	uint64_t end_ns = 0;

	for (int i = 0; i < nr; i++) {
		if (!lane_begin(&ops[i])) {
			return NCCL_SYSTEM;
		}
	}
	/* Receives first: the other sides' sends wait for them. */
	for (int kind = NCCL_RECV; kind >= NCCL_SEND; kind--) {
		for (int i = 0; i < nr; i++) {
			if (ops[i].kind == (enum nccl_kind)kind && !lane_end(&ops[i], &end_ns)) {
				return NCCL_SYSTEM;
			}
		}
	}
	end_at(end_ns);
	return NCCL_OK;
}
