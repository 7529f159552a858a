#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Steps of programs that mark nothing: the period of their launches, or none at all.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

# loop WANTED-STEPS WANTED-RULE PROGRAM...
loop()
{
	local wanted=$1 rule=$2
	shift 2
	rm -rf "$GPROF_DIR"
	record "$@"
	is 0 "$rc" "exit status of $*"
	summary steps,notices
	is "$wanted" "$(query '.steps.rows | length | if . == 0 then 0 elif . == 1 then "a begin alone" else . - 1 end')" "steps of $*"
	is "$rule" "$("$REPORT" info "$GPROF_DIR" | sed -n 's/^  step.rule *//p' | tail -1)" "rule of $*"
}

# Each of 200 steps copies, launches 9 kernels and waits; its own word counts more.
loop 200 period "$B/integ/s_loop" 200 9 sleep=1
is 0 "$(query '.notices.rows | length')" "notices"
loop 200 call "$B/integ/s_loop" 200 9 call sleep=1
# Too few launches to be sure, and one that must know the steps before they are over.
loop 0 none "$B/integ/s_loop" 20 9 sleep=1
GPROF_SCHEDULE=50-60 loop 0 none "$B/integ/s_loop" 200 9 sleep=1
is 1 "$(query '[.notices.rows[] | select(.cause == "no steps")] | length')" "notices of a schedule without steps"
# What GPROF_STEP says is not guessed at.
GPROF_STEP=none loop 0 "" "$B/integ/s_loop" 200 9 sleep=1
GPROF_STEP=optimizer loop 0 none "$B/integ/s_loop" 200 9 sleep=1
finish
