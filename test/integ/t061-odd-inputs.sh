#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Traces that are odd in one way each: a sentence names it, the rest is reported, the status is 3.
. "$(dirname "$0")/lib.sh"
need REPORT REPORT_ALONE PYTHON JQ

python3 - "$T" <<'END'
import json, os, sys

def event(name, ts, dur, cat="cpu_op", pid=7, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": 9, "ts": ts, "dur": dur, "args": args}

def step(number, ts, dur):
    return event(f"ProfilerStep#{number}", ts, dur, "user_annotation")

REST = [event("aten::mm", 10, 5), event("k", 20, 3, "kernel", 0, device=0, stream=7, correlation=1)]
STEPS = [step(1, 0, 50), step(2, 50, 50)]

def write(case, events, name="a.json", change=lambda text: text, **more):
    os.makedirs(f"{sys.argv[1]}/{case}", exist_ok=True)
    text = json.dumps({**more, "traceEvents": STEPS * (not events) + REST + events})
    with open(f"{sys.argv[1]}/{case}/{name}", "wb") as file:
        file.write(change(text.encode()))

def job(case, ranks, worlds=(2, 2, 2), hosts=("one", "one", "one")):
    for i, rank in enumerate(ranks):
        more = {} if rank is None else {"distributedInfo": {"rank": rank, "world_size": worlds[i]}}
        write(case, STEPS + [event("aten::relu", 70, 1 + i)], f"{i}.json", host_name=hosts[i], **more)

LAST = event("aten::add", 60, 5)
write("good", [])
job("good-job", [0, 1], hosts=["one", "two"])
write("cut", [LAST], change=lambda text: text[:-40])
write("utf8", [LAST], change=lambda text: text.replace(b"aten::add", b"aten::\xff\xc3("))
write("nan", [event("bad", float("nan"), 1)])
write("infinite", [event("bad", 5, float("-inf"))])
for field in ("name", "ts", "dur"):
    write("no-" + field, [{key: value for key, value in LAST.items() if key != field}])
write("noise", [17, LAST])
job("repeated", [0, 1, 1])
job("missing", [0, 2], worlds=[3, 3])
job("sizes", [0, 1], worlds=[2, 4])
job("hosts", [None, None], hosts=["one", "two"])
write("twice", STEPS)
write("twice", STEPS, "b.json")
write("late", [event("aten::a", 100, 50, "cpu_op"), event("aten::b", 120, 50, "cpu_op"), event("aten::c", 300, 50, "cpu_op"), event("aten::d", 349.5, 50, "cpu_op")])
write("overlap", [step(1, 0, 60), step(2, 50, 50)])
write("back", [step(1, 0, 50), step(2, 1000, 50), step(3, 200, 50)])
write("again", [step(1, 0, 50), step(2, 50, 50), step(2, 200, 50)])
write("years", [event("aten::add", 3e14, 5, "cpu_op")])
for case, lost in (("lost", range(0, 100, 2)), ("hardly-lost", (3, 4))):
    write(case, STEPS + [event("cudaLaunchKernel", 0.5 * i, 0.1, "cuda_runtime", correlation=2 + i) for i in range(100)] +
          [event("k", 0.5 * i + 0.2, 0.2, "kernel", 0, device=0, stream=7, correlation=2 + i) for i in range(100) if i not in lost])
for case, nr in (("ahead", 10), ("ahead-once", 1)):
    write(case, [step(1 + i, 100 * i, 100) for i in range(nr)] + [event("cudaLaunchKernel", 100 * i + 50, 5, "cuda_runtime", correlation=2 + i) for i in range(nr)] +
          [event("k", 300 * i + 60, 300, "kernel", 0, device=0, stream=7, correlation=2 + i) for i in range(nr)])
write("early", [event("cudaLaunchKernel", 30, 5, "cuda_runtime", correlation=1)])
END

# odd CASE STATUS SENTENCE: what `summary` and `info` say on stderr; and the product is reported.
odd()
{
	local command have
	for command in "summary --view operator --format csv" info; do
		have=$($REPORT $command "$T/$1" 2>"$T/err")
		is "$2" $? "status of $command of $1"
		is 1 "$(grep -c "$3" "$T/err")" "sentences of $command of $1: $3, not: $(cat "$T/err")"
		[ "$command" = info ] || is 1 "$(grep -c aten::mm <<<"$have")" "operator beside what is $1"
	done
}

for case in good good-job; do
	"$REPORT" summary "$T/$case" >"$T/out" 2>"$T/err"
	is 0 $? "status of $case"
done
# Steps are one row among operators and ranges, as in PyTorch.
"$REPORT" --view operator,user-ranges --format json "$T/good" >"$T/json"
is "ProfilerStep* 2" "$(jq -r '[.operator, .user_ranges] | map(.rows[]) | map(select(.name | startswith("ProfilerStep"))) | map("\(.name) \(.calls)") | join(", ")' "$T/json")" "rows of steps"
odd cut 3 "a.json': at byte [0-9]* of its text: the trace is truncated here"
odd utf8 3 "a.json': 1 name is not valid UTF-8"
for case in nan infinite no-name no-ts no-dur; do
	odd $case 3 "a.json': 1 event lost: they have no name, begin or duration in the trace"
done
odd noise 3 "a.json': 1 event lost: they are not valid trace events"
odd repeated 3 "more than one process has rank 1, as with several runs"
odd missing 3 "missing ranks: 1 (of 3)"
odd sizes 3 "the processes belong to 2 job sizes (2, 4)"
odd hosts 3 "the processes belong to 2 hosts (one, two): .* some have no rank"
odd twice 3 "b.json' is the same recording as '.*a.json' and is ignored"
odd overlap 3 "a.json': steps overlap: each ends where the next one begins"
for case in back again; do
	odd $case 3 "a.json': step 2 follows a step with the same or a higher number (1 cases)"
done
odd years 3 "a.json': the events span 3472 days: a clock jumped"
odd early 3 "a.json': GPU activities of 1 launch start before their launch"

# Operators of a thread that overlap in part keep their times, and what they share counts once. Rounded times are no overlap.
"$REPORT" --view operator --format json "$T/late" >"$T/json" 2>"$T/err"
is "50000 20000 50000 50000 50000 49500 50000 50000" "$(jq -r '.operator.rows | sort_by(.name) | map(select(.name | test("^aten::[a-d]$")) | .total_ns, .self_ns) | map(tostring) | join(" ")' "$T/json")" "times of operators that overlap"
is 1 "$(grep -c '1 operator overlaps one that began later on the same thread and ended later' "$T/json")" "a note on them"

# Without the activities of launches no view that divides idle time does so, nor has any figure of it; tables of events are
# as good as ever.
for view in headline budget idle idle-gaps breakdown gpu-summary advice what-if critical-path device time-breakdown distributed \
	stragglers pipeline queue data-loading-steps utilization utilization-time; do
	"$REPORT" --view $view "$T/lost" >"$T/out" 2>"$T/err"
	is "3 1" "$? $(grep -c "a.json': 50 of 100 launches have no GPU activity, so idle time is unknown" "$T/err")" "status of $view without half of the activities"
	"$REPORT" --view $view "$T/hardly-lost" >"$T/out" 2>"$T/err"
	is 0 $? "status of $view without two in a hundred: $(cat "$T/err")"
done
"$REPORT" "$T/lost" 2>/dev/null >"$T/out"
is "INCOMPLETE: 50 of 100 launches have no GPU activity" "$(sed -n 2p "$T/out")" "the first screen says so"
views=$("$REPORT" help summary | sed -n '/^Views/,/^$/ s/^  \([a-z-]*\).*/\1/p' | paste -sd, -)
for case in lost hardly-lost; do
	"$REPORT" --view "$views" --format json "$T/$case" 2>/dev/null >"$T/json"
	jq -r 'to_entries[] | select(.key != "headline" and (.value | type) == "object") | .key as $view | .value.rows[]? |
		to_entries[] | select((.key | test("idle|empty")) and .value != null) | "\($view).\(.key)"' "$T/json" | sort -u >"$T/$case.idle"
done
is "" "$(cat "$T/lost.idle")" "figures of idle time without half of the activities"
is "device.idle_ns queue.empty_pct time_breakdown.idle_ns time_breakdown.idle_pct" "$(paste -sd' ' "$T/hardly-lost.idle")" \
	"figures of idle time without two in a hundred"
"$REPORT" --view budget,idle --format json "$T/lost" 2>/dev/null >"$T/json"
is "Computing,Idle or not recorded Idle or not recorded" "$(jq -r '[.budget, .idle] | map(.rows | map(.part) | join(",")) | join(" ")' "$T/json")" "parts"
"$REPORT" --view what-if --format json "$T/lost" 2>/dev/null >"$T/json"
is "7 0" "$(jq -r '.what_if.rows | "\(length) \(map(select(.saved_ns)) | length)"' "$T/json")" "predictions"
# Where the host is ahead, steps take longer with their GPU activities than from mark to mark.
step_line()
{
	"$REPORT" "$T/$1" 2>/dev/null | sed -n '/^Step/,/^Time/p' | grep -v ^Time | tr -s ' \n' ' '
}
is "Step 100.0 us, 360.0 us with its GPU activities " "$(step_line ahead-once)" "a step whose GPU activities end later"
is "Step median 100.0 us, p99 100.0 us, no trend, mean 306.0 us with their GPU activities " "$(step_line ahead)" "ten of them"
# A summary has no other idle time, and says the same when it is written and when it is read.
for case in lost hardly-lost; do
	[ $case = lost ] && expected="3 1" || expected="0 0"
	sentence='50 of 100 launches have no GPU activity, so idle time is unknown'
	"$REPORT" reduce -o "$T/$case.sum" "$T/$case" >/dev/null 2>"$T/err"
	is "$expected" "$? $(grep -c "$sentence" "$T/err")" "status and sentence of reduce of $case"
	"$REPORT" "$T/$case.sum" >"$T/$case.first" 2>"$T/err"
	is "$expected" "$? $(grep -c "$sentence" "$T/err")" "status and sentence of the summary of $case"
done
"$REPORT" reduce -o "$T/again.sum" "$T/lost.sum" >/dev/null 2>"$T/err"
is "3 1" "$? $(grep -c "$sentence" "$T/err")" "status and sentence of reduce of a summary"
ok cmp "$T/lost.sum" "$T/again.sum"
is "INCOMPLETE: 50 of 100 launches have no GPU activity" "$(sed -n 2p "$T/lost.first")" "the summary says so first"
for case in lost hardly-lost; do
	"$REPORT" "$T/$case" 2>/dev/null | grep -A2 '^Time' >"$T/time"
	is "$(sed '/^1\./d' "$T/time")" "$(grep -A2 '^Time' "$T/$case.first" | sed '/^$/,$d')" "where time goes, of $case, in both"
done
"$REPORT" --view kernel "$T/lost" >"$T/out" 2>"$T/err"
is 0 $? "status of a table of kernels: $(cat "$T/err")"

# A side of a comparison is no better.
"$REPORT" diff "$T/good" "$T/repeated" >"$T/out" 2>"$T/err"
is 3 $? "status of diff"
is 1 "$(grep -c "more than one process has rank 1" "$T/err")" "sentences of diff"
finish
