#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Hardware counters while tensor cores are busy, and while memory is.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
program='
import sys, time, torch
kind, seconds = sys.argv[1], float(sys.argv[2])
a = torch.rand(8192, 8192, device="cuda", dtype=torch.bfloat16)
big = torch.rand(1 << 29, device="cuda")
end = time.monotonic() + seconds
while time.monotonic() < end:
    for _ in range(20):
        if kind == "tensor":
            a @ a
        else:
            big.mul_(1.0)
    torch.cuda.synchronize()'
only_real "simulated counters are constant, see t112"
for kind in tensor memory; do
	ours "$TORCH" -c "$program" $kind 5
	ran "$kind" $? "$T/err"
	check hardware $kind
done
finish
