/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether a process has records of its GPU, and gives the reason if it has none. Views, the
 * budget and the summary ask it before they say that a GPU was idle. The reasons are tried from the
 * surest to the vaguest: a failed call of the program itself, then a notice of the recorder about
 * CUPTI, then which tables have rows.
 */
#include "report/model/device_records.h"

#include <stdio.h>
#include <string.h>

#include "report/model/api.h"
#include "report/stream/reader.h"

/*
 * A notice about CUPTI replaces the general sentence, since it names the cause. A GPU that is not
 * there comes before both: then a notice is only a consequence.
 */
bool process_has_device_records(const struct process *process, const char **why)
{
	const char *lacking;

	if (stream_has_rows(
		    process->stream, table_set_with(GPROF_IS_ACTIVITY | GPROF_IS_UNTIMED))) {
		return true;
	}
	if (!why) {
		return false;
	}
	lacking = process_lacks_gpu(process);
	if (lacking) {
		*why = lacking;
		return false;
	}
	*why = "no CUDA calls were recorded";
	if (stream_has_rows(process->stream,
		    table_set_with(GPROF_IS_CALL) | table_bit(GPROF_TABLE_api_count))) {
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

/* Calls by which programs ask whether there is a GPU. */
static bool asks_for_gpu(const char *name)
{
	static const char *const names[] = {"cudaGetDeviceCount", "cuInit", "cuDeviceGetCount"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0) {
			return true;
		}
	}
	return false;
}

/* Errors with the same numbers in the runtime and the driver. */
static const char *device_error(uint64_t result)
{
	static const struct {
		uint64_t result;
		const char *text;
	} errors[] = {{35, "the driver is older than this CUDA"}, {100, "no CUDA-capable device"},
		{802, "the GPU's fabric is not ready"},
		{803, "the driver's parts are of different versions"}};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (errors[i].result == result) {
			return errors[i].text;
		}
	}
	return NULL;
}

/* Writes the reason if one of the calls is such a failure. */
static bool find_failure(
	const struct process *process, const struct batch *batch, char *why, size_t why_bytes)
{
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		uint64_t result = batch->col[COL_api_result][i];
		uint8_t api;
		uint32_t call = process_call_name(process, batch->col[COL_api_call][i], &api);
		const char *name = string_pool_text(call, NULL);

		if (api_is_failure(result) && asks_for_gpu(name)) {
			const char *error = device_error(result);

			if (error) {
				snprintf(why, why_bytes, "%s failed (%s)", name, error);
			} else {
				snprintf(why, why_bytes, "%s failed (error %llu)", name,
					(unsigned long long)result);
			}
			return true;
		}
	}
	return false;
}

/* Reads with a reader of its own and stops at the first failure. */
const char *process_lacks_gpu(const struct process *process)
{
	const uint32_t mask = COLS(api, call, result);
	char why[128];
	struct reader *reader;
	const char *fact;
	bool is_found = false;

	if (process->nr_devices || process_has_device_records(process, NULL)) {
		return NULL;
	}
	fact = process_fact(process, PROCESS_LACKS_GPU, "");
	if (*fact) {
		return fact;
	}
	reader = reader_create();
	for (size_t i = 0; !is_found && i < process->stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_block_table(process->stream, i) == GPROF_TABLE_api &&
			!(reader_load(reader, process->stream, i, mask, 0, &batch) & mask)) {
			is_found = find_failure(process, &batch, why, sizeof(why));
		}
	}
	reader_destroy(reader);
	return is_found ? string_pool_text(string_pool_intern(why, strlen(why)), NULL) : NULL;
}

/* HIP comes first: programs for AMD's GPUs may call functions with names of CUDA. */
enum device_maker process_device_maker(const struct process *process)
{
	enum device_maker maker = DEVICE_MAKER_UNKNOWN;

	for (size_t i = 0; i < process->calls.nr && maker != DEVICE_MAKER_AMD; i++) {
		const struct model_call *call = idmap_at(&process->calls, i);
		const char *name = string_pool_text(call->name, NULL);

		if (call->api != GPROF_API_RUNTIME && call->api != GPROF_API_DRIVER) {
			continue;
		}
		if (strncmp(name, "hip", 3) == 0) {
			maker = DEVICE_MAKER_AMD;
		} else if (strncmp(name, "cu", 2) == 0) {
			maker = DEVICE_MAKER_NVIDIA;
		} else if (maker == DEVICE_MAKER_UNKNOWN) {
			maker = DEVICE_MAKER_OTHER;
		}
	}
	return maker;
}

bool process_has_operator_times(const struct process *process)
{
	return process_number(process, PROCESS_OPERATOR_TIMES) > 0;
}
