#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What CUPTI may take of the GPU's memory is bounded by GPROF_CUPTI_GPU_MB, and stated.
. "$(dirname "$0")/lib.sh"
need SIM REPORT

# check WANTED-BYTES [VARIABLE]: CUPTI's buffers have 3.2 million bytes each
check()
{
	rm -rf "$GPROF_DIR"
	record env "${2:-GPROF_QUIET=1}" "$B/integ/s_loop" 2 5
	is "$1" "$("$REPORT" info "$GPROF_DIR" | awk '$1 == "cupti.gpu_bytes_max" {print $2}')" "most bytes with ${2:-the default}"
}

check 256000000
check 16000000 GPROF_CUPTI_GPU_MB=16
check 998400000 GPROF_CUPTI_GPU_MB=1000
SIM_CUPTI_LAYOUT=11.8 check 256000000
finish
