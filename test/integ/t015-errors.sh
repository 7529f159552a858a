#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Errors reach the program as they are, and are counted.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

plain "$B/prog/errors"
record "$B/prog/errors"
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output"
summary api
is 1 "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").failed')" "failed launches"
is 1 "$(query '.api.rows[] | select(.name == "cudaMalloc").failed')" "failed allocations"
summary memory-failed
# jq's numbers have 53 bits.
is "cudaMalloc refused 1048576 TiB" "$(query '.memory_failed.rows[] | "\(.name) \(.category) \(.bytes / 1099511627776) TiB"')" "what was asked for"

rm -rf "$GPROF_DIR"
export SIM_FAIL=cuLaunchKernel:2:700
plain "$B/integ/s_loop" 2 3
record "$B/integ/s_loop" 2 3
is "$plain_rc" $rc "exit status after a failing call"
is "$(cat "$T/plain.err")" "$(grep -v '^gprof' "$T/err")" "message of a failing call"
finish
