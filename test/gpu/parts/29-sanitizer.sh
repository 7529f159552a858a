#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compute-sanitizer beside us: it finds the planted error and no other, and the program prints the same. It holds
# CUPTI, so calls of a static runtime, which has no hooks, cannot be recorded, and the report says so.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON PROGRAMS
only_real "compute-sanitizer has no simulator"
tool=$(command -v compute-sanitizer || ls "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer" 2>/dev/null) || skip "no compute-sanitizer"
"$tool" --error-exitcode 9 "$BIN/static/at_end" >"$T/try" 2>&1 || skip "compute-sanitizer does not run here: $(tail -1 "$T/try")"
for kind in shared static; do
	ours "$tool" --error-exitcode 9 "$BIN/$kind/vector_add"
	judge "$kind: no error where there is none" $? "$(grep -h 'ERROR SUMMARY' "$T/out" "$T/err" | head -1)"
	grep -qF "$("$BIN/$kind/vector_add" | tail -1)" "$T/out"
	judge "$kind: same output" $?
	"$REPORT" "$GPROF_DIR" --view api,notices >"$T/report" 2>&1
	if [ $kind = shared ]; then
		grep -q cudaLaunchKernel "$T/report"
		judge "$kind: calls are recorded" $?
	fi
	grep -q 'CUPTI refused' "$T/report"
	judge "$kind: the report says who holds CUPTI" $? "$(grep -m1 'CUPTI holder' "$T/report" | cut -c1-150)"
	ours "$tool" --error-exitcode 9 "$BIN/$kind/at_end" bad
	[ $? = 9 ]
	judge "$kind: the planted error is found" $? "$(grep -h 'ERROR SUMMARY' "$T/out" "$T/err" | head -1)"
done
finish
