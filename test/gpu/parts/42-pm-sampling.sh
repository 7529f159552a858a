#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CUPTI's PM sampling at 10 kHz: counters of kernels, their times against CUPTI's, and what it costs.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
program='
import sys, time, torch
seconds = float(sys.argv[1])
a = torch.rand(8192, 8192, device="cuda", dtype=torch.bfloat16)
big = torch.rand(1 << 29, device="cuda")
def step():
    a @ a
    big.mul_(1.0)
    torch.cuda.synchronize()
for _ in range(20):
    step()
nr, begin = 0, time.monotonic()
while time.monotonic() - begin < seconds:
    step()
    nr += 1
print("us a step: %.2f" % (1e6 * (time.monotonic() - begin) / nr))'
only_real "a simulated GPU is not slowed down, see t108"
for turn in 1 2 3; do
	for metrics in off pm; do
		GPROF_METRICS=$metrics ours "$TORCH" -c "$program" 5
		ran "$metrics" $? "$T/err"
		sed -n 's/^us a step: //p' "$T/out" >>"$T/$metrics"
	done
done
why=$("$REPORT" summary --wide --view notices "$GPROF_DIR" 2>/dev/null | grep -A3 'PM sampling refused')
[ -z "$why" ] || skip "$(tr -s ' \n' ' ' <<<"$why")"
check pm_sampling "$T/off" "$T/pm"
finish
