/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of a summary are called, as columns of tables. */
#include "report/model/api.h"
#include "report/model/copy_kind.h"
#include "report/util/string_pool.h"
#include "report/comm/nccl_names.h"
#include "report/reduce/reduced_view.h"
#include "report/analysis/view.h"

enum { NCCL_NAME, NCCL_COMMUNICATOR, NCCL_RANKS, NR_NCCL };
enum { COPY_SEEN_BY, COPY_ASYNC, COPY_NAME, NR_COPY };
enum { KIND_NAME = 1, NR_KIND };

#define COPY_COLUMNS                                                                             \
	{                                                                                        \
		{"seen_by", "Seen by", TABLE_TEXT, true}, {"async", "Async", TABLE_TEXT, false}, \
			{"name", "Operation", TABLE_NAME, false},                                \
	}

static const struct {
	const char *title;
	unsigned int nr;
	struct table_column columns[REDUCED_NAME_COLUMNS];
} layouts[NR_REDUCED_VIEWS] = {
	[REDUCED_OPERATOR] = {"Operators", 1, {{"name", "Operator", TABLE_NAME, false}}},
	[REDUCED_KERNEL] = {"Kernels", 1, {{"name", "Kernel", TABLE_NAME, false}}},
	[REDUCED_COLLECTIVE] = {"Collectives", 1, {{"name", "Kernel", TABLE_NAME, false}}},
	[REDUCED_MEMCPY] = {"Memory copies", NR_COPY, COPY_COLUMNS},
	[REDUCED_MEMSET] = {"Memory sets", NR_COPY, COPY_COLUMNS},
	[REDUCED_API] = {"API calls", NR_KIND,
		{{"api", "API", TABLE_TEXT, false}, {"name", "Call", TABLE_NAME, false}}},
	[REDUCED_NVTX] = {"NVTX ranges", NR_KIND,
		{{"style", "Style", TABLE_TEXT, false}, {"name", "Range", TABLE_NAME, false}}},
	[REDUCED_NCCL] = {"NCCL operations", NR_NCCL,
		{{"name", "Operation", TABLE_TEXT, false},
			{"communicator", "Communicator", TABLE_TEXT, false},
			{"ranks", "Ranks", TABLE_COUNT, false}}},
};

const char *reduced_name_title(enum reduced_view view)
{
	return layouts[view].title;
}

unsigned int reduced_name_columns(enum reduced_view view, struct table_column *columns)
{
	for (unsigned int i = 0; i < layouts[view].nr; i++) {
		columns[i] = layouts[view].columns[i];
	}
	return layouts[view].nr;
}

static void fill_copy(const struct reduced_key *key, struct table_cell *cells)
{
	table_set_string(&cells[COPY_SEEN_BY],
		key->kind & COPY_IS_HOST_CALL ? "host calls" : "device records");
	table_set_string(&cells[COPY_ASYNC], copy_async(key->kind));
	table_set_integer(&cells[COPY_NAME], key->name);
}

static void fill_nccl(const struct reduced_key *key, struct table_cell *cells)
{
	uint32_t nr_ranks = REDUCED_NCCL_RANKS(key->kind);

	table_set_string(&cells[NCCL_NAME], nccl_names_op((uint8_t)key->kind));
	if (key->name) {
		table_set_string(&cells[NCCL_COMMUNICATOR], string_pool_text(key->name, NULL));
	}
	if (nr_ranks) {
		table_set_integer(&cells[NCCL_RANKS], nr_ranks);
	}
}

void reduced_name_fill(const struct reduced_key *key, struct table_cell *cells)
{
	switch (key->view) {
	case REDUCED_MEMCPY:
	case REDUCED_MEMSET:
		fill_copy(key, cells);
		return;
	case REDUCED_NCCL:
		fill_nccl(key, cells);
		return;
	case REDUCED_API:
	case REDUCED_NVTX:
		table_set_string(cells, key->view == REDUCED_API ? api_name(key->kind)
								 : view_nvtx_style(key->kind));
		table_set_integer(&cells[KIND_NAME], key->name);
		return;
	default:
		table_set_integer(cells, key->name);
	}
}
