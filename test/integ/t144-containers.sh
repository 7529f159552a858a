#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A process of a container, seen from outside of it, and not seen from another one.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
unshare -p --fork --mount-proc true 2>/dev/null || skip "no namespaces of pids can be made here"

# Two containers, in each of which the process has the same pid.
for i in 0 1; do
	RANK=$i WORLD_SIZE=2 HOLD=$T/held.$i LD_LIBRARY_PATH=$SIM LD_PRELOAD=$(preload) \
		unshare -p --fork --kill-child --mount-proc "$B/integ/s_loop" 20 2 call hold >"$T/out" 2>"$T/err" &
	containers[i]=$!
done
until [ -e "$T/held.0" ] && [ -e "$T/held.1" ]; do
	kill -0 "${containers[@]}" 2>/dev/null || { echo "a container ended"; cat "$T/err"; exit 1; }
	sleep 0.05
done

# states: how each process ended, by a reader in front of which $@ stands.
states()
{
	"$@" "$REPORT" info "$GPROF_DIR" 2>/dev/null | sed -n 's/^  end  *//p'
}

is "is still running
is still running" "$(states env)" "from outside"
elsewhere="did not exit: a signal or a machine failure ended it, or it is still running elsewhere"
is "$elsewhere
$elsewhere" "$(states unshare -p --fork --mount-proc)" "from a third container"
"$REPORT" control "$GPROF_DIR" stop >"$T/control" 2>&1
is 0 $? "exit status of control"
unshare -p --fork --mount-proc "$REPORT" control "$GPROF_DIR" stop >"$T/control" 2>&1
is 0 $? "exit status of control in a third container"
ok grep -q ' 0 running processes and to 2 that may still run' "$T/control"

# The watch outside goes on until both have ended: one by itself, the other is killed with its container.
"$REPORT" watch --interval-ms 20 --metrics "$T/job.prom" "$GPROF_DIR" >"$T/watch" 2>"$T/watch.err" &
watch=$!
until [ "$(grep -c '^gprof_process_running.* 1$' "$T/job.prom" 2>/dev/null)" = 2 ]; do
	kill -0 $watch 2>/dev/null || { echo "the watch ended first"; cat "$T/watch" "$T/watch.err"; exit 1; }
	sleep 0.05
done
rm "$T/held.0"
wait "${containers[0]}"
ok kill -0 $watch
kill -KILL "${containers[1]}"
wait "${containers[1]}" 2>/dev/null
wait $watch
is 3 $? "exit status of watch"
is 2 "$(grep -c '^gprof_process_running.* 0$' "$T/job.prom")" "processes that have ended, in the metrics"
is "exited with status 0
$elsewhere" "$(states env | sort -r)" "from outside, at the end"
# One pid, two processes: no kin, nor recorded twice.
is 2 "$("$REPORT" --format json --view distributed "$GPROF_DIR" 2>/dev/null | jq '.distributed.rows | length')" "ranks"
finish
