#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Clients that leave CUPTI to nobody else: one that subscribed where we do not see it, one with an
# activity API of its own, one that finalises a CUPTI that may not be used again.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

client=$B/integ/s_second_client
export SIM_KERNEL_NS=200000

# Another client has subscribed: its name, where the library gives it; the hooks stay.
for version in 13.0 12.4 11.8; do
	rm -rf "$GPROF_DIR"
	plain "$B/integ/s_loop" 3 4
	SIM_CUPTI=$version SIM_CUPTI_TAKEN=1 record "$B/integ/s_loop" 3 4
	is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output with $version taken"
	summary api,kernel,notices
	is 12 "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')" "calls with $version taken"
	is "12 step_kernel()" "$(query '.kernel.rows[] | "\(.calls) \(.name)"')" "launches by kernel with $version taken"
	is 39 "$(query '.notices.rows[] | select(.cause == "CUPTI refused").code')" "refusal with $version taken"
	is true "$(query '[.notices.rows[] | select(.cause == "CUPTI refused").text] | join("") | contains("another profiler holds CUPTI: run without it")')" "remedy with $version taken"
	[ $version = 13.0 ] && told=1 || told=0 # cuptiSubscribe_v2 came with 13.0
	is "$told" "$(query '[.notices.rows[] | select(.text == "CUPTI for somebody else has subscribed to CUPTI")] | length')" "holder with $version taken"
done

# Nsight Compute's library is the driver for the program, not we; and CUPTI is left to it.
"${CC:-gcc}" -O1 -D_GNU_SOURCE -fPIC -shared -o "$T/libinjection.so" "$ROOT/test/integ/injection.c" -Wl,--no-as-needed -L"$SIM" -l:libcuda.so.1 -ldl || exit 1
# AddressSanitizer's dlopen comes first, and is the one that this library finds.
for order in ours:theirs theirs:ours; do
	[[ $B != *san-* ]] || break
	rm -rf "$GPROF_DIR"
	order=${order/ours/$(preload)}
	LD_LIBRARY_PATH=$SIM LD_PRELOAD=${order/theirs/$T/libinjection.so} "$B/integ/s_loop" 3 4 >"$T/out" 2>"$T/err"
	is 0 $? "status, $order"
	is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output, $order"
	summary api,notices
	is 12 "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')" "calls, $order"
	is "CUPTI holder" "$(query '[.notices.rows[].cause] | join(" ")')" "notices, $order"
done

# The second of our clients is refused as CUPTI would, with the first one's name.
rm -rf "$GPROF_DIR"
plain "$client" subscribe again
record "$client" subscribe again
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "two clients"
is 1 "$(grep -c '^again 39$' "$T/out")" "the second of two"

# 13.3: the client has an activity API of its own; until it unsubscribes all of CUPTI is its.
export SIM_CUPTI_SUBSCRIBERS=multi
for what in "own subscribe unsubscribe" "own subscribe unsubscribe sessions=2" "first own subscribe unsubscribe" "own subscribe"; do
	rm -rf "$GPROF_DIR"
	# shellcheck disable=SC2086
	plain "$client" $what sleep=0
	# Without the end of its subscription we do not come back.
	rm -f "$T/log"
	[[ $what == *unsubscribe* ]] && log=$T/log || log=/dev/null
	# shellcheck disable=SC2086
	GPROF_LOG=info GPROF_LOG_FILE=$T/log record "$client" $what log=$log
	is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output: $what"
	is 0 "$(grep -c ': 14$' "$T/plain.out")" "nothing refused: $what"
	summary api,kernel,losses,notices
	case $what in
	first*) kernels="20 after()" ;;
	*unsubscribe*) kernels="20 after() 20 before()" ;;
	*) kernels="20 before()" ;;
	esac
	is "$kernels" "$(query '[.kernel.rows[] | "\(.calls) \(.name)"] | sort | join(" ")')" "kernels: $what"
	is true "$(query '[.losses.rows[] | select(.cause | contains("another CUPTI client")).count] | add > 0')" "loss: $what"
	is true "$(query '[.notices.rows[] | select(.text | contains("was not recorded from"))] | length > 0')" "gap: $what"
done
unset SIM_CUPTI_SUBSCRIBERS

# Before 12.6 we do not begin again.
rm -rf "$GPROF_DIR"
export SIM_CUPTI=12.4
plain "$client" subscribe finalize sessions=2 sleep=0
record "$client" subscribe finalize sessions=2
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output with finalising in 12.4"
summary api,kernel,notices
is "20 before()" "$(query '[.kernel.rows[] | "\(.calls) \(.name)"] | join(" ")')" "kernels until it was finalised"
is 80 "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')" "all calls"
is 1 "$(query '[.notices.rows[] | select(.cause == "CUPTI ended")] | length')" "that it ended"
unset SIM_CUPTI
rm -rf "$GPROF_DIR"
plain "$client" subscribe finalize sessions=2 sleep=0
rm -f "$T/log"
GPROF_LOG=info GPROF_LOG_FILE=$T/log record "$client" subscribe finalize sessions=2 log="$T/log"
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output with finalising in 13.0"
summary kernel
is "20 after() 20 before()" "$(query '[.kernel.rows[] | "\(.calls) \(.name)"] | sort | join(" ")')" "kernels before and after finalising"


# The same from inside a callback, as Kineto does.
rm -rf "$GPROF_DIR"
plain "$client" subscribe teardown sessions=2 sleep=0
rm -f "$T/log"
GPROF_LOG=info GPROF_LOG_FILE=$T/log record "$client" subscribe teardown sessions=2 log="$T/log"
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output with finalising in a callback"
is 0 "$rc" "exit status with finalising in a callback"
summary kernel
is 20 "$(query '.kernel.rows[] | select(.name == "after()").calls')" "kernels after finalising in a callback"

# Where we leave CUPTI alone there is nothing to share.
for setting in GPROF_CUPTI=0 GPROF_ENABLE=0 GPROF_TIMER_ONLY=1; do
	rm -rf "$GPROF_DIR"
	plain "$client" subscribe domain again clock sessions=2 sleep=0
	record env "$setting" "$client" subscribe domain again clock sessions=2 sleep=0
	is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output with $setting"
done
finish
