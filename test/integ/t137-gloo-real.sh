#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two and four processes of a real PyTorch, gloo and DistributedDataParallel: what they communicate,
# and who is late. On Debian's PyTorch, and by torchrun on the newest of build/torch, if there is one.
. "$(dirname "$0")/lib.sh"
need REPORT JQ TORCH PLAIN

# of RANK JQ-EXPRESSION: the rank's row of the view distributed
of()
{
	query ".distributed.rows[] | select(.rank == $1) | $2"
}

# launch RANKS ARGUMENT...: by the variables that torchrun sets, or by torchrun. Debian's fails by itself.
by_hand()
{
	local nr=$1 rank status=0 ranks=()
	for ((rank = 0; rank < nr; rank++)); do
		RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=$nr "$TORCH_PYTHON" test/integ/gloo.py "${@:2}" \
			"file://$T/store-$nr" &
		ranks+=($!)
	done
	for rank in "${ranks[@]}"; do # not wait -n, which may know nothing of one that has ended
		wait "$rank" || { status=$?; echo "process $rank: status $status" >&2; }
	done
	return $status
}

by_torchrun()
{
	"$TORCH_PYTHON" -m torch.distributed.run --standalone --nproc-per-node "$1" test/integ/gloo.py "${@:2}" env://
}

# Does the replay save the delay of the rank that is late, within 10 %?
is_predicted()
{
	"$REPORT" whatif --remove stragglers --format json "$GPROF_DIR" >"$T/whatif" 2>/dev/null
	summary stragglers
	jq -e --argjson delay "$(query '.stragglers.rows[0].delay_ns')" \
		'.what_if.rows[0].saved_ns / $delay | . > 0.9 and . < 1.1' "$T/whatif" >/dev/null
}

# job LAUNCHER RANKS WHERE CAUSE: one rank sleeps 0.4 s in each step, as gloo.py says. With 12 layers of
# 263 kB in buckets of 1 MiB there are three all-reduces in a step, which move the gradients of all
# parameters.
job()
{
	local nr=$2 late=$(($2 - 2)) where=$3 cause=$4 bytes what rc _
	what="$nr ranks $1, PyTorch $("$TORCH_PYTHON" -c 'import torch; print(torch.__version__)')"
	[ "$nr" != 2 ] || late=1
	export -f by_hand by_torchrun
	export TORCH_PYTHON T GPROF_TORCH=shapes OMP_NUM_THREADS=1
	# A busy machine hides the wait of a step where it takes the processor from gloo's thread; then there is another try.
	for _ in 1 2 3 4; do
		rm -rf "$GPROF_DIR" "$T/store-$nr"
		LD_PRELOAD=$(preload) timeout 500 bash -c '"$@"' - "$1" "$nr" $late "$where" 0.4 >"$T/out" 2>"$T/err"
		rc=$?
		[ $rc = 0 ] && [ "$nr" = 2 ] && ! is_predicted || break
	done
	is 0 $rc "status of $what"
	bytes=$(cat "$T/out")
	is 3158016 "$bytes" "parameters of $what"

	summary communication,distributed,stragglers,breakdown
	is 0 "$report_rc" "the reporter's status of $what"
	is "$(seq -s ' ' 0 $((nr - 1)))" "$(query '[.processes.rows[].rank | select(. != null)] | sort | map(tostring) | join(" ")')" \
		"ranks of $what"
	is gloo "$(query '[.communication.rows[].communicator] | unique | join(" ")')" "libraries of $what"
	is true "$(query '.communication.rows | map(.time_ns > 0 and .waiting_ns == null) | all')" "times of $what"
	ok grep -q 'calls have no number or no common communicator' "$T/json"
	is "$nr" "$(query '.distributed.rows | length')" "ranks that communicate of $what"
	is true "$(query '.distributed.rows | map(.communication_ns > 0 and .computation_ns > 0 and .device == null and .time_ns ==
		.computation_alone_ns + .communication_alone_ns + .overlap_ns + .other_ns) | all')" "parts of $what"
	is true "$(query '.breakdown.rows | map(select(.rank != null and .step != "average")) | map(.total_ns == .kernel_ns + .memcpy_ns +
		.memset_ns + .communication_ns + .runtime_ns + .dataloader_ns + .cpu_exec_ns + .other_ns) | all and length > 8')" \
		"parts of steps of $what"
	is "$late $cause" "$(query '.stragglers.rows[0] | "\(.rank) \(.cause)"')" "who is late of $what"
	is true "$(query '.stragglers.rows[0] | .delay_ns > 200000000 and .late_steps > 5')" "by how much of $what"

	# Without that delay the other would not wait. Of four ranks that share two processors others come late, too.
	[ "$nr" != 2 ] || is_predicted || is "0.9 to 1.1" "another share" "of the delay is predicted without it of $what"
	summary communication,distributed,stragglers,breakdown

	summary distributed --steps 2-7
	is true "$(of $late .communication_alone_ns | jq --argjson other "$(of 0 .communication_alone_ns)" '. < $other')" \
		"whoever is late waits less of $what"

	# Of a step in the middle.
	summary communication --steps 5
	is "AllReduce $((3 * nr))" "$(query '.communication.rows[] | "\(.name) \(.calls)"')" "calls of a step of $what"
	if "$REPORT" info "$GPROF_DIR" 2>/dev/null | grep -q 'no PyTorch shapes'; then
		is null "$(query '.communication.rows[].bytes')" "bytes where PyTorch records no shapes"
	else
		is $((nr * bytes)) "$(query '.communication.rows[].bytes')" "bytes of a step of $what"
	fi
}

job by_hand 2 loop host
job by_hand 4 loader "data loader"
for python in "$B"/torch/*/bin/python; do
	[ ! -x "$python" ] || newest=$python
done
if [ -n "${newest:-}" ]; then
	TORCH_PYTHON=$ROOT/$newest
	job by_torchrun 2 loader "data loader"
	job by_torchrun 4 loop host
fi
finish
