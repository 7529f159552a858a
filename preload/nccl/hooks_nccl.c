/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wrappers of NCCL's functions. For a program that links NCCL statically, or looks its
 * functions up by dlsym, see nccl_range.c.
 */
#include "preload/hook/hook.h"
#include "preload/nccl/nccl.h"

#define MOVE(call_kind, count, type, reduction, other, comm, on_stream)  \
	nccl_move(&this_call,                                            \
		(struct nccl_facts){.kind = GPROF_NCCL_##call_kind,      \
			.bytes = (count)*nccl_type_bytes(type),          \
			.datatype = nccl_small(type, NCCL_NO_TYPE),      \
			.redop = nccl_small_redop(reduction),            \
			.peer = other,                                   \
			.stream = (const void *)(uintptr_t)(on_stream)}, \
		nccl_comm_find(comm))
#define MADE(kind, key, rank, nr_ranks, comm)    \
	nccl_made(&this_call, GPROF_NCCL_##kind, \
		&(struct nccl_new){comm, key, rank, nr_ranks, NULL})
#define INTO(kind, comm) into(&this_call, GPROF_NCCL_##kind, nccl_comm_find(comm))

static void into(const struct nccl_call *call, enum gprof_nccl kind, struct nccl_comm_entry *comm)
{
	nccl_end(call, &NCCL_FACTS(kind, nccl_id(call, comm, nccl_may_ask(call))));
}

/* The real function of this caller; goes straight on to it inside of another call of NCCL. */
#define BEGIN(name, args)                                                                        \
	const __typeof__(&name) this_real = HOOK_REAL(name);                                     \
	struct nccl_call this_call;                                                              \
	int r;                                                                                   \
                                                                                                 \
	if (!nccl_begin(&this_call, (const void *)this_real, hook_name(HOOK_##name), RING_STACK, \
		    HOOK_CALLER)) {                                                              \
		return this_real args;                                                           \
	}

#define CALL(args)                          \
	do {                                \
		r = this_real args;         \
		nccl_return(&this_call, r); \
	} while (0)

#define NCCL_HOOK(name, params, args, facts) \
	int name params                      \
	{                                    \
		BEGIN(name, args)            \
		CALL(args);                  \
		facts;                       \
		return r;                    \
	}
#define NCCL_HOOK_MANUAL(name, params)
#include "preload/hook/hooks.def"

/* One call for all ranks of this process; the row is about the first. */
int ncclCommInitAll(nccl_comm **comms, int nr_devices, const int *devices)
{
	uint64_t key;

	BEGIN(ncclCommInitAll, (comms, nr_devices, devices))
	CALL((comms, nr_devices, devices));
	key = nccl_comm_own_key();
	for (int i = 1; r == NCCL_SUCCESS && i < nr_devices; i++) {
		nccl_comm_add(comms[i], key, i, (uint32_t)nr_devices, NULL);
	}
	nccl_made(&this_call, GPROF_NCCL_INIT, &(struct nccl_new){comms, key, 0, nr_devices, NULL});
	return r;
}

int ncclCommSplit(nccl_comm *comm, int color, int key, nccl_comm **made, nccl_config *config)
{
	struct nccl_comm_entry *parent;

	BEGIN(ncclCommSplit, (comm, color, key, made, config))
	parent = nccl_comm_find(comm);
	CALL((comm, color, key, made, config));
	nccl_made(&this_call, GPROF_NCCL_SPLIT,
		&(struct nccl_new){color == NCCL_SPLIT_NO_COLOR ? NULL : made,
			nccl_comm_split_key(parent, color), -1, 0, parent});
	return r;
}

/* The remaining ranks make one communicator, as if they all had one color. */
int ncclCommShrink(nccl_comm *comm, int *excluded, int nr_excluded, nccl_comm **made,
	nccl_config *config, int flags)
{
	struct nccl_comm_entry *parent;

	BEGIN(ncclCommShrink, (comm, excluded, nr_excluded, made, config, flags))
	parent = nccl_comm_find(comm);
	CALL((comm, excluded, nr_excluded, made, config, flags));
	nccl_made(&this_call, GPROF_NCCL_SPLIT,
		&(struct nccl_new){made, nccl_comm_split_key(parent, 0), -1, 0, parent});
	return r;
}

/*
 * Its entry is given up first: as soon as it is gone, another thread may get the same handle. What
 * is aborted may not be complete.
 */
#define GIVE_UP(name, kind)                                                                       \
	int name(nccl_comm *comm)                                                                 \
	{                                                                                         \
		struct nccl_facts facts;                                                          \
                                                                                                  \
		BEGIN(name, (comm))                                                               \
		facts = NCCL_FACTS(kind,                                                          \
			nccl_id(&this_call, nccl_comm_find(comm), (kind) == GPROF_NCCL_DESTROY)); \
		nccl_comm_drop(comm);                                                             \
		CALL((comm));                                                                     \
		nccl_end(&this_call, &facts);                                                     \
		return r;                                                                         \
	}

GIVE_UP(ncclCommDestroy, GPROF_NCCL_DESTROY)
GIVE_UP(ncclCommAbort, GPROF_NCCL_ABORT)

int ncclGroupStart(void)
{
	BEGIN(ncclGroupStart, ())
	CALL(());
	nccl_group_start(&this_call);
	return r;
}

int ncclGroupEnd(void)
{
	BEGIN(ncclGroupEnd, ())
	CALL(());
	nccl_group_end(&this_call);
	return r;
}

/* Ends the group as ncclGroupEnd does, but nothing of it runs. */
int ncclGroupSimulateEnd(nccl_sim_info *info)
{
	BEGIN(ncclGroupSimulateEnd, (info))
	CALL((info));
	nccl_group_leave(&this_call);
	return r;
}
