#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bench_page.sh BUILD: what a page of `html` costs to write and to look at, of EVENTS events (a
# million), and beside it the timeline for Perfetto of the same; then of LARGE events (100 million),
# and of RANKS ranks (1,024) by `reduce`.
B=$1
events=${EVENTS:-1000000}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

"$B/gen_stream" "$work/a.gprof" model "$events" || exit 1
"$B/bench/run_cost" 3 "$events" "the page written" "$B/gprof-report" html -o "$work/a.html" "$work/a.gprof" &&
	"$B/bench/run_cost" 3 "$events" "without its timeline" "$B/gprof-report" html --timeline-size 0 -o "$work/b.html" "$work/a.gprof" &&
	"$B/bench/run_cost" 3 "$events" "peer: timeline for Perfetto" "$B/gprof-report" timeline -o "$work/a.pftrace" "$work/a.gprof" || exit 1
stat -c %s "$work/a.html" "$work/b.html" "$work/a.pftrace" | awk '
	{ printf "%-44s %8.1f MB\n", NR == 1 ? "the page" : NR == 2 ? "without its timeline" : "the trace for Perfetto", $1 / 1e6 }'

large=${LARGE:-100000000}
ranks=${RANKS:-1024}
"$B/gen_stream" "$work/large.gprof" model "$large" &&
	"$B/bench/run_cost" 1 "$large" "the page of $large events" "$B/gprof-report" html -o "$work/large.html" "$work/large.gprof" || exit 1
rm -f "$work/large.gprof"
mkdir "$work/ranks" || exit 1
rank=0
while [ "$rank" -lt "$ranks" ]; do
	"$B/gen_stream" "$work/ranks/$rank.gprof" model 20000 "$rank" "$ranks" || exit 1
	rank=$((rank + 1))
done
"$B/gprof-report" reduce -o "$work/ranks.sum" "$work/ranks" &&
	"$B/bench/run_cost" 3 $((ranks * 20000)) "the page of $ranks ranks" "$B/gprof-report" html -o "$work/ranks.html" "$work/ranks.sum" || exit 1
stat -c '%s %n' "$work/large.html" "$work/ranks.html" | awk '{ sub(".*/", "", $2); printf "%-44s %8.1f MB\n", $2, $1 / 1e6 }'
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
	echo "SKIP the page in a browser: no chromium"
	exit 0
}
PYTHONPATH=$B/page-lib python3 -c 'import playwright' 2>/dev/null || {
	echo "SKIP the page in a browser: no playwright in $B/page-lib (test/page/run.sh puts it there)"
	exit 0
}
PYTHONPATH=$B/page-lib:test/page PYTHONDONTWRITEBYTECODE=1 python3 test/bench/bench_page.py "$chromium" "$work/a.html" "$work/large.html" "$work/ranks.html"
