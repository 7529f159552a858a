#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A function that no library has returns the API's own error, and errno stays.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

record "$B/integ/s_missing"
is 0 $rc "exit status: $(cat "$T/err")"
is "cudaThreadSynchronize 500 errno 7" "$(grep cudaThreadSynchronize "$T/out")" "a removed call"
is "cudaMemcpyToArray 500 errno 7" "$(grep cudaMemcpyToArray "$T/out")" "another"
is "cudaDeviceSynchronize 500 errno 7" "$(grep cudaDeviceSynchronize "$T/out")" "a required one"
finish
