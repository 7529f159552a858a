#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Events of the caching allocator balance with torch.cuda.memory_stats().
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
ours "$TORCH" "$HERE/memory.py" "$T/stats.json"
ran "program" $? "$T/err"
check torch_memory "$T/stats.json"
finish
