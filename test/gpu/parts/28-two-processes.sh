#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two processes on one GPU at the same time: each stream is whole and has its own kernels, all of them.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
mkdir "$T/both"
for i in 1 2; do
	GPROF_DIR=$T/both/$i LD_PRELOAD=$BIN/libgprof.so${beside:+:$beside} \
		"$TORCH" "$HERE/train.py" ${TRIAL:+--elementwise} --steps 100 >"$T/out$i" 2>"$T/err$i" &
done
wait
cmp -s "$T/out1" "$T/out2" && [ -s "$T/out1" ]
judge "the same losses" $?
check same_number "$T/both/*"
for i in 1 2; do
	export GPROF_DIR=$T/both/$i
	check launches
	whole "process $i"
done
finish
