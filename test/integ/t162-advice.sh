#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a finding would save is what `whatif` predicts, and each program's first finding is its trouble.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ PLAIN
export LD_LIBRARY_PATH=$ROOT/$B/torch/GOOD GPROF_STEP=api:cudaStreamQuery GPROF_TORCH=ops

# report COMMAND...
report()
{
	"$REPORT" "$@" --format json --steps 8-16 "$GPROF_DIR" >"$T/json" 2>"$T/report.err"
}

# found NAME PROGRAM SETTINGS REMOVAL RULES: the first finding is one of the rules, and saves what whatif says.
found()
{
	local predicted first try
	# On a busy machine a run may not be predictable, or its greatest trouble may be that machine.
	for try in {1..15}; do
		rm -rf "$GPROF_DIR"
		# shellcheck disable=SC2086 # words
		record env $3 "$B/integ/s_whatif" "$2"
		report whatif
		first=$(query '.what_if.rows[0] | select(.saved_ns).change')
		[ "$first" != "$4" ] || break
		echo "# $1: try $try: '$first' would save most"
	done
	predicted=$(query '.what_if.rows[0] | "\(.saved_ns) of \(.step_ns)"')
	is "$4" "$first" "$1: what would save most, by whatif"
	report summary --view advice --all
	is "$predicted" "$(query '.advice.rows[0] | "\(.saved_ns) of \(.step_ns)"')" "$1: the finding saves what whatif says"
	is "$predicted" "$(query ".advice.rows[] | select(.rule == \"what-if-$4\") | \"\(.saved_ns) of \(.step_ns)\"")" "$1: so does the rule of the replay"
	is true "$(query ".advice.rows[0].rule | IN($5)")" "$1: what is found first"
	is true "$(query '[.advice.rows[] | select(.shown == "yes") | (.saved_pct // 100) >= 1] | all')" "$1: what is shown saves 1 % or more"
	report summary --view advice
	is "$(query '[.advice.rows[] | select(.shown == "yes")] | length')" "$(query '.advice.rows | length')" "$1: only that is shown without --all"
}

loop=kernels=20 ms=SIM_KERNEL_NS=1000000
found "batches come late" "loader_ms=40 $loop" $ms loader '"tb-dataloader", "loader-starvation", "what-if-loader"'
found "copies block" "copy=blocking kernels=10" "SIM_KERNEL_NS=20000 SIM_TIME_SCALE=50" copies \
	'"cuda_memcpy_sync", "pageable-copies", "nvvp-copy-overlap", "nvvp-copy-throughput", "what-if-copies"'
found "the loop waits" "sync=1 loader_ms=15 kernels=24" $ms sync '"sync-in-step", "cuda_api_sync", "what-if-sync"'
found "launches take long" "host_us=5000 kernels=6" SIM_KERNEL_NS=2000000 launch-overhead '"host-bound", "what-if-launch-overhead"'
found "a rank is slow" "ranks=4 $loop" "$ms SLOW_NS=1500000 SIM_NCCL_GBPS=0.001" stragglers '"stragglers", "what-if-stragglers"'
found "the network is slow" "ranks=4 $loop" "$ms SIM_NCCL_GBPS=0.0003" communication \
	'"unoverlapped-communication", "tb-communication", "what-if-communication"'

# Without steps the recording counts as a whole, and the sentence says so.
rm -rf "$GPROF_DIR"
GPROF_STEP=none record env $ms "$B/integ/s_whatif" "loader_ms=40 $loop"
"$REPORT" --view advice --format json "$GPROF_DIR" >"$T/json"
is 0 "$(query '[.advice.rows[].finding | select(test("per step"))] | length')" "without steps no finding is of a step"
finish
