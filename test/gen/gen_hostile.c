/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream that is well-formed and means harm: to terminals, spreadsheets, browsers and parsers by
 * its texts, to the disk by names of files, to memory by lengths, to loops by ids and numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/gen/gen.h"

/* As long as texts may be, and longer. */
#define LONG_BYTES     4096u
#define TOO_LONG_BYTES (60u << 10)
#define START_NS       1000000000ull
#define CUPTI_NS       (START_NS + 500000000ull)

static const char *const texts[] = {
	"../../../../etc/passwd",
	"/etc/passwd",
	"\x1b]0;title\x07\x1b[2J\x1b[31mred",
	"\xc2\x9b"
	"31m\xe2\x80\xae"
	"desrever\xe2\x80\xac",
	"=cmd|' /C calc'!A0",
	"+1+cmd|' /C calc'!A0",
	"-2+3",
	"@SUM(1+1)*cmd|' /C calc'!A0",
	"\t=1+1",
	"\r=1+1",
	"\"},{\"name\":\"x\",\"y\":\"",
	"</script><script>alert(1)</script>",
	"[click](javascript:alert(1)) | `x` | *y*",
	"two\nlines\r\nand more",
	"%s%n%n%n%x",
	"$(touch /tmp/gprof-hostile)",
	"`touch /tmp/gprof-hostile`",
	"; touch /tmp/gprof-hostile #",
	"\xff\xfe\xc0\x80\xed\xa0\x80\xf8\x88\x80\x80\x80",
	"_Z",
	"_ZN",
	"",
};
#define NR_TEXTS (sizeof(texts) / sizeof(texts[0]))

/* `unit` over and over: a length, or a depth for the demangler. */
static uint32_t long_string(struct gen *gen, uint32_t nr_bytes, const char *start, const char *unit)
{
	char *bytes = malloc(nr_bytes);
	size_t n = strlen(start), step = strlen(unit);
	uint32_t id;

	memcpy(bytes, start, n);
	for (; n + step <= nr_bytes; n += step) {
		memcpy(bytes + n, unit, step);
	}
	id = gen_string_bytes(gen, bytes, (uint32_t)n);
	free(bytes);
	return id;
}

/* Facts that the reader acts upon. */
static void add_facts(struct gen *gen, const char *dir)
{
	char path[4096];

	gen_info_bytes(gen, "process.command", "a\0--x\0\x1b[2J\0=1+1,=2", 18);
	gen_info(gen, "process.parent_stream", "../../../../etc/passwd");
	gen_info(gen, "process.ancestors", "1:1 4294967295:9 -1:-1 99999999999999999999:x ::: %n");
	gen_info(gen, "process.start_ticks", "99999999999999999999999999");
	gen_info(gen, "process.pid", "-7");
	gen_info(gen, "process.parent_pid", "1e9");
	gen_info(gen, "host.boot_id", "../../../etc/passwd");
	gen_info(gen, "host.name", "h\n\x1b[31mst");
	gen_info(gen, "rank.world", "99999999999999999999");
	gen_info(gen, "rank.world_size", "-3");
	gen_info(gen, "end.code", "18446744073709551615");
	gen_info(gen, "=key", "\x1b[31m");
	gen_info(gen, "cupti.path", "/etc/passwd");
	gen_device(gen, 0xffffffffu, "\x1b[2Jgpu");
	gen_anchor(gen, START_NS, START_NS, CUPTI_NS);
	gen_anchor(gen, START_NS, START_NS - 1, CUPTI_NS); /* back in time */
	snprintf(path, sizeof(path), "%s/hostile.rings", dir);
	for (size_t i = 0; i < NR_TEXTS; i++) {
		struct gprof_row_notice *row;
		uint32_t cause = gen_string(gen, i ? texts[i] : "rings elsewhere");
		uint32_t text = gen_string(gen, i ? texts[NR_TEXTS - 1 - i] : path);

		row = gen_row(gen, GPROF_TABLE_notice);
		row->cause = cause;
		row->text = text;
		row->code = -2147483647 - 1;
	}
}

static void add_kernel(struct gen *gen, uint32_t id, uint32_t name, uint32_t place)
{
	struct gprof_row_shape *shape = gen_row(gen, GPROF_TABLE_shape);
	struct gprof_row_kernel *kernel;

	shape->id = id;
	shape->name = name;
	shape->grid_x = shape->grid_y = shape->grid_z = 0xffffffffu;
	shape->block_x = shape->block_y = shape->block_z = 0xffffffffu;
	shape->dynamic_shared_bytes = 0xffffffffu;
	kernel = gen_row(gen, GPROF_TABLE_kernel);
	kernel->begin = CUPTI_NS + id;
	kernel->dur = id % 3 ? kernel->begin + 1000 : UINT64_MAX;
	kernel->shape = id;
	kernel->place = place;
	kernel->correlation = 0xffffffffu;
}

static void add_call(struct gen *gen, const char *name, uint32_t thread)
{
	uint16_t call = gen_call(gen, name, 255);
	struct gprof_row_api *row = gen_row(gen, GPROF_TABLE_api);

	row->begin = START_NS + call;
	row->dur = row->begin + 10;
	row->call = call;
	row->thread = thread;
	row->result = -1;
}

static void add_thread(struct gen *gen, uint32_t id, uint32_t name)
{
	struct gprof_row_thread *thread = gen_row(gen, GPROF_TABLE_thread);
	struct gprof_row_nvtx *range;

	thread->thread = thread->parent = id; /* its own parent */
	thread->tid = id;
	thread->name = name;
	thread->what = 255;
	range = gen_row(gen, GPROF_TABLE_nvtx);
	range->time = START_NS + id;
	range->thread = id;
	range->name = name;
	range->domain = 0xffffffffu;
	range->op = (uint8_t)(id % 10);
	range->payload_type = 255;
}

void gen_hostile(struct gen *gen, const char *dir)
{
	static const char *const units[][2] = {
		{"", "A"}, {"_Z1f", "P"}, {"_Z1f", "1aI"}, {"", "\x1b"}};
	uint32_t place = gen_place(gen, 0xffffffffu, 0xffffffffu, 0xffffffffu);
	uint32_t id = 1;

	add_facts(gen, dir);
	for (size_t i = 0; i < NR_TEXTS; i++, id++) {
		uint32_t name = gen_string(gen, texts[i]);
		struct gprof_row_loss *loss = gen_row(gen, GPROF_TABLE_loss);

		loss->cause = name;
		loss->count = i % 2 ? UINT64_MAX : i;
		add_kernel(gen, id, name, place);
		add_call(gen, texts[i], id);
		add_thread(gen, id, name);
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		gen_flush(gen);
		add_kernel(
			gen, id++, long_string(gen, LONG_BYTES, units[i][0], units[i][1]), place);
	}
	gen_flush(gen);
	add_kernel(gen, id++, long_string(gen, TOO_LONG_BYTES, "", "A"), place);
	gen_flush(gen);
	add_kernel(gen, id++, 0x7fffffffu, place); /* a text that is not there */
	gen_flush(gen);
}
