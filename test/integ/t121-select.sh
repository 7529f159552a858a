#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the command line selects: steps, windows, ranks, pids; a message names what is not there.
. "$(dirname "$0")/lib.sh"
need REPORT REPORT_ALONE JQ
[ -x "$B/gen_stream" ] || skip "gen_stream is not built (make tests)"

mkdir "$T/dump"
"$B/gen_stream" "$T/dump/ops.gprof" ops
"$B/gen_stream" "$T/dump/training.gprof" 20000

# wrong TEXT OPTIONS...: a usage error that says so
wrong()
{
	local text=$1 have
	shift
	have=$("$REPORT" summary "$@" "$T/dump/ops.gprof" 2>&1)
	is 2 $? "status of $*"
	is "gprof-report: $text; try: gprof-report help summary" "$have" "usage of $*"
}

wrong "invalid numbers 'x' for --steps; examples: 3-7, 9-, -2" --steps x
wrong "invalid numbers '5-3' for --steps; examples: 3-7, 9-, -2" --steps 5-3
wrong "invalid numbers '-1' for --rank; examples: 0,3-5" --rank -1
wrong "invalid numbers '1,' for --pid; examples: 0,3-5" --pid 1,
wrong "invalid numbers '-1' for --window; examples: 0,3-5" --window -1
wrong "'$T/dump/ops.gprof': --steps: there are steps 0-2" --steps 3
wrong "'$T/dump/ops.gprof': --steps: there are steps 0-2" --steps 1,7-9
wrong "'$T/dump/ops.gprof': --window: the schedule has no windows" --window 1

GPROF_DIR=$T/dump/ops.gprof
summary kernel,steps,operator --steps 1
# shellcheck disable=SC2154 # summary sets it
is 0 "$report_rc" "status with a step"
is "1" "$(query '[.steps.rows[].step] | join(",")')" "steps"
is "4" "$(query '[.kernel.rows[].calls] | add')" "kernels of step 1"
is "1 1000000 12 0" "$(query '.selection.rows[0] | "\(.list) \(.duration_ns) \(.gpu_activities) \(.without_launch)"')" "selection"
summary kernel,steps,operator --steps -2
is "1,2" "$(query '[.steps.rows[].step] | join(",")')" "the last two"
is "8" "$(query '[.kernel.rows[].calls] | add')" "kernels of the last two"
summary kernel,steps --steps 0- --steps 2
is "0,1,2" "$(query '[.steps.rows[].step] | join(",")')" "lists add up"
summary kernel
is "null" "$(query '.selection')" "no selection"
is "12" "$(query '[.kernel.rows[].calls] | add')" "all kernels"

# The styles of other tools are of the same kernels.
have=$("$REPORT" summary --style nsys --report cuda_gpu_kern_sum --format csv --steps 1 "$GPROF_DIR" |
	awk -F, '$3 ~ /^[0-9]+$/ { sum += $3 } END { print sum }')
is 4 "$have" "kernels of step 1 as nsys has them"

# Ranks and pids.
"$REPORT" summary --rank 5 --run all "$T/dump" >"$T/out" 2>"$T/err"
is 1 $? "status without any process"
is "gprof-report: no process matches --pid and --rank; there is rank 0" "$(cat "$T/err")" "no process"
"$REPORT" summary --view kernel --rank 0,7-9 --run all "$T/dump" >"$T/out" 2>"$T/err"
is 3 $? "status with a rank that is not there"
is "gprof-report: no process matches --rank 7-9; there is rank 0" "$(cat "$T/err")" "a rank that is not there"
ok grep -q "rank 0 of 2" "$T/out"

# Of many processes the head has the number, and info names all.
mkdir "$T/many"
for i in $(seq 40); do
	"$B/gen_stream" "$T/many/$i.gprof" 20 "$i"
done
"$REPORT" summary --view kernel --run all "$T/many" >"$T/out" 2>/dev/null
is "train.py, 40 processes, rank 0 of 2" "$(head -1 "$T/out")" "the head"
is 40 "$("$REPORT" info --run all "$T/many" 2>/dev/null | grep -cE "^  process +4242 ")" "all of them"
finish
