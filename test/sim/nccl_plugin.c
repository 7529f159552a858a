/* SPDX-License-Identifier: Apache-2.0 */
/* Plays the events of each operation to the plugin. */
#include "test/sim/nccl_plugin.h"

#include <stdlib.h>
#include <unistd.h>

#include "test/nccl_host.h"
#include "test/sim/nccl_comm.h"

enum { NR_CHANNELS = NCCL_PLUGIN_CHANNELS, NR_STEPS = 2 };

static const char *const names[NCCL_KINDS] = {"AllReduce", "Reduce", "Broadcast", "AllGather",
	"ReduceScatter", "AlltoAll", "Gather", "Scatter", "Send", "Recv"};

/* Of version 1. */
static const uint8_t numbers[NCCL_KINDS] = {4, 1, 0, 2, 3, 5, 5, 5, 6, 7};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct nccl_host host;

static void find(void)
{
	const char *version = getenv("SIM_NCCL_PROFILER");

	if (version) {
		nccl_host_find(&host, atoi(version));
	}
}

void nccl_plugin_open(struct nccl_comm *comm)
{
	pthread_once(&once, find);
	if (host.plugin) {
		nccl_host_init(&host, &comm->profiler, nccl_comm_hash(comm), "simulated",
			comm->clique->nr_ranks, comm->rank);
	}
}

void nccl_plugin_close(struct nccl_comm *comm)
{
	if (comm->profiler) {
		host.functions.finalize(comm->profiler);
	}
}

static bool is_on(const struct nccl_op *op)
{
	return op->comm->profiler && nccl_host_mask(&host);
}

void nccl_plugin_called(struct nccl_op *op)
{
	struct nccl_host_event event = {0};

	if (is_on(op) && host.version >= 5) {
		op->called = nccl_host_start(&host, op->comm->profiler, &event,
			op->kind >= NCCL_SEND ? NCCL_PROFILE_P2P_API : NCCL_PROFILE_COLL_API, NULL);
		host.functions.stop(op->called);
	}
}

static struct nccl_host_op describe(const struct nccl_op *op)
{
	return (struct nccl_host_op){.hash = nccl_comm_hash(op->comm),
		.function = names[op->kind],
		.function_number = numbers[op->kind],
		.datatype = op->type == 7 ? "ncclFloat32" : "ncclInt32",
		.datatype_number = (uint8_t)op->type,
		.algorithm = op->count > 1 ? "RING" : "TREE",
		.algorithm_number = op->count > 1 ? 1 : 0,
		.protocol = "SIMPLE",
		.protocol_number = 2,
		.count = op->count,
		.peer = op->peer,
		.nr_channels = NR_CHANNELS};
}

static void *start_op(const struct nccl_op *op)
{
	struct nccl_host_op described = describe(op);

	if (op->kind >= NCCL_SEND) {
		return nccl_host_start_p2p(&host, op->comm->profiler, &described, op->called);
	}
	described.sequence = op->comm->sequences[op->kind]++;
	return nccl_host_start_coll(&host, op->comm->profiler, &described, op->called);
}

static void play_channel(struct nccl_comm *comm, void *parent, int channel)
{
	struct nccl_host_event kernel = {.kernel = {.channel = (uint8_t)channel, .gpu_ns = 1000}};
	struct nccl_host_event transfer = {
		.transfer = {.pid = getpid(),
			.channel = (uint8_t)channel,
			.peer = (comm->rank + 1) % comm->clique->nr_ranks,
			.nr_steps = NR_STEPS,
			.is_send = 1}};
	void *handle;

	if (nccl_host_mask(&host) & NCCL_PROFILE_KERNEL_CH) {
		handle = nccl_host_start(
			&host, comm->profiler, &kernel, NCCL_PROFILE_KERNEL_CH, parent);
		nccl_host_change(&host, handle, NCCL_STATE_KERNEL_STOP, 3000);
		host.functions.stop(handle);
	}
	handle = nccl_host_start(&host, comm->profiler, &transfer, NCCL_PROFILE_PROXY_OP, parent);
	for (int i = 0; i < NR_STEPS; i++) {
		struct nccl_host_event event = {.step = {.step = i}};
		void *step = nccl_host_start(
			&host, comm->profiler, &event, NCCL_PROFILE_PROXY_STEP, handle);

		nccl_host_change(&host, step, NCCL_STATE_SEND_GPU_WAIT, 0);
		nccl_host_change(&host, step, NCCL_STATE_SEND_PEER_WAIT, 0);
		nccl_host_change(&host, step, NCCL_STATE_SEND_WAIT, 512);
		host.functions.stop(step);
	}
	host.functions.stop(handle);
}

void nccl_plugin_launched(struct nccl_op *op)
{
	void *handle;

	if (!is_on(op)) {
		return;
	}
	handle = op->started ? op->started : start_op(op);
	host.functions.stop(handle);
	for (int i = 0; handle && i < NR_CHANNELS; i++) {
		play_channel(op->comm, handle, i);
	}
}

/* ---- receives ---- */

void nccl_plugin_launching(struct nccl_op *op)
{
	if (is_on(op) && op->kind < NCCL_SEND && getenv("SIM_NCCL_RECEIVES")) {
		op->started = start_op(op);
	}
}

static void wait_on(const struct nccl_op *op, int channel, struct nccl_receive *receive)
{
	int nr_ranks = op->comm->clique->nr_ranks;
	struct nccl_host_event transfer = {
		.transfer = {.pid = getpid(),
			.channel = (uint8_t)channel,
			.peer = (op->comm->rank + nr_ranks - 1) % nr_ranks,
			.nr_steps = NCCL_PLUGIN_UNDERWAY}};

	receive->transfer = nccl_host_start(
		&host, op->comm->profiler, &transfer, NCCL_PROFILE_PROXY_OP, op->started);
	for (int i = 0; i < NCCL_PLUGIN_UNDERWAY; i++) {
		struct nccl_host_event event = {.step = {.step = i}};

		receive->steps[i] = nccl_host_start(&host, op->comm->profiler, &event,
			NCCL_PROFILE_PROXY_STEP, receive->transfer);
		nccl_host_change(&host, receive->steps[i], NCCL_STATE_RECV_WAIT, 0);
	}
}

void nccl_plugin_wait(const struct nccl_op *op, struct nccl_receive *receives)
{
	for (int i = 0; op->started && i < NR_CHANNELS; i++) {
		wait_on(op, i, &receives[i]);
	}
}

void nccl_plugin_receive(const struct nccl_op *op, struct nccl_receive *receives)
{
	for (int i = 0; op->started && i < NR_CHANNELS; i++) {
		for (int k = 0; k < NCCL_PLUGIN_UNDERWAY; k++) {
			nccl_host_change(&host, receives[i].steps[k], NCCL_STATE_RECV_GPU_WAIT, 0);
			host.functions.stop(receives[i].steps[k]);
		}
		host.functions.stop(receives[i].transfer);
	}
}
