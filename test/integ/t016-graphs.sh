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

summary graphs
is "3 3" "$(query '[.graphs.rows[].following] | join(" ")')" "launches back to back"

# Each node has a row; those of executable graphs, which launches run, are copies of others.
nodes()
{
	"$REPORT" sql --format csv "$1" "$GPROF_DIR" 2>"$T/err.sql" | tail -n +2
}
is 11 "$(nodes 'SELECT count(*) FROM graph_node WHERE original = 0')" "nodes that the program created"
is 12 "$(nodes 'SELECT count(*) FROM graph_node WHERE original != 0')" "copies of nodes"
is 0 "$(nodes 'SELECT count(*) FROM graph_node c WHERE original != 0 AND original NOT IN (SELECT node FROM graph_node)')" "copies of unknown nodes"
is 0 "$(nodes 'SELECT count(*) FROM kernel WHERE graph_node != 0 AND graph_node NOT IN (SELECT node FROM graph_node WHERE original != 0)')" "kernels of unknown nodes"

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
is "11 12" "$(nodes 'SELECT count(*) FROM graph_node WHERE original = 0') $(nodes 'SELECT count(*) FROM graph_node WHERE original != 0')" \
	"rows of nodes at graph level"
summary graph-operators
is '[["(graph in a node)",4,0,0],["(no operator)",4,1,2],["(no operator)",4,4,1]]' \
	"$(query '[.graph_operators.rows[] | [.operator, .launches, .kernels, .copies]] | sort | tojson')" "nodes of whole launches"

# Without IDs of nodes only their rows are missing.
rm -rf "$GPROF_DIR"
SIM_CUPTI_NODES=999 record "$B/prog/graphs"
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output without IDs"
summary kernel,notices
is 24 "$(query '[.kernel.rows[].calls] | add')" "kernels without IDs"
is 1 "$(query '[.notices.rows[] | select(.text | test("no ID for a node"))] | length')" "notices about IDs"
is "" "$(nodes 'SELECT node FROM graph_node')" "rows of nodes without IDs"
finish
