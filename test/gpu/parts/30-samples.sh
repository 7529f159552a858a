#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# NVML's readings while the GPU works.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
train=("$TORCH" "$HERE/train.py")
if [ -n "$TRIAL" ]; then train+=(--elementwise --steps 300); else train+=(--steps 2000 --spin 3); fi
GPROF_SAMPLE_MS=100 ours "${train[@]}"
ran "training" $? "$T/err"
check samples 100
finish
