#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# torch.profiler and the pages of its TensorBoard plugin row by row: options, columns and figures. The figures are
# those of a trace with round times (torch_rows.py). Prints TAP.
# shellcheck disable=SC2317 # functions that tap calls
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ PYTHON
[ -x "$B/gen_stream" ] || skip "gen_stream is not built (make tests)"
[ -x "$B/torch/fake_host" ] || skip "fake_host is not built (make tests)"
version="torch:"
n=0
bad=0
# shellcheck source=test/tap.sh
. test/tap.sh

rows() { python3 test/integ/torch_rows.py "$@"; }

# same WANT HAVE
same() { [ "$1" = "$2" ] || { echo "want '$1', have '$2'" && return 1; }; }

# cells FILE TITLE NAME WANT COLUMN...
cells() { same "$4" "$(rows row "$T/$1" "$2" "$3" "${@:5}")"; }

# titles FILE TITLE WANT
titles() { same "$3" "$(rows columns "$T/$1" "$2")"; }

rows trace "$T/trace.json"
"$REPORT" summary --style torch --detail --top 0 --format csv "$T/trace.json" >"$T/averages" 2>"$T/err"
"$REPORT" summary --style torch --detail=all --top 0 --format csv "$T/trace.json" >"$T/stacks" 2>>"$T/err"
"$REPORT" summary --style tensorboard --detail --top 0 --format csv "$T/trace.json" >"$T/pages" 2>>"$T/err"

# ---- schedule ----

# Five launches a step: 1 step waits, 1 warms up, 3 are recorded, twice.
schedule()
{
	GPROF_SCHEDULE=wait=1,warmup=1,active=3,repeat=2 record "$B/integ/s_loop" 14 5 call sleep=3 || return 1
	summary windows,api,notices
	same "2 7" "$(query '[.windows.rows[] | select(.state == "record").step] | join(" ")')" &&
		same 30 "$(query '[.api.rows[] | select(.name == "cudaLaunchKernel").calls] | add')"
}
tap schedule "schedule wait/warmup/active/repeat: steps 2 to 4 and 7 to 9"

# ---- options of the profiler ----

tap cells averages "" aten::addmm "float32[40], float32[20,30], float32[30,40]" "Input Shapes" \
	"record_shapes: input shapes of an operator"
tap cells averages "" aten::addmm "8192;8192;4096;4096" "CPU Mem (bytes)" "Self CPU Mem (bytes)" "CUDA Mem (bytes)" \
	"Self CUDA Mem (bytes)" "profile_memory: memory of an operator"
tap cells averages "" aten::linear "0;-8192;4096;0" "CPU Mem (bytes)" "Self CPU Mem (bytes)" "CUDA Mem (bytes)" \
	"Self CUDA Mem (bytes)" "profile_memory: what it frees, and what those inside it allocate"

# PyTorch has formulas for these names alone, with_flops: not for those in place, nor for div and sqrt.
flops()
{
	python3 - >"$T/flops.json" <<-'END'
		import json
		names = "add add_ sub mul mul_ div div_ sqrt relu exp mm".split()
		print(json.dumps({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::" + name, "pid": 7, "tid": 7, "ts": 100 * i, "dur": 50,
		                                   "args": {"Input Dims": [[1000, 1000], [1000, 1000]], "Input type": ["float", "float"]}}
		                                  for i, name in enumerate(names)]}))
	END
	"$REPORT" summary --style torch --top 0 --format csv "$T/flops.json" >"$T/flops" 2>"$T/err" &&
		same "add:1.000 mm:2000.000 mul:1.000" "$(grep -o 'aten::.*' "$T/flops" | sort | sed -n 's/aten::\([a-z_]*\)".*,\([0-9.]\{1,\}\)$/\1:\2/p' | paste -sd' ')" &&
		same 11 "$(grep -c aten:: "$T/flops")"
}
tap flops "with_flops: the operators that PyTorch counts, and no others"

# A program without any profiler, whose CPU allocator reports to libc10 alone.
cpu_memory()
{
	GPROF_DIR=$T/cpu GPROF_QUIET=1 LD_PRELOAD=$(preload) "$B/torch/fake_host" 3 "$B/torch/libc10_cuda.so" >"$T/out" &&
		"$REPORT" sql --format csv 'SELECT bytes, allocated_bytes FROM alloc WHERE device_type = 0 ORDER BY time_ns' \
			"$T/cpu" 2>"$T/err" | grep -E '^-?[0-9]' | paste -sd' ' >"$T/alloc" &&
		same "64,64 128,192 -64,128 32,160 4096,4256 -4096,160 -128,32" "$(cat "$T/alloc")" &&
		"$REPORT" summary --view memory --format json "$T/cpu" 2>"$T/err" | jq -e '.memory.rows | any(.place == "CPU" and .live_bytes == 32)' >"$T/jq"
}
tap cpu_memory "profile_memory: the CPU allocator of a program without a profiler"

# stages NAME: the ops of what libc10 counts for torch.compile; the program prints the same.
stages()
{
	"$B/torch/fake_host" 0 "$B/torch/GOOD/libtorch_cpu.so" "$B/torch/libc10_cuda.so" >"$T/plain" &&
		GPROF_DIR=$T/$1 GPROF_QUIET=1 LD_PRELOAD=$(preload) \
			"$B/torch/fake_host" 0 "$B/torch/GOOD/libtorch_cpu.so" "$B/torch/libc10_cuda.so" >"$T/out" &&
		same "$(cat "$T/plain")" "$(cat "$T/out")" &&
		"$REPORT" sql --format csv "SELECT name, depth, scope FROM op WHERE name LIKE 'pytorch.wait%' ORDER BY start_ns" "$T/$1" 2>"$T/err" |
		sed -n 's/"*pytorch.wait_counter.\([a-z_]*\)"*/\1/p' | paste -sd' ' >"$T/of_stages"
}
counted_stages()
{
	stages stages && same "entire_forward_compile,0,7 compile_inductor,1,7 compile_inductor,1,7" "$(cat "$T/of_stages")" &&
		"$REPORT" summary --view compilations --format json "$T/stages" 2>"$T/err" |
		jq -e '.compilations.rows | length == 1 and .[0].name == "entire_forward_compile"' >"$T/jq"
}
unknown_counters()
{
	FAKE_COUNTERS=1 stages unknown && same "" "$(cat "$T/of_stages")" &&
		"$REPORT" summary --view notices --format json "$T/unknown" 2>"$T/err" | jq -e '.notices.rows | any(.cause == "no compilations")' >"$T/jq"
}
tap counted_stages "stages of torch.compile, which PyTorch counts"
tap unknown_counters "stages of torch.compile: none where handles of counters have an unknown form"

# opened_last HOW: its operators and notices of a PyTorch that is opened after the recorder has started, with nothing after it.
opened_last()
{
	rm -rf "$T/last"
	GPROF_DIR=$T/last GPROF_QUIET=1 LD_PRELOAD=$(preload) "$B/torch/fake_host" "$1" "$PWD/$B/torch/GOOD/libtorch_cpu.so" >"$T/out" &&
		"$B/torch/ops" "$T/last"/*.gprof >"$T/last.ops"
	echo "$(grep -c '"kind": "op"' "$T/last.ops") $(grep -c 'no PyTorch operators.*GOOD/libtorch_cpu.so: gprof saw the program start no thread' "$T/last.ops")"
}
last_with_thread() { same "3 0" "$(opened_last last-thread)"; }
last_without_thread() { same "0 1" "$(opened_last last)"; }
tap last_with_thread "operators of a PyTorch that is opened last are recorded from the next thread on"
tap last_without_thread "operators of a PyTorch that is opened last, without threads, are missing, which a notice says"

# Operators, and CPU memory of nobody: dashes.
unobserved()
{
	"$B/gen_stream" "$T/ops.gprof" ops &&
		"$REPORT" summary --style torch --format csv "$T/ops.gprof" >"$T/unobserved" 2>"$T/err" &&
		same ";;25165824" "$(rows row "$T/unobserved" "" aten::convolution "CPU Mem (bytes)" "Self CPU Mem (bytes)" "CUDA Mem (bytes)")" &&
		! "$REPORT" summary --style torch "$T/ops.gprof" 2>"$T/err" | grep 'aten::relu.* 0 b  *0 b  *0 b'
}
tap unobserved "profile_memory: CPU memory that nobody observed is blank"
tap cells stacks "" aten::linear "train.py(12): forward <- train.py(40): <module>" "Source Location" \
	"with_stack: the call stack of an operator"
# 2 x 20 x 30 x 40, and 2 x 4 x 16 x 16 x 8 x 3 x 3 x 3 with stride 2; two calls of each.
tap cells averages "" aten::addmm "96.000" "Total KFLOPs" "with_flops: of a matrix product"
tap cells averages "" aten::conv2d "884.736" "Total KFLOPs" "with_flops: of a convolution with strides, at aten::conv2d"
tap cells averages "" aten::convolution "" "Total KFLOPs" "with_flops: not again at the convolution inside it"
# It has none of relu, of which the view operator has some.
counted()
{
	"$B/gen_stream" "$T/ops.gprof" ops &&
		"$REPORT" summary --view operator --format json "$T/ops.gprof" 2>"$T/err" |
		jq -e '.operator.rows[] | select(.name == "aten::relu") | .flops > 0' >"$T/jq" &&
		"$REPORT" summary --style torch --format csv "$T/ops.gprof" >"$T/counted" 2>"$T/err" &&
		same 7.680 "$(rows row "$T/counted" "" aten::mm "Total KFLOPs")" &&
		same "" "$(rows row "$T/counted" "" aten::relu "Total KFLOPs")"
}
tap counted "with_flops: of the operators alone that torch.profiler counts"
tap cells pages Module layers.1.fc "2;2;600.000" Occurences Operators "Host Total Time (us)" "with_modules: calls of a module"

tap cells pages Module layers.1.fc Linear Class "with_modules: a module has the attributes that lead to it as name, and its class"

# ---- key_averages ----

tap titles averages "" "Name,Self CPU %,Self CPU (us),CPU total %,CPU total (us),CPU time avg (us),Self CUDA (us),Self CUDA %,CUDA total (us),CUDA time avg (us),CPU Mem (bytes),Self CPU Mem (bytes),CUDA Mem (bytes),Self CUDA Mem (bytes),# of Calls,Input Shapes,Total KFLOPs" \
	"key_averages: its columns in its order"
# Per step: linear 280 around addmm 200 around a call 10; ProfilerStep around all; kernels 100, 200, 150.
tap cells averages "" aten::linear "8.00;160.000;28.00;560.000;280.000;0.000;200.000" "Self CPU %" "Self CPU (us)" "CPU total %" \
	"CPU total (us)" "CPU time avg (us)" "Self CUDA (us)" "CUDA total (us)" "key_averages: own and total times"
tap cells averages "" aten::addmm "380.000;400.000;200.000;22.22;2" "Self CPU (us)" "CPU total (us)" "Self CUDA (us)" \
	"Self CUDA %" "# of Calls" "key_averages: calls of CUDA are not its own time"

# by_key KEY NAME: the first row in that order.
by_key()
{
	"$REPORT" summary --style torch --format csv --sort "$1" --top 1 "$T/trace.json" >"$T/sorted" 2>"$T/err" &&
		same "$2" "$(sed -n 2p "$T/sorted" | cut -d'"' -f2)"
}
while read -r key name; do
	tap by_key "$key" "$name" "key_averages: sort_by=$key"
done <<'END'
self_cpu_time_total ProfilerStep*
cpu_time_total ProfilerStep*
cpu_time ProfilerStep*
self_cuda_time_total aten::convolution
cuda_time_total ProfilerStep*
cuda_time ProfilerStep*
device_time ProfilerStep*
cpu_memory_usage aten::addmm
self_cpu_memory_usage aten::addmm
cuda_memory_usage aten::addmm
self_cuda_memory_usage aten::addmm
self_device_memory_usage aten::addmm
count cudaLaunchKernel
END

# ---- pages of the plugin ----

tap titles pages "Overview: Step Time Breakdown" \
	"Step,Total (us),Kernel (us),Memcpy (us),Memset (us),Communication (us),Runtime (us),DataLoader (us),CPU Exec (us),Other (us)" \
	"Overview: columns of the step breakdown"
# Kernels 300-400 and 500-700, NCCL the 100 after; calls 200-210 and 450-460; the loader 10-100.
tap cells pages "Overview: Step Time Breakdown" 1 "1000.000;300.000;100.000;20.000;90.000;250.000;240.000" "Total (us)" \
	"Kernel (us)" "Communication (us)" "Runtime (us)" "DataLoader (us)" "CPU Exec (us)" "Other (us)" "Overview: the time of a step"
tap cells pages "Overview: GPU Summary" "A GPU" "17179869184;8.0;40.00" "Memory (B)" "Compute Capability" "GPU Utilization %" \
	"Overview: the GPU"
tap titles pages Operator "Name,Calls,Device Self Duration (us),Device Total Duration (us),Host Self Duration (us),Host Total Duration (us),Tensor Cores Eligible,Tensor Cores Self (%),Tensor Cores Total (%)" \
	"Operator: its columns"
tap cells pages Operator aten::linear "2;0.000;200.000;160.000;560.000;Yes;100.00" Calls "Device Self Duration (us)" \
	"Device Total Duration (us)" "Host Self Duration (us)" "Host Total Duration (us)" "Tensor Cores Eligible" \
	"Tensor Cores Total (%)" "Operator: times, tensor cores"
tap cells pages "Operator: Name + Input Shape" aten::addmm "2;float32[40], float32[20,30], float32[30,40]" Calls "Input Shape" \
	"Operator: by input shapes"
tap cells pages "Operator: Call Stack" aten::conv2d "2;200.000;train.py(20): check <- train.py(41): <module>" Calls \
	"Host Total Duration (us)" "Call Stack" "Operator: by call stacks"
tap titles pages "Kernel: Name + Op Name" "Name,Operator,Grid,Block,Register Per Thread,Shared Memory (B),Kernel Uses Tensor Cores,Op is Tensor Cores eligible,Calls,Total Duration (us),Mean Duration (us),Max Duration (us),Min Duration (us),Mean Blocks Per SM,Mean Est. Achieved Occupancy (%)" \
	"Kernel: columns by operator"
tap titles pages "Kernel: Name" "Name,Tensor Cores Used,Calls,Total Duration (us),Mean Duration (us),Max Duration (us),Min Duration (us),Mean Blocks Per SM,Mean Est. Achieved Occupancy (%)" \
	"Kernel: columns by name"
# 2 blocks of 128 threads on an SM that holds 2048: 12.5 %, in whole percents.
tap cells pages "Kernel: Name + Op Name" ampere_fp16_s1688gemm_fp16_128x64 "aten::addmm;32;1024;Yes;Yes;2;100.000;2.00;13.00" Operator \
	"Register Per Thread" "Shared Memory (B)" "Kernel Uses Tensor Cores" "Op is Tensor Cores eligible" Calls "Mean Duration (us)" \
	"Mean Blocks Per SM" "Mean Est. Achieved Occupancy (%)" "Kernel: figures"

# Timelines of this project, as the plugin adds up times: no range begins before its neighbour ends.
traced()
{
	"$B/gen_stream" "$T/$1.gprof" "$1" 20000 && "$REPORT" timeline -o "$T/$1.json" "$T/$1.gprof" 2>"$T/err" && rows touch "$T/$1.json"
}
tap traced ops "Trace: ranges of a training do not intersect"
tap traced model "Trace: ranges of a training with a loader do not intersect"

again()
{
	"$REPORT" timeline -o "$T/again.json" "$T/trace.json" 2>"$T/err" && rows touch "$T/again.json" &&
		"$REPORT" summary --style tensorboard --detail --top 0 --format csv "$T/again.json" 2>"$T/err" |
		diff <(sed 1d "$T/pages") <(sed 1d)
}
tap again "Trace: a trace written again makes the same pages"
tap titles pages "Memory View: CPU" "Operator Name,Calls,Size Increase (KB),Self Size Increase (KB),Allocation Count,Self Allocation Count,Allocation Size (KB),Self Allocation Size (KB)" \
	"Memory: columns of operators"
tap cells pages "Memory View: CPU" aten::linear "2;0.00;-8.00;2;0;8.00;0.00" Calls "Size Increase (KB)" "Self Size Increase (KB)" \
	"Allocation Count" "Self Allocation Count" "Allocation Size (KB)" "Self Allocation Size (KB)" "Memory: an operator on the CPU"
tap cells pages "Memory View: GPU0" aten::linear "2;4.00;0.00;2;0" Calls "Size Increase (KB)" "Self Size Increase (KB)" \
	"Allocation Count" "Self Allocation Count" "Memory: the same on the GPU"
tap cells pages "Memory Events" GPU0 "aten::addmm;2.00;150.000;600.000;450.000|aten::addmm;2.00;1150.000;1600.000;450.000" Operator \
	"Size (KB)" "Allocation Time (us)" "Release Time (us)" "Duration (us)" "Memory: single blocks"

curve()
{
	"$REPORT" summary --view memory-curve --format json "$T/trace.json" 2>"$T/err" |
		jq -r '[.memory_curve.rows[] | select(.device == "CPU").allocated_bytes] | max' >"$T/jq"
	same 4096 "$(cat "$T/jq")"
}
tap curve "Memory: the curve of the CPU"
tap titles pages Module "Module Name,Occurences,Operators,Host Total Time (us),Host Self Time (us),Device Total Time (us),Device Self Time (us),Class" \
	"Module: its columns"
tap cells pages Module layers.1.fc "600.000;600.000;200.000;200.000" "Host Total Time (us)" "Host Self Time (us)" \
	"Device Total Time (us)" "Device Self Time (us)" "Module: times of a module"
# NCCL 650-800, beside a kernel until 700.
tap cells pages "Distributed: Computation/Communication Overview" 1 "250.000;50.000;100.000;600.000" "Computation - Overlap (us)" \
	"Overlap (us)" "Communication - Overlap (us)" "Other (us)" "Distributed: computation, communication, overlap"
tap cells pages "Distributed: Communication Operations" ncclDevKernel_AllReduce_Sum_f32_RING_LL "2;300.000;150.000" Calls \
	"Total Latency (us)" "Avg Latency (us)" "Distributed: operations"
echo "1..$n"
exit $bad
