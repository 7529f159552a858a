#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Forks while the recorder encodes, and in signal handlers that have interrupted gprof in the middle
# of a row: parents lose nothing uncounted, children write streams of their own or none, and nobody
# is harmed.
. "$(dirname "$0")/lib.sh"
need REPORT JQ
export GPROF_CPU_HZ=0 # CPU samples are events, too
[[ $B != *san-thread ]] || skip "ThreadSanitizer does not support threads after a fork with threads"
CC=${CC:-gcc}
src=$ROOT/test/calls
# Each call has a row: none is only counted.
export GPROF_FLUSH_MS=10 GPROF_CALLS=all
"$CC" -O1 -fPIC -shared -DID=12 -DQUIET -fvisibility=hidden -o "$T/libruntime.so" "$src/runtime.c" || exit 1
"$CC" -O1 -D_GNU_SOURCE -o "$T/forks" "$src/forks.c" "$T/libruntime.so" -Wl,-rpath,"$T" -ldl -lpthread || exit 1

# sums: "CALLS LOST" of the streams of which jq's filter $1 is true of the process's row.
sums()
{
	query "[.processes.rows[] | select($1) | .events + .missing] | add // 0"
}

modes="encoding handler"
children=100
# AddressSanitizer's fork is none for signal handlers, and slow.
[[ $B != *san-* ]] || modes=encoding children=20
for mode in $modes; do
	rm -rf "$GPROF_DIR"
	LD_PRELOAD=$(preload) timeout 300 "$T/forks" "$mode" $children >"$T/out" 2>"$T/err" &
	parent=$!
	wait $parent
	is 0 $? "exit status of $mode"
	read -r made child_calls nr_failed <"$T/out"
	is 0 "$nr_failed" "children that failed in $mode"
	"$REPORT" check "$GPROF_DIR" >"$T/check" 2>&1
	rc=$?
	[ $rc = 0 ] || [ $rc = 3 ] || is "0 or 3" $rc "status of check in $mode: $(tail -3 "$T/check")"
	summary api,losses
	nr=$(query '.processes.rows | length')
	all=$(sums true)
	if [ "$mode" = encoding ]; then
		[ "$nr" -le $((children + 1)) ] || is $((children + 1)) "$nr" "streams in $mode"
		# On a busy machine a child may end before its recorder has begun, and say so.
		unstarted=$(sed -n 's/.*not recorded: .*; \([0-9]*\) events* lost$/\1/p' "$T/err" | awk '{n += $1} END {print n + 0}')
		# The rows of the ends of both threads may be among the lost ones.
		lost_ends=$((all + unstarted - made - children * child_calls))
		[ "$(query '[.processes.rows[].missing] | add')" -gt 0 ] && [ $lost_ends -ge 0 ] && [ $lost_ends -le 2 ] ||
			is $((made + children * child_calls)) $((all + unstarted)) "calls recorded or counted in $mode"
	else
		# A child that was made in the middle of a row is not recorded.
		[ "$nr" -gt 1 ] || is "some" "$nr" "streams in $mode"
		main=$(query '[.processes.rows[] | .events + .missing] | max')
		is "$made" "$main" "calls of the parent recorded or counted in $mode"
	fi
done

# A child that was made while another thread held the loader's list could open no library. Recorded
# or not: calls find their functions in both cases. CHILDREN that hang cost 20 s each.
echo 'int another;' >"$T/another.c"
"$CC" -fPIC -shared -o "$T/another.so" "$T/another.c" || exit 1
cd "$T" || exit 1
for enable in 0 1; do
	rm -rf "$GPROF_DIR"
	GPROF_ENABLE=$enable LD_PRELOAD=$(preload) timeout 120 ./forks looking $((2 * children)) >out 2>err
	is 0 $? "exit status of looking with GPROF_ENABLE=$enable"
	read -r _ _ nr_failed <out
	is 0 "$nr_failed" "children that could open no library with GPROF_ENABLE=$enable"
done
finish
