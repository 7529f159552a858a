#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Record windows that `gprof-report control` opens and closes twice in a running program, so that CUPTI comes up and goes
# down: each launch in them has its kernel, and nothing is lost.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON PROGRAMS

# applied NR: that many of our requests took effect.
applied()
{
	[ "$("$REPORT" summary --view notices --format csv --top 0 "$GPROF_DIR" 2>/dev/null | grep -c ': applied in step')" = "$1" ]
}

rm -rf "$GPROF_DIR"
GPROF_STEP=api:cudaDeviceSynchronize GPROF_SCHEDULE=1000000000-1000000001 LD_PRELOAD=$BIN/libgprof.so \
	"$BIN/shared/steps" until "$T/stop" >"$T/out" 2>"$T/err" &
program=$!
while kill -0 $program 2>/dev/null && ! { [ -s "$T/out" ] && ls "$GPROF_DIR"/*.gprof* >/dev/null 2>&1; }; do sleep 0.05; done
nr=0
for request in start stop start stop; do
	"$REPORT" control "$GPROF_DIR" $request >"$T/control" 2>&1 || { cat "$T/control"; break; }
	nr=$((nr + 1))
	while kill -0 $program 2>/dev/null && ! applied $nr; do sleep 0.05; done
	sleep 0.3
done
touch "$T/stop"
wait $program
ran "program" $? "$T/err"
applied 4
judge "requests applied" $? "$nr"
nr=$("$REPORT" summary --view windows --format csv --top 0 "$GPROF_DIR" 2>/dev/null | grep -c '"record"')
[ "$nr" = 2 ]
judge "windows that recorded" $? "$nr"
check launches
whole windows
finish
