/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the recorded shapes of an operator's inputs, such as "[64,3],[2,2]", into numbers. */
#include "report/ops/input_shapes.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/string_pool.h"

/* Reads "64,3]" and "2,2)"; false for any other form. */
static bool read_dims(const char **at, char close, struct input_dims *dims)
{
	dims->nr = 0;
	while (**at != close) {
		char *end;
		long long size = strtoll(*at, &end, 10);

		if (end == *at || size < 0 || dims->nr == INPUT_SHAPES_DIMS) {
			return false;
		}
		dims->sizes[dims->nr++] = (double)size;
		*at = *end == ',' ? end + 1 : end;
		if (*end != ',' && *end != close) {
			return false;
		}
	}
	++*at;
	return true;
}

/* Reads "true,true,false)"; false for any other form. */
static bool read_mask(const char **at, struct input_shapes *inputs)
{
	for (unsigned int i = 0; i < INPUT_SHAPES_MASK; i++) {
		size_t nr = strcspn(*at, ",)");

		if ((*at)[nr] != (i + 1 < INPUT_SHAPES_MASK ? ',' : ')')) {
			return false;
		}
		inputs->mask[i] = **at == 't';
		*at += nr + 1;
	}
	inputs->has_mask = true;
	return true;
}

/* Skips the types and words between brackets: only sizes count here. op_bytes.c reads the types. */
bool input_shapes_read(uint32_t shape, struct input_shapes *inputs)
{
	const char *text = string_pool_text(shape, NULL);

	inputs->nr_tensors = inputs->nr_lists = 0;
	inputs->has_mask = false;
	inputs->positions = 0;
	while (*(text += strcspn(text, "[("))) {
		bool is_list = *text++ == '(';
		unsigned int *nr = is_list ? &inputs->nr_lists : &inputs->nr_tensors;

		if (is_list && (*text == 't' || *text == 'f')) {
			if (!read_mask(&text, inputs)) {
				return false;
			}
			continue;
		}
		if (*nr == (is_list ? INPUT_SHAPES_LISTS : INPUT_SHAPES_TENSORS)) {
			break;
		}
		if (!read_dims(&text, is_list ? ')' : ']',
			    is_list ? &inputs->lists[*nr] : &inputs->tensors[*nr])) {
			return false;
		}
		++*nr;
	}
	return inputs->nr_tensors > 0;
}

double input_dims_product(const struct input_dims *dims, unsigned int first, unsigned int end)
{
	double product = 1;

	for (unsigned int i = first; i < end; i++) {
		product *= dims->sizes[i];
	}
	return product;
}
