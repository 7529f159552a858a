#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counts, bytes and times of what a program did; kernels join the calls that launched them.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

plain "$B/prog/vector_add"
record "$B/prog/vector_add"
is 0 $rc "exit status"
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output"
summary api,kernel,memcpy,memset,sync,threads,losses,notices
is 0 $report_rc "report's status: $(cat "$T/report.err")"
is 16 "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')" "launches"
is 8 "$(query '.api.rows[] | select(.name == "cudaMemcpyAsync").calls')" "asynchronous copies"
is 3 "$(query '.api.rows[] | select(.name == "cudaMalloc").calls')" "allocations"
is 1 "$(query '.api.rows[] | select(.name == "cudaStreamSynchronize").calls')" "waits"
is 0 "$(query '[.api.rows[].failed] | add')" "failed calls"
is "8 8" "$(query '[.kernel.rows[].calls] | join(" ")')" "kernels"
is 131072 "$(query '.memcpy.rows[] | select(.direction == "HtoD").total_bytes')" "bytes to the device"
is 16384 "$(query '.memcpy.rows[] | select(.direction == "DtoH").total_bytes')" "bytes from the device"
is "Pinned Pageable" "$(query '[(.memcpy.rows[] | select(.direction == "HtoD").source), (.memcpy.rows[] | select(.direction == "DtoH").target)] | join(" ")')" "host memory kinds"
is 131072 "$(query '.memset.rows[0].total_bytes')" "bytes set"
is 0 "$(query '.losses.rows | length')" "losses"
is 0 "$(query '.notices.rows | length')" "notices"

"$REPORT" timeline -o "$T/trace.json" "$GPROF_DIR" 2>"$T/err" || failed=1
jq '[.traceEvents[] | select(.cat == "kernel") | .args.correlation] | sort' "$T/trace.json" >"$T/kernels"
jq '[.traceEvents[] | select(.cat == "cuda_runtime" and .name == "cudaLaunchKernel") | .args.correlation] | sort' \
	"$T/trace.json" >"$T/launches"
is 16 "$(jq length "$T/kernels")" "kernels in the timeline"
ok cmp "$T/kernels" "$T/launches"
finish
