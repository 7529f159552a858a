#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same training under torch.profiler, under us with a window of the same steps, and under
# torch.profiler again: as many kernels, and a time of kernels within 1 % of what torch.profiler had.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
train=("$TORCH" "$HERE/train.py" --steps 60 --from 10)
# Kernels of some 100 us, at full clocks, so that two runs agree.
if [ -n "$TRIAL" ]; then train+=(--elementwise); else train+=(--width 4096 --spin 2); fi

profile()
{
	plain "${train[@]}" --profile "$T/torch-$1.json"
	ran "training under torch.profiler ($1)" $? "$T/plain.err"
}

profile 1
GPROF_STEP=nvtx:step GPROF_SCHEDULE=10-60 ours "${train[@]}"
ran "training under us" $? "$T/err"
cmp -s "$T/plain.out" "$T/out"
judge "the same losses" $?
profile 2
check torch_kernels "$T/torch-1.json" "$T/torch-2.json"
check launches
whole training
finish
