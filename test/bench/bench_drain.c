/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's background side on the reference stream (test/gen/gen.h): one thread plays the
 * host and CUPTI from memory, as fast as the drain takes it or at a given rate; printed are events
 * a second, CPU of the drain thread an event, and bytes an event on disk.
 *
 *     bench_drain EVENTS [EVENTS_A_SECOND]
 *
 * This file stands in for test/gen/gen.c: gen_training's rows become rows of rings and records in
 * CUPTI buffers.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collector/collector.h"
#include "test/sim/cupti_abi.h"
#include "collector/drain.h"
#include "collector/stream/stream.h"
#include "test/gen/gen.h"

#define PERIOD_EVENTS 2000000u /* generated once, then repeated with later times */
#define ARENA_BYTES   ((size_t)512 << 20)
#define RUN_ROWS      64u /* rows of rings between two looks at the clock and at CUPTI */

struct gen {
	char *rows; /* ring rows, one behind the other */
	size_t rows_bytes;
	char *records; /* CUPTI records */
	size_t records_bytes;
	uint64_t nr_rows;
	uint64_t nr_records;
	uint64_t first_ns, last_ns;
	union {
		struct gprof_row_head head;
		char bytes[256];
	} row; /* being filled in by gen_training */
	unsigned int table;
	char strings[1024][128];
	uint32_t nr_strings;
	struct calls_hook calls[64];
	char names[4096]; /* of the calls */
	uint16_t names_bytes;
	uint32_t nr_calls;
	struct gprof_row_shape shapes[1024];
};

struct callbacks {
	cupti_buffer_requested_fn requested;
	cupti_buffer_completed_fn completed;
};

static struct gen bench;

/* ---- gen.h ---- */

static void add_row(
	struct gen *gen, const void *row, uint32_t row_bytes, unsigned int table, const char *text)
{
	uint32_t text_bytes = text ? (uint32_t)strlen(text) : 0;
	uint32_t bytes = ring_row_bytes(row_bytes, text_bytes);
	char *at = gen->rows + gen->rows_bytes;
	struct gprof_row_head head = {
		.bytes = (uint16_t)bytes, .table = (uint8_t)table, .text_bytes = text_bytes};

	memcpy(at, row, row_bytes);
	memcpy(at, &head, sizeof(head));
	if (text) {
		memcpy(at + row_bytes, text, text_bytes);
	}
	gen->rows_bytes += bytes;
	gen->nr_rows++;
}

static void add_launch(struct gen *gen, const struct gprof_row_api_launch *r)
{
	const struct gprof_row_shape *shape = &gen->shapes[r->shape];
	struct gprof_row_ring_launch row = {.begin = r->begin,
		.dur = r->dur,
		.thread = r->thread,
		.correlation = r->correlation,
		.call = r->call,
		.stream = r->stream,
		.function = 0x400000 + shape->name * 64,
		.grid_x = shape->grid_x,
		.grid_y = 1,
		.grid_z = 1,
		.block_x = shape->block_x,
		.block_y = 1,
		.block_z = 1};

	add_row(gen, &row, sizeof(row), GPROF_TABLE_ring_launch, NULL);
}

static void add_kernel(struct gen *gen, const struct gprof_row_kernel *r)
{
	const struct gprof_row_shape *shape = &gen->shapes[r->shape];
	struct cupti_kernel record = {.kind = CUPTI_KIND_CONCURRENT_KERNEL,
		.registers_per_thread = (uint16_t)shape->registers,
		.start_ns = r->begin,
		.end_ns = r->dur,
		.context_id = 1,
		.stream_id = 7 + r->place,
		.grid = {(int32_t)shape->grid_x, 1, 1},
		.block = {(int32_t)shape->block_x, 1, 1},
		.correlation_id = r->correlation,
		.name = gen->strings[shape->name]};

	memcpy(gen->records + gen->records_bytes, &record, sizeof(record));
	gen->records_bytes += sizeof(record);
	gen->nr_records++;
}

static void add_memcpy(struct gen *gen, const struct gprof_row_memcpy *r)
{
	struct cupti_memcpy record = {.kind = CUPTI_KIND_MEMCPY,
		.copy_kind = r->copy_kind,
		.src_kind = r->src_kind,
		.dst_kind = r->dst_kind,
		.flags = r->flags,
		.bytes = r->bytes,
		.start_ns = r->begin,
		.end_ns = r->dur,
		.context_id = 1,
		.stream_id = 7 + r->place,
		.correlation_id = r->correlation};

	memcpy(gen->records + gen->records_bytes, &record, sizeof(record));
	gen->records_bytes += sizeof(record);
	gen->nr_records++;
}

static void ring_to_rows_add(struct gen *gen)
{
	const struct block_table *table = block_table(gen->table);

	switch (gen->table) {
	case GPROF_TABLE_shape: {
		const struct gprof_row_shape *shape = (const void *)&gen->row;

		gen->shapes[shape->id] = *shape;
		break;
	}
	case GPROF_TABLE_api_launch:
		add_launch(gen, (const void *)&gen->row);
		break;
	case GPROF_TABLE_kernel:
		add_kernel(gen, (const void *)&gen->row);
		break;
	case GPROF_TABLE_memcpy:
		add_memcpy(gen, (const void *)&gen->row);
		break;
	case GPROF_TABLE_nvtx: {
		const struct gprof_row_nvtx *nvtx = (const void *)&gen->row;

		add_row(gen, nvtx, sizeof(*nvtx), gen->table,
			nvtx->name ? gen->strings[nvtx->name] : NULL);
		break;
	}
	case GPROF_TABLE_api:
	case GPROF_TABLE_api_copy:
	case GPROF_TABLE_api_sync:
		add_row(gen, &gen->row, table->row_bytes, gen->table, NULL);
		gen->last_ns = ((const struct gprof_row_api *)&gen->row)->dur;
		break;
	default:
		break;
	}
	gen->table = 0;
}

void *gen_row(struct gen *gen, unsigned int table)
{
	if (gen->table) {
		ring_to_rows_add(gen);
	}
	memset(&gen->row, 0, sizeof(gen->row));
	gen->table = table;
	return &gen->row;
}

uint32_t gen_string(struct gen *gen, const char *text)
{
	snprintf(gen->strings[++gen->nr_strings], sizeof(gen->strings[0]), "%s", text);
	return gen->nr_strings;
}

uint16_t gen_call(struct gen *gen, const char *name, uint8_t api)
{
	gen->calls[gen->nr_calls] = (struct calls_hook){.name_at = gen->names_bytes, .api = api};
	strcpy(gen->names + gen->names_bytes, name);
	gen->names_bytes += (uint16_t)(strlen(name) + 1);
	return (uint16_t)++gen->nr_calls;
}

uint32_t gen_place(struct gen *gen, uint32_t device, uint32_t context, uint32_t stream)
{
	(void)gen;
	(void)device;
	(void)context;
	return (stream - 7) / 6 + 1;
}

void gen_info(struct gen *gen, const char *key, const char *value)
{
	(void)gen;
	(void)key;
	(void)value;
}

void gen_info_bytes(struct gen *gen, const char *key, const char *value, uint32_t nr_bytes)
{
	(void)nr_bytes;
	gen_info(gen, key, value);
}

void gen_device(struct gen *gen, uint32_t id, const char *name)
{
	(void)gen;
	(void)id;
	(void)name;
}

void gen_anchor(struct gen *gen, uint64_t tick, uint64_t monotonic_ns, uint64_t cupti_ns)
{
	(void)gen;
	(void)tick;
	(void)monotonic_ns;
	(void)cupti_ns;
}

void gen_flush(struct gen *gen)
{
	(void)gen;
}

/* ---- playing ---- */

static uint64_t now_ns(void)
{
	return clock_monotonic_ns();
}

/* What a period of the stream still has to give. */
struct player {
	size_t row_at, record_at;
	uint64_t shift_ns; /* of this repetition */
	uint64_t shift_raw;
	uint32_t shift_correlation;
	uint64_t nr_played;
	const struct callbacks *cupti;
	uint8_t *buffer;
	size_t buffer_bytes, buffer_at;
};

static void play_row(struct player *p)
{
	const struct gprof_row_head *head = (const void *)(bench.rows + p->row_at);
	struct gprof_row_api *row;

	row = (struct gprof_row_api *)ring_reserve(&ring_tls, head->bytes);
	if (!row) {
		return; /* counted by the ring */
	}
	memcpy(row, head, head->bytes);
	row->begin += p->shift_raw; /* every host row begins with a time, most with an end too */
	if (head->table != GPROF_TABLE_nvtx) {
		row->dur += p->shift_raw;
		row->correlation += row->correlation ? p->shift_correlation : 0;
	}
	ring_commit(&ring_tls, row, head->bytes);
	p->row_at += head->bytes;
	p->nr_played++;
}

static void wait_until(uint64_t ns)
{
	const struct timespec moment = {.tv_nsec = 50000};

	while (now_ns() < ns) {
		nanosleep(&moment, NULL);
	}
}

static void hand_over(struct player *p)
{
	if (p->buffer) {
		p->cupti->completed(NULL, 0, p->buffer, p->buffer_bytes, p->buffer_at);
		p->buffer = NULL;
	}
}

static void play_record(struct player *p)
{
	const struct cupti_record *record = (const void *)(bench.records + p->record_at);
	size_t bytes = record->kind == CUPTI_KIND_MEMCPY ? sizeof(struct cupti_memcpy)
							 : sizeof(struct cupti_kernel);
	size_t max_records;

	if (p->buffer && p->buffer_at + bytes > p->buffer_bytes) {
		hand_over(p);
	}
	while (!p->buffer || p->buffer_bytes < 131072) { /* a scratch buffer means: not yet */
		if (p->buffer) {
			p->cupti->completed(NULL, 0, p->buffer, p->buffer_bytes, 0);
		}
		p->cupti->requested(&p->buffer, &p->buffer_bytes, &max_records);
		p->buffer_at = 0;
		if (!p->buffer) { /* refused, no loss as long as no record is: ask again */
			wait_until(now_ns() + 50000);
		}
	}
	memcpy(p->buffer + p->buffer_at, record, bytes);
	if (record->kind == CUPTI_KIND_MEMCPY) {
		struct cupti_memcpy *r = (void *)(p->buffer + p->buffer_at);

		r->start_ns += p->shift_ns;
		r->end_ns += p->shift_ns;
		r->correlation_id += p->shift_correlation;
	} else {
		struct cupti_kernel *r = (void *)(p->buffer + p->buffer_at);

		r->start_ns += p->shift_ns;
		r->end_ns += p->shift_ns;
		r->correlation_id += p->shift_correlation;
	}
	p->buffer_at += bytes;
	p->record_at += bytes;
	p->nr_played++;
}

static void play(struct player *p, uint64_t nr_events, uint64_t rate)
{
	uint64_t begin = now_ns();
	uint64_t period_ns = bench.last_ns - bench.first_ns;

	while (p->nr_played < nr_events) {
		while (ring_fill() > 200) { /* full speed is the drain's, not ours */
			ring_wake();
			wait_until(now_ns() + 20000);
		}
		for (unsigned int i = 0; i < RUN_ROWS && p->row_at < bench.rows_bytes; i++) {
			play_row(p);
		}
		/* As many records as stand beside so many rows in the whole. */
		while (p->record_at < bench.records_bytes &&
			p->record_at * bench.rows_bytes <= p->row_at * bench.records_bytes) {
			play_record(p);
		}
		if (p->row_at >= bench.rows_bytes) {
			p->row_at = p->record_at = 0;
			p->shift_ns += period_ns;
			p->shift_raw = p->shift_ns;
			p->shift_correlation += 1u << 21;
		}
		if (rate) {
			wait_until(begin + (uint64_t)((double)p->nr_played / (double)rate * 1e9));
		}
	}
	hand_over(p);
}

int main(int argc, char **argv)
{
	uint64_t nr_events = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000000u;
	uint64_t rate = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	struct player player = {0};
	struct drain_result result;
	struct stat file;
	uint64_t begin, end;
	void *cupti;

	bench.rows = malloc(ARENA_BYTES);
	bench.records = malloc(ARENA_BYTES);
	gen_training(&bench, PERIOD_EVENTS, 1);
	gen_row(&bench, GPROF_TABLE_info);
	bench.first_ns = ((const struct gprof_row_api *)(const void *)bench.rows)->begin;
	cupti = dlopen(BENCH_CUPTI, RTLD_NOW | RTLD_GLOBAL);
	if (!cupti) {
		fprintf(stderr, "bench_drain: %s\n", dlerror());
		return 1;
	}
	player.cupti = dlsym(cupti, "nop_callbacks");
	collector_init(bench.names, bench.calls, bench.nr_calls);
	collector_start();
	while (collector_mode & COLLECTOR_COLD) {
		usleep(1000); /* under valgrind the start takes longer than a host waits */
	}
	collector_attach(NULL);
	ring_enter(&ring_tls);
	player.shift_raw = 0;
	begin = now_ns();
	play(&player, nr_events, rate);
	if (!drain_stop("bench", &result)) {
		fprintf(stderr, "bench_drain: the drain did not end\n");
		return 1;
	}
	end = now_ns();
	stat(stream_path(), &file);
	printf("%-26s %10.1f M\n%-26s %10.1f M/s\n%-26s %10.1f ns\n%-26s %10.1f %%\n%-26s %10.2f\n"
	       "%-26s %10llu\n",
		"events", (double)player.nr_played / 1e6, "rate",
		(double)player.nr_played / (double)(end - begin) * 1e3, "drain CPU an event",
		(double)result.cpu_ns / (double)player.nr_played, "drain CPU of a core",
		100.0 * (double)result.cpu_ns / (double)(end - begin), "bytes an event",
		(double)file.st_size / (double)player.nr_played, "lost",
		(unsigned long long)result.nr_lost);
	unlink(stream_path());
	return result.nr_lost != 0;
}
