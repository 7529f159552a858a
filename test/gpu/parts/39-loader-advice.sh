#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A training that waits for its data loader: the report predicts what a step takes without that wait; workers show it.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
only_real "ResNet-50 wants real kernels"
"$TORCH" -c 'import numpy, PIL, torchvision' 2>/dev/null || skip "no torchvision, PIL or NumPy"
ours "$TORCH" "$HERE/vision.py" 0 30
ran "training without workers" $? "$T/err"
before=$(cat "$T/out")
check loader "$before" >"$T/check"
cat "$T/check"
grep -q '^failed' "$T/check" && failed=1
predicted=$(sed -n 's/.*without the wait: \([0-9]*\) us.*/\1/p' "$T/check")
plain "$TORCH" "$HERE/vision.py" 8 60
ran "training with 8 workers" $? "$T/plain.err"
after=$(cat "$T/plain.out")
# Workers keep some of the CPU from the training, and hand batches over.
[ -n "$predicted" ] && [ $((after * 10)) -ge $((predicted * 7)) ] && [ $((after * 10)) -le $((predicted * 15)) ]
judge "prediction" $? "$before us before, $predicted us predicted, $after us with 8 workers"
finish
