/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A C++ name is split into the function and the arguments of its template (parse_function). Names
 * of library kernels for matrix products and convolutions have no such parts; words inside them say
 * what they compute (add_gemm). Longer forms add types, layout and style, for names that
 * short_names.c would otherwise show alike.
 */
#include "report/table/kernel_name.h"

#include <ctype.h>
#include <stdio.h>

#include "report/util/text.h"

/* Longer words of a name are no operation. */
#define WORD_BYTES 96u

/* A part of a name. */
struct span {
	const char *begin, *end; /* NULL: there is none */
};

/* A function without its return type, namespaces and parameters. */
struct function {
	struct span base, arguments; /* arguments: of the template */
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool starts(struct span text, const char *word)
{
	size_t length = strlen(word);

	return (size_t)(text.end - text.begin) >= length && memcmp(text.begin, word, length) == 0;
}

static bool has(struct span text, const char *word)
{
	return memmem(text.begin, (size_t)(text.end - text.begin), word, strlen(word)) != NULL;
}

static bool equals(struct span text, const char *word)
{
	return starts(text, word) && strlen(word) == (size_t)(text.end - text.begin);
}

/* Removes the word from the end unless nothing else is there. */
static bool drop_suffix(struct span *text, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(text->end - text->begin) <= length ||
		memcmp(text->end - length, word, length) != 0) {
		return false;
	}
	text->end -= length;
	return true;
}

static void add_span(struct buf *out, struct span text)
{
	buf_add(out, text.begin, (size_t)(text.end - text.begin));
}

/* ---- the parts of a C++ name ---- */

/*
 * Finds the function of a demangled name. False for names in words such as "Memcpy HtoD (Pinned ->
 * Device)", and for plain names.
 */
static bool parse_function(struct span name, struct function *function)
{
	static const char anonymous[] = "(anonymous namespace)";
	uint32_t angle = 0, round = 0;
	const char *at = name.begin, *tag = NULL;

	*function = (struct function){.base = {at, NULL}};
	for (; at < name.end; at++) {
		bool is_outside = !angle && !round;

		if (is_outside && starts((struct span){at, name.end}, anonymous)) {
			at += sizeof(anonymous) - 2;
		} else if (is_outside && starts((struct span){at, name.end}, "[abi:")) {
			/* A tag of the name's version; Numba adds a long one to each kernel. */
			tag = tag || function->arguments.begin ? tag : at;
			while (at + 1 < name.end && *at != ']') {
				at++;
			}
		} else if (is_outside && *at == '(') {
			break; /* the parameters */
		} else if (*at == '(' || *at == ')') {
			round += *at == '(' ? 1 : round ? -1u : 0;
		} else if (*at == '<' && !round && !angle++) {
			function->base.end = at;
			function->arguments.begin = at + 1;
		} else if (*at == '>' && !round && angle && !--angle) {
			function->arguments.end = at;
		} else if (is_outside && (*at == ' ' || *at == ':')) {
			/* That was the return type or a namespace. */
			*function = (struct function){.base = {at + 1, NULL}};
			tag = NULL;
		}
	}
	if (at == name.end && !function->arguments.begin) {
		return false;
	}
	function->base.end = tag ? tag : function->base.end ? function->base.end : at;
	if (angle) {
		function->arguments.end = at; /* the recorder cut the name */
	}
	return function->base.end > function->base.begin;
}

/* ---- what a template of many operations computes ---- */

/* Is the word, which ends at `at`, a function around a lambda: word(...)::{lambda? */
static bool is_around_lambda(const char *at, const char *end)
{
	uint32_t round = 0;

	if (at == end || *at != '(') {
		return false;
	}
	for (; at < end; at++) {
		round += *at == '(' ? 1 : *at == ')' ? -1u : 0;
		if (!round) {
			return starts((struct span){at + 1, end}, "::{lambda");
		}
	}
	return false;
}

/* Does the word only wrap another operation, which follows? */
static bool is_wrapper(struct span word)
{
	static const char *const names[] = {"BinaryFunctor", "AUnaryFunctor", "BUnaryFunctor",
		"UnaryFunctor", "ReduceOps", "operator", NULL};

	for (size_t i = 0; names[i]; i++) {
		if (equals(word, names[i])) {
			return true;
		}
	}
	return starts(word, "gpu_");
}

/* Removes what all operations have in their names. False if the word has none of it. */
static bool trim_operation(struct span *word)
{
	static const char *const before[] = {"CUDAFunctor_", "CUDAFunctorOnSelf_", "launch_"};
	static const char *const after[] = {"_kernel_cuda", "_cuda_kernel", "_kernel_impl",
		"_kernel", "_cuda_out", "_functor", "CUDAKernelImpl", "Functor", "Ops"};
	bool is_operation = false;

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		if (starts(*word, before[i])) {
			word->begin += strlen(before[i]);
			is_operation = true;
		}
	}
	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++) {
		is_operation |= drop_suffix(word, after[i]);
	}
	return is_operation;
}

/* Returns the operation of std::plus and its like, NULL for other words. */
static const char *standard_operation(struct span word)
{
	static const char *const names[][2] = {{"plus", "add"}, {"minus", "sub"},
		{"multiplies", "mul"}, {"divides", "div"}, {"negate", "neg"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (equals(word, names[i][0])) {
			return names[i][1];
		}
	}
	return NULL;
}

/* Writes GeluBackward as gelu_backward. */
static void write_operation(struct span word, char operation[2 * WORD_BYTES])
{
	for (const char *c = word.begin; c < word.end; c++) {
		if (c > word.begin && isupper((unsigned char)*c) && islower((unsigned char)c[-1])) {
			*operation++ = '_';
		}
		*operation++ = (char)tolower((unsigned char)*c);
	}
	*operation = '\0';
}

/*
 * Writes the operation among the arguments of a template: add of CUDAFunctor_add<float>. Empty if
 * there is none. The functors of foreach kernels (BinaryOpListAlphaFunctor) count only if no
 * better name follows.
 */
static void find_operation(struct span arguments, char operation[2 * WORD_BYTES])
{
	const char *at = arguments.begin;

	*operation = '\0';
	while (at < arguments.end) {
		struct span word = {at, at};
		bool is_generic;

		while (word.end < arguments.end && is_word(*word.end)) {
			word.end++;
		}
		at = word.end + (word.end == word.begin);
		if (word.end == word.begin || word.end - word.begin >= (ptrdiff_t)WORD_BYTES) {
			continue;
		}
		if (standard_operation(word)) {
			strcpy(operation, standard_operation(word));
			return;
		}
		is_generic = has(word, "Op") && has(word, "Functor");
		if (is_wrapper(word) || (*operation && is_generic) ||
			(!trim_operation(&word) && !is_around_lambda(at, arguments.end) &&
				!(*operation && isupper((unsigned char)*word.begin) &&
					*at == '<'))) {
			continue;
		}
		write_operation(word, operation);
		if (!is_generic) {
			return;
		}
	}
}

/* Returns the type that it computes with, "" if the arguments of the template do not say it. */
static const char *computed_type(struct span arguments)
{
	/* Floating point before integers before bool: masks and indexes come with values. */
	static const struct {
		const char *word, *type;
		int rank;
	} types[] = {{"float", "f32", 3}, {"double", "f64", 3}, {"BFloat16", "bf16", 3},
		{"__nv_bfloat16", "bf16", 3}, {"Half", "f16", 3}, {"__half", "f16", 3},
		{"half", "f16", 3}, {"Float8_e4m3fn", "fp8", 3}, {"Float8_e5m2", "fp8", 3},
		{"long", "i64", 2}, {"int", "i32", 2}, {"short", "i16", 2}, {"bool", "bool", 1}};
	const char *at = arguments.begin, *type = "";
	int rank = 0;

	while (at < arguments.end) {
		struct span word = {at, at};

		while (word.end < arguments.end && is_word(*word.end)) {
			word.end++;
		}
		at = word.end + (word.end == word.begin);
		for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
			if (types[i].rank > rank && equals(word, types[i].word)) {
				type = types[i].type;
				rank = types[i].rank;
			}
		}
	}
	return type;
}

/* Says which operands of an operation on elements are numbers instead of tensors; "" if none is. */
static const char *scalar_operand(struct span arguments)
{
	static const char *const words[][2] = {{"AUnaryFunctor", " scalar first"},
		{"BUnaryFunctor", " scalar"}, {"CUDAFunctorOnSelf_", " scalar"},
		{"OpScalarListFunctor", " scalars"}, {"OpScalarFunctor", " scalar"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (has(arguments, words[i][0])) {
			return words[i][1];
		}
	}
	return "";
}

/* " 512, 1": the numbers that the arguments of a template begin with, such as threads and vectors.
 */
static void add_leading_numbers(struct buf *out, struct span arguments)
{
	const char *at = arguments.begin;

	while (at && at < arguments.end) {
		struct span number = {at, at};

		while (number.end < arguments.end && isdigit((unsigned char)*number.end)) {
			number.end++;
		}
		if (number.end == at || (number.end < arguments.end && *number.end != ',')) {
			return;
		}
		buf_text(out, at == arguments.begin ? " " : ", ");
		add_span(out, number);
		at = number.end + 1;
		at += at < arguments.end && *at == ' ';
	}
}

/* Adds how a kernel for elements goes through them. */
static void add_element_style(struct buf *out, const struct function *function)
{
	struct span arguments = function->arguments;
	const char *lambda = NULL, *at = arguments.begin;

	if (starts(function->base, "vectorized_")) {
		buf_text(out, " vectorized");
		add_leading_numbers(out, arguments);
	} else {
		buf_text(out, starts(function->base, "unrolled_") ? " unrolled" : " strided");
	}
	/* The innermost function without a name; most are the first one. */
	while (at && (at = memmem(at, (size_t)(arguments.end - at), ")#", 2))) {
		lambda = at++;
	}
	if (lambda && arguments.end - lambda > 3 && isdigit((unsigned char)lambda[2]) &&
		lambda[2] != '1') {
		buf_printf(out, " #%c", lambda[2]);
	}
}

/* ---- matrix multiplications and convolutions of libraries ---- */

static bool has_any(struct span text, const char *const *words)
{
	for (; *words; words++) {
		if (has(text, *words)) {
			return true;
		}
	}
	return false;
}

/* Returns the type of the elements, NULL if the name does not say it. */
static const char *element_type(struct span name)
{
	static const char *const types[][2] = {{"bf16", "bf16"}, {"bfloat16_t", "bf16"},
		{"nvjet_t", "bf16"}, {"nvjet_sm90_t", "bf16"}, {"nvjet_sm100_t", "bf16"},
		{"nvjet_sm103_t", "bf16"}, {"nvjet_sm90_h", "f16"}, {"nvjet_sm100_h", "f16"},
		{"nvjet_sm103_h", "f16"}, {"nvjet_sm90_q", "fp8"}, {"nvjet_sm100_q", "fp8"},
		{"nvjet_sm103_q", "fp8"}, {"e4m3", "fp8"}, {"e5m2", "fp8"}, {"nvjet_q", "fp8"},
		{"fp16", "f16"}, {"f16f16", "f16"}, {"hgemm", "f16"}, {"h884", "f16"},
		{"h1688", "f16"}, {"h16816", "f16"}, {"hcudnn", "f16"}, {"nvjet_h", "f16"},
		{"tf32", "tf32"}, {"tensorop_s1688", "tf32"}, {"i8816", "i8"}, {"i8i8", "i8"},
		{"dgemm", "f64"}, {"zgemm", "c128"}, {"cgemm", "c64"}, {"sgemm", "f32"},
		{"scudnn", "f32"}, {"f32f32", "f32"}};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (has(name, types[i][0])) {
			return types[i][1];
		}
	}
	return NULL;
}

/* Returns the first NxM of a name: the tile that a thread block computes. */
static struct span find_tile(struct span name)
{
	for (const char *at = name.begin; at < name.end; at++) {
		const char *end = at;

		if (!isdigit((unsigned char)*at)) {
			continue;
		}
		while (end < name.end && isdigit((unsigned char)*end)) {
			end++;
		}
		if (end - at > 1 && end + 1 < name.end && *end == 'x' &&
			isdigit((unsigned char)end[1])) {
			for (end++; end < name.end && isdigit((unsigned char)*end); end++) {
			}
			return (struct span){at, end};
		}
		at = end;
	}
	return (struct span){0};
}

/* Finds which operands are transposed, "_tn": a word of n and t; empty if there is none. */
static struct span find_layout(struct span name)
{
	for (const char *at = name.begin; at < name.end; at++) {
		const char *end = ++at;

		if (at[-1] != '_') {
			at--;
			continue;
		}
		while (end < name.end && strchr("nNtT", *end)) {
			end++;
		}
		if ((end - at == 2 || end - at == 3) &&
			(end == name.end || !is_word(*end) || *end == '_')) {
			return (struct span){at, end};
		}
		at--;
	}
	return (struct span){name.end, name.end};
}

/* Returns which of the three products of a convolution it is. NULL: the name does not say it. */
static const char *direction(struct span name)
{
	static const char *const words[][2] = {{"fprop", "fprop"}, {"Fprop", "fprop"},
		{"dgrad", "dgrad"}, {"Dgrad", "dgrad"}, {"wgrad", "wgrad"}, {"Wgrad", "wgrad"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (has(name, words[i][0])) {
			return words[i][1];
		}
	}
	return NULL;
}

/* Adds " align4": how many elements are loaded at once, at most. */
static void add_alignment(struct buf *out, struct span name)
{
	static const char word[] = "_align";
	const char *at =
		memmem(name.begin, (size_t)(name.end - name.begin), word, sizeof(word) - 1);
	const char *end = at ? at + sizeof(word) - 1 : name.end;

	if (end < name.end && isdigit((unsigned char)*end)) {
		while (end < name.end && isdigit((unsigned char)*end)) {
			end++;
		}
		buf_char(out, ' ');
		add_span(out, (struct span){at + 1, end});
	}
}

/*
 * Adds what else the names of libraries differ in: the tile's depth, more shapes, how the sum is
 * divided, alignment.
 */
static void add_style(struct buf *out, struct span name, struct span tile)
{
	static const char *const words[] = {
		"split_k", "segment_k_on", "strided", "_bias", "coopA", "coopB"};
	const char *at = tile.end;

	while (at + 1 < name.end && (*at == 'x' || *at == '_') && isdigit((unsigned char)at[1])) {
		buf_char(out, *at == '_' ? ' ' : 'x');
		for (at++; at < name.end && isdigit((unsigned char)*at); at++) {
			buf_char(out, *at);
		}
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (has(name, words[i])) {
			buf_printf(out, " %s", *words[i] == '_' ? words[i] + 1 : words[i]);
		}
	}
	add_alignment(out, name);
}

/* Adds such as "gemm bf16 128x64". False if the name is no such kernel. */
static bool add_gemm(struct buf *out, struct span name, enum kernel_name_form form)
{
	static const char *const convolutions[] = {
		"scudnn", "hcudnn", "1688cudnn", "16816cudnn", "fprop", "dgrad", "wgrad", NULL};
	static const char *const gemms[] = {"gemm", "nvjet_", NULL};
	static const char *const attentions[] = {"sdpa", "flash", "fmha", NULL};
	bool is_convolution = has_any(name, convolutions);
	struct span tile = find_tile(name), layout = find_layout(name);
	const char *type = element_type(name), *which = direction(name);

	if (!tile.begin || (!is_convolution && !has_any(name, gemms))) {
		return false;
	}
	if (has_any(name, attentions)) {
		return false; /* its two products are not all that it computes */
	}
	buf_text(out, is_convolution ? "conv " : "gemm ");
	if (form > KERNEL_NAME_SHORT && which) {
		buf_printf(out, "%s ", which);
	}
	if (type) {
		buf_printf(out, "%s ", type);
	}
	add_span(out, tile);
	if (form > KERNEL_NAME_TYPED) {
		add_style(out, name, tile);
	}
	if (form > KERNEL_NAME_SHORT && layout.begin < layout.end) {
		buf_char(out, ' ');
		add_span(out, layout);
	}
	return true;
}

/* cuDNN's attention: "attention forward 64x128". False if the name is no such kernel. */
static bool add_attention(struct buf *out, struct span name, enum kernel_name_form form)
{
	struct span tile = find_tile(name);

	if (!tile.begin || !starts(name, "cudnn_") || !has(name, "sdpa") ||
		(!has(name, "fprop") && !has(name, "bprop"))) {
		return false;
	}
	buf_printf(out, "attention %s ", has(name, "fprop") ? "forward" : "backward");
	add_span(out, tile);
	if (form > KERNEL_NAME_TYPED) {
		add_style(out, name, tile);
	}
	return true;
}

/*
 * As add_gemm, for a name of CUTLASS that no demangler can read: the shape of its tile is a type.
 * GemmShapeILi64ELi128ELi32EE
 */
static bool add_mangled_gemm(struct buf *out, struct span name, enum kernel_name_form form)
{
	static const char shape[] = "GemmShapeILi";
	const char *at =
		memmem(name.begin, (size_t)(name.end - name.begin), shape, sizeof(shape) - 1);
	const char *type = element_type(name), *which = direction(name);
	int rows, columns;
	char tile[32] = "";

	if (!at || !starts(name, "_Z") || (size_t)(name.end - at) < sizeof(shape) + sizeof(tile)) {
		return false;
	}
	memcpy(tile, at + sizeof(shape) - 1, sizeof(tile) - 1);
	if (sscanf(tile, "%4dELi%4dE", &rows, &columns) != 2) {
		return false;
	}
	buf_printf(out, "%s %s%s%s%s%dx%d", which ? "conv" : "gemm",
		which && form > KERNEL_NAME_SHORT ? which : "",
		which && form > KERNEL_NAME_SHORT ? " " : "", type ? type : "", type ? " " : "",
		rows, columns);
	return true;
}

/* ---- the forms ---- */

/* Adds template arguments without the namespaces of their types. */
static void add_arguments(struct buf *out, struct span arguments)
{
	const char *at = arguments.begin;

	drop_suffix(&arguments, " ");
	while (at < arguments.end) {
		struct span rest = {at, arguments.end}, word = {at, at};

		while (word.end < arguments.end && is_word(*word.end)) {
			word.end++;
		}
		if (starts(rest, "(anonymous namespace)::")) {
			at += sizeof("(anonymous namespace)::") - 1;
		} else if (word.end > word.begin &&
			   starts((struct span){word.end, arguments.end}, "::") &&
			   !starts((struct span){word.end, arguments.end}, "::{lambda")) {
			at = word.end + 2;
		} else if (word.end > word.begin) {
			add_span(out, word);
			at = word.end;
		} else if (starts(rest, "> >")) {
			buf_char(out, '>');
			at += 2;
		} else {
			buf_char(out, *at++);
		}
	}
}

/* Finds the only argument of a template that is a frame around the real kernel. */
static bool find_framed(const struct function *function, struct span *kernel)
{
	static const char *const frames[] = {"Kernel", "Kernel2", "device_kernel"};
	const char *at = function->arguments.begin;

	for (size_t i = 0; at && i < sizeof(frames) / sizeof(frames[0]); i++) {
		if (equals(function->base, frames[i])) {
			*kernel = (struct span){at, at};
			while (kernel->end < function->arguments.end && is_word(*kernel->end)) {
				kernel->end++;
			}
			return kernel->end > at && kernel->end == function->arguments.end;
		}
	}
	return false;
}

/*
 * A kernel for elements is named for what it computes. Any other keeps its base name, with the
 * operation behind it.
 */
static void add_short_function(
	struct buf *out, const struct function *function, enum kernel_name_form form)
{
	bool is_typed = form > KERNEL_NAME_SHORT && function->arguments.begin;
	const char *type = is_typed ? computed_type(function->arguments) : "";
	bool is_elementwise = has(function->base, "elementwise");
	char operation[2 * WORD_BYTES] = "";
	struct span base = function->base;

	if (function->arguments.begin) {
		find_operation(function->arguments, operation);
		/* a + b * c, a + b / c */
		if (has(function->arguments, "PointwiseOp") &&
			(!strcmp(operation, "mul") || !strcmp(operation, "div"))) {
			strcpy(operation, *operation == 'm' ? "addcmul" : "addcdiv");
		}
	}
	if (is_elementwise) {
		buf_text(out, "elementwise");
	} else {
		(void)(drop_suffix(&base, "_kernel") || drop_suffix(&base, "Kernel"));
		add_span(out, base);
	}
	if (*operation || *type) {
		buf_printf(out, "<%s%s%s%s>", operation, *operation && *type ? " " : "", type,
			is_typed ? scalar_operand(function->arguments) : "");
	}
	if (form == KERNEL_NAME_STYLED && is_elementwise) {
		add_element_style(out, function);
	} else if (form == KERNEL_NAME_STYLED) {
		add_leading_numbers(out, function->arguments);
	}
}

/* The special forms come first. A name that no part recognises stays as it is. */
void kernel_name_add(struct buf *out, const char *name, size_t nr_bytes, enum kernel_name_form form)
{
	struct span whole = {name, name + nr_bytes}, kernel;
	struct function function;

	if (form == KERNEL_NAME_FULL) {
		buf_add(out, name, nr_bytes);
	} else if (add_mangled_gemm(out, whole, form) || add_attention(out, whole, form)) {
		return;
	} else if (!parse_function(whole, &function)) {
		if (!add_gemm(out, whole, form)) {
			buf_add(out, name, nr_bytes);
		}
	} else if (find_framed(&function, &kernel)) {
		if (form == KERNEL_NAME_VARIANT || !add_gemm(out, kernel, form)) {
			add_span(out, kernel);
		}
	} else if (form < KERNEL_NAME_VARIANT) {
		add_short_function(out, &function, form);
	} else {
		add_span(out, function.base);
		if (function.arguments.begin) {
			buf_char(out, '<');
			add_arguments(out, function.arguments);
			buf_char(out, '>');
		}
	}
}
