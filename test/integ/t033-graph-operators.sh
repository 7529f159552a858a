#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Operators of CUDA graphs: the same program eager and as a graph has the same kernels in the same operators.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
export LD_LIBRARY_PATH=$ROOT/$B/torch/GOOD GPROF_TORCH=ops GPROF_STEP=nvtx:step

run()
{
	rm -rf "$GPROF_DIR"
	record "$B/integ/s_graph" "$@"
	is 0 $rc "exit status of s_graph $*"
}

# kernels [OPTIONS]: the operators with their kernels, and how often each ran.
kernels()
{
	summary kernel-operator "$@"
	query '[.kernel_operator.rows[] | [.operator, .name, .calls]] | sort | tojson'
}

# activities [OPTIONS]: the operators with the number of their GPU activities, calls aside.
activities()
{
	summary operator "$@"
	query '[.operator.rows[] | select(.gpu_activities > 0) | [.name, .gpu_activities]] | sort | tojson'
}

run eager 5
eager_output=$(cat "$T/out") eager_kernels=$(kernels) eager_activities=$(activities)
is 1 "$(grep -c '"aten::addmm","linear_kernel()",10' <<<"$eager_kernels")" "kernels of an operator"
for how in graph child update; do
	run $how 5
	is "$eager_output" "$(cat "$T/out")" "$how: output"
	is "$eager_kernels" "$(kernels)" "$how: kernels of operators"
	is "$eager_activities" "$(activities)" "$how: GPU activities of operators"
	summary operator,user-ranges
	is 0 "$(query '[.operator.rows[] | select(.name == "aten::other") | .gpu_activities] | add // 0')" "$how: of what no launch ran"
	is 1 "$(query '.operator.rows[] | select(.name == "aten::linear") | .calls')" "$how: calls of a captured operator"
	# A range around the launches has what they ran, and one inside the capture has its part; one around the capture nothing.
	is "true true true" "$(query '[.user_ranges.rows[] | select(.name == "capture_part") | .gpu_total_ns == 0] +
		[.user_ranges.rows[] | select(.name == "activation") | .gpu_total_ns > 0] +
		[([.user_ranges.rows[] | select(.name == "train_step") | .gpu_total_ns] | add) ==
		 ([.operator.rows[].gpu_self_ns] | add)] | join(" ")')" "$how: GPU time of ranges"
done

# Each launch runs the body of a conditional node twice.
in_body()
{
	jq -c '[.[] | select(.[1] | test("update_kernel|again_kernel") | not)]' <<<"$1"
}
run eager 10
twice=$(in_body "$(kernels)")
run loop 5
is "$twice" "$(in_body "$(kernels)")" "kernels of operators in the body of a conditional node"
is 10 "$(query '[.kernel_operator.rows[] | select(.name | test("again_kernel")) | .calls] | add')" "runs of the body"

# in_graph [OPTIONS]: what a launch runs of each operator.
in_graph()
{
	summary graph-operators "$@"
	query '[.graph_operators.rows[] | [.operator, .launches, .kernels, .copies]] | sort | tojson'
}

# Launches as a whole have the same operators, by the rows of nodes, and no times.
run graph 5
by_node=$(in_graph)
is 1 "$(grep -c '"aten::addmm",5,2,0' <<<"$by_node")" "kernels of an operator in a launch"
is true "$(query '[.graph_operators.rows[] | .total_ns > 0 and .share_pct > 0] | all')" "their times"
export GPROF_GRAPH=graph
run graph 5
is "$by_node" "$(in_graph)" "operators of whole launches"
is true "$(query '[.graph_operators.rows[] | .total_ns == null and .share_pct == null] | all')" "no times of whole launches"
run child 5
is '[["(graph in a node)",5,0,0]]' "$(in_graph)" "a child graph of whole launches"
run loop 5
is '[["(conditional node)",5,0,0]]' "$(in_graph)" "a conditional node of whole launches"
run update 5
is '[]' "$(in_graph)" "an updated graph of whole launches"
is 1 "$(query '[.graph_operators | .. | strings | select(test("nodes changed"))] | length')" "the note about it"
unset GPROF_GRAPH

# In selected steps the launches count, not the capture.
run graph 6
is '[["AddmmBackward0",2],["Optimizer.step#SGD.step",2],["aten::addmm",4],["aten::linear",2],["aten::mm",2],["aten::relu",4]]' \
	"$(activities --steps 4-5)" "operators of two steps"
is '[["Optimizer.step#SGD.step","update_kernel()",2],["aten::addmm","linear_kernel()",4],["aten::linear","bias_kernel()",2],["aten::mm","linear_kernel()",2],["aten::relu","relu_kernel()",2]]' \
	"$(kernels --steps 4-5)" "kernels of two steps"

# What was captured before the recording says so.
rm -rf "$GPROF_DIR"
GPROF_CAPTURE=cudaprofiler run late 5
kernels >"$T/kernels"
is '["(captured before the recording)","linear_kernel()",15]' "$(query '[.kernel_operator.rows[] | select(.name == "linear_kernel()") | [.operator, .name, .calls]] | .[0] | tojson')" "captured before the recording"
finish
