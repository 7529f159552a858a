/* SPDX-License-Identifier: Apache-2.0 */
/* Infers the size of a convolution's output from strides, its backward call, or what reads it. */
#include "report/ops/convolution.h"

#include <math.h>
#include <string.h>

#include "report/util/buf.h"
#include "report/util/hash.h"

/* ---- sizes ---- */

bool convolution_is(const struct input_shapes *inputs)
{
	const struct input_dims *input = &inputs->tensors[0], *weights = &inputs->tensors[1];

	/* An input without a batch has one dimension less. */
	return inputs->nr_tensors >= 2 && weights->nr >= 3 &&
	       (input->nr == weights->nr || input->nr + 1 == weights->nr);
}

/* The images and sizes of a tensor, without its channels, for weights of that many dimensions. */
static double positions_of(const struct input_dims *tensor, const struct input_dims *weights)
{
	return (tensor->nr == weights->nr ? tensor->sizes[0] : 1) *
	       input_dims_product(tensor, tensor->nr - (weights->nr - 2), tensor->nr);
}

double convolution_positions(const struct input_shapes *inputs)
{
	const struct input_dims *input = &inputs->tensors[0], *weights = &inputs->tensors[1];
	const struct input_dims *stride = inputs->lists, *padding = stride + 1,
				*dilation = stride + 2;
	unsigned int nr = weights->nr - 2;
	double positions = input->nr == weights->nr ? input->sizes[0] : 1;

	if (!inputs->nr_lists) {
		return inputs->positions;
	}
	if (inputs->nr_lists < 3 || stride->nr != nr || padding->nr != nr || dilation->nr != nr) {
		return 0; /* the padding is a word: the operator inside it has the numbers */
	}
	for (unsigned int i = 0; i < nr; i++) {
		double last = input->sizes[input->nr - nr + i] + 2 * padding->sizes[i] -
			      dilation->sizes[i] * (weights->sizes[i + 2] - 1) - 1;

		if (last < 0 || stride->sizes[i] < 1) {
			return 0;
		}
		positions *= floor(last / stride->sizes[i]) + 1;
	}
	return positions;
}

/* ---- backward calls ---- */

/* The order of their inputs; older versions of PyTorch have an operator for each library. */
static const struct {
	const char *name;
	unsigned int output, input;
} backward_names[] = {
	{"aten::convolution_backward", 0, 1},
	{"aten::thnn_conv2d_backward", 0, 1},
	{"aten::thnn_conv_depthwise2d_backward", 0, 1},
	{"aten::cudnn_convolution_backward", 1, 0},
	{"aten::cudnn_convolution_transpose_backward", 1, 0},
	{"aten::miopen_convolution_backward", 1, 0},
	{"aten::mkldnn_convolution_backward", 1, 0},
};

#define NR_BACKWARD_NAMES (sizeof(backward_names) / sizeof(backward_names[0]))

/* Do the weights lead from the one to the other? */
static bool is_forward(const struct input_dims *input, const struct input_dims *output,
	const struct input_dims *weights)
{
	unsigned int nr = weights->nr, channels = input->nr - (nr - 1);

	return output->sizes[channels] == weights->sizes[0] &&
	       (input->sizes[channels] != weights->sizes[0] ||
		       input_dims_product(output, channels + 1, output->nr) <=
			       input_dims_product(input, channels + 1, input->nr));
}

bool convolution_backward_of(
	uint32_t name, const struct input_shapes *inputs, struct convolution_backward *backward)
{
	const char *text = string_pool_text(name, NULL);
	size_t i = 0;

	while (i < NR_BACKWARD_NAMES && strcmp(text, backward_names[i].name) != 0) {
		i++;
	}
	if (i == NR_BACKWARD_NAMES || inputs->nr_tensors < 3) {
		return false;
	}
	*backward = (struct convolution_backward){
		.output = &inputs->tensors[backward_names[i].output],
		.input = &inputs->tensors[backward_names[i].input],
		.weights = &inputs->tensors[2],
	};
	return backward->weights->nr >= 3 && backward->input->nr == backward->output->nr &&
	       (backward->input->nr == backward->weights->nr ||
		       backward->input->nr + 1 == backward->weights->nr);
}

double convolution_backward_positions(const struct convolution_backward *backward)
{
	/* The weights of a transposed one lead from the output to the input. */
	return positions_of(is_forward(backward->input, backward->output, backward->weights)
				    ? backward->output
				    : backward->input,
		backward->weights);
}

/* ---- outputs of a process ---- */

struct convolution_output {
	struct {
		struct input_dims input, weights;
	} key;
	double positions; /* 0: not always the same */
	UT_hash_handle hh;
};

static void set_dims(struct input_dims *to, const struct input_dims *from)
{
	memset(to, 0, sizeof(*to)); /* it is part of a key */
	to->nr = from->nr;
	memcpy(to->sizes, from->sizes, from->nr * sizeof(*from->sizes));
}

static struct convolution_output *find_output(struct convolution_outputs *outputs,
	const struct input_dims *input, const struct input_dims *weights,
	struct convolution_output *key)
{
	struct convolution_output *found;

	memset(&key->key, 0, sizeof(key->key));
	set_dims(&key->key.input, input);
	set_dims(&key->key.weights, weights);
	HASH_FIND(hh, outputs->known, &key->key, sizeof(key->key), found);
	return found;
}

static void learn(
	struct convolution_outputs *outputs, uint32_t name, const struct input_shapes *inputs)
{
	struct convolution_backward backward;
	struct convolution_output key, *found;
	double positions;

	if (!convolution_backward_of(name, inputs, &backward) ||
		!is_forward(backward.input, backward.output, backward.weights)) {
		return;
	}
	positions = positions_of(backward.output, backward.weights);
	found = find_output(outputs, backward.input, backward.weights, &key);
	if (!found) {
		found = mem_zeroed(1, sizeof(*found));
		found->key = key.key;
		found->positions = positions;
		HASH_ADD(hh, outputs->known, key, sizeof(found->key), found);
	} else if (found->positions != positions) {
		found->positions = 0;
	}
}

/* Can a stride and a padding below the weights' size give this size of the output? */
static bool is_possible(double input, double weights, double output)
{
	double stride = 1;

	if (output < 1) {
		return false;
	}
	if (input > weights) { /* the least one, without padding */
		stride = floor((input - weights) / output) + 1;
	}
	return output <= floor((input + weights - 2) / stride) + 1;
}

static bool is_output(const struct input_dims *tensor, const struct input_dims *input,
	const struct input_dims *weights)
{
	unsigned int nr = weights->nr - 2, channels = input->nr - nr - 1;

	if (tensor->nr != input->nr || tensor->sizes[channels] != weights->sizes[0] ||
		(channels && tensor->sizes[0] != input->sizes[0])) {
		return false;
	}
	for (unsigned int i = 0; i < nr; i++) {
		if (!is_possible(input->sizes[channels + 1 + i], weights->sizes[i + 2],
			    tensor->sizes[channels + 1 + i])) {
			return false;
		}
	}
	return true;
}

/*
 * Looks at the operators that the thread runs later, up to the next convolution, for an input that
 * may be this output. It need not be the output itself: kernels that are no operators, such as
 * those of a compiled graph, may stand in between.
 */
static double read_later(const struct convolution_later *later, const struct input_shapes *inputs)
{
	const struct input_dims *input = &inputs->tensors[0], *weights = &inputs->tensors[1];

	for (unsigned int i = later->nr; i > 0 && later->nr - i < CONVOLUTION_LATER; i--) {
		const struct convolution_later_op *op = &later->ops[(i - 1) % CONVOLUTION_LATER];
		struct input_shapes next;

		if (op->is_convolution) {
			break;
		}
		if (!input_shapes_read(op->shape, &next)) {
			continue;
		}
		for (unsigned int k = 0; k < next.nr_tensors; k++) {
			if (is_output(&next.tensors[k], input, weights)) {
				return positions_of(&next.tensors[k], weights);
			}
		}
	}
	return 0;
}

static bool is_convolution(const struct op *op)
{
	return op_kind(op->name, op->framework, op->scope)->is_convolution;
}

/*
 * The call that does the work for another convolution has the same output as that one. In a
 * backward pass the gradients come first, so learn() has seen them when their forward call comes.
 */
static double infer(struct convolution_outputs *outputs, const struct convolution_later *later,
	const struct op *op)
{
	const char *text = string_pool_text(op->name, NULL);
	struct convolution_output key, *found;
	struct input_shapes inputs;

	if (op->parent && is_convolution(op->parent)) {
		return op->parent->positions;
	}
	if (!input_shapes_read(op->shape, &inputs)) {
		return 0;
	}
	if (strstr(text, "backward")) {
		learn(outputs, op->name, &inputs);
		return 0;
	}
	if (strstr(text, "transpose") || inputs.nr_lists || !convolution_is(&inputs)) {
		return 0;
	}
	found = find_output(outputs, &inputs.tensors[0], &inputs.tensors[1], &key);
	return found && found->positions > 0 ? found->positions : read_later(later, &inputs);
}

void convolution_outputs_take(
	struct convolution_outputs *outputs, struct convolution_later *later, struct op *op)
{
	bool is_one = is_convolution(op);

	if (is_one) {
		op->positions = infer(outputs, later, op);
	}
	later->ops[later->nr++ % CONVOLUTION_LATER] =
		(struct convolution_later_op){op->shape, is_one};
}

void convolution_outputs_fini(struct convolution_outputs *outputs)
{
	hash_free(outputs->known);
}
