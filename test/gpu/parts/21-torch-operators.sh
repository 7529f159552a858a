#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Operators of a training with CUDA: as torch.profiler has them in the same program, run without us.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
train=("$TORCH" "$HERE/train.py" ${TRIAL:+--elementwise} --steps 20 --from 5)

plain "${train[@]}" --profile "$T/profile.json" || judge "training under torch.profiler" $? "$(tail -1 "$T/plain.err")"
ours "${train[@]}"
judge "training under us" $? "$(tail -1 "$T/err")"
check torch_operators "$T/profile.json"
finish
