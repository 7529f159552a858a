#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# torch.compile: Triton's kernels are launched by the driver's functions, found by dlsym or not.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
only_real "Triton makes machine code for a real GPU"
plain "$TORCH" "$HERE/compiled.py" || skip "torch.compile does not run here: $(tail -1 "$T/plain.err")"
same "torch.compile" "$TORCH" "$HERE/compiled.py"
check launches
nr=$("$REPORT" summary --view kernel --format csv --top 0 "$GPROF_DIR" 2>/dev/null | grep -c 'triton')
[ "$nr" -gt 0 ]
judge "Triton's kernels are there" $? "$nr names"
finish
