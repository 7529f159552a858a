#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CPU samples: shares of functions whose work is known by count, threads that were there before and after the start,
# forked children, names, refusals. t116 has perf as the witness of the shares.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
[[ $B != *san-thread ]] || skip "ThreadSanitizer does not support threads after a fork with threads"
# Of a program with many samples in little time; AddressSanitizer makes the loop no longer.
export GPROF_CPU_HZ=1000
work=30000

# run ARGUMENT...: s_cpu with gprof, in a clean folder.
run()
{
	rm -rf "$GPROF_DIR"
	record "$B/integ/s_cpu" "$@"
	is 0 "$rc" "exit status of s_cpu $*"
}

# samples COLUMN FUNCTION: of a function in the view cpu.
samples()
{
	query "[.cpu.rows[] | select(.name == \"$2\").$1] | add // 0"
}

# is_near WANT HAVE OFF WHAT: in percent.
is_near()
{
	awk "BEGIN { exit !($2 - $1 <= $3 && $1 - $2 <= $3) }" || mismatch "not as expected: $4: want about $1, have $2"
}

# share A B: A in percent of A and B.
share()
{
	awk "BEGIN { print $1 + $2 ? 100 * $1 / ($1 + $2) : -1 }"
}

# The machine may refuse what this test is about.
run 5 $work
summary cpu,cpu-threads,notices
refusal=$(query '[.notices.rows[] | select(.cause == "CPU samples refused").code] | join(" ")')
[ -z "$refusal" ] || skip "the kernel refuses perf_event_open: error $refusal"

# ---- shares, callers and threads ----
plain "$B/integ/s_cpu" 5 $work
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output"
three=$(samples samples work_three)
one=$(samples samples work_one)
two=$(samples samples work_two)
ok test "$((one + two + three))" -ge 200
is_near 75 "$(share "$three" "$one")" 8 "share of work_three in the main thread"
is_near 66.7 "$(share "$two" "$one")" 12 "share of work_two beside work_one"
# Samples of the kernel may be on behalf of main, too, or of the loader before it.
others()
{
	echo $(($(query '.cpu_threads.rows[] | select(.pid == .tid).samples') - three - one))
}

# has_main: are all samples of what it calls on behalf of main, and no more than its thread has?
has_main()
{
	local more=$(($(samples total_samples main) - three - one))
	[ "$more" -ge 0 ] && [ "$more" -le "$(others)" ]
}

# One sample in a thousand is at a function's first instruction, where the frame that names its caller does not exist yet. So
# the callers are compared in a run without such a sample, as short ones mostly are.
has_all_callers()
{
	[ "$three" = "$(samples total_samples call_three)" ] && has_main
}

for ((times = 1; times < 5; times++)); do
	! has_all_callers || break
	run 2 $work
	summary cpu,cpu-threads,notices
	three=$(samples samples work_three)
	one=$(samples samples work_one)
done
is "$three" "$(samples total_samples call_three)" "samples on behalf of call_three"
is 0 "$(samples samples call_three)" "samples in call_three itself"
has_main || mismatch "not as expected: samples on behalf of main: $(samples total_samples main), of what it calls $three + $one, of others $(others)"
ok test "$(others)" -le $(((three + one) / 20 + 5))
is "s_cpu" "$(query '[.cpu.rows[] | select(.name == "work_three").file] | join(" ")')" "file"
is "work_two" "$(query '.cpu_threads.rows[] | select(.name == "s_cpu worker").function')" "hottest function of the worker"
is "work_three" "$(query '[.cpu_threads.rows[] | select(.name == "s_cpu")][0].function')" "hottest function of the main thread"
is 100 "$(query '[.cpu.rows[].share_pct] | add | round')" "all shares"
is "$(query '[.cpu.rows[].samples] | add')" "$(query '[.cpu_threads.rows[].samples] | add')" "samples of both tables"
is 1000000 "$(query '.cpu.rows[0] | .self_ns / .samples')" "time of a sample"

# ---- threads ----
run 3 $work late
summary cpu-threads
is "work_two" "$(query '.cpu_threads.rows[] | select(.name == "s_cpu worker").function')" "thread from before the start"

run 6 $work fork # the child is there for some readings of its threads
is 2 "$(find "$GPROF_DIR" -name '*.gprof' | wc -l)" "streams with a child"
summary cpu-threads
is 2 "$(query '[.cpu_threads.rows[].pid] | unique | length')" "processes with samples"
is "work_one" "$(query '.cpu_threads.rows | group_by(.pid) | map(select(all(.name != "s_cpu worker")))[0] | max_by(.samples).function')" "hottest function of the child"

# ---- when nothing is to be sampled ----
for setting in GPROF_CPU_HZ=0 GPROF_TIMER_ONLY=1 GPROF_SCHEDULE=90-91; do
	export "${setting?}"
	run 2 3000
	is 0 "$("$REPORT" info "$GPROF_DIR" | awk '$1 == "cpu_sample" {n += $3} END {print n + 0}')" "samples with $setting"
	unset "${setting%%=*}"
	export GPROF_CPU_HZ=1000
done
summary cpu
ok grep -q 'No CPU samples were recorded' "$T/json"

# A refusal is one notice; the rest is recorded.
run 2 3000 refused
summary cpu,notices,api
is 1 "$(query '[.notices.rows[] | select(.cause == "CPU samples refused" and .code == "1")] | length')" "notices of a refusal"
is 1 "$(query '[.api.rows[] | select(.name == "cudaMalloc").calls] | add')" "calls with a refusal"

# Under a filter that may be deadly the call is tried only if the user asks for samples; threads that gprof samples stay so.
unset GPROF_CPU_HZ
run 5 $work deadly
summary cpu-threads,notices,losses
is 0 "$(query '.cpu_threads.rows | length')" "threads with samples under a filter"
is 1 "$(query '[.notices.rows[] | select(.cause == "CPU samples refused" and (.text | contains("seccomp")))] | length')" "notices of a filter"
# CUPTI's worker may have run for long enough to be sampled, or not.
GPROF_CUPTI=0 run 20 $work deadly_late
summary cpu-threads,notices,losses
is "s_cpu" "$(query '[.cpu_threads.rows[].name] | unique | join(" ")')" "threads with samples under a late filter"
is 1 "$(query '[.notices.rows[] | select(.cause == "CPU samples refused" and (.text | contains("seccomp")))] | length')" "notices of a late filter"
is 1 "$(query '[.losses.rows[] | select(.cause | contains("thread without CPU samples")).count] | add')" "threads that a late filter keeps from samples"
export GPROF_CPU_HZ=1000

# ---- names ----
cp "$B/integ/s_cpu" "$T/program"
rm -rf "$GPROF_DIR"
record "$T/program" 2 $work
summary cpu
is "work_three" "$(query '.cpu.rows[0].name')" "name by the file"
touch -d '+1 hour' "$T/program"
summary cpu
ok grep -qE '^program\+0x[0-9a-f]+$' <<<"$(query '.cpu.rows[0].name')"
rm "$T/program"
summary cpu
ok grep -qE '^program\+0x[0-9a-f]+$' <<<"$(query '.cpu.rows[0].name')"
# A stripped program's functions have places, one each.
strip -o "$T/program" "$B/integ/s_cpu"
rm -rf "$GPROF_DIR"
record "$T/program" 5 $work # its first step may be over before its threads are sampled
summary cpu
is true "$(query '[.cpu.rows[] | select(.name | startswith("program+0x")) | .samples | select(. > 20)] | length == 3')" "three functions without names"

# The launcher's option is the variable.
unset GPROF_CPU_HZ
is "99 250" "$("$B/gprof-record" --library "$ROOT/$B/libgprof.so" --cpu --print-env | sed -n "s/.*GPROF_CPU_HZ='\(.*\)'/\1/p") $("$B/gprof-record" --library "$ROOT/$B/libgprof.so" --cpu=250 --print-env | sed -n "s/.*GPROF_CPU_HZ='\(.*\)'/\1/p")" "rates of --cpu"
finish
