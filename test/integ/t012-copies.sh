#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every form of copy and set: the host's bytes are the device's.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

plain "$B/prog/copies"
record "$B/prog/copies"
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output"
summary memcpy,memset,api
is 10 "$(query '[.memcpy.rows[].calls] | add')" "copies"
is 3 "$(query '[.memset.rows[].calls] | add')" "sets"
is 2 "$(query '.api.rows[] | select(.name == "cudaMemcpy2D").calls')" "copies of rows"
with=$(query '[.memcpy.rows[].total_bytes] | add')
rm -rf "$GPROF_DIR"
GPROF_CUPTI=0 record "$B/prog/copies"
summary memcpy,notices
is "$with" "$(query '[.memcpy.rows[].total_bytes] | add')" "bytes by host calls"
is "host calls" "$(query '[.memcpy.rows[].recorded_by] | unique | join(" ")')" "who saw the copies"
finish
