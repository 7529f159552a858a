#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # of lib.sh
# Every function that the recorder asks of the C library fails in turn, at each of its calls, once
# and for good: the host never notices. A line of TAP for each function.
. "$(dirname "$0")/lib.sh"

# ---- is every function on the list? ----

listed=$(sed -nE 's/^(FAULT|HAND|SOUND)\(([A-Za-z_0-9]+)[,)].*/\2/p' test/fault/faults.def)
unlisted=$(nm -D --undefined-only "$B/libgprof.so" | awk '{ sub(/@.*/, "", $2); print $2 }' |
	grep -vxF "$listed" | tr '\n' ' ')
tap "$([ -z "$unlisted" ]; echo $?)" "every function is on the list of faults" \
	"not in test/fault/faults.def: $unlisted"

# ---- what there is to fail ----

export PLAIN=$T/plain CALLS
echo 'GPROF_STEP=kernel:step.*' >"$PLAIN.env"
plain "$GUEST"
GPROF_FLUSH_MS=10 GPROF_CONFIG=$PLAIN.env GPROF_LOG=debug GPROF_LOG_FILE=$T/log \
	env FAULT_COUNTS="$T/counts" LD_LIBRARY_PATH="$SIM" LD_PRELOAD="$ROOT/$B/fault/libgprof.so" \
	"$GUEST" >/dev/null 2>&1
summary api
CALLS=$(query '[.api.rows[].calls] | add')

# The numbers of calls to try: all of a few, a spread of many; in `make test` the first three and a later one.
numbers()
{
	if [ "${TEST_TIER:-all}" = all ]; then
		awk -v n="$1" 'BEGIN { for (i = 1; i <= n; i++) if (i <= 8 || n <= 14 || i % int(n / 6 + 1) == 0) print i }'
	else
		awk -v n="$1" 'BEGIN { for (i = 1; i <= n; i++) if (i <= 3 || i == int(n * 2 / 3)) print i }'
	fi
}

points()
{
	local name calls n
	while read -r name calls; do
		for n in $(numbers "$calls"); do
			echo "$name:$n"
		done
		# Who can look nothing up can pass no call on.
		[ "$name" != dlsym ] || continue
		for n in 1 2 3 $((calls / 2)); do
			[ "$n" -ge 1 ] && [ "$n" -le "$calls" ] && echo "$name:$n+"
		done
	done < <(paste "$B/fault/names" <(od -An -v -tu4 -w4 "$T/counts")) | sort -u
	# Quota, read-only, a bad disk, a signal.
	for name in open mkdir fallocate pwrite ftruncate rename chmod; do
		printf '%s\n' "$name:1+ 122" "$name:2+ 122" "$name:1 30" "$name:1+ 30" "$name:2+ 5"
	done
	printf '%s\n' "pwrite:1 4" "pwrite:5 4" "write:1 4" "open:1 4" "fallocate:1 4"
}

points >"$T/points"
xargs -P 2 -L 1 bash test/fault/point.sh <"$T/points" >"$T/tried"

# ---- what came of it ----

while read -r name; do
	tried=$(grep -c "^$name:" "$T/tried")
	why=$(grep "^$name:" "$T/tried" | grep ' bad ' | head -3 | tr '\n' ';')
	if [ "$tried" != 0 ]; then
		tap "$([ -z "$why" ]; echo $?)" "$name fails ($tried ways)" "$why"
	fi
done <"$B/fault/names"
is "$(wc -l <"$T/points")" "$(wc -l <"$T/tried")" "points tried"
exit $failed
