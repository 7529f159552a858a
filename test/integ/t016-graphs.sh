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

# The runtime adds nodes by calls of the driver.
rm -rf "$GPROF_DIR"
GPROF_DRIVER=1 record "$B/prog/graphs"
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output with calls of the driver"
summary api
for node in Kernel:_v2 Memcpy: Memset: ChildGraph:; do
	is "$(query "[.api.rows[] | select(.name | test(\"^cudaGraphAdd${node%:*}Node\")).calls] | add")" \
		"$(query ".api.rows[] | select(.name == \"cuGraphAdd${node%:*}Node${node#*:}\").calls")" "driver calls for ${node%:*} nodes"
done

rm -rf "$GPROF_DIR"
GPROF_GRAPH=graph record "$B/prog/graphs"
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output at graph level"
"$REPORT" info "$GPROF_DIR" >"$T/info" 2>&1
is 8 "$(awk '$1 == "graph" {print $3}' "$T/info")" "rows of graphs"
finish
