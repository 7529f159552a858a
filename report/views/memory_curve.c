/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory in use over time, by what it is for: for charts, at the peak, and the largest blocks. So
 * the curve has the true peak, and each part goes on where the one before it ended.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/memory/memory_in_use.h"
#include "report/model/time_axis.h"
#include "report/util/sort.h"

/* Categories, and what no recorded allocation explains. */
#define NR_ROWS (NR_ALLOC_CATEGORIES + 1u)
#define UNKNOWN NR_ALLOC_CATEGORIES

/* Returns the bytes in use of a category; NR_ALLOC_CATEGORIES: of those without one. */
static uint64_t bytes_of(const struct memory_sample *sample, unsigned int category)
{
	if (category < NR_ALLOC_CATEGORIES) {
		return sample->bytes[category];
	}
	return sample->total.in_use > sample->known ? sample->total.in_use - sample->known : 0;
}

static const char *category_name(unsigned int category)
{
	return category < NR_ALLOC_CATEGORIES ? alloc_category_names[category] : "unknown";
}

/* The sources of columns of memory and of categories, from such a pointer and number. */
static void set_place(const void *member, struct table_cell *cell)
{
	char name[MEMORY_NAME_BYTES];

	memory_place_name(*(const struct memory_place *const *)member, name);
	table_set_string(cell, name);
}

static void set_category(const void *member, struct table_cell *cell)
{
	table_set_string(cell, category_name(*(const uint32_t *)member));
}

/* The columns that all of these tables begin with; `key` is that of the place. */
#define PLACE_COLUMNS(row, key)                                     \
	VIEW_PROCESS_COLUMNS(row, process, .is_wide_only = true),   \
		TABLE_COLUMN(key, "Memory", TABLE_TEXT,             \
			.help = "GPU, CPU or other kind of memory", \
			TABLE_SET(row, place, set_place))

static uint64_t time_of(const struct memory_in_use *all, uint32_t number, uint64_t tick)
{
	struct process *process = all->scan.memory.places[number].process;

	return time_axis_time(process, clock_map_time(&process->host_clock, tick));
}

/* Is anything known of the place over time? */
static bool has_samples(const struct memory_in_use *all, uint32_t number)
{
	return number < all->nr_places && all->places[number].nr_samples &&
	       memory_timeline_has_totals(&all->scan.memory.places[number].pool);
}

/* And of its blocks? */
static bool has_blocks(const struct memory_in_use *all, uint32_t number)
{
	return has_samples(all, number) && all->places[number].has_blocks;
}

/* Says of which places blocks are unknown; false if of none. */
static bool note_nameless(struct table *table, const struct memory_in_use *all)
{
	bool is_any = false;

	for (size_t i = 0; i < all->scan.memory.nr_places; i++) {
		const struct memory_place *place = &all->scan.memory.places[i];
		char name[MEMORY_NAME_BYTES];

		if (place->has_nameless_free) {
			is_any = true;
			memory_place_name(place, name);
			table_note(table,
				"Blocks in use are n/a for %s of %u: " MEMORY_NAMELESS ".", name,
				place->process->pid);
		}
	}
	return is_any;
}

static bool note_without_totals(struct table *table, const struct memory_in_use *all)
{
	size_t nr = 0;

	for (size_t i = 0; i < all->scan.memory.nr_places; i++) {
		nr += !memory_timeline_has_totals(&all->scan.memory.places[i].pool);
	}
	if (nr) {
		table_note(table, "%zu kind%s of memory without reported totals %s excluded.", nr,
			nr == 1 ? "" : "s", nr == 1 ? "is" : "are");
	}
	return nr != 0;
}

/* Why a table of blocks lacks some, or is empty. */
static void note_blocks(struct table *table, const struct memory_in_use *all)
{
	bool is_nameless = note_nameless(table, all);

	if (!note_without_totals(table, all) && !table->nr_rows && !is_nameless) {
		table_note(table, "No events of a framework's allocator are recorded or selected.");
	}
}

static void take_peak(uint64_t *peak, uint64_t bytes)
{
	if (*peak == UINT64_MAX || bytes > *peak) {
		*peak = bytes;
	}
}

static void get_peaks(const void *state, uint64_t *peaks)
{
	const struct memory *memory = &((const struct memory_in_use *)state)->scan.memory;

	for (size_t i = 0; i < memory->nr_places; i++) {
		const struct memory_timeline *pool = &memory->places[i].pool;
		uint8_t type = memory->places[i].device_type;

		if (!type || !memory_timeline_has_totals(pool)) {
			continue; /* the CPU, or without totals */
		}
		if (type < MEMORY_DRIVER) {
			take_peak(&peaks[MEMORY_PEAK_ALLOCATED], pool->peak_bytes);
		} else if (type == MEMORY_DRIVER + GPROF_SPACE_DEVICE) {
			take_peak(&peaks[MEMORY_PEAK_CUDA_MALLOC], pool->peak_bytes);
		}
		if (pool->peak_reserved_bytes) {
			take_peak(&peaks[MEMORY_PEAK_RESERVED], pool->peak_reserved_bytes);
		}
	}
}

/* ---- over time ---- */

struct curve_row {
	const struct process *process;
	const struct memory_place *place;
	uint64_t time_ns, step, in_use, reserved, bytes[NR_ROWS];
};

static void add_row(struct table *table, const struct memory_in_use *all, uint32_t number,
	const struct memory_sample *sample)
{
	const struct memory_place *place = &all->scan.memory.places[number];
	struct curve_row row = {.process = place->process,
		.place = place,
		.time_ns = time_of(all, number, sample->total.tick),
		.step = sample->step != MEMORY_NO_STEP ? sample->step : UINT64_MAX,
		.in_use = sample->total.in_use,
		.reserved = sample->total.reserved};

	for (unsigned int i = 0; i < NR_ROWS; i++) {
		row.bytes[i] = all->places[number].has_blocks ? bytes_of(sample, i) : UINT64_MAX;
	}
	table_add(table, &row);
}

#define CATEGORY_COLUMN(key, title, category)                           \
	TABLE_COLUMN(key "_bytes", title, TABLE_SIZE, .is_minor = true, \
		TABLE_MEMBER(curve_row, bytes[category]))

static const struct table_column columns[] = {
	PLACE_COLUMNS(curve_row, "device"),
	TABLE_COLUMN("time_ns", "Time", TABLE_TIME, .help = "since the start of the recording",
		TABLE_MEMBER(curve_row, time_ns)),
	TABLE_COLUMN("step", "End of step", TABLE_ID, .is_minor = true,
		.help = "number of the step that ends then", TABLE_MEMBER(curve_row, step)),
	TABLE_COLUMN("allocated_bytes", "In use", TABLE_SIZE, TABLE_MEMBER(curve_row, in_use)),
	TABLE_COLUMN("reserved_bytes", "Reserved", TABLE_SIZE,
		.help = "what the allocator holds from the driver, where it reports that",
		TABLE_NONZERO(curve_row, reserved)),
	CATEGORY_COLUMN("parameters", "Parameters", ALLOC_PARAMETERS),
	CATEGORY_COLUMN("gradients", "Gradients", ALLOC_GRADIENTS),
	CATEGORY_COLUMN("optimizer_state", "Optimizer state", ALLOC_OPTIMIZER_STATE),
	CATEGORY_COLUMN("activations", "Activations", ALLOC_ACTIVATIONS),
	CATEGORY_COLUMN("inputs", "Inputs", ALLOC_INPUTS),
	CATEGORY_COLUMN("temporary", "Temporary", ALLOC_TEMPORARY),
	CATEGORY_COLUMN("other", "Other", ALLOC_OTHER),
	TABLE_COLUMN("unknown_bytes", "Unknown", TABLE_SIZE, .is_minor = true,
		.help = "in use, without a recorded allocation",
		TABLE_MEMBER(curve_row, bytes[UNKNOWN])),
};
static void fill_table(void *state, struct table *table)
{
	const struct memory_in_use *all = state;

	for (uint32_t i = 0; i < all->scan.memory.nr_places; i++) {
		if (!memory_timeline_has_totals(&all->scan.memory.places[i].pool)) {
			continue;
		}
		for (size_t k = 0; i < all->nr_places && k < all->places[i].nr_samples; k++) {
			if (!all->places[i].samples[k].is_at) {
				add_row(table, all, i, &all->places[i].samples[k]);
			}
		}
	}
	if (!note_without_totals(table, all) && !table->nr_rows) {
		table_note(table, MEMORY_SCAN_NONE);
	}
	if (table->nr_rows) {
		note_nameless(table, all);
	}
}

VIEW(memory_curve, 380) = {
	.name = "memory-curve",
	.subject = VIEW_ABOUT_MEMORY,
	.help = "memory in use and reserved over time, by category",
	.about =
		"The time of each process is divided into up to 256 parts: 64 equal ones to the "
		"end of the first step, and equal ones after it. Each part has two rows: when most "
		"memory was in use, and its last event. The ends of up to 256 "
		"steps have rows of their own. memory-categories explains the categories.",
	.is_empty_hidden = true,
	.title = "Memory over time",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct memory_in_use),
	.merge = {.get_facts = get_peaks, .nr_facts = NR_MEMORY_PEAKS},
	.scan = {memory_scan_wants, MEMORY_SCAN_NR_WANTS, memory_scan_needs, memory_scan_begin,
		memory_scan_take, memory_scan_end, .ignores_selection = true},
	.ops = {.ignores_selection = true,
		.begin = memory_in_use_begin,
		.alloc = memory_in_use_alloc,
		.end = memory_in_use_end},
	.init = memory_in_use_init,
	.fill = fill_table,
	.fini = memory_in_use_fini,
};

/* ---- by category ---- */

/* The bytes of a category over the samples of a place. */
struct category_row {
	const struct process *process;
	const struct memory_place *place;
	uint64_t peak, most, step_sum, step_most, nr_steps;
	uint64_t in_use, nr_blocks; /* in use of all at the peak */
	uint32_t name;
};

static const struct table_column category_columns[] = {
	PLACE_COLUMNS(category_row, "place"),
	TABLE_COLUMN("peak_bytes", "At peak", TABLE_SIZE, .is_major = true,
		.help = "in use when most memory was in use", TABLE_MEMBER(category_row, peak)),
	TABLE_COLUMN("peak_pct", "% of peak", TABLE_PERCENT,
		.help = "as a share of all that was in use at the peak",
		TABLE_SHARE(category_row, peak, in_use)),
	TABLE_COLUMN("step_end_avg_bytes", "Step end avg", TABLE_MEAN_SIZE,
		.help = "in use at the end of a step, on average",
		TABLE_MEAN(category_row, step_sum, nr_steps)),
	TABLE_COLUMN("step_end_max_bytes", "Step end max", TABLE_SIZE,
		.help = "in use at the end of a step, at most",
		TABLE_IF(category_row, step_most, nr_steps)),
	TABLE_COLUMN("max_bytes", "Max", TABLE_SIZE,
		.help = "at most in use of this category at the times of memory-curve",
		TABLE_MEMBER(category_row, most)),
	TABLE_COLUMN(
		"allocations", "Allocations", TABLE_COUNT, TABLE_MEMBER(category_row, nr_blocks)),
	TABLE_COLUMN("category", "Category", TABLE_NAME, .is_name = true,
		TABLE_MEMBER(category_row, name)),
};

static struct category_row category_row(
	const struct memory_in_use_place *place, unsigned int category)
{
	struct category_row row = {.peak = bytes_of(&place->samples[place->peak], category)};

	for (size_t i = 0; i < place->nr_samples; i++) {
		uint64_t bytes = bytes_of(&place->samples[i], category);

		row.most = bytes > row.most ? bytes : row.most;
		if (place->samples[i].step != MEMORY_NO_STEP) {
			row.nr_steps++;
			row.step_sum += bytes;
			row.step_most = bytes > row.step_most ? bytes : row.step_most;
		}
	}
	return row;
}

static void add_category(struct table *table, const struct memory_in_use *all, uint32_t number,
	unsigned int category)
{
	const struct memory_in_use_place *place = &all->places[number];
	struct category_row row = category_row(place, category);

	if (!row.most && (category == UNKNOWN || !place->nr_blocks[category])) {
		return;
	}
	row.place = &all->scan.memory.places[number];
	row.process = row.place->process;
	row.in_use = place->samples[place->peak].total.in_use;
	row.nr_blocks = category != UNKNOWN ? place->nr_blocks[category] : UINT64_MAX;
	row.name = string_pool_intern(category_name(category), strlen(category_name(category)));
	table_add(table, &row);
}

static void note_place(struct table *table, const struct memory_in_use *all, uint32_t number)
{
	const struct memory_in_use_place *place = &all->places[number];
	const struct memory_total *peak = &place->samples[place->peak].total;
	struct buf text = {0};
	char name[MEMORY_NAME_BYTES];

	memory_place_name(&all->scan.memory.places[number], name);
	buf_printf(&text, "%s of %u: the peak is ", name,
		all->scan.memory.places[number].process->pid);
	memory_timeline_add_bytes(&text, peak->in_use);
	buf_printf(&text, " at %.3f s", (double)time_of(all, number, peak->tick) / 1e9);
	if (peak->reserved >= peak->in_use && peak->reserved) {
		buf_text(&text, "; the allocator holds ");
		memory_timeline_add_bytes(&text, peak->reserved);
		buf_printf(&text, ", of which %.1f %% is free",
			100.0 - 100.0 * (double)peak->in_use / (double)peak->reserved);
	}
	table_note(table, "%.*s.", (int)text.nr_bytes, text.bytes);
	buf_fini(&text);
}

static void fill_categories(void *state, struct table *table)
{
	const struct memory_in_use *all = state;
	bool has_unknown = false;

	for (uint32_t i = 0; i < all->scan.memory.nr_places; i++) {
		if (!has_blocks(all, i)) {
			continue;
		}
		for (unsigned int k = 0; k < NR_ROWS; k++) {
			add_category(table, all, i, k);
		}
		has_unknown |= bytes_of(&all->places[i].samples[all->places[i].peak], UNKNOWN) > 0;
		note_place(table, all, i);
	}
	if (has_unknown) {
		table_note(table, "Unknown memory was allocated before the recording, or its "
				  "allocation is not recorded.");
	}
	note_blocks(table, all);
}

VIEW(memory_categories, 371) = {
	.name = "memory-categories",
	.subject = VIEW_ABOUT_MEMORY,
	.help = "what memory is used for: parameters, gradients, activations ...",
	.about = "Categories follow from who allocated a block and how long it lived. Temporary: "
		 "freed before the end of the outermost operator, of Backward, or of the "
		 "optimizer's call that allocated it. Gradients and optimizer state: allocated in "
		 "Backward and by the optimizer, and live longer. Inputs: allocated by the data "
		 "loader, or outside of modules by an operator that creates a tensor (randn, "
		 "zeros) or moves one (to) that outlives Backward. Parameters: allocated before "
		 "the first Backward, live on to the end or over two ends of steps, and as many "
		 "gradients are as large; on GPUs above 1 MiB, nearly as large. Other: lives over "
		 "two ends of steps, such as buffers of modules. Activations: results of other "
		 "operators. Unknown: the allocation is not recorded.",
	.is_empty_hidden = true,
	.title = "Memory by category",
	VIEW_COLUMNS(category_columns),
	.shows = &view_memory_curve,
	.fill = fill_categories,
};

/* ---- the peak ---- */

struct peak_row {
	const struct process *process;
	const struct memory_place *place;
	struct memory_peak_row row;
	uint64_t in_use; /* of all */
	uint32_t name;
};

#define MODULE_HELP \
	.help = "innermost module whose forward call allocated, with GPROF_PYTHON=modules"

static const struct table_column peak_columns[] = {
	PLACE_COLUMNS(peak_row, "place"),
	TABLE_COLUMN(
		"bytes", "Size", TABLE_SIZE, .is_major = true, TABLE_MEMBER(peak_row, row.bytes)),
	TABLE_COLUMN("peak_pct", "% of peak", TABLE_PERCENT,
		.help = "as a share of all that was in use at the peak",
		TABLE_SHARE(peak_row, row.bytes, in_use)),
	TABLE_COLUMN("blocks", "Blocks", TABLE_COUNT, TABLE_MEMBER(peak_row, row.nr_blocks)),
	TABLE_COLUMN("category", "Category", TABLE_TEXT,
		TABLE_SET(peak_row, row.key.category, set_category)),
	TABLE_COLUMN("module", "Module", TABLE_NAME, MODULE_HELP,
		TABLE_NONZERO(peak_row, row.key.module)),
	TABLE_COLUMN("name", "Allocated by", TABLE_NAME, .is_name = true,
		.help = "operator that allocated", TABLE_MEMBER(peak_row, name)),
};

static uint32_t nobody(void)
{
	return string_pool_intern("(no operator)", 13);
}

static void fill_peak(void *state, struct table *table)
{
	const struct memory_in_use *all = state;
	bool has_modules = false;

	for (const struct memory_peak_row *row = all->peak_rows; row; row = row->hh.next) {
		const struct memory_in_use_place *place = &all->places[row->key.place];
		const struct memory_place *of = &all->scan.memory.places[row->key.place];

		if (has_blocks(all, row->key.place)) {
			table_add(table, &(struct peak_row){of->process, of, *row,
						 place->samples[place->peak].total.in_use,
						 row->key.name ? row->key.name : nobody()});
			has_modules |= row->key.module != 0;
		}
	}
	table_set_wide(table, "module", !has_modules);
	table_sort(table, "bytes");
	note_blocks(table, all);
}

VIEW(memory_peak, 372) = {
	.name = "memory-peak",
	.subject = VIEW_ABOUT_MEMORY,
	.help = "what was in use at the peak, by category, module and operator",
	.about = "The peak is when most memory was in use, in the selected steps. "
		 "memory-categories explains the categories.",
	.is_empty_hidden = true,
	.title = "Memory in use at the peak",
	VIEW_COLUMNS(peak_columns),
	.shows = &view_memory_curve,
	.fill = fill_peak,
};

/* ---- the largest blocks ---- */

struct block_row {
	const struct process *process;
	const struct memory_place *place;
	struct alloc_block block;
	uint64_t alloc_ns, free_ns;
	uint32_t category, name;
};

static const struct table_column block_columns[] = {
	PLACE_COLUMNS(block_row, "place"),
	TABLE_COLUMN("bytes", "Size", TABLE_SIZE, .is_major = true,
		TABLE_MEMBER(block_row, block.bytes)),
	TABLE_COLUMN("allocation_ns", "Allocated", TABLE_TIME,
		.help = "since the start of the recording", TABLE_MEMBER(block_row, alloc_ns)),
	TABLE_COLUMN("release_ns", "Freed", TABLE_TIME,
		.help = "since the start of the recording; n/a: not recorded",
		TABLE_MEMBER(block_row, free_ns)),
	TABLE_COLUMN(
		"category", "Category", TABLE_TEXT, TABLE_SET(block_row, category, set_category)),
	TABLE_COLUMN("module", "Module", TABLE_NAME, MODULE_HELP,
		TABLE_NONZERO(block_row, block.module)),
	TABLE_COLUMN("name", "Allocated by", TABLE_NAME, .is_name = true,
		.help = "operator that allocated", TABLE_MEMBER(block_row, name)),
};

static int by_time(const void *a, const void *b)
{
	const struct alloc_block *x = a, *y = b;

	return ORDER(COMPARE(x->tick, y->tick), COMPARE(x->address, y->address));
}

/* The blocks of all samples of a place, or of the one that the user asks for; each once. */
static struct alloc_block *largest_blocks(
	const struct memory_in_use_place *place, bool is_at, size_t *nr)
{
	struct alloc_block *blocks;
	size_t nr_all = 0;

	*nr = 0;
	for (size_t i = 0; i < place->nr_samples; i++) {
		nr_all += place->samples[i].nr_largest;
	}
	blocks = mem_zeroed(nr_all + 1, sizeof(*blocks));
	nr_all = 0;
	for (size_t i = 0; i < place->nr_samples; i++) {
		for (unsigned int k = 0; k < place->samples[i].nr_largest; k++) {
			if (is_at && !place->samples[i].is_at) {
				break;
			}
			blocks[nr_all++] = place->samples[i].largest[k];
		}
	}
	qsort(blocks, nr_all, sizeof(*blocks), by_time);
	for (size_t i = 0; i < nr_all; i++) {
		if (!*nr || by_time(&blocks[*nr - 1], &blocks[i])) {
			blocks[(*nr)++] = blocks[i];
		}
	}
	return blocks;
}

static bool add_block(
	struct table *table, const struct memory_in_use *all, const struct alloc_block *block)
{
	const struct memory_place *place = &all->scan.memory.places[block->place];

	table_add(table, &(struct block_row){.process = place->process,
				 .place = place,
				 .block = *block,
				 .alloc_ns = time_of(all, block->place, block->tick),
				 .free_ns = block->freed != ALLOC_NEVER
						    ? time_of(all, block->place, block->freed)
						    : UINT64_MAX,
				 .category = block->category,
				 .name = block->name ? block->name : nobody()});
	return block->module != 0;
}

/* Notes the bytes in use at the time that the user asks for. */
static void note_at(struct table *table, const struct memory_in_use *all, uint32_t number)
{
	const struct memory_in_use_place *place = &all->places[number];
	struct buf text = {0};
	char name[MEMORY_NAME_BYTES];

	memory_place_name(&all->scan.memory.places[number], name);
	for (size_t i = 0; i < place->nr_samples; i++) {
		const struct memory_sample *sample = &place->samples[i];

		if (!sample->is_at) {
			continue;
		}
		buf_printf(&text, "%s of %u: ", name, all->scan.memory.places[number].process->pid);
		memory_timeline_add_bytes(&text, sample->total.in_use);
		buf_printf(&text, " in use after the event at %.6f s",
			(double)time_of(all, number, sample->total.tick) / 1e9);
		if (bytes_of(sample, UNKNOWN)) {
			buf_text(&text, ", of which ");
			memory_timeline_add_bytes(&text, bytes_of(sample, UNKNOWN));
			buf_text(&text, " have no recorded allocation");
		}
		table_note(table, "%.*s.", (int)text.nr_bytes, text.bytes);
	}
	buf_fini(&text);
}

static void fill_blocks(void *state, struct table *table)
{
	const struct memory_in_use *all = state;
	bool has_modules = false;

	for (uint32_t i = 0; i < all->nr_places; i++) {
		struct alloc_block *blocks;
		size_t nr;

		if (!has_blocks(all, i)) {
			continue;
		}
		blocks = largest_blocks(&all->places[i], all->input.at.is_set, &nr);
		note_at(table, all, i);
		for (size_t k = 0; k < nr; k++) {
			has_modules |= add_block(table, all, &blocks[k]);
		}
		free(blocks);
	}
	table_set_wide(table, "module", !has_modules);
	table_sort(table, "bytes");
	if (!table->nr_rows && all->input.at.is_step) {
		table_note(table, "No end of a step %" PRIu64 " with blocks in use is recorded.",
			all->input.at.value);
	} else if (!table->nr_rows && all->input.at.is_set) {
		table_note(table, "No block with a recorded allocation is in use then.");
	} else {
		note_blocks(table, all);
	}
}

VIEW(memory_blocks, 373) = {
	.name = "memory-blocks",
	.subject = VIEW_ABOUT_MEMORY,
	.help = "the largest blocks in use at any time",
	.about = "Has the blocks that are among the 20 largest in use at one of the times of "
		 "memory-curve; with --at, up to 1,000 in use at that time. memory-categories "
		 "explains the categories.",
	.is_empty_hidden = true,
	.title = "Largest blocks in use",
	VIEW_COLUMNS(block_columns),
	.shows = &view_memory_curve,
	.fill = fill_blocks,
};
