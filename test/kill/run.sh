#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kills a busy job at random moments, from its first millisecond to its last: what its threads had
# counted as done is in the report, and at most one call more of each thread. SEED=N repeats a run,
# KILLS=N makes more of them than 30, or 200 in the whole run.
. "$(dirname "$0")/../integ/lib.sh"
need SIM REPORT

[ "${TEST_TIER:-}" != all ] || KILLS=${KILLS:-200}
KILLS=${KILLS:-30}
SEED=${SEED:-$$}
RANDOM=$SEED
THREADS=4
nr_bad=0 nr_early=0 nr_ended=0 nr_calls=0

calls_counted()
{
	if [ -s "$T/calls" ]; then
		od -An -tu8 "$T/calls" | tr -d ' '
	else
		echo 0
	fi
}

# Calls of the API, and what is known to be lost of them.
calls_reported()
{
	"$REPORT" summary --view api --format csv --top 0 "$GPROF_DIR" 2>"$T/report.err" |
		awk -F, '/^[0-9.]/ { n += $3 } END { print n + 0 }'
}

bad()
{
	echo "kill $1 (SEED=$SEED): $2; counted $counted, reported $reported"
	nr_bad=$((nr_bad + 1))
}

# one NUMBER END_MS DELAY_MS
one()
{
	local pid status
	rm -rf "$GPROF_DIR" "$T/calls"
	LD_LIBRARY_PATH=$SIM LD_PRELOAD=$(preload) "$B/kill/busy" "$T/calls" "$2" >/dev/null 2>"$T/err" &
	pid=$!
	sleep "$(printf '0.%03d' "$3")"
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	status=$?
	counted=$(calls_counted)
	reported=0
	[ -d "$GPROF_DIR" ] && reported=$(calls_reported)
	nr_calls=$((nr_calls + counted))
	[ "$counted" != 0 ] || nr_early=$((nr_early + 1))
	[ $status != 0 ] || nr_ended=$((nr_ended + 1))
	if grep -q 'events\? lost' "$T/report.err" 2>/dev/null; then
		bad "$1" "$(grep -m1 'events\? lost' "$T/report.err")"
	elif [ "$reported" -lt "$counted" ]; then
		bad "$1" "lost"
	elif [ "$reported" -gt $((counted + THREADS)) ]; then
		bad "$1" "more than was done"
	elif [ $status = 0 ] && [ "$reported" != "$counted" ]; then
		bad "$1" "ended, and not all of it"
	fi
}

for ((i = 1; i <= KILLS; i++)); do
	GPROF_FLUSH_MS=$((10 + RANDOM % 3 * 45))
	export GPROF_FLUSH_MS
	if ((i % 4)); then
		one $i 0 $((RANDOM % 150))
	else
		# About when it ends by itself, after some 30 ms of start-up.
		end=$((10 + RANDOM % 40))
		one $i $end $((end + RANDOM % 40))
	fi
done
echo "# $KILLS kills, seed $SEED: $nr_calls calls, $nr_early before the first call, $nr_ended too late"
if [ $nr_bad = 0 ] && [ $nr_calls -gt $((KILLS * 100)) ]; then
	echo "ok 1 - $KILLS kills lose nothing that was committed"
else
	echo "not ok 1 - kills: $nr_bad of $KILLS lose something, $nr_calls calls (SEED=$SEED)"
	failed=1
fi

# ---- the OOM killer, in a memory cgroup of ours ----

# Prints the directory of a new cgroup with 400 MB.
make_cgroup()
{
	local base
	for base in /sys/fs/cgroup/memory /sys/fs/cgroup; do
		local group=$base/gprof-test-$$
		mkdir "$group" 2>/dev/null || continue
		if echo 400M 2>/dev/null >"$group/memory.max" ||
			echo 400M 2>/dev/null >"$group/memory.limit_in_bytes"; then
			echo 0 2>/dev/null >"$group/memory.swap.max"
			echo "$group"
			return 0
		fi
		rmdir "$group"
	done
	return 1
}

if group=$(make_cgroup); then
	rm -rf "$GPROF_DIR" "$T/calls"
	(
		echo $BASHPID >"$group/cgroup.procs" || exit 99
		LD_LIBRARY_PATH=$SIM LD_PRELOAD=$(preload) exec "$B/kill/busy" "$T/calls" 100 grow
	) >/dev/null 2>&1
	status=$?
	rmdir "$group"
	counted=$(calls_counted)
	reported=$(calls_reported)
	if [ $status = 137 ] && [ "$reported" -ge "$counted" ] && [ "$counted" -gt 0 ]; then
		echo "ok 2 - the OOM killer loses nothing that was committed"
	else
		echo "not ok 2 - OOM kill: status $status, counted $counted, reported $reported"
		failed=1
	fi
else
	echo "ok 2 - OOM kill # SKIP no memory cgroup can be made here"
fi
exit $failed
