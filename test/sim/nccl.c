/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated NCCL: groups of operations, and the kernels that they become. */
#include "test/sim/nccl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/sim/nccl_comm.h"
#include "test/sim/nccl_plugin.h"

enum { NR_CHANNELS = 24, BLOCK_THREADS = 512 };

static const char *const kind_names[NCCL_KINDS] = {"AllReduce", "Reduce", "Broadcast", "AllGather",
	"ReduceScatter", "AlltoAll", "Gather", "Scatter", "SendRecv", "SendRecv"};
static const char *const redop_names[] = {"Sum", "Prod", "Max", "Min", "SumPostDiv"};
static const char *const type_names[] = {
	"i8", "u8", "i32", "u32", "i64", "u64", "f16", "f32", "f64", "bf16"};

/* The group that this thread is in. */
static __thread struct {
	int depth;
	struct nccl_op *first, **last;
	int code; /* of the first operation that was refused */
} group;

static int (*nccl_launch)(
	const cu_launch_config *config, void *function, void **args, void **extra);

struct sim_core *nccl_core(void)
{
	static _Atomic(struct sim_core *) core;
	struct sim_core *found = atomic_load(&core);
	int (*get_table)(const void **table, const void *uuid);
	const void *table = NULL;

	if (found) {
		return found;
	}
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	*(void **)&get_table = driver ? dlsym(driver, "cuGetExportTable") : NULL;
	*(void **)&nccl_launch = driver ? dlsym(driver, "cuLaunchKernelEx") : NULL;
	if (get_table && nccl_launch && get_table(&table, "simulated-cuda-1") == 0) {
		found = (struct sim_core *)table;
		found->init();
		atomic_store(&core, found);
	}
	return found;
}

/* These meet in real time, so none may come before its stream would let it. */
static void move_between_processes(struct nccl_batch *batch)
{
	struct nccl_receive receives[NCCL_PLUGIN_CHANNELS];

	nccl_core()->await_kernel();
	nccl_plugin_wait(&batch->parts[0], receives);
	if (batch->parts[0].kind >= NCCL_SEND) {
		nccl_pass_shared(batch->parts, batch->nr_parts);
	} else {
		nccl_move_shared(&batch->parts[0]);
	}
	nccl_plugin_receive(&batch->parts[0], receives);
}

/* What a kernel gets: which batch it belongs to. */
static void kernel(void **args, cudart_dim3 grid, cudart_dim3 block)
{
	struct nccl_batch *batch = *(struct nccl_batch **)args[0];

	(void)grid;
	(void)block;
	pthread_mutex_lock(&batch->lock);
	if (!batch->is_moved) {
		batch->is_moved = true;
		if (!batch->parts[0].comm->clique->is_shared) {
			nccl_move(batch->parts, batch->nr_parts);
		} else {
			move_between_processes(batch);
		}
	}
	bool is_last = ++batch->nr_done == batch->nr_kernels;

	if (is_last && batch->is_captured) {
		batch->nr_done = 0;
		batch->is_moved = false;
	}
	pthread_mutex_unlock(&batch->lock);
	if (is_last && !batch->is_captured) {
		pthread_mutex_destroy(&batch->lock);
		free(batch);
	}
}

/* The device function of an operation; one a name, made when first needed. */
static struct sim_function *function_of(const struct nccl_op *op)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct sim_function *functions[NCCL_KINDS][5][10];
	bool is_reducing = op->kind == NCCL_ALL_REDUCE || op->kind == NCCL_REDUCE ||
			   op->kind == NCCL_REDUCE_SCATTER;
	int redop = is_reducing && op->redop >= 0 && op->redop < 5 ? op->redop : 0;
	struct sim_function **slot = &functions[op->kind][redop][is_reducing ? op->type : 0];
	char plain[96], name[160];

	pthread_mutex_lock(&lock);
	if (!*slot) {
		if (is_reducing) {
			snprintf(plain, sizeof(plain), "ncclDevKernel_%s_%s_%s_RING_LL",
				kind_names[op->kind], redop_names[redop], type_names[op->type]);
		} else {
			snprintf(plain, sizeof(plain), "ncclDevKernel_%s%s", kind_names[op->kind],
				op->kind >= NCCL_SEND ? "" : "_RING_LL");
		}
		snprintf(name, sizeof(name), "_Z%zu%s24ncclDevKernelArgsStorageILm4096EE",
			strlen(plain), plain);
		*slot = nccl_core()->function_create(name, NULL);
		if (*slot) {
			(*slot)->cpu = kernel;
			(*slot)->nr_args = 1;
			(*slot)->arg_bytes[0] = sizeof(void *);
		}
	}
	struct sim_function *f = *slot;

	pthread_mutex_unlock(&lock);
	return f;
}

/* Launches of its graph run a captured batch again, so it lives as long as the process. */
static void keep_captured(struct nccl_batch *batch, bool is_captured)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct nccl_batch *kept;

	batch->is_captured = is_captured;
	if (is_captured) {
		pthread_mutex_lock(&lock);
		batch->next = kept;
		kept = batch;
		pthread_mutex_unlock(&lock);
	}
}

/* Launches the kernels of the first parts on their streams: of each, or one for all. */
static int batch_launch(struct nccl_op **ops, int nr, int nr_kernels)
{
	struct nccl_batch *batch = calloc(1, sizeof(*batch) + (size_t)nr * sizeof(batch->parts[0]));
	int r = NCCL_OK;

	if (!batch) {
		return NCCL_SYSTEM;
	}
	pthread_mutex_init(&batch->lock, NULL);
	keep_captured(batch, ops[0]->stream->capture != NULL);
	batch->nr_parts = nr;
	batch->nr_kernels = nr_kernels;
	for (int i = 0; i < nr; i++) {
		batch->parts[i] = *ops[i];
		ops[i]->is_launched = true;
	}
	for (int i = 0; i < nr_kernels; i++) {
		void *args[] = {&batch};
		cu_launch_config config = {.grid = {NR_CHANNELS, 1, 1},
			.block = {BLOCK_THREADS, 1, 1},
			.stream = ops[i]->stream};
		struct sim_function *f = function_of(ops[i]);

		if (!f || nccl_launch(&config, f, args, NULL) != 0) {
			r = NCCL_UNHANDLED_CUDA;
		}
	}
	return r;
}

static void take(struct nccl_op **queue, struct nccl_op *op)
{
	while (*queue && *queue != op) {
		queue = &(*queue)->next;
	}
	if (*queue) {
		*queue = op->next;
		op->next = NULL;
	}
}

/* The oldest waiting operation of a rank that matches; sends match receives. */
static struct nccl_op *waiting_of(struct nccl_clique *c, int rank, enum nccl_kind kind, int peer)
{
	for (struct nccl_op *o = c->waiting[rank]; o; o = o->next) {
		bool is_p2p = o->kind >= NCCL_SEND;

		if (kind >= NCCL_SEND ? o->kind == kind && o->peer == peer : !is_p2p) {
			return o;
		}
	}
	return NULL;
}

/* Launches what is complete: a pair, or a collective of which every rank's part waits. */
static int complete_locked(struct nccl_clique *c, struct nccl_op *op)
{
	struct nccl_op *ops[NCCL_MAX_RANKS];
	int nr = c->nr_ranks;

	if (op->kind >= NCCL_SEND) {
		enum nccl_kind other = op->kind == NCCL_SEND ? NCCL_RECV : NCCL_SEND;
		struct nccl_op *match = waiting_of(c, op->peer, other, op->comm->rank);

		if (!match) {
			return NCCL_OK;
		}
		ops[0] = op->kind == NCCL_SEND ? op : match;
		ops[1] = op->kind == NCCL_SEND ? match : op;
		nr = 2;
	} else {
		for (int r = 0; r < nr; r++) {
			ops[r] = waiting_of(c, r, op->kind, 0);
			if (!ops[r]) {
				return NCCL_OK;
			}
		}
	}
	for (int i = 0; i < nr; i++) {
		take(&c->waiting[ops[i]->comm->rank], ops[i]);
	}
	int code = batch_launch(ops, nr, nr);

	pthread_cond_broadcast(&c->changed);
	return code;
}

/* With other processes: sends and receives of a communicator are one kernel, from the first one on.
 */
static int offer_shared(struct nccl_op **ops, size_t nr)
{
	struct nccl_op *together[2 * NCCL_MAX_RANKS];
	int nr_together = 0;

	if (ops[0]->is_launched) {
		return NCCL_OK;
	}
	if (ops[0]->kind < NCCL_SEND) {
		nccl_plugin_launching(ops[0]);
		return batch_launch(ops, 1, 1);
	}
	for (size_t i = 0; i < nr; i++) {
		if (ops[i]->comm != ops[0]->comm || ops[i]->kind < NCCL_SEND) {
			continue;
		}
		for (int k = 0; k < nr_together; k++) {
			if (together[k]->kind == ops[i]->kind &&
				together[k]->peer == ops[i]->peer) {
				return NCCL_INVALID_USAGE;
			}
		}
		together[nr_together++] = ops[i];
	}
	return batch_launch(together, nr_together, 1);
}

static int offer(struct nccl_op *op)
{
	struct nccl_clique *c = op->comm->clique;
	struct nccl_op **end = &c->waiting[op->comm->rank];

	pthread_mutex_lock(&c->lock);
	while (*end) {
		end = &(*end)->next;
	}
	*end = op;
	int r = complete_locked(c, op);

	pthread_mutex_unlock(&c->lock);
	return r;
}

static void wait_launched(struct nccl_op *op)
{
	struct nccl_clique *c = op->comm->clique;

	pthread_mutex_lock(&c->lock);
	while (!c->is_shared && !op->is_launched) {
		pthread_cond_wait(&c->changed, &c->lock);
	}
	pthread_mutex_unlock(&c->lock);
}

void nccl_group_start(void)
{
	if (group.depth++ == 0) {
		group.first = NULL;
		group.last = &group.first;
		group.code = NCCL_OK;
	}
}

bool nccl_group_is_open(void)
{
	return group.depth > 0;
}

void nccl_group_add(struct nccl_op *op)
{
	*group.last = op;
	group.last = &op->next;
}

int nccl_group_drop(void)
{
	if (group.depth == 0) {
		return NCCL_INVALID_USAGE;
	}
	group.depth--;
	while (group.depth == 0 && group.first) {
		struct nccl_op *op = group.first;

		group.first = op->next;
		free(op);
	}
	return NCCL_OK;
}

int nccl_group_end(void)
{
	int r = NCCL_OK;
	size_t nr = 0, i = 0;

	if (group.depth == 0) {
		return NCCL_INVALID_USAGE;
	}
	if (--group.depth > 0) {
		return NCCL_OK;
	}
	r = nccl_comms_join();
	for (struct nccl_op *o = group.first; o; o = o->next) {
		nr++;
	}
	struct nccl_op **ops = calloc(nr + 1, sizeof(*ops));

	for (struct nccl_op *o = group.first; ops && o; o = o->next) {
		ops[i++] = o;
	}
	/* A queue of a clique uses the same links. */
	for (i = 0; i < nr; i++) {
		ops[i]->next = NULL;
	}
	for (i = 0; i < nr; i++) {
		int code = ops[i]->comm->clique->is_shared ? offer_shared(&ops[i], nr - i)
							   : offer(ops[i]);

		r = r == NCCL_OK ? code : r;
	}
	for (i = 0; i < nr; i++) {
		if (r == NCCL_OK) {
			wait_launched(ops[i]);
			nccl_plugin_launched(ops[i]);
			free(ops[i]);
		}
	}
	free(ops);
	return r == NCCL_OK ? group.code : r;
}
