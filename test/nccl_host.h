/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL's side of its profiler interface, for programs that play NCCL: opens a plugin and calls its
 * functions in the form of the chosen version.
 */
#ifndef GPROF_TEST_NCCL_HOST_H
#define GPROF_TEST_NCCL_HOST_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/abi/nccl_profiler_abi.h"

struct nccl_host {
	int version;
	const void *plugin;		   /* of that version; NULL: there is none */
	struct nccl_profiler_v1 functions; /* those behind init have their places in all versions */
	int mask;
};

struct nccl_host_event {
	struct nccl_event head;
	union {
		struct nccl_event_coll_v1 coll1;
		struct nccl_event_coll_v2 coll2;
		struct nccl_event_coll_v3 coll3;
		struct nccl_event_coll_v4 coll4;
		struct nccl_event_p2p_v1 p2p1;
		struct nccl_event_p2p_v2 p2p2;
		struct nccl_event_p2p_v4 p2p4;
		struct nccl_event_coll_api coll_api;
		struct nccl_event_p2p_api p2p_api;
		struct nccl_event_proxy_op transfer;
		struct nccl_event_proxy_step step;
		struct nccl_event_kernel kernel;
		struct nccl_event_net net;
		struct nccl_event_ce ce;
		char room[256];
	};
};

/* A collective or, with `peer`, a send or receive. Version 1 has the numbers in place of texts. */
struct nccl_host_op {
	uint64_t sequence, hash;
	const char *function, *datatype, *algorithm, *protocol;
	uint8_t function_number, datatype_number, algorithm_number, protocol_number;
	size_t count;
	int peer; /* or root */
	uint8_t nr_channels, nr_warps;
};

static inline bool nccl_host_find(struct nccl_host *host, int version)
{
	const char *path = getenv("NCCL_PROFILER_PLUGIN");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	char name[32];

	host->version = version;
	snprintf(name, sizeof(name), "ncclProfiler_v%d", version);
	host->plugin = library ? dlsym(library, name) : NULL;
	if (host->plugin) {
		memcpy(&host->functions, host->plugin, sizeof(host->functions));
	}
	return host->plugin;
}

static inline int nccl_host_init(struct nccl_host *host, void **context, uint64_t hash,
	const char *name, int nr_ranks, int rank)
{
	const struct nccl_profiler_v1 *v1 = host->plugin;
	const struct nccl_profiler_v4 *v4 = host->plugin;
	const struct nccl_profiler_v5 *v5 = host->plugin;

	if (host->version < 4) {
		return v1->init(context, &host->mask);
	}
	if (host->version == 4) {
		return v4->init(context, &host->mask, name, hash, 1, nr_ranks, rank, NULL);
	}
	return v5->init(context, hash, &host->mask, name, 1, nr_ranks, rank, NULL);
}

static inline int nccl_host_mask(const struct nccl_host *host)
{
	return __atomic_load_n(&host->mask, __ATOMIC_RELAXED);
}

static inline void *nccl_host_start(const struct nccl_host *host, void *context,
	struct nccl_host_event *event, uint64_t type, void *parent)
{
	void *handle = (void *)(uintptr_t)0x5555; /* of another event */

	if (host->version < 5) {
		event->head.type.narrow = (uint8_t)type;
	} else {
		event->head.type.wide = type;
	}
	event->head.parent = parent;
	if (host->functions.start(context, &handle, &event->head)) {
		printf("start has failed\n");
	}
	return handle;
}

static inline void nccl_host_change(
	const struct nccl_host *host, void *handle, int to, uint64_t number)
{
	union nccl_event_state arguments = {.gpu_ns = number};

	host->functions.record(handle, to, &arguments);
}

#define NCCL_HOST_COLL(e)                                                                    \
	(e).sequence = op->sequence, (e).function = op->function, (e).count = op->count,     \
	(e).root = op->peer, (e).datatype = op->datatype, (e).nr_channels = op->nr_channels, \
	(e).nr_warps = op->nr_warps, (e).algorithm = op->algorithm, (e).protocol = op->protocol

static inline void *nccl_host_start_coll(
	const struct nccl_host *host, void *context, const struct nccl_host_op *op, void *parent)
{
	struct nccl_host_event event = {0};

	switch (host->version) {
	case 1:
		event.coll1 = (struct nccl_event_coll_v1){.sequence = op->sequence,
			.comm_hash = op->hash,
			.function = op->function_number,
			.count = op->count,
			.root = op->peer,
			.datatype = op->datatype_number,
			.nr_channels = op->nr_channels,
			.nr_warps = op->nr_warps,
			.algorithm = op->algorithm_number,
			.protocol = op->protocol_number};
		break;
	case 2:
		NCCL_HOST_COLL(event.coll2);
		event.coll2.comm_hash = op->hash;
		break;
	case 3:
		NCCL_HOST_COLL(event.coll3);
		event.coll3.comm_hash = op->hash;
		break;
	default:
		NCCL_HOST_COLL(event.coll4);
	}
	return nccl_host_start(host, context, &event, NCCL_PROFILE_COLL, parent);
}

#define NCCL_HOST_P2P(e)                                                                 \
	(e).function = op->function, (e).datatype = op->datatype, (e).count = op->count, \
	(e).peer = op->peer

static inline void *nccl_host_start_p2p(
	const struct nccl_host *host, void *context, const struct nccl_host_op *op, void *parent)
{
	struct nccl_host_event event = {0};

	if (host->version == 1) {
		event.p2p1 = (struct nccl_event_p2p_v1){.comm_hash = op->hash,
			.function = op->function_number,
			.datatype = op->datatype_number,
			.count = op->count,
			.peer = op->peer};
	} else if (host->version < 4) {
		NCCL_HOST_P2P(event.p2p2);
		event.p2p2.comm_hash = op->hash;
	} else {
		NCCL_HOST_P2P(event.p2p4);
		event.p2p4.nr_channels = op->nr_channels;
	}
	return nccl_host_start(host, context, &event, NCCL_PROFILE_P2P, parent);
}

#endif
