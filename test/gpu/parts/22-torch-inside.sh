#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# torch.profiler inside of the program, with us around it: its tables have the same counts as without
# us, and our stream says where the gap is.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
train=("$TORCH" "$HERE/train.py" ${TRIAL:+--elementwise} --steps 30 --from 10 --to 20)

plain "${train[@]}" --profile "$T/without.json"
ran "without us" $? "$T/plain.err"
ours "${train[@]}" --profile "$T/with.json"
ran "with us" $? "$T/err"
cmp -s "$T/plain.out" "$T/out"
judge "the same losses" $?
python3 - "$T/without.json" "$T/with.json" <<'PY'
import json, sys
without, with_us = (json.load(open(path)) for path in sys.argv[1:])
kernels = [{name: entry[0] for name, entry in table["kernels"].items()} for table in (without, with_us)]
overhead = ("Activity Buffer", "Lazy Function", "Buffer Flush", "Instrumentation", "Resource", "Command Buffer")
operators = [{name: n for name, n in table["operators"].items() if not name.startswith(overhead)} for table in (without, with_us)]
for what, (a, b) in (("kernels", kernels), ("operators and calls", operators)):
    print("        %s: %d without us, %d with us" % (what, sum(a.values()), sum(b.values())))
wrong = [(name, a.get(name), b.get(name)) for a, b in (kernels, operators) for name in set(a) | set(b) if a.get(name) != b.get(name)]
print("        differences:", wrong[:5] or "none")
sys.exit(1 if wrong or not kernels[0] else 0)
PY
judge "torch.profiler's counts are the same" $?
check gap
finish
