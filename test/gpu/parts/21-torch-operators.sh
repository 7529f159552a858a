#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Operators of a training with CUDA: as torch.profiler has them in the same program, run without us.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
train=("$TORCH" "$HERE/train.py" ${TRIAL:+--elementwise} --steps 20 --from 5)

plain "${train[@]}" --profile "$T/profile.json" || ran "training under torch.profiler" $? "$T/plain.err"
ours "${train[@]}"
ran "training under us" $? "$T/err"
check torch_operators "$T/profile.json"
finish
