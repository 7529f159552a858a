#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CPU samples of Python programs that use no GPU: lines in known shares, of threads and child processes too; py-spy is
# the witness where it is installed. test/python/run.sh has the shares in each version of Python.
. "$(dirname "$0")/lib.sh"
need REPORT PYTHON JQ
[[ $B != *san-thread ]] || skip "ThreadSanitizer does not support threads after a fork with threads"
python=$(command -v python3)
program=$ROOT/test/python/samples.py
export GPROF_CPU_HZ=200
# The interpreter frees little at its end.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0

# run ARGUMENT...: the program with gprof, in a clean folder.
run()
{
	rm -rf "$GPROF_DIR"
	record "$python" "$program" "$@"
	is 0 "$rc" "exit status of samples.py $*"
	summary cpu-lines,cpu,cpu-threads,notices
}

line_of() { grep -n "# LINE $1" "$program" | cut -d: -f1; }

# total FUNCTION: samples in it and what it called, in percent of those with Python frames; a function has them at one
# line at a time.
total() { query "[.cpu_lines.rows[] | select(.function == \"$1\").total_share_pct] | add // 0"; }

is_near()
{
	awk "BEGIN { exit !($2 - $1 <= $3 && $1 - $2 <= $3) }" || mismatch "not as expected: $4: want about $1, have $2"
}

run 1
refusal=$(query '[.notices.rows[] | select(.cause == "CPU samples refused").code] | join(" ")')
[ -z "$refusal" ] || skip "the kernel refuses perf_event_open: error $refusal"
refusal=$(query '[.notices.rows[] | select(.cause == "no Python stacks of CPU samples").text] | join(" ")')
[ -z "$refusal" ] || skip "Python's frames cannot be read here: $refusal"

# ---- a plain program ----
run 3
plain "$python" "$program" 0.1
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output"
ok test "$(query '[.cpu_lines.rows[].samples] | add')" -ge 60
is_near 60 "$(total decode)" 12 "share of decode"
is_near 30 "$(total augment)" 12 "share of augment"
is_near 10 "$(total collate)" 12 "share of collate"
is "$(line_of augment)" "$(query '[.cpu_lines.rows[] | select(.function == "augment")] | max_by(.samples).line')" "line of augment"
is "$(line_of decode)" "$(query '[.cpu_lines.rows[] | select(.function == "decode")] | max_by(.total_samples).line')" "line of decode"
is "$program" "$(query '.cpu_lines.rows[0].file')" "file"
is "spin" "$(query '.cpu_lines.rows[0].function')" "function of the first line"
ok test "$(query '[.cpu.rows[] | select(.name | test("^samples.py.*: augment$")).total_samples] | add // 0')" -gt 10
is 0 "$(query '[.cpu.rows[] | select(.name | test("^samples.py.*: work$")).samples] | add // 0')" "samples in work itself"
# The first screen names the line.
"$REPORT" "$GPROF_DIR" >"$T/first" 2>&1
ok grep -qE '^Python +[0-9.]+ % of Python.s CPU samples at samples.py\([0-9]+\): spin' "$T/first"
# Machine code lies below the line that called it.
"$REPORT" flame --samples -o - "$GPROF_DIR" >"$T/folded" 2>&1
ok grep -qE ';samples.py\([0-9]+\): work;samples.py\([0-9]+\): augment(;[^;]*[^0-9; ][^;]*)+ [0-9]+$' "$T/folded"

# Not its innermost function alone, also where the interpreter has no frame pointers.
if [ "$("$REPORT" info "$GPROF_DIR" 2>/dev/null | awk '$1 == "cpu_samples.stack_bytes" { print $2 }')" != 0 ]; then
	whole=$(awk '/: augment;/ { n += $NF; if (/: augment;[^;]+;[^;]+/) whole += $NF } END { print n ? 100 * whole / n : -1 }' "$T/folded")
	is_near 100 "$whole" 10 "samples of augment with the functions between"
fi

# ---- threads and child processes ----
run 1 threads
ok test "$(query '[.cpu_lines.rows[] | select(.function == "another").samples] | add // 0')" -gt 10
is 2 "$(query '[.cpu_threads.rows[] | select(.samples > 50)] | length')" "threads with samples"
for how in fork spawn; do
	run 1 $how
	is 2 "$(query '[.cpu_threads.rows[] | select(.samples > 50).pid] | unique | length')" "processes with samples with $how"
	is 1 "$(query "[.cpu_lines.rows[] | select(.function == \"augment\" and .line == $(line_of augment))] | length")" \
		"rows of the line in both, with $how"
done

# ---- a program that uses the signal that wakes the drain: it gets each one, as it was sent ----
rm -rf "$GPROF_DIR"
plain "$python" "$ROOT/test/python/stkflt.py" 0.1
record "$python" "$ROOT/test/python/stkflt.py" 1
is 0 "$rc" "exit status of stkflt.py"
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "signals of the program"
summary notices
is 1 "$(query '[.notices.rows[] | select(.cause == "Python stacks of CPU samples end")] | length')" "notices of them"

# ---- when nothing is to be sampled ----
rm -rf "$GPROF_DIR"
GPROF_CPU_HZ=0 record "$python" "$program" 0.1
is "" "$(ls "$GPROF_DIR" 2>/dev/null)" "streams without samples"

# ---- the witness ----
spy=$(command -v py-spy || echo "$ROOT/build/pyspy/bin/py-spy")
if [ -x "$spy" ] && [[ $B != *san-* ]] &&
	GPROF_ENABLE=0 "$spy" record -r 100 -f raw -o "$T/spy" -- "$python" "$program" 4 >"$T/spy.out" 2>&1; then
	run 4
	for function in decode augment collate; do
		theirs=$(awk -v name=";$function " '{n += $NF; if (index(";" $0, name)) f += $NF} END {print n ? 100 * f / n : -1}' "$T/spy")
		is_near "$theirs" "$(total $function)" 12 "share of $function as py-spy has it"
	done
else
	echo "# no py-spy that works: python3 -m venv build/pyspy && build/pyspy/bin/pip install py-spy"
fi
finish
