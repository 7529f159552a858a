/* SPDX-License-Identifier: Apache-2.0 */
/* A whole file as a timeline: Chrome's, Perfetto's, the page's. */
#include "report/html/timeline_data.h"
#include "report/timeline/chrome.h"
#include "report/timeline/perfetto.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/fuzz_input.h"

static void write_timelines(struct cmd_input *input, uint32_t choice)
{
	struct buf out;

	buf_init(&out, fuzz_input_drop, NULL);
	chrome_write(input->processes, input->nr_processes, NULL, "fuzz.json", &out);
	perfetto_write(input->processes, input->nr_processes, NULL, &out);
	/* Room for all slices, or for so few that most are sums. */
	html_timeline_write(input, choice % 2 ? HTML_TIMELINE_BYTES : 2000, &out);
	buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	fuzz_input_read(bytes, nr_bytes, fuzz_input_ignore_bad, write_timelines);
	return 0;
}
