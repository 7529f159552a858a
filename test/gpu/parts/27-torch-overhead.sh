#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The time of training steps without and with us, with parts of us alone, under torch.profiler, and beside a client that
# asks CUPTI for kernels alone; by cost.py, in turns. It is measured, not judged. COST_S=N.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
only_real "what a step costs the simulator says nothing"
client="CUDA_INJECTION64_PATH=$BIN/client.so"
gprof="GPROF_QUIET=1 GPROF_DIR=$T/dump LD_PRELOAD=$BIN/libgprof.so"
LD_LIBRARY_PATH=$(cupti_folder):${LD_LIBRARY_PATH:-}
export LD_LIBRARY_PATH
cat >"$T/list" <<LIST
none|
gprof|$gprof
gprof, GPROF_CUPTI=0|$gprof GPROF_CUPTI=0
CUPTI: kernels|$client CLIENT=10
torch.profiler|PROFILE=1
LIST
"$TORCH" "$HERE/cost.py" --seconds "${COST_S:-120}" --cases "${CASES:-small,small-graph,gpt,resnet50}" <"$T/list" >"$T/table" 2>"$T/err"
judge "steps of all networks" $? "$(tail -n 1 "$T/err")"
grep -q '^client: ready' "$T/err"
judge "the client of CUPTI was there" $?
cat "$T/table"
finish
