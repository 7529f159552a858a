#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# DataLoader workers, which are forked: the same losses, whole streams, no kernels of theirs.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
same "2 workers" "$TORCH" "$HERE/train.py" ${TRIAL:+--elementwise} --steps 20 --workers 2
check no_device_work_in_children
whole "2 workers"
finish
