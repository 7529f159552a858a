/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up the time of each part by its owners, and says which one has most. */
#include "report/budget/part_owners.h"

#include <stdlib.h>
#include <string.h>

#include "report/model/device_records.h"
#include "report/model/py_stack.h"
#include "report/util/buf.h"
#include "report/util/idmap.h"
#include "report/util/string_pool.h"

/* ---- places ---- */

static uint32_t stack_of(
	const struct process *process, const struct op_call *call, const struct op *op)
{
	if (call && call->py_stack) {
		return call->py_stack;
	}
	while (process->py_stacks.nr && op && !op->py_stack) {
		op = op->parent;
	}
	return op ? op->py_stack : 0;
}

static uint32_t site_of(
	void *context, uint32_t name, const struct op_call *call, const struct op *op)
{
	struct part_owners *owners = context;
	const struct op *around = call ? op : op->parent;
	struct gap_place_key key = {.what = name, .py_stack = stack_of(owners->process, call, op)};

	if (!name) {
		key.what = call ? os_files_call(&owners->files,
					  process_call_name(owners->process, call->call, NULL),
					  op_call_file(call))
				: op->name;
	}
	while (around && around->is & OP_IS_AROUND) {
		around = around->parent;
	}
	key.op = around		? around->name
		 : key.py_stack ? 0
				: gap_places_caller(owners->process, call);
	return gap_places_find(&owners->places, &key);
}

/* ---- sums ---- */

static void add(struct part_owners *owners, const struct budget_step *step, unsigned int part,
	uint32_t site, uint64_t ns)
{
	if (!ns || !owners->counted.counts[step->place]) {
		return;
	}
	if (site == BUDGET_SITE_NOTHING && !owners->has_devices) {
		return; /* nothing is ever launched: that names no owner */
	}
	if (site >= owners->nr_ns) {
		size_t nr = owners->places.capacity;

		owners->ns = mem_resize(owners->ns, nr, sizeof(*owners->ns));
		memset(owners->ns + owners->nr_ns, 0, (nr - owners->nr_ns) * sizeof(*owners->ns));
		owners->nr_ns = nr;
	}
	owners->ns[site][part] += ns;
}

static void on_gap(void *context, const struct budget_gap *gap)
{
	for (unsigned int i = 0; i < NR_BUDGET_IDLE; i++) {
		uint32_t site = i == HOST_OS ? gap->owners[i].site : gap->launch.site;

		if (!budget_is_divided(gap, i)) {
			add(context, gap->step, BUDGET_HOST + i, site, gap->ns[i]);
		}
	}
}

static void on_owned(void *context, const struct budget_step *step, enum budget_part part,
	const struct budget_site *site, uint64_t ns)
{
	add(context, step, part, site->site, ns);
}

void part_owners_begin(struct part_owners *owners, struct budget *budget)
{
	*owners = (struct part_owners){.process = budget->process,
		.has_devices = process_has_device_records(budget->process, NULL)};
	counted_steps_init(&owners->counted, budget->process, false);
	gap_places_init(&owners->places);
	os_files_begin(&owners->files, budget->process);
	budget->on_gap = on_gap;
	budget->on_owned = on_owned;
	budget->site_of = site_of;
	budget->gap_context = owners;
}

/* ---- the longest ---- */

struct owner_sum {
	uint32_t text;
	uint64_t ns[NR_BUDGET_PARTS];
};

/* As "cudaMemcpyAsync in aten::to, train.py(12): load". */
static uint32_t text_of(const struct part_owners *owners, uint32_t site)
{
	const struct gap_place_key *key = gap_places_key(&owners->places, site);
	const uint32_t names[] = {key->what, key->op,
		key->py_stack ? py_stack_text(owners->process, key->py_stack) : 0};
	static const char *const before[] = {"", " in ", ", "};
	struct buf text = {0};
	uint32_t id;

	for (unsigned int i = 0; i < 3; i++) {
		size_t nr_bytes;
		const char *name = string_pool_text(names[i], &nr_bytes);

		if (names[i]) {
			buf_text(&text, before[i]);
			buf_add(&text, name, nr_bytes);
		}
	}
	id = string_pool_intern(text.bytes, text.nr_bytes);
	buf_fini(&text);
	return id;
}

/* Stacks that differ only in what their texts leave out are one place. */
static void add_up(const struct part_owners *owners, struct idmap *sums)
{
	size_t nr = owners->nr_ns < owners->places.nr ? owners->nr_ns : owners->places.nr;

	for (uint32_t site = 0; site < nr; site++) {
		struct owner_sum *sum;
		uint32_t text;

		text = text_of(owners, site);
		sum = idmap_put(sums, text);
		sum->text = text;
		for (unsigned int part = 0; part < NR_BUDGET_PARTS; part++) {
			sum->ns[part] += owners->ns[site][part];
		}
	}
}

void part_owners_end(struct part_owners *owners, struct part_owner longest[NR_BUDGET_PARTS])
{
	struct idmap sums; /* by text */

	idmap_init(&sums, sizeof(struct owner_sum));
	add_up(owners, &sums);
	memset(longest, 0, NR_BUDGET_PARTS * sizeof(*longest));
	for (size_t i = 0; i < sums.nr; i++) {
		const struct owner_sum *sum = idmap_at(&sums, i);

		for (unsigned int part = 0; part < NR_BUDGET_PARTS; part++) {
			if (sum->ns[part] > longest[part].ns) {
				longest[part] = (struct part_owner){sum->text, sum->ns[part]};
			}
		}
	}
	idmap_fini(&sums);
	counted_steps_fini(&owners->counted);
	gap_places_fini(&owners->places);
	os_files_fini(&owners->files);
	free(owners->ns);
}
