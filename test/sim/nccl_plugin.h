/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated NCCL tells a profiler plugin of its operations, as the real one does since 2.23:
 * with SIM_NCCL_PROFILER=VERSION, by that version of the interface, the plugin that
 * NCCL_PROFILER_PLUGIN names. Each operation has a ring's two channels, with a kernel and a send of
 * two steps each. With SIM_NCCL_RECEIVES a collective of several processes has receives, too, whose
 * data come when the ranks have met.
 */
#ifndef GPROF_SIM_NCCL_PLUGIN_H
#define GPROF_SIM_NCCL_PLUGIN_H

#include "test/sim/nccl.h"

/* A communicator is made, and gone. */
void nccl_plugin_open(struct nccl_comm *comm);
void nccl_plugin_close(struct nccl_comm *comm);

/* Within the call that asks for an operation; and when the group that it is in has launched it. */
void nccl_plugin_called(struct nccl_op *op);
void nccl_plugin_launched(struct nccl_op *op);

/* Before its launch: it starts now, since its kernel is to play receives. */
void nccl_plugin_launching(struct nccl_op *op);

enum { NCCL_PLUGIN_CHANNELS = 2, NCCL_PLUGIN_UNDERWAY = 8 };

/* The receive of a channel, whose steps are all under way. */
struct nccl_receive {
	void *transfer, *steps[NCCL_PLUGIN_UNDERWAY];
};

/* In its kernel: it waits for data on all channels; and they have come. */
void nccl_plugin_wait(const struct nccl_op *op, struct nccl_receive *receives);
void nccl_plugin_receive(const struct nccl_op *op, struct nccl_receive *receives);

#endif
