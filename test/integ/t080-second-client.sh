#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Another CUPTI client in the process, as torch.profiler is: it prints the same with and without us,
# and our stream has all calls, the gap, and what ran before and after it.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

client=$B/integ/s_second_client
# Long enough that a question finds them running.
export SIM_KERNEL_NS=200000

# both WHAT...: the client with and without us.
both()
{
	plain "$client" "$@" sleep=0
	for _ in 1 2 3 4 5; do
		rm -rf "$GPROF_DIR" "$T/log"
		GPROF_LOG=info GPROF_LOG_FILE=$T/log record "$client" "$@" sleep=0 log="$T/log"
		was_late || break
	done
	is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output: $*"
	is "$plain_rc" "$rc" "exit status: $*"
	is 0 "$(grep -c 'subscribe: \|kind: \|flush: \|register: \|clock: ' "$T/plain.out")" "the simulator's refusals: $*"
	summary api,kernel,losses,notices
}

# stream SESSIONS: calls of all times, kernels of ours only, and the gaps.
stream()
{
	is $((40 + 20 * $1)) "$(query '[.api.rows[] | select(.name == "cudaLaunchKernel").calls] | add')" "launches: $what"
	is "20 after() 20 before()" "$(query '[.kernel.rows[] | "\(.calls) \(.name)"] | sort | join(" ")')" "kernels: $what"
	is true "$(query "[.losses.rows[] | select(.cause | contains(\"another CUPTI client\")).count] | add >= $1")" "loss: $what"
	is "$1" "$(query '[.notices.rows[] | select(.text | contains("was not recorded from"))] | length')" "gaps: $what"
	is 3 "$report_rc" "the report says that data are missing: $what"
}

lost_to_client() { query '[.losses.rows[] | select(.cause | contains("another CUPTI client")).count] | add // 0'; }

for what in "" subscribe "subscribe domain again" "subscribe unsubscribe" "first subscribe" first context lazy; do
	# shellcheck disable=SC2086
	both $what
	stream 1
done
for what in "subscribe sessions=2" "subscribe unsubscribe sessions=2" "first sessions=3" "clock=each sessions=3"; do
	# shellcheck disable=SC2086
	both $what
	stream "${what##*=}"
done
is "s_second_client" "$(query '.notices.rows[-1].text' | grep -o 's_second_client')" "who it was"

# More gaps than notices: the activities of all gaps are counted.
what="clock=each sessions=20"
# shellcheck disable=SC2086
both $what
is "440 16" "$(query '[([.api.rows[] | select(.name == "cudaLaunchKernel").calls] | add),
	([.notices.rows[] | select(.text | contains("was not recorded from"))] | length)] | join(" ")')" "launches and notices: $what"
ok test "$(lost_to_client)" -ge 20

# Nothing is missing where nothing is recorded: in a closed window, and before the capture begins.
for setting in GPROF_SCHEDULE=1000000-1000001 GPROF_CAPTURE=cudaprofiler; do
	export "${setting?}"
	both subscribe
	is "0 0" "$(query '"\(.kernel.rows | length) \([.notices.rows[] | select(.cause == "CUPTI shared")] | length)"')" "notices with $setting"
	is 0 "$report_rc" "no loss with $setting"
	unset "${setting%%=*}"
done

# A client that sees all work and finds none took nothing from us: neither that nor what it has itself cost is lost.
for what in "idle" "idle sessions=4" "idle subscribe sessions=2"; do
	# shellcheck disable=SC2086
	both $what
	is "20 after() 20 before()" "$(query '[.kernel.rows[] | "\(.calls) \(.name)"] | sort | join(" ")')" "kernels: $what"
	is 0 "$(lost_to_client)" "lost: $what"
	is true "$(query '[.notices.rows[] | select(.text | contains("was not recorded from") and (contains("there was no GPU activity") | not))] == []')" "notices: $what"
done
# What is lost is what would be in the stream: kernels, a copy, and waits.
both sessions=2
lost=$(lost_to_client)
ok test "$lost" -ge 42
ok test "$lost" -le 46

# Layouts and versions: 11.8 has no cuptiSubscribe_v2.
for version in 11.8 12.4; do
	export SIM_CUPTI=$version
	what="subscribe ($version)"
	both subscribe sessions=2
	stream 2
done
unset SIM_CUPTI

# Kernels run on while the client begins and ends: ours are whole or said to lack times.
export SIM_KERNEL_NS=2000000
both flying=10
is "20 after() 20 before()" "$(query '[.kernel.rows[] | select(.name != "flying()") | "\(.calls) \(.name)"] | sort | join(" ")')" "kernels around"
is 10 "$(query '.kernel.rows[] | select(.name == "flying()").calls')" "those that ran at the begin"

# A client that flushes by force in our turn does not cut ours off.
both sessions=0 flush=10
is "10 0" "$(query '.kernel.rows[] | select(.name == "flying()") | "\(.calls) \(.untimed)"')" "kernels that ran at a flush"
is 0 "$report_rc" "nothing lost by a flush"
# Nor while our thread flushes, which it does here nearly all the time.
export SIM_FLUSH_MS=20 GPROF_FLUSH_MS=10
both sessions=0 flush=10
is "10 0" "$(query '.kernel.rows[] | select(.name == "flying()") | "\(.calls) \(.untimed)"')" "kernels that ran at a flush beside ours"
unset SIM_FLUSH_MS
export GPROF_FLUSH_MS=50
export SIM_KERNEL_NS=200000

# Killed in the middle of it, the stream says who had CUPTI.
rm -rf "$GPROF_DIR"
record "$client" kill 2>/dev/null
summary kernel,notices
is 137 "$rc" "killed"
is 1 "$(query '[.notices.rows[] | select(.text | contains("is not recorded from"))] | length')" "the gap's begin"
is "20 before()" "$(query '[.kernel.rows[] | "\(.calls) \(.name)"] | join(" ")')" "kernels before"
finish
