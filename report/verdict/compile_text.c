/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compilations that ranges mark have times of their own, and the sentence says no line. Those that
 * samples show are estimates, with the line that called them. Where a run has both, the kind with
 * most of the time is named.
 */
#include "report/verdict/compile_text.h"

#include "report/util/idmap.h"

/* A line with a smaller share of the time is not named. */
#define MOST_SHARE 0.5

/* Most of the compilations: who compiles, and for which line. */
struct compiling {
	enum op_compiler compiler;
	uint32_t line; /* of string_pool.h; 0: unknown, or none has most of the time */
	bool is_sampled;
	bool has_others, has_other_lines; /* the steps that compile are not all theirs */
};

struct line_sum {
	uint64_t ns;
	uint32_t line;
	uint8_t compiler; /* enum op_compiler */
};

/* The sampled compilations of all processes that count. */
struct sampled_sums {
	struct idmap lines; /* struct line_sum, by text */
	uint64_t compiler_ns[NR_OP_COMPILERS], ns;
};

static void add_sampled(const struct headline_process *at, bool is_later, struct sampled_sums *sums)
{
	for (size_t i = 0; i < at->compiled.nr; i++) {
		const struct sampled_compilation *item = &at->compiled.items[i];
		uint64_t ns = item->end_ns - item->begin_ns;
		struct line_sum *line;

		if (is_later && item->step <= 1) {
			continue; /* that of the first step is no cause */
		}
		line = idmap_put(&sums->lines, sampled_compilation_text(item));
		line->line = item->line;
		line->compiler = item->compiler;
		line->ns += ns;
		sums->compiler_ns[item->compiler] += ns;
		sums->ns += ns;
	}
}

/* Finds the compiler with most of the time, and its line. */
static struct compiling most_of(const struct sampled_sums *sums)
{
	struct compiling found = {.compiler = OP_COMPILER_NONE, .is_sampled = true};
	uint64_t most_ns = 0;

	for (unsigned int i = 1; i < NR_OP_COMPILERS; i++) {
		if (sums->compiler_ns[i] > sums->compiler_ns[found.compiler]) {
			found.compiler = (enum op_compiler)i;
		}
	}
	for (size_t i = 0; i < sums->lines.nr; i++) {
		const struct line_sum *line = idmap_at(&sums->lines, i);

		if (line->compiler == found.compiler && line->ns > most_ns) {
			most_ns = line->ns;
			found.line = line->line;
		}
	}
	found.has_others = sums->compiler_ns[found.compiler] < sums->ns;
	found.has_other_lines = most_ns < sums->ns;
	found.line = (double)most_ns < MOST_SHARE * (double)sums->ns ? 0 : found.line;
	return found;
}

/* If several compilers mark ranges, the sentence names JAX. */
static struct compiling compiling_of(const struct verdict *verdict)
{
	bool is_jax = verdict->figures.compilers >> OP_COMPILER_JAX & 1;
	struct compiling found = {.compiler = is_jax ? OP_COMPILER_JAX : OP_COMPILER_TORCH};
	double all_ns = verdict->compiling_ns * (double)verdict->nr_compiling;
	struct sampled_sums sums = {.ns = 0};

	idmap_init(&sums.lines, sizeof(struct line_sum));
	for (size_t i = 0; i < verdict->headline.nr_processes; i++) {
		const struct headline_process *at = &verdict->headline.processes[i];

		if (at->is_main) {
			add_sampled(at, verdict->compiles_later, &sums);
		}
	}
	if (sums.ns && 2 * (double)sums.ns > all_ns) {
		bool has_ranges = verdict->figures.compilers & ~(1u << OP_COMPILER_NONE);

		found = most_of(&sums);
		found.has_others |= has_ranges;
	}
	idmap_fini(&sums.lines);
	return found;
}

const char *compile_text_add(
	const struct verdict *verdict, const struct code_form *form, struct buf *out)
{
	const struct compiling compiling = compiling_of(verdict);
	const struct op_compiler_text *text = &op_compiler_texts[compiling.compiler];
	double nr = (double)verdict->nr_compiling, of = (double)verdict->nr_compared;

	buf_printf(out, "%s%s in ", compiling.has_others ? text->title : text->does,
		compiling.has_others ? " and others compile" : "");
	if (nr == of) {
		buf_text(out, "every step");
	} else if (verdict->figures.nr_processes == 1) {
		buf_printf(out, "%.0f of %.0f steps", nr, of);
	} else {
		buf_printf(out, "%.1f %% of steps", 100 * nr / of);
	}
	if (compiling.line) {
		buf_text(out, compiling.has_other_lines ? " mostly for " : " for ");
		code_form_add_line(compiling.line, form, out);
	}
	buf_text(out, compiling.is_sampled ? ", about " : ", ");
	advice_add_time(out, verdict->compiling_ns);
	buf_text(out, " in each");
	if (text->reason[0] && form->has_share) {
		buf_printf(out, " (%s says why)", text->reason);
	}
	return compiling.has_others ? "compiling once" : text->change;
}

void compile_text_add_startup(const struct verdict *verdict, struct buf *out)
{
	const struct compiling compiling = compiling_of(verdict);

	if (compiling.is_sampled) {
		buf_printf(out, "%s%s, by samples", op_compiler_texts[compiling.compiler].title,
			compiling.has_others ? " and others" : "");
	} else {
		buf_text(out, compiling.compiler == OP_COMPILER_JAX ? "compilation by JAX"
								    : "torch.compile");
	}
}
