/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a stream that is being written, to numbers. */
#include "report/cli/watch.h"
#include "report/util/sort.h"

#include <stdlib.h>

/* Rows of different threads stand one after the other in a block. */
struct row {
	uint64_t key;
	uint32_t at;
};

static int compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return COMPARE(x->key, y->key);
}

/* The rows by a column; free it. */
static struct row *sort(const struct batch *batch, unsigned int column)
{
	struct row *rows = mem_zeroed(batch->nr_rows, sizeof(*rows));

	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		rows[i] = (struct row){batch->col[column][i], i};
	}
	qsort(rows, batch->nr_rows, sizeof(*rows), compare);
	return rows;
}

static void take_steps(struct watch_process *p, const struct batch *batch)
{
	struct row *rows = sort(batch, COL_step_step);

	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		uint64_t step = rows[i].key;
		uint64_t tick = batch->col[COL_step_time][rows[i].at];

		/* The first one began with the recording, long before the loop. */
		if (p->steps && step == p->steps + 1 && tick >= p->step_tick) {
			p->last_step_ns = tick - p->step_tick;
			p->all.nr_steps++;
			p->all.steps_ns += p->last_step_ns;
			p->slice.nr_steps++;
			p->slice.steps_ns += p->last_step_ns;
		}
		if (!p->has_step || step > p->steps) {
			p->has_step = true;
			p->steps = step;
			p->step_tick = tick;
		}
	}
	free(rows);
}

static void close_window(struct watch_process *p)
{
	p->is_open = false;
	p->closed = array_grow(p->closed, p->nr_closed, &p->closed_capacity, sizeof(*p->closed));
	p->closed[p->nr_closed++] = (struct watch_window){p->window, p->nr_groups};
}

static void take_windows(struct watch_process *p, const struct batch *batch)
{
	struct row *rows = sort(batch, COL_window_time);

	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		uint32_t at = rows[i].at;
		bool is_open = batch->col[COL_window_state][at] == GPROF_WINDOW_RECORD;

		if (p->is_open && !is_open) {
			close_window(p);
		}
		p->is_open = is_open;
		if (is_open) {
			p->window = (uint32_t)batch->col[COL_window_window][at];
		}
	}
	free(rows);
}

static void take_losses(struct watch_process *p, const struct batch *batch)
{
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		p->nr_lost += batch->col[COL_loss_count][i];
	}
}

static void take_gpu(struct watch_process *p, uint64_t device, uint64_t percent)
{
	if (device < WATCH_GPUS) {
		p->gpu_percent[device] = (int)percent;
	}
	p->all.nr_gpu_samples++;
	p->all.gpu_percent += percent;
	p->slice.nr_gpu_samples++;
	p->slice.gpu_percent += percent;
}

static void take_cpu(struct watch_process *p, uint64_t tick, uint64_t cpu_ns)
{
	if (p->cpu_tick && tick > p->cpu_tick && cpu_ns >= p->cpu_ns) {
		p->slice.cpu_ns += cpu_ns - p->cpu_ns;
		p->slice.cpu_time_ns += tick - p->cpu_tick;
	}
	p->cpu_tick = tick;
	p->cpu_ns = cpu_ns;
}

static void take_samples(struct watch_process *p, const struct batch *batch)
{
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		uint64_t value = batch->col[COL_sample_value][i];

		switch (batch->col[COL_sample_metric][i]) {
		case GPROF_METRIC_GPU_BUSY_PERCENT:
			take_gpu(p, batch->col[COL_sample_device][i], value);
			break;
		case GPROF_METRIC_PROCESS_CPU_NS:
			take_cpu(p, batch->col[COL_sample_time][i], value);
			break;
		case GPROF_METRIC_PROCESS_RSS_BYTES:
			p->resident_bytes = value;
			break;
		default:
			break;
		}
	}
}

static void take_groups(struct watch_process *p, const struct batch *batch)
{
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		p->nr_groups += batch->col[COL_checkpoint_thread][i] == 0;
	}
}

static void add_hangs(struct watch_process *p, const struct batch *batch)
{
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		uint32_t hang = (uint32_t)batch->col[COL_hang_hang][i];
		uint64_t item = batch->col[COL_hang_item][i];

		if (item == GPROF_HANG_BEGAN) {
			p->hangs.began = hang;
		} else if (item == GPROF_HANG_ENDED) {
			p->hangs.ended = hang;
		}
	}
}

static const struct taker {
	unsigned int table;
	uint32_t mask;
	void (*take)(struct watch_process *process, const struct batch *batch);
} takers[] = {
	{GPROF_TABLE_step, COLS(step, step, time), take_steps},
	{GPROF_TABLE_window, COLS(window, time, state, window), take_windows},
	{GPROF_TABLE_loss, COLS(loss, count), take_losses},
	{GPROF_TABLE_sample, COLS(sample, time, value, metric, device), take_samples},
	{GPROF_TABLE_hang, COLS(hang, hang, item), add_hangs},
	{GPROF_TABLE_checkpoint, COLS(checkpoint, thread), take_groups},
};

void watch_read(struct watch_process *process, struct stream *stream)
{
	for (size_t block = 0; block < stream->nr_blocks; block++) {
		unsigned int table = stream_block_table(stream, block);
		struct batch batch;

		for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++) {
			if (takers[i].table == table &&
				!stream_load(stream, block, takers[i].mask, 0, &batch)) {
				takers[i].take(process, &batch);
			}
		}
	}
}
