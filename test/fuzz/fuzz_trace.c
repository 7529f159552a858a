/* SPDX-License-Identifier: Apache-2.0 */
/* A trace of another profiler: read, checked as a stream must be, and every view of it printed. */
#include "test/fuzz/fuzz.h"
#include "test/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	fuzz_input_read_trace(bytes, nr_bytes);
	return 0;
}
