#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Driver calls that go round the hooks are recorded by CUPTI's callbacks, once.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

plain "$B/prog/driver_api"
record "$B/prog/driver_api"
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output"
summary api,kernel,memcpy,losses
is 1 "$(query '.api.rows[] | select(.name == "cuLaunchKernel").calls')" "cuLaunchKernel"
is 1 "$(query '.api.rows[] | select(.name == "cuLaunchKernelEx").calls')" "cuLaunchKernelEx"
is 1 "$(query '.api.rows[] | select(.name == "cuMemcpyDtoH_v2").calls')" "cuMemcpyDtoH_v2"
is driver "$(query '[.api.rows[].api] | unique | join(" ")')" "APIs"
is 2 "$(query '.kernel.rows[0].calls')" "kernels"
is 0 "$(query '.losses.rows | length')" "losses"

# A runtime call makes driver calls inside: the outermost one counts.
rm -rf "$GPROF_DIR"
record "$B/prog/vector_add"
summary api
is runtime "$(query '[.api.rows[].api] | unique | join(" ")')" "APIs of a runtime program"
finish
