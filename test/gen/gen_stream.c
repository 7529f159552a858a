/* SPDX-License-Identifier: Apache-2.0 */
/* gen_stream FILE [EVENTS [SEED]]: the reference stream; without EVENTS the small one. */
#include <stdio.h>
#include <stdlib.h>

#include "test/gen/gen.h"

int main(int argc, char **argv)
{
	struct gen *gen;

	if (argc < 2) {
		fprintf(stderr, "usage: gen_stream FILE [EVENTS [SEED]]\n");
		return 2;
	}
	gen = gen_open(argv[1]);
	if (argc > 2) {
		gen_training(gen, strtoull(argv[2], NULL, 10),
			argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
	} else {
		gen_small(gen);
	}
	gen_close(gen, "exit");
	return 0;
}
