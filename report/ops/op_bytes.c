/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates the bytes that an operator must move, for roofline, bandwidth and the operator views.
 * The sizes of the inputs are in the recorded shapes. The size of the result is not: it follows
 * from the kind of operator, and for convolutions and attention from the FLOPs that flops.c counts,
 * whose checks of the inputs serve here as well.
 */
#include "report/ops/op_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "report/ops/flops.h"
#include "report/util/string_pool.h"
#include "report/util/text.h"

#define MAX_DIMS    8u
#define MAX_TENSORS 4u

struct tensor {
	double dims[MAX_DIMS];
	unsigned int nr_dims;
	const char *type; /* "float32[64,3]" */
};

struct inputs {
	struct tensor tensors[MAX_TENSORS]; /* without scalars and unknown inputs */
	unsigned int nr_tensors;
};

static const struct {
	const char *name;
	double bytes;
	enum gpu_float number;
} types[] = {
	{"float32", 4, GPU_FLOAT32},
	{"float64", 8, GPU_FLOAT64},
	{"float16", 2, GPU_FLOAT16},
	{"bfloat16", 2, GPU_BFLOAT16},
	{"int64", 8, NR_GPU_FLOATS},
	{"int32", 4, NR_GPU_FLOATS},
	{"int16", 2, NR_GPU_FLOATS},
	{"int8", 1, NR_GPU_FLOATS},
	{"uint8", 1, NR_GPU_FLOATS},
	{"bool", 1, NR_GPU_FLOATS},
	{"complex64", 8, NR_GPU_FLOATS},
	{"complex128", 16, NR_GPU_FLOATS},
};
#define NR_TYPES (sizeof(types) / sizeof(types[0]))

/* The index of the type that the text begins with, NR_TYPES if it is another one. */
static size_t type_of(const char *text)
{
	size_t nr = strcspn(text, "["), i = 0;

	while (i < NR_TYPES &&
		(strlen(types[i].name) != nr || memcmp(text, types[i].name, nr) != 0)) {
		i++;
	}
	return i;
}

static bool parse_dims(const char **at, struct tensor *tensor)
{
	tensor->nr_dims = 0;
	while (**at != ']') {
		char *end;
		long long dim = strtoll(*at, &end, 10);

		if (end == *at || dim < 0 || tensor->nr_dims == MAX_DIMS) {
			return false;
		}
		tensor->dims[tensor->nr_dims++] = (double)dim;
		*at = end + (*end == ',');
	}
	return true;
}

/* Reads "float32[64,3], scalar, ?"; false for any other form, such as lists of tensors. */
static bool parse(const char *text, struct inputs *inputs)
{
	inputs->nr_tensors = 0;
	while (*text) {
		const char *at = text + strcspn(text, "[,");

		if (*at == '[') {
			struct tensor *tensor = &inputs->tensors[inputs->nr_tensors++];

			tensor->type = text;
			at++;
			if (!parse_dims(&at, tensor) || inputs->nr_tensors == MAX_TENSORS) {
				return false;
			}
			at++;
		}
		if (*at && *at != ',') {
			return false;
		}
		text = at + strspn(at, ", ");
	}
	return inputs->nr_tensors > 0;
}

static double elements(const struct tensor *tensor)
{
	double product = 1;

	for (unsigned int i = 0; i < tensor->nr_dims; i++) {
		product *= tensor->dims[i];
	}
	return product;
}

/*
 * The elements of the first inputs broadcast together, at most two; a dimension of 1 broadcasts,
 * also to 0.
 */
static double broadcast(const struct inputs *in, unsigned int nr_inputs)
{
	const struct tensor *a = &in->tensors[0];
	const struct tensor *b = &in->tensors[nr_inputs > 1 && in->nr_tensors > 1];
	double product = 1;

	for (unsigned int k = 1; k <= a->nr_dims || k <= b->nr_dims; k++) {
		double x = k <= a->nr_dims ? a->dims[a->nr_dims - k] : 1;
		double y = k <= b->nr_dims ? b->dims[b->nr_dims - k] : 1;

		product *= x == 1 ? y : x;
	}
	return product;
}

/*
 * The elements of the result of [..., m, k] and [..., k, n], the last two inputs; 0 if they are
 * none such.
 */
static double product(const struct inputs *in, unsigned int nr_inputs)
{
	const struct tensor *a = &in->tensors[nr_inputs - 2], *b = a + 1;
	unsigned int n = a->nr_dims;

	if (in->nr_tensors < nr_inputs || n < 2 || b->nr_dims != n ||
		a->dims[n - 1] != b->dims[n - 2]) {
		return 0;
	}
	return a->dims[n - 1] > 0 ? elements(a) / a->dims[n - 1] * b->dims[n - 1] : 0;
}

enum result {
	RESULT_BROADCAST, /* of the first two inputs */
	RESULT_PRODUCT,
	RESULT_CONVOLUTION,
	RESULT_ATTENTION,
};

/* Each element of the result takes as many operations as an output channel has weights. */
static double convolved(const struct inputs *in, double flops)
{
	const struct tensor *weight = &in->tensors[1];
	double weights = elements(weight);

	return weights > 0 ? flops / 2 / weights * weight->dims[0] : 0;
}

/* The result of q [...,L,E], k [...,S,E], v [...,S,F] is [...,L,F]. */
static double attended(const struct inputs *in)
{
	const struct tensor *q = &in->tensors[0], *v = &in->tensors[2];
	double width = q->dims[q->nr_dims - 1];

	return width > 0 ? elements(q) / width * v->dims[v->nr_dims - 1] : 0;
}

static const struct operator
{
	const char *name; /* without "aten::" and the _ of those that overwrite an input */
	unsigned int
		nr_inputs; /* that are read; further ones are scalars, or room for the result */
	enum result result;
}
operators[] = {
	{"mm", 2, RESULT_PRODUCT},
	{"addmm", 3, RESULT_PRODUCT},
	{"bmm", 2, RESULT_PRODUCT},
	{"baddbmm", 3, RESULT_PRODUCT},
	{"conv1d", 3, RESULT_CONVOLUTION},
	{"conv2d", 3, RESULT_CONVOLUTION},
	{"conv3d", 3, RESULT_CONVOLUTION},
	{"convolution", 3, RESULT_CONVOLUTION},
	{"_scaled_dot_product_flash_attention", 3, RESULT_ATTENTION},
	{"_scaled_dot_product_efficient_attention", 3, RESULT_ATTENTION},
	{"_scaled_dot_product_cudnn_attention", 3, RESULT_ATTENTION},
	{"fill", 0, RESULT_BROADCAST},
	{"zero", 0, RESULT_BROADCAST},
	{"add", 2, RESULT_BROADCAST},
	{"sub", 2, RESULT_BROADCAST},
	{"mul", 2, RESULT_BROADCAST},
	{"div", 2, RESULT_BROADCAST},
	{"pow", 2, RESULT_BROADCAST},
	{"threshold_backward", 2, RESULT_BROADCAST},
	{"gelu_backward", 2, RESULT_BROADCAST},
	{"silu_backward", 2, RESULT_BROADCAST},
	{"tanh_backward", 2, RESULT_BROADCAST},
	{"sigmoid_backward", 2, RESULT_BROADCAST},
	{"neg", 1, RESULT_BROADCAST},
	{"abs", 1, RESULT_BROADCAST},
	{"exp", 1, RESULT_BROADCAST},
	{"log", 1, RESULT_BROADCAST},
	{"cos", 1, RESULT_BROADCAST},
	{"sin", 1, RESULT_BROADCAST},
	{"sqrt", 1, RESULT_BROADCAST},
	{"rsqrt", 1, RESULT_BROADCAST},
	{"relu", 1, RESULT_BROADCAST},
	{"gelu", 1, RESULT_BROADCAST},
	{"silu", 1, RESULT_BROADCAST},
	{"tanh", 1, RESULT_BROADCAST},
	{"sigmoid", 1, RESULT_BROADCAST},
	{"clamp_min", 1, RESULT_BROADCAST},
	{"_softmax", 1, RESULT_BROADCAST},
	{"_log_softmax", 1, RESULT_BROADCAST},
};

static const struct operator* find_operator(const char *name)
{
	size_t nr = strlen(name);

	nr -= nr > 1 && name[nr - 1] == '_';
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		if (text_is(name, nr, operators[i].name)) {
			return &operators[i];
		}
	}
	return NULL;
}

/* A cache of recent results: the same operators with the same shapes come in each step. */
#define NR_RECENT 1024u

static struct recent {
	double positions, bytes;
	uint32_t name, shape;
	bool is_set, is_known;
} recent[NR_RECENT];

/* Elements of the result; 0 if they are unknown. */
static double result_of(
	const struct operator* operator, const struct inputs * in, const struct recent *call)
{
	double flops;

	switch (operator->result) {
	case RESULT_PRODUCT:
		return product(in, operator->nr_inputs);
	case RESULT_CONVOLUTION: /* flops.c has checked the inputs */
		return flops_of(call->name, call->shape, call->positions, &flops)
			       ? convolved(in, flops)
			       : 0;
	case RESULT_ATTENTION:
		return flops_of(call->name, call->shape, call->positions, &flops) ? attended(in)
										  : 0;
	default:
		return broadcast(in, operator->nr_inputs);
	}
}

/*
 * The result has the type of the first tensor. An input of an unknown type makes the sum unknown,
 * rather than too low.
 */
static bool count(const struct recent *call, double *bytes)
{
	const char *text = string_pool_text(call->name, NULL);
	const struct operator* operator;
	struct inputs in;
	double written;
	size_t type;

	if (strncmp(text, "aten::", 6) != 0) {
		return false;
	}
	operator= find_operator(text + 6);
	if (!operator|| !parse(string_pool_text(call->shape, NULL), &in)) {
		return false;
	}
	written = result_of(operator, & in, call);
	type = type_of(in.tensors[0].type);
	if (written <= 0 || type == NR_TYPES) {
		return false;
	}
	*bytes = written * types[type].bytes;
	for (unsigned int i = 0; i < in.nr_tensors && i < operator->nr_inputs; i++) {
		type = type_of(in.tensors[i].type);
		if (type == NR_TYPES) {
			return false;
		}
		*bytes += elements(&in.tensors[i]) * types[type].bytes;
	}
	return true;
}

bool op_bytes(uint32_t name, uint32_t shape, double positions, double *bytes)
{
	struct recent *found = &recent[(name * 31 + shape) % NR_RECENT];

	if (!found->is_set || found->name != name || found->shape != shape ||
		found->positions != positions) {
		*found = (struct recent){
			.positions = positions, .name = name, .shape = shape, .is_set = true};
		found->is_known = count(found, &found->bytes);
	}
	if (found->is_known) {
		*bytes = found->bytes;
	}
	return found->is_known;
}

/* Scalars and lists may precede it. */
static const char *first_tensor(const char *text)
{
	const char *at = text + strcspn(text, "[");

	while (at > text && at[-1] != ' ' && at[-1] != ',') {
		at--;
	}
	return at;
}

enum gpu_float op_float(uint32_t shape)
{
	static struct {
		uint32_t shape; /* 0: none */
		enum gpu_float type;
	} recent_types[NR_RECENT];
	uint32_t at = shape % NR_RECENT;
	size_t type;

	if (recent_types[at].shape != shape) {
		type = type_of(first_tensor(string_pool_text(shape, NULL)));
		recent_types[at].shape = shape;
		recent_types[at].type = type < NR_TYPES ? types[type].number : NR_GPU_FLOATS;
	}
	return recent_types[at].type;
}
