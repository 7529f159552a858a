#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # of lib.sh
# The recorder's thread comes late, as on an overloaded machine, and the program has ended meanwhile:
# every call is in the stream, or counted as lost there, or a message says how many are missing. A line of TAP
# for each case.
. "$(dirname "$0")/lib.sh"

# calls: of the last report; without a stream there is none.
calls()
{
	if [ -s "$T/json" ]; then
		query '[.api.rows[]?.calls] | add // 0'
	else
		echo 0
	fi
}

# late MS WAY: prints how many calls are accounted for. The second call of prctl is the first of the recorder's thread.
late()
{
	local told
	rm -rf "$GPROF_DIR"
	FAULT=prctl:2 FAULT_LATE_MS=$1 LD_LIBRARY_PATH=$SIM LD_PRELOAD=$ROOT/$B/fault/libgprof.so \
		"$B/integ/s_end" "$2" >"$T/out" 2>"$T/err"
	rc=$?
	summary api,losses
	told=$(sed -n 's/^gprof\[.*not recorded: the process ended .*; \([0-9]*\) events* lost$/\1/p' "$T/err")
	echo $(($(calls) + $(query '[.losses.rows[]?.count] | add // 0') + ${told:-0})) "$rc"
}

# How many there are is seen where none is lost, which may take several tries on a busy machine.
all=0
for _ in 1 2 3 4 5; do
	[ "$all" = 0 ] || break
	rm -rf "$GPROF_DIR"
	record "$B/integ/s_end" return
	summary api,losses
	[ "$(query '[.losses.rows[]?.count] | add // 0')" != 0 ] || all=$(calls)
done
tap "$([ "$all" -gt 0 ]; echo $?)" "calls of the program" "none are recorded: $(head -1 "$T/err")"
for way in return exit _exit quick_exit thread_exit; do
	# It starts a moment after the program's end, or long after it.
	for ms in 400 4000; do
		# Where the program gets little of a core, it may not have ended by then.
		for _ in 1 2 3 4 5; do
			have=$(late $ms $way)
			[ "$have $(calls)" = "$all 3 $all" ] || break
		done
		tap "$([ "$have $(calls)" = "$all 3 0" ]; echo $?)" "a recorder that comes $ms ms late, and a program that ends by $way" \
			"calls, status and calls recorded $have $(calls) where it is $all 3 0: $(head -1 "$T/err")"
	done
done

# hookless MS [VARIABLE=VALUE]...: prints how many calls without hooks are lost, and how many notices say that more
# may be.
hookless()
{
	local have
	rm -rf "$GPROF_DIR"
	env "${@:2}" FAULT=prctl:2 FAULT_LATE_MS="$1" LD_LIBRARY_PATH="$SIM" LD_PRELOAD="$ROOT/$B/fault/libgprof.so" \
		"$B/integ/s_driver" >"$T/out" 2>"$T/err"
	summary losses,notices
	have="$(query '[.losses.rows[]?.count] | add') $(query '[.notices.rows[]? | select(.cause == "late start")] | length')"
	[ -s "$T/json" ] || have=$(sed -n 's/^gprof.*not recorded: the process ended .*; \([0-9]*\) event lost$/\1 by the line/p' "$T/err")
	echo "$have"
}

# Calls that only CUPTI sees cannot be counted until it is attached, but for the one that has brought us in: so
# something is lost, and a notice says what is not counted.
for ms in 400 4000; do
	have=$(hookless $ms)
	tap "$([ "$have" = "1 1" ] || [ "$have" = "1 by the line" ]; echo $?)" "a recorder that comes $ms ms late to calls without hooks" \
		"lost calls and notices: $have; $(head -1 "$T/err")"
done

# Without CUPTI nothing would have seen them, so no notice speaks of it.
have=$(hookless 400 GPROF_CUPTI=0)
tap "$([ "$have" = "1 0" ] || [ "$have" = "1 by the line" ]; echo $?)" "a recorder that comes late, without CUPTI" \
	"lost calls and notices: $have; $(head -1 "$T/err")"

# One that is slow because it gets little of a core is waited for, 2 s at most: nothing is lost. It needs three
# looks of 50 ms at what it has got, and little enough that a busy machine gives it in time; one that does not may
# have reported what was lost, and there is another try.
for _ in 1 2 3 4 5; do
	have=$(FAULT_BUSY=1 late 150 return)
	[ "$have $(calls)" = "$all 3 0" ] || break
done
tap "$([ "$have $(calls)" = "$all 3 $all" ]; echo $?)" "a recorder that needs 150 ms of CPU to start" \
	"calls, status and calls recorded $have $(calls) where they are $all 3 $all"

# One that comes while another client of CUPTI records: our thread's own calls of CUDA are not among
# those that it sees, where CUPTI is left to it alone.
client="$B/integ/s_second_client subscribe domain sleep=0 launches=300000"
# shellcheck disable=SC2086
plain $client
for ms in 500 700 900; do
	# shellcheck disable=SC2086
	GPROF_TIMER_ONLY=1 GPROF_QUIET=1 FAULT=prctl:2 FAULT_LATE_MS=$ms LD_LIBRARY_PATH=$SIM \
		LD_PRELOAD=$ROOT/$B/fault/libgprof.so $client >"$T/out" 2>"$T/err"
	tap "$(cmp -s "$T/plain.out" "$T/out"; echo $?)" "a recorder that comes $ms ms late, beside another client" \
		"$(diff "$T/plain.out" "$T/out" | grep '^>' | head -2 | tr '\n' ' ')"
done
exit $failed
