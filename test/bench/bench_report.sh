#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bench_report.sh BUILD: how fast the reporter reads, and beside it what the same events cost as the
# Chrome JSON that other tools start from.
B=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

"$B/bench_report" || exit 1
"$B/gen_stream" "$work/a.gprof" 500000 || exit 1
start=$(date +%s.%N)
"$B/gprof-report" timeline -o "$work/a.json" "$work/a.gprof" || exit 1
now=$(date +%s.%N)
awk -v s="$start" -v n="$now" 'BEGIN { printf "%-44s %8.1f M events/s\n", "timeline written as JSON", 0.5 / (n - s) }'
if command -v python3 >/dev/null; then
	python3 - "$work/a.json" <<'END'
import json, os, sys, time
start = time.time()
with open(sys.argv[1]) as file:
    json.load(file)
rate = 0.5 / (time.time() - start)
print(f"{'peer: json.load of that file':44} {rate:8.1f} M events/s")
print(f"{'peer: bytes an event in that file':44} {os.path.getsize(sys.argv[1]) / 500000:8.1f}")
END
else
	echo "SKIP the peer: no python3"
fi
