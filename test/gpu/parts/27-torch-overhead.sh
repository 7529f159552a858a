#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The time of training steps without and with us, with parts of us alone, under torch.profiler, and beside clients that
# ask CUPTI for less; by cost.py, in turns. It is measured, not judged. COST_S=N, CASES=NAME,NAME.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
only_real "what a step costs the simulator says nothing"
client="CUDA_INJECTION64_PATH=$BIN/client.so"
gprof="GPROF_QUIET=1 GPROF_DIR=$T/dump LD_PRELOAD=$BIN/libgprof.so"
LD_LIBRARY_PATH=$(cupti_folder):${LD_LIBRARY_PATH:-}
export LD_LIBRARY_PATH TORCHINDUCTOR_CACHE_DIR=$T/compiled
cat >"$T/list" <<LIST
none|
gprof|$gprof
gprof, GPROF_TORCH=off|$gprof GPROF_TORCH=off
gprof, GPROF_GRAPH=graph|$gprof GPROF_GRAPH=graph
gprof, GPROF_CALLS=all|$gprof GPROF_CALLS=all
gprof, GPROF_CUPTI=0|$gprof GPROF_CUPTI=0
CUPTI: kernels|$client CLIENT=10
CUPTI: kernels, callbacks of launches|$client CLIENT=10,0
torch.profiler|PROFILE=1
LIST
# What it has measured is there even if its time is over.
"$TORCH" "$HERE/cost.py" --seconds "${COST_S:-100}" ${CASES:+--cases "$CASES"} <"$T/list" 2>"$T/err"
judge "steps of all networks" $? "$(tail -n 1 "$T/err")"
[ "$(grep -c '^client: ready' "$T/err")" -ge 2 ]
judge "the clients of CUPTI were there" $?
finish
