#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CUDA graphs in PyTorch: their kernels node by node, or each launch as a whole.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
for how in node graph; do
	export GPROF_GRAPH=$how
	same "graph, GPROF_GRAPH=$how" "$TORCH" "$HERE/graph.py"
	check graphs 10 50 $how
	whole "graph, GPROF_GRAPH=$how"
done
finish
