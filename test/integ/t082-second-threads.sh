#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A second client that begins and ends while four threads launch.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

for what in "subscribe sessions=3" "subscribe domain unsubscribe finalize sessions=3" "first clock sessions=2" "first subscribe context sessions=3"; do
	rm -rf "$GPROF_DIR" "$T/log"
	# shellcheck disable=SC2086
	plain "$B/integ/s_second_client" threads=4 sleep=0 $what
	# shellcheck disable=SC2086
	GPROF_LOG=info GPROF_LOG_FILE=$T/log record "$B/integ/s_second_client" threads=4 $what log="$T/log"
	is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output: $what"
	is 0 "$rc" "exit status: $what"
	is "" "$(grep -v '^gprof\[' "$T/err")" "nothing on stderr: $what"
	summary kernel,api,losses
	is "20 20" "$(query '[.kernel.rows[] | select(.name != "always()").calls] | join(" ")')" "kernels around: $what"
	is true "$(query '([.kernel.rows[] | select(.name == "always()").calls] | add) > 1000')" "kernels of the threads: $what"
	is 0 "$(query '[.losses.rows[] | select(.cause | contains("another CUPTI client") | not)] | length')" "other losses: $what"
done
finish
