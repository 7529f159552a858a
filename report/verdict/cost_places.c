/* SPDX-License-Identifier: Apache-2.0 */
/* Sums the places of a cause over processes, and writes them into findings. */
#include "report/verdict/cost_places.h"

#include <math.h>
#include <string.h>

#include "report/model/os_files.h"
#include "report/model/py_stack.h"
#include "report/util/string_pool.h"
#include "report/util/text.h"

/* A sentence that does not fit cuts the name of a place down to so many columns. */
#define MIN_NAME_WIDTH 16u

/* Which name of a place a sentence has. */
enum place_name { NAME_NONE, NAME_CALL, NAME_OPERATOR, NAME_COLLECTIVE };

/*
 * The costs of places that are a cause's own, as bits of enum gap_cost, and what its sentence says
 * between the share of a place and its name. Calls that launch have the same few names, so their
 * operators are named.
 */
static const struct {
	unsigned int costs;
	enum place_name name;
	const char *words;
} causes[NR_VERDICT_CAUSES] = {
	[VERDICT_STARTUP] = {.costs = 1u << GAP_COST_STARTUP},
	[VERDICT_LOADER] = {.costs = 1u << GAP_COST_LOADER},
	[VERDICT_GC] = {.costs = 1u << GAP_COST_GC},
	[VERDICT_COMPILATION] = {.costs = 1u << GAP_COST_COMPILATION},
	[VERDICT_OS] = {1u << GAP_COST_OS, NAME_CALL, "of that in"},
	[VERDICT_READBACK] = {.costs = 1u << GAP_COST_WAIT},
	[VERDICT_ALLOCATION] = {1u << GAP_COST_ALLOCATION, NAME_CALL, "of that in"},
	[VERDICT_LAUNCH] = {1u << GAP_COST_HOST, NAME_OPERATOR, "of that for"},
	[VERDICT_USER] = {1u << GAP_COST_USER, NAME_OPERATOR, "of that before"},
	[VERDICT_COPIES] = {1u << GAP_COST_UPLOAD, NAME_OPERATOR, "of that in"},
	[VERDICT_COMMUNICATION] = {1u << GAP_COST_COMMUNICATION, NAME_COLLECTIVE, "of it in"},
	[VERDICT_GAPS] = {1u << GAP_COST_LATENCY, NAME_OPERATOR, "of their time before"},
};

static struct gap_place_key shown_key(
	const struct advice_facts *facts, const struct gap_place_key *place, uint32_t number)
{
	static const char outside[] = "(outside of operators)";
	struct gap_place_key key = *place;

	key.py_stack = key.py_stack ? py_stack_text(facts->process, key.py_stack) : 0;
	if (number == BUDGET_SITE_NOTHING && !facts->has_gpu) {
		/* Nothing is ever launched there. */
		key.what = string_pool_intern(outside, strlen(outside));
	}
	return key;
}

/*
 * A collective is named by PyTorch's range around it, where there is one, since one kernel serves
 * several kinds.
 */
static struct gap_place_key named_key(const struct gap_place_key *place, enum verdict_cause cause)
{
	enum place_name name = causes[cause].name;
	uint32_t op = place->op;

	if (name == NAME_COLLECTIVE && advice_is_nccl_range(string_pool_text(op, NULL))) {
		name = NAME_OPERATOR;
	}
	return (struct gap_place_key){.what = name == NAME_OPERATOR ? op : place->what};
}

/*
 * Sums the places of all processes that count, by what is shown of them, or (is_named) by the name
 * that a sentence has.
 */
static struct advice_sites sum_places(
	const struct verdict *verdict, enum verdict_cause cause, unsigned int costs, bool is_named)
{
	struct advice_sites sites = {0};

	for (size_t i = 0; i < verdict->headline.nr_processes; i++) {
		const struct advice_facts *facts = &verdict->advice.facts[i];
		const struct gap_places *places = &facts->gap_places;

		for (size_t k = 0; verdict->headline.processes[i].is_main && k < places->nr_sums;
			k++) {
			const struct gap_place_sum *sum = &places->sums[k];
			const struct gap_place_key *place = gap_places_key(places, sum->place);

			if (sum->group.counts && costs & 1u << sum->cost) {
				struct gap_place_key key =
					is_named ? named_key(place, cause)
						 : shown_key(facts, place, sum->place);

				advice_sites_add_sum(&sites, ADVICE_GAP, ADVICE_LATER,
					&(struct advice_sum){sum->nr, sum->ns}, &key);
			}
		}
	}
	return sites;
}

struct cost_place cost_place_find(
	const struct verdict *verdict, const struct verdict_finding *finding)
{
	const struct advice_site *top[ADVICE_NR_TOP_SITES] = {NULL};
	struct cost_place found = {.width = VERDICT_NAME_WIDTH};
	struct advice_sites sites;
	struct advice_sum all;
	double all_ns;

	/* Without a GPU nothing is launched in the end. */
	if (!causes[finding->cause].name ||
		(causes[finding->cause].name == NAME_OPERATOR && !verdict->figures.has_gpu)) {
		return found;
	}
	sites = sum_places(verdict, finding->cause, causes[finding->cause].costs, true);
	advice_sites_find_top(&sites, ADVICE_GAP, 1u << ADVICE_LATER, top);
	all = advice_sites_sum(&sites, ADVICE_GAP, 1u << ADVICE_LATER);
	/* A cause may cost more than its places, after waits. */
	all_ns = fmax(verdict_per_step(verdict, (double)all.ns), finding->reach_ns);
	for (unsigned int i = 0; i < ADVICE_NR_TOP_SITES && top[i] && !found.name; i++) {
		found.name = top[i]->key.place.what;
		found.pct = 100 * verdict_per_step(verdict, (double)top[i]->sums[ADVICE_LATER].ns) /
			    all_ns;
	}
	advice_sites_fini(&sites);
	return found.pct < CODE_PLACE_MIN_PCT ? (struct cost_place){0} : found;
}

void cost_place_add(
	const struct cost_place *place, const struct verdict_finding *finding, struct buf *out)
{
	uint32_t holder = finding->cause == VERDICT_OS ? os_files_holder(place->name) : 0;
	size_t nr_bytes;
	const char *name = string_pool_shown(holder ? holder : place->name, &nr_bytes);

	if (place->name) {
		buf_printf(out, ", %.1f %% %s ", place->pct,
			holder ? "of that for a lock held by" : causes[finding->cause].words);
		text_add_shown(out, name, nr_bytes, place->width);
	}
}

bool cost_place_narrow(struct cost_place *place)
{
	bool had = place->name;

	if (place->width > MIN_NAME_WIDTH) {
		place->width--;
	} else {
		place->name = 0;
	}
	return had;
}

bool cost_places_has(enum verdict_cause cause)
{
	return causes[cause].costs;
}

struct advice_mean cost_places_mean(const struct verdict *verdict)
{
	const struct headline_figures *figures = &verdict->figures;

	return (struct advice_mean){
		(double)figures->nr_step_rows, figures->has_steps ? " per step" : ""};
}

void cost_places_add(const struct verdict *verdict, const struct verdict_finding *finding,
	enum verdict_cause cause, struct buf *out)
{
	const struct headline_figures *figures = &verdict->figures;
	struct advice_mean mean = cost_places_mean(verdict);
	unsigned int costs = causes[cause].costs;
	struct advice_sites sites;

	if (finding->cause == VERDICT_STARTUP) {
		costs |= figures->has_steps ? 0 : 1u << GAP_COST_ALLOCATION;
		mean = (struct advice_mean){(double)figures->nr_processes, ""};
	}
	sites = sum_places(verdict, cause, costs, false);
	advice_sites_add_text(&sites, ADVICE_GAP, 1u << ADVICE_LATER, NULL, &mean, out);
	advice_sites_fini(&sites);
}
