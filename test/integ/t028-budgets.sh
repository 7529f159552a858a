#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What gprof adds to a launch, to cudaGetDevice, to an operator of PyTorch and to the memory of its tensor stays within
# test/bench/cold/budgets: instructions, cache lines, page faults and system calls, with a runtime and a
# CUPTI that do nothing.
. "$(dirname "$0")/lib.sh"
need PLAIN
[ -e "$B/bench/cold/launches" ] || skip "the runtime that is counted with is not built (make cold)"

test/bench/cold/cold.sh "$B" counted >"$T/out" 2>&1
rc=$?
cat "$T/out"
[ $rc != 77 ] || skip "$(tail -1 "$T/out")"
is 12 "$(grep -c ' ok$' "$T/out")" "rows within their budgets"
is 0 $rc "exit status"
finish
