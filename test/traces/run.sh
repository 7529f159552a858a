#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Traces that PyTorch's profiler wrote on real GPUs, against the figures that stand beside them:
# $GPROF_TRACES is a folder of traces with a reference.json. They are not part of the project.
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
export PYTHONDONTWRITEBYTECODE=1

skip() {
	echo "SKIP $1"
	exit 77
}

[ -n "${GPROF_TRACES:-}" ] || skip "GPROF_TRACES names no folder of traces"
[ -f "$GPROF_TRACES/reference.json" ] || skip "no reference.json in GPROF_TRACES"
command -v python3 >/dev/null || skip "no python3"
${MAKE:-make} -s --no-print-directory "$B/gprof-report" || exit 1
failed=0
python3 test/traces/compare.py "$B/gprof-report" "$GPROF_TRACES" || failed=1
python3 test/traces/steps.py "$B/gprof-report" "$GPROF_TRACES"/*.json.gz || failed=1
python3 test/traces/events.py "$B/gprof-report" "$GPROF_TRACES"/*.json.gz || failed=1
python3 test/traces/first.py "$B/gprof-report" "$GPROF_TRACES" || failed=1
python3 test/traces/advice.py "$B/gprof-report" "$GPROF_TRACES" || failed=1
python3 test/traces/analysis.py "$B/gprof-report" "$GPROF_TRACES" || failed=1
python3 test/traces/flops.py "$B/gprof-report" "$GPROF_TRACES"/resnet50*.json.gz || failed=1
python3 test/traces/names.py "$B/gprof-report" "$GPROF_TRACES"/eager*.json.gz "$GPROF_TRACES"/qwen*.json.gz "$GPROF_TRACES"/resnet50_nw4*.json.gz || failed=1
python3 test/traces/diff.py "$B/gprof-report" "$GPROF_TRACES" || failed=1
python3 test/traces/paddle.py "$B/gprof-report" "$GPROF_TRACES" || failed=1
exit $failed
