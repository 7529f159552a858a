/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/perfetto.h"
#include "report/util/text.h"

static char *text_of(struct buf *text)
{
	buf_char(text, '\0');
	return text->bytes;
}

static void add_name(struct buf *text, uint32_t name)
{
	size_t nr_bytes;
	const char *bytes = string_pool_text(name, &nr_bytes);

	text_add_shown(text, bytes, nr_bytes, 0);
}

size_t perfetto_thread_row(struct perfetto *pftrace, uint64_t thread)
{
	struct timeline *timeline = &pftrace->timeline;
	const struct model_thread *known = idmap_get(&timeline->process->threads, (uint32_t)thread);
	int64_t found =
		perfetto_rows_find(&pftrace->rows, PERFETTO_ROW_THREAD, (uint32_t)thread, 0);
	struct buf name = {0};
	struct perfetto_row *row;
	size_t place;

	if (found >= 0) {
		return (size_t)found;
	}
	buf_printf(&name, "thread %u", timeline_tid(timeline, thread));
	if (known && known->name) {
		buf_text(&name, " (");
		add_name(&name, known->name);
		buf_text(&name, ")");
	}
	place = perfetto_rows_add(&pftrace->rows, PERFETTO_ROW_THREAD, (uint32_t)thread, 0,
		pftrace->process_track, text_of(&name));
	row = &pftrace->rows.rows[place];
	row->is_named = true;
	perfetto_out_thread(&pftrace->out, row->track, pftrace->process_track, timeline->pid,
		timeline_tid(timeline, thread), row->name, row->rank);
	return place;
}

size_t perfetto_range_row(struct perfetto *pftrace, uint64_t thread, uint32_t domain)
{
	int64_t found =
		perfetto_rows_find(&pftrace->rows, PERFETTO_ROW_NVTX, (uint32_t)thread, domain);
	struct buf name = {0};
	size_t parent;

	if (found >= 0) {
		return (size_t)found;
	}
	parent = perfetto_thread_row(pftrace, thread);
	buf_text(&name, "NVTX");
	if (domain) {
		buf_char(&name, ' ');
		add_name(&name, domain);
	}
	return perfetto_rows_add(&pftrace->rows, PERFETTO_ROW_NVTX, (uint32_t)thread, domain,
		pftrace->rows.rows[parent].track, text_of(&name));
}

size_t perfetto_python_row(struct perfetto *pftrace, uint64_t thread)
{
	int64_t found =
		perfetto_rows_find(&pftrace->rows, PERFETTO_ROW_PYTHON, (uint32_t)thread, 0);
	size_t parent;

	if (found >= 0) {
		return (size_t)found;
	}
	parent = perfetto_thread_row(pftrace, thread);
	return perfetto_rows_add(&pftrace->rows, PERFETTO_ROW_PYTHON, (uint32_t)thread, 0,
		pftrace->rows.rows[parent].track, mem_text("Python"));
}

size_t perfetto_device_row(struct perfetto *pftrace, uint32_t device)
{
	const struct process *process = pftrace->timeline.process;
	int64_t found = perfetto_rows_find(&pftrace->rows, PERFETTO_ROW_DEVICE, device, 0);
	struct buf name = {0};
	size_t place;

	if (found >= 0) {
		return (size_t)found;
	}
	if (device == UINT32_MAX) {
		buf_text(&name, "GPU (unknown)");
	} else {
		buf_printf(&name, "GPU %u ", device);
		add_name(&name, process_device_name(process, device));
	}
	if (process->rank >= 0) {
		buf_printf(&name, ", rank %d", (int)process->rank);
	}
	buf_printf(&name, ", process %u", process->pid);
	place = perfetto_rows_add(
		&pftrace->rows, PERFETTO_ROW_DEVICE, device, 0, 0, text_of(&name));
	perfetto_rows_track(&pftrace->rows, place, &pftrace->out);
	return place;
}

size_t perfetto_stream_row(struct perfetto *pftrace, const struct model_place *place, bool is_wait)
{
	enum perfetto_row_kind kind = is_wait ? PERFETTO_ROW_WAITS : PERFETTO_ROW_STREAM;
	int64_t found = perfetto_rows_find(&pftrace->rows, kind, place->device, place->stream);
	struct buf name = {0};
	size_t parent, row;

	if (found >= 0) {
		return (size_t)found;
	}
	parent = perfetto_device_row(pftrace, place->device);
	if (place->stream == UINT32_MAX) {
		buf_text(&name, is_wait ? "waits for the device" : "stream (unknown)");
	} else {
		buf_printf(&name, "%sstream %u", is_wait ? "waits for " : "", place->stream);
	}
	row = perfetto_rows_add(&pftrace->rows, kind, place->device, place->stream,
		pftrace->rows.rows[parent].track, text_of(&name));
	pftrace->rows.rows[row].rank = (int32_t)(place->stream & 0xffffffu);
	return row;
}

size_t perfetto_other_row(
	struct perfetto *pftrace, enum perfetto_row_kind kind, uint32_t a, const char *name)
{
	int64_t found = perfetto_rows_find(&pftrace->rows, kind, a, 0);

	return found >= 0 ? (size_t)found
			  : perfetto_rows_add(&pftrace->rows, kind, a, 0, pftrace->process_track,
				    mem_text(name));
}
