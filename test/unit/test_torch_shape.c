/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of inputs, beside a libtorch that this program plays: its functions, tensors and lists. */
#include "preload/torch/torch.h"

#include <stdlib.h>
#include <string.h>

#include "collector/util/loss.h"
#include "preload/python/op_name.h"
#include "test/unit/unit.h"

enum { TENSOR = 1, INTEGER = 4, LIST = 8, MOST_INPUTS = 64, FLOAT32 = 6 };

struct tensor {
	const void *class;
	uint64_t words[2], nr_dims;
	union {
		int64_t dims[5];
		int64_t *more_dims;
	};
	uint16_t zeros[4], type;
	uint64_t rest[20];
};

struct list {
	uint64_t nr_owners;
	const struct input *begin, *end;
	uint64_t rest[8];
};

struct input {
	union {
		const void *object;
		uint64_t number;
	};
	uint32_t tag;
};

struct range {
	uint64_t words[8];
	const struct input *inputs;
	uint64_t nr_inputs;
	const char *name;
	uint64_t rest[200];
};

/* Returns an observer's context as PyTorch does (fake_torch.c). */
struct context {
	void *words[3];
};

static const char class[8];
static struct context (*observer)(const void *fn);

/* ---- parts of gprof that the test replaces ---- */

struct torch_layout torch_layout;
static char shape[4096];
static uint32_t next_id = 1;

uint32_t op_name_intern(enum op_name_table table, const char *text)
{
	ck_assert_int_eq(table, OP_NAME_SHAPES);
	strcpy(shape, text);
	return next_id;
}

uint64_t torch_add_try(const struct torch_functions *f, torch_begin_fn *begin)
{
	(void)f;
	memcpy(&observer, &begin, sizeof(observer));
	return 0;
}

void torch_remove(const struct torch_functions *f, uint64_t handle)
{
	(void)f;
	(void)handle;
	observer = NULL;
}

/* ---- libtorch ---- */

#define EXPORT __attribute__((visibility("default")))

static const char *name_of(const void *fn)
{
	return ((const struct range *)fn)->name;
}

static void observe(const char *name, const struct input *inputs, uint64_t nr_inputs)
{
	struct input here[MOST_INPUTS];
	struct range range = {.inputs = here, .nr_inputs = nr_inputs, .name = name};

	memcpy(here, inputs, nr_inputs * sizeof(*inputs));
	if (observer) {
		observer(&range);
	} else {
		shape[0] = '\0';
		ck_assert_uint_eq(torch_shape_id(&range), shape[0] ? next_id : 0);
	}
}

static void fill(struct tensor *tensor, uint16_t type, uint64_t nr_dims, int64_t dim)
{
	static int64_t many[16];
	int64_t *dims = nr_dims > 5 ? many : tensor->dims;

	*tensor = (struct tensor){.class = class, .nr_dims = nr_dims, .type = type};
	for (uint64_t i = 0; i < nr_dims; i++) {
		dims[i] = dim;
	}
	if (nr_dims > 5) {
		tensor->more_dims = many;
	}
}

EXPORT int32_t aoti_torch_empty_strided(int64_t nr_dims, const int64_t *sizes,
	const int64_t *strides, int32_t type, int32_t device_type, int32_t device, void ***result)
{
	struct tensor *tensor = malloc(sizeof(*tensor));
	void **handle = malloc(sizeof(*handle));

	(void)strides, (void)device_type, (void)device;
	ck_assert(tensor && handle);
	fill(tensor, (uint16_t)type, (uint64_t)nr_dims, sizes[0]);
	*handle = tensor;
	*result = handle;
	return 0;
}

EXPORT int32_t aoti_torch_delete_tensor_object(void **handle)
{
	free(*handle);
	free(handle);
	return 0;
}

EXPORT int32_t aoti_torch_clone(void **handle, void ***result)
{
	observe("aten::clone", (struct input[]){{.object = *handle, .tag = TENSOR}, {.number = 0}},
		2);
	return aoti_torch_empty_strided(1, (int64_t[]){1}, NULL, FLOAT32, 0, 0, result);
}

EXPORT int32_t aoti_torch_get_sizes(void **handle, int64_t **sizes)
{
	struct tensor *tensor = *handle;

	*sizes = tensor->nr_dims > 5 ? tensor->more_dims : tensor->dims;
	return 0;
}

EXPORT void *squeeze(void **handle, const int64_t *dims, size_t nr_dims) __asm__(
	"_ZN2at4_ops13squeeze__dims4callERNS_6TensorEN3c108ArrayRefIlEE");
void *squeeze(void **handle, const int64_t *dims, size_t nr_dims)
{
	struct input numbers[MOST_INPUTS] = {{.number = 0}};
	struct list list = {.begin = numbers, .end = numbers + nr_dims};

	for (size_t i = 0; i < nr_dims; i++) {
		numbers[i] = (struct input){.number = (uint64_t)dims[i], .tag = INTEGER};
	}
	observe("aten::squeeze_",
		(struct input[]){
			{.object = *handle, .tag = TENSOR}, {.object = &list, .tag = LIST}},
		2);
	return handle;
}

static int open_first(struct dl_phdr_info *info, size_t size, void *elf)
{
	(void)size;
	return elf_open(elf, info) ? 1 : -1;
}

static void start(void)
{
	struct elf elf;

	ck_assert_int_eq(dl_iterate_phdr(open_first, &elf), 1);
	torch_layout.name = name_of;
	ck_assert_ptr_null(torch_shape_try(&elf, NULL));
	ck_assert_ptr_null(observer);
}

/* ---- tests ---- */

START_TEST(inputs_have_their_types_and_sizes)
{
	struct tensor small, large;
	struct input numbers[] = {{.number = 2, .tag = INTEGER}, {.number = 3, .tag = INTEGER}};
	struct list list = {.begin = numbers, .end = numbers + 2};
	struct input inputs[] = {{.object = &small, .tag = TENSOR}, {.object = &list, .tag = LIST},
		{.number = 7, .tag = INTEGER}, {.object = &large, .tag = TENSOR},
		{.number = 7, .tag = INTEGER}};

	start();
	fill(&small, FLOAT32, 2, 64);
	fill(&large, 11, 6, 3);
	observe("aten::add", inputs, 5);
	ck_assert_str_eq(shape, "float32[64,64], scalar, scalar, bool[3,3,3,3,3,3]");
	observe("aten::conv2d", inputs, 5);
	ck_assert_str_eq(shape, "float32[64,64], (2,3), scalar, bool[3,3,3,3,3,3]");
	fill(&small, FLOAT32, 13, 2);
	observe("aten::add", inputs, 3);
	ck_assert_str_eq(shape, "?");
	fill(&large, 200, 1, 2);
	observe("aten::add", inputs, 5);
	ck_assert_str_eq(shape, "?, scalar, scalar, ?[2]");
}
END_TEST

/* Dots replace omitted inputs. */
START_TEST(many_inputs_end_with_dots)
{
	struct tensor tensor;
	struct input inputs[MOST_INPUTS];
	size_t nr = 0;

	start();
	fill(&tensor, FLOAT32, 2, 64);
	for (size_t i = 0; i < MOST_INPUTS; i++) {
		inputs[i] = (struct input){.object = &tensor, .tag = TENSOR};
	}
	observe("aten::add", inputs, 30);
	for (const char *at = shape; (at = strstr(at, "float32[64,64]")); at++) {
		nr++;
	}
	ck_assert_uint_eq(nr, 30);
	ck_assert_ptr_null(strstr(shape, "..."));
	fill(&tensor, 23, 12, INT64_MAX);
	observe("aten::add", inputs, MOST_INPUTS);
	ck_assert_str_eq(shape + strlen(shape) - 6, "], ...");
}
END_TEST

START_TEST(operators_without_an_id_for_their_shape_are_counted)
{
	struct tensor tensor;
	struct input inputs[] = {{.object = &tensor, .tag = TENSOR}, {.number = 7, .tag = INTEGER}};

	start();
	fill(&tensor, FLOAT32, 2, 64);
	next_id = 0;
	observe("aten::add", inputs, 2);
	observe("aten::add", inputs, 2);
	observe("aten::add", inputs + 1, 1); /* has none */
	ck_assert_uint_eq(loss_take(LOSS_SHAPE), 2);
}
END_TEST

UNIT_SUITE("torch_shape", inputs_have_their_types_and_sizes, many_inputs_end_with_dots,
	operators_without_an_id_for_their_shape_are_counted)
