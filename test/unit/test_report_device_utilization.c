/* SPDX-License-Identifier: Apache-2.0 */
#include "report/budget/device_utilization.h"

#include <stdlib.h>
#include <string.h>

#include "test/unit/unit.h"

#define ALL_NS	   5000u
#define NR_KERNELS 600u
#define NR_DEVICES 2u

struct made {
	struct device_kernel kernels[NR_KERNELS];
	/* What runs in each ns. */
	uint32_t running[NR_DEVICES][ALL_NS];
	double blocks[NR_DEVICES][ALL_NS];
};

/* Kernels of all lengths, some of them of no length, some at the same time. */
static void make(struct made *made)
{
	memset(made, 0, sizeof(*made));
	for (unsigned int i = 0; i < NR_KERNELS; i++) {
		struct device_kernel *kernel = &made->kernels[i];

		kernel->begin = (uint64_t)rand() % ALL_NS;
		kernel->end = kernel->begin + (uint64_t)rand() % (rand() % 8 ? 12 : 900);
		kernel->end = kernel->end < ALL_NS ? kernel->end : ALL_NS;
		kernel->device = (uint32_t)rand() % NR_DEVICES;
		kernel->blocks = (float)(rand() % 5) / 4; /* sums are exact in any order */
		kernel->percent = 50;
		kernel->tensor = TENSOR_NO;
		for (uint64_t ns = kernel->begin; ns < kernel->end; ns++) {
			made->running[kernel->device][ns]++;
			made->blocks[kernel->device][ns] += (double)kernel->blocks;
		}
	}
}

static int by_begin(const void *a, const void *b)
{
	const struct device_kernel *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void check(const struct made *made, const struct device_utilization *use)
{
	uint64_t busy_ns = 0, tensor_ns = 0;
	double sm_ns = 0;

	for (unsigned int ns = 0; ns < ALL_NS; ns++) {
		double blocks = made->blocks[use->device][ns];

		busy_ns += made->running[use->device][ns] > 0;
		tensor_ns += made->running[use->device][ns];
		sm_ns += blocks < 1 ? blocks : 1;
	}
	ck_assert_uint_eq(use->busy_ns, busy_ns);
	ck_assert_uint_eq(use->tensor_ns[TENSOR_NO], tensor_ns);
	ck_assert_double_eq_tol(use->sm_ns, sm_ns, 1e-6);
	ck_assert(use->is_sm_known);
}

enum order {
	FROM_THE_LAST,
	FROM_THE_FIRST,
	ANY,
};

static void check_order(struct made *made, enum order order)
{
	struct device_utilization *uses;
	struct device_work work;
	size_t nr;

	if (order != ANY) {
		qsort(made->kernels, NR_KERNELS, sizeof(*made->kernels), by_begin);
	}
	device_work_init(&work, NULL);
	for (unsigned int i = 0; i < NR_KERNELS; i++) {
		const struct device_kernel *kernel =
			&made->kernels[order == FROM_THE_LAST ? NR_KERNELS - 1 - i : i];

		*device_work_add_times(&work, kernel->begin, kernel->end) = *kernel;
	}
	uses = device_work_take(&work, 0, ALL_NS, &nr);
	ck_assert_uint_eq(nr, NR_DEVICES);
	for (size_t i = 0; i < nr; i++) {
		check(made, &uses[i]);
	}
	free(uses);
	uses = device_work_take(&work, 0, ALL_NS, &nr);
	ck_assert_uint_eq(nr, 0);
	free(uses);
	device_work_fini(&work);
}

/* Edges that would move far, as those from the first kernel on would, are sorted at the end. */
START_TEST(kernels_in_any_order_give_what_runs_in_each_ns)
{
	struct made *made = malloc(sizeof(*made));

	srand(1);
	for (unsigned int i = 0; i < 20; i++) {
		make(made);
		check_order(made, ANY);
		check_order(made, FROM_THE_FIRST);
		check_order(made, FROM_THE_LAST);
	}
	free(made);
}
END_TEST

UNIT_SUITE("report/device_utilization", kernels_in_any_order_give_what_runs_in_each_ns)
