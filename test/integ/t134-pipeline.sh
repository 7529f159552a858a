#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Eight ranks in a row, of which the sixth is slow: the stages, and how long the others computed nothing,
# beside what they themselves measured of their sends and receives.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/stragglers.sh"
need SIM REPORT JQ

record "$B/integ/s_ranks" pipeline-kernels
is 0 "$rc" "status"
summary pipeline --steps 1-4
is "0 1 2 3 4 5 6 7" "$(query '[.pipeline.rows | sort_by(.stage)[].rank] | join(" ")')" "stages"
is "8 1 4 87.5" "$(query '[.pipeline.rows[] | "\(.stages) \(.micro_batches) \(.steps) \(.ideal_pct)"] | unique | join(", ")')" "of all"
is 5 "$(query '.pipeline.rows | min_by(.bubble_ns).rank')" "who waits least"
want=$(waited)
is true "$(query "[.pipeline.rows[] | select(.rank != 5).bubble_ns] | add / 1000 / $want | . > 0.95 and . < 1.05")" "bubbles of the others, $want us"
is true "$(query '.pipeline.rows | map(.bubble_pct < 100 and .bubble_ns + .computation_ns <= .time_ns) | all')" "bubbles within steps"
"$REPORT" summary --view pipeline --steps 1-4 --detail --format csv "$GPROF_DIR" >"$T/csv" 2>/dev/null
is 32 "$(grep -cE '^[0-9]+,[0-7],0,[1-4],' "$T/csv")" "rows by steps"

# Who meets all at once is in no pipeline.
rm -rf "$GPROF_DIR"
record "$B/integ/s_ranks" data-host
summary pipeline
is 0 "$(query '.pipeline.rows | length')" "rows without sends and receives"
finish
