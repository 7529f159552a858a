#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Variables from a file, wrong values, and switching gprof off.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

printf '# settings\nexport GPROF_SCHEDULE="2-4"\nGPROF_STEP=auto  # the default\n' >"$T/profiler.env"
GPROF_CONFIG=$T/profiler.env record "$B/integ/s_loop" 10 5 call
summary api
is 10 "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')" "launches by the file's schedule"
rm -rf "$GPROF_DIR"
GPROF_SCHEDULE=all GPROF_CONFIG=$T/profiler.env record "$B/integ/s_loop" 10 5 call
summary api
is 50 "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')" "launches by the environment's schedule"

for wrong in GPROF_BUFFER_MB=lots GPROF_GRAPH=nodes GPROF_STEP=sometimes GPROF_SCHEDULE=4-2; do
	rm -rf "$GPROF_DIR"
	plain "$B/integ/s_loop" 3 5 exit=4
	record env "$wrong" "$B/integ/s_loop" 3 5 exit=4
	is 4 $rc "exit status with $wrong"
	is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output with $wrong"
	is 1 "$(grep -c '^gprof\[' "$T/err")" "lines of gprof's on stderr with $wrong"
	grep -q "^gprof.*$wrong.*allowed" "$T/err" || { echo "nothing on stderr names $wrong"; failed=1; }
	summary api,notices
	is 15 "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')" "launches with $wrong"
	is 1 "$(query '[.notices.rows[] | select(.text | contains("allowed"))] | length')" "notices with $wrong"
done

rm -rf "$GPROF_DIR"
GPROF_ENABLE=0 record "$B/integ/s_loop" 3 5
is 0 $rc "exit status when off"
is "on stderr" "$(cat "$T/err")" "stderr when off"
[ ! -e "$GPROF_DIR" ] || { echo "it left a directory though off"; failed=1; }
finish
