/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutations that know the format of an input: what they change is packed again with lengths and
 * checksums that fit, so that it reaches what reads it. Each mutate_*.c has libFuzzer's function
 * for its inputs, and leaves bytes and texts to LLVMFuzzerMutate, which knows what the target
 * compares.
 */
#ifndef TEST_FUZZ_MUTATE_H
#define TEST_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* libFuzzer's, or the driver's: changes some bytes; returns their new number, max_bytes at most. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t nr_bytes, size_t max_bytes);

size_t LLVMFuzzerCustomMutator(
	uint8_t *bytes, size_t nr_bytes, size_t max_bytes, unsigned int seed);

/* A random number; *state must not be 0. */
uint64_t mutate_random(uint64_t *state);
/* Below `end`, which must not be 0. */
uint64_t mutate_below(uint64_t *state, uint64_t end);
/* One of those at which code often goes wrong, or a small one. */
uint64_t mutate_number(uint64_t *state);

/* A stream, or a bare block of one. */
size_t mutate_stream(uint8_t *bytes, size_t nr_bytes, size_t max_bytes, uint64_t *state);

#endif
