/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shapes and types of the inputs of operators. Their offsets in at::RecordFunction, c10::IValue and
 * c10::TensorImpl are found with tensors of our own: libtorch's C functions return their sizes, and
 * we search the object for them. After that we only read memory and call nothing, since sizes() of
 * a tensor may throw, print, or run Python. Objects of classes other than a plain tensor (nested,
 * sparse, undefined) are "?"; one with symbolic sizes (while torch.compile traces) has no elements,
 * and reads as such. Lists of integers are read for convolutions alone: strides, padding and
 * dilation, which their FLOPs depend on.
 */
#include <string.h>

#include "collector/util/log.h"
#include "preload/hook/hook.h"
#include "preload/python/op_name.h"
#include "preload/torch/torch.h"

#define OBJECT_BYTES 1024u
#define TENSOR_BYTES 192u /* of c10::TensorImpl at least, of all versions */
#define IVALUE_BYTES 16u
#define TAG_AT	     8u
#define LIST_BYTES   64u	 /* of c10::detail::ListImpl at least, of all versions */
#define STACK_BYTES  (64u << 10) /* the inputs lie on the stack, that far above at most */
#define INLINE_DIMS  5		 /* sizes up to that many lie in the object */
#define MAX_DIMS     12u
#define TEXT_BYTES   1024u
#define INPUT_BYTES  300u /* the text of one input and ", ..." */

static struct shape_layout {
	uint32_t inputs_at; /* in at::RecordFunction: address, number */
	uint32_t tag;	    /* of an IValue that is a tensor */
	uint32_t sizes_at;  /* in c10::TensorImpl; their number precedes them */
	uint32_t type_at;   /* uint16_t */
	const void *class;  /* what a plain tensor begins with */
	uint32_t list_at;   /* in a list: begin and end of its IValues; 0: not found */
	uint32_t list_tag;  /* of an IValue that is a list */
	uint32_t int_tag;   /* of an IValue that is an integer */
} layout;

/* While trying: the tensor that an operator is run on. */
static const char *(*try_name)(const void *fn);
static const void *try_tensor;

struct functions {
	int32_t (*empty)(int64_t nr_dims, const int64_t *sizes, const int64_t *strides,
		int32_t type, int32_t device_type, int32_t device, void ***tensor);
	int32_t (*drop)(void **tensor);
	int32_t (*clone)(void **tensor, void ***result);
	int32_t (*sizes)(void **tensor, int64_t **sizes);
	/* at::_ops::squeeze__dims::call; NULL: lists are not read */
	void *(*squeeze)(void **tensor, const int64_t *dims, size_t nr_dims);
};

struct ivalue {
	uint64_t value;
	uint32_t tag;
};

static const struct ivalue *inputs_of(const void *fn, uint64_t *nr)
{
	const struct ivalue *inputs;

	memcpy(&inputs, (const char *)fn + layout.inputs_at, sizeof(inputs));
	memcpy(nr, (const char *)fn + layout.inputs_at + 8, sizeof(*nr));
	return inputs;
}

/* The argument that squeeze_ is tried with. */
#define TRY_LIST 3u
static const int64_t try_list[TRY_LIST] = {1, 3, 4};

/* Its second input is a list: an object with a std::vector of IValues. */
static void find_list(const void *fn)
{
	uint64_t nr_inputs;
	const struct ivalue *dims = inputs_of(fn, &nr_inputs) + 1;
	const char *list;

	if (nr_inputs != 2 || dims->tag == layout.tag || dims->value % 8 || !dims->value) {
		return;
	}
	memcpy(&list, &dims->value, sizeof(list));
	for (uint32_t at = 8; at + 16 <= LIST_BYTES; at += 8) {
		const struct ivalue *numbers;
		uintptr_t begin, end;
		uint32_t i = 0;

		memcpy(&begin, list + at, sizeof(begin));
		memcpy(&end, list + at + 8, sizeof(end));
		if (!begin || begin % 8 || end - begin != TRY_LIST * IVALUE_BYTES) {
			continue;
		}
		memcpy(&numbers, &begin, sizeof(numbers));
		while (i < TRY_LIST && numbers[i].value == (uint64_t)try_list[i] &&
			numbers[i].tag == numbers[0].tag) {
			i++;
		}
		if (i == TRY_LIST) {
			layout.list_at = at;
			layout.list_tag = dims->tag;
			layout.int_tag = numbers[0].tag;
			return;
		}
	}
}

/*
 * Runs as an observer of the operators that torch_shape_try() calls: of aten::clone it finds where
 * the range has its inputs, an array of two on the stack that begins with our tensor.
 */
TORCH_BEGIN(torch_shape_begin)
{
	const char *bytes = fn;
	char here;

	*context = NULL;
	if (layout.inputs_at && !strcmp(try_name(fn), "aten::squeeze_")) {
		find_list(fn);
	}
	if (layout.inputs_at || strcmp(try_name(fn), "aten::clone")) {
		return context;
	}
	for (uint32_t at = 0; at + 16 <= OBJECT_BYTES; at += 8) {
		uintptr_t inputs, number;

		memcpy(&inputs, bytes + at, sizeof(inputs));
		memcpy(&number, bytes + at + 8, sizeof(number));
		if (number == 2 && inputs % 8 == 0 && inputs - (uintptr_t)&here < STACK_BYTES &&
			*(const void *const *)inputs == try_tensor) {
			layout.inputs_at = at;
			layout.tag = *(const uint32_t *)(inputs + TAG_AT);
		}
	}
	return context;
}

#define NR_TRIES 4u
static const int32_t try_types[NR_TRIES] = {6, 4, 11, 5};
static const int64_t try_dims[NR_TRIES] = {1, 3, INLINE_DIMS, INLINE_DIMS + 1};

/* A tensor of one element, [1, 1, ...]. */
static void **make(const struct functions *f, unsigned int number)
{
	static const int64_t ones[INLINE_DIMS + 1] = {1, 1, 1, 1, 1, 1};
	void **tensor = NULL;

	return f->empty(try_dims[number], ones, ones, try_types[number], 0, 0, &tensor) ? NULL
											: tensor;
}

/* Sizes of all tries stand at the same offset, after their number; the last's apart. */
static bool has_sizes(const struct functions *f, void **tensor, unsigned int number)
{
	const char *object = *tensor;
	int64_t *sizes;
	uint64_t at, nr_dims;

	if (f->sizes(tensor, &sizes)) {
		return false;
	}
	at = number < NR_TRIES - 1 ? (uint64_t)((const char *)sizes - object) : layout.sizes_at;
	if (at < 16 || at > TENSOR_BYTES - 8 || (number && at != layout.sizes_at)) {
		return false;
	}
	layout.sizes_at = (uint32_t)at;
	memcpy(&nr_dims, object + at - 8, sizeof(nr_dims));
	return nr_dims == (uint64_t)try_dims[number] &&
	       (number < NR_TRIES - 1 || *(int64_t *const *)(object + at) == sizes) &&
	       (!number || *(const void *const *)object == layout.class);
}

static uint32_t find_type(char objects[NR_TRIES][TENSOR_BYTES])
{
	uint32_t found = UINT32_MAX;

	for (uint32_t at = 0; at + 2 <= TENSOR_BYTES; at += 2) {
		unsigned int k;

		for (k = 0; k < NR_TRIES; k++) {
			uint16_t type;

			memcpy(&type, objects[k] + at, sizeof(type));
			if (type != try_types[k]) {
				break;
			}
		}
		if (k == NR_TRIES) {
			found = found == UINT32_MAX ? at : 0;
		}
	}
	return found == UINT32_MAX ? 0 : found;
}

/* Tensors of different types are kept as bytes: the type is where each has its own (find_type). */
static const char *try_tensors(const struct functions *f)
{
	char objects[NR_TRIES][TENSOR_BYTES];

	for (unsigned int k = 0; k < NR_TRIES; k++) {
		void **tensor = make(f, k);
		bool is_good;

		if (!tensor) {
			return "a tensor could not be made";
		}
		if (!k) {
			layout.class = *(const void *const *)*tensor;
		}
		is_good = has_sizes(f, tensor, k);
		memcpy(objects[k], *tensor, TENSOR_BYTES);
		f->drop(tensor);
		if (!is_good) {
			return "the sizes were not found";
		}
	}
	layout.type_at = find_type(objects);
	return layout.type_at ? NULL : "the type was not found";
}

static const char *try_operator(const struct functions *f, const struct torch_functions *torch)
{
	void **tensor = make(f, 1), **copy = NULL;
	uint64_t handle;

	if (!tensor) {
		return "a tensor could not be made";
	}
	try_tensor = *tensor;
	try_name = torch_layout.name;
	handle = torch_add_try(torch, torch_shape_begin);
	if (!f->clone(tensor, &copy)) {
		f->drop(copy);
	}
	f->drop(tensor);
	tensor = layout.inputs_at && f->squeeze ? make(f, NR_TRIES - 1) : NULL;
	if (tensor) {
		f->squeeze(tensor, try_list, TRY_LIST);
		f->drop(tensor);
	}
	torch_remove(torch, handle);
	return layout.inputs_at ? NULL : "the inputs were not found";
}

const char *torch_shape_try(const struct elf *libtorch, const struct torch_functions *torch)
{
	struct functions f;
	const char *why;

	*(void **)&f.empty = elf_find(libtorch, "aoti_torch_empty_strided");
	*(void **)&f.drop = elf_find(libtorch, "aoti_torch_delete_tensor_object");
	*(void **)&f.clone = elf_find(libtorch, "aoti_torch_clone");
	*(void **)&f.sizes = elf_find(libtorch, "aoti_torch_get_sizes");
	*(void **)&f.squeeze = elf_find(
		libtorch, "_ZN2at4_ops13squeeze__dims4callERNS_6TensorEN3c108ArrayRefIlEE");
	if (!f.empty || !f.drop || !f.clone || !f.sizes) {
		return "it has no aoti_torch_* functions (PyTorch 2.2 and later have)";
	}
	why = try_tensors(&f);
	why = why ? why : try_operator(&f, torch);
	if (!why) {
		log_message(LOG_INFO,
			"torch: inputs at %u of the range, sizes at %u and type at %u of a tensor, "
			"numbers at %u of a list",
			layout.inputs_at, layout.sizes_at, layout.type_at, layout.list_at);
	}
	return why;
}

/* ---- reading ---- */

/* c10::ScalarType; from 30 on they are rare, and "?". */
static const char *type_name(uint16_t type)
{
	static const char *const names[] = {"uint8", "int8", "int16", "int32", "int64", "float16",
		"float32", "float64", "complex32", "complex64", "complex128", "bool", "qint8",
		"quint8", "qint32", "bfloat16", "quint4x2", "quint2x4", "bits1x8", "bits2x4",
		"bits4x2", "bits8", "bits16", "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz",
		"float8_e4m3fnuz", "uint16", "uint32", "uint64"};

	return type < sizeof(names) / sizeof(names[0]) ? names[type] : "?";
}

static size_t add_number(char *out, uint64_t number)
{
	char digits[20];
	size_t nr = 0;

	do {
		digits[nr++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	for (size_t i = 0; i < nr; i++) {
		out[i] = digits[nr - 1 - i];
	}
	return nr;
}

/* At most 16 + 12 * 21 bytes. */
static size_t add_tensor(char *out, const char *object)
{
	const int64_t *sizes = (const int64_t *)(const void *)(object + layout.sizes_at);
	const char *name;
	uint64_t nr_dims;
	uint16_t type;
	char *to = out;

	memcpy(&nr_dims, object + layout.sizes_at - 8, sizeof(nr_dims));
	if (*(const void *const *)object != layout.class || nr_dims > MAX_DIMS) {
		*out = '?';
		return 1;
	}
	memcpy(&type, object + layout.type_at, sizeof(type));
	name = type_name(type);
	memcpy(to, name, strlen(name));
	to += strlen(name);
	if (nr_dims > INLINE_DIMS) {
		sizes = *(const int64_t *const *)(const void *)sizes;
	}
	*to++ = '[';
	for (uint64_t i = 0; i < nr_dims; i++) {
		if (i) {
			*to++ = ',';
		}
		to += add_number(to, (uint64_t)sizes[i]);
	}
	*to++ = ']';
	return (size_t)(to - out);
}

/* "(2,2)": at most 2 + 12 * 21 bytes; 0 if that is no list of integers, none of them negative. */
static size_t add_list(char *out, const struct ivalue *value)
{
	const struct ivalue *numbers;
	const char *list;
	char *to = out;
	uintptr_t begin, end;

	if (!layout.list_at || value->tag != layout.list_tag) {
		return 0;
	}
	memcpy(&list, &value->value, sizeof(list));
	memcpy(&begin, list + layout.list_at, sizeof(begin));
	memcpy(&end, list + layout.list_at + 8, sizeof(end));
	memcpy(&numbers, &begin, sizeof(numbers));
	if (begin == end || end - begin > MAX_DIMS * IVALUE_BYTES) {
		return 0;
	}
	for (uint64_t i = 0; i < (end - begin) / IVALUE_BYTES; i++) {
		if (numbers[i].tag != layout.int_tag || (int64_t)numbers[i].value < 0) {
			return 0;
		}
		*to++ = i ? ',' : '(';
		to += add_number(to, numbers[i].value);
	}
	*to++ = ')';
	return (size_t)(to - out);
}

static bool has_lists(const void *fn)
{
	static const char convolutions[] = "aten::conv";
	const char *name = torch_layout.name(fn);

	return !strncmp(name, convolutions, sizeof(convolutions) - 1);
}

/*
 * Writes tensors as type and sizes, lists of integers where an operator needs them, and all else as
 * "scalar". "..." replaces inputs that do not fit.
 */
uint32_t torch_shape_id(const void *fn)
{
	char text[TEXT_BYTES];
	uint64_t number;
	const struct ivalue *inputs = inputs_of(fn, &number);
	bool is_with_lists = has_lists(fn);
	size_t at = 0, end = 0;
	uint32_t id;

	for (uint64_t i = 0; i < number; i++) {
		size_t nr_bytes = 0;

		if (i) {
			text[at++] = ',';
			text[at++] = ' ';
		}
		if (at + INPUT_BYTES > TEXT_BYTES) {
			memcpy(text + at, "...", 3);
			end = at + 3;
			break;
		}
		if (inputs[i].tag == layout.tag) {
			const char *tensor;

			memcpy(&tensor, &inputs[i].value, sizeof(tensor));
			nr_bytes = add_tensor(text + at, tensor);
		} else if (is_with_lists) {
			nr_bytes = add_list(text + at, &inputs[i]);
		}
		if (nr_bytes) {
			at += nr_bytes;
			end = at;
		} else {
			memcpy(text + at, "scalar", 6);
			at += 6;
		}
	}
	text[end] = '\0';
	if (!end) {
		return 0;
	}
	id = op_name_intern(OP_NAME_SHAPES, text);
	loss_add(LOSS_SHAPE, !id);
	return id;
}
