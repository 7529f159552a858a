/* SPDX-License-Identifier: Apache-2.0 */
/* Reads modules as Inductor generates them, by compiled_code.h. test/torch reads real ones. */
#include "collector/sample/compiled_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/format/format.h"
#include "collector/stream/dictionary.h"
#include "collector/util/config.h"
#include "collector/util/loss.h"
#include "test/unit/unit.h"
#include "test/unit/written.h"

#define MODULE "2u/c2uio5agy6zf3faddgdmtmmahogsytx7pojobedoblrtu6wecsqf.py"

START_TEST(names_of_modules_are_told_from_others)
{
	static const char *const others[] = {"", "/", "train.py", "c.py", MODULE "c",
		"/tmp/3u/c2uio5agy6zf3faddgdmtmmahogsytx7pojobedoblrtu6wecsqf.py",
		"/tmp/x2u/c2uio5agy6zf3faddgdmtmmahogsytx7pojobedoblrtu6wecsqf.py",
		"u/c2uio5agy6zf3faddgdmtmmahogsytx7pojobedoblrtu6wecsqf.py",
		"c2uio5agy6zf3faddgdmtmmahogsytx7pojobedoblrtu6wecsqf.py",
		"/tmp/2u/c2uio5agy6zf3faddgdmtmmahogsytx7pojobedoblrtu6wecsq.py",
		"/tmp/2u/c2uio5agy6zf3faddgdmtmmahogsytx7pojobedoblrtu6wecsqf.cpp",
		"/tmp/2u/c2uio5agy6zf3fAddgdmtmmahogsytx7pojobedoblrtu6wecsqf.py"};

	ck_assert(compiled_code_is_module(MODULE));
	ck_assert(compiled_code_is_module("/tmp/torchinductor_user/" MODULE));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		ck_assert_msg(!compiled_code_is_module(others[i]), "%s", others[i]);
	}
}
END_TEST

static bool is_text(struct compiled_text text, const char *expected)
{
	return text.nr_bytes == strlen(expected) && !memcmp(text.bytes, expected, text.nr_bytes);
}

START_TEST(notes_name_nodes_and_operators)
{
	static const struct {
		const char *line, *nodes, *operators;
	} notes[] = {
		{"        # Topologically Sorted Source Nodes: [h, h_1], Original ATen: [aten.add, "
		 "aten.relu]",
			"h, h_1", "aten.add, aten.relu"},
		{"# Source Nodes: [x], Original ATen: [aten.mm]", "x", "aten.mm"},
		{"\t# Source Nodes: [], Original ATen: [aten.mm]  ", "", "aten.mm"},
		{"# Source Nodes: [x], Original ATen: []", "x", ""},
	};
	struct compiled_note note;

	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		ck_assert(compiled_code_read_note(notes[i].line, &note));
		ck_assert(is_text(note.nodes, notes[i].nodes));
		ck_assert(is_text(note.operators, notes[i].operators));
		ck_assert(!note.is_cut);
	}
	ck_assert(!compiled_code_read_note("# Source node to ATen node mapping:", &note));
	ck_assert(!compiled_code_read_note("x = \"Source Nodes: [x]\"", &note));
	ck_assert(!compiled_code_read_note("", &note));
}
END_TEST

START_TEST(a_note_that_is_cut_says_so)
{
	static const char *const cut[] = {"# Source Nodes: [x", "# Source Nodes: [x], Orig",
		"# Source Nodes: [x], Original ATen: [aten.mm"};
	struct compiled_note note;

	for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
		ck_assert(compiled_code_read_note(cut[i], &note));
		ck_assert(note.is_cut);
		ck_assert_uint_eq(note.operators.nr_bytes, 0);
		ck_assert_uint_eq(note.nodes.bytes[0], 'x');
	}
}
END_TEST

START_TEST(calls_that_launch_are_told_from_others)
{
	static const struct {
		const char *line, *name; /* NULL: it launches nothing */
	} lines[] = {
		{"        triton_poi_fused_add_0.run(buf0, arg1, 10, stream=stream0)",
			"triton_poi_fused_add_0"},
		{"cpp_fused_relu_0(buf1)", "cpp_fused_relu_0"},
		{"  extern_kernels.mm(a, reinterpret_tensor(b, (4, 4), (4, 1), 0), out=buf2)",
			"extern_kernels.mm"},
		{"  buf3 = torch.ops.aten.sort.stable(buf2, dim=-1)", "torch.ops.aten.sort.stable"},
		{"  buf3 = aten.native_dropout(buf0, 0.1, True)", "aten.native_dropout"},
		{"  stream0 = get_raw_stream(0)", NULL},
		{"  buf0 = empty_strided_cuda((4, 4), (4, 1), torch.float32)", NULL},
		{"  with torch.cuda._DeviceGuard(0):", NULL},
		{"  return print_performance(fn, times=times, repeat=repeat)", NULL},
		{"  self.partitions.run(args)", NULL},
		{"  .run(args)", NULL},
		{"(", NULL},
		{"  del buf0", NULL},
		{"", NULL},
	};
	struct compiled_text name;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		bool launches = compiled_code_read_call(lines[i].line, &name);

		ck_assert_msg(launches == (lines[i].name != NULL), "%s", lines[i].line);
		ck_assert(!launches || is_text(name, lines[i].name));
	}
}
END_TEST

/* Line 1 is the first; the names of calls without a note, and of definitions, are not there. */
static const char module_text[] =
	"# Topologically Sorted Source Nodes: [h], Original ATen: [aten.relu]\n"
	"triton_poi_fused_relu_0 = async_compile.triton('triton_poi_fused_relu_0', '''\n"
	"''')\n"
	"def call(args):\n"
	"    triton_poi_fused_other_9.run(buf0)\n"
	"    # Topologically Sorted Source Nodes: [h], Original ATen: [aten.relu]\n"
	"    # Source node to ATen node mapping:\n"
	"    stream0 = get_raw_stream(0)\n"
	"    triton_poi_fused_relu_0.run(buf0, buf1, 8, stream=stream0)\n"
	"    extern_kernels.mm(buf1, buf2, out=buf3)\n"
	"    # Topologically Sorted Source Nodes: [y, z], Original ATen: [aten.mm]\n"
	"    extern_kernels.mm(buf1, buf2, out=buf3)\n"
	"    # Topologically Sorted Source Nodes: [w], Original ATen: [aten.sum]\n"
	"    return (buf3, )\n"
	"def other(args):\n"
	"    triton_poi_fused_relu_0.run(buf0, buf1, 8, stream=stream0)\n";

static char folder[] = "/tmp/gprof-compiled-XXXXXX";
static char path[128];

static void make_module(const char *text, size_t nr_bytes)
{
	FILE *file;

	config_init(); /* GPROF_TORCH */
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/2u", folder);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/" MODULE, folder);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(text, 1, nr_bytes, file), nr_bytes);
	ck_assert_int_eq(fclose(file), 0);
}

static void remove_module(void)
{
	unlink(path);
	*strrchr(path, '/') = 0;
	rmdir(path);
	rmdir(folder);
}

static struct decode_block *blocks;
static size_t nr_blocks;

static uint64_t value_of(const char *column, size_t row)
{
	return decode_value(blocks, nr_blocks, GPROF_TABLE_compiled_call, column, row);
}

static const char *text_of(const char *column, size_t row)
{
	return decode_string(blocks, nr_blocks, value_of(column, row));
}

START_TEST(calls_with_a_note_become_rows)
{
	make_module(module_text, sizeof(module_text) - 1);
	written_begin();
	compiled_code_look(path);
	compiled_code_look("train.py");
	blocks = written_end(&nr_blocks);
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_compiled_call), 2);
	ck_assert_uint_eq(value_of("line", 0), 9);
	ck_assert_uint_eq(value_of("line", 1), 12);
	ck_assert_str_eq(text_of("file", 0), path);
	ck_assert_str_eq(text_of("name", 0), "triton_poi_fused_relu_0");
	ck_assert_str_eq(text_of("operators", 0), "aten.relu");
	ck_assert_str_eq(text_of("name", 1), "extern_kernels.mm");
	ck_assert_str_eq(text_of("nodes", 1), "y, z");
	ck_assert_uint_eq(loss_take(LOSS_COMPILED), 0);
	remove_module();
}
END_TEST

START_TEST(a_module_that_cannot_be_read_is_counted)
{
	make_module(module_text, sizeof(module_text) - 1);
	unlink(path);
	written_begin();
	compiled_code_look(path);
	compiled_code_look("gone/train.py");
	ck_assert_uint_eq(loss_take(LOSS_COMPILED), 1);
	blocks = written_end(&nr_blocks);
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_compiled_call), 0);
	remove_module();
}
END_TEST

/* After two times in a row a module is not read, which is counted. */
START_TEST(a_stream_that_refuses_definitions_has_modules_read_rarely)
{
	make_module(module_text, sizeof(module_text) - 1);
	written_begin();
	for (unsigned int i = 0; i < 5; i++) {
		compiled_code_look(path);
		dictionary_forget();
	}
	ck_assert_uint_eq(loss_take(LOSS_COMPILED), 3);
	blocks = written_end(&nr_blocks);
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_compiled_call), 4);
	remove_module();
}
END_TEST

/* A note of 40,000 bytes loses its operators and most nodes, each of which is counted; the next one
 * is whole. */
START_TEST(a_line_of_any_length_is_read)
{
	static char text[50000];
	size_t at = (size_t)sprintf(text, "# Source Nodes: [");

	memset(text + at, 'x', 40000);
	at += 40000;
	at += (size_t)sprintf(text + at, "], Original ATen: [aten.add]\nlong_kernel.run()\n"
					 "# Source Nodes: [y], Original ATen: [aten.mm]\n"
					 "short_kernel.run()\n");
	make_module(text, at);
	written_begin();
	compiled_code_look(path);
	ck_assert_uint_eq(loss_take(LOSS_TEXT), 2);
	blocks = written_end(&nr_blocks);
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_compiled_call), 2);
	ck_assert_uint_eq(value_of("operators", 0), 0);
	ck_assert_uint_eq(value_of("line", 1), 4);
	ck_assert_str_eq(text_of("operators", 1), "aten.mm");
	remove_module();
}
END_TEST

UNIT_SUITE("compiled_code", names_of_modules_are_told_from_others, notes_name_nodes_and_operators,
	a_note_that_is_cut_says_so, calls_that_launch_are_told_from_others,
	calls_with_a_note_become_rows, a_module_that_cannot_be_read_is_counted,
	a_line_of_any_length_is_read, a_stream_that_refuses_definitions_has_modules_read_rarely)
