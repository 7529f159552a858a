/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handle has its tag in the two lowest bits, which are 0 in any address that NCCL would pass:
 *
 *   CALL   the clock's value when the call of NCCL began that asks for operations, and whether its
 *          stream was captured
 *   OP     the number of an operation
 *   SLOT   the communicator, a slot of its pool, the slot's generation, and for a step of a
 *          transfer its number within the transfer's slot; for a request to the network,
 *          the same of its place in the other pool
 *
 * NCCL keeps the handles of calls and operations as long as their CUDA graph, and passes them as
 * parents long after their ends. So these two have no state. A slot is in use from the start of a
 * kernel or transfer to its end: its generation is then odd, and the thread that makes it even
 * writes the row. NCCL never uses one handle on several threads at a time; if it did, the sums
 * would be wrong, and nothing worse would happen.
 */
#include "preload/nccl/nccl_profiler.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "collector/collector.h"
#include "collector/util/config.h"
#include "collector/util/memory.h"
#include "preload/hook/hook.h"
#include "preload/nccl/nccl.h"
#include "preload/nccl/nccl_net.h"
#include "preload/nccl/nccl_plugin_next.h"
#include "preload/nccl/nccl_pool.h"

#define MAX_CONTEXTS 512u  /* at most 1024, for handles */
#define NR_SLOTS     4096u /* at most 65,536 */
#define NR_STEPS     8u	   /* of a transfer at a time, as NCCL has them */
#define NR_REQUESTS  4096u /* at most 65,536 */

enum { TAG_NONE, TAG_CALL, TAG_OP, TAG_SLOT };

#define TAG_BITS	 2
#define TAG_OF(handle)	 ((unsigned int)((handle)&3u))
#define CAPTURED_BIT	 4u
#define STEP_SHIFT	 2  /* 4 bits: 1 + the step, 0 for the slot itself */
#define STEP_REQUEST	 15 /* in place of a step */
#define CONTEXT_SHIFT	 6  /* 10 bits */
#define SLOT_SHIFT	 16 /* 16 bits */
#define GENERATION_SHIFT 32

/*
 * The context of a communicator and the handle of an operation contain a number of the process: the
 * proxy thread of another process gets them from this one, and passes them to gprof there.
 */
#define SALT_SHIFT    44
#define CONTEXT_MAGIC 0x677u

/* A step of a transfer, by its number modulo NR_STEPS. */
struct step {
	_Atomic uint64_t since; /* ns; when it entered its state, 0: it is not under way */
	_Atomic uint32_t state; /* NCCL's, 0 before the first */
};

/* A transfer waits for one of these. */
enum wait { WAIT_OWN_GPU, WAIT_PEER, WAIT_NETWORK, WAIT_DATA, NR_WAITS, WAIT_NONE = NR_WAITS };

struct slot {
	struct nccl_pooled pooled;
	_Atomic uint64_t begin, op; /* begin: raw */
	_Atomic uint64_t gpu_begin, gpu_end, bytes;
	_Atomic uint64_t waits[NR_WAITS];
	/* The waits for the other side as a whole, which do not overlap: see nccl_channel. */
	_Atomic uint64_t begin_ns, moved_ns; /* the slot's begin, the end of the last wait */
	_Atomic uint64_t first_ns, first_after_ns, later_ns, pause_ns, pause_after_ns;
	_Atomic uint32_t steps, pid, comm;
	_Atomic int32_t peer;
	_Atomic uint8_t channel, what;
	struct step at[NR_STEPS];
	struct nccl_net_sums devices[NCCL_NET_DEVICES];
};

/* A request of a transfer to a network device. */
struct request {
	struct nccl_pooled pooled;
	_Atomic uint64_t transfer; /* its handle */
	_Atomic uint64_t since;	   /* ns */
	_Atomic uint64_t bytes;
	_Atomic uint32_t device; /* index in the transfer's devices */
};

enum context_state { CONTEXT_FREE, CONTEXT_BUSY, CONTEXT_LIVE };

struct context {
	_Atomic enum context_state state;
	_Atomic uint32_t generation; /* 16 bits of it are in the handle */
	_Atomic uint32_t comm;	     /* id in the stream, 0: not known yet */
	atomic_bool is_naming;	     /* a thread looks for comm */
	struct nccl_pool slots, requests;
	struct nccl_profiled what;
	/* Members of `what` for the drain thread: another communicator may take the place
	 * meanwhile. */
	int *_Atomic mask;
	_Atomic uint8_t version;
	char name[NCCL_COMM_NAME_BYTES]; /* longer ones are cut */
};

static struct nccl_profiler_state {
	struct context contexts[MAX_CONTEXTS];
	_Atomic uint64_t nr_ops;
	_Atomic uint32_t pid, salt; /* 0 before the first communicator */
	_Atomic uint32_t nr_used;   /* contexts before it were in use at least once */
	atomic_bool is_wanted;
} state;

static uint64_t get(_Atomic uint64_t *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

static void put(_Atomic uint64_t *value, uint64_t number)
{
	atomic_store_explicit(value, number, memory_order_relaxed);
}

static void add(_Atomic uint64_t *value, uint64_t number)
{
	put(value, get(value) + number);
}

static bool is_recorded(void)
{
	return hook_mode() & COLLECTOR_RECORD;
}

static uint64_t salt(void)
{
	return (uint64_t)atomic_load_explicit(&state.salt, memory_order_relaxed) << SALT_SHIFT;
}

static void make_salt(void)
{
	uint64_t mixed = (clock_raw() ^ (uint64_t)getpid() << 32) * 0x9e3779b97f4a7c15u;
	uint32_t none = 0;

	atomic_store(&state.pid, (uint32_t)getpid());
	atomic_compare_exchange_strong(&state.salt, &none, (uint32_t)(mixed >> SALT_SHIFT) | 1);
}

/* ---- communicators ---- */

/* The events that a version of the interface has. */
static int wanted_mask(uint8_t version)
{
	int mask = NCCL_PROFILE_COLL | NCCL_PROFILE_P2P | NCCL_PROFILE_PROXY_OP |
		   NCCL_PROFILE_PROXY_STEP;

	if (!atomic_load(&state.is_wanted)) {
		return 0;
	}
	if (version >= 3) {
		mask |= NCCL_PROFILE_NET;
	}
	if (version >= 3 && config_number(CONFIG_NCCL) == NCCL_CHANNELS) {
		mask |= NCCL_PROFILE_KERNEL_CH;
	}
	if (version >= 5) {
		mask |= NCCL_PROFILE_COLL_API | NCCL_PROFILE_P2P_API;
	}
	return version >= 6 ? mask | NCCL_PROFILE_CE_COLL : mask;
}

/* NCCL reads it with each operation, from any thread. */
static void set_mask(const struct context *context)
{
	int *mask = atomic_load(&context->mask);

	if (mask) {
		__atomic_store_n(mask,
			wanted_mask(atomic_load(&context->version)) | nccl_plugin_next_wanted(),
			__ATOMIC_RELAXED);
	}
}

/*
 * Sets the masks each time: the program's own plugin may have changed what it wants, and a
 * communicator that was made while a window opened may have missed that.
 */
void nccl_profiler_set_enabled(bool is_wanted)
{
	atomic_store(&state.is_wanted, is_wanted);
	for (uint32_t i = 0; i < atomic_load(&state.nr_used); i++) {
		if (atomic_load(&state.contexts[i].state) == CONTEXT_LIVE) {
			set_mask(&state.contexts[i]);
		}
	}
}

static void note_used(uint32_t nr)
{
	uint32_t now = atomic_load(&state.nr_used);

	while (now < nr && !atomic_compare_exchange_weak(&state.nr_used, &now, nr)) {
	}
}

static struct context *claim_context(void)
{
	static atomic_uint told_in;

	for (uint32_t i = 0; i < MAX_CONTEXTS; i++) {
		enum context_state from = CONTEXT_FREE;

		if (atomic_compare_exchange_strong(&state.contexts[i].state, &from, CONTEXT_BUSY)) {
			note_used(i + 1);
			return &state.contexts[i];
		}
	}
	if (notice_is_first(&told_in)) {
		notice_add("NCCL's plugin", 0,
			"more than %u communicators at once; how NCCL runs the operations of the "
			"others is not recorded",
			MAX_CONTEXTS);
	}
	return NULL;
}

static nccl_handle context_handle(const struct context *context)
{
	uint64_t generation = context->generation & 0xffff;

	return salt() | (uint64_t)CONTEXT_MAGIC << 32 | generation << 16 |
	       (uint64_t)(context - state.contexts + 1);
}

/* Returns NULL for anything but a communicator that NCCL has not closed. */
static struct context *find_context(nccl_handle handle)
{
	uint64_t index = (handle & 0xffff) - 1;
	struct context *context = index < MAX_CONTEXTS ? &state.contexts[index] : NULL;

	if (!context || atomic_load(&context->state) != CONTEXT_LIVE ||
		context_handle(context) != handle) {
		return NULL;
	}
	return context;
}

nccl_handle nccl_profiler_open(const struct nccl_profiled *what)
{
	static atomic_uint told_in;
	struct context *context = claim_context();

	if (!context) {
		return 0;
	}
	if (!memory_map_once(&context->slots.places, NR_SLOTS * sizeof(struct slot)) ||
		!memory_map_once(&context->requests.places, NR_REQUESTS * sizeof(struct request))) {
		notice_no_memory(&told_in, "NCCL's algorithms, channels and network transfers");
		atomic_store(&context->state, CONTEXT_FREE);
		return 0;
	}
	make_salt();
	context->what = *what;
	atomic_store(&context->version, what->version);
	atomic_store(&context->mask, what->mask);
	context->name[0] = '\0';
	if (what->name) {
		strncpy(context->name, what->name, sizeof(context->name) - 1);
		loss_add(LOSS_NCCL_NAME,
			strnlen(what->name, sizeof(context->name)) == sizeof(context->name));
	}
	atomic_store(&context->comm, 0);
	/* The windows may have begun before the first communicator. */
	if (is_recorded()) {
		atomic_store(&state.is_wanted, true);
	}
	atomic_store(&context->state, CONTEXT_LIVE);
	set_mask(context);
	return context_handle(context);
}

void nccl_profiler_close(nccl_handle handle)
{
	struct context *context = find_context(handle);

	if (context) {
		atomic_fetch_add(&context->generation, 1);
		atomic_store(&context->state, CONTEXT_FREE);
	}
}

/* A thread that is not in the child may have been naming one. */
void nccl_profiler_forget(void)
{
	atomic_store(&state.is_wanted, false);
	for (uint32_t i = 0; i < atomic_load(&state.nr_used); i++) {
		struct context *context = &state.contexts[i];

		atomic_store(&context->is_naming, false);
		nccl_pool_forget(&context->slots);
		nccl_pool_forget(&context->requests);
		if (atomic_load(&context->state) == CONTEXT_LIVE) {
			set_mask(context);
			nccl_profiler_close(context_handle(context));
		}
	}
}

/*
 * Returns its id in the stream. The end of the first call on a communicator makes its entry if no
 * hook saw its creation. Until then the id is unknown, and so it is to a thread that comes while
 * another one looks for it. may_make: the thread is NCCL's caller, so no hook makes another entry.
 */
static uint32_t comm_of(struct context *context, uint64_t hash, bool may_make)
{
	uint32_t id = atomic_load_explicit(&context->comm, memory_order_relaxed);
	struct nccl_comm_entry *entry;

	if (id || atomic_exchange(&context->is_naming, true)) {
		return id;
	}
	hash = hash ? hash : context->what.hash;
	entry = nccl_comm_find_around(context->what.at);
	if (!entry && may_make && !nccl_now().is_hooked && hash) {
		entry = nccl_comm_find_hash(hash);
	}
	if (entry) {
		nccl_comm_name(entry, hash, context->name);
		nccl_comm_know(entry, context->what.rank, context->what.nr_ranks);
	}
	id = nccl_comm_id(entry, NULL, false);
	atomic_store_explicit(&context->comm, id, memory_order_relaxed);
	atomic_store(&context->is_naming, false);
	return id;
}

/* ---- slots ---- */

/* The operation of this process that a handle names; 0 for anything else. */
static uint64_t op_of(nccl_handle parent)
{
	uint64_t number = (parent ^ salt()) >> TAG_BITS;

	return TAG_OF(parent) == TAG_OP && number >> (SALT_SHIFT - TAG_BITS) == 0 ? number : 0;
}

/* The handle of a place in one of the context's pools, which is in use from now on. */
static nccl_handle make_handle(const struct context *context, void *place, uint32_t index)
{
	struct nccl_pooled *pooled = place;

	return TAG_SLOT | (uint64_t)(context - state.contexts) << CONTEXT_SHIFT |
	       (uint64_t)index << SLOT_SHIFT |
	       (uint64_t)(atomic_fetch_add(&pooled->generation, 1) + 1) << GENERATION_SHIFT;
}

/* A slot that is in use from now on; NULL, and counted, if there is none. */
static struct slot *begin_slot(
	struct context *context, uint64_t op, enum gprof_nccl_channel what, nccl_handle *made)
{
	uint32_t index = nccl_pool_take(&context->slots, sizeof(struct slot), NR_SLOTS);
	struct slot *slot;

	if (index >= NR_SLOTS) {
		loss_add(LOSS_NCCL, 1);
		return NULL;
	}
	slot = nccl_pool_at(&context->slots, sizeof(*slot), index);
	put(&slot->begin, clock_raw());
	put(&slot->op, op);
	put(&slot->gpu_begin, 0);
	put(&slot->gpu_end, 0);
	put(&slot->bytes, 0);
	for (int i = 0; i < NR_WAITS; i++) {
		put(&slot->waits[i], 0);
	}
	put(&slot->begin_ns, clock_monotonic_ns());
	put(&slot->moved_ns, 0);
	put(&slot->first_ns, 0);
	put(&slot->first_after_ns, 0);
	put(&slot->later_ns, 0);
	put(&slot->pause_ns, 0);
	put(&slot->pause_after_ns, 0);
	for (uint32_t i = 0; i < NR_STEPS; i++) {
		put(&slot->at[i].since, 0);
	}
	atomic_store_explicit(&slot->steps, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->pid, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->peer, -1, memory_order_relaxed);
	atomic_store_explicit(&slot->what, what, memory_order_relaxed);
	atomic_store_explicit(
		&slot->comm, op ? comm_of(context, 0, false) : 0, memory_order_relaxed);
	*made = make_handle(context, slot, index);
	return slot;
}

struct place {
	struct context *context;
	struct slot *slot;
	uint32_t index, step; /* step: 1 + that of the transfer, 0: the slot itself */
};

/* The communicator of a handle with a place in one of its pools; NULL for any other handle. */
static struct context *context_of(nccl_handle handle)
{
	uint64_t context = handle >> CONTEXT_SHIFT & 0x3ff;

	return TAG_OF(handle) == TAG_SLOT && context < MAX_CONTEXTS ? &state.contexts[context]
								    : NULL;
}

/* Also after the communicator was closed: work on the GPU may end later. */
static bool find_slot(nccl_handle handle, struct place *place)
{
	place->context = context_of(handle);
	place->index = handle >> SLOT_SHIFT & 0xffff;
	place->step = handle >> STEP_SHIFT & 0xf;
	if (!place->context || place->step > NR_STEPS) {
		return false;
	}
	place->slot = nccl_pool_find(&place->context->slots, sizeof(struct slot), place->index,
		handle >> GENERATION_SHIFT);
	return place->slot;
}

/* ---- operations ---- */

nccl_handle nccl_profiler_called(nccl_handle context, bool is_captured)
{
	struct context *found = is_recorded() ? find_context(context) : NULL;
	uint64_t begin = nccl_now().begin;

	if (!found || !begin) {
		return found && is_captured ? TAG_CALL | CAPTURED_BIT : 0;
	}
	comm_of(found, 0, true);
	return begin << (TAG_BITS + 1) | (is_captured ? CAPTURED_BIT : 0) | TAG_CALL;
}

static uint64_t write_op(
	struct context *context, nccl_handle parent, const struct nccl_begun *begun)
{
	const bool is_called = TAG_OF(parent) == TAG_CALL;
	uint64_t call = is_called ? parent >> (TAG_BITS + 1) : nccl_now().begin;
	uint64_t now = clock_raw();
	const uint32_t bytes = sizeof(struct gprof_row_nccl_op);
	uint32_t comm = comm_of(context, begun->hash, true);
	struct gprof_row_nccl_op *row = (void *)ring_reserve(&ring_tls, bytes);
	uint64_t op;

	if (!row) {
		return 0;
	}
	op = atomic_fetch_add_explicit(&state.nr_ops, 1, memory_order_relaxed) + 1;
	*row = (struct gprof_row_nccl_op){
		.head = {.bytes = (uint16_t)bytes, .table = GPROF_TABLE_nccl_op},
		.time = now,
		.op = op,
		.call_begin = call ? call : now,
		.sequence = begun->sequence,
		.bytes = begun->count * nccl_type_bytes(begun->datatype),
		.comm = comm,
		.thread = ring_tls.id,
		.peer = begun->peer,
		.kind = begun->kind,
		.datatype = begun->datatype,
		.algorithm = begun->algorithm,
		.protocol = begun->protocol,
		.channels = begun->channels,
		.warps = begun->warps,
		.is_captured = is_called && parent & CAPTURED_BIT,
		.version = context->what.version};
	ring_commit(&ring_tls, row, bytes);
	return op;
}

nccl_handle nccl_profiler_began(
	nccl_handle context, nccl_handle parent, const struct nccl_begun *begun)
{
	struct context *found = is_recorded() ? find_context(context) : NULL;
	uint64_t op = found ? write_op(found, parent, begun) : 0;

	return op ? salt() | op << TAG_BITS | TAG_OP : 0;
}

nccl_handle nccl_profiler_kernel(
	nccl_handle context, nccl_handle parent, uint8_t channel, uint64_t gpu_ns)
{
	struct context *found = find_context(context);
	nccl_handle made = 0;
	struct slot *slot = found && op_of(parent) ? begin_slot(found, op_of(parent),
							     GPROF_NCCL_CHANNEL_KERNEL, &made)
						   : NULL;

	if (slot) {
		put(&slot->gpu_begin, gpu_ns);
		atomic_store_explicit(&slot->channel, channel, memory_order_relaxed);
	}
	return made;
}

/* A communicator that lends its slots to transfers of another process. */
static struct context *find_lender(void)
{
	for (uint32_t i = 0; i < atomic_load(&state.nr_used); i++) {
		if (atomic_load(&state.contexts[i].state) == CONTEXT_LIVE) {
			return &state.contexts[i];
		}
	}
	return NULL;
}

nccl_handle nccl_profiler_transfer(
	nccl_handle context, nccl_handle parent, const struct nccl_event_proxy_op *op)
{
	bool is_foreign = (uint32_t)op->pid != atomic_load(&state.pid) && is_recorded();
	uint64_t number = is_foreign ? 0 : op_of(parent);
	struct context *found = is_foreign ? find_lender() : find_context(context);
	nccl_handle made = 0;
	struct slot *slot = NULL;

	if (found && (number || is_foreign)) {
		slot = begin_slot(found, number,
			op->is_send ? GPROF_NCCL_CHANNEL_SEND : GPROF_NCCL_CHANNEL_RECV, &made);
	}
	if (slot) {
		nccl_net_clear(slot->devices);
		atomic_store_explicit(&slot->channel, op->channel, memory_order_relaxed);
		atomic_store_explicit(&slot->peer, op->peer, memory_order_relaxed);
		atomic_store_explicit(&slot->pid, (uint32_t)op->pid, memory_order_relaxed);
	}
	return made;
}

/* ---- steps ---- */

static enum wait wait_of(uint32_t state_of_step)
{
	switch (state_of_step) {
	case NCCL_STATE_SEND_GPU_WAIT:
	case NCCL_STATE_RECV_GPU_WAIT:
		return WAIT_OWN_GPU;
	case NCCL_STATE_SEND_PEER_WAIT:
		return WAIT_PEER;
	case NCCL_STATE_SEND_WAIT:
	case NCCL_STATE_RECV_FLUSH_WAIT:
		return WAIT_NETWORK;
	case NCCL_STATE_RECV_WAIT:
		return WAIT_DATA;
	default:
		return WAIT_NONE;
	}
}

nccl_handle nccl_profiler_step(nccl_handle transfer, int number)
{
	struct place place;
	uint32_t at = (uint32_t)number % NR_STEPS;

	if (!find_slot(transfer, &place) || place.step) {
		return 0;
	}
	atomic_store_explicit(&place.slot->at[at].state, 0, memory_order_relaxed);
	put(&place.slot->at[at].since, clock_monotonic_ns());
	return transfer | (uint64_t)(at + 1) << STEP_SHIFT;
}

/*
 * The other side has let a step go on: its data are here, or it is ready to receive. Steps wait
 * side by side and go on one after the other, so the transfer as a whole waited since the one
 * before:
 *
 *   step 1  |-----------------|
 *   step 2  |---------------------|
 *   step 3                     |--------|
 *           <--first_ns-------><-><-----> later_ns; the longest of these is the pause
 */
static void other_side_moved(struct slot *slot, uint64_t since, uint64_t now)
{
	uint64_t begin = get(&slot->begin_ns), moved = get(&slot->moved_ns);
	uint64_t least = moved ? moved : begin;

	since = since > least ? since : least;
	now = now > since ? now : since;
	put(&slot->moved_ns, now);
	if (!moved) {
		put(&slot->first_ns, now - since);
		put(&slot->first_after_ns, since - begin);
		return;
	}
	add(&slot->later_ns, now - since);
	if (now - since > get(&slot->pause_ns)) {
		put(&slot->pause_ns, now - since);
		put(&slot->pause_after_ns, since - begin);
	}
}

/* The step leaves its state. The time in the state counts for what the step waited for. */
static void change_step(struct slot *slot, struct step *step, uint32_t next)
{
	uint64_t now = clock_monotonic_ns(), since = get(&step->since);
	enum wait wait = wait_of(atomic_load_explicit(&step->state, memory_order_relaxed));

	if (!since) {
		return;
	}
	if (wait < NR_WAITS && now > since) {
		add(&slot->waits[wait], now - since);
	}
	if (wait == WAIT_PEER || wait == WAIT_DATA) {
		other_side_moved(slot, since, now);
	}
	put(&step->since, next ? now : 0);
	atomic_store_explicit(&step->state, next, memory_order_relaxed);
	if (!next) {
		atomic_store_explicit(&slot->steps,
			atomic_load_explicit(&slot->steps, memory_order_relaxed) + 1,
			memory_order_relaxed);
	}
}

void nccl_profiler_state(nccl_handle handle, int changed, uint64_t number)
{
	struct place place;

	if (!find_slot(handle, &place)) {
		return;
	}
	if (!place.step) {
		if (changed == NCCL_STATE_KERNEL_STOP) {
			put(&place.slot->gpu_end, number);
		}
		return;
	}
	if (wait_of((uint32_t)changed) == WAIT_NONE) {
		return;
	}
	/* NCCL knows the size once it has passed the data to the network, or got them. */
	if (changed == NCCL_STATE_SEND_WAIT || changed == NCCL_STATE_RECV_FLUSH_WAIT) {
		add(&place.slot->bytes, number);
	}
	change_step(place.slot, &place.slot->at[place.step - 1], (uint32_t)changed);
}

static void write_channel(struct slot *slot)
{
	const uint32_t bytes = sizeof(struct gprof_row_nccl_channel);
	struct gprof_row_nccl_channel *row =
		ring_is_ours() ? (void *)ring_reserve(&ring_tls, bytes) : NULL;
	uint64_t gpu_begin = get(&slot->gpu_begin), gpu_end = get(&slot->gpu_end);

	if (!row) {
		return;
	}
	*row = (struct gprof_row_nccl_channel){
		.head = {.bytes = (uint16_t)bytes, .table = GPROF_TABLE_nccl_channel},
		.begin = get(&slot->begin),
		.dur = clock_raw(),
		.op = get(&slot->op),
		.gpu_begin = gpu_begin,
		.gpu_ns = gpu_begin && gpu_end > gpu_begin ? gpu_end - gpu_begin : 0,
		.bytes = get(&slot->bytes),
		.own_gpu_ns = get(&slot->waits[WAIT_OWN_GPU]),
		.peer_ns = get(&slot->waits[WAIT_PEER]),
		.network_ns = get(&slot->waits[WAIT_NETWORK]),
		.data_ns = get(&slot->waits[WAIT_DATA]),
		.first_ns = get(&slot->first_ns),
		.first_after_ns = get(&slot->first_after_ns),
		.later_ns = get(&slot->later_ns),
		.pause_ns = get(&slot->pause_ns),
		.pause_after_ns = get(&slot->pause_after_ns),
		.steps = slot->steps,
		.comm = slot->comm,
		.for_pid = slot->pid,
		.peer = slot->peer,
		.channel = slot->channel,
		.what = slot->what};
	ring_commit(&ring_tls, row, bytes);
	if (slot->what == GPROF_NCCL_CHANNEL_KERNEL) {
		return;
	}
	nccl_net_write(slot->devices, &(struct gprof_row_nccl_net){.op = get(&slot->op),
					      .comm = slot->comm,
					      .peer = slot->peer,
					      .channel = slot->channel,
					      .what = slot->what});
}

/* ---- requests to the network ---- */

nccl_handle nccl_profiler_request(nccl_handle step, const struct nccl_event_net *net)
{
	struct nccl_net_request read;
	struct request *request;
	struct place place;
	uint32_t index, device;

	if (!find_slot(step, &place) || !place.step) {
		return 0;
	}
	if (!nccl_net_read(net->id, net->data, &read)) {
		loss_add(LOSS_NCCL_PLUGIN, 1);
		return 0;
	}
	device = nccl_net_find(place.slot->devices, &read);
	index = device < NCCL_NET_DEVICES
			? nccl_pool_take(&place.context->requests, sizeof(*request), NR_REQUESTS)
			: NR_REQUESTS;
	if (index >= NR_REQUESTS) {
		loss_add(LOSS_NCCL_REQUEST, 1);
		return 0;
	}
	request = nccl_pool_at(&place.context->requests, sizeof(*request), index);
	put(&request->transfer, step & ~((uint64_t)0xf << STEP_SHIFT));
	put(&request->bytes, read.bytes);
	atomic_store_explicit(&request->device, device, memory_order_relaxed);
	put(&request->since, clock_monotonic_ns());
	return make_handle(place.context, request, index) | (uint64_t)STEP_REQUEST << STEP_SHIFT;
}

static bool is_request(nccl_handle handle)
{
	return TAG_OF(handle) == TAG_SLOT && (handle >> STEP_SHIFT & 0xf) == STEP_REQUEST;
}

/* NCCL ends a request of InfiniBand twice. The first end counts. */
static void end_request(nccl_handle handle)
{
	struct context *context = context_of(handle);
	uint32_t index = handle >> SLOT_SHIFT & 0xffff;
	uint32_t generation = (uint32_t)(handle >> GENERATION_SHIFT);
	struct request *request =
		context ? nccl_pool_find(&context->requests, sizeof(*request), index, generation)
			: NULL;
	uint64_t now = clock_monotonic_ns(), since = request ? get(&request->since) : 0;
	struct place place;

	if (!request || !atomic_compare_exchange_strong(
				&request->pooled.generation, &generation, generation + 1)) {
		return;
	}
	if (find_slot(get(&request->transfer), &place)) {
		nccl_net_add(&place.slot->devices[request->device % NCCL_NET_DEVICES],
			get(&request->bytes), now > since ? now - since : 0);
	} else {
		loss_add(LOSS_NCCL_REQUEST, 1);
	}
	nccl_pool_give(&context->requests, sizeof(*request), index);
}

void nccl_profiler_stop(nccl_handle handle)
{
	uint32_t generation = (uint32_t)(handle >> GENERATION_SHIFT);
	struct place place;

	if (is_request(handle)) {
		end_request(handle);
		return;
	}
	if (!find_slot(handle, &place)) {
		return;
	}
	if (place.step) {
		change_step(place.slot, &place.slot->at[place.step - 1], 0);
		return;
	}
	if (atomic_compare_exchange_strong(
		    &place.slot->pooled.generation, &generation, generation + 1)) {
		write_channel(place.slot);
		nccl_pool_give(&place.context->slots, sizeof(*place.slot), place.index);
	}
}
