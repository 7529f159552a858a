#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Traces of PyTorch's profiler on ROCm, XPU and MTIA: their activities are in every table that has times of devices.
. "$(dirname "$0")/lib.sh"
need REPORT REPORT_ALONE JQ

# event CAT NAME PID TID TS DUR ARGS: an event of a trace.
event()
{
	echo "{\"ph\": \"X\", \"cat\": \"$1\", \"name\": \"$2\", \"pid\": $3, \"tid\": $4, \"ts\": $5, \"dur\": $6, \"args\": {$7}},"
}

# device RUNTIME LAUNCH COPY KERNEL COPIED: an operator launches a kernel of 30 us and, if COPY is named, a copy of 10 us.
device()
{
	echo '{"traceEvents": ['
	event user_annotation 'ProfilerStep#1' 7 7 0 100 ''
	event cpu_op aten::mm 7 7 5 40 ''
	event "$1" "$2" 7 7 10 5 '"correlation": 1'
	event "$4" gemm 0 3 50 30 '"device": 0, "stream": 3, "correlation": 1'
	if [ -n "$3" ]; then
		event "$1" "$3" 7 7 20 5 '"correlation": 2'
		event gpu_memcpy "$5" 0 3 82 10 '"device": 0, "stream": 3, "correlation": 2, "bytes": 1000'
	fi
	echo '{"ph": "i", "cat": "Trace", "name": "end", "pid": 7, "tid": 7, "ts": 200}]}'
}

device cuda_runtime hipLaunchKernel hipMemcpyAsync kernel 'Memcpy HtoD (Host -> Device)' >"$T/rocm.json"
device xpu_runtime urEnqueueKernelLaunch urEnqueueUSMMemcpy kernel 'Memcpy M2D(Host -> Device)' >"$T/xpu.json"
device mtia_runtime mtiaLaunchKernel '' mtia_ccp_events '' >"$T/mtia.json"
for name in rocm xpu mtia; do
	copies=$([ $name = mtia ] && echo 0 || echo 1)
	"$REPORT" summary --format json --top 0 --view kernel,memcpy,device,operator,breakdown,time-breakdown,idle,launch-latency,steps,kernel-operator,losses,overview,gpu-summary,critical-path \
		"$T/$name.json" >"$T/json" 2>"$T/err"
	is 0 $? "$name: status"
	is "gemm 1 30000" "$(query '.kernel.rows[] | "\(.name) \(.calls) \(.total_ns)"')" "$name: kernels"
	is "$copies" "$(query '[.memcpy.rows[].calls] | add // 0')" "$name: copies"
	is "0 1 $copies $((30000 + copies * 10000))" "$(query '.device.rows[] | "\(.device) \(.kernels) \(.copies) \(.busy_ns)"')" "$name: devices"
	is "$((30000 + copies * 10000))" "$(query '.operator.rows[] | select(.name == "aten::mm").gpu_total_ns')" "$name: what operators launched"
	is true "$(query '[.breakdown.rows[] | select(.kernel_ns == 30000)] | length > 0')" "$name: the step's parts"
	is 30000 "$(query '.time_breakdown.rows[0].computation_ns')" "$name: time of the device"
	is "35000" "$(query '.launch_latency.rows[] | select(.name == "gemm").total_ns')" "$name: from launch to kernel"
	is "gemm aten::mm" "$(query '.kernel_operator.rows[] | select(.name == "gemm") | "\(.name) \(.operator)"')" "$name: kernels by operator"
	is 0 "$(query '.losses.rows | length')" "$name: losses"
	ok "$REPORT" timeline -o "$T/out.json" "$T/$name.json"
	is "1 $copies" "$(jq -r '[.traceEvents[] | select(.ph == "X")] | "\([.[] | select(.cat == "kernel" and .name == "gemm" and .dur == 30)] | length) \([.[] | select(.cat == "gpu_memcpy")] | length)"' \
		"$T/out.json")" "$name: timeline"
done
# A data-parallel step that waits for its launches: each device gets the remedies that it has.
data_parallel()
{
	local i
	echo '{"distributedInfo": {"rank": 0, "world_size": 2, "backend": "gloo"}, "traceEvents": ['
	for i in 0 1 2 3 4 5; do
		event user_annotation "ProfilerStep#$i" 7 7 $((1000 * i)) 1000 ''
		event cpu_op DistributedDataParallel.forward 7 7 $((1000 * i + 1)) 990 ''
	done
	for i in {1..240}; do
		event cpu_op aten::mm 7 7 $((25 * i - 20)) 20 ''
		event "$1" "$2" 7 7 $((25 * i - 10)) 5 "\"correlation\": $i"
		event "$3" gemm 0 3 $((25 * i - 4)) 2 "\"device\": 0, \"stream\": 3, \"correlation\": $i"
	done
	echo '{"ph": "i", "cat": "Trace", "name": "end", "pid": 7, "tid": 7, "ts": 6000}]}'
}

data_parallel cuda_runtime cudaLaunchKernel kernel >"$T/ddp-cuda.json"
data_parallel cuda_runtime hipLaunchKernel kernel >"$T/ddp-rocm.json"
data_parallel xpu_runtime urEnqueueKernelLaunch kernel >"$T/ddp-xpu.json"
data_parallel mtia_runtime mtiaLaunchKernel mtia_ccp_events >"$T/ddp-mtia.json"
while read -r name nccl remedy; do
	"$REPORT" --view findings,advice --all --format json "$T/ddp-$name.json" >"$T/json"
	is "$nccl" "$(query '.advice.rows[] | select(.rule == "tb-ddp-nccl").verdict' | tr ' ' _)" "$name: advice on NCCL"
	is 1 "$(query '.findings.rows[0].sentence' | grep -c "The GPU waits for the host to launch work, 100.0 % of that for aten::mm; $remedy ")" "$name: $remedy: $(query '.findings.rows[0].sentence')"
done <<-END
	cuda no_time_to_gain CUDA graphs or torch.compile
	rocm no_time_to_gain HIP graphs or torch.compile
	xpu not_judged torch.compile
	mtia not_judged torch.compile
END
exit $failed
