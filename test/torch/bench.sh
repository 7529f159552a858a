#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What recording an operator costs: rounds with one process of every kind, one after the other, and the least of each
# kind; then what is counted (test/bench/cold). Fails if a budget is exceeded.
# usage: test/torch/bench.sh BUILD-FOLDER [PYTHON [ROUNDS]]
set -u
cd "$(dirname "$0")/../.." || exit 1
B=$1
lib=$(realpath "$B")/libgprof.so
python=${2:-/usr/bin/python3}
rounds=${3:-9}
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
export GPROF_QUIET=1 GPROF_DIR=$T/dump

least()
{
	sort -g "$T/$1" | head -1
}

# round KIND [NAME=VALUE...] [ARGUMENT-OF-BENCH.PY...]
round()
{
	local kind=$1 settings=()
	shift
	while [[ ${1:-} == *=* ]]; do
		settings+=("$1")
		shift
	done
	rm -rf "$T/dump"
	env "${settings[@]}" "$python" test/torch/bench.py "$@" >>"$T/$kind" 2>/dev/null
}

times()
{
	local kind version
	version=$("$python" -c 'import torch; print(torch.__version__)' 2>/dev/null) || {
		echo "bench-torch: nothing is timed: no PyTorch in $python"
		return 0
	}
	${CC:-gcc} -O2 -shared -fPIC -I. -o "$T/empty.so" test/torch/empty.c || return 1
	for ((i = 0; i < rounds; i++)); do
		round plain
		round empty empty "$T/empty.so"
		round ops LD_PRELOAD="$lib"
		round shapes LD_PRELOAD="$lib" GPROF_TORCH=shapes
		round off LD_PRELOAD="$lib" GPROF_TORCH=off
		round closed LD_PRELOAD="$lib" GPROF_SCHEDULE=900000-900001
		round profiler profiler
	done
	echo "torch $version, torch.add of 1-element tensors, ns of CPU a call (least of $rounds rounds; all)"
	for kind in plain empty ops shapes off closed profiler; do
		awk -v kind=$kind -v have="$(least $kind)" -v plain="$(least plain)" -v all="$(sort -g "$T/$kind" | paste -sd' ')" \
			'BEGIN {printf "  %-9s %8.1f  over plain %8.1f   %s\n", kind, have, have - plain, all}'
	done
	awk -v ops="$(least ops)" -v empty="$(least empty)" 'BEGIN { printf "operator.ns %.0f\n", ops - empty }' >"$T/have"
}

times || exit 1
test/bench/cold/cold.sh "$B" operators "$T/have"
rc=$?
[ $rc = 77 ] || exit $rc
