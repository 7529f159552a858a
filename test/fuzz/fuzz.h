/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz targets have libFuzzer's signature. Built with clang -fsanitize=fuzzer they search; linked
 * with driver.c they run their corpus, and mutations of it, as a test.
 */
#ifndef TEST_FUZZ_FUZZ_H
#define TEST_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes);

#endif
