#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bench_trace.sh BUILD: a gzipped trace read and the first page of tables made, and beside it
# HolisticTraceAnalysis doing the like (loading, temporal and kernel breakdown), in turns. The trace
# is the largest of $GPROF_TRACES; without it one that the generator's events make.
B=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

command -v python3 >/dev/null || {
	echo "SKIP the trace: no python3"
	exit 0
}
if [ -n "${GPROF_TRACES:-}" ]; then
	trace=$(find "$GPROF_TRACES" -name '*.json.gz' -size +1k -printf '%s %p\n' | sort -n | tail -1 | cut -d' ' -f2-)
else
	trace=$work/a.json.gz
	"$B/gen_stream" "$work/a.gprof" 200000 &&
		"$B/gprof-report" timeline -o "$trace" "$work/a.gprof" || exit 1
fi
if [ ! -d "$B/hta-lib" ]; then
	python3 -m pip install -q --no-warn-script-location --target "$work/lib" \
		HolisticTraceAnalysis==0.5.0 'pandas<3' >"$work/pip" 2>&1 &&
		find "$work/lib" -name '*.d' -prune -exec rm -rf {} + && mv "$work/lib" "$B/hta-lib"
fi
exec python3 test/bench/bench_trace.py "$B/gprof-report" "$trace" "$B/hta-lib"
