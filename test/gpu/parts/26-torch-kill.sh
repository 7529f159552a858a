#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A training killed at random moments: what had returned when it died is in the report. KILLS=N, SEED=N, AT_ONCE=N.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
KILLS=${KILLS:-20}
AT_ONCE=${AT_ONCE:-$(nproc)}
AT_ONCE=$((AT_ONCE < 7 ? AT_ONCE : 7))
SEED=${SEED:-$$}
RANDOM=$SEED
nr_bad=0 nr_done=0

# one NUMBER MS: killed that long after it began to count.
one()
{
	local dir=$T/kill-$1 pid
	mkdir "$dir"
	GPROF_DIR=$dir/dump LD_PRELOAD=$BIN/libgprof.so${beside:+:$beside} "$TORCH" "$HERE/killed.py" "$dir/count" >"$dir/out" 2>"$dir/err" &
	pid=$!
	for _ in $(seq 600); do
		[ -s "$dir/out" ] && break
		kill -0 $pid 2>/dev/null || break
		sleep 0.1
	done
	sleep "$(printf '%d.%03d' $(($2 / 1000)) $(($2 % 1000)))"
	kill -9 $pid
	wait $pid 2>/dev/null
	ROWS=$BIN/rows REPORT=$REPORT python3 "$HERE/check.py" killed "$dir/dump" "$dir/count" >"$dir/result" 2>&1 || echo bad >"$dir/bad"
}

while [ $nr_done -lt "$KILLS" ]; do
	for ((i = 0; i < AT_ONCE && nr_done + i < KILLS; i++)); do
		one $((nr_done + i)) $((RANDOM % 1500)) &
	done
	wait
	for ((; i > 0; i--, nr_done++)); do
		echo "        $nr_done: $(tail -1 "$T/kill-$nr_done/result")"
		[ ! -e "$T/kill-$nr_done/bad" ] || nr_bad=$((nr_bad + 1))
		rm -rf "$T/kill-$nr_done/dump"
	done
done
[ $nr_bad = 0 ]
judge "$KILLS kills (SEED=$SEED)" $? "$nr_bad lost something"
finish
