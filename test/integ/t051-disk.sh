#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A full disk, a limit on file sizes, GPROF_MAX_MB, and no directory at all.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

# The kernels take no time here; it is about bytes.
export SIM_KERNEL_NS=10
plain "$B/integ/s_loop" 6 20000 exit=3

# ulimit -f: files may not grow beyond; the signal for that must not reach the program.
# (ThreadSanitizer needs larger files of its own.)
rm -rf "$GPROF_DIR"
if [[ $B != *san-thread ]]; then
	(ulimit -f 64; record "$B/integ/s_loop" 6 20000 exit=3; exit $rc)
	is 3 $? "exit status under ulimit -f"
	is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output under ulimit -f"
fi

GPROF_DIR=$T/file/below
touch "$T/file"
record "$B/integ/s_loop" 6 20000 exit=3
is 3 $rc "exit status without a directory"
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output without a directory"
is 1 "$(grep -c 'not recording' "$T/err")" "lines that say so"

GPROF_DIR=$T/limited
GPROF_MAX_MB=1 GPROF_CUPTI=0 record "$B/integ/s_loop" 20 50000 exit=3
is 3 $rc "exit status with a limit"
size=$(stat -c %s "$GPROF_DIR"/*.gprof)
[ "$size" -lt 1400000 ] || { echo "$size bytes with GPROF_MAX_MB=1"; failed=1; }
summary api,losses
kept=$(query '[.api.rows[].calls] | add')
lost=$(query '[.losses.rows[] | select(.cause | contains("GPROF_MAX_MB")).count] | add // 0')
all=$((kept + $(query '[.losses.rows[].count] | add // 0')))
is 1000042 $all "calls kept and lost"

if [ "$(id -u)" = 0 ] && mkdir "$T/tiny" && mount -t tmpfs -o size=1m tmpfs "$T/tiny" 2>/dev/null; then
	GPROF_DIR=$T/tiny/dump
	record "$B/integ/s_loop" 6 100000 exit=3
	is 3 $rc "exit status on a full disk"
	summary losses
	umount "$T/tiny"
fi
finish
