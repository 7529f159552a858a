#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Modules that Inductor generated for torch.compile are read when gprof meets them in a Python
# stack, of a CPU sample or of an operator. test/torch compares those of real compilations with Python's own parser.
. "$(dirname "$0")/lib.sh"
need REPORT PYTHON JQ
[[ $B != *san-thread ]] || skip "ThreadSanitizer does not know gprof's thread where that starts with the interpreter"
program=$ROOT/test/integ/compiled.py
# The interpreter frees little at its end.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
module=$T/modules/2u/c2uio5agy6zf3faddgdmtmmahogsytx7pojobedoblrtu6wecsqf.py

calls() { "$REPORT" sql --format csv "SELECT file, line, name, operators, nodes FROM compiled_call ORDER BY line" "$GPROF_DIR" 2>"$T/sql.err" | tr -d '"\r' | tail -n +2; }

line_of() { grep -n "# LINE $1" "$module" | cut -d: -f1; }

expected() { echo "$module,$(line_of fused),triton_poi_fused_add_relu_0,aten.add, aten.relu,h, h_1
$module,$(line_of mm),extern_kernels.mm,aten.mm,y"; }

GPROF_CPU_HZ=199 record python3 "$program" "$T/modules"
is 0 "$rc" "exit status"
is "$(expected)" "$(calls)" "calls, by CPU samples"
summary losses
is "[]" "$(query '.losses.rows | tojson')" "losses"

# One that is gone is counted, and nothing else is lost.
rm -rf "$GPROF_DIR"
GPROF_CPU_HZ=199 record python3 "$program" "$T/modules" gone
is 0 "$rc" "exit status without the module"
is "" "$(calls)" "calls of a module that is gone"
summary losses
is "1 true" "$(query '.losses.rows[] | select(.cause | test("^module of torch.compile")) | "\(.count) \(.cause | test("the event is kept"))"')" "the loss"

# GPROF_TORCH=off leaves out all that is PyTorch's.
rm -rf "$GPROF_DIR"
GPROF_TORCH=off GPROF_CPU_HZ=199 record python3 "$program" "$T/modules"
is "" "$(calls)" "calls with GPROF_TORCH=off"

if find_torch; then
	rm -rf "$GPROF_DIR"
	GPROF_CPU_HZ=0 GPROF_PYTHON=stacks record "$TORCH_PYTHON" "$program" "$T/modules" torch
	is 0 "$rc" "exit status with PyTorch"
	is "$(expected)" "$(calls)" "calls, by stacks of operators"
fi
finish
