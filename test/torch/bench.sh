#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What recording an operator costs: five rounds, in each one process of every kind, one after the other.
# usage: test/torch/bench.sh BUILD-FOLDER [PYTHON]
set -u
cd "$(dirname "$0")/../.." || exit 1
lib=$(realpath "$1")/libgprof.so
python=${2:-/usr/bin/python3}
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
export GPROF_QUIET=1 GPROF_DIR=$T/dump

version=$("$python" -c 'import torch; print(torch.__version__)' 2>/dev/null) || {
	echo "bench-torch: no PyTorch in $python"
	exit 0
}
${CC:-gcc} -O2 -shared -fPIC -I. -o "$T/empty.so" test/torch/empty.c || exit 1
for _ in 1 2 3 4 5; do
	env "$python" test/torch/bench.py >>"$T/plain"
	env "$python" test/torch/bench.py empty "$T/empty.so" >>"$T/empty"
	env LD_PRELOAD="$lib" GPROF_TORCH=off "$python" test/torch/bench.py >>"$T/off"
	env LD_PRELOAD="$lib" GPROF_SCHEDULE=900000-900001 "$python" test/torch/bench.py >>"$T/closed"
	env LD_PRELOAD="$lib" "$python" test/torch/bench.py >>"$T/ops"
	env LD_PRELOAD="$lib" GPROF_TORCH=shapes "$python" test/torch/bench.py >>"$T/shapes"
	env "$python" test/torch/bench.py profiler >>"$T/profiler" 2>/dev/null
	rm -rf "$T/dump"
done
median()
{
	sort -g "$T/$1" | sed -n 3p
}
plain=$(median plain)
echo "torch $version, torch.add of 1-element tensors, ns of CPU a call (medians of 5 runs of 200,000, and all)"
for kind in plain empty off closed ops shapes profiler; do
	awk -v kind="$kind" -v have="$(median "$kind")" -v plain="$plain" -v all="$(paste -sd' ' "$T/$kind")" \
		'BEGIN {printf "  %-9s %8.1f  over plain %8.1f   %s\n", kind, have, have - plain, all}'
done
