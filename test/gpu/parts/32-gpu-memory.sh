#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CUPTI's buffers on the GPU stay within GPROF_CUPTI_GPU_MB: what the program has left is less by that at most.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
for mb in 32 256; do
	plain "$TORCH" "$HERE/left.py"
	without=$(tail -1 "$T/plain.out")
	GPROF_CUPTI_GPU_MB=$mb ours "$TORCH" "$HERE/left.py"
	with=$(tail -1 "$T/out")
	# Code that CUPTI loads takes some MB too.
	[ -n "$without" ] && [ -n "$with" ] && [ $(((without - with) >> 20)) -le $((mb + 64)) ]
	judge "GPROF_CUPTI_GPU_MB=$mb" $? "$(((without - with) >> 20)) MB less are left"
done
check launches
finish
