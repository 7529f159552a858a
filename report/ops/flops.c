/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts floating-point operations of a call from the shapes of its inputs: the formulas of the
 * header as a table of names. The operator views, roofline, MFU and PyTorch's styles ask for each
 * call. The trap is counting twice: conv2d calls convolution with the same inputs. `kind` says
 * which of them has the FLOPs, and flops_of_op() looks at the operators around a call where that
 * decides.
 */
#include "report/ops/flops.h"

#include <string.h>

#include "report/ops/convolution.h"
#include "report/ops/input_shapes.h"
#include "report/util/string_pool.h"

/* Channels: red, green, blue and another one. */
#define MAX_OF_IMAGE 4

/* Are the two tensors from `first` on [..., m, k] and [..., k, n], both with nr_dims dimensions? */
static bool matrices(
	const struct input_shapes *in, unsigned int first, unsigned int nr_dims, double *f)
{
	const struct input_dims *a = &in->tensors[first], *b = a + 1;

	if (in->nr_tensors < first + 2 || a->nr != nr_dims || b->nr != nr_dims ||
		a->sizes[nr_dims - 1] != b->sizes[nr_dims - 2]) {
		return false;
	}
	*f = 2 * input_dims_product(a, 0, nr_dims) * b->sizes[nr_dims - 1];
	return true;
}

static bool mm(const struct input_shapes *in, double *f)
{
	return matrices(in, 0, 2, f);
}

static bool addmm(const struct input_shapes *in, double *f)
{
	return matrices(in, 1, 2, f);
}

static bool bmm(const struct input_shapes *in, double *f)
{
	return matrices(in, 0, 3, f);
}

static bool baddbmm(const struct input_shapes *in, double *f)
{
	return matrices(in, 1, 3, f);
}

static bool convolution(const struct input_shapes *in, double *f)
{
	const struct input_dims *weights = &in->tensors[1];

	*f = convolution_is(in)
		     ? 2 * convolution_positions(in) * input_dims_product(weights, 0, weights->nr)
		     : 0;
	return *f > 0;
}

/* One of the gradients, of input or weights: they take as much as the forward call. */
static bool gradient(uint32_t name, const struct input_shapes *in, double *f)
{
	struct convolution_backward backward;

	if (!convolution_backward_of(name, in, &backward)) {
		return false;
	}
	*f = 2 * convolution_backward_positions(&backward) *
	     input_dims_product(backward.weights, 0, backward.weights->nr);
	return true;
}

/* Each element of the input meets all weights of its channel. */
static bool transposed(const struct input_shapes *in, double *f)
{
	const struct input_dims *input = &in->tensors[0], *weight = &in->tensors[1];

	if (!convolution_is(in)) {
		return false;
	}
	*f = 2 * (input->nr == weight->nr ? input->sizes[0] : 1) *
	     input_dims_product(input, input->nr - (weight->nr - 2), input->nr) *
	     input_dims_product(weight, 0, weight->nr);
	return true;
}

/* Queries, keys and values from `first` on, and so many products that run over E and over F. */
static bool attend(const struct input_shapes *in, unsigned int first, double nr_of_e,
	double nr_of_f, double *f)
{
	const struct input_dims *q = &in->tensors[first], *k = q + 1, *v = q + 2;
	unsigned int n = q->nr;

	if (in->nr_tensors < first + 3 || n < 3 || k->nr != n || v->nr != n ||
		q->sizes[n - 1] != k->sizes[n - 1]) {
		return false;
	}
	*f = 2 * input_dims_product(q, 0, n - 1) * k->sizes[n - 2] *
	     (nr_of_e * q->sizes[n - 1] + nr_of_f * v->sizes[n - 1]);
	return true;
}

static bool attention(const struct input_shapes *in, double *f)
{
	return attend(in, 0, 1, 1, f);
}

/* The scores once more, and gradients of queries and keys; gradients of scores and values. */
static bool attention_backward(const struct input_shapes *in, double *f)
{
	return attend(in, 1, 3, 2, f);
}

/* Sizes are aligned at the last dimension, so they stand at the end of `all`. */
static bool elementwise(const struct input_shapes *in, double *f)
{
	struct input_dims all = {.nr = 0};

	for (unsigned int i = 0; i < in->nr_tensors && i < 2; i++) {
		const struct input_dims *one = &in->tensors[i];
		unsigned int nr_dims = all.nr;

		all.nr = one->nr > all.nr ? one->nr : all.nr;
		for (unsigned int k = 1; k <= one->nr; k++) { /* from the last one on */
			double *dim = &all.sizes[INPUT_SHAPES_DIMS - k],
			       size = one->sizes[one->nr - k];

			/* A dimension of 1 broadcasts, also to 0. */
			*dim = k > nr_dims || *dim == 1 ? size : *dim;
		}
	}
	*f = input_dims_product(&all, INPUT_SHAPES_DIMS - all.nr, INPUT_SHAPES_DIMS);
	return true;
}

enum kind {
	KIND_WHOLE,
	KIND_INNER,    /* others with a formula, conv2d and relu, call it to do their work */
	KIND_BACKWARD, /* of a convolution: counts the gradients that its mask requests */
	KIND_BY_PARTS, /* the same: calls operators for them */
	KIND_PART,     /* one of these */
};

static const struct formula {
	const char *name;
	bool (*count)(const struct input_shapes *inputs, double *flops);
	enum kind kind;
} formulas[] = {
	{"mm", mm, KIND_WHOLE},
	{"addmm", addmm, KIND_WHOLE},
	{"bmm", bmm, KIND_WHOLE},
	{"baddbmm", baddbmm, KIND_WHOLE},
	{"conv1d", convolution, KIND_WHOLE},
	{"conv2d", convolution, KIND_WHOLE},
	{"conv3d", convolution, KIND_WHOLE},
	{"convolution", convolution, KIND_INNER},
	{"conv_transpose1d", transposed, KIND_WHOLE},
	{"conv_transpose2d", transposed, KIND_WHOLE},
	{"conv_transpose3d", transposed, KIND_WHOLE},
	{"convolution_backward", NULL, KIND_BACKWARD},
	{"thnn_conv2d_backward", NULL, KIND_BACKWARD},
	{"thnn_conv_depthwise2d_backward", NULL, KIND_BACKWARD},
	{"cudnn_convolution_backward", NULL, KIND_BY_PARTS},
	{"cudnn_convolution_transpose_backward", NULL, KIND_BY_PARTS},
	{"cudnn_convolution_transpose_backward_input", NULL, KIND_PART},
	{"cudnn_convolution_transpose_backward_weight", NULL, KIND_PART},
	{"miopen_convolution_backward", NULL, KIND_BY_PARTS},
	{"mkldnn_convolution_backward", NULL, KIND_BY_PARTS},
	{"cudnn_convolution_backward_input", NULL, KIND_PART},
	{"miopen_convolution_backward_input", NULL, KIND_PART},
	{"mkldnn_convolution_backward_input", NULL, KIND_PART},
	{"cudnn_convolution_backward_weight", NULL, KIND_PART},
	{"miopen_convolution_backward_weight", NULL, KIND_PART},
	{"mkldnn_convolution_backward_weights", NULL, KIND_PART},
	{"_scaled_dot_product_flash_attention", attention, KIND_WHOLE},
	{"_scaled_dot_product_flash_attention_for_cpu", attention, KIND_WHOLE},
	{"_scaled_dot_product_efficient_attention", attention, KIND_WHOLE},
	{"_scaled_dot_product_cudnn_attention", attention, KIND_WHOLE},
	{"_scaled_dot_product_flash_attention_backward", attention_backward, KIND_WHOLE},
	{"_scaled_dot_product_flash_attention_for_cpu_backward", attention_backward, KIND_WHOLE},
	{"_scaled_dot_product_efficient_attention_backward", attention_backward, KIND_WHOLE},
	{"_scaled_dot_product_cudnn_attention_backward", attention_backward, KIND_WHOLE},
	{"add", elementwise, KIND_WHOLE},
	{"add_", elementwise, KIND_WHOLE},
	{"sub", elementwise, KIND_WHOLE},
	{"sub_", elementwise, KIND_WHOLE},
	{"mul", elementwise, KIND_WHOLE},
	{"mul_", elementwise, KIND_WHOLE},
	{"div", elementwise, KIND_WHOLE},
	{"div_", elementwise, KIND_WHOLE},
	{"neg", elementwise, KIND_WHOLE},
	{"relu", elementwise, KIND_WHOLE},
	{"relu_", elementwise, KIND_WHOLE},
	{"clamp_min", elementwise, KIND_INNER},
	{"clamp_min_", elementwise, KIND_INNER},
	{"sqrt", elementwise, KIND_WHOLE},
	{"exp", elementwise, KIND_WHOLE},
	{"tanh", elementwise, KIND_WHOLE},
	{"sigmoid", elementwise, KIND_WHOLE},
	{"gelu", elementwise, KIND_WHOLE},
	{"silu", elementwise, KIND_WHOLE},
};

#define NR_FORMULAS (sizeof(formulas) / sizeof(formulas[0]))

/* NULL: it has none. */
static const struct formula *find_formula(uint32_t name)
{
	const char *text = string_pool_text(name, NULL);

	for (size_t i = 0; i < NR_FORMULAS && strncmp(text, "aten::", 6) == 0; i++) {
		if (strcmp(text + 6, formulas[i].name) == 0) {
			return &formulas[i];
		}
	}
	return NULL;
}

bool flops_may_count(uint32_t name, uint8_t framework, uint8_t scope)
{
	(void)framework;
	(void)scope;
	return find_formula(name) != NULL;
}

uint8_t flops_formula(const struct op *op)
{
	return find_formula(op->name) ? FLOPS_FORMULA : FLOPS_NO_FORMULA;
}

/*
 * Returns how many gradients a backward call computes. Without a recorded mask, the gradient of the
 * weights counts, and that of the input unless it is an image: with at most four channels, an input
 * needs none.
 */
static unsigned int nr_gradients(uint32_t name, const struct input_shapes *in)
{
	struct convolution_backward backward;
	const struct input_dims *input;

	if (in->has_mask) {
		return in->mask[0] + in->mask[1];
	}
	if (!convolution_backward_of(name, in, &backward)) {
		return 0;
	}
	input = backward.input;
	return input->sizes[input->nr - (backward.weights->nr - 1)] > MAX_OF_IMAGE ? 2 : 1;
}

/* A cache of recent results: the same operators with the same shapes come in each step. */
#define NR_RECENT 1024u

static struct recent {
	double positions, flops;
	uint32_t name, shape;
	bool is_set, is_known;
	bool lacks_size; /* a convolution whose output has an unknown size */
	enum kind kind;
} recent[NR_RECENT];

static void count(struct recent *found, const struct formula *formula)
{
	struct input_shapes in;

	if (!input_shapes_read(found->shape, &in)) {
		return;
	}
	in.positions = found->positions;
	if (formula->count) {
		found->is_known = formula->count(&in, &found->flops);
		found->lacks_size = !found->is_known && formula->count == convolution &&
				    convolution_is(&in) && !in.nr_lists;
		return;
	}
	found->is_known = gradient(found->name, &in, &found->flops);
	if (found->kind == KIND_BACKWARD) {
		found->flops *= nr_gradients(found->name, &in);
	}
}

/* Slots go by name and shape alone: a collision, or other positions, only cost time. */
static const struct recent *find(uint32_t name, uint32_t shape, double positions)
{
	struct recent *found = &recent[(name * 31 + shape) % NR_RECENT];
	const struct formula *formula;

	if (found->is_set && found->name == name && found->shape == shape &&
		found->positions == positions) {
		return found;
	}
	*found = (struct recent){
		.positions = positions, .name = name, .shape = shape, .is_set = true};
	formula = find_formula(name);
	if (formula) {
		found->kind = formula->kind;
		count(found, formula);
	}
	return found;
}

bool flops_of(uint32_t name, uint32_t shape, double positions, double *flops)
{
	const struct recent *found = find(name, shape, positions);

	if (!found->is_known || found->kind == KIND_BY_PARTS) {
		return false;
	}
	*flops = found->flops;
	return true;
}

/* The call around it that has the FLOPs of one gradient, and computes both by parts; else NULL. */
static const struct recent *find_whole(const struct op *op)
{
	const struct op *whole = op->parent;
	const struct recent *found =
		whole && whole->shape ? find(whole->name, whole->shape, 0) : NULL;

	return found && found->is_known && found->kind == KIND_BY_PARTS ? found : NULL;
}

/* Does an operator around it have its FLOPs? */
static bool is_counted_outside(const struct op *op)
{
	for (op = op->parent; op; op = op->parent) {
		if (op->shape && find(op->name, op->shape, op->positions)->is_known) {
			return true;
		}
	}
	return false;
}

/*
 * A part has the FLOPs of the call around it, which itself has none: each of its parts counts
 * once.
 */
static bool flops_of_run(const struct op *op, double *flops)
{
	const struct recent *found;

	if (!flops_may_be_of(op)) {
		return false;
	}
	found = find(op->name, op->shape, op->positions);
	if (found->kind == KIND_PART) {
		found = find_whole(op);
		*flops = found ? found->flops : 0;
		return found != NULL;
	}
	if (!found->is_known || found->kind == KIND_BY_PARTS) {
		return false;
	}
	*flops = found->flops;
	return found->kind != KIND_INNER || !is_counted_outside(op);
}

/* An operator inside a capture computes nothing until a launch of the graph runs it. */
bool flops_of_op(const struct op *op, double *flops)
{
	bool is_known = flops_of_run(op, flops);

	if (is_known && (op->is & OP_IS_CAPTURED)) {
		*flops = 0;
	}
	return is_known;
}

bool flops_lack_size(const struct op *op)
{
	const struct recent *found;

	if (!flops_may_be_of(op)) {
		return false;
	}
	found = find(op->name, op->shape, op->positions);
	if (found->kind == KIND_PART) {
		return !find_whole(op);
	}
	return found->lacks_size && !is_counted_outside(op);
}

bool flops_in_torch(uint32_t name)
{
	static const char *const names[] = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm",
		"aten::conv2d", "aten::mul", "aten::add"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(string_pool_text(name, NULL), names[i]) == 0) {
			return true;
		}
	}
	return false;
}
