/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated NCCL's communicators. */
#include "test/sim/nccl_comm.h"
#include "test/sim/nccl_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "test/sim/nccl_range.h"

NCCL_COMM_FUNCTIONS

static struct {
	pthread_mutex_t lock;
	struct nccl_clique *first;
} cliques = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Cliques that this thread has begun to join inside a group. */
static __thread struct {
	struct nccl_clique *of[NCCL_MAX_RANKS];
	int nr_ranks[NCCL_MAX_RANKS];
	int nr;
} joining;

int pncclGetVersion(int *version)
{
	*version = 22809;
	return NCCL_OK;
}

int pncclGetUniqueId(struct nccl_id *id)
{
	static _Atomic unsigned int next = 1;
	struct timespec t;

	if (!nccl_core()) {
		return NCCL_UNHANDLED_CUDA;
	}
	clock_gettime(CLOCK_REALTIME, &t);
	memset(id, 0, sizeof(*id));
	snprintf(id->bytes, sizeof(id->bytes), "%ld.%09ld.%d.%u", (long)t.tv_sec, t.tv_nsec,
		(int)getpid(), atomic_fetch_add(&next, 1));
	return NCCL_OK;
}

/* The clique of an id in this process, made by whoever asks first. */
static struct nccl_clique *clique_get(const struct nccl_id *id, int nr_ranks)
{
	pthread_mutex_lock(&cliques.lock);
	struct nccl_clique *c = cliques.first;

	while (c && memcmp(&c->id, id, sizeof(*id)) != 0) {
		c = c->next;
	}
	if (!c && (c = calloc(1, sizeof(*c)))) {
		c->id = *id;
		c->nr_ranks = nr_ranks;
		pthread_mutex_init(&c->lock, NULL);
		pthread_cond_init(&c->changed, NULL);
		c->next = cliques.first;
		cliques.first = c;
	}
	if (c) {
		c->nr_here++;
	}
	pthread_mutex_unlock(&cliques.lock);
	return c;
}

static struct nccl_comm *comm_new(struct nccl_clique *c, int rank, int device)
{
	struct nccl_comm *comm = calloc(1, sizeof(*comm));

	if (comm) {
		comm->clique = c;
		comm->rank = rank;
		comm->device = device;
		nccl_plugin_open(comm);
	}
	return comm;
}

uint64_t nccl_comm_hash(const struct nccl_comm *comm)
{
	return comm ? nccl_id_hash(&comm->clique->id) : 0;
}

int nccl_comms_join(void)
{
	int r = NCCL_OK;

	for (int i = 0; i < joining.nr; i++) {
		struct nccl_clique *c = joining.of[i];

		/* All ranks in this group: nobody else to meet. */
		if (joining.nr_ranks[i] < c->nr_ranks) {
			int code = nccl_join(c, joining.nr_ranks[i]);

			r = r == NCCL_OK ? code : r;
		}
	}
	joining.nr = 0;
	return r;
}

static int init_rank(struct nccl_comm **comm, int nr_ranks, struct nccl_id id, int rank)
{
	struct sim_context *context = nccl_core() ? nccl_core()->context() : NULL;

	if (!context || !comm || nr_ranks < 1 || nr_ranks > NCCL_MAX_RANKS || rank < 0 ||
		rank >= nr_ranks) {
		return context ? NCCL_INVALID_ARGUMENT : NCCL_UNHANDLED_CUDA;
	}
	struct nccl_clique *c = clique_get(&id, nr_ranks);

	*comm = c ? comm_new(c, rank, context->device->index) : NULL;
	if (!*comm) {
		return NCCL_SYSTEM;
	}
	nccl_group_start();
	int i = 0;

	while (i < joining.nr && joining.of[i] != c) {
		i++;
	}
	if (i == joining.nr && i < NCCL_MAX_RANKS) {
		joining.of[i] = c;
		joining.nr_ranks[i] = 0;
		joining.nr++;
	}
	joining.nr_ranks[i]++;
	return nccl_group_end();
}

/* In a group it is made when that ends, and has no hash before. */
static void say_made(struct nccl_range *range, const struct nccl_comm *comm)
{
	range->said.hash = nccl_group_is_open() ? 0 : nccl_comm_hash(comm);
	range->said.device = comm->device;
	range->has_more = true;
}

int pncclCommInitRank(struct nccl_comm **comm, int nr_ranks, struct nccl_id id, int rank)
{
	NCCL_RANGE(NCCL_RANGE_INIT_RANK, .nr_ranks = nr_ranks, .rank = rank);
	int r = init_rank(comm, nr_ranks, id, rank);

	if (r == NCCL_OK) {
		say_made(&range, *comm);
	}
	return r;
}

int pncclCommInitRankConfig(
	struct nccl_comm **comm, int nr_ranks, struct nccl_id id, int rank, void *config)
{
	NCCL_RANGE(NCCL_RANGE_INIT_RANK_CONFIG, .nr_ranks = nr_ranks, .rank = rank);
	int r = init_rank(comm, nr_ranks, id, rank);

	(void)config;
	if (r == NCCL_OK) {
		say_made(&range, *comm);
	}
	return r;
}

int pncclCommInitAll(struct nccl_comm **comms, int nr, const int *devices)
{
	NCCL_RANGE(NCCL_RANGE_INIT_ALL, .nr_devices = nr);
	struct nccl_id id;
	int r = pncclGetUniqueId(&id);

	if (r != NCCL_OK || !comms || nr < 1 || nr > NCCL_MAX_RANKS) {
		return r != NCCL_OK ? r : NCCL_INVALID_ARGUMENT;
	}
	for (int i = 0; i < nr; i++) {
		int device = devices ? devices[i] : i;
		struct nccl_clique *c = nccl_core()->device(device) ? clique_get(&id, nr) : NULL;

		comms[i] = c ? comm_new(c, i, device) : NULL;
		if (!comms[i]) {
			return NCCL_INVALID_ARGUMENT;
		}
	}
	say_made(&range, comms[0]);
	return NCCL_OK;
}

/* Splitting needs every rank's colour, so all of them have to be here, in one call or thread each.
 */
int pncclCommSplit(struct nccl_comm *comm, int color, int key, struct nccl_comm **out, void *config)
{
	NCCL_RANGE(NCCL_RANGE_SPLIT, .color = color, .key = key);
	struct nccl_clique *c = comm ? comm->clique : NULL;

	(void)config;
	if (!c || !out) {
		return NCCL_INVALID_ARGUMENT;
	}
	/* It is said before the new one has a hash; all else is the parent's. */
	range.said.parent = nccl_comm_hash(comm);
	range.said.nr_ranks = c->nr_ranks;
	range.said.rank = comm->rank;
	range.said.device = comm->device;
	range.has_more = true;
	if (c->nr_ranks == 1) {
		struct nccl_id id;
		struct nccl_clique *own =
			pncclGetUniqueId(&id) == NCCL_OK ? clique_get(&id, 1) : NULL;

		*out = color < 0 || !own ? NULL : comm_new(own, 0, comm->device);
		return color < 0 || *out ? NCCL_OK : NCCL_SYSTEM;
	}
	return NCCL_INVALID_USAGE;
}

int pncclCommFinalize(struct nccl_comm *comm)
{
	NCCL_RANGE(NCCL_RANGE_FINALIZE, .hash = nccl_comm_hash(comm));

	range.has_more = comm != NULL;
	return comm ? NCCL_OK : NCCL_INVALID_ARGUMENT;
}

static int destroy(struct nccl_comm *comm)
{
	struct nccl_clique *c = comm ? comm->clique : NULL;
	bool is_last;

	if (!c) {
		return NCCL_INVALID_ARGUMENT;
	}
	nccl_core()->device_sync();
	pthread_mutex_lock(&cliques.lock);
	is_last = --c->nr_here == 0;
	for (struct nccl_clique **p = &cliques.first; is_last && *p; p = &(*p)->next) {
		if (*p == c) {
			*p = c->next;
			break;
		}
	}
	pthread_mutex_unlock(&cliques.lock);
	nccl_plugin_close(comm);
	free(comm);
	if (is_last) {
		nccl_leave(c);
		pthread_mutex_destroy(&c->lock);
		pthread_cond_destroy(&c->changed);
		free(c);
	}
	return NCCL_OK;
}

#define SAID_OF(comm)                                                                     \
	.hash = nccl_comm_hash(comm), .nr_ranks = (comm) ? (comm)->clique->nr_ranks : -1, \
	.rank = (comm) ? (comm)->rank : -1, .device = (comm) ? (comm)->device : -1

int pncclCommDestroy(struct nccl_comm *comm)
{
	NCCL_RANGE(NCCL_RANGE_DESTROY, SAID_OF(comm));

	return destroy(comm);
}

int pncclCommAbort(struct nccl_comm *comm)
{
	NCCL_RANGE(NCCL_RANGE_ABORT, SAID_OF(comm));

	range.has_more = comm != NULL;
	return destroy(comm);
}

int pncclCommCount(const struct nccl_comm *comm, int *count)
{
	*count = comm->clique->nr_ranks;
	return NCCL_OK;
}

int pncclCommUserRank(const struct nccl_comm *comm, int *rank)
{
	*rank = comm->rank;
	return NCCL_OK;
}

int pncclCommCuDevice(const struct nccl_comm *comm, int *device)
{
	*device = comm->device;
	return NCCL_OK;
}

int pncclCommGetAsyncError(struct nccl_comm *comm, int *code)
{
	*code = NCCL_OK;
	return comm ? NCCL_OK : NCCL_INVALID_ARGUMENT;
}

int pncclMemAlloc(void **p, size_t bytes)
{
	return nccl_core() && nccl_core()->alloc(p, bytes, SIM_DEVICE, false, NULL) == SIM_OK
		       ? NCCL_OK
		       : NCCL_UNHANDLED_CUDA;
}

int pncclMemFree(void *p)
{
	return nccl_core() && nccl_core()->release(p, SIM_DEVICE, false, NULL) == SIM_OK
		       ? NCCL_OK
		       : NCCL_UNHANDLED_CUDA;
}

const char *pncclGetErrorString(int code)
{
	static const char *const texts[] = {"no error", "unhandled cuda error",
		"unhandled system error", "internal error", "invalid argument", "invalid usage"};

	return code >= 0 && code < 6 ? texts[code] : "unknown result code";
}

const char *pncclGetLastError(struct nccl_comm *comm)
{
	(void)comm;
	return "";
}
