#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# NVML's readings while the GPU works.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
start=$EPOCHREALTIME
GPROF_SAMPLE_MS=100 ours "$TORCH" "$HERE/train.py" ${TRIAL:+--elementwise} --steps 2000 --times "$T/time"
judge "training" $? "$(tail -1 "$T/err")"
# Samples begin with the recording, which begins with CUDA: some seconds after the process.
seconds=$(awk -v us="$(cat "$T/time")" 'BEGIN { print us * 2000 / 1e6 }')
echo "        whole run $(echo "$EPOCHREALTIME $start" | awk '{ print $1 - $2 }') s"
check samples "$seconds" 100
finish
