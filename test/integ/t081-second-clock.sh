#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A client gives CUPTI a clock of its own, for good: our device times are right all the same, also
# where CUPTI errs because the client does it again.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

export SIM_KERNEL_NS=1000000
for what in clock clock=each; do
	rm -rf "$GPROF_DIR"
	rm -f "$T/log"
	GPROF_LOG=info GPROF_LOG_FILE=$T/log record "$B/integ/s_second_client" "$what" sessions=2 log="$T/log"
	is 0 "$rc" "exit status: $what"
	summary kernel
	is "20 after() 20 before()" "$(query '[.kernel.rows[] | "\(.calls) \(.name)"] | sort | join(" ")')" "kernels: $what"
	"$REPORT" timeline -o "$T/timeline.json" "$GPROF_DIR" 2>"$T/report.err"
	# Each kernel begins after its launch, and the last ends before the wait for all of them does: not
	# much later, but for what a busy machine adds (the client's clock is of another year).
	jq '[.traceEvents[] | select(.ph == "X" and .args.correlation)] as $all
		| [$all[] | select(.cat == "kernel")] as $kernels
		| [$kernels[] | . as $k | $all[] | select(.name == "cudaLaunchKernel" and .args.correlation == $k.args.correlation) | $k.ts - .ts] as $late
		| ([$all[] | select(.name == "cudaDeviceSynchronize") | .ts + .dur] | max) as $waited
		| ([$kernels | sort_by(.ts) | . as $in_order | range(1; length) | $in_order[. - 1].ts + $in_order[. - 1].dur - $in_order[.].ts] | max) as $common
		| {$common, dur: [$kernels | group_by(.name)[] | map(.dur) | sort | [.[0], .[length / 2 | floor]]],
			nr: ($late | length), least: ($late | min), most: ($late | max),
			rest: ($waited - ([$kernels[] | .ts + .dur] | max))}' "$T/timeline.json" >"$T/json"
	# One stream runs them all. The simulator's kernel takes longer where its thread waits for a CPU, never shorter, and
	# none is longer than what is left before the next one.
	is true "$(query '.common < 20')" "no two kernels run at once ($(query .common) us): $what"
	is true "$(query '.dur | map(.[0] > 990 and .[1] < 1010) | all')" "how long they took: $what"
	is 40 "$(query .nr)" "kernels with their launches: $what"
	is true "$(query '.least >= -20 and .most < 2000000')" "they begin after them ($(query .least) to $(query .most) us): $what"
	is true "$(query '.rest > -50 and .rest < 2000000')" "they end before the wait ($(query .rest) us): $what"
done
finish
