/* SPDX-License-Identifier: Apache-2.0 */
/* A whole file as a timeline (Chrome's, Perfetto's, the page's) and as a flame graph. */
#include "report/html/svg_flame.h"
#include "report/html/timeline_data.h"
#include "report/timeline/chrome.h"
#include "report/timeline/perfetto.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/fuzz_input.h"

static void write_flames(struct cmd_input *input, uint32_t choice, struct buf *out)
{
	enum flame_weight weight = (enum flame_weight)(choice / 2 % NR_FLAME_WEIGHTS);
	struct flame flame;

	flame_read(&flame, input->processes, input->nr_processes, choice / 8 % 8,
		(enum phase)(choice / 64 % (FLAME_ALL_PHASES + 1)), NULL);
	flame_write_folded(&flame, weight, out);
	flame_write_speedscope(&flame, weight, out);
	flame_write_pprof(&flame, weight, out);
	if (flame.frames[0].total[weight]) {
		svg_flame_write(&flame, weight, choice % 2, "fuzz", out);
	}
	flame_fini(&flame);
}

static void write_timelines(struct cmd_input *input, uint32_t choice)
{
	struct buf out;

	buf_init(&out, fuzz_input_drop, NULL);
	chrome_write(input->processes, input->nr_processes,
		&(struct chrome_file){.name = "fuzz.json"}, &out);
	perfetto_write(input->processes, input->nr_processes, NULL, &out);
	/* Room for all slices, or for so few that most are sums. */
	html_timeline_write(input, choice % 2 ? HTML_TIMELINE_BYTES : 2000, &out);
	write_flames(input, choice, &out);
	buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	fuzz_input_read(bytes, nr_bytes, fuzz_input_ignore_bad, write_timelines);
	return 0;
}
