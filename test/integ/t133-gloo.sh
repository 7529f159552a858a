#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What hosts communicate (gloo, MPI, UCC), as PyTorch's ranges tell it: traces with known times.
. "$(dirname "$0")/lib.sh"
need REPORT REPORT_ALONE PYTHON JQ

python3 - "$T" <<'END'
import json, os, sys

def event(name, ts, dur, cat="cpu_op", pid=7, tid=9, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}

def call(name, ts, dur, dims=None, kind="float"):
    """On a thread of gloo's own."""
    more = {"Input Dims": dims, "Input type": [kind] * len(dims)} if dims else {}
    return event(name, ts, dur, "user_annotation", tid=20, **more)

def step(number):
    return event(f"ProfilerStep#{number}", 1000 * number, 1000, "user_annotation")

def write(case, rank, events, world=2):
    os.makedirs(f"{sys.argv[1]}/{case}", exist_ok=True)
    with open(f"{sys.argv[1]}/{case}/{rank}.json", "w") as file:
        json.dump({"distributedInfo": {"rank": rank, "world_size": world}, "traceEvents": events}, file)

# Of a step of 1000 us the operators take 400, the call 300 of which 100 are beside an operator. The
# second rank works 200 us longer in each, and waits so much less.
def rank_of(late):
    events = []
    for number in range(1, 7):
        base = 1000 * number
        begin = base + 400 + late
        events += [step(number), event("aten::mm", base + 100, 300 + late), event("aten::add", base + 150, 50),
                   event("c10d::allreduce_", begin, 20), event("aten::relu", begin + 50, 100),
                   event("autograd::engine::evaluate_function: X", begin + 200, 200 - late),
                   call("gloo:all_reduce", begin, 500 - late, [[100, 10]])]
    return events

for rank in range(2):
    write("host", rank, rank_of(200 * rank))

# Each library, each kind; sizes that are missing or of unknown types.
write("kinds", 0, [
    event("aten::mm", 900, 10),
    call("gloo:all_gather", 1000, 10, [[4], [2, 2]]), call("gloo:barrier", 1020, 10), call("gloo:broadcast", 1040, 10),
    call("mpi:all_reduce", 1060, 10, [[1000]], "c10::BFloat16"), call("mpi:recvAnySource", 1080, 10, [[3]], "Odd"),
    call("ucc:reduce_scatter", 1100, 10, [[8]], "long int"), call("gloo:unheard_of", 1120, 10, [[1]]),
    call("gloom:all_reduce", 1140, 10, [[1]]), call("my gloo:all_reduce", 1160, 10, [[1]])], 1)

# On a GPU: a kernel of 300 us, beside 100 of which gloo communicates for 200; what the host computes is
# none of the device. NCCL's range says what its kernel does: once it counts.
LAUNCH = [event("cudaLaunchKernel", 1000 + 10 * i, 5, "cuda_runtime", correlation=1 + i) for i in range(2)]
KERNELS = [event("gemm", 1100, 300, "kernel", 0, 7, device=0, stream=7, correlation=1),
           event("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 2000, 100, "kernel", 0, 8, device=0, stream=8, correlation=2)]
write("device", 0, LAUNCH + KERNELS + [
    event("aten::mm", 990, 600), call("gloo:all_reduce", 1300, 200, [[10]]), call("nccl:all_reduce", 1990, 120, [[10]])], 1)

# An NCCL collective whose trace names its process group.
for rank in range(2):
    write("group", rank, LAUNCH + [KERNELS[0], event("ncclDevKernel_AllReduce", 2000, 100, "kernel", 0, 8, device=0, stream=8,
        correlation=2, **{"Collective name": "allreduce", "In msg nelems": 100, "Out msg nelems": 100, "dtype": "Float",
        "Group size": 2, "Process Group Name": "2", "Process Group Description": "mesh_dp", "Process Group Ranks": "[0, 1]", "Seq": 1})])
END

export GPROF_DIR=$T/host
summary communication,distributed,stragglers,breakdown
is 0 "$report_rc" "status"
is "AllReduce gloo 12 48000 4800000" \
	"$(query '.communication.rows[] | "\(.name) \(.communicator) \(.calls) \(.bytes) \(.time_ns)"')" "calls"
is "10000000 null null null" \
	"$(query '.communication.rows[] | "\(.algbw_bytes_per_s) \(.busbw_bytes_per_s) \(.waiting_ns) \(.ranks)"')" "rates, without waits"
ok grep -q '12 calls have no number or no common communicator' "$T/json"
is "0 null 6000000 2400000 3000000 600000 1200000 1 null 6000000 3600000 1800000 600000 1200000" \
	"$(query '[.distributed.rows[] | .rank, .device, .time_ns, .computation_ns, .communication_ns, .overlap_ns, .other_ns] | join(" ") | gsub("  "; " null ")')" \
	"distributed"
summary distributed --detail
is "1000000 400000 500000 100000 200000" \
	"$(query '[.distributed.rows[] | select(.rank == 0 and .step == 3) | .time_ns, .computation_ns, .communication_ns, .overlap_ns, .other_ns] | join(" ")')" \
	"distributed, by steps"
summary distributed --steps 3
is "0 500000 100000 1 300000 100000" \
	"$(query '[.distributed.rows[] | .rank, .communication_ns, .overlap_ns] | join(" ")')" "distributed, of a step"
summary communication --steps 3
is "2 8000" "$(query '.communication.rows[] | "\(.calls) \(.bytes)"')" "calls of a step"
summary stragglers,breakdown
is "1 slow operators 200000" "$(query '.stragglers.rows[] | "\(.rank) \(.cause) \(.delay_ns | round)"')" "who is late"
summary findings,headline
is "straggler 200000" "$(query '.findings.rows[0] | "\(.cause) \(.reach_ns | round)"')" "the first screen names it first"
ok grep -q 'wait 200.0 us per step (.*) for rank 1, whose operators are slower' "$T/json"
summary stragglers,breakdown
is "500000 300000" \
	"$(query '[.breakdown.rows[] | select(.step == "3").communication_ns] | join(" ")')" "communication of a step"
is true "$(query '.breakdown.rows | map(.total_ns == .kernel_ns + .memcpy_ns + .memset_ns + .communication_ns + .runtime_ns +
	.dataloader_ns + .cpu_exec_ns + .other_ns) | all and length > 0')" "parts of steps"
ok "$REPORT" timeline -o "$T/host.pftrace" "$T/host"
ok grep -aq 'process groups of gloo' "$T/host.pftrace"

export GPROF_DIR=$T/kinds
summary communication
is "AllGather gloo 1 32 null;AllReduce MPI 1 2000 200000000;Barrier gloo 1 0 null;Broadcast gloo 1 null null;Recv MPI 1 null null;ReduceScatter UCC 1 64 null;unknown gloo 1 4 null" \
	"$(query '.communication.rows | map("\(.name) \(.communicator) \(.calls) \(.bytes) \(.algbw_bytes_per_s)") | sort | join(";")')" "kinds"

export GPROF_DIR=$T/device
summary communication,distributed
is "AllReduce gloo 1 40" "$(query '.communication.rows[] | select(.communicator == "gloo") | "\(.name) \(.communicator) \(.calls) \(.bytes)"')" "gloo's call beside a GPU"
is "0 300000 300000 100000" "$(query '.distributed.rows[] | "\(.device) \(.computation_ns) \(.communication_ns) \(.overlap_ns)"')" "a GPU's row"
summary device,time-breakdown
is "100000 0 100000" "$(query '[(.device.rows[] | .communication_kernels_ns, .kernels_overlap_ns), .time_breakdown.rows[].communication_kernels_alone_ns] | join(" ")')" \
	"communication kernels alone, by other names"

export GPROF_DIR=$T/group
summary communication
is "AllReduce 2, mesh_dp 2 2" "$(query '.communication.rows[] | "\(.name) \(.group) \(.ranks) \(.calls)"')" "a process group by its name"
ok grep -q 'Process group.*2, mesh_dp' <<<"$("$REPORT" summary --wide --view communication "$T/group" | tr '\n' ' ')"
is 0 "$("$REPORT" summary --view communication "$T/host" | grep -c 'Process group')" "no column where no group is known"

finish
