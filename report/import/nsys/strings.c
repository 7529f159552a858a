/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of an export by their ids, read when they are first needed. */
#include "report/import/nsys/trace.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report/import/call.h"
#include "report/util/buf.h"
#include "report/util/hash.h"

struct nsys_string {
	uint64_t id;
	uint32_t string;
	struct nsys_call calls[2]; /* of CUDA, and of the system */
	UT_hash_handle hh;
};

static struct nsys_string *find(
	struct nsys_trace *trace, const struct nsys_query *query, unsigned int column)
{
	struct nsys_string *string;
	const char *text;
	size_t nr_bytes;
	int64_t value;
	uint64_t id;

	if (!nsys_query_integer(query, column, &value)) {
		return NULL;
	}
	id = (uint64_t)value;
	HASH_FIND(hh, trace->strings, &id, sizeof(id), string);
	if (!string) {
		string = mem_zeroed(1, sizeof(*string));
		string->id = id;
		text = nsys_database_string(trace->database, value, &nr_bytes);
		string->string = text ? import_out_string(trace->out, text, nr_bytes) : 0;
		HASH_ADD(hh, trace->strings, id, sizeof(string->id), string);
	}
	return string;
}

uint32_t nsys_string(struct nsys_trace *trace, const struct nsys_query *query, unsigned int column)
{
	const struct nsys_string *string = find(trace, query, column);

	return string ? string->string : 0;
}

/* Without the version that the functions of the runtime have, of three digits or more. */
static size_t without_version(const char *name, size_t nr_bytes)
{
	size_t end = nr_bytes;

	while (end && isdigit((unsigned char)name[end - 1])) {
		end--;
	}
	return nr_bytes - end >= 3 && end > 2 && !memcmp(name + end - 2, "_v", 2) ? end - 2
										  : nr_bytes;
}

/* gprof's own export has calls of threads beside those of CUDA. */
static uint8_t api_of(const char *name, size_t nr_bytes)
{
	if (nr_bytes > 2 && !memcmp(name, "cu", 2) && isupper((unsigned char)name[2])) {
		return GPROF_API_DRIVER;
	}
	if (nr_bytes > 4 && !memcmp(name, "nccl", 4)) {
		return GPROF_API_NCCL;
	}
	return memmem(name, nr_bytes, "cuda", 4) ? GPROF_API_RUNTIME : GPROF_API_THREAD;
}

static struct nsys_call make_call(
	struct nsys_trace *trace, const char *name, size_t nr_bytes, bool is_system)
{
	struct nsys_call call = {.is_known = true};
	uint32_t string;

	nr_bytes = is_system ? nr_bytes : without_version(name, nr_bytes);
	string = import_out_string(trace->out, name, nr_bytes);
	call.api = is_system ? GPROF_API_THREAD : api_of(name, nr_bytes);
	call.call = (uint16_t)import_out_call(trace->out, string, call.api);
	call.table = is_system ? GPROF_TABLE_api : import_call_table(name, nr_bytes);
	call.is_async = memmem(name, nr_bytes, "Async", 5) != NULL;
	return call;
}

struct nsys_call nsys_call_of(struct nsys_trace *trace, const struct nsys_query *query,
	unsigned int column, bool is_system)
{
	struct nsys_string *string = find(trace, query, column);
	struct nsys_call none = {0};

	if (string && !string->calls[is_system].is_known) {
		size_t nr_bytes;
		const char *text =
			nsys_database_string(trace->database, (int64_t)string->id, &nr_bytes);

		string->calls[is_system] = make_call(trace, text ? text : "(unknown)",
			text ? nr_bytes : strlen("(unknown)"), is_system);
	}
	return string ? string->calls[is_system] : none;
}

void nsys_strings_fini(struct nsys_trace *trace)
{
	hash_free(trace->strings);
}
