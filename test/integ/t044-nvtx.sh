#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# NVTX ranges, also through the toolkit's own headers where they are.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

record "$B/integ/s_loop" 4 2 nvtx
summary nvtx,kernel
is "4 step" "$(query '.nvtx.rows[0] | "\(.calls) \(.name)"')" "ranges"

header=$(ls /usr/local/cuda/include/nvtx3/nvToolsExt.h "${CUDA_HOME:-/nowhere}/include/nvtx3/nvToolsExt.h" 2>/dev/null | head -1)
# A program that is built without the sanitizer cannot load it late.
if [ -n "$header" ] && [[ $B != *san-thread ]]; then
	rm -rf "$GPROF_DIR"
	ok gcc -w -I"${header%/nvtx3/*}" -o "$T/nvtx" test/integ/nvtx_headers.c -ldl
	record "$T/nvtx"
	is "done" "$(cat "$T/out")" "output"
	summary nvtx
	is "3 outer" "$(query '.nvtx.rows[] | select(.name == "outer") | "\(.calls) \(.name)"')" "pushed and popped"
	is 1 "$(query '[.nvtx.rows[] | select(.name == "across")] | length')" "started and ended"
	is 1 "$(query '[.nvtx.rows[] | select(.name | contains("in a domain"))] | length')" "in a domain"
fi
rm -rf "$GPROF_DIR"
GPROF_NVTX=0 record "$B/integ/s_loop" 4 2 nvtx
summary nvtx,api
is 0 "$(query '.nvtx.rows | length')" "ranges when off"
finish
