#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# With CPU samples the first finding names the line of Python that the time goes to, by real PyTorch on the CPU: in the share
# that the program measures itself; not what another thread does, and no line where the time is not the CPU's.
. "$(dirname "$0")/lib.sh"
need REPORT PYTHON TORCH JQ PLAIN
program=$ROOT/test/python/code.py
export GPROF_CPU_HZ=997 OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1

# run CAUSE: the program; its first finding is $finding, the share that it measured $share.
run()
{
	rm -rf "$GPROF_DIR"
	record "$TORCH_PYTHON" "$program" "$1"
	is 0 "$rc" "exit status of code.py $1"
	share=$(cat "$T/out")
	summary headline,cpu-lines,notices
	finding=$(query '.headline.rows[0].finding_1')
	echo "# $1: $finding; measured $share %"
}

# names BEGIN: the finding begins so, and goes on with the line and its share.
names()
{
	local pattern="^$1, ([0-9.]+) % of its CPU samples at code.py\\(([0-9]+)\\): compress;"
	if [[ $finding =~ $pattern ]]; then
		ok awk "BEGIN { exit !(${BASH_REMATCH[1]} - $share <= 6 && $share - ${BASH_REMATCH[1]} <= 6) }"
		is "$(grep -n '# LINE compress' "$program" | cut -d: -f1)" "${BASH_REMATCH[2]}" "line"
	else
		mismatch "not as expected: '$1' with a line: $finding"
	fi
}

run compute
refusal=$(query '[.notices.rows[] | select(.cause == "no CPU samples" or .cause == "no Python stacks of CPU samples").text] | join(" ")')
[ -z "$refusal" ] || skip "no CPU samples here: $refusal"
names "The loop runs Python code"
run load
names "The loop loads data itself"
run wait
is "The loop runs code outside of operators, such as Python;" "$(grep -oE '^[^;]*;' <<<"$finding")" "a loop that sleeps"
finish
