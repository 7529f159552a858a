#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Opens a timeline with HolisticTraceAnalysis and compares what it finds with the reporter's own
# tables. Skipped where PyPI cannot be reached.
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
lib=$(pwd)/$B/hta-lib
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

skip() {
	echo "SKIP $1"
	exit 77
}

command -v python3 >/dev/null || skip "no python3"
if [ ! -d "$lib" ]; then
	python3 -m pip install -q --no-compile --no-warn-script-location --target "$work/lib" \
		HolisticTraceAnalysis==0.5.0 'pandas<3' >"$work/pip" 2>&1 ||
		skip "HolisticTraceAnalysis is not to be had: $(tail -1 "$work/pip" | cut -c1-80)"
	# What it brings for notebooks; make takes files of that name for its own.
	find "$work/lib" -name '*.d' -prune -exec rm -rf {} +
	mv "$work/lib" "$lib" || exit 1
fi
${MAKE:-make} -s --no-print-directory "$B/gprof-report" "$B/gen_stream" || exit 1

# compare PATH [STEPS]
compare() {
	"$B/gprof-report" timeline --compat hta --split-size 0 -o "$work/a.json.gz" "$1" &&
		"$B/gprof-report" --format json "$1" >"$work/a.json" &&
		PYTHONPATH=$lib python3 test/hta/compare.py "$work/a.json.gz" "$work/a.json" ${2:+steps} || bad=1
}

bad=0
"$B/gen_stream" "$work/a.gprof" 60000 && compare "$work/a.gprof" || bad=1
# Of a job on a GPU: all its steps count, as one more to drop stands behind them.
for trace in ${GPROF_TRACES:+"$GPROF_TRACES"/resnet50_nw4_v100.json.gz}; do
	[ ! -f "$trace" ] || compare "$trace" steps
done
# Whole microseconds of a trace stay whole, so HTA finds the same idle time in its timeline.
for trace in ${GPROF_TRACES:+"$GPROF_TRACES"/overlap_a100_8ranks_rank3.json.gz}; do
	[ -f "$trace" ] || continue
	"$B/gprof-report" timeline -o "$work/b.json.gz" "$trace" && PYTHONPATH=$lib python3 test/hta/idle.py "$trace" "$work/b.json.gz" || bad=1
done
exit $bad
