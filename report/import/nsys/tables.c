/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of an export as the other files read them: with the rows of the current process alone, and
 * the first problem of a query kept for the stream's damages. events.c walks over all sources by
 * nsys_source_at(), those of GPUs first.
 */
#include "report/import/nsys/trace.h"

/* Where the file has several processes, a table that does not tell them apart is of no use. */
struct nsys_query *nsys_table_open(struct nsys_trace *trace, const struct nsys_query_want *want)
{
	struct nsys_query_want of_process = *want;

	of_process.process = trace->process;
	of_process.is_key_needed = want->key && !trace->is_only;
	return nsys_query_open(trace->database, &of_process);
}

void nsys_table_close(struct nsys_trace *trace, struct nsys_query *query)
{
	if (query && !trace->problem) {
		trace->problem = nsys_query_problem(query);
	}
	nsys_query_close(query);
}

void nsys_table_read(struct nsys_trace *trace, const struct nsys_query_want *want,
	nsys_take_row *take, void *context)
{
	struct nsys_query *query = nsys_table_open(trace, want);

	while (query && nsys_query_next(query)) {
		take(trace, query, context);
	}
	nsys_table_close(trace, query);
}

/* A name is a text in one column, or in another one the id of a row of StringIds. */
const char *nsys_table_text(struct nsys_trace *trace, const struct nsys_query *query,
	unsigned int text, unsigned int id, size_t *nr_bytes)
{
	const char *bytes = nsys_query_text(query, text, nr_bytes);
	int64_t string;

	if (!bytes && nsys_query_integer(query, id, &string)) {
		bytes = nsys_database_string(trace->database, string, nr_bytes);
	}
	return bytes;
}

const struct nsys_source *nsys_source_at(size_t i)
{
	const struct nsys_source *const lists[] = {nsys_gpu_sources, nsys_host_sources};

	for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++) {
		for (const struct nsys_source *source = lists[k]; source->table; source++) {
			if (!i--) {
				return source;
			}
		}
	}
	return NULL;
}
