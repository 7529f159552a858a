#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `whatif` predicts of a program, against the program that was really changed so, by its own clock.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ PLAIN
export LD_LIBRARY_PATH=$ROOT/$B/torch/GOOD GPROF_STEP=auto GPROF_TORCH=ops

# The lower quartile of the program's steps with such settings, ns; without the recorder.
changed()
{
	# shellcheck disable=SC2086 # words
	env $2 LD_LIBRARY_PATH="$SIM:$LD_LIBRARY_PATH" "$B/integ/s_whatif" "$1"
}

whatif()
{
	"$REPORT" whatif --format json "$@" "$GPROF_DIR" >"$T/json" 2>"$T/report.err"
}

# The lower quartile over the steps, since a busy machine makes some of them longer; ns.
predicted()
{
	local step
	for step in 8 9 10 11 12 13 14 15 16; do
		# shellcheck disable=SC2086 # words
		whatif --steps $step $1
		query '.what_if.rows[0].predicted_ns // empty'
	done | sort -n | awk '{ ns[NR] = $1 } END { print NR ? ns[int((NR + 3) / 4)] : "null" }'
}

# How the recorder found the steps of the processes that have any; "" where the user named them.
rules()
{
	"$REPORT" info "$GPROF_DIR" | sed -n '/ none$/d; s/^  step.rule *//p' | sort -u | paste -sd,
}

# predicts RULE NAME HOW SETTINGS CHANGED-HOW CHANGED-SETTINGS OPTIONS: within 5 %, of steps that the recorder found by
# that rule itself. What is compared are times, which a busy machine disturbs, so there are several tries; a wrong prediction
# fails all of them.
predicts()
{
	local rule=$1
	shift
	local before after prediction ratio try
	for try in {1..15}; do
		rm -rf "$GPROF_DIR"
		# shellcheck disable=SC2086 # words
		record env $3 "$B/integ/s_whatif" "$2"
		before=$(head -1 "$T/out") prediction=$(predicted "$6") after=$(changed "$4" "$5")
		ratio=$(jq -n "$prediction / $after" 2>&1)
		echo "# $1: $before ns, predicted $prediction ns, then $after ns"
		if [ "$(jq -n "$ratio > 0.95 and $ratio < 1.05" 2>/dev/null)" = true ]; then
			is true true "$1: predicted within 5 % of what it is then"
			is "$rule" "$(rules)" "$1: how its steps were found"
			return
		fi
	done
	is "0.95 to 1.05" "$ratio" "$1: predicted within 5 % of what it is then"
}

loop=kernels=20 ms=SIM_KERNEL_NS=1000000 slow_copies="SIM_KERNEL_NS=20000 SIM_TIME_SCALE=50"
ranks="ranks=4 $loop"
predicts optimizer "kernels halved" "$loop" SIM_KERNEL_NS=2000000 "$loop" $ms "--scale kernel:work_kernel=0.5"
predicts optimizer "batches are ready" "loader_ms=40 $loop" $ms "$loop" $ms "--remove loader"
predicts optimizer "copies overlapped" "copy=blocking kernels=10" "$slow_copies" "copy=overlapped kernels=10" "$slow_copies" "--remove copies"
predicts optimizer "no synchronisation" "sync=1 loader_ms=15 kernels=24" $ms "loader_ms=15 kernels=24" $ms "--remove sync"
predicts optimizer "a graph instead of launches" "host_us=5000 kernels=6" SIM_KERNEL_NS=2000000 \
	"kernels=6 graph=1" SIM_KERNEL_NS=2000000 "--remove launch-overhead"
predicts optimizer "no straggler" "$ranks" "$ms SLOW_NS=1500000 SIM_NCCL_GBPS=0.001" "$ranks" "$ms SIM_NCCL_GBPS=0.001" "--remove stragglers"
predicts optimizer "twice the bandwidth of NCCL" "$ranks" "$ms SIM_NCCL_GBPS=0.0005" "$ranks" "$ms SIM_NCCL_GBPS=0.001" "--scale kernel:nccl=0.5"

# The same by the period of the launches, where nothing else shows steps, and by a kernel that the user names.
long="kernels=30 steps=60"
bare="$long optimizer=none copy=overlapped"
predicts period "steps by their launches, kernels halved" "$bare" SIM_KERNEL_NS=400000 "$bare" SIM_KERNEL_NS=200000 \
	"--scale kernel:work_kernel=0.5"
GPROF_STEP=kernel:update_kernel predicts "" "steps by a kernel, no synchronisation" "$long update=1 sync=1 loader_ms=8" \
	SIM_KERNEL_NS=400000 "$long update=1 loader_ms=8" SIM_KERNEL_NS=400000 "--remove sync"
# Of many steps some are replayed, but one that is asked for always is.
whatif --steps 11
is 7 "$(query '.what_if.rows | length')" "what one of many steps is predicted to take"

# The step is what the steps are, and what is predicted is what is left of it.
rm -rf "$GPROF_DIR"
# shellcheck disable=SC2086 # words
record env $ms SLOW_NS=1500000 SIM_NCCL_GBPS=0.001 "$B/integ/s_whatif" "$ranks"
whatif --steps 8-16
is 7 "$(query '.what_if.rows | length')" "one row for each thing that can be taken out"
is true "$(query '[.what_if.rows[] | select(.saved_ns) | (.predicted_ns + .saved_ns - .step_ns | fabs) < 3] | all')" "predicted and saved add up to the step"
is true "$(query '[.what_if.rows[].saved_ns // empty] | . == (sort | reverse)')" "what saves most comes first"
whatif --steps 8-16 --per-rank
is 35 "$(query '.what_if.rows | length')" "and for each of four ranks"
whatif --scale kernel:nccl=0.5 --scale kernel:no_such_kernel=0.5
is true "$(query '.what_if.note | contains("--scale \u0027kernel:no_such_kernel=0.5\u0027 applies to nothing in the replayed steps.")')" \
	"a factor that applies to nothing is named"
is false "$(query '.what_if.note | contains("kernel:nccl")')" "and one that applies is not"

# A step ends with its activities, and no prediction is below the time in which any of them runs: here two streams take
# turns, 4 ms each, of which the last one ends 2 ms after the range of the step.
{
	echo '{"traceEvents": [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 1000, "dur": 6000}'
	for i in 1 2; do
		at=$((i * 4000 - 2900))
		echo ", {\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 1, \"tid\": 1,
			\"ts\": $at, \"dur\": 10, \"args\": {\"correlation\": $i}}
		, {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"work\", \"pid\": 0, \"tid\": $i, \"ts\": $((at + 30)), \"dur\": 4000,
			\"args\": {\"correlation\": $i, \"device\": 0, \"context\": 1, \"stream\": $i}}
		, {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 1, \"tid\": 1, \"ts\": $((at - 50)), \"dur\": 100}"
	done
	echo ']}'
} >"$T/turns.json"
"$REPORT" whatif --format json "$T/turns.json" >"$T/json" 2>"$T/report.err"
is 8130000 "$(query '.what_if.rows[0].step_ns')" "a step that its last activity ends"
is 8000000 "$(query '[.what_if.rows[].predicted_ns] | min')" "the time in which an activity runs is needed"
is "GPU busy time" "$(query '.what_if.rows[0].limit')" "which limits the step then"

# Nothing that is taken out makes a step longer, or saves more than all of it.
for file in test/golden/v*/*.gprof; do
	"$REPORT" whatif --format json --top 0 "$file" >"$T/json" 2>/dev/null
	[ -s "$T/json" ] || continue # a stream that cannot be read
	is 0 "$(query '[.what_if.rows[] | select(.saved_ns and (.saved_ns < 0 or .predicted_ns < 0))] | length')" "savings outside the step in $file"
done

# Without steps all of the recording counts, as in the headline.
"$REPORT" whatif --format json test/golden/v1/python.gprof >"$T/json" 2>/dev/null
step=$(query '.what_if.rows[0].step_ns')
"$REPORT" --view headline --format json test/golden/v1/python.gprof >"$T/json" 2>/dev/null
is "$(query '.headline.rows[0].span_ns')" "$step" "the step of a recording without steps"

# What does not exist is named, with what was probably meant.
for wrong in "--remove;lodaer;did you mean loader" "--scale;kernel:x;kernel:REGEX=0.5" "--scale;kernel:x=fast;number" \
	"--scale;memory:x=1;must begin with" "--scale;kernel:[=1;"; do
	IFS=';' read -r option value says <<<"$wrong"
	whatif "$option" "$value"
	is 2 $? "status of $option $value"
	is 1 "$(grep -c "$says" "$T/report.err")" "what it says of $option $value"
done

# Operators of a capture have the nodes of launches that they captured, as those around the launch have all.
rm -rf "$GPROF_DIR"
GPROF_STEP=nvtx:step SIM_KERNEL_NS=2000000 record "$B/integ/s_graph" graph 8
scaled()
{
	whatif --steps 4-6 --scale "$1"
	query '.what_if.rows[0].predicted_ns'
}
is "$(scaled 'kernel:relu_kernel|emset=0')" "$(scaled op:aten::relu=0)" "an operator of a capture scaled"
is "$(scaled 'kernel:bias_kernel|linear_kernel|relu_kernel|emset|emcpy=0')" "$(scaled 'op:forward_part|AddmmBackward0=0')" "a range and a node of autograd of a capture scaled"
is true "$(query '.what_if.rows[0].predicted_ns < .what_if.rows[0].replayed_ns / 2')" "they are most of the step"
finish
