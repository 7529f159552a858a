/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roofline model: operators, and the kernels that run them, by their arithmetic intensity
 * beside what the GPU's memory and arithmetic units allow for it. Operations and bytes follow from
 * the shapes of inputs (flops.h, op_bytes.h), the peaks from gpu_peak.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/gpu_peak.h"
#include "report/ops/flops.h"
#include "report/ops/op_bytes.h"
#include "report/util/hash.h"
#include "report/analysis/view.h"
#include "report/gpu/kernel_counters.h"

/* Shapes that say more are nonsense. */
#define MAX_WORK 1e18
#define NR_PEAKS 4u

enum row_kind {
	ROW_OPERATOR,
	ROW_KERNEL,
};

struct row {
	struct {
		uint32_t name, shape; /* shape 0: those of all */
		uint32_t kind, type;  /* type NR_GPU_FLOATS: none that has a peak */
	} key;
	uint64_t nr, gpu_ns;
	double flops, bytes;
	struct counted_kernels measured;
	/* At the peaks: if the other one cost nothing, and the longer one of each call. */
	double compute_ns, memory_ns, least_ns;
	double peak_flops, peak_bytes; /* 0: unknown, or not the same for all calls */
	bool has_peaks;		       /* known for all calls */
	/* For the table; NAN and NULL are unknown. */
	double flops_per_s, bytes_per_s, roof_ns;
	const char *bound, *type;
	UT_hash_handle hh;
};

struct roofline_view {
	struct view_input input;
	struct row *rows;
	struct kernel_counters counters;
	struct gpu_peak peak;
	/* The kernel that an operator launched last, if it launched one. */
	const struct op *op;
	uint64_t op_begin;
	uint32_t kernel;
	struct counted_kernels measured; /* that kernel */
	uint64_t gpu_ns, covered_ns;	 /* launched by operators, and by those in rows */
	bool has_shapes, lacks_sizes;
};

static void init(void *state)
{
	struct roofline_view *view = state;

	kernel_counters_init(&view->counters);
	view->counters.keeps_kernels = true;
	kernel_counters_look(&view->counters, view->input.processes, view->input.nr_processes);
}

static void begin(void *context, struct process *process)
{
	struct roofline_view *view = context;

	view->peak = gpu_peak_common(process);
	view->op = NULL;
}

static struct row *find_row(
	struct roofline_view *view, enum row_kind kind, uint32_t name, const struct op *op)
{
	struct row *row, key;

	memset(&key, 0, sizeof(key));
	key.key.name = name;
	key.key.shape = view->input.is_detailed ? op->shape : 0;
	key.key.kind = kind;
	key.key.type = op_float(op->shape);
	HASH_FIND(hh, view->rows, &key.key, sizeof(key.key), row);
	if (!row) {
		row = mem_zeroed(1, sizeof(*row));
		row->key = key.key;
		row->has_peaks = true;
		row->peak_bytes = view->peak.memory_bytes_per_s;
		row->peak_flops = key.key.type < NR_GPU_FLOATS ? view->peak.flops[key.key.type] : 0;
		HASH_ADD(hh, view->rows, key, sizeof(row->key), row);
	}
	return row;
}

static void add_call(
	struct roofline_view *view, struct row *row, uint64_t gpu_ns, double flops, double bytes)
{
	enum gpu_float type = (enum gpu_float)row->key.type;
	double peak_flops = type < NR_GPU_FLOATS ? view->peak.flops[type] : 0;
	double peak_bytes = view->peak.memory_bytes_per_s;

	row->nr++;
	row->gpu_ns += gpu_ns;
	row->flops += flops;
	row->bytes += bytes;
	row->peak_flops = row->peak_flops == peak_flops ? peak_flops : 0;
	row->peak_bytes = row->peak_bytes == peak_bytes ? peak_bytes : 0;
	if (peak_flops > 0 && peak_bytes > 0) {
		double compute_ns = flops / peak_flops * 1e9, memory_ns = bytes / peak_bytes * 1e9;

		row->compute_ns += compute_ns;
		row->memory_ns += memory_ns;
		row->least_ns += compute_ns > memory_ns ? compute_ns : memory_ns;
	} else {
		row->has_peaks = false;
	}
}

/*
 * The outermost one, of it and those around it, whose operations and bytes are known. It alone
 * counts what they do.
 */
static const struct op *find_outermost(const struct op *op)
{
	const struct op *found = NULL;
	double flops, bytes;

	for (; op; op = op->parent) {
		if (op->shape && flops_of(op->name, op->shape, op->positions, &flops) &&
			op_bytes(op->name, op->shape, op->positions, &bytes)) {
			found = op;
		}
	}
	return found;
}

/* Adds the samples of a kernel to the row of the operator that counts its work. */
static void measure(struct roofline_view *view, const struct op_record *record, const struct op *op)
{
	const struct op *outermost = find_outermost(op);
	const struct counter_samples *samples =
		kernel_counters_of_record(&view->counters, view->input.process, record);
	uint64_t ns = record->end_ns - record->begin_ns;

	view->measured = (struct counted_kernels){0};
	counted_kernels_add(&view->measured, ns, samples);
	if (outermost) {
		struct row *row =
			find_row(view, ROW_OPERATOR, op_row_name(outermost->name), outermost);

		counted_kernels_add(&row->measured, ns, samples);
	}
}

static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct roofline_view *view = context;

	(void)call;
	if (op && record->table == GPROF_TABLE_kernel) {
		view->op = op;
		view->op_begin = op->begin;
		view->kernel = process_shape_name(view->input.process, record->shape);
		if (view->counters.has_sampled && record->is_timed) {
			measure(view, record, op);
		}
	}
}

static void on_op(void *context, const struct op *op)
{
	struct roofline_view *view = context;
	double flops, bytes;

	view->gpu_ns += op->gpu_self_ns;
	view->has_shapes |= op->shape != 0;
	view->lacks_sizes |= flops_lack_size(op);
	/* Also of one within another one that has its FLOPs: its kernels may run it alone. */
	if (!op->gpu_total_ns || !op->shape ||
		!flops_of(op->name, op->shape, op->positions, &flops) || flops <= 0 ||
		flops > MAX_WORK || !op_bytes(op->name, op->shape, op->positions, &bytes) ||
		bytes > MAX_WORK) {
		return;
	}
	if (!find_outermost(op->parent)) {
		view->covered_ns += op->gpu_total_ns;
		add_call(view, find_row(view, ROW_OPERATOR, op_row_name(op->name), op),
			op->gpu_total_ns, flops, bytes);
	}
	if (op->nr_activities == 1 && op->gpu_self_ns == op->gpu_total_ns && view->op == op &&
		view->op_begin == op->begin) {
		struct row *row = find_row(view, ROW_KERNEL, view->kernel, op);

		add_call(view, row, op->gpu_total_ns, flops, bytes);
		counted_kernels_add(&row->measured, view->measured.ns,
			view->measured.nr_sampled ? &view->measured.samples : NULL);
	}
}

/* ---- the table ---- */

static const char *const kinds[] = {[ROW_OPERATOR] = "operator", [ROW_KERNEL] = "kernel"};

static const struct table_column columns[] = {
	TABLE_COLUMN("calls", "Calls", TABLE_COUNT, TABLE_MEMBER(row, nr)),
	TABLE_COLUMN("gpu_total_ns", "GPU total", TABLE_TIME, .help = "of what the calls launched",
		TABLE_MEMBER(row, gpu_ns)),
	TABLE_COLUMN("gpu_share_pct", "% of GPU time", TABLE_PERCENT, .is_minor = true,
		.help = "GPU total, of that of all operators",
		TABLE_SHARE_OF_STATE(row, gpu_ns, roofline_view, gpu_ns)),
	TABLE_COLUMN("roof_pct", "% of roof", TABLE_PERCENT, .is_major = true,
		.help = "estimated: the least time that the GPU's peaks allow, as a share of GPU "
			"total",
		TABLE_SHARE(row, roof_ns, gpu_ns)),
	TABLE_COLUMN("bound", "Bound", TABLE_TEXT, .is_major = true,
		.help = "estimated: what needs most time at the peaks, compute or memory",
		TABLE_MEMBER(row, bound)),
	TABLE_COLUMN("flops_per_byte", "FLOPs/B", TABLE_NUMBER,
		.help = "arithmetic intensity: FLOPs by size", TABLE_MEAN(row, flops, bytes)),
	TABLE_COLUMN("flops_per_s", "FLOP/s", TABLE_COUNT, .help = "estimated: FLOPs by GPU total",
		TABLE_MEMBER(row, flops_per_s)),
	TABLE_COLUMN("bytes_per_s", "Memory", TABLE_RATE, .help = "estimated: size by GPU total",
		TABLE_MEMBER(row, bytes_per_s)),
	COUNTER_MEASURED_TENSOR(row, measured, roofline_view, counters),
	COUNTER_MEASURED_BANDWIDTH(row, measured, roofline_view, counters),
	COUNTER_MEASURED_SHARE(row, measured, roofline_view, counters),
	TABLE_COLUMN("flops", "FLOPs", TABLE_COUNT, .is_wide_only = true,
		.help = "floating-point operations", TABLE_MEMBER(row, flops)),
	TABLE_COLUMN("bytes", "Size", TABLE_SIZE, .is_wide_only = true,
		.help = "what must be read and written at least", TABLE_MEMBER(row, bytes)),
	TABLE_COLUMN("peak_flops_per_s", "Peak FLOP/s", TABLE_COUNT, .is_wide_only = true,
		.help = "of the GPU, for the type", TABLE_NONZERO(row, peak_flops)),
	TABLE_COLUMN("peak_bytes_per_s", "Peak memory", TABLE_RATE, .is_wide_only = true,
		.help = "bandwidth of the GPU's memory", TABLE_NONZERO(row, peak_bytes)),
	TABLE_COLUMN("type", "Type", TABLE_TEXT, .is_minor = true, .help = "of the first input",
		TABLE_MEMBER(row, type)),
	TABLE_COLUMN("kind", "Kind", TABLE_TEXT, .help = "operator, or kernel that runs one alone",
		TABLE_NAMED(row, key.kind, kinds)),
	TABLE_COLUMN("shapes", "Inputs", TABLE_NAME, .is_major = true,
		.help = "shapes and types of the inputs",
		TABLE_WIDE_UNLESS(roofline_view, input.is_detailed), TABLE_NONZERO(row, key.shape)),
	TABLE_COLUMN("name", "Name", TABLE_NAME, .is_kernel = true, TABLE_MEMBER(row, key.name)),
};

static void finish(struct row *row)
{
	double ns = (double)row->gpu_ns;

	row->flops_per_s = row->flops / ns * 1e9;
	row->bytes_per_s = row->bytes / ns * 1e9;
	row->roof_ns = row->has_peaks ? row->least_ns : NAN;
	row->bound = !row->has_peaks			? NULL
		     : row->compute_ns > row->memory_ns ? "compute"
							: "memory";
	row->type = row->key.type < NR_GPU_FLOATS ? gpu_float_names[row->key.type] : "other";
}

/* "NVIDIA H100 PCIe: float32 51.0 TFLOP/s, ... 2.04 TB/s (source)." */
static void note_peak(struct table *table, const struct process *process, uint32_t device)
{
	struct gpu_peak peak = gpu_peak_of(process, device);
	const char *name = string_pool_text(process_device_name(process, device), NULL);
	struct buf text = {0};

	buf_printf(&text, "%s: ", *name ? name : "GPU");
	if (peak.flops[GPU_FLOAT16] > 0 && peak.flops[GPU_FLOAT16] == peak.flops[GPU_BFLOAT16]) {
		buf_printf(&text, "%s, ", gpu_float_names[GPU_FLOAT16]);
		peak.flops[GPU_FLOAT16] = 0;
	}
	for (int i = NR_GPU_FLOATS; i-- > 0;) {
		if (peak.flops[i] > 0) {
			buf_printf(&text, "%s %.1f TFLOP/s, ", gpu_float_names[i],
				peak.flops[i] / 1e12);
		}
	}
	if (!peak.source) {
		buf_text(&text, "peak FLOP/s not known, ");
	}
	if (peak.memory_bytes_per_s > 0) {
		buf_printf(&text, "memory %.2f TB/s", peak.memory_bytes_per_s / 1e12);
	} else {
		buf_text(&text, "peak bandwidth of memory not known");
	}
	buf_printf(&text, "%s%s%s.", peak.source ? " (" : "", peak.source ? peak.source : "",
		peak.source ? ")" : "");
	table_note(table, "%.*s", (int)text.nr_bytes, text.bytes);
	buf_fini(&text);
}

/* One note for each name of a GPU. */
static void note_peaks(const struct roofline_view *view, struct table *table)
{
	uint32_t seen[NR_PEAKS];
	size_t nr = 0;

	for (size_t i = 0; i < view->input.nr_processes; i++) {
		const struct process *process = view->input.processes[i];

		for (size_t k = 0; k < process->nr_devices && nr < NR_PEAKS; k++) {
			uint32_t name = process_device_name(process, process->devices[k].id);
			size_t at = 0;

			while (at < nr && seen[at] != name) {
				at++;
			}
			if (at == nr) {
				seen[nr++] = name;
				note_peak(table, process, process->devices[k].id);
			}
		}
	}
}

/* GPUs have it if they have bfloat16: since compute capability 8.0. */
static bool may_use_tf32(const struct roofline_view *view)
{
	for (size_t i = 0; i < view->input.nr_processes; i++) {
		const struct process *process = view->input.processes[i];

		for (size_t k = 0; k < process->nr_devices; k++) {
			struct gpu_peak peak = gpu_peak_of(process, process->devices[k].id);

			if (!peak.source || peak.flops[GPU_BFLOAT16] > 0) {
				return true;
			}
		}
	}
	return false;
}

static void fill_table(void *state, struct table *table)
{
	struct roofline_view *view = state;
	bool is_above = false;

	for (struct row *row = view->rows; row; row = row->hh.next) {
		if (!row->nr) { /* it has kernels, but no call that counts */
			continue;
		}
		finish(row);
		table_add(table, row);
		is_above |= row->has_peaks && row->least_ns > (double)row->gpu_ns &&
			    row->compute_ns > row->memory_ns;
	}
	table_sort(table, "gpu_total");
	if (table->nr_rows) {
		table_note(table, "These operators take %.1f %% of the GPU time of all operators.",
			100 * (double)view->covered_ns / (double)view->gpu_ns);
		if (is_above) {
			table_note(table,
				"Above 100 %%: the kernel does less than the direct algorithm, "
				"whose FLOPs are counted (as Winograd convolutions do)%s.",
				may_use_tf32(view) ? ", or computes in a faster type (TF32)" : "");
		}
		note_peaks(view, table);
	} else if (view->gpu_ns && !view->has_shapes) {
		table_note(table, "Shapes of inputs are not recorded; set GPROF_TORCH=shapes.");
	} else {
		table_note(table, "No GPU time of operators with known operations is recorded.");
	}
	if (view->lacks_sizes) {
		table_note(table, FLOPS_NOTE);
	}
}

static void fini(void *state)
{
	struct roofline_view *view = state;

	hash_free(view->rows);
	kernel_counters_fini(&view->counters);
}

VIEW(roofline, 225) = {
	.name = "roofline",
	.subject = VIEW_ABOUT_GPU,
	.help = "operators and kernels beside the limits of the GPU's memory and arithmetic units",
	.about =
		"Operations and sizes follow from the shapes of inputs (GPROF_TORCH=shapes). The "
		"size is the least that must be read and written, an estimate: real traffic may be "
		"higher, or lower with data in caches. The roof of a call is the longer one of its "
		"operations at the GPU's peak for the type and its bytes at the peak bandwidth. "
		"Matrix products of float32 can exceed 100 % with TF32. A kernel has a row if it "
		"is all that an operator launched. With --detail, shapes have rows of their own. "
		"Operations, sizes and the roof are estimates. Measured columns are from hardware "
		"counters (GPROF_METRICS=pm), as in the view utilization-kernels.",
	.is_empty_hidden = true,
	.title = "Roofline",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct roofline_view),
	.ops = {.op_is = OP_IS_OPERATOR,
		.begin = begin,
		.op = on_op,
		.replay = on_op,
		.record = on_record},
	.parts = {{.scan = &kernel_counters_scan,
		.offset = offsetof(struct roofline_view, counters),
		.needs_scan = kernel_counters_needs_scan,
		.is_scan_rare = true}},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
