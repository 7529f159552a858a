#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trains the demo without and with gprof, compares what it printed, and shows the report.
set -eu
B=${1:-build}
out=$B/demo
mkdir -p "$out"
nvcc=$(command -v nvcc || ls "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" 2>/dev/null || true)

if [ -n "$nvcc" ] && command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1; then
	echo "demo: building for $(nvidia-smi -L | head -n 1 | sed 's/ (UUID.*//') with nvcc"
	"$nvcc" -x cu -O2 -cudart shared -I. -o "$out/train" test/demo/train.c -lpthread -ldl
	export LD_LIBRARY_PATH="$(dirname "$nvcc")/../lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
else
	echo 'demo: no GPU with nvcc here; using the simulator (kernels are computed on the CPU)'
	export LD_LIBRARY_PATH="$B/sim"
fi

echo 'demo: training, untouched'
"$out/train" >"$out/plain.txt"
cat "$out/plain.txt"
rm -rf "$out/gprof-dump"
echo
echo "demo: the same under gprof:  LD_PRELOAD=$B/libgprof.so $out/train"
LD_PRELOAD="$B/libgprof.so" GPROF_DIR="$out/gprof-dump" GPROF_STEP=nvtx:step "$out/train" >"$out/profiled.txt"
cmp "$out/plain.txt" "$out/profiled.txt"
echo 'demo: it printed the same losses'
echo
"$B/gprof-report" summary "$out/gprof-dump"
"$B/gprof-report" timeline -o "$out/timeline.json.gz" "$out/gprof-dump"
echo
echo "demo: next, open $out/timeline.json.gz in https://ui.perfetto.dev, or run one of:"
echo "  $B/gprof-report whatif $out/gprof-dump    # what would make a step faster, and by how much"
echo "  $B/gprof-report html $out/gprof-dump      # report.html: charts, all tables and a timeline"
