#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Timelines as Chrome JSON: the rules of viewers and tools (rules.py), and that gprof-report finds the same in
# its own timeline as in the stream (same.py). Traces of PyTorch's profiler are those of $GPROF_TRACES.
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
report=$B/gprof-report
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
n=0
bad=0
version=timeline
views=kernel,api,memcpy,memset,operator,steps,device

# shellcheck source=test/tap.sh
. test/tap.sh
command -v python3 >/dev/null || {
	echo "SKIP no python3"
	exit 77
}
${MAKE:-make} -s --no-print-directory "$report" "$B/gen_stream" || exit 1

# shellcheck disable=SC2317 # tap calls them
# report ARGUMENT...: status 3, events are missing, is a success here.
report() {
	"$report" "$@" 2>"$T/err" || [ $? = 3 ] || { cat "$T/err"; return 1; }
}

# shellcheck disable=SC2317
rules() {
	report timeline -o "$T/x.json" "$@" && python3 test/timeline/rules.py "$T/x.json"
}

# shellcheck disable=SC2317
# parts MB PATH: a timeline in parts beside the whole one, and the rules for each.
parts() {
	local mb=$1 list
	rm -f "$T"/x-*.json "$T"/x-*.json.gz
	report timeline --split-size 0 -o "$T/whole.json" "$2" && [ ! -s "$T/err" ] || return 1
	report timeline --split-size "${mb}M" -o "$T/x.json" "$2" || return 1
	list=$(ls -v "$T"/x-*.json)
	[ "$(wc -l <<<"$list")" -gt 2 ] && [ ! -e "$T/x.json" ] || return 1
	grep -q "split by time into $(wc -l <<<"$list") files: '$T/x-1.json' to '$(tail -1 <<<"$list")'" "$T/err" ||
		{ cat "$T/err"; return 1; }
	# shellcheck disable=SC2086 # a list
	python3 test/timeline/parts.py "$mb" "$T/whole.json" $list && python3 test/timeline/rules.py $list || return 1
	report timeline --split-size "${mb}M" -o "$T/x.json.gz" "$2" || return 1
	[ "$(find "$T" -name "x-*.json.gz" | wc -l)" = "$(wc -l <<<"$list")" ] && [ ! -e "$T/x.json.gz" ] &&
		gzip -dc "$T/x-2.json.gz" | sed 's/"traceName".*//' | cmp - <(sed 's/"traceName".*//' "$T/x-2.json")
}

# shellcheck disable=SC2317
# older PATH: parts of an earlier timeline stay and are named, up to the first that is missing.
older() {
	local parts
	rm -f "$T"/y*.json
	report timeline --split-size 1M -o "$T/y.json" "$1" && ! grep "belong to an earlier timeline" "$T/err" || return 1
	parts=$(find "$T" -name "y-*.json" | wc -l)
	echo mine | tee "$T/y-$((parts + 1)).json" "$T/y-$((parts + 2)).json" >"$T/y-$((parts + 4)).json"
	report timeline --split-size 1M -o "$T/y.json" "$1" &&
		grep -q "'$T/y-$((parts + 1)).json' to '$T/y-$((parts + 2)).json' belong to an earlier timeline" "$T/err" &&
		[ "$(cat "$T/y-$((parts + 1)).json" "$T/y-$((parts + 2)).json")" = $'mine\nmine' ]
}

# shellcheck disable=SC2317
# headline PATH: what the report says before its tables.
headline() {
	"$report" "$1" 2>/dev/null | sed '/^$/q'
}

# shellcheck disable=SC2317
same() {
	report timeline -o "$T/x.json" "$1" && diff <(headline "$1") <(headline "$T/x.json") &&
		report summary --view "$views" --format json --top 0 "$1" >"$T/stream" &&
		report summary --view "$views" --format json --top 0 "$T/x.json" >"$T/timeline" &&
		python3 test/timeline/same.py "$T/stream" "$T/timeline" "$views" "${@:2}"
}

# shellcheck disable=SC2317
# formats PATH: the same in each kind of file that gprof-report writes and reads. TensorBoard's plugin knows one kind of
# call.
formats() {
	local have
	same "$1" || return 1
	report timeline --split-size 0 -o "$T/x.json.gz" "$1" && cmp <(gzip -dc "$T/x.json.gz" | sed '/^"traceName"/d') \
		<(sed '/^"traceName"/d' "$T/x.json") || return 1
	report timeline --compat tensorboard -o "$T/x.json" "$1" && diff <(headline "$1") <(headline "$T/x.json") || return 1
	have=${views/,api/}
	report summary --view "$have" --format json --top 0 "$1" >"$T/stream" &&
		report summary --view "$have" --format json --top 0 "$T/x.json" >"$T/timeline" &&
		python3 test/timeline/same.py "$T/stream" "$T/timeline" "$have"
}

# shellcheck disable=SC2317
# durations PATH: GPU activities last as long in each file as in tables, and overlap as much.
durations() {
	views=kernel,memcpy,distributed,collectives same "$1" && report html -o "$T/x.html" "$1" &&
		python3 test/page/timeline_data.py "$T/x.html" "$T/x.json" 4000000 no
}

# shellcheck disable=SC2317
# again PATH: all views of the timeline are those of what it was made of, but for what again.py says.
again() {
	report timeline --split-size 0 -o "$T/x.json" "$1" && python3 test/timeline/again.py "$report" "$1" "$T/x.json"
}

# shellcheck disable=SC2317
# found PATH: the time of steps, by what it goes to, and what can be saved of it. The timeline lacks CPU samples, whose
# lines sentences name, and the names of files.
found() {
	local seen='[.headline.rows, .budget.rows, .findings.rows, .gc.rows | map(with_entries(select(.key |
		test("^(pid|sentence|finding_.*|places|longest)$") | not)))]'
	report timeline --split-size 0 -o "$T/x.json" "$1" || return 1
	diff <("$report" --view headline,budget,findings,gc --format json "$1" | jq "$seen") \
		<("$report" --view headline,budget,findings,gc --format json "$T/x.json" | jq "$seen")
}

# shellcheck disable=SC2317
# calls NUMBER OPTION...: so many calls of NCCL are in the timeline of two ranks.
calls() {
	local number=$1
	shift
	report timeline -o "$T/x.json" "$@" "$T/ranks" && [ "$(grep -c '"cat": "nccl"' "$T/x.json")" = "$number" ]
}

# shellcheck disable=SC2317
# hta PATH: HolisticTraceAnalysis keeps what the trace has, and so does gprof-report.
hta() {
	report timeline --compat hta -o "$T/x.json" "$1" && python3 test/timeline/hta.py "$1" "$T/x.json" &&
		diff <(headline "$1") <(headline "$T/x.json")
}

# shellcheck disable=SC2317
# breakdown PATH: the parts of steps.
breakdown() {
	"$report" --view steps,breakdown --format json "$1" | jq '[.steps.rows, .breakdown.rows | .[] | del(.pid)]'
}

# shellcheck disable=SC2317
# loader PATH: TensorBoard's plugin takes the time of loaders from operators, and gprof-report reads both alike.
loader() {
	report timeline --compat tensorboard -o "$T/x.json" "$1" &&
		[ "$(jq -r '[.traceEvents[] | select(.cat == "cpu_op" and (.name | startswith("enumerate(DataLoader)"))).dur] | add' \
			"$T/x.json")" = 600 ] &&
		diff <(headline "$1") <(headline "$T/x.json") && diff <(breakdown "$1") <(breakdown "$T/x.json")
}

# shellcheck disable=SC2317
# totals FILTER-OF-JQ PATH: allocations of a trace without totals are in the timeline, no counters of them.
totals() {
	report timeline -o "$T/x.json" "$2" && jq -e "$1" "$T/x.json" >"$T/out" &&
		diff <("$report" --view memory,memory-curve "$2") <("$report" --view memory,memory-curve "$T/x.json") || return 1
	report timeline -o "$T/x.pftrace" "$2" && [ "$(grep -c "allocated by the framework" "$T/x.pftrace")" = 0 ]
}

# shellcheck disable=SC2317
# complete PATH: gprof-report knows all kinds of events in its timeline.
complete() {
	report timeline -o "$T/x.json" "$1" && ! "$report" "$T/x.json" | grep INCOMPLETE
}

# shellcheck disable=SC2317
# counts PATH OPTION...: the counters of a part of a recording are those of all of it at the same time. Reserved memory
# is written where it changes, and so once more where the part begins.
counts() {
	local counts='[.traceEvents[] | select(.ph == "C" and .name != "reserved by the framework")]' span
	report timeline --split-size 0 -o "$T/whole.json" "$1" && report timeline --split-size 0 -o "$T/x.json" "${@:2}" "$1" || return 1
	span=$(jq -r "$counts | length as \$nr | map(.ts) | \"\(\$nr > 1000) \(min) \(max)\"" "$T/x.json")
	read -r enough first last <<<"$span"
	[ "$enough" = true ] && cmp <(jq -c "$counts | sort[]" "$T/x.json") \
		<(jq -c "$counts | map(select(.ts >= $first and .ts <= $last)) | sort[]" "$T/whole.json")
}

# shellcheck disable=SC2317
# early PATH: an activity that begins before its call, by less than clocks are apart, has no arrow, and is no fault.
early() {
	report timeline -o "$T/x.json" "$1" && "$report" "$T/x.json" >"$T/out" &&
		[ "$(jq -c '[.traceEvents[] | select(.ph == "s" or .ph == "f") | [.ph, .id]] | sort' "$T/x.json")" = '[["f",2],["s",2]]' ]
}

# shellcheck disable=SC2317
# incomplete PATH: a timeline of a recording that lacks something is not taken for a whole one.
incomplete() {
	report timeline -o "$T/x.json" "$1" && "$report" "$T/x.json" >"$T/out" 2>"$T/err"
	[ $? = 3 ] && grep "^INCOMPLETE: .*" "$T/out"
}

# trace NAME EVENT...: a trace of one process and GPU.
trace() {
	printf '%s\n' "${@:2}" | jq -s '{traceEvents: ., deviceProperties: [{id: 0, name: "X"}]}' >"$T/$1.json"
}

# step NUMBER BEGIN-US, launch CORRELATION BEGIN-US, kernel CORRELATION BEGIN-US: events of a trace, 1 ms, 10 and 100 us.
step() {
	echo "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#$1\", \"pid\": 1, \"tid\": 1, \"ts\": $2, \"dur\": 1000, \"args\": {}}"
}
launch() {
	echo "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 1, \"tid\": 1, \"ts\": $2, \"dur\": 10, \"args\": {\"correlation\": $1}}"
}
kernel() {
	echo "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k(int)\", \"pid\": 0, \"tid\": 7, \"ts\": $2, \"dur\": 100, \"args\": {\"correlation\": $1, \"stream\": 7, \"device\": 0, \"context\": 1, \"grid\": [1, 1, 1], \"block\": [32, 1, 1]}}"
}

"$B/gen_stream" "$T/small.gprof"
"$B/gen_stream" "$T/training.gprof" 20000
mkdir "$T/harm"
"$B/gen_stream" "$T/hostile.gprof" hostile "$T/harm"
"$B/gen_stream" "$T/ops.gprof" ops
"$B/gen_stream" "$T/python.gprof" python
"$B/gen_stream" "$T/model.gprof" model 20000
# The clock of the GPU is 500 ppm faster, or slower.
"$B/gen_stream" "$T/fast.gprof" drift 500 60000
"$B/gen_stream" "$T/slow.gprof" drift -500 60000
# Clocks that count less than 1 ns a tick: a little less, or half of one.
"$B/gen_stream" "$T/near.gprof" ticks -20 60000
"$B/gen_stream" "$T/half.gprof" ticks -523711 60000
for name in small training hostile ops python model fast slow near half; do
	tap rules "$T/$name.gprof" "rules, $name"
done
mkdir "$T/ranks"
"$B/gen_stream" "$T/ranks/0.gprof" nccl 0
"$B/gen_stream" "$T/ranks/1.gprof" nccl 1
tap rules "$T/ranks" "rules, two ranks in one file"
tap rules --rank 1 "$T/ranks" "rules, one of two ranks"
tap calls 14 "calls of NCCL"
tap calls 0 --compat hta "calls of NCCL, --compat hta"
tap complete "$T/ranks/0.gprof" "calls of NCCL are not missing"
tap rules --steps 2-3 "$T/model.gprof" "rules, --steps"
tap rules --time 1ms-3ms "$T/model.gprof" "rules, --time"
tap rules --min-us 5 "$T/model.gprof" "rules, --min-us"
tap rules --tracks ops,gpu "$T/model.gprof" "rules, --tracks"
for option in "--min-us 5" "--tracks counters" "--time 10ms-40ms"; do
	# shellcheck disable=SC2086 # an option and its value
	tap counts "$T/model.gprof" $option "counters, $option"
done
tap rules --compat hta "$T/hostile.gprof" "rules, --compat hta"
tap rules --compat hta "$T/model.gprof" "rules, --compat hta, several steps"
for name in small training ops model; do
	tap same "$T/$name.gprof" "the same tables, $name"
	tap again "$T/$name.gprof" "read again, $name"
done
python3 test/integ/xspace.py "$T/gpu.xplane.pb"
python3 test/integ/xspace.py "$T/tpu.xplane.pb" tpu
for name in small.gprof training.gprof ops.gprof model.gprof gpu.xplane.pb tpu.xplane.pb; do
	tap formats "$T/$name" "each format, $name"
done
for path in test/golden/traces/*.json; do
	tap rules "$path" "rules, $(basename "$path")"
done
tap formats test/golden/traces/ascend.json "each format, ascend.json"
tap again test/golden/traces/ascend.json "read again, ascend.json"
# shellcheck disable=SC2317
# without_files PATH: the first screen in one line, which without files breaks elsewhere.
without_files() {
	headline "$1" | tr -s '\n ' ' ' | sed -E 's/([a-z_0-9]+)\(\/[^)]*\)/\1/g'
}

# The timeline lacks the names of files that calls of the system use.
# shellcheck disable=SC2317
headline_again() {
	report timeline --split-size 0 -o "$T/x.json" "$1" && diff <(without_files "$1") <(without_files "$T/x.json")
}
tap headline_again test/golden/traces/old_torch.json "the same first screen, old_torch.json"
"$B/gen_stream" "$T/gc.gprof" gc
"$B/gen_stream" "$T/gc_rare.gprof" gc rare
"$B/gen_stream" "$T/gil.gprof" gil
"$B/gen_stream" "$T/os.gprof" os
"$B/gen_stream" "$T/compile.gprof" compile
for name in gc gc_rare os compile; do
	tap headline_again "$T/$name.gprof" "the same first screen, $name"
done
for name in gc gc_rare gil os compile; do
	tap found "$T/$name.gprof" "the same budget, findings and collections, $name"
done
for name in near half; do
	tap same "$T/$name.gprof" rounded "the same tables to a nanosecond, $name"
done
# shellcheck disable=SC2317
stacks() {
	views=python,operator-stacks same "$1"
}
tap stacks "$T/python.gprof" "the same Python stacks"
for name in fast slow; do
	tap durations "$T/$name.gprof" "durations of the device, $name"
done
# Clocks of few digits: operators that lie in each other for all of their time.
for name in outer middle inner; do
	echo "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"$name\", \"pid\": 1, \"tid\": 1, \"ts\": 5, \"dur\": 9}"
done | jq -s '{traceEvents: .}' >"$T/ties.json"
tap same "$T/ties.json" "the same tables, operators of the same time"
# A kernel whose call is from before; kernels that overlap, as programmatic launches do.
trace one "$(step 5 1000)" "$(kernel 5 1010)" "$(launch 6 1200)" "$(kernel 6 1300)"
trace steps "$(step 5 1000)" "$(kernel 5 1010)" "$(launch 6 1200)" "$(kernel 6 1300)" "$(step 6 2000)" \
	"$(launch 7 2200)" "$(kernel 7 2300)"
trace pdl "$(launch 1 1000)" "$(launch 2 1020)" "$(kernel 1 1050)" "$(kernel 2 1140)" "$(launch 3 2000)" "$(kernel 3 2050)"
for name in one steps pdl; do
	tap again "$T/$name.json" "read again, $name"
	tap hta "$T/$name.json" "what HolisticTraceAnalysis keeps, $name"
done
trace loader "$(step 0 0)" "$(launch 1 700)" "$(kernel 1 800)" \
	'{"ph": "X", "cat": "user_annotation", "name": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "pid": 1, "tid": 1, "ts": 10, "dur": 600, "args": {}}'
for name in truncated flipped missing; do
	tap incomplete "test/golden/v1/bad_$name.gprof" "of an incomplete recording, $name"
done
tap incomplete "$T/hostile.gprof" "of an incomplete recording, hostile"
tap loader "$T/loader.json" "loaders, --compat tensorboard"
trace early "$(launch 1 1000.5)" "$(kernel 1 1000)" "$(launch 2 2000)" "$(kernel 2 2020)"
tap early "$T/early.json" "activities before their call"
# A call without a length that begins with a launch: it stands behind the launch and its arrow.
trace empty "$(launch 1 1000 | jq -c '.dur = 0')" "$(launch 2 1000)" "$(launch 3 1020)" "$(kernel 2 1050)" "$(kernel 3 1250)"
tap rules "$T/empty.json" "rules, a call without a length"
trace memory '{"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1000, "tid": 1000, "ts": 105, "args": {"Device Type": 0, "Device Id": -1, "Bytes": 4096}}' \
	'{"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 1000, "tid": 1000, "ts": 100, "dur": 10, "args": {}}'
tap totals '[.traceEvents[] | select(.name == "[memory]" and .args.Bytes == 4096 and (.args | has("Total Allocated") | not)),
	select(.ph == "C") | .ph] == ["i"]' "$T/memory.json" "memory without totals"
tap parts 1 "$T/model.gprof" "parts of 1 MB, model"
tap parts 1 "$T/training.gprof" "parts of 1 MB, training"
tap older "$T/model.gprof" "parts of a run before"
"$B/gen_stream" "$T/long.gprof" model 1000000
tap python3 test/timeline/memory.py 30 "$report" timeline -o - "$T/long.gprof" "memory for 1 million events, JSON"
tap python3 test/timeline/memory.py 64 "$report" timeline -o "$T/x.pftrace" "$T/long.gprof" \
	"memory for 1 million events, Perfetto"

# DevTools, where Chromium is (Debian: chromium) and playwright of PyPI, as in test/page.
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
lib=$(pwd)/$B/page-lib
[ -z "$chromium" ] || fetch_lib "$lib" playwright==1.65.2
# shellcheck disable=SC2317
devtools() {
	report timeline -o "$T/x.json" "$1" && PYTHONPATH=$lib python3 test/timeline/devtools.py "$chromium" "$T/x.json"
}
if [ -n "$chromium" ] && [ -d "$lib" ]; then
	tap devtools "$T/small.gprof" "slices in DevTools, small"
	tap devtools "$T/model.gprof" "slices in DevTools, model"
else
	n=$((n + 1))
	echo "ok $n - timeline slices in DevTools # SKIP no chromium, or no playwright"
fi
for export in "${GPROF_TRACES:-/nowhere}"/../nsys/*.sqlite; do
	[ ! -f "$export" ] || "$report" sql 'SELECT 1' "$T/small.gprof" 2>&1 | grep -q "built without SQLite" && continue
	# A timeline has no CPU samples, and its findings no code that these show.
	cp "$export" "$T/unsampled.sqlite" && chmod u+w "$T/unsampled.sqlite" &&
		python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript("DELETE FROM COMPOSITE_EVENTS; DELETE FROM SAMPLING_CALLCHAINS")' \
			"$T/unsampled.sqlite"
	tap formats "$T/unsampled.sqlite" "each format, $(basename "$export")"
done
for trace in $(real_traces); do
	[ -f "$trace" ] || continue
	tap rules "$trace" "rules, $(basename "$trace")"
	tap same "$trace" "the same tables, $(basename "$trace")"
	tap again "$trace" "read again, $(basename "$trace")"
done
exit $bad
