/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums up what a transfer of NCCL moves through each network device. NCCL's network plugin reports
 * each request that it passes to a device, and its end. There are many of them, so the thread that
 * sees the end adds it to the sums of its transfer, which becomes one row of table nccl_net for
 * each device. Several threads may do so at a time.
 */
#ifndef PRELOAD_NCCL_NCCL_NET_H
#define PRELOAD_NCCL_NCCL_NET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/format/format.h"

/* NCCL spreads a connection over no more devices. */
#define NCCL_NET_DEVICES 4u

/* A request, as the plugin describes it. */
struct nccl_net_request {
	uint64_t bytes; /* 0: unknown */
	int32_t device; /* -1: unknown */
	uint32_t queue; /* queue pair or descriptor */
	uint8_t network;
};

/* One device's part of a transfer. */
struct nccl_net_sums {
	_Atomic uint64_t device;      /* network and device, 0: free */
	_Atomic uint64_t first, last; /* raw */
	_Atomic uint64_t bytes, busy_ns, least_ns, most_ns;
	_Atomic uint64_t local_high, local_low;
	_Atomic uint32_t requests, queue;
};

/* Returns false for a plugin, version or type that gprof does not know: its data are not read. */
bool nccl_net_read(int64_t id, const void *data, struct nccl_net_request *request);

/* A transfer begins. */
void nccl_net_clear(struct nccl_net_sums *sums);

/* Returns the index of the request's device in sums, NCCL_NET_DEVICES: there is no room. */
uint32_t nccl_net_find(struct nccl_net_sums *sums, const struct nccl_net_request *request);

/* A request of that many bytes has ended. */
void nccl_net_add(struct nccl_net_sums *sums, uint64_t bytes, uint64_t ns);

/* Writes the rows. row: has what they share. */
void nccl_net_write(struct nccl_net_sums *sums, const struct gprof_row_nccl_net *row);

#endif
