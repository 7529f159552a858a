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

# All calls, on request: the same output, nested calls once each, work joined to the outermost.
calls_of() { query "[.api.rows[] | select(.name == \"$1\").calls] | add // 0"; }
rm -rf "$GPROF_DIR"
GPROF_DRIVER=1 record "$B/prog/vector_add"
summary api,kernel,losses,launch-latency
is 16 "$(calls_of cudaLaunchKernel)" "launches"
is 16 "$(calls_of cuLaunchKernel)" "driver calls within launches"
is "18 16 8" "$(calls_of cuEventRecord) $(calls_of cuStreamWaitEvent) $(calls_of cuMemsetD8Async)" "driver calls within events and sets"
calls_by() { query "[.api.rows[] | select(.api == \"$1\").calls] | add"; }
is 2 "$(calls_of cuKernelGetFunction)" "driver calls that load kernels, within their first launches"
is "$(calls_by runtime)" $(($(calls_by driver) - 2)) "a driver call within each call of the runtime"
is "driver runtime" "$(query '[.api.rows[].api] | unique | join(" ")')" "APIs of a runtime program with driver calls"
is 16 "$(query '[.kernel.rows[].calls] | add')" "kernels"
is 33 "$(query '[.launch_latency.rows[].calls] | add')" "work with its call"
is 0 "$(query '.losses.rows | length')" "losses with driver calls"
ok grep -q 'Driver calls within other calls' "$T/json"

# Hooked functions of the driver stand once.
for on in 0 1; do
	rm -rf "$GPROF_DIR"
	GPROF_DRIVER=$on record "$B/prog/driver_linked"
	summary api
	query '.api.rows[] | "\(.calls) \(.name)"' | sort >"$T/linked.$on"
done
is "$(cat "$T/linked.0")" "$(cat "$T/linked.1")" "calls of a program linked with the driver"

# A function without a hook cannot end steps, whether CUPTI calls back for it or not.
rm -rf "$GPROF_DIR"
GPROF_DRIVER=1 GPROF_STEP=api:cuArrayGetPlane record "$B/prog/vector_add"
ok grep -q 'GPROF_STEP=api:cuArrayGetPlane is not allowed' "$T/err"

plain "$B/integ/s_driver"
for on in 0 1; do
	rm -rf "$GPROF_DIR"
	GPROF_DRIVER=$on record "$B/integ/s_driver"
	is "$(cat "$T/plain.out")" "$(cat "$T/out")" "GPROF_DRIVER=$on: results, and what cuGetProcAddress returns"
	summary api
	is $((348 * on)) "$(calls_of cuDeviceGetAttribute)" "GPROF_DRIVER=$on: cuDeviceGetAttribute by cuGetProcAddress"
	is $((3 * on)) "$(calls_of cuMemAlloc_v2)" "GPROF_DRIVER=$on: cuMemAlloc_v2 within cudaMalloc"
	is 3 "$(calls_of cudaMalloc)" "GPROF_DRIVER=$on: cudaMalloc"
done
finish
