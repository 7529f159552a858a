#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two runs compared: a slower GPU's kernels are named; a run equals itself.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

# run DIRECTORY KERNEL_NS
run()
{
	GPROF_DIR=$T/$1 SIM_KERNEL_NS=$2 record "$B/integ/s_loop" 40 9 call sleep=1
	is 0 "$rc" "exit status of $1"
}

# differs STATUS A B OPTION...: the exit status; the tables are in $T/diff.json
differs()
{
	local wanted=$1
	shift
	"$REPORT" diff "$T/$1" "$T/$2" --format json "${@:3}" >"$T/diff.json" 2>"$T/diff.err"
	is "$wanted" "$?" "exit status of diff $*"
}

# Long beside the moments for which a busy machine takes the simulated device from its core.
run before 2000000
run after 3000000
# answer: the first sentence of the comparison of A and B
answer()
{
	"$REPORT" diff "$T/$1" "$T/$2" "${@:3}" >"$T/diff.txt" 2>/dev/null
	"$REPORT" diff --format json "$T/$1" "$T/$2" "${@:3}" 2>/dev/null | jq -r '.answer.rows[0].answer'
}

# The answer comes first, then what changed most, either way.
ok grep -qE '^B is [0-9]+ % slower: median [0-9.]+( ms)? -> [0-9.]+ ms a step.* \(p < 0\.01; [0-9]+ and [0-9]+ steps\)' <(answer before after)
ok grep -q '^B is ' <(head -1 "$T/diff.txt")
is "1 0" "$(grep -c '^Changes ' "$T/diff.txt") $(grep -cE '^(Slower|Faster) ' "$T/diff.txt")" "changes are one list"
ok grep -qE '^Changes [^ ].* \+' "$T/diff.txt" "with the largest first"
ok grep -qE '^B is [0-9]+ % faster: ' <(answer after before)
ok grep -qE '^Changes [^ ].* -' "$T/diff.txt"
ok grep -qE '^No significant change: median [0-9.]+ -> [0-9.]+ ms a step.* \(p = 1\.00; ' <(answer before before)
is 0 "$(grep -cE 'passed|FAILED|Conditions|p = 0\.00' "$T/diff.txt")" "conditions that nobody gave"
# One test: where p is printed, it is the same.
differs 4 before after --fail-on 'step_time>0%'
is true "$(jq '[.answer.rows[0].p, (.step.rows[] | select(.name == "step_time").p), .checks.rows[0].p] | min == max' "$T/diff.json")" "p of the step time"
is true "$(jq '.answer.rows[0] as $answer | .step.rows[] | select(.name == "step_time") |
	.a_ns == $answer.a_median_ns and .b_ns == $answer.b_median_ns and .significance == $answer.significance' "$T/diff.json")" "the step time"
"$REPORT" diff "$T/before" "$T/after" --wide --fail-on 'step_time>0%' >"$T/diff.txt" 2>/dev/null
is "1 0" "$(grep '^  step_time ' "$T/diff.txt" | grep -c ' < 0\.01 ') $(grep -c ' 0\.00  *1\.00 ' "$T/diff.txt")" "p that rounds to 0"
# The steps are those of the first screen.
for side in before after; do
	"$REPORT" summary --view headline --format json "$T/$side" 2>/dev/null | jq -c '.headline.rows[0] | [.steps, .median_ns]' >"$T/$side.steps"
done
is "$(jq -cs add "$T/before.steps" "$T/after.steps")" "$(jq -c '.answer.rows[0] | [.a_steps, .a_median_ns, .b_steps, .b_median_ns]' "$T/diff.json")" "steps and medians of the first screen"
differs 0 before before --fail-on 'step_time>0%' --fail-on 'kernel:*>0%'
is 0 "$(jq '[.kernel.rows[] | select(.change_ns != 0)] | length' "$T/diff.json")" "changes of a run from itself"
differs 4 before after --fail-on 'kernel_time>20%'
is true "$(jq '.kernel.rows[0] | .change_pct > 20 and .change_pct < 100' "$T/diff.json")" "kernels that take half as long again"
is '"significant"' "$(jq '.kernel.rows[0].significance' "$T/diff.json")" "the significance"
is '"FAILED"' "$(jq '.checks.rows[0].result' "$T/diff.json")" "the condition"
differs 0 before after --fail-on 'kernel_time>300%' --fail-on 'copy_time>300%'
differs 0 after before --fail-on 'kernel_time>0%'
is true "$(jq '[.kernel.rows[] | .change_ns - (.b_ns - .a_ns) | fabs < 2] | all' "$T/diff.json")" "what became faster has a change below 0"
differs 3 before after --fail-on 'operator:aten::mm>0%'
is 1 "$(grep -c "no name in A or B matches" "$T/diff.err")" "sentence about a condition on nothing"
# Too few steps to tell: a status of its own, or that of a failure.
differs 5 before after --steps 3-5 --fail-on 'kernel_time>5%'
is '"inconclusive"' "$(jq '.checks.rows[0].result' "$T/diff.json")" "three steps each"
differs 4 before after --steps 3-5 --fail-on 'kernel_time>5%' --fail-on-inconclusive
differs 4 before after --fail-on 'kernel_time>20%' --fail-on 'kernel_time>300%'
is true "$(jq '.checks.rows[0] | .change_low_pct > 20 and .change_low_ns <= .change_ns and .change_ns <= .change_high_ns and .p < 0.01 and .outliers_a < 20' \
	"$T/diff.json")" "estimate, interval, p and outliers"
# For a pull request: the result first, the conditions as a table, all else folded.
"$REPORT" diff "$T/before" "$T/after" --format github --fail-on 'kernel_time>20%' >"$T/diff.md" 2>/dev/null
is "4 ## gprof: failed" "$? $(head -1 "$T/diff.md")" "status and first line for a pull request"
is "1 1" "$(sed '/^<details>/,$d' "$T/diff.md" | grep -c 'FAILED') $(sed '1,/^<details>/d' "$T/diff.md" | grep -c '^### Kernels')" "the condition, and what is folded"
is "</details>" "$(tail -1 "$T/diff.md")" "the end of what is folded"
"$REPORT" diff "$T/before" "$T/after" --format=github >"$T/diff.md" 2>/dev/null
is "## gprof: two runs compared" "$(head -1 "$T/diff.md")" "without conditions"
is 1 "$(sed '/^<details>/,$d' "$T/diff.md" | grep -c '^\*\*B is .* slower: .*\*\*$')" "the answer for a pull request"
differs 0 before after
is null "$(jq .checks "$T/diff.json")" "conditions that nobody gave"
differs 2 before after --fail-on 'kernel_time'
differs 2 before after --steps 1000
differs 0 before after --steps 3-12
is 10 "$(jq '.sides.rows[0].steps' "$T/diff.json")" "steps that were chosen"
differs 1 before gone
finish
