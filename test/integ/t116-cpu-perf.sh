#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CPU samples beside those that perf takes of the same run: the same functions, in the same shares of the samples of each thread.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ PLAIN
sampling=(perf record -q -e task-clock:u -c 1000000 -o "$T/perf.data")
"${sampling[@]}" true 2>/dev/null || skip "no perf that works"
work=30000
GPROF_CPU_HZ=1000 record "${sampling[@]}" "$B/integ/s_cpu" 5 $work
summary cpu,cpu-threads,notices
[ "$(query '[.notices.rows[] | select(.cause == "CPU samples refused")] | length')" = 0 ] || skip "the kernel refuses perf_event_open to gprof"
perf script -i "$T/perf.data" -F ip,sym 2>/dev/null | awk '{n[$2]++} END {for (name in n) print name, n[name]}' >"$T/perf"
query '.cpu.rows[] | "\(.name) \(.samples)"' >"$T/ours"
# share FILE A B: samples of A, in percent of those of A and B.
share()
{
	awk -v a="$2" -v b="$3" '$1 == a {na = $2} $1 == b {nb = $2} END {print na + nb ? 100 * na / (na + nb) : -1}' "$1"
}
for pair in "work_three work_one" "work_two work_one"; do
	# shellcheck disable=SC2086 # two words
	perfs=$(share "$T/perf" $pair) ours=$(share "$T/ours" $pair)
	ok test "${perfs%.*}" -gt 0
	awk "BEGIN { exit !($perfs - $ours <= 8 && $ours - $perfs <= 8) }" || mismatch "not as expected: $pair: perf has $perfs %, gprof $ours %"
done
finish
