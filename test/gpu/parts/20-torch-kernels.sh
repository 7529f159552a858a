#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same training under torch.profiler and under us: as many kernels, and their times within 1 %.
# The first with everything recorded, the second with a window of steps.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
train=("$TORCH" "$HERE/train.py" ${TRIAL:+--elementwise})

plain "${train[@]}" --steps 40 --from 10 --profile "$T/window.json" || judge "training under torch.profiler" $? "$(tail -1 "$T/plain.err")"
GPROF_STEP=nvtx:step GPROF_SCHEDULE=10-40 ours "${train[@]}" --steps 40 --from 10
judge "training under us" $? "$(tail -1 "$T/err")"
cmp -s "$T/plain.out" "$T/out"
judge "the same losses" $?
check torch_kernels "$T/window.json"
check launches
whole training
finish
