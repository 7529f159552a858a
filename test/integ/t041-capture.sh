#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# GPROF_CAPTURE=cudaprofiler records between cudaProfilerStart and Stop only.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

GPROF_CAPTURE=cudaprofiler record "$B/integ/s_loop" 10 5 capture=3-7
summary api,kernel,windows
is 20 "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')" "launches in the capture"
is 20 "$(query '[.kernel.rows[].calls] | add')" "kernels in the capture"
rm -rf "$GPROF_DIR"
record "$B/integ/s_loop" 10 5 capture=3-7
summary api
is 50 "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')" "launches without a capture"

# The first call of all may start the capture or end a step.
gcc -O1 "${sanitize[@]}" -o "$T/first" test/calls/first.c "$SIM/libcudart.so.13" || exit 1
rm -rf "$GPROF_DIR"
GPROF_CAPTURE=cudaprofiler record "$T/first" capture
summary api
is 10 "$(query '.api.rows[] | select(.name == "cudaDeviceSynchronize").calls')" "calls in a capture that begins with the first call"
rm -rf "$GPROF_DIR"
GPROF_STEP=api:cudaDeviceSynchronize record "$T/first"
summary steps
is 11 "$(query '.steps.rows | length')" "steps, the first ended by the first call, and the rest after the last"
finish
