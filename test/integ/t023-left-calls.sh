#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Calls that a signal handler's jump, the end of a thread or a coroutine leaves in the middle, and
# calls that handlers and callbacks make in them: what was left is counted once, all others are
# recorded. The runtime is one of test/calls, which lets a program in.
. "$(dirname "$0")/lib.sh"
need REPORT JQ
export GPROF_CPU_HZ=0 # CPU samples are events, too, and a busy machine may lose some
[[ $B != *san-thread ]] || skip "ThreadSanitizer does not know jumps out of its own frames"
CC=${CC:-gcc}
src=$ROOT/test/calls
"$CC" -O1 -fPIC -shared -DID=12 -DQUIET -fvisibility=hidden -o "$T/libruntime.so" "$src/runtime.c" || exit 1
"$CC" -O1 -fPIC -shared -D_GNU_SOURCE -o "$T/slow.so" "$src/slow.c" || exit 1
"$CC" -O1 -D_GNU_SOURCE -I"$ROOT" -o "$T/left" "$src/left.c" "$T/libruntime.so" -Wl,-rpath,"$T" -lpthread || exit 1
# The same as one library that contains the runtime, and offers it.
"$CC" -O1 -fPIC -shared -DID=12 -DQUIET -D_GNU_SOURCE -I"$ROOT" -o "$T/libwhole.so" "$src/left.c" "$src/runtime.c" -lpthread || exit 1
echo 'int main(void);' | "$CC" -x c - -x none -Wl,--no-as-needed "$T/libwhole.so" -Wl,-rpath,"$T" -o "$T/left-whole" || exit 1

# calls NAME: how often it was recorded.
calls()
{
	query "[.api.rows[]? | select(.name == \"$1\").calls] | add // 0"
}

for run in $("$T/left") by_jump-whole by_jump_of_nccl-whole by_jump_from_other_stack-whole; do
	scenario=${run%-whole}
	program=$T/left${run#"$scenario"}
	# AddressSanitizer does not see that the frames of a thread that exits are gone.
	[[ $B == *san-* && $scenario == by_thread_exit ]] && continue
	slow=
	[ "$scenario" != while_starting ] || slow=:$T/slow.so
	# A machine too busy to start us in the moment that a program waits costs its first calls, and
	# says so; then it is tried again.
	for _ in 1 2 3 4 5; do
		rm -rf "$GPROF_DIR"
		LD_PRELOAD=$(preload)$slow "$program" "$scenario" >"$T/out" 2>"$T/err"
		is 0 $? "exit status of $run"
		summary api,communication,losses
		[ "$scenario" != while_starting ] || break
		query '.losses.rows[].cause' | grep -q 'was starting' || break
	done
	read -r made reduced left <"$T/out"
	lost=$(query '[.losses.rows[].count] | add // 0')
	if [ "$scenario" = while_starting ]; then
		is $((made + 1)) $(($(calls cudaGetDevice) + lost)) "calls of $scenario, recorded or counted"
		[ "$(calls cudaGetDevice)" -gt 0 ] || is "some" "$(calls cudaGetDevice)" "calls recorded in $scenario"
		continue
	fi
	is "$made" "$(calls cudaGetDevice)" "calls of $run"
	is "$reduced" "$(query '[.communication.rows[]?.calls] | add // 0')" "collectives of $run"
	is "$left" "$lost" "lost in $run"
done
finish
