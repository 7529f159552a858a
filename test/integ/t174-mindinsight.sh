#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# MindInsight's performance pages row by row: each table against the events that it is made of
# (mindinsight_tables.py), and what the page shows of it. Prints TAP.
# shellcheck disable=SC2317 # functions that tap calls
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ PYTHON
[ -x "$B/gen_stream" ] || skip "gen_stream is not built (make tests)"
"$REPORT" sql 'SELECT 1' test/golden/v2/small.gprof 2>&1 | grep -q "built without SQLite" && skip "no SQLite"
version="mindinsight:"
n=0
bad=0
# shellcheck source=test/tap.sh
. test/tap.sh

views=operator-types,single-operators,kernel-operator,timeline-summary,steps,step-stats,data-loading,data-loading-steps,utilization,utilization-time

events() { "$REPORT" sql --format json "$2" "$T/$1.gprof" >"$T/$1/$3"; }

# tables FOLDER: of $T/FOLDER.gprof, the tables and the events that they are made of.
tables()
{
	local calls="" table
	mkdir -p "$T/$1"
	"$REPORT" summary --format json --top 0 --view "$views" "$T/$1.gprof" >"$T/$1/tables" 2>/dev/null
	jq -s '.[0] * {kernel_operator: .[1].kernel_operator}' "$T/$1/tables" \
		<("$REPORT" summary --format json --top 0 --detail --view kernel-operator "$T/$1.gprof" 2>/dev/null) >"$T/$1/both"
	mv "$T/$1/both" "$T/$1/tables"
	events "$1" "SELECT o.start_ns, o.dur_ns, o.tid, o.depth, o.scope, o.framework, n.value AS name, s.value AS shapes
		FROM op o JOIN StringIds n ON n.id = o.name LEFT JOIN StringIds s ON s.id = o.shapes" op
	events "$1" "SELECT k.start_ns, k.dur_ns, k.correlation, k.device, k.stream, n.value AS kernel_name
		FROM kernel k JOIN StringIds n ON n.id = k.kernel_name" kernel
	events "$1" "SELECT start_ns, dur_ns, correlation, device, stream FROM memcpy UNION ALL
		SELECT start_ns, dur_ns, correlation, device, stream FROM memset" copy
	events "$1" "SELECT time_ns FROM step ORDER BY time_ns" step
	events "$1" "SELECT s.time_ns, s.value, n.value AS metric FROM sample s JOIN StringIds n ON n.id = s.metric ORDER BY 1" sample
	for table in api api_launch api_copy api_set api_alloc api_sync; do
		calls+="${calls:+ UNION ALL }SELECT start_ns, dur_ns, tid, correlation FROM $table"
	done
	events "$1" "$calls" call
}

by_hand() { python3 test/integ/mindinsight_tables.py "$2" "$T/$1"; }

# shows FOLDER QUERY: of its tables.
shows() { jq -e "$2" "$T/$1/tables" >/dev/null; }

"$B/gen_stream" "$T/steps.gprof" ops
"$B/gen_stream" "$T/model.gprof" model 3000
"$B/gen_stream" "$T/modules.gprof" python
"$B/gen_stream" "$T/host.gprof" worker
mkdir "$T/live" && cp /proc/stat "$T/live/stat"
record "$B/integ/s_loop" 12 2 call sleep=100
mv "$GPROF_DIR"/*.gprof "$T/live.gprof"
for each in steps model modules host live; do
	tables "$each"
done

# ---- the page, in a browser without a window ----

browser=$(command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || command -v google-chrome)
case $B in *san-*) browser= ;; esac # the page is the same without sanitizers
page() { "$REPORT" html -o "$T/$1.html" "$T/$1.gprof" 2>/dev/null; }

# drawn FOLDER ADDRESS: the elements of the page there, but those that keep an amount on one line.
drawn()
{
	timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$T/browser" --window-size=1280,900 \
		--virtual-time-budget=3000 --dump-dom "file://$T/$1.html#$2" 2>/dev/null |
		sed -E 's|<span class="amount">([^<]*)</span>|\1|g' >"$T/dom"
}

# has PATTERN...: all in what was drawn.
has()
{
	local pattern
	for pattern in "$@"; do
		grep -qE -- "$pattern" "$T/dom" || { echo "not on the page: $pattern" && return 1; }
	done
}

# rows TABLE NUMBER: so many rows it has.
rows()
{
	local found
	found=$(grep -oE "id=\"table-$1\".*" "$T/dom" | sed 's/<\/table>.*//; s/.*<tbody>//' | grep -oE '<tr' | wc -l)
	[ "$found" -eq "$2" ] || { echo "$found rows of $1, not $2" && return 1; }
}

# on_page FOLDER ADDRESS NAME COMMAND...: a result, skipped without a browser.
on_page()
{
	if [ -z "$browser" ]; then
		n=$((n + 1))
		echo "ok $n - $version $3 # SKIP no Chromium, or sanitizers"
		return
	fi
	[ "$T/$1.html" -nt "$T/$1.gprof" ] || page "$1"
	[ "${at:-}" = "$1#$2" ] || drawn "$1" "$2"
	at="$1#$2"
	tap "${@:4}" "$3"
}

on_page steps overview "overview: step trace, operator types, timeline and data loading on one screen" \
	has '"Step time breakdown;' '"Operator types by average time;' '<h3>Timeline</h3><b>' '<h3>Data loading</h3><b[^>]*>3 of 3</b>'
on_page steps overview "overview: the timeline in sum: operators, calls, streams, their time" \
	has '10 operators, 36 calls, 1.605 ms' '1 stream, 12 GPU activities, 540 us'
on_page steps overview "overview: links to the pages with details" has 'href="#operators"' 'href="#timeline"' 'href="#data_loading"' 'href="#steps"'

tap by_hand steps types "operator types: calls, total, average and share; the longest average first"
tap by_hand model types "operator types: of 2358 operators"
tap by_hand host types "operator types: without GPUs by CPU time"
tap shows host '.operator_types.rows[0] | .total_ns == .self_ns and .share_pct == 100' "operator types: without GPUs, shares are of CPU time"
on_page steps operators "operator types: a choice of pie and bars, of average and total" \
	has '"Operator types by average time;' 'aria-pressed="true">Average' 'aria-pressed="false">Total' 'aria-pressed="true">Pie' 'aria-pressed="false">Bars'
on_page host operators "operator types: a pie without GPUs" has '"Operator types by average time;'
on_page steps operators "operator types: each leads to its single operators" has 'href="#operators/single_operators/%22mm%22"'

tap by_hand steps singles "single operators: device or host, type, time, share; the longest average first"
tap by_hand model singles "single operators: of 2358 operators, by their inputs"
tap by_hand modules singles "single operators: full names with the modules around"
tap shows modules '[.single_operators.rows[].full_name] | index("Net_0/Conv2d_0/aten::mm") and index("Net_0/aten::relu")' "single operators: the place in the model"
tap shows steps '[.single_operators.rows[].side] | unique == ["Device", "Host"]' "single operators: on device and host"
on_page steps operators "single operators: all of them on the page" rows single_operators 10

on_page steps operators/single_operators/%22mm%22 "operator types: the single operators of a type" rows single_operators 1
on_page steps operators/operator_types/MM "search: operator types by a part of their name, in any case" rows operator_types 2
on_page steps operators/single_operators/backward "search: single operators by name or type" rows single_operators 2
on_page steps kernels/kernel_operator/convolution "search: kernels by their operator or name" rows kernel_operator 1
on_page steps kernels/kernel_operator/convolution "kernels: shares and times in charts" \
	has '"Kernels by total time;' 'aria-pressed="false">Pie'
on_page model kernels "kernels: use of tensor cores in a chart" has '"Tensor core use, by kernel time;'

tap by_hand steps kernels "kernels: name, operator, calls, total, average, share"
tap by_hand model kernels "kernels: of 2358 operators"
tap shows model '.kernel_operator.rows | length > 50 and ([.[].total_ns] | . == (sort | reverse))' "kernels: the longest first"

tap by_hand steps timeline "timeline summary: streams, operators, calls and times"
tap by_hand model timeline "timeline summary: of three streams"
tap shows host '.timeline_summary.rows[0] | .operators == 1 and .calls == 1 and .streams == 0' "timeline summary: without GPUs"

tap by_hand steps step_trace "step trace: interval, forward and backward, tail of each step, and their means"
on_page steps steps "step trace: as a chart" has '"Step trace;'

tap by_hand steps data "data preparation: batches and waits of each step, and which are delayed"
tap shows steps '[.data_loading_steps.rows[] | select(.delayed == "yes")] | length == 3' "data preparation: the number of delayed steps"
on_page steps data_loading "data preparation: waits as a chart" has '"Data loader wait per step;'

tap by_hand live cpu "CPU utilisation: user, system and iowait of the host, user and system of the process"
"$REPORT" timeline -o "$T/live.pftrace" "$T/live.gprof" 2>/dev/null
tap grep -aq 'CPU(System), iowait' "$T/live.pftrace" "CPU utilisation: as counters of the timeline"
on_page live utilization "CPU utilisation: over time" has '"CPU of the host over time;' '"Utilization over time;'
# shellcheck disable=SC2034 # finish reads it
[ $bad = 0 ] || failed=1
finish
