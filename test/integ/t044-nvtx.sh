#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# NVTX ranges: how many, what was launched in them, and none where they are off.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

record "$B/integ/s_loop" 4 2 nvtx
summary nvtx,kernel
is "4 step" "$(query '.nvtx.rows[0] | "\(.calls) \(.name)"')" "ranges"

# What was launched in them: all but the last copy, on one thread.
summary user-ranges,kernel,memcpy
is true "$(query '([.kernel.rows[].total_ns] | add) + (.memcpy.rows[] | select(.name | contains("HtoD")).total_ns)
	== (.user_ranges.rows[] | select(.name == "step").gpu_total_ns)')" "device time of ranges"

rm -rf "$GPROF_DIR"
GPROF_NVTX=0 record "$B/integ/s_loop" 4 2 nvtx
summary nvtx,api
is 0 "$(query '.nvtx.rows | length')" "ranges when off"

# Wide names that are cut are counted.
for nr in 250 252 253 800; do
	rm -rf "$GPROF_DIR"
	record "$B/integ/s_nvtx" wide $nr
	summary nvtx,losses
	want="$nr 0"
	[ $nr -le 252 ] || want="252 1"
	is "$want" "$(query '"\([.nvtx.rows[].name | select(startswith("ww")) | length][0]) \([.losses.rows[].count] | add // 0)"')" "bytes of $nr wide characters, and cut names"
done

# A step ends however many ranges are nested in it, and whatever ranges are left open around it.
gcc -O1 "${sanitize[@]}" -o "$T/nested" test/calls/nested.c "$SIM/libcudart.so.13" -ldl || exit 1
for how in "10 5" "10 100" "10 5 open"; do
	rm -rf "$GPROF_DIR"
	# shellcheck disable=SC2086 # words
	GPROF_STEP=nvtx:step record "$T/nested" $how
	summary steps,notices
	is 11 "$(query '.steps.rows | length')" "steps by ranges ($how), and what follows the last"
done
is "steps" "$(query '[.notices.rows[].cause] | join(" ")')" "notices about ranges that are left open"
finish
