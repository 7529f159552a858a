/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/flops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/string_pool.h"

#define MOST_DIMS    8u
#define MOST_TENSORS 4u
#define MOST_LISTS   4u

struct tensor {
	double dims[MOST_DIMS];
	unsigned int nr_dims;
};

struct inputs {
	struct tensor tensors[MOST_TENSORS]; /* without scalars and unknown inputs */
	struct tensor lists[MOST_LISTS];     /* of integers */
	unsigned int nr_tensors, nr_lists;
};

/* Parses "64,3]" and "2,2)"; false for any other form. */
static bool parse_dims(const char **at, char close, struct tensor *tensor)
{
	tensor->nr_dims = 0;
	while (**at != close) {
		char *end;
		long long dim = strtoll(*at, &end, 10);

		if (end == *at || dim < 0 || tensor->nr_dims == MOST_DIMS) {
			return false;
		}
		tensor->dims[tensor->nr_dims++] = (double)dim;
		*at = *end == ',' ? end + 1 : end;
		if (*end != ',' && *end != close) {
			return false;
		}
	}
	++*at;
	return true;
}

/* Parses "float32[64,3], scalar, ?, (2,2)"; false for any other form. */
static bool parse(const char *text, struct inputs *inputs)
{
	inputs->nr_tensors = inputs->nr_lists = 0;
	while (*(text += strcspn(text, "[("))) {
		bool is_list = *text++ == '(';
		unsigned int *nr = is_list ? &inputs->nr_lists : &inputs->nr_tensors;

		if (*nr == (is_list ? MOST_LISTS : MOST_TENSORS)) {
			break;
		}
		if (!parse_dims(&text, is_list ? ')' : ']',
			    is_list ? &inputs->lists[*nr] : &inputs->tensors[*nr])) {
			return false;
		}
		++*nr;
	}
	return inputs->nr_tensors > 0;
}

static double product(const struct tensor *tensor, unsigned int first, unsigned int end)
{
	double product = 1;

	for (unsigned int i = first; i < end; i++) {
		product *= tensor->dims[i];
	}
	return product;
}

/* Are the two tensors from `first` on [..., m, k] and [..., k, n], both with nr_dims dimensions? */
static bool matrices(const struct inputs *in, unsigned int first, unsigned int nr_dims, double *f)
{
	const struct tensor *a = &in->tensors[first], *b = a + 1;

	if (in->nr_tensors < first + 2 || a->nr_dims != nr_dims || b->nr_dims != nr_dims ||
		a->dims[nr_dims - 1] != b->dims[nr_dims - 2]) {
		return false;
	}
	*f = 2 * product(a, 0, nr_dims) * b->dims[nr_dims - 1];
	return true;
}

static bool mm(const struct inputs *in, double *f)
{
	return matrices(in, 0, 2, f);
}

static bool addmm(const struct inputs *in, double *f)
{
	return matrices(in, 1, 2, f);
}

static bool bmm(const struct inputs *in, double *f)
{
	return matrices(in, 0, 3, f);
}

static bool baddbmm(const struct inputs *in, double *f)
{
	return matrices(in, 1, 3, f);
}

/* The elements of the output without its channels; unknown strides count as 1, with padding. */
static bool convolved(const struct inputs *in, double *elements)
{
	const struct tensor *weight = &in->tensors[1];
	const struct tensor *stride = &in->lists[0], *padding = stride + 1, *dilation = stride + 2;
	const double *sizes = in->tensors[0].dims + in->tensors[0].nr_dims - (weight->nr_dims - 2);
	unsigned int nr = weight->nr_dims - 2;

	*elements = in->tensors[0].nr_dims == weight->nr_dims ? in->tensors[0].dims[0] : 1;
	for (unsigned int i = 0; i < nr && !in->nr_lists; i++) {
		*elements *= sizes[i];
	}
	if (!in->nr_lists) {
		return true;
	}
	if (in->nr_lists < 3 || stride->nr_dims != nr || padding->nr_dims != nr ||
		dilation->nr_dims != nr) {
		return false; /* the padding is a word: the operator inside it has the numbers */
	}
	for (unsigned int i = 0; i < nr; i++) {
		double last = sizes[i] + 2 * padding->dims[i] -
			      dilation->dims[i] * (weight->dims[i + 2] - 1) - 1;

		if (last < 0 || stride->dims[i] < 1) {
			return false;
		}
		*elements *= floor(last / stride->dims[i]) + 1;
	}
	return true;
}

/* An input without a batch has one dimension less. */
static bool is_convolution(const struct inputs *in)
{
	const struct tensor *input = &in->tensors[0], *weight = &in->tensors[1];

	return in->nr_tensors >= 2 && weight->nr_dims >= 3 &&
	       (input->nr_dims == weight->nr_dims || input->nr_dims + 1 == weight->nr_dims);
}

static bool convolution(const struct inputs *in, double *f)
{
	const struct tensor *weight = &in->tensors[1];
	double elements;

	if (!is_convolution(in) || !convolved(in, &elements)) {
		return false;
	}
	*f = 2 * elements * product(weight, 0, weight->nr_dims);
	return true;
}

/* Each element of the input meets all weights of its channel. */
static bool transposed(const struct inputs *in, double *f)
{
	const struct tensor *input = &in->tensors[0], *weight = &in->tensors[1];

	if (!is_convolution(in)) {
		return false;
	}
	*f = 2 * (input->nr_dims == weight->nr_dims ? input->dims[0] : 1) *
	     product(input, input->nr_dims - (weight->nr_dims - 2), input->nr_dims) *
	     product(weight, 0, weight->nr_dims);
	return true;
}

static bool attention(const struct inputs *in, double *f)
{
	const struct tensor *q = &in->tensors[0], *k = &in->tensors[1], *v = &in->tensors[2];
	unsigned int n = q->nr_dims;

	if (in->nr_tensors < 3 || n < 3 || k->nr_dims != n || v->nr_dims != n ||
		q->dims[n - 1] != k->dims[n - 1]) {
		return false;
	}
	*f = 2 * product(q, 0, n - 1) * k->dims[n - 2] * (q->dims[n - 1] + v->dims[n - 1]);
	return true;
}

static bool elementwise(const struct inputs *in, double *f)
{
	struct tensor all = {.nr_dims = 0};

	for (unsigned int i = 0; i < in->nr_tensors && i < 2; i++) {
		const struct tensor *one = &in->tensors[i];
		unsigned int nr_dims = all.nr_dims;

		all.nr_dims = one->nr_dims > all.nr_dims ? one->nr_dims : all.nr_dims;
		for (unsigned int k = 1; k <= one->nr_dims; k++) { /* from the last one on */
			double *dim = &all.dims[MOST_DIMS - k], size = one->dims[one->nr_dims - k];

			/* A dimension of 1 broadcasts, also to 0. */
			*dim = k > nr_dims || *dim == 1 ? size : *dim;
		}
	}
	*f = product(&all, MOST_DIMS - all.nr_dims, MOST_DIMS);
	return true;
}

static const struct {
	const char *name;
	bool (*count)(const struct inputs *inputs, double *flops);
} formulas[] = {
	{"mm", mm},
	{"addmm", addmm},
	{"bmm", bmm},
	{"baddbmm", baddbmm},
	{"conv1d", convolution},
	{"conv2d", convolution},
	{"conv3d", convolution},
	{"convolution", convolution},
	{"conv_transpose1d", transposed},
	{"conv_transpose2d", transposed},
	{"conv_transpose3d", transposed},
	{"_scaled_dot_product_flash_attention", attention},
	{"_scaled_dot_product_flash_attention_for_cpu", attention},
	{"_scaled_dot_product_efficient_attention", attention},
	{"_scaled_dot_product_cudnn_attention", attention},
	{"add", elementwise},
	{"add_", elementwise},
	{"sub", elementwise},
	{"sub_", elementwise},
	{"mul", elementwise},
	{"mul_", elementwise},
	{"div", elementwise},
	{"div_", elementwise},
	{"neg", elementwise},
	{"relu", elementwise},
	{"relu_", elementwise},
	{"clamp_min", elementwise},
	{"clamp_min_", elementwise},
	{"sqrt", elementwise},
	{"exp", elementwise},
	{"tanh", elementwise},
	{"sigmoid", elementwise},
	{"gelu", elementwise},
	{"silu", elementwise},
};

#define NR_FORMULAS (sizeof(formulas) / sizeof(formulas[0]))

/* The index of its formula; NR_FORMULAS: it has none. */
static size_t find_formula(uint32_t name)
{
	const char *text = string_pool_text(name, NULL);
	size_t i = strncmp(text, "aten::", 6) == 0 ? 0 : NR_FORMULAS;

	while (i < NR_FORMULAS && strcmp(text + 6, formulas[i].name) != 0) {
		i++;
	}
	return i;
}

/* Do others with a formula, conv2d and relu, call it to do their work? */
static bool is_inner(uint32_t name)
{
	static const char *const names[] = {
		"aten::convolution", "aten::clamp_min", "aten::clamp_min_"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(string_pool_text(name, NULL), names[i]) == 0) {
			return true;
		}
	}
	return false;
}

bool flops_may_count(uint32_t name, uint8_t framework, uint8_t scope)
{
	(void)framework;
	(void)scope;
	return find_formula(name) < NR_FORMULAS;
}

static bool count(uint32_t name, uint32_t shape, double *flops)
{
	size_t formula = find_formula(name);
	struct inputs inputs;

	return formula < NR_FORMULAS && parse(string_pool_text(shape, NULL), &inputs) &&
	       formulas[formula].count(&inputs, flops);
}

/* A cache of recent results: the same operators with the same shapes come in each step. */
#define NR_RECENT 1024u

static struct recent {
	double flops;
	uint32_t name, shape;
	bool is_set, is_known;
	bool is_inner;
} recent[NR_RECENT];

static const struct recent *find(uint32_t name, uint32_t shape)
{
	struct recent *found = &recent[(name * 31 + shape) % NR_RECENT];

	if (!found->is_set || found->name != name || found->shape != shape) {
		*found = (struct recent){.name = name, .shape = shape, .is_set = true};
		found->is_known = count(name, shape, &found->flops);
		found->is_inner = is_inner(name);
	}
	return found;
}

bool flops_of(uint32_t name, uint32_t shape, double *flops)
{
	const struct recent *found = find(name, shape);

	if (found->is_known) {
		*flops = found->flops;
	}
	return found->is_known;
}

/* Does an operator around it have its FLOPs? */
static bool is_counted_outside(const struct op *op)
{
	for (op = op->parent; op; op = op->parent) {
		if (op->shape && find(op->name, op->shape)->is_known) {
			return true;
		}
	}
	return false;
}

bool flops_of_op(const struct op *op, double *flops)
{
	const struct recent *found;

	if (!op->shape) {
		return false;
	}
	found = find(op->name, op->shape);
	if (!found->is_known) {
		return false;
	}
	*flops = found->flops;
	return !found->is_inner || !is_counted_outside(op);
}
