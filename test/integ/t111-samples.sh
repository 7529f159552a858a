#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Samples of process, host and GPUs: how many there are, where there are none, and who takes them.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
[[ $B != *san-thread ]] || skip "ThreadSanitizer does not support threads after a fork with threads"

# samples [STREAM]: the rows of table sample.
samples()
{
	"$REPORT" info "${1:-$GPROF_DIR}" | awk '$1 == "sample" {n += $3} END {print n + 0}'
}

# run PROGRAM...: as record, of a clean folder.
run()
{
	rm -rf "$GPROF_DIR"
	record "$@"
	is 0 "$rc" "exit status of $*"
}

# About 20 rounds; a slow machine has longer to take them, but never takes them closer to each other: the n-th comes
# n - 1 intervals after the first at the earliest, less the part of an interval by which the first was late.
GPROF_SAMPLE_MS=50 run "$B/integ/s_loop" 10 2 call sleep=100
ok test "$(samples)" -ge 20
"$REPORT" export --format jsonl -o "$T/rounds" "$GPROF_DIR" 2>/dev/null
find "$T/rounds" -path '*/sample/*' -type f -exec cat {} + | jq -s '[.[] | select(.metric == "process_cpu_ns").time_ns] | sort' >"$T/json"
ok test "$(query length)" -ge 2
is true "$(query 'length <= (.[-1] - .[0]) / 50000000 + 2')" "samples are an interval apart"

# What the host's CPUs do is looked at once a second, and its two values are of one moment.
GPROF_SAMPLE_MS=50 run "$B/integ/s_loop" 25 2 call sleep=100
summary utilization
is 1 "$(query '[.utilization.rows[] | select(.metric == "CPU(System)" and .avg >= 0 and .avg <= 100)] | length')" "CPU(System)"

# However short the recording or its window: the last sample comes at its end.
shares='[.utilization.rows[] | select(.metric | startswith("CPU(System)")) | select(.avg >= 0 and .avg <= 100).metric] | sort | join(" ")'
run "$B/integ/s_loop" 1 2 call sleep=100
summary utilization
is "CPU(System) CPU(System), iowait CPU(System), system CPU(System), user" "$(query "$shares")" "shares of a short run"
"$REPORT" --style paddle "$GPROF_DIR" >"$T/tables" 2>/dev/null
ok grep -qE '^CPU\(System\) +[0-9]+\.[0-9]+ *$' "$T/tables"
# An export names each metric, with its unit at the end.
"$REPORT" export --format jsonl -o "$T/export" "$GPROF_DIR" 2>/dev/null
find "$T/export" -path '*/sample/*' -type f -exec cat {} + | jq -r .metric | sort -u >"$T/metrics"
is 0 "$(grep -cvE '_(ns|bytes|percent|mw|mj|per_s|mhz|c|threads|switches|preemptions|faults|cpus|pages|reasons)$' "$T/metrics")" "metrics without a unit"
is 5 "$(grep -c '^host_cpu_\(user\|system\|iowait\|busy\|all\)_ns$' "$T/metrics")" "metrics of the host"
GPROF_SCHEDULE=2-3 run "$B/integ/s_loop" 6 2 call sleep=100
summary utilization
is "CPU(System) CPU(System), iowait CPU(System), system CPU(System), user" "$(query "$shares")" "shares of a window"
is 2 "$(query '.utilization.rows[] | select(.metric == "CPU(System)").samples')" "samples of a window"
is true "$(query '[.utilization.rows[] | select(.metric | startswith("CPU(Process)"))] | length == 3')" "user and system time of the process"

GPROF_SAMPLE_MS=0 run "$B/integ/s_loop" 4 2 call sleep=100
is 0 "$(samples)" "samples where they are off"
GPROF_SAMPLE_MS=20 GPROF_TIMER_ONLY=1 run "$B/integ/s_loop" 4 2 call sleep=100
is 0 "$(samples)" "samples with nothing but steps"
GPROF_SAMPLE_MS=20 GPROF_SCHEDULE=90-91 run "$B/integ/s_loop" 4 2 call sleep=100
is 0 "$(samples)" "samples while nothing is recorded"

# How long threads had a CPU, and waited for one: the first thread and those that launch, or a notice says that there are more.
for nr in 3 8 12; do
	GPROF_SAMPLE_MS=20 run "$B/integ/s_threads" $nr 600
	summary cpu-waits,notices
	is $((nr < 8 ? nr + 1 : 9)) "$(query '.cpu_waits.rows | length')" "threads with times, of $nr that launch"
	is $((nr > 8)) "$(query '[.notices.rows[] | select(.cause == "threads without waits for a CPU")] | length')" "notices with $nr threads"
done
is true "$(query 'all(.cpu_waits.rows[]; .cpu_ns >= 0 and .wait_ns >= 0 and .cpu_share_pct + .wait_share_pct <= 101)')" "shares of the threads' time"

# A forked child takes its own, and neither changes what the program sees. AddressSanitizer's allocator
# has a lock that a thread may hold at the fork: then the child's recorder waits for it for ever.
plain "$B/integ/s_sample" 2000
tries=1
[[ $B != *san-address ]] || tries=5
for ((try = 0; try < tries; try++)); do
	GPROF_SAMPLE_MS=20 run "$B/integ/s_sample" 2000
	! was_late || continue
	break
done
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output with a child"
for stream in "$GPROF_DIR"/*.gprof; do
	ok test "$(samples "$stream")" -gt 10
done
is 2 "$(find "$GPROF_DIR" -name '*.gprof' | wc -l)" "streams"
finish
