#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tables, queries, --time, timelines and the page have one axis of time: each step begins at the same
# time everywhere, and nothing comes before time 0, also where samples are older than the first event.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ PYTHON
# Both ranks are of one launch.
export GPROF_RUN=one

for rank in 0 1; do
	RANK=$rank WORLD_SIZE=2 GPROF_SAMPLE_MS=5 record "$B/integ/s_loop" 4 1 call sleep=20
	is 0 "$rc" "status of rank $rank"
done
summary steps
query '.steps.rows[] | "\(.rank) \(.step) \(.start_ns)"' >"$T/steps"
is 10 "$(wc -l <"$T/steps")" "steps of both"
ok test "$(awk '$1 == 1 && $2 == 0 {print $3}' "$T/steps")" -gt 80000000

"$REPORT" sql --format csv 'SELECT rank, step, time_ns FROM step ORDER BY rank, step' "$GPROF_DIR" 2>/dev/null |
	awk -F, '/^[0-9]/ {print $1, $2, $3}' >"$T/sql"
ok diff "$T/steps" "$T/sql"

# The timeline's times are since a round time of the day; session has the time of day of time 0. A
# slice that begins where the one before it ends begins 1 ns later there.
utc=$("$REPORT" sql --format csv 'SELECT utc_ns FROM session' "$GPROF_DIR" 2>/dev/null | grep '^[0-9]')
"$REPORT" timeline -o "$T/timeline.json" "$GPROF_DIR" 2>/dev/null
cat >"$T/steps.py" <<'END'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    trace = json.load(file, parse_float=str)
begin, first, pids = int(sys.argv[2]) - trace["baseTimeNanoseconds"], 0, {}
for event in trace["traceEvents"]:
    if "ts" in event and event["ph"] != "M":
        us, _, ns = str(event["ts"]).partition(".")
        at = int(us) * 1000 + int(ns.ljust(3, "0")) - begin
        first = min(first, at)
        if event["name"].startswith("ProfilerStep#") and event.get("cat") == "user_annotation":
            print(pids.setdefault(event["pid"], len(pids)), event["name"][13:], at)
print("first", first)
END
python3 "$T/steps.py" "$T/timeline.json" "$utc" | sort >"$T/timeline"
is "first 0" "$(grep first "$T/timeline")" "what comes before time 0"
# Of five rows of each process the first begins with the recording, and the last has no end.
is 6 "$(join <(awk '{print $1 "." $2, $3}' "$T/steps") <(awk '!/first/ {print $1 "." $2, $3}' "$T/timeline") |
	awk '{n += $3 - $2 >= 0 && $3 - $2 <= 1} END {print n}')" "whole steps that begin at the same time on the timeline"

# No activity begins before its call, and a kernel lasts as long on the timeline as in all tables.
is 0 "$("$REPORT" sql --format csv 'SELECT count(*) FROM kernel k JOIN api_launch l USING (process, correlation) WHERE k.start_ns < l.start_ns' \
	"$GPROF_DIR" 2>/dev/null | grep '^[0-9]')" "kernels that begin before their calls"
summary kernel,device,time-breakdown
kernels=$(query '[.kernel.rows[].total_ns] | add')
is "$kernels $kernels" "$(query '[.device, .time_breakdown | [.rows[].computation_ns] | add] | join(" ")')" "time of kernels that do not overlap"
# Step by step it has all, in sum only the steps that count.
summary distributed --detail
is "$kernels" "$(query '[.distributed.rows[].computation_ns] | add')" "time of kernels by step"
is "$kernels" "$(jq '[.traceEvents[] | select(.cat == "kernel").dur * 1000] | add | round' "$T/timeline.json")" \
	"time of kernels on the timeline"

# --time takes what the tables print: from the begin of step 2 of the first rank to its middle.
begin=$(awk '$1 == 0 && $2 == 2 {print $3}' "$T/steps")
"$REPORT" timeline --tracks steps --time "$((begin + 1))ns-$((begin + 1000000))ns" -o "$T/part.json" "$GPROF_DIR" 2>/dev/null
is "ProfilerStep#2" "$(jq -r '.traceEvents[].name | select(startswith("ProfilerStep"))' "$T/part.json")" "the step of that time"

"$REPORT" html -o "$T/page.html" "$GPROF_DIR" 2>/dev/null
ok python3 test/page/timeline_data.py "$T/page.html" "$T/timeline.json" 4000000 no
finish
