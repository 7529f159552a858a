#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CUDA graphs: every node, or each launch as a whole.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

plain "$B/prog/graphs"
record "$B/prog/graphs"
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output"
summary api,kernel
is 8 "$(query '.api.rows[] | select(.name == "cudaGraphLaunch").calls')" "launches of graphs"
is 24 "$(query '[.kernel.rows[].calls] | add')" "kernels of nodes"

rm -rf "$GPROF_DIR"
GPROF_GRAPH=graph record "$B/prog/graphs"
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output at graph level"
"$REPORT" info "$GPROF_DIR" >"$T/info" 2>&1
is 8 "$(awk '$1 == "graph" {print $3}' "$T/info")" "rows of graphs"
finish
