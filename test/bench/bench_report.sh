#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bench_report.sh BUILD: how fast the reporter reads, and beside it what the same costs with what
# people have. EVENTS=N is the size of the long run (100 million; a gigabyte has 330 million).
# RUNS=N: the best of so many. Traces of PyTorch's profiler are bench-trace's.
B=$1
events=${EVENTS:-100000000}
runs=${RUNS:-3}
few=500000
ten_million=10000000
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
nl='
'

# cost EVENTS LABEL COMMAND...
cost() {
	"$B/bench/run_cost" "$runs" "$@"
}

# peer EVENTS WHAT MODULE LABEL FILE
peer() {
	if PYTHONPATH=$B/hta-lib python3 -c "import $3" 2>/dev/null; then
		PYTHONPATH=$B/hta-lib "$B/bench/run_cost" 1 "$1" "peer: $4" \
			python3 test/bench/peers_report.py "$2" "$5"
	else
		echo "SKIP the peer: $4: no $3"
	fi
}

echo "reference stream$nl"
"$B/bench_report" || exit 1

echo "${nl}a framework's run of $events events, $(nproc) CPUs$nl"
"$B/gen_stream" "$work/model.gprof" model "$events" || exit 1
echo "$(($(stat -c %s "$work/model.gprof") / 1000000)) MB on disk"
for view in kernel api device operator; do
	cost "$events" "view $view" "$B/gprof-report" --view $view "$work/model.gprof" || exit 1
done
# The manual's bound; a step has 2,900 events.
cpus=$(nproc)
MOST_MB=$((60 + 30 * (cpus < 8 ? cpus : 8) + events / 2900000)) \
	cost "$events" "first page" "$B/gprof-report" "$work/model.gprof" || exit 1
cost "$events" "first page, on one CPU" taskset -c 0 "$B/gprof-report" "$work/model.gprof" || exit 1
tables=model,operator,kernel,memcpy,memset,nvtx,python,module,hang,missing-collectives,communication,losses,notices
cost "$events" "its tables alone, on one CPU" taskset -c 0 "$B/gprof-report" --view $tables "$work/model.gprof" || exit 1

echo "${nl}$ten_million events, what if$nl"
"$B/gen_stream" "$work/model.gprof" model $ten_million || exit 1
cost $ten_million "first page" "$B/gprof-report" "$work/model.gprof" || exit 1
cost $ten_million "whatif, each change" "$B/gprof-report" whatif "$work/model.gprof" || exit 1

echo "${nl}$few events, and as Chrome JSON$nl"
"$B/gen_stream" "$work/a.gprof" model $few || exit 1
cost $few "first page" "$B/gprof-report" "$work/a.gprof" || exit 1
cost $few "timeline written as JSON" "$B/gprof-report" timeline -o "$work/a.json" "$work/a.gprof" || exit 1
cost $few "timeline written for Perfetto" "$B/gprof-report" timeline -o "$work/a.pftrace" "$work/a.gprof" || exit 1
stat -c %s "$work/a.json" "$work/a.gprof" |
	awk -v n=$few '{ printf "%-44s %8.1f bytes an event\n", NR == 1 ? "the JSON" : "the stream", $1 / n }'
cost $few "first page of that JSON" "$B/gprof-report" "$work/a.json" || exit 1
peer $few json json "json, sums by name" "$work/a.json"
peer $few sqlite sqlite3 "json into SQLite, sums and join" "$work/a.json"
peer $few pandas pandas "json into pandas, sums and join" "$work/a.json"
peer $few hta hta "HTA, loaded, kernels by name" "$work/a.json"
