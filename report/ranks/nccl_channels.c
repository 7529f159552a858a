/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The channels of NCCL's communicators, from table nccl_channel: their kernels, and their transfers
 * over the network with each peer. The channels of an operation do equal shares, so each is
 * compared with the others of the same operations; a channel that small operations do not use would
 * look slow beside those that they use.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "report/analysis/view.h"
#include "report/comm/nccl_inside.h"
#include "report/comm/nccl_names.h"
#include "report/util/buf.h"
#include "report/util/sort.h"

/* That many times the time of the others is slow. Of fewer channels nobody knows which is. */
#define SLOW_FACTOR   1.5
#define MIN_CHANNELS  3u
#define CHANNELS_MASK COL_ALL(NR_COL_nccl_channel)

struct channel {
	uint32_t process; /* index */
	uint32_t comm;	  /* of the process; 0: of operations of other processes */
	int32_t peer;
	uint8_t channel, what;
	uint64_t nr, ns;
	struct nccl_waits waits;
	/* For operations with enough channels: its time, and the mean of the others' times. */
	double own_ns, others_ns;
};

/* A row, until all of its operation are known. */
struct part {
	uint64_t op, ns;
	uint32_t place; /* of its channel */
	uint8_t what;
};

/* The parts of one operation that do the same. */
struct whole {
	uint64_t ns;
	uint32_t nr;
};

struct nccl_channels_view {
	struct view_input input;
	struct idmap places; /* struct channel, of the current process, as are the parts */
	struct part *parts;
	size_t nr_parts, parts_capacity;
	struct channel *channels;
	size_t nr, capacity;
	uint32_t nr_processes;
};

static void begin(void *context, struct process *process)
{
	struct nccl_channels_view *view = context;

	(void)process;
	idmap_init(&view->places, sizeof(struct channel));
}

/*
 * The time that tells channels apart: of kernels their own, of transfers what the network took,
 * since all else waits for somebody.
 */
static void add_part(
	struct nccl_channels_view *view, const struct batch *b, uint32_t i, uint32_t place)
{
	uint8_t what = (uint8_t)b->col[COL_nccl_channel_what][i];

	if (!b->col[COL_nccl_channel_op][i]) {
		return;
	}
	view->parts = array_grow(
		view->parts, view->nr_parts, &view->parts_capacity, sizeof(*view->parts));
	view->parts[view->nr_parts++] = (struct part){.op = b->col[COL_nccl_channel_op][i],
		.ns = what == GPROF_NCCL_CHANNEL_KERNEL ? b->col[COL_nccl_channel_gpu_ns][i]
							: b->col[COL_nccl_channel_network_ns][i],
		.place = place,
		.what = what};
}

static void add_row(struct nccl_channels_view *view, const struct batch *b, uint32_t i)
{
	uint64_t comm = b->col[COL_nccl_channel_comm][i],
		 gpu_ns = b->col[COL_nccl_channel_gpu_ns][i];
	uint32_t peer = (uint32_t)b->col[COL_nccl_channel_peer][i];
	uint8_t number = (uint8_t)b->col[COL_nccl_channel_channel][i];
	uint8_t what = (uint8_t)b->col[COL_nccl_channel_what][i];
	uint64_t key = comm << 42 | (uint64_t)(what & 3u) << 40 | (uint64_t)number << 32 | peer;
	struct channel *channel = idmap_put(&view->places, key);

	channel->process = view->nr_processes;
	channel->comm = (uint32_t)comm;
	channel->peer = (int32_t)peer;
	channel->channel = number;
	channel->what = what;
	channel->nr++;
	channel->ns += gpu_ns ? gpu_ns : b->col[COL_nccl_channel_dur][i];
	nccl_waits_add(&channel->waits,
		&(struct nccl_waits){.own_gpu_ns = b->col[COL_nccl_channel_own_gpu_ns][i],
			.peer_ns = b->col[COL_nccl_channel_peer_ns][i],
			.network_ns = b->col[COL_nccl_channel_network_ns][i],
			.data_ns = b->col[COL_nccl_channel_data_ns][i],
			.steps = b->col[COL_nccl_channel_steps][i],
			.bytes = b->col[COL_nccl_channel_bytes][i]});
	add_part(view, b, i, (uint32_t)idmap_find(&view->places, key));
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	(void)process;
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		add_row(context, batch, i);
	}
}

static uint64_t whole_of(const struct part *part)
{
	return part->op << 2 | (part->what & 3u);
}

/* Each part counts beside the mean of the other parts of its operation. */
static void compare(struct nccl_channels_view *view)
{
	struct idmap wholes;

	idmap_init(&wholes, sizeof(struct whole));
	for (size_t i = 0; i < view->nr_parts; i++) {
		struct whole *whole = idmap_put(&wholes, whole_of(&view->parts[i]));

		whole->ns += view->parts[i].ns;
		whole->nr++;
	}
	for (size_t i = 0; i < view->nr_parts; i++) {
		const struct part *part = &view->parts[i];
		const struct whole *whole = idmap_get(&wholes, whole_of(part));
		struct channel *channel = idmap_at(&view->places, part->place);

		if (whole->nr >= MIN_CHANNELS) {
			channel->own_ns += (double)part->ns;
			channel->others_ns += (double)(whole->ns - part->ns) / (whole->nr - 1);
		}
	}
	idmap_fini(&wholes);
	view->nr_parts = 0;
}

static void end(void *context, struct process *process)
{
	struct nccl_channels_view *view = context;

	(void)process;
	compare(view);
	for (size_t i = 0; i < view->places.nr; i++) {
		view->channels = array_grow(
			view->channels, view->nr, &view->capacity, sizeof(*view->channels));
		view->channels[view->nr++] = *(struct channel *)idmap_at(&view->places, i);
	}
	idmap_fini(&view->places);
	view->nr_processes++;
}

/* Its time as a multiple of that of the others; 0: unknown. */
static double slowness_of(const struct channel *channel)
{
	return channel->others_ns > 0 ? channel->own_ns / channel->others_ns : 0;
}

/* By communicator and part, then the slowest first. */
static int by_slowness(const void *a, const void *b)
{
	const struct channel *x = a, *y = b;
	double x_slow = slowness_of(x), y_slow = slowness_of(y);

	return ORDER(COMPARE(x->process, y->process), COMPARE(x->comm, y->comm),
		COMPARE(x->what, y->what), COMPARE(y_slow, x_slow), COMPARE(x->channel, y->channel),
		COMPARE(x->peer, y->peer));
}

/* ---- the table ---- */

struct shown_row {
	struct channel channel;
	const struct process *process;
	const char *communicator, *what;
	int64_t peer;
	uint64_t bytes;
	double slowness;
	bool is_transfer;
};

static const struct table_column columns[] = {
	TABLE_COLUMN("pid", "PID", TABLE_ID, .is_minor = true, VIEW_PID(shown_row, process)),
	TABLE_COLUMN("rank", "Rank", TABLE_ID, VIEW_RANK(shown_row, process)),
	TABLE_COLUMN("communicator", "Communicator", TABLE_TEXT, .help = "its name, or its ID",
		TABLE_MEMBER(shown_row, communicator)),
	TABLE_COLUMN("what", "Part", TABLE_TEXT,
		.help = "kernel, send or receive; relayed: of another process on this node",
		TABLE_MEMBER(shown_row, what)),
	TABLE_COLUMN("channel", "Channel", TABLE_ID, TABLE_MEMBER(shown_row, channel.channel)),
	TABLE_COLUMN("peer", "Peer", TABLE_ID, .help = "rank of the communicator at the other side",
		.is_minor = true, TABLE_MEMBER(shown_row, peer)),
	TABLE_COLUMN("operations", "Operations", TABLE_COUNT, .is_minor = true,
		TABLE_MEMBER(shown_row, channel.nr)),
	TABLE_COLUMN("time_ns", "Total", TABLE_TIME, .is_minor = true,
		.help = "of kernels by the GPU's timer where NCCL gives it, else as NCCL's thread "
			"saw it",
		TABLE_MEMBER(shown_row, channel.ns)),
	TABLE_COLUMN(
		"mean_ns", "Mean", TABLE_MEAN_TIME, TABLE_MEAN(shown_row, channel.ns, channel.nr)),
	TABLE_COLUMN("slowness", "x others", TABLE_NUMBER,
		.help = "kernel or network time, as a multiple of the mean of the other channels "
			"of "
			"the same operations",
		TABLE_NONZERO(shown_row, slowness)),
	TABLE_COLUMN(
		"bytes", "Size", TABLE_SIZE, .is_minor = true, TABLE_NONZERO(shown_row, bytes)),
	TABLE_COLUMN("own_gpu_ns", "Own GPU", TABLE_TIME,
		.help = "sum over steps, which overlap: waited for the rank's own GPU",
		TABLE_IF(shown_row, channel.waits.own_gpu_ns, is_transfer)),
	TABLE_COLUMN("peer_ns", "Peer not ready", TABLE_TIME,
		.help = "sum over steps: until the receiving rank was ready",
		TABLE_IF(shown_row, channel.waits.peer_ns, is_transfer)),
	TABLE_COLUMN("data_ns", "Data", TABLE_TIME,
		.help = "sum over steps: until the sending rank's data arrived",
		TABLE_IF(shown_row, channel.waits.data_ns, is_transfer)),
	TABLE_COLUMN("network_ns", "Network", TABLE_TIME,
		.help = "sum over steps: until the network had sent the data",
		TABLE_IF(shown_row, channel.waits.network_ns, is_transfer)),
};

static const char *name_of(const struct channel *channel)
{
	static const char *const names[] = {[GPROF_NCCL_CHANNEL_KERNEL] = "kernel",
		[GPROF_NCCL_CHANNEL_SEND] = "send",
		[GPROF_NCCL_CHANNEL_RECV] = "receive"};

	if (!channel->comm && channel->what == GPROF_NCCL_CHANNEL_SEND) {
		return "relayed send";
	}
	if (!channel->comm && channel->what == GPROF_NCCL_CHANNEL_RECV) {
		return "relayed receive";
	}
	return channel->what < sizeof(names) / sizeof(names[0]) ? names[channel->what] : "unknown";
}

static void show_row(
	const struct nccl_channels_view *view, const struct channel *channel, struct table *table)
{
	struct process *process = view->input.processes[channel->process];
	bool is_transfer = channel->what != GPROF_NCCL_CHANNEL_KERNEL;
	char id[NCCL_NAMES_ID_BYTES];

	table_add(table, &(struct shown_row){.channel = *channel,
				 .process = process,
				 .communicator = nccl_names_short(process, channel->comm, id),
				 .what = name_of(channel),
				 .peer = channel->peer >= 0 ? channel->peer : -1,
				 .bytes = is_transfer ? channel->waits.bytes : 0,
				 .slowness = slowness_of(channel) > 0 ? slowness_of(channel) : 0,
				 .is_transfer = is_transfer});
}

/* The slow channels by name, the slowest first. */
static void note_slow(const struct nccl_channels_view *view, struct table *table)
{
	for (size_t i = 0; i < view->nr; i++) {
		const struct channel *channel = &view->channels[i];
		const struct process *process = view->input.processes[channel->process];
		struct buf where = {0};

		if (slowness_of(channel) < SLOW_FACTOR) {
			continue;
		}
		if (process->rank >= 0) {
			buf_printf(&where, "rank %" PRId64, process->rank);
		} else {
			buf_printf(&where, "process %" PRIu32, process->pid);
		}
		table_note(table, "Slow: channel %u of %.*s, %s: %.1f times the others.",
			channel->channel, (int)where.nr_bytes, where.bytes, name_of(channel),
			slowness_of(channel));
		buf_fini(&where);
	}
}

static void fill_table(void *state, struct table *table)
{
	struct nccl_channels_view *view = state;
	bool has_rank = false;

	if (view->nr) {
		qsort(view->channels, view->nr, sizeof(*view->channels), by_slowness);
	}
	for (size_t i = 0; i < view->nr; i++) {
		has_rank |= view->input.processes[view->channels[i].process]->rank >= 0;
		show_row(view, &view->channels[i], table);
	}
	table_set_wide(table, "rank", !has_rank);
	note_slow(view, table);
	if (!view->nr) {
		table_note(table, "None was recorded; GPROF_NCCL=channels records the kernels' "
				  "channels with NCCL 2.26 and later.");
	}
}

static void fini(void *state)
{
	struct nccl_channels_view *view = state;

	free(view->channels);
	free(view->parts);
}

static const struct scan_want wants[] = {{GPROF_TABLE_nccl_channel, CHANNELS_MASK, 0}};

VIEW(nccl_channels, 148) = {
	.name = "nccl-channels",
	.subject = VIEW_ABOUT_DISTRIBUTED,
	.help = "channels of NCCL: their kernels and network transfers, whom they wait for, and "
		"which are slow",
	.about =
		"NCCL's profiler plugin interface gives the network transfers of each channel "
		"(NCCL 2.23 and later) and, with GPROF_NCCL=channels, its kernels (2.26). Channels "
		"of an operation do equal shares, so one that takes 1.5 times as long as the "
		"others is slow: its link or network card.",
	.is_empty_hidden = true,
	.title = "Channels of NCCL",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct nccl_channels_view),
	.scan = {wants, 1, NULL, begin, on_batch, end},
	.fill = fill_table,
	.fini = fini,
};
