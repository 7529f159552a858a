#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# GPROF_DRIVER=1: programs print the same, launches keep their kernels, and the driver's functions are in the table.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON PROGRAMS
export GPROF_DRIVER=1

# with_driver NAME PROGRAM
with_driver()
{
	local nr
	same "$1" "$2"
	whole "$1"
	check launches
	nr=$("$REPORT" --view api --format csv --top 0 "$GPROF_DIR" | grep -c '"driver"')
	[ "$nr" -gt 0 ]
	judge "$1: driver functions in the table" $? "$nr"
}

for program in vector_add overlap threads; do
	with_driver "$program" "$BIN/shared/$program"
	[ -n "$TRIAL" ] || with_driver "static $program" "$BIN/static/$program"
done
finish
