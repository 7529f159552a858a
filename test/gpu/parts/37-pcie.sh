#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The link between host and GPU, as NVML reports it, and what share of it copies of pinned memory reach.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
ours "$TORCH" -c '
import torch
host = torch.empty(64 << 20, dtype=torch.uint8, pin_memory=True)
device = torch.empty_like(host, device="cuda")
for _ in range(10):
    device.copy_(host, non_blocking=True)
    host.copy_(device, non_blocking=True)
torch.cuda.synchronize()'
ran "copies" $? "$T/err"
check link
finish
