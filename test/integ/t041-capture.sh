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
finish
