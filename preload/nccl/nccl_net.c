/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device is known by its number within the connection, which is all that InfiniBand's plugin
 * gives. The sockets of a connection share one device, which their local address names; the first
 * request of a transfer asks for it.
 */
#include "preload/nccl/nccl_net.h"

#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/collector.h"
#include "preload/abi/nccl_profiler_abi.h"

#define MAPPED_IPV4 0xffff00000000u /* in the lower half of an IPv6 address */

static bool read_ib(const void *data, struct nccl_net_request *request)
{
	struct nccl_net_ib_v1 ib;

	memcpy(&ib, data, sizeof(ib));
	*request = (struct nccl_net_request){.bytes = ib.request.length,
		.device = ib.request.device,
		.queue = (uint32_t)ib.request.queue_pair,
		.network = GPROF_NCCL_NET_IB};
	return ib.type == NCCL_NET_REQUEST;
}

static bool read_socket(const void *data, struct nccl_net_request *request)
{
	struct nccl_net_socket_v1 socket;

	memcpy(&socket, data, sizeof(socket));
	*request = (struct nccl_net_request){.bytes = socket.request.length,
		.device = -1,
		.queue = (uint32_t)socket.request.fd,
		.network = GPROF_NCCL_NET_SOCKET};
	return socket.type == NCCL_NET_REQUEST;
}

bool nccl_net_read(int64_t id, const void *data, struct nccl_net_request *request)
{
	if (!data) {
		return false;
	}
	switch (id) {
	case NCCL_NET_IB_V1:
		return read_ib(data, request);
	case NCCL_NET_SOCKET_V1:
		return read_socket(data, request);
	default:
		return false;
	}
}

static void put(_Atomic uint64_t *value, uint64_t number)
{
	atomic_store_explicit(value, number, memory_order_relaxed);
}

static uint64_t get(_Atomic uint64_t *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

void nccl_net_clear(struct nccl_net_sums *sums)
{
	for (uint32_t i = 0; i < NCCL_NET_DEVICES && get(&sums[i].device); i++) {
		put(&sums[i].first, 0);
		put(&sums[i].last, 0);
		put(&sums[i].bytes, 0);
		put(&sums[i].busy_ns, 0);
		put(&sums[i].least_ns, 0);
		put(&sums[i].most_ns, 0);
		put(&sums[i].local_high, 0);
		put(&sums[i].local_low, 0);
		atomic_store_explicit(&sums[i].requests, 0, memory_order_relaxed);
		put(&sums[i].device, 0);
	}
}

/* Keeps errno. */
static void read_local_address(struct nccl_net_sums *sums, uint32_t fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} own;
	socklen_t nr_bytes = sizeof(own);
	uint64_t high, low;
	int kept = errno;
	bool is_known = !syscall(SYS_getsockname, (long)(int)fd, &own, &nr_bytes);

	errno = kept;
	if (is_known && own.any.sa_family == AF_INET) {
		put(&sums->local_low, MAPPED_IPV4 | ntohl(own.v4.sin_addr.s_addr));
	} else if (is_known && own.any.sa_family == AF_INET6) {
		memcpy(&high, own.v6.sin6_addr.s6_addr, sizeof(high));
		memcpy(&low, own.v6.sin6_addr.s6_addr + sizeof(high), sizeof(low));
		put(&sums->local_high, be64toh(high));
		put(&sums->local_low, be64toh(low));
	}
}

uint32_t nccl_net_find(struct nccl_net_sums *sums, const struct nccl_net_request *request)
{
	const uint64_t device = (uint64_t)request->network << 32 | (uint32_t)request->device;

	for (uint32_t i = 0; i < NCCL_NET_DEVICES; i++) {
		uint64_t now = get(&sums[i].device);

		if (!now && atomic_compare_exchange_strong(&sums[i].device, &now, device)) {
			put(&sums[i].first, clock_raw());
			atomic_store_explicit(&sums[i].queue, request->queue, memory_order_relaxed);
			if (request->network == GPROF_NCCL_NET_SOCKET) {
				read_local_address(&sums[i], request->queue);
			}
			return i;
		}
		if (now == device) {
			return i;
		}
	}
	return NCCL_NET_DEVICES;
}

/* Two threads at a time may lose one of two extremes, and no sum. */
void nccl_net_add(struct nccl_net_sums *sums, uint64_t bytes, uint64_t ns)
{
	uint64_t least = get(&sums->least_ns);

	atomic_fetch_add_explicit(&sums->bytes, bytes, memory_order_relaxed);
	atomic_fetch_add_explicit(&sums->busy_ns, ns, memory_order_relaxed);
	atomic_fetch_add_explicit(&sums->requests, 1, memory_order_relaxed);
	if (!least || ns < least) {
		put(&sums->least_ns, ns ? ns : 1);
	}
	if (ns > get(&sums->most_ns)) {
		put(&sums->most_ns, ns);
	}
	put(&sums->last, clock_raw());
}

static void write_device(struct nccl_net_sums *sums, const struct gprof_row_nccl_net *shared)
{
	const uint32_t bytes = sizeof(struct gprof_row_nccl_net);
	struct gprof_row_nccl_net *row = (void *)ring_reserve(&ring_tls, bytes);
	uint64_t device = get(&sums->device);

	if (!row) {
		return;
	}
	*row = *shared;
	row->head =
		(struct gprof_row_head){.bytes = (uint16_t)bytes, .table = GPROF_TABLE_nccl_net};
	row->begin = get(&sums->first);
	row->dur = get(&sums->last);
	row->bytes = get(&sums->bytes);
	row->busy_ns = get(&sums->busy_ns);
	row->least_ns = get(&sums->least_ns);
	row->most_ns = get(&sums->most_ns);
	row->local_high = get(&sums->local_high);
	row->local_low = get(&sums->local_low);
	row->requests = sums->requests;
	row->device = (int32_t)(uint32_t)device;
	row->queue = sums->queue;
	row->network = (uint8_t)(device >> 32);
	ring_commit(&ring_tls, row, bytes);
}

void nccl_net_write(struct nccl_net_sums *sums, const struct gprof_row_nccl_net *row)
{
	for (uint32_t i = 0; i < NCCL_NET_DEVICES && get(&sums[i].device); i++) {
		/* Without an end it has no row: the communicator was aborted. */
		if (atomic_load_explicit(&sums[i].requests, memory_order_relaxed)) {
			write_device(&sums[i], row);
		}
	}
}
