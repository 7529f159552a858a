#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs as nvcc builds them by default, with the CUDA runtime in them: every call that launches is recorded,
# each with its kernels, and a kernel takes as long as the program's own events say.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ NVCC PLAIN
${MAKE:-make} --no-print-directory prog-static NVCCFLAGS=-arch=sm_90 >"$T/make" 2>&1 || {
	cat "$T/make"
	exit 1
}

calls_of() { query "[.api.rows[] | select(.name == \"$1\").calls] | add // 0"; }

# check NAME LAUNCHES COOPERATIVE GRAPHS KERNELS: what the program does, without the 20 timed launches and
# the 20 kernels before them. A graph has the kernels of the 7 launches that are captured.
check()
{
	plain "$B/prog-static/$1" timed
	rm -rf "$GPROF_DIR"
	record "$B/prog-static/$1" timed
	is "$plain_rc $(grep -v event_ns "$T/plain.out")" "$rc $(grep -v event_ns "$T/out")" "$1: status and output"
	summary api,kernel,losses,notices
	is "$2 $3 $4" "$(calls_of __cudaLaunchKernel) $(calls_of cudaLaunchCooperativeKernel) $(calls_of cudaGraphLaunch)" \
		"$1: launches"
	is "$5" "$(query '[.kernel.rows[].calls] | add')" "$1: kernels"
	is "0 0" "$(query '"\(.losses.rows | length) \(.notices.rows | length)"')" "$1: losses and notices"
	is "event_ns $(query '.kernel.rows[] | select(.name == "timed()").min_ns')" "$(grep event_ns "$T/out")" \
		"$1: time by events"
	"$REPORT" timeline -o "$T/trace.json" "$GPROF_DIR" 2>"$T/err" || failed=1
	is 0 "$(jq '([.traceEvents[] | select(.cat == "cuda_runtime") | .args.correlation]) as $calls |
		[.traceEvents[] | select(.cat == "kernel") | .args.correlation] - $calls | length' "$T/trace.json")" \
		"$1: kernels without a launch"
}

check streams $((12 + 40)) 0 0 $((12 + 40))
check graphs $((20 + 7)) 0 $((6 + 20)) $((18 + 40))
check managed $((6 + 40)) 0 0 $((6 + 40))
check cooperative 20 $((1 + 20)) 0 $((1 + 40))

# This runtime has its driver functions from cuGetProcAddress, too: with GPROF_DRIVER=1 they are recorded within its calls.
rm -rf "$GPROF_DIR"
GPROF_DRIVER=1 record "$B/prog-static/streams"
summary api,kernel
ok grep -q ', 0 wrong in a box$' "$T/out"
is "12 12 4 4 4 1 12" "$(calls_of __cudaLaunchKernel) $(calls_of cuLaunchKernel) $(calls_of cuEventRecord) $(calls_of cuStreamCreate) \
$(calls_of cuMemcpyDtoHAsync_v2) $(calls_of cuMemcpy3D_v2) $(query '[.kernel.rows[].calls] | add')" "driver calls within a static runtime"
finish
