/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network devices of NCCL's communicators, from table nccl_net. NCCL numbers the devices of
 * InfiniBand within each connection, so one is known only by the connection that uses it: channel,
 * peer and direction. Sockets with the same local address use the same device.
 *
 * NCCL gives each channel of an operation an equal share, so devices are compared within the same
 * operation: the time that a byte takes, with the median of the others. Only sends count, since a
 * receive also waits until the other side sends.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/analysis/view.h"
#include "report/comm/nccl_names.h"
#include "report/stats/samples.h"
#include "report/util/buf.h"
#include "report/util/hash.h"

/* A device is slow that takes this many times as long as the others, in so many operations. */
#define SLOW_FACTOR    2.0
#define MIN_OPERATIONS 10u
/* A smaller share is as fast as the network's latency. */
#define MIN_BYTES   65536u
#define DEVICE_MASK (COL_ALL(NR_COL_nccl_net) & ~COLS(nccl_net, begin, dur))
#define MAX_RATIO   1e9
#define PER_RATIO   1000 /* of a ratio, in struct samples */

/* No padding: the bytes are compared. */
struct key {
	uint32_t process, comm; /* process: index */
	int32_t peer, device;
	uint16_t channel, what, network, has_address; /* with one, no channel and peer */
	uint64_t local_high, local_low;
};

struct device {
	struct key key;
	uint32_t queue;
	uint64_t nr, requests, bytes, busy_ns, least_ns, most_ns;
	struct samples request_ns; /* mean of each transfer */
	struct samples ratios; /* of each operation: its time for a byte to that of the others */
	UT_hash_handle hh;
};

/* A device has moved this share of an operation. */
struct part {
	uint64_t op, bytes, ns;
	struct device *device;
	double ns_per_byte;
};

struct nccl_network_view {
	struct view_input input;
	struct device *devices;
	struct part *parts; /* of the current process */
	size_t nr_parts, capacity;
	uint32_t nr_processes;
};

static struct key key_of(uint32_t process, const struct batch *b, uint32_t i)
{
	struct key key = {.process = process,
		.local_high = b->col[COL_nccl_net_local_high][i],
		.local_low = b->col[COL_nccl_net_local_low][i],
		.comm = (uint32_t)b->col[COL_nccl_net_comm][i],
		.peer = -1,
		.device = (int32_t)b->col[COL_nccl_net_device][i],
		.what = (uint16_t)b->col[COL_nccl_net_what][i],
		.network = (uint16_t)b->col[COL_nccl_net_network][i]};

	key.has_address = key.local_high || key.local_low;
	if (!key.has_address) {
		key.peer = (int32_t)b->col[COL_nccl_net_peer][i];
		key.channel = (uint16_t)b->col[COL_nccl_net_channel][i];
	}
	return key;
}

static void add_row(struct nccl_network_view *view, const struct batch *b, uint32_t i)
{
	struct key key = key_of(view->nr_processes, b, i);
	uint64_t requests = b->col[COL_nccl_net_requests][i], op = b->col[COL_nccl_net_op][i],
		 bytes = b->col[COL_nccl_net_bytes][i], ns = b->col[COL_nccl_net_busy_ns][i],
		 least_ns = b->col[COL_nccl_net_least_ns][i],
		 most_ns = b->col[COL_nccl_net_most_ns][i];
	struct device *device;

	hash_put(view->devices, key, &key, device);
	device->queue = device->nr++ ? device->queue : (uint32_t)b->col[COL_nccl_net_queue][i];
	device->requests += requests;
	device->bytes += bytes;
	device->busy_ns += ns;
	device->least_ns =
		device->nr > 1 && device->least_ns < least_ns ? device->least_ns : least_ns;
	device->most_ns = device->most_ns > most_ns ? device->most_ns : most_ns;
	if (requests) {
		samples_add(&device->request_ns, ns / requests);
	}
	if (op && bytes && key.what == GPROF_NCCL_CHANNEL_SEND) {
		view->parts = array_grow(
			view->parts, view->nr_parts, &view->capacity, sizeof(*view->parts));
		view->parts[view->nr_parts++] =
			(struct part){.op = op, .bytes = bytes, .ns = ns, .device = device};
	}
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	(void)process;
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		add_row(context, batch, i);
	}
}

/* ---- comparison ---- */

static int by_device(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->op != y->op) {
		return x->op < y->op ? -1 : 1;
	}
	return (x->device > y->device) - (x->device < y->device);
}

static int by_time(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return (x->ns_per_byte > y->ns_per_byte) - (x->ns_per_byte < y->ns_per_byte);
}

/* Those of one operation. A part with much less data than others would look slow. */
static void compare(struct part *parts, size_t nr_all)
{
	uint64_t most = 0;
	size_t nr = 0;

	for (size_t i = 0; i < nr_all; i++) {
		most = parts[i].bytes > most ? parts[i].bytes : most;
	}
	for (size_t i = 0; i < nr_all; i++) {
		if (parts[i].bytes >= MIN_BYTES && parts[i].bytes >= most / 2) {
			parts[nr] = parts[i];
			parts[nr].ns_per_byte = (double)parts[nr].ns / (double)parts[nr].bytes;
			nr++;
		}
	}
	qsort(parts, nr, sizeof(*parts), by_time);
	for (size_t i = 0; nr > 1 && i < nr; i++) {
		size_t middle = (nr - 2) / 2; /* of the others */
		double others = parts[middle < i ? middle : middle + 1].ns_per_byte;

		if (others > 0) {
			double ratio = fmin(parts[i].ns_per_byte / others, MAX_RATIO);

			samples_add(&parts[i].device->ratios, (uint64_t)(ratio * PER_RATIO + 0.5));
		}
	}
}

/* Adds up what a device moved of an operation over several channels. */
static size_t merge(struct part *parts, size_t nr)
{
	size_t merged = 0;

	for (size_t i = 0; i < nr; i++) {
		if (merged && !by_device(&parts[merged - 1], &parts[i])) {
			parts[merged - 1].bytes += parts[i].bytes;
			parts[merged - 1].ns += parts[i].ns;
		} else {
			parts[merged++] = parts[i];
		}
	}
	return merged;
}

static void end(void *context, struct process *process)
{
	struct nccl_network_view *view = context;
	size_t nr, end;

	(void)process;
	if (view->nr_parts) {
		qsort(view->parts, view->nr_parts, sizeof(*view->parts), by_device);
	}
	nr = merge(view->parts, view->nr_parts);
	for (size_t first = 0; first < nr; first = end) {
		for (end = first + 1; end < nr && view->parts[end].op == view->parts[first].op;) {
			end++;
		}
		compare(&view->parts[first], end - first);
	}
	view->nr_parts = 0;
	view->nr_processes++;
}

/* ---- the table ---- */

struct shown_row {
	const struct process *process;
	const char *communicator, *what, *network, *address;
	int64_t peer, number, channel;
	uint64_t nr, requests, bytes, busy_ns, least_ns, most_ns, p99_ns, queue;
	double median_ns, rate_pct;
};

static const struct table_column columns[] = {
	TABLE_COLUMN("pid", "PID", TABLE_ID, .is_minor = true, VIEW_PID(shown_row, process)),
	TABLE_COLUMN("rank", "Rank", TABLE_ID, VIEW_RANK(shown_row, process)),
	TABLE_COLUMN("communicator", "Communicator", TABLE_TEXT, .help = "its name, or its ID",
		TABLE_MEMBER(shown_row, communicator)),
	TABLE_COLUMN("network", "Network", TABLE_TEXT, .help = "InfiniBand (also RoCE) or sockets",
		.is_minor = true, TABLE_MEMBER(shown_row, network)),
	TABLE_COLUMN("address", "Address", TABLE_TEXT,
		.help = "this host's, of sockets: it names the network interface",
		TABLE_MEMBER(shown_row, address)),
	TABLE_COLUMN("device", "Device", TABLE_ID,
		.help = "number of the device among those of the connection",
		TABLE_MEMBER(shown_row, number)),
	TABLE_COLUMN("what", "Part", TABLE_TEXT,
		.help = "send or receive; relayed: of another process on this node",
		TABLE_MEMBER(shown_row, what)),
	TABLE_COLUMN("channel", "Channel", TABLE_ID, TABLE_MEMBER(shown_row, channel)),
	TABLE_COLUMN("peer", "Peer", TABLE_ID, .is_minor = true,
		.help = "rank of the communicator at the other side",
		TABLE_MEMBER(shown_row, peer)),
	TABLE_COLUMN("queue", "QP", TABLE_ID, .is_minor = true,
		.help = "number of a queue pair of InfiniBand, by which `rdma resource show qp` "
			"names the device",
		TABLE_MEMBER(shown_row, queue)),
	TABLE_COLUMN("transfers", "Transfers", TABLE_COUNT, .is_minor = true,
		.help = "of a channel in an operation", TABLE_MEMBER(shown_row, nr)),
	TABLE_COLUMN("requests", "Requests", TABLE_COUNT, .is_minor = true,
		.help = "that NCCL passed to the device", TABLE_MEMBER(shown_row, requests)),
	TABLE_COLUMN("bytes", "Size", TABLE_SIZE, TABLE_NONZERO(shown_row, bytes)),
	TABLE_COLUMN("rate_pct", "% of others", TABLE_PERCENT,
		.help = "bytes in a request's time, of those of the other devices in the same "
			"operations: the median over operations",
		TABLE_MEMBER(shown_row, rate_pct)),
	TABLE_COLUMN("mean_ns", "Mean", TABLE_MEAN_TIME,
		.help = "time of a request, until the network had done it",
		TABLE_MEAN(shown_row, busy_ns, requests)),
	TABLE_COLUMN("median_ns", "Med", TABLE_MEAN_TIME, .is_minor = true,
		.help = "median of the transfers, by the mean time of their requests",
		TABLE_MEMBER(shown_row, median_ns)),
	TABLE_COLUMN("p99_ns", "p99", TABLE_TIME, .is_minor = true,
		.help = "99th percentile of the transfers, by the mean time of their requests",
		TABLE_MEMBER(shown_row, p99_ns)),
	TABLE_COLUMN("min_ns", "Min", TABLE_TIME, .is_minor = true, .help = "shortest request",
		TABLE_MEMBER(shown_row, least_ns)),
	TABLE_COLUMN("max_ns", "Max", TABLE_TIME, .help = "longest request",
		TABLE_MEMBER(shown_row, most_ns)),
};

static const char *what_of(const struct key *key)
{
	static const char *const names[2][2] = {
		{"relayed receive", "relayed send"}, {"receive", "send"}};

	return names[key->comm != 0][key->what == GPROF_NCCL_CHANNEL_SEND];
}

/* text: room for one. */
static const char *address_of(const struct key *key, char text[INET6_ADDRSTRLEN])
{
	uint64_t address[2] = {htobe64(key->local_high), htobe64(key->local_low)};
	const bool is_v4 = !key->local_high && key->local_low >> 32 == 0xffff;

	if (!key->has_address) {
		return NULL;
	}
	return is_v4 ? inet_ntop(AF_INET, (const char *)address + 12, text, INET6_ADDRSTRLEN)
		     : inet_ntop(AF_INET6, address, text, INET6_ADDRSTRLEN);
}

/* Its rate as a share of that of the others in percent; NAN: unknown. */
static double rate_of(struct device *device)
{
	double ratio = samples_median(&device->ratios);

	return ratio > 0 ? 100.0 * PER_RATIO / ratio : NAN;
}

static void show_row(
	const struct nccl_network_view *view, struct device *device, struct table *table)
{
	const struct key *key = &device->key;
	struct process *process = view->input.processes[key->process];
	char id[NCCL_NAMES_ID_BYTES], address[INET6_ADDRSTRLEN];

	table_add(table,
		&(struct shown_row){.process = process,
			.communicator = nccl_names_short(process, key->comm, id),
			.network = key->network == GPROF_NCCL_NET_IB	   ? "InfiniBand"
				   : key->network == GPROF_NCCL_NET_SOCKET ? "sockets"
									   : "unknown",
			.address = address_of(key, address),
			.number = key->device,
			.what = what_of(key),
			.channel = key->has_address ? -1 : key->channel,
			.peer = key->peer,
			.queue = key->network == GPROF_NCCL_NET_IB ? device->queue : UINT64_MAX,
			.nr = device->nr,
			.requests = device->requests,
			.bytes = device->bytes,
			.busy_ns = device->busy_ns,
			.median_ns = samples_median(&device->request_ns),
			.p99_ns = samples_quantile(&device->request_ns, 0.99),
			.least_ns = device->least_ns,
			.most_ns = device->most_ns,
			.rate_pct = rate_of(device)});
}

static void note_if_slow(
	const struct nccl_network_view *view, struct device *device, struct table *table)
{
	const struct process *process = view->input.processes[device->key.process];
	char text[INET6_ADDRSTRLEN];
	const char *address = address_of(&device->key, text);
	double rate = rate_of(device);
	struct buf where = {0};

	if (device->ratios.nr < MIN_OPERATIONS || !(rate <= 100 / SLOW_FACTOR)) {
		return;
	}
	if (address) {
		buf_printf(&where, "address %s", address);
	} else {
		buf_printf(&where, "device %" PRId32 " of channel %u to peer %" PRId32,
			device->key.device, device->key.channel, device->key.peer);
	}
	if (process->rank >= 0) {
		buf_printf(&where, ", rank %" PRId64, process->rank);
	} else {
		buf_printf(&where, ", process %" PRIu32, process->pid);
	}
	table_note(table,
		"Slow: %.*s: %.0f %% of the rate of the others (median of %zu operations).",
		(int)where.nr_bytes, where.bytes, rate, device->ratios.nr);
	buf_fini(&where);
}

/* By rank and communicator, then the slowest first. */
static int by_place(struct device *x, struct device *y)
{
	double x_rate = rate_of(x), y_rate = rate_of(y);

	if (x->key.process != y->key.process) {
		return x->key.process < y->key.process ? -1 : 1;
	}
	if (x->key.comm != y->key.comm) {
		return x->key.comm < y->key.comm ? -1 : 1;
	}
	if (x->key.what != y->key.what) {
		return x->key.what < y->key.what ? -1 : 1;
	}
	if (isnan(x_rate) != isnan(y_rate)) {
		return isnan(x_rate) ? 1 : -1;
	}
	if (x_rate < y_rate || x_rate > y_rate) {
		return x_rate < y_rate ? -1 : 1;
	}
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

static void fill_table(void *state, struct table *table)
{
	struct nccl_network_view *view = state;
	bool has_rank = false;

	HASH_SORT(view->devices, by_place);
	for (struct device *device = view->devices; device; device = device->hh.next) {
		has_rank |= view->input.processes[device->key.process]->rank >= 0;
		show_row(view, device, table);
		note_if_slow(view, device, table);
	}
	table_set_wide(table, "rank", !has_rank);
	if (!view->devices) {
		table_note(table,
			"None was recorded: NCCL reports what it passes to network devices "
			"only if it, or its network plugin, was built for that.");
	}
}

static void fini(void *state)
{
	struct nccl_network_view *view = state;

	for (struct device *device = view->devices; device; device = device->hh.next) {
		samples_fini(&device->request_ns);
		samples_fini(&device->ratios);
	}
	hash_free(view->devices);
	free(view->parts);
}

static const struct scan_want wants[] = {{GPROF_TABLE_nccl_net, DEVICE_MASK, 0}};

VIEW(nccl_network, 147) = {
	.name = "nccl-network",
	.subject = VIEW_ABOUT_DISTRIBUTED,
	.help = "network devices of NCCL: what they moved, how long requests took, and which are "
		"slow",
	.about = "NCCL (version 3 of its profiler plugin interface and later, since 2.26) reports "
		 "each request that it passes to a network device, if it was built with "
		 "NET_PROFILER=1 or its network plugin does so. Devices of an operation do equal "
		 "shares, so one that moves its bytes at half the rate of the others, or less, in "
		 "half of the operations is slow: it, its link or its peer. A receive also waits "
		 "for the other side, so only sends are compared.",
	.is_empty_hidden = true,
	.title = "Network devices of NCCL",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct nccl_network_view),
	.scan = {wants, 1, NULL, NULL, on_batch, end},
	.fill = fill_table,
	.fini = fini,
};
