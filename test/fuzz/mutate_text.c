/* SPDX-License-Identifier: Apache-2.0 */
/* Texts, and what its target mends by itself: libFuzzer alone knows what to try. */
#include "test/fuzz/mutate.h"

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t nr_bytes, size_t max_bytes, unsigned int seed)
{
	(void)seed;
	return LLVMFuzzerMutate(bytes, nr_bytes, max_bytes);
}
