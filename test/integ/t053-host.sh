#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The program's output, status, descriptors and threads are as without gprof.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

plain "$B/integ/s_plain"
record "$B/integ/s_plain"
is "$plain_rc" $rc "exit status of a program without CUDA"
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "its output"
is "$(cat "$T/plain.err")" "$(cat "$T/err")" "its stderr"
[ ! -e "$GPROF_DIR" ] || { echo "it left a directory without CUDA"; failed=1; }

plain "$B/integ/s_loop" 3 5 exit=17
GPROF_QUIET=1 record "$B/integ/s_loop" 3 5 exit=17
is 17 $rc "exit status"
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output"
is "$(cat "$T/plain.err")" "$(cat "$T/err")" "stderr when quiet"
record "$B/integ/s_loop" 3 5
is 1 "$(grep -c '^gprof\[[0-9]*\]: .*view with: gprof-report' "$T/err")" "lines of ours when not quiet"

# Relative directories are taken where the program began.
(mkdir -p "$T/here" "$T/there" && cd "$T/here" && GPROF_DIR=dump record "$ROOT/$B/integ/s_loop" 3 5 "chdir=$T/there")
is 1 "$(ls "$T/here/dump"/*.gprof 2>/dev/null | wc -l)" "streams where it began"

# Left by _exit: nothing of ours runs, and nothing is lost of the host's calls.
rm -rf "$GPROF_DIR"
record "$B/integ/s_loop" 3 5 quick exit=6
is 6 $rc "status of _exit"
summary api
is 15 "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')" "calls before _exit"

# Closed standard streams, and a path with a blank in it.
GPROF_DIR="$T/a b/c d"
LD_LIBRARY_PATH=$SIM LD_PRELOAD=$(preload) "$B/integ/s_loop" 2 5 <&- >&- 2>&-
is 0 $? "status with closed streams"
summary api
is 10 "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')" "calls with closed streams"
finish
