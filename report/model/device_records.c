/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/device_records.h"

#include <string.h>

static bool has_rows(const struct process *process, const uint8_t *tables, size_t nr_tables)
{
	for (size_t i = 0; i < nr_tables; i++) {
		const struct stream_table *table = stream_table(process->stream, tables[i]);

		if (table && table->nr_rows) {
			return true;
		}
	}
	return false;
}

bool process_has_device_records(const struct process *process, const char **why)
{
	static const uint8_t works[] = {GPROF_TABLE_kernel, GPROF_TABLE_memcpy, GPROF_TABLE_memset,
		GPROF_TABLE_graph, GPROF_TABLE_untimed};
	static const uint8_t calls[] = {GPROF_TABLE_api, GPROF_TABLE_api_launch,
		GPROF_TABLE_api_copy, GPROF_TABLE_api_set, GPROF_TABLE_api_alloc,
		GPROF_TABLE_api_sync};
	const char *unused;

	if (has_rows(process, works, sizeof(works))) {
		return true;
	}
	why = why ? why : &unused;
	*why = "no CUDA calls were recorded";
	if (has_rows(process, calls, sizeof(calls))) {
		*why = *process_fact(process, "cupti.version", "") ? "only CUDA calls were recorded"
								   : "the reason is not recorded";
	}
	for (size_t i = 0; i < process->nr_notices; i++) {
		const char *cause = string_pool_text(process->notices[i].cause, NULL);

		if (strcasestr(cause, "cupti")) {
			*why = process->notices[i].text
				       ? string_pool_text(process->notices[i].text, NULL)
				       : cause;
			break;
		}
	}
	return false;
}
