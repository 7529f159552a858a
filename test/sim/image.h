/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels and variables that a module's image defines. */
#ifndef GPROF_SIM_IMAGE_H
#define GPROF_SIM_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_image {
	struct sim_image_symbol {
		char *name;
		bool is_kernel;
		uint64_t bytes; /* of a variable; of a kernel its static shared memory */
	} * symbols;
	size_t nr;
	bool is_opaque; /* a fat binary: its format is not public, so any kernel may be in it */
};

/* False where there is no memory, or the image is none; @image is then empty. */
bool sim_image_read(struct sim_image *image, const void *bytes);

void sim_image_free(struct sim_image *image);

/* NULL if there is none of that name and sort. */
const struct sim_image_symbol *sim_image_find(
	const struct sim_image *image, const char *name, bool is_kernel);

#endif
