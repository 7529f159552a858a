#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Context switches: counts and times against the kernel's own of the same threads, in /proc, which the program reads
# itself; what nsys's table and an export have; lost records are counted and their time is unknown; a user without
# privileges. Counts are compared, never how long anything takes.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
export GPROF_SCHED=on GPROF_CPU_HZ=0

# csv QUERY [FILE]: rows without the titles.
csv()
{
	"$REPORT" sql --format csv "$1" "${2:-$GPROF_DIR}" 2>"$T/report.err" | tail -n +2
}

# offset: from times of the report to CLOCK_MONOTONIC. An anchor that is older than the first event has time 0.
offset()
{
	csv "SELECT max(monotonic_ns - time_ns) FROM anchor"
}

# run ARGUMENT...: s_sched with gprof, in a clean folder.
run()
{
	rm -rf "$GPROF_DIR"
	record "$B/integ/s_sched" "$@"
	is 0 "$rc" "exit status of s_sched $*"
	is 2 "$(wc -l <"$T/out")" "workers"
	offset=$(offset)
}

# lost: how many records found no room.
lost()
{
	csv "SELECT ifnull(sum(count), 0) FROM loss WHERE cause LIKE 'context switch%'"
}

# counts TID FROM TO: of rows that begin in this time: blocked, preempted; ns of them all, and that it ran.
counts()
{
	csv "WITH r AS (SELECT state, switches, start_ns AS at, max(start_ns, $2 - $offset) AS b, min(start_ns + dur_ns, $3 - $offset) AS e
		FROM thread_state WHERE task = $1 AND start_ns < $3 - $offset AND start_ns + dur_ns > $2 - $offset)
		SELECT sum(state = 3 AND switches & 1 AND at >= b), sum(state = 2 AND switches & 1 AND at >= b),
		sum(e - b), sum(CASE state WHEN 1 THEN e - b ELSE 0 END), sum(CASE state WHEN 2 THEN e - b ELSE 0 END) FROM r" | tr , ' '
}

# is_close WANT HAVE WHAT: the program is perhaps switched between its look at the clock and that at its counts.
is_close()
{
	# On a machine that hardly lets gprof read, some are missing, which is counted.
	[ "$(lost)" = 0 ] || { ok test "$2" -le $(($1 + 3)); return; }
	awk "BEGIN { d = $1 - $2; d = d < 0 ? -d : d; exit !(d <= 3 + $1 / 1000) }" || mismatch "not as expected: $3: want $1, have $2"
}

# is_near WANT HAVE UNKNOWN WHAT: the program reads its clock and these one after the other. What a hypervisor took from the
# CPU is neither of both for the kernel.
is_near()
{
	awk "BEGIN { d = $1 - $2; d = d < 0 ? -d : d; exit !(d < $1 / 10 + ($3 > 0 ? $3 : 0)) }" || mismatch "not as expected: $4: want $1, have $2, $3 are unknown"
}

run pingpong 3000
refusal=$("$REPORT" summary --view notices --format json "$GPROF_DIR" 2>/dev/null | jq -r '[.notices.rows[] | select(.cause == "CPU samples refused").code] | join(" ")')
[ -z "$refusal" ] || skip "the kernel refuses perf_event_open: error $refusal"

# ---- two threads that wake each other ----
while read -r tid from to voluntary involuntary _; do
	read -r blocked preempted all _ _ <<<"$(counts "$tid" "$from" "$to")"
	is_close "$voluntary" "$blocked" "voluntary switches of $tid"
	is_close "$involuntary" "$preempted" "involuntary switches of $tid"
	is_close $(((to - from) / 1000)) $((all / 1000)) "known us of $tid"
done <"$T/out"
ok test "$(awk '{ s += $4 + $5 } END { print s }' "$T/out")" -ge 100

# ---- an export has them, and is read again ----
states="SELECT task, name, cpu, state, switches, count(*), sum(dur_ns) FROM thread_state GROUP BY 1, 2, 3, 4, 5"
events="SELECT cpu, isSchedIn, globalTid, threadState, count(*), sum(start) FROM SCHED_EVENTS GROUP BY 1, 2, 3, 4"
"$REPORT" export -o "$T/x.sqlite" "$GPROF_DIR" >/dev/null 2>&1 # 3 if some are missing
is "$(csv "$states")" "$(csv "$states" "$T/x.sqlite")" "states in an export"
is "$(csv "$events")" "$(csv "$events" "$T/x.sqlite")" "switches in an export"

# ---- two threads that compute on one CPU ----
# What the scheduler itself takes counts as time on the CPU in schedstat alone.
run preempt 20
while read -r tid from to voluntary involuntary ran waited; do
	read -r blocked preempted _ running runnable <<<"$(counts "$tid" "$from" "$to")"
	is_close "$voluntary" "$blocked" "voluntary switches of $tid"
	is_close "$involuntary" "$preempted" "involuntary switches of $tid"
	[ "$(lost)" = 0 ] && ok test "$preempted" -ge 19
	[ "$ran" = 0 ] || [ "$(lost)" != 0 ] && continue # no schedstat
	is_near "$ran" "$running" $((to - from - ran - waited)) "ns on the CPU"
	is_near "$waited" "$runnable" $((to - from - ran - waited)) "ns without a CPU"
done <"$T/out"
summary cpu-waits
workers=$(cut -d ' ' -f 1 "$T/out" | paste -sd '|')
[ "$(lost)" != 0 ] || is 2 "$(query '[.cpu_waits.rows[] | select((.name | test("\\(('"$workers"')\\)")) and .preemptions >= 19 and .preempted_ns > .blocked_ns / 1000)] | length')" "preempted threads in cpu-waits"

# ---- off ----
GPROF_SCHED=off run pingpong 100
is 0 "$(csv "SELECT count(*) FROM thread_state")" "rows where nobody wants them"

# ---- without privileges, in small buffers: records are lost, and counted ----
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all test -x "$B/integ/s_sched"; then
	mkdir "$T/open" && chmod 777 "$T" "$T/open"
	GPROF_DIR=$T/open/dump
	record setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all "$B/integ/s_sched" pingpong 30000
	is 0 "$rc" "exit status without privileges"
	offset=$(offset)
	nr_lost=$(lost)
	while read -r tid from to voluntary involuntary _; do
		read -r blocked preempted _ <<<"$(counts "$tid" "$from" "$to")"
		ok test "$blocked" -gt 0
		ok test $((blocked - voluntary)) -le 3
		[ "$nr_lost" -gt 0 ] || ok test $((voluntary + involuntary - blocked - preempted)) -le 6
	done <"$T/out"
fi
finish
