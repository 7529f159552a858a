#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# C stacks of calls of CUDA and of the C library: equal those that backtrace() finds at the same places, each call without
# one is counted, and a library that lies where another one was is told from it.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
[[ $B != *san-thread ]] || skip "ThreadSanitizer changes what calls what"
rounds=20
for number in 1 2; do
	echo "int in_library_$number(int (*function)(void)); int in_library_$number(int (*function)(void)) { int rc = function(); __asm__ volatile(\"\" : \"+r\"(rc)); return rc; }" |
		gcc -shared -fPIC -O2 -fasynchronous-unwind-tables -o "$T/library$number.so" -x c - || exit 1
done

# rows QUERY: as lines of fields with | between.
rows() { "$REPORT" sql --wide --format csv "$1" "$GPROF_DIR" 2>/dev/null | sed -e 1d -e 's/"//g' -e 's/,/|/g'; }
calls='(SELECT pid, tid, name, stack, dur_ns, start_ns FROM api_sync UNION ALL SELECT pid, tid, name, stack, dur_ns, start_ns FROM api_copy
	UNION ALL SELECT pid, tid, name, stack, dur_ns, start_ns FROM api_set UNION ALL SELECT pid, tid, name, stack, dur_ns, start_ns FROM api_alloc)'
# own NAMES: of them, those of the program's own functions, innermost first, by blanks.
own() { tr ' ;' '\n\n' <<<"$1" | grep -xE 'main|level_[a-z]+|calls_tail|tail|sorts|compare|recursion|run_thread' | paste -sd' '; }

GPROF_LAUNCH_STACKS=all record "$B/integ/s_stack" $rounds
is 0 "$rc" "exit status of s_stack"
summary losses,notices
refused=$(query '[.notices.rows[] | select(.cause == "no C stacks")] | length')
[ "$refused" = 0 ] || skip "the system refuses process_vm_readv"

# ---- the witness ----
parent=$(rows "SELECT pid FROM api_set WHERE name = 'cudaMemset' LIMIT 1")
# compare_stacks CALLS LEAST: each stack that the program prints, at least so many, is one of these calls.
compare_stacks()
{
	rows "SELECT DISTINCT name, stack FROM $1 WHERE stack IS NOT NULL" | sed 's/ <- /;/g' >"$T/stacks"
	nr=0
	while read -r _ call names; do
		want=$(own "$names")
		[[ $(wc -w <<<"$want") -lt 100 ]] || continue # further out they are left out
		nr=$((nr + 1))
		have=$(grep "^$call|" "$T/stacks" | cut -d'|' -f2 | while read -r line; do own "$line"; done | grep -cxF "$want")
		ok test "$have" -ge 1
		[ "$have" -ge 1 ] || echo "# no stack of $call in $want"
	done <"$T/out"
	ok test "$nr" -ge "$2"
}
compare_stacks "$calls" 6
is 1 "$(grep -c '^cudaMemset|.*;\.\.\.: outer frames$' "$T/stacks")" "stacks of cudaMemset deeper than 127 frames"
is 0 "$(cut -d'|' -f2 "$T/stacks" | tr ';' '\n' | grep -cE '^(hook|launch_stack|emit)_')" "frames of gprof's own"
ok test "$(rows "SELECT count(*) FROM api_sync WHERE pid <> $parent AND stack LIKE '%level_four <- level_three <- level_two <- main%'")" -gt 0

# ---- calls without a stack are counted ----
lost() { query "[.losses.rows[] | select(.cause | contains(\"$1\")).count] | add // 0"; }
without=$(rows "SELECT count(*) FROM $calls WHERE stack IS NULL")
is "$((2 * rounds))" "$(lost "not on its thread's own stack")" "calls in coroutines and on stacks of signal handlers"
is "$without" "$(($(lost "not on its thread's own stack") + $(lost 'had not seen before')))" "calls without a stack, and losses that say why"
ok test "$(rows "SELECT count(*) FROM $calls WHERE stack IS NOT NULL")" -gt "$((5 * rounds))"

# ---- views ----
"$REPORT" flame -o - "$GPROF_DIR" 2>/dev/null >"$T/folded"
ok grep -qE 'main;(run;)?sorts;[^ ]*compare;Memcpy HtoD' "$T/folded"

# ---- libraries that come and go ----
# look_at_libraries: which library each stack has, and whether it is whole.
look_at_libraries()
{
	rows "SELECT stack FROM api_copy WHERE name = 'cudaMemcpyAsync' ORDER BY start_ns" | awk '
		$0 && !/^from_library <- in_library_[12] <- .*main/ { bad++ }
		$0 && index($0, "in_library_" (NR - 1) % 2 + 1) == 0 { wrong++ }
		$0 { nr++ }
		END { print nr + 0, bad + 0, wrong + 0 }' >"$T/libraries"
	read -r nr bad wrong <"$T/libraries"
	is "0 0" "$bad $wrong" "$1: stacks without a library's function, and with another library's"
}
rm -rf "$GPROF_DIR"
GPROF_LAUNCH_STACKS=all record "$B/integ/s_stack" 6 "$T/library"
look_at_libraries 'libraries'
ok test "$nr" -ge 3

# A drain that needs as long for its first walks as a library is there.
cat >"$T/slow.c" <<'EOF'
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

long syscall(long number, ...)
{
	long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	__builtin_va_list arguments;
	static int nr;
	long of[6];

	__builtin_va_start(arguments, number);
	for (int i = 0; i < 6; i++) {
		of[i] = __builtin_va_arg(arguments, long);
	}
	__builtin_va_end(arguments);
	if (number == SYS_process_vm_readv && nr++ < 12) {
		usleep(40000);
	}
	return next(number, of[0], of[1], of[2], of[3], of[4], of[5]);
}
EOF
gcc -shared -fPIC -O2 -o "$T/slow.so" "$T/slow.c" || exit 1
rm -rf "$GPROF_DIR"
GPROF_LAUNCH_STACKS=all LD_LIBRARY_PATH="$SIM${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" LD_PRELOAD="$(preload) $T/slow.so" "$B/integ/s_stack" 6 "$T/library" 2>"$T/err"
look_at_libraries 'with a slow drain'

# ---- calls of the C library ----
if [[ $B != *san-* ]]; then
	rm -rf "$GPROF_DIR"
	LD_LIBRARY_PATH="$SIM${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" LD_PRELOAD="$(preload):$ROOT/$B/libgprof-os.so" "$B/integ/s_stack" $rounds os >"$T/out" 2>"$T/err"
	is 0 "$?" "exit status of s_stack os"
	summary os-runtime
	compare_stacks "os_call" 4
	is 0 "$(cut -d'|' -f2 "$T/stacks" | tr ';' '\n' | grep -cxE 'usleep|nanosleep|poll|end_call|record|write_row')" "frames of gprof's own libraries"
	# The others have the function that called, alone.
	is "waits_in_coroutine waits_not" "$(rows "SELECT DISTINCT stack FROM os_call WHERE name = 'clock_nanosleep' OR (name = 'write' AND dur_ns < 9900) ORDER BY 1" | paste -sd' ')" "calls in coroutines, and short ones"
	is 0 "$(rows "SELECT count(*) FROM os_call WHERE stack LIKE '%<-%' AND dur_ns < 9900")" "stacks of calls shorter than 10 us"
	is "compare" "$(query '.os_runtime.rows[] | select(.name == "nanosleep").caller')" "who sleeps, past the C library"
	is 0 "$(rows "SELECT count(*) FROM (SELECT a.id, group_concat(s.value, ' <- ') AS chain FROM (SELECT DISTINCT id, symbol, stackDepth FROM OSRT_CALLCHAINS ORDER BY 1, 3) a JOIN StringIds s ON s.id = a.symbol GROUP BY 1) c JOIN StringIds t ON t.id = c.id WHERE t.value <> c.chain")" "chains of OSRT_CALLCHAINS that are not the stacks of os_call"
	ok test "$(rows "SELECT count(*) FROM OSRT_API o JOIN OSRT_CALLCHAINS c ON c.id = o.callchainId WHERE c.stackDepth = 3")" -gt "$rounds"
fi

# ---- which calls have one ----
rm -rf "$GPROF_DIR"
record "$B/integ/s_stack" 5
is 0 "$(rows "SELECT count(*) FROM $calls WHERE stack IS NOT NULL AND dur_ns < 9900")" "stacks of calls shorter than 10 us"
rm -rf "$GPROF_DIR"
GPROF_CPU_HZ=0 record "$B/integ/s_stack" 5
is 0 "$(rows "SELECT count(*) FROM $calls WHERE stack IS NOT NULL")" "stacks without CPU samples"
finish
