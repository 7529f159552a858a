#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# With CPU samples the first finding names the line of Python that the time goes to, by real PyTorch on the CPU: in the share
# that the program measures itself; not what another thread does, and no line where the time is not the CPU's.
. "$(dirname "$0")/lib.sh"
need REPORT PYTHON TORCH JQ PLAIN
program=$ROOT/test/python/code.py
export GPROF_SAMPLE_MS=0 # or waits for a CPU of a busy machine come first
export GPROF_CPU_HZ=997 OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1

TRIES=3

# run CAUSE: the program; its first finding is $finding, the share that it measured $share. It was on a CPU for $busy percent.
run()
{
	rm -rf "$GPROF_DIR"
	record "$TORCH_PYTHON" "$program" "$1"
	# shellcheck disable=SC2154 # of record
	is 0 "$rc" "exit status of code.py $1"
	read -r share busy <"$T/out"
	summary headline,cpu-lines,notices
	finding=$(query '.headline.rows[0].finding_1')
	echo "# $1: $finding; measured $share %, on a CPU for $busy % of the time"
}

# is_named BEGIN OF: does the finding begin so, and go on with the line and its share of that?
is_named()
{
	local pattern="^$1, ([0-9.]+) % of $2 at code.py\\(([0-9]+)\\): compress;"
	[[ $finding =~ $pattern ]] && [ "${BASH_REMATCH[2]}" = "$line" ] &&
		awk "BEGIN { exit !(${BASH_REMATCH[1]} - $share <= 6 && $share - ${BASH_REMATCH[1]} <= 6) }"
}

# names CAUSE BEGIN OF: so it does where the loop computes for more than half of the time. Else, on a busy machine, it names no line,
# or this one where the steps themselves had more CPU than the program.
names()
{
	local times
	for ((times = 1; times <= TRIES; times++)); do
		run "$1"
		[ "${busy%.*}" -lt 60 ] || break
	done
	if [ "${busy%.*}" -ge 60 ]; then
		is_named "$2" "$3" || mismatch "not as expected: '$2' with line $line and $share %: $finding"
	elif [ "${busy%.*}" -le 40 ]; then
		[[ $finding != *"of $3 at"* ]] || is_named "$2" "$3" || mismatch "names another line than $line with $share %: $finding"
	fi
}

line=$(grep -n '# LINE compress' "$program" | cut -d: -f1)
run compute
refusal=$(query '[.notices.rows[] | select(.cause == "CPU samples refused" or .cause == "no Python stacks of CPU samples").text] | join(" ")')
[ -z "$refusal" ] || skip "no CPU samples here: $refusal"
names compute "The loop runs Python code" "its CPU samples"
names load "The loop loads data itself" it
run wait
slept=$(grep -n '# LINE sleep' "$program" | cut -d: -f1)
ok grep -qE "^The loop waits at code.py\\($slept\\): compress, in (clock_nanosleep|p?select6?);" <<<"$finding"
# Without steps no finding says what takes the time; the line of Python stands beside the shares of the CPU.
run infer
"$REPORT" "$GPROF_DIR" >"$T/first" 2>&1
ok grep -q '^CPU .* in operators' "$T/first"
ok grep -qE "(^Python|^ ) +[0-9.]+ %( of Python's CPU samples)? at code.py\\($line\\): compress" "$T/first"
finish
