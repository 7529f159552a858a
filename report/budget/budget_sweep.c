/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides a stretch of a step among the parts of the budget, from its end to its begin, when
 * budget.c closes it. At each time the first part that is busy counts, and between busy ones are
 * the gaps of the GPU, which are divided by what the launching thread did:
 *
 *   computing             ====          ====
 *   communication      ======                    hidden where a kernel computes
 *   launching thread   [op]   [wait][l]          it launches the work behind the gap
 *   time               ccc====  gap     ====     ccc: communication, what is left of it
 *                      <-------------------- the sweep
 */
#include "report/budget/budget_sweep.h"

#include <string.h>

#include "report/util/buf.h"
#include "report/util/heap.h"

/* ---- busy parts ---- */

/* The latest interval of each part that begins before the time that the sweep has reached. */
struct sweep {
	struct budget *budget;
	struct budget_step *step;
	uint64_t begin;
	struct interval at[NR_BUDGET_BUSY];
	unsigned int has; /* bits of the parts that have one */
	struct host_sweep host;
};

static inline void go_before(struct sweep *sweep, unsigned int part, uint64_t now)
{
	while (sweep->has >> part & 1 && sweep->at[part].begin >= now) {
		if (!interval_queue_pop(&sweep->budget->busy[part], &sweep->at[part])) {
			sweep->has &= ~(1u << part);
		}
	}
}

/*
 * Returns the part that the time just before `now` counts for; it does so back to *until. Parts
 * behind that one wait: what it covers of them is skipped at once. NR_BUDGET_BUSY: GPUs were idle.
 */
static unsigned int find_part(struct sweep *sweep, uint64_t now, uint64_t *until)
{
	for (unsigned int parts = sweep->has; parts; parts &= parts - 1) {
		unsigned int i = (unsigned int)__builtin_ctz(parts);
		const struct interval *at = &sweep->at[i];

		go_before(sweep, i, now);
		if (!(sweep->has >> i & 1)) {
			continue;
		}
		if (at->end >= now) {
			*until = at->begin > *until ? at->begin : *until;
			return i;
		}
		*until = at->end > *until ? at->end : *until;
	}
	return NR_BUDGET_BUSY;
}

/* ---- the work that may end gaps, that which begins last first ---- */

static struct budget_work *add_to(struct budget_works *works)
{
	works->items = array_grow(works->items, works->nr, &works->capacity, sizeof(*works->items));
	return &works->items[works->nr++];
}

/* Moves the items to the begin of their memory, where most of that is free. */
static void make_room(struct budget_works *works)
{
	if (works->nr == works->capacity && works->head > works->nr / 2) {
		works->nr -= works->head;
		memmove(works->items, works->items + works->head,
			works->nr * sizeof(*works->items));
		works->head = 0;
	}
}

/* Returns the run that the work continues, the one that ends closest to it; NULL: none. */
static struct budget_works *run_of(struct budget *budget, const struct budget_work *work)
{
	struct budget_works *found = NULL;
	uint64_t begin = UINT64_MAX; /* of the last work of that run */

	for (unsigned int i = 0; i < BUDGET_RUNS; i++) {
		struct budget_works *run = &budget->runs[i];
		uint64_t last = run->head == run->nr ? UINT64_MAX : run->items[run->nr - 1].begin;

		if (work->begin <= last && (!found || last < begin)) {
			found = run;
			begin = last;
		}
	}
	return found;
}

void budget_sweep_add_work(struct budget *budget, const struct budget_work *work)
{
	struct budget_works *works = run_of(budget, work);

	budget->nr_works++;
	if (works) {
		make_room(works);
		*add_to(works) = *work;
		return;
	}
	works = &budget->stray_works;
	add_to(works);
	heap_push(works->items, works->nr - 1, sizeof(*work), offsetof(struct budget_work, begin),
		work);
}

static inline void pass_work(struct budget *budget, const struct budget_work *work)
{
	budget->nr_works--;
	if (!budget->next.begin || work->begin < budget->next.begin ||
		(work->begin == budget->next.begin && work->launch_end < budget->next.launch_end)) {
		budget->next = *work;
	}
}

static void pass_strays(struct budget *budget, uint64_t time)
{
	struct budget_works *strays = &budget->stray_works;

	while (strays->nr && strays->items[0].begin >= time) {
		pass_work(budget, &strays->items[0]);
		strays->nr--;
		heap_drop(strays->items, strays->nr, sizeof(strays->items[0]),
			offsetof(struct budget_work, begin), &strays->items[strays->nr]);
	}
}

/*
 * Drops the work that begins at or after a time, behind the sweep. The first of it, by its launch,
 * becomes `next`.
 */
static void pass_works(struct budget *budget, uint64_t time)
{
	for (unsigned int i = 0; i < BUDGET_RUNS; i++) {
		struct budget_works *run = &budget->runs[i];

		while (run->head < run->nr && run->items[run->head].begin >= time) {
			pass_work(budget, &run->items[run->head++]);
		}
	}
	pass_strays(budget, time);
}

/* ---- gaps ---- */

/* Adds time in which the GPU waited although its work was launched. */
static void add_late(struct sweep *sweep, struct budget_gap *gap, enum budget_part part,
	unsigned int slot, uint64_t begin)
{
	gap->ns[part - BUDGET_HOST] = gap->end - begin;
	if (sweep->budget->has_late) {
		host_sweep_add(&sweep->host, slot, begin, gap->end, sweep->step->late_ns, NULL);
	}
}

/* Was the gap opened by a wait? host_sweep_add has added what its launching thread did. */
static bool is_drained(struct sweep *sweep, const struct budget_gap *gap, unsigned int slot)
{
	struct host_sweep *host = &sweep->host;

	if (gap->begin <= sweep->begin) {
		return false;
	}
	return host_sweep_is_in(host, slot, HOST_WAIT, gap->begin) ||
	       (sweep->budget->next.begin &&
		       host_sweep_is_handed_over(host, slot, gap->begin, sweep->step->begin_ns));
}

/*
 * Divides a gap, from its end to its begin:
 *
 *   gap       |------------------------|[work]
 *   launch         [launch call]
 *             |-----------------|         what the launching thread did: gap->ns by state
 *                               |------|  latency: launched, and not yet begun
 */
static void divide_gap(struct sweep *sweep, struct budget_gap *gap)
{
	const struct budget_work *work = &sweep->budget->next;
	uint64_t begin = gap->begin, end = gap->end, launched, late_ns;
	bool is_last = !work->begin;
	unsigned int slot = is_last ? sweep->budget->last_slot : work->slot;

	gap->launch = (struct budget_site){.site = BUDGET_SITE_NOTHING};
	gap->is_cut = is_last || work->begin > end;
	if (!is_last) {
		gap->launch = (struct budget_site){work->launch_end, work->site};
	}
	launched = is_last || work->launch_end > end ? end : work->launch_end;
	launched = launched > begin ? launched : begin;
	late_ns = end - launched;
	if (launched == begin || (late_ns > BUDGET_LATENCY_NS && late_ns > (end - begin) / 2)) {
		add_late(sweep, gap,
			end - begin > BUDGET_QUEUE_NS ? BUDGET_DEPENDENCY : BUDGET_LATENCY, slot,
			begin);
		return;
	}
	add_late(sweep, gap, BUDGET_LATENCY, slot, launched);
	host_sweep_add(&sweep->host, slot, begin, launched, gap->ns, sweep->budget->code);
	gap->is_of_host = true;
	gap->is_drained = is_drained(sweep, gap, slot);
}

/* Adds a gap to its step. Most are latency alone. */
static void add_parts(struct budget_step *step, const struct budget_gap *gap)
{
	step->ns[BUDGET_LATENCY] += gap->ns[BUDGET_LATENCY - BUDGET_HOST];
	step->ns[BUDGET_DEPENDENCY] += gap->ns[BUDGET_DEPENDENCY - BUDGET_HOST];
	for (unsigned int i = 0; i <= NR_HOST_STATES && gap->is_of_host; i++) {
		step->ns[BUDGET_HOST + i] += gap->ns[i];
	}
	for (unsigned int i = 0; i <= NR_HOST_STATES && gap->is_drained; i++) {
		step->drained_ns[i] += gap->ns[i];
	}
}

/* For gap_owners_divide. */
struct giving {
	const struct sweep *sweep;
	enum budget_part part;
};

static void give(void *context, const struct budget_site *site, uint64_t ns)
{
	const struct giving *giving = context;
	const struct budget *budget = giving->sweep->budget;

	budget->on_owned(budget->gap_context, giving->sweep->step, giving->part, site, ns);
}

/* Many calls may share a gap: each gets its part of it. */
static void add_owners(struct sweep *sweep, const struct budget_gap *gap)
{
	static const struct budget_site unknown = {.site = BUDGET_SITE_UNKNOWN};

	for (unsigned int i = 0; i < NR_HOST_STATES; i++) {
		const struct gap_owner of = {
			.begin = gap->begin, .end = gap->end, .state = (uint8_t)i};
		struct giving giving = {sweep, BUDGET_HOST + i};

		if (gap->ns[i] && budget_is_divided(gap, i) &&
			!gap_owners_divide(
				&sweep->budget->owners, &of, gap->ns[i], give, &giving)) {
			give(&giving, &unknown, gap->ns[i]);
		}
	}
}

static void add_gap(struct sweep *sweep, uint64_t begin, uint64_t end)
{
	const struct budget *budget = sweep->budget;
	struct budget_gap gap;

	/* In pieces: for all of it compilers write a loop that takes longer than the gap's sums. */
	gap.step = sweep->step;
	gap.begin = begin;
	gap.end = end;
	gap.is_of_host = gap.is_drained = false;
	memset(gap.ns, 0, sizeof(gap.ns));
	pass_works(sweep->budget, end);
	divide_gap(sweep, &gap);
	add_parts(sweep->step, &gap);
	if (budget->code) {
		code_samples_close(budget->code, sweep->step->place, gap.is_drained);
	}
	if (!budget->on_gap) {
		return;
	}
	memset(gap.owners, 0, sizeof(gap.owners));
	if (budget->on_owned && gap.is_of_host) {
		add_owners(sweep, &gap);
	}
	if (budget->site_of && gap.is_of_host) {
		gap_owners_find(&sweep->budget->owners, begin, end, gap.owners);
	}
	budget->on_gap(budget->gap_context, &gap);
}

static void begin_sweep(struct sweep *sweep)
{
	struct budget *budget = sweep->budget;

	for (unsigned int i = 0; i < NR_BUDGET_BUSY; i++) {
		sweep->at[i].begin = UINT64_MAX;
	}
	sweep->has = (1u << NR_BUDGET_BUSY) - 1;
	host_sweep_begin(&sweep->host, &budget->host);
}

/* Forgets what begins later than the sweep's begin, and keeps the rest for an earlier step. */
static void end_sweep(struct sweep *sweep)
{
	struct budget *budget = sweep->budget;
	uint64_t begin = sweep->begin;

	for (unsigned int i = 0; i < NR_BUDGET_BUSY; i++) {
		go_before(sweep, i, begin);
		if (sweep->has >> i & 1) {
			interval_queue_push(&budget->busy[i], sweep->at[i].begin,
				sweep->at[i].end < begin ? sweep->at[i].end : begin);
		}
	}
	host_sweep_end(&sweep->host, begin);
	pass_works(budget, begin);
}

static const bool has_owner[NR_BUDGET_BUSY] = {[BUDGET_UPLOAD] = true,
	[BUDGET_DOWNLOAD] = true,
	[BUDGET_TRANSFER] = true,
	[BUDGET_COMMUNICATION] = true};

/* Hands on where that time of a busy part comes from. */
static void add_owned(struct sweep *sweep, enum budget_part part, uint64_t begin, uint64_t end)
{
	static const struct budget_site unknown = {.site = BUDGET_SITE_UNKNOWN};
	struct budget *budget = sweep->budget;
	enum budget_owned owned = part == BUDGET_UPLOAD	    ? BUDGET_OWNED_UPLOADS
				  : part == BUDGET_DOWNLOAD ? BUDGET_OWNED_DOWNLOADS
							    : BUDGET_OWNED_COMMUNICATION;

	while (end > begin) {
		uint64_t until = begin;
		const struct budget_site *site = busy_owners_at(&budget->owned[owned], end, &until);

		budget->on_owned(budget->gap_context, sweep->step, part, site ? site : &unknown,
			end - until);
		end = until;
	}
}

void budget_sweep(struct budget *budget, struct budget_step *step, uint64_t begin, uint64_t end)
{
	struct sweep sweep = {.budget = budget, .step = step, .begin = begin};
	uint64_t now = end;

	begin_sweep(&sweep);
	while (now > begin) {
		uint64_t until = begin;
		unsigned int part = find_part(&sweep, now, &until);

		if (part < NR_BUDGET_BUSY) {
			step->ns[part] += now - until;
			if (budget->on_owned && has_owner[part]) {
				add_owned(&sweep, (enum budget_part)part, until, now);
			}
		} else {
			add_gap(&sweep, until, now);
		}
		now = until;
	}
	end_sweep(&sweep);
}
