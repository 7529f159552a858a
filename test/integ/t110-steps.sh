#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Steps by themselves: unmodified loops of PyTorch, and what was taken for a step of them.
. "$(dirname "$0")/lib.sh"
need TORCH REPORT JQ PLAIN

# fact KEY: its last value.
fact()
{
	"$REPORT" info "$GPROF_DIR" | sed -n "s/^  $1 *//p" | tail -1
}

# loop KIND ITERATIONS WANTED-STEPS WANTED-RULE WANTED-CONFIDENCE
loop()
{
	rm -rf "$GPROF_DIR"
	record "$TORCH_PYTHON" test/integ/loops.py "$1" "$2"
	is 0 "$rc" "exit status of $1"
	is "done" "$(cat "$T/out")" "output of $1"
	summary steps,notices
	# The rows are the begins; the last one has no end.
	is "$3" "$(query '.steps.rows | length | if . == 0 then 0 elif . == 1 then "a begin alone" else . - 1 end')" "steps of $1"
	is "$4" "$(fact step.rule)" "rule of $1"
	is "$5" "$(fact step.confidence)" "confidence of $1"
	is 0 "$(query '.notices.rows | length')" "notices of $1"
}

loop sgd 20 20 optimizer 1.00
loop two_epochs 10 20 optimizer 1.00
loop accumulate 20 5 optimizer 1.00
loop two_optimizers 20 20 optimizer 0.95
loop two_names 20 20 optimizer 0.90
# Until the turns are known, in the second iteration, each of the two is a step; the reader leaves the first end out.
loop gan 20 20 optimizer 0.80
loop infer 40 40 dataloader 0.90
loop plain 20 0 none 0.00

export GPROF_STEP=dataloader
loop accumulate 20 20 dataloader 0.90
export GPROF_STEP=optimizer
loop infer 40 0 none 0.00

# Windows go by the steps that are found: each has the operators of its own iterations.
nr_ops()
{
	"$REPORT" info "$GPROF_DIR" | awk '$1 == "op" {print $3}'
}
GPROF_STEP=auto GPROF_SCHEDULE=10-15 loop slow 20 20 optimizer 1.00
five=$(nr_ops)
GPROF_STEP=auto GPROF_SCHEDULE=5-15 loop slow 20 20 optimizer 1.00
is $((2 * five)) "$(nr_ops)" "operators in 10 steps, by those of 5"
ok test "$five" -gt 50

# The times of steps and of the loader and nothing else: steps are found all the same. The last fetch finds the end.
GPROF_STEP=auto GPROF_TIMER_ONLY=1 loop sgd 20 20 optimizer 1.00
is 21 "$(nr_ops)" "fetches with timers only"
summary benchmark
is true "$(query '.benchmark.rows[0] | .reader_cost_min_ns > 0 and .reader_cost_avg_ns < .batch_cost_avg_ns and
	(.reader_ratio_pct - 100 * .reader_cost_avg_ns / .batch_cost_avg_ns | fabs) < 0.01')" "reader_cost with timers only"
GPROF_STEP=auto GPROF_TIMER_ONLY=1 GPROF_SCHEDULE=5-15 loop sgd 20 20 optimizer 1.00
is 10 "$(nr_ops)" "fetches of ten steps"
finish
