#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Signals at 10 kHz in each of several threads, whose handlers call CUDA wherever they interrupt it,
# gprof's own code included: every call is recorded or counted, and the stream is whole. For some
# seconds; for a minute in the whole run.
. "$(dirname "$0")/lib.sh"
need REPORT JQ
[[ $B != *san-* ]] || skip "sanitizers allocate in signal handlers"
CC=${CC:-gcc}
seconds=3
[ "${TEST_TIER:-}" != all ] || seconds=60
"$CC" -O1 -fPIC -shared -DID=12 -DQUIET -fvisibility=hidden -o "$T/libruntime.so" "$ROOT/test/calls/runtime.c" || exit 1
"$CC" -O1 -D_GNU_SOURCE -o "$T/handlers" "$ROOT/test/calls/handlers.c" "$T/libruntime.so" -Wl,-rpath,"$T" \
	-lpthread -lrt || exit 1

LD_PRELOAD=$(preload) "$T/handlers" $seconds 4 >"$T/out" 2>"$T/err"
is 0 $? "exit status"
read -r in_loops in_handlers <"$T/out"
"$REPORT" check "$GPROF_DIR" >"$T/check" 2>&1
rc=$?
[ $rc = 0 ] || [ $rc = 3 ] || is "0 or 3" $rc "status of check: $(cat "$T/check")"
summary api,losses
is $((in_loops + in_handlers)) "$(query '[.api.rows[].calls, (.losses.rows[] | select(.cause | test("^CPU sample") | not).count)] | add')" "calls recorded or counted"
is 0 "$(query '[.losses.rows[] | select(.cause | test("overwritten")).count] | add // 0')" "damaged rows"
[ "$in_handlers" -gt 0 ] || is "some" "$in_handlers" "calls in handlers"
finish
