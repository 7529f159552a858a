/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of nsys's reports, with the views that each needs and the function that makes its table;
 * nsys.c runs the views of all reports that the user named together, and prints. A report with
 * is_query has neither: sql/nsys_query.c runs its query. Below are the parsing of --report and
 * cells that several reports have.
 */
#include "report/styles/nsys_reports.h"

#include <stdio.h>
#include <string.h>

#include "report/model/api.h"
#include "report/model/copy_kind.h"
#include "report/util/text.h"

#define MAX_FINDINGS 50u

const struct nsys_report nsys_reports[] = {
	{.name = "nvtx_sum",
		.title = "NVTX Range Summary",
		.what = "NV Tools Extension (NVTX)",
		.views = {&view_nsys_ranges},
		.table = nsys_nvtx_sum,
		.is_default = true},
	{.name = "cuda_api_sum",
		.title = "CUDA API Summary",
		.what = "CUDA trace",
		.views = {&view_api},
		.table = nsys_api_sum,
		.is_default = true},
	{.name = "cuda_gpu_kern_sum",
		.title = "CUDA GPU Kernel Summary",
		.what = "CUDA kernel",
		.views = {&view_kernel},
		.range_views = {&view_nsys_range_kernels},
		.table = nsys_kern_sum,
		.is_default = true,
		.has_names = true},
	{.name = "cuda_gpu_kern_gb_sum",
		.title = "CUDA GPU Kernel/Grid/Block Summary",
		.what = "CUDA kernel",
		.views = {&view_nsys_kernels},
		.range_views = {&view_nsys_range_kernels},
		.table = nsys_kern_gb_sum,
		.has_names = true},
	{.name = "cuda_gpu_mem_time_sum",
		.title = "CUDA GPU MemOps Summary (by Time)",
		.what = "GPU memory",
		.views = {&view_memcpy, &view_memset},
		.table = nsys_mem_time_sum,
		.is_default = true},
	{.name = "cuda_gpu_mem_size_sum",
		.title = "CUDA GPU MemOps Summary (by Size)",
		.what = "GPU memory",
		.views = {&view_memcpy, &view_memset},
		.table = nsys_mem_size_sum,
		.is_default = true},
	{.name = "cuda_gpu_sum",
		.title = "CUDA GPU Summary (Kernels/MemOps)",
		.what = "CUDA trace",
		.views = {&view_memcpy, &view_memset, &view_kernel},
		.range_views = {&view_memcpy, &view_memset, &view_nsys_range_kernels},
		.table = nsys_gpu_sum,
		.has_names = true},
	{.name = "cuda_api_gpu_sum",
		.title = "CUDA Summary (API/Kernels/MemOps)",
		.what = "CUDA trace",
		.views = {&view_memcpy, &view_memset, &view_kernel, &view_api},
		.range_views = {&view_memcpy, &view_memset, &view_nsys_range_kernels, &view_api},
		.table = nsys_api_gpu_sum,
		.has_names = true},
	{.name = "cuda_gpu_trace",
		.title = "CUDA GPU Trace",
		.what = "CUDA trace",
		.views = {&view_gpu_trace},
		.table = nsys_gpu_trace,
		.has_names = true},
	{.name = "cuda_api_trace",
		.title = "CUDA API Trace",
		.what = "CUDA trace",
		.views = {&view_nsys_api},
		.table = nsys_api_trace},
	{.name = "cuda_kern_exec_sum",
		.title = "CUDA Kernel Launch & Exec Time Summary",
		.what = "CUDA kernel",
		.is_query = true,
		.has_names = true},
	{.name = "cuda_kern_exec_trace",
		.title = "CUDA Kernel Launch & Exec Time Trace",
		.what = "CUDA kernel",
		.is_query = true,
		.has_clock_note = true,
		.has_names = true},
	{.name = "osrt_sum",
		.title = "OS Runtime Summary",
		.what = "OS Runtime trace",
		.views = {&view_os_runtime},
		.table = nsys_osrt_sum},
	{.name = "nvtx_pushpop_sum",
		.title = "NVTX Push/Pop Range Summary",
		.what = "NV Tools Extension (NVTX)",
		.views = {&view_nsys_ranges},
		.table = nsys_nvtx_pushpop_sum},
	{.name = "nvtx_startend_sum",
		.title = "NVTX Start/End Range Summary",
		.what = "NV Tools Extension (NVTX)",
		.views = {&view_nsys_ranges},
		.table = nsys_nvtx_startend_sum},
	{.name = "nvtx_pushpop_trace",
		.title = "NVTX Push/Pop Range Trace",
		.what = "NV Tools Extension (NVTX)",
		.views = {&view_nsys_pushpop},
		.table = nsys_nvtx_pushpop_trace},
	{.name = "nvtx_kern_sum",
		.title = "NVTX Range Kernel Summary",
		.what = "CUDA kernel",
		.views = {&view_nsys_range_sum},
		.table = nsys_nvtx_kern_sum,
		.has_names = true},
	{.name = "nvtx_gpu_proj_sum",
		.title = "NVTX GPU Projection Summary",
		.what = "NV Tools Extension (NVTX)",
		.views = {&view_nsys_proj},
		.table = nsys_nvtx_gpu_proj_sum},
	{.name = "nvtx_gpu_proj_trace",
		.title = "NVTX GPU Projection Trace",
		.what = "NV Tools Extension (NVTX)",
		.views = {&view_nsys_proj},
		.table = nsys_nvtx_gpu_proj_trace},
	{.name = "cuda_memcpy_async",
		.title = "CUDA Async Memcpy with Pageable Memory",
		.advice = "asynchronous copies of pageable memory wait as synchronous ones do; pin "
			  "it",
		.is_query = true,
		.has_clock_note = true,
		.most = MAX_FINDINGS},
	{.name = "cuda_memcpy_sync",
		.title = "CUDA Synchronous Memcpy",
		.advice = "these copies block the host (to the device: above 64 KB); copy "
			  "asynchronously",
		.is_query = true,
		.has_clock_note = true,
		.most = MAX_FINDINGS},
	{.name = "cuda_memset_sync",
		.title = "CUDA Synchronous Memset",
		.advice = "these sets may block the host; set asynchronously",
		.is_query = true,
		.has_clock_note = true,
		.most = MAX_FINDINGS},
	{.name = "cuda_api_sync",
		.title = "CUDA Synchronization APIs",
		.advice = "these calls block the host until the device is done; wait for less, or "
			  "later",
		.is_query = true,
		.has_clock_note = true,
		.most = MAX_FINDINGS},
	{.name = "gpu_gaps",
		.title = "GPU Gaps",
		.advice = "nothing ran on the device for more than 500 ms",
		.is_query = true,
		.most = MAX_FINDINGS},
	{.name = "gpu_time_util",
		.title = "GPU Time Utilization",
		.advice = "of 30 equal parts from first to last work, those in use for less than "
			  "50 %; what ran together counts once",
		.is_query = true,
		.most = MAX_FINDINGS},
	{0},
};

/* ---- the reports that the user named ---- */

static const struct nsys_report *find_report(const char *name, size_t nr_bytes)
{
	for (const struct nsys_report *report = nsys_reports; report->name; report++) {
		if (text_is(name, nr_bytes, report->name)) {
			return report;
		}
	}
	return NULL;
}

static bool take_argument(struct nsys_ask *ask, const char *text, size_t nr_bytes)
{
	if (text_is(text, nr_bytes, "base") && ask->report->has_names) {
		ask->names = NSYS_BASE;
	} else if (text_is(text, nr_bytes, "mangled") && ask->report->has_names) {
		ask->names = NSYS_MANGLED;
	} else if (text_is(text, nr_bytes, "nvtx-name") && ask->report->range_views[0]) {
		ask->has_ranges = true;
	} else {
		return false;
	}
	return true;
}

/* Takes one report with its arguments. */
static bool take_one(struct summary *summary, const char *text, size_t nr_bytes)
{
	size_t length = 0;
	struct nsys_ask ask = {0};

	while (length < nr_bytes && text[length] != ':') {
		length++;
	}
	ask.report = find_report(text, length);
	while (ask.report && length < nr_bytes) {
		size_t begin = ++length;

		while (length < nr_bytes && text[length] != ':') {
			length++;
		}
		if (!take_argument(&ask, text + begin, length - begin)) {
			return false;
		}
	}
	if (ask.report) {
		summary->reports = array_grow(summary->reports, summary->nr_reports,
			&summary->report_capacity, sizeof(*summary->reports));
		summary->reports[summary->nr_reports++] = ask;
	}
	return ask.report != NULL;
}

bool nsys_take(struct summary *summary, const char *list)
{
	do {
		size_t length = strcspn(list, ",");

		if (!take_one(summary, list, length)) {
			return false;
		}
		list += length + (list[length] == ',');
	} while (*list);
	return true;
}

void nsys_list(struct buf *out)
{
	for (const struct nsys_report *report = nsys_reports; report->name; report++) {
		buf_printf(out, "  %s%s%s -- %s\n", report->name,
			report->range_views[0] ? "[:nvtx-name]" : "",
			report->has_names ? "[:base|:mangled]" : "", report->title);
	}
}

/* ---- names ---- */

/*
 * Keeps the begin of the last word outside of brackets, which ends at its first bracket; the list
 * of arguments ends the search.
 */
void nsys_base_name(const char *name, size_t nr_bytes, size_t *begin, size_t *end)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t depth = 0;

	*begin = 0;
	*end = 0;
	for (size_t i = 0; i < nr_bytes; i++) {
		bool is_outside = !depth;

		if (nr_bytes - i >= sizeof(anonymous) - 1 &&
			memcmp(name + i, anonymous, sizeof(anonymous) - 1) == 0) {
			i += sizeof(anonymous) - 2;
		} else if (name[i] == '<' || name[i] == '(' || name[i] == '[') {
			depth++;
			if (is_outside && *begin < i && *end <= *begin) {
				*end = i;
			}
			if (is_outside && name[i] == '(' && *begin < i) {
				return; /* the arguments */
			}
		} else if (depth && (name[i] == '>' || name[i] == ')' || name[i] == ']')) {
			depth--;
		} else if (is_outside && (name[i] == ' ' || name[i] == ':')) {
			*begin = i + 1;
			*end = 0;
		}
	}
	*end = *end > *begin ? *end : nr_bytes;
	if (*begin >= nr_bytes) {
		*begin = 0;
	}
}

uint32_t nsys_kernel_name(const struct nsys_ask *ask, uint32_t name)
{
	size_t nr_bytes, begin = 0, end;
	const char *bytes;

	if (ask->names == NSYS_MANGLED) {
		return name;
	}
	bytes = ask->names == NSYS_BASE ? string_pool_demangled(name, &nr_bytes)
					: string_pool_shown(name, &nr_bytes);
	end = nr_bytes;
	if (ask->names == NSYS_BASE) {
		nsys_base_name(bytes, nr_bytes, &begin, &end);
	}
	return string_pool_intern(bytes + begin, end - begin);
}

void nsys_set_name(struct table_cell *cell, uint32_t name)
{
	size_t nr_bytes;
	const char *bytes = string_pool_text(name, &nr_bytes);

	table_set_text(cell, bytes, nr_bytes);
}

uint32_t nsys_operation(uint32_t copy)
{
	char text[64];
	int length = copy & COPY_IS_SET ? snprintf(text, sizeof(text), "[CUDA memset]")
					: snprintf(text, sizeof(text), "[CUDA memcpy %s]",
						  api_copy_long_name(copy_kind_of(copy)));

	return string_pool_intern(text, (size_t)length);
}

struct nsys_thread nsys_thread(const struct process *process, uint32_t thread_id)
{
	const struct model_thread *thread = idmap_get(&process->threads, thread_id);

	return (struct nsys_thread){process->pid, thread ? thread->tid : UINT32_MAX};
}

void nsys_set_kernel(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cell)
{
	nsys_set_name(cell, nsys_kernel_name(trace->hint, trace_name(trace, event)));
}

void nsys_set_device(const void *row, struct table_cell *cell)
{
	const struct trace_row *of = row;
	struct buf text = {0};
	size_t nr_bytes;
	const char *bytes;

	if (of->device == UINT64_MAX) {
		return; /* not known */
	}
	bytes = string_pool_text(process_device_name(of->process, (uint32_t)of->device), &nr_bytes);
	buf_add(&text, bytes, nr_bytes);
	buf_printf(&text, " (%u)", (unsigned int)of->device);
	table_set_text(cell, text.bytes, text.nr_bytes);
	buf_fini(&text);
}
