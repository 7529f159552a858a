/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds up time by cause and call site, and shows the sites with most of it. facts.c adds as events
 * come, verdict.c adds the sites of several processes; advice.c and verdict.c show them.
 *
 * A site has a sum for each of the times first step, later steps and outside, so that a rule
 * chooses by a mask in the end. Sums of a cause stand beside those of its sites: shares need no
 * pass over them.
 */
#include "report/advice/facts.h"

#include <inttypes.h>

#include "report/util/hash.h"
#include "report/util/stack_text.h"
#include "report/util/string_pool.h"
#include "report/model/py_stack.h"
#include "report/util/text.h"

#define NAME_WIDTH  60u
#define STACK_WIDTH 100u

void advice_sites_fini(struct advice_sites *sites)
{
	hash_free(sites->sites);
	*sites = (struct advice_sites){0};
}

static void add(struct advice_sum *sum, uint64_t nr, uint64_t ns)
{
	sum->nr += nr;
	sum->ns = sum->ns + ns < ns ? UINT64_MAX : sum->ns + ns;
}

void advice_sites_add_sum(struct advice_sites *sites, enum advice_cause cause,
	enum advice_when when, const struct advice_sum *sum, const struct gap_place_key *place)
{
	struct advice_site *site, key = {.key = {cause, *place}};

	hash_put(sites->sites, key, &key.key, site);
	add(&site->sums[when], sum->nr, sum->ns);
	add(&sites->sums[cause][when], sum->nr, sum->ns);
}

void advice_sites_add(struct advice_sites *sites, enum advice_cause cause, enum advice_when when,
	uint64_t ns, const struct gap_place_key *place)
{
	advice_sites_add_sum(sites, cause, when, &(struct advice_sum){1, ns}, place);
}

static struct advice_sum sum_of(const struct advice_sum *sums, unsigned int mask)
{
	struct advice_sum sum = {0};

	for (unsigned int i = 0; i < NR_ADVICE_WHENS; i++) {
		if (mask & 1u << i) {
			add(&sum, sums[i].nr, sums[i].ns);
		}
	}
	return sum;
}

struct advice_sum advice_sites_sum(
	const struct advice_sites *sites, enum advice_cause cause, unsigned int mask)
{
	return sum_of(sites->sums[cause], mask);
}

/*
 * Puts a site among the first ones, which have falling times; of equal ones the first to come stays
 * before.
 */
static void rank(const struct advice_site **top, const struct advice_site *site, unsigned int mask)
{
	uint64_t ns = sum_of(site->sums, mask).ns;

	for (unsigned int i = 0; i < ADVICE_NR_TOP_SITES && site; i++) {
		if (!top[i] || sum_of(top[i]->sums, mask).ns < ns) {
			const struct advice_site *next = top[i];

			top[i] = site;
			site = next;
			ns = next ? sum_of(next->sums, mask).ns : 0;
		}
	}
}

void advice_sites_find_top(const struct advice_sites *sites, enum advice_cause cause,
	unsigned int mask, const struct advice_site **top)
{
	for (const struct advice_site *site = sites->sites; site; site = site->hh.next) {
		if (site->key.cause == cause &&
			(sum_of(site->sums, mask).nr || sum_of(site->sums, mask).ns)) {
			rank(top, site, mask);
		}
	}
}

const char *advice_sites_top(
	const struct advice_sites *sites, enum advice_cause cause, unsigned int mask)
{
	const struct advice_site *top[ADVICE_NR_TOP_SITES] = {NULL};

	advice_sites_find_top(sites, cause, mask, top);
	return top[0] ? string_pool_text(top[0]->key.place.what, NULL) : "";
}

static void add_name(struct buf *out, const char *before, uint32_t name, size_t width)
{
	size_t nr_bytes;
	const char *text = string_pool_shown(name, &nr_bytes);

	if (name) {
		buf_text(out, before);
		text_add_shown(out, text, nr_bytes, width);
	}
}

static void add_stack(struct buf *out, const char *before, uint32_t stack)
{
	size_t nr_bytes;
	const char *text = string_pool_shown(stack, &nr_bytes);

	buf_text(out, before);
	stack_text_add_cut(out, text, nr_bytes, STACK_WIDTH);
}

static void add_place(const struct gap_place_key *place, struct process *process, struct buf *out)
{
	uint32_t stack = place->py_stack;

	add_name(out, "", place->what, NAME_WIDTH);
	add_name(out, place->what ? " in " : "", place->op, NAME_WIDTH);
	if (stack) {
		add_stack(out, ", ", process ? py_stack_text(process, stack) : stack);
	}
}

static void add_amount(
	const struct advice_sum *sum, const struct advice_mean *mean, struct buf *out)
{
	double times = mean ? (double)sum->nr / mean->nr : (double)sum->nr;
	char time[TEXT_TIME_BYTES];

	buf_text(out, text_time(time, mean ? (double)sum->ns / mean->nr : (double)sum->ns));
	buf_text(out, mean ? mean->per : "");
	if (sum->nr && mean && *mean->per && times < 1) {
		if (sum->nr == 1) {
			buf_text(out, ", once");
		} else {
			buf_printf(out, ", %" PRIu64 " times", sum->nr);
		}
		buf_printf(out, " in %.0f steps:", mean->nr);
	} else if (sum->nr) {
		buf_printf(out, mean && times < 10 ? ", %.2g x" : ", %.0f x", times);
	}
	buf_char(out, ' ');
}

void advice_sites_add_text(const struct advice_sites *sites, enum advice_cause cause,
	unsigned int mask, struct process *process, const struct advice_mean *mean, struct buf *out)
{
	const struct advice_site *top[ADVICE_NR_TOP_SITES] = {NULL};

	advice_sites_find_top(sites, cause, mask, top);
	for (unsigned int i = 0; i < ADVICE_NR_TOP_SITES && top[i]; i++) {
		struct advice_sum sum = sum_of(top[i]->sums, mask);

		buf_text(out, i ? "; " : "");
		add_amount(&sum, mean, out);
		add_place(&top[i]->key.place, process, out);
	}
}

void advice_sites_add_names(const struct advice_sites *sites, enum advice_cause cause,
	unsigned int mask, struct process *process, struct buf *out)
{
	const struct advice_site *top[ADVICE_NR_TOP_SITES] = {NULL};

	advice_sites_find_top(sites, cause, mask, top);
	for (unsigned int i = 0; i < ADVICE_NR_TOP_SITES && top[i]; i++) {
		buf_text(out, i ? "; " : "");
		add_place(&top[i]->key.place, process, out);
	}
}
