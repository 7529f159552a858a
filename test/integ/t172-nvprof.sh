#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Built-in timers, nvprof and nvvp, each of their features: a line of TAP each. Programs run on simulated CUDA; figures
# are compared with the rows they come from, or added up here.
# shellcheck disable=SC2317 # functions that tap calls
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
# shellcheck source=test/tap.sh
. test/tap.sh
version=nvprof
n=0 bad=0

# same WANT HAVE
same() { [ "$1" = "$2" ] || { echo "want '$1', have '$2'"; false; }; }
holds() { [ "$(query "$1")" = true ] || { echo "not true: $1"; head -c 3000 "$T/json"; false; }; }
nvprof() { "$REPORT" --style nvprof "$@" "$GPROF_DIR"; }

# ---- the built-in timers: Stat=NAME total= avg= max= min= count= ----

record "$B/integ/s_loop" 5 3 nvtx
summary nvtx,kernel
timers()
{
	holds '.nvtx.rows | length == 1 and .[0].name == "step" and .[0].calls == 5' &&
		holds '.nvtx.rows[0] | .min_ns <= .avg_ns and .avg_ns <= .max_ns and .max_ns <= .total_ns' &&
		holds '.nvtx.rows[0] | (.total_ns / .calls - .avg_ns | fabs) < 1'
}
tap timers "REGISTER_TIMER_INFO, printAllStatus: total, avg, max, min and count of a range"
gpu_of_timers()
{
	summary user-ranges,kernel,memcpy
	holds '([.kernel.rows[].total_ns] | add) + (.memcpy.rows[] | select(.name | contains("HtoD")).total_ns)
		== (.user_ranges.rows[] | select(.name == "step").gpu_total_ns)'
}
tap gpu_of_timers "REGISTER_TIMER_INFO: the time on the GPU, too"

rm -rf "$GPROF_DIR"
GPROF_CAPTURE=cudaprofiler record "$B/integ/s_loop" 10 5 capture=3-7
capture()
{
	summary kernel
	holds '[.kernel.rows[].calls] | add == 20'
}
tap capture "REGISTER_GPU_PROFILER: only between cudaProfilerStart and cudaProfilerStop"

# ---- nvprof: the summary ----

rm -rf "$GPROF_DIR"
record "$B/prog/vector_add"
summary kernel,memcpy,memset,api
nvprof >"$T/text" && nvprof --format csv >"$T/csv"

titles()
{
	same "Type Time(%) Time Calls Avg Min Max Name" "$(grep 'Time(%)' "$T/text" | xargs)" &&
		same 1 "$(grep -c 'GPU activities:' "$T/text")" && same 1 "$(grep -c 'API calls:' "$T/text")" &&
		same '"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"' "$(grep '^"Type"' "$T/csv")" &&
		same 3 "$(grep -c "^==[0-9]*== \(NVPROF is profiling\|Profiling\)" "$T/text")"
}
tap titles "summary: lines before it, columns and sections"

# csv_json: the rows of the CSV as JSON with times in ns, by the line of units.
csv_json()
{
	awk -F, '
		BEGIN { ns["s"] = 1e9; ns["ms"] = 1e6; ns["us"] = 1e3; ns["ns"] = 1; print "[" }
		/^,%,/ { time = ns[$3]; avg = ns[$5]; min = ns[$6]; max = ns[$7] }
		/^"(GPU|API)/ {
			printf "%s{\"section\":%s,\"share\":%s,\"total\":%.3f,\"calls\":%s,\"avg\":%.3f,\"min\":%.3f,\"max\":%.3f,\"name\":%s}\n",
				nr++ ? "," : "", $1, $2, $3 * time, $4, $5 * avg, $6 * min, $7 * max, $8
		}
		END { print "]" }' "$T/csv" >"$T/rows"
}
csv_json

rows() { jq -e "$1" "$T/rows" >/dev/null || { echo "not true: $1"; cat "$T/rows"; false; }; }

one_unit()
{
	# Units differ between columns, so figures of a row compare only after conversion.
	rows 'all(.[]; .min <= .avg + 1 and .avg <= .max + 1 and .max <= .total + 1)' &&
		rows 'all(.[]; (.total - .avg * .calls | fabs) <= 1 + .calls)'
}
tap one_unit "--csv: each column has the unit of its second line"
shares()
{
	rows '([.[] | select(.section == "GPU activities").share] | add - 100 | fabs) < 0.001' &&
		rows '([.[] | select(.section == "API calls").share] | add - 100 | fabs) < 0.001' &&
		rows '[.[] | select(.section == "API calls").total] | . == (sort | reverse)'
}
tap shares "summary: Time(%) adds up in each section, rows fall by time"

figures()
{
	local calls total
	calls=$(query '[.api.rows[] | select(.api != "pthread").calls] | add')
	total=$(query '[.api.rows[] | select(.api != "pthread").total_ns] | add')
	same "$calls" "$(jq '[.[] | select(.section == "API calls").calls] | add' "$T/rows")" &&
		rows "([.[] | select(.section == \"API calls\").total] | add - $total | fabs) < 50" &&
		same "$(query '.memcpy.rows[] | select(.name | startswith("Memcpy HtoD")).total_ns')" \
			"$(jq '.[] | select(.name == "[CUDA memcpy HtoD]").total | round' "$T/rows")" &&
		same "$(query '[.kernel.rows[] | "\(.name) \(.calls)"] | sort | join(";")')" \
			"$(jq -r '[.[] | select(.section == "GPU activities" and (.name | startswith("[") | not)) | "\(.name) \(.calls)"] | sort | join(";")' "$T/rows")"
}
tap figures "summary: calls and times of kernels, [CUDA memcpy HtoD] and API calls"

# ---- nvprof: the traces ----

gpu_trace()
{
	nvprof --view gpu-trace --format csv >"$T/trace" && same '"Start","Duration","Grid X","Grid Y","Grid Z","Block X","Block Y","Block Z","Registers Per Thread","Static SMem","Dynamic SMem","Size","Throughput","SrcMemType","DstMemType","Device","Context","Stream","Name","Correlation_ID"' \
		"$(grep '^"Start"' "$T/trace")" && same 33 "$(grep -c '^[0-9]' "$T/trace")" &&
		grep -q '^[0-9.]*,[0-9.]*,16,1,1,256,1,1,[0-9]*,.*"NVIDIA H200 (0)","1","[0-9]*","vector_add()",[0-9]*$' "$T/trace"
}
tap gpu_trace "--print-gpu-trace: columns, a row for each activity"

# Size / duration in powers of 1024, as the figures of a real one: 1.853027 MB in 0.015329 ms are 118.05 GB/s.
throughput()
{
	"$REPORT" --style nvprof --view gpu-trace --format csv "$GPROF_DIR" | awk -F, '
		/^(s|ms|us|ns),/ { unit = $2; size = $12; rate = $13 }
		/memcpy HtoD/ && !nr++ {
			ns["s"] = 1e9; ns["ms"] = 1e6; ns["us"] = 1e3; ns["ns"] = 1
			by["B"] = 1; by["KB"] = 1024; by["MB"] = 1024 ^ 2; by["B/s"] = 1; by["KB/s"] = 1024
			by["MB/s"] = 1024 ^ 2; by["GB/s"] = 1024 ^ 3
			want = $12 * by[size] / ($2 * ns[unit]) * 1e9
			error = $13 * by[rate] / want - 1
			exit error > 0.001 || error < -0.001
		}
		END { if (!nr) exit 1 }'
}
tap throughput "--print-gpu-trace: Throughput is Size by Duration"
api_trace()
{
	nvprof --view api-trace --format csv >"$T/trace" &&
		same '"Start","Duration","Name","Correlation_ID"' "$(grep '^"Start"' "$T/trace")" &&
		same "$(jq '[.[] | select(.section == "API calls").calls] | add' "$T/rows")" "$(grep -c '^[0-9]' "$T/trace")"
}
tap api_trace "--print-api-trace: columns, a row for each call"

# ---- nvprof: driver calls ----

rm -rf "$GPROF_DIR"
GPROF_DRIVER=1 record "$B/integ/s_driver"
driver()
{
	local name
	nvprof >"$T/text"
	for name in "348 cuDeviceGetAttribute" "4 cuDeviceGetName" "4 cuDeviceTotalMem_v2" "1 cuDeviceGet" "3 cuMemAlloc_v2" "3 cudaMalloc"; do
		sed 's/.*%  *//' "$T/text" | awk '{print $2, $6}' | grep -qx "$name" || { echo "no $name"; cat "$T/text"; return 1; }
	done
}
tap driver "API calls: 348 cuDeviceGetAttribute, by cuGetProcAddress and inside the runtime (GPROF_DRIVER=1)"
driver_trace() { same 348 "$(nvprof --view api-trace --format csv | grep -c cuDeviceGetAttribute)"; }
tap driver_trace "--print-api-trace: driver calls"
rm -rf "$GPROF_DIR"
record "$B/integ/s_driver"
gap()
{
	"$REPORT" --view api "$GPROF_DIR" >"$T/text" && grep -q 'GPROF_DRIVER=1' "$T/text" &&
		! grep -q cuDeviceGetAttribute "$T/text" || { cat "$T/text"; false; }
}
tap gap "API calls: without it, the table states what it lacks"

# ---- nvvp ----

rm -rf "$GPROF_DIR"
record "$B/prog/copies"
summary bandwidth,memcpy
# The simulated memory carries 4,800 GB/s; a copy within it is read and written.
device_memory()
{
	holds '[.bandwidth.rows[] | select(.name == "Memcpy DtoD (Device -> Device)")] | length == 1 and
		(.[0] | .memory_pct - 200 * .rate_bytes_per_s / 4.8e12 | fabs) < 0.001 and .[0].link_pct == null' &&
		holds '[.bandwidth.rows[] | select(.name == "Memset (Device)")] | length > 0 and
			all(.[]; (.memory_pct - 100 * .rate_bytes_per_s / 4.8e12 | fabs) < 0.001)'
}
tap device_memory "bandwidth: copies within the GPU and memsets against the peak of its memory"
link()
{
	local steps
	# The recorder opens NVML beside the program, which may end before that.
	for steps in 10 100 400; do
		rm -rf "$GPROF_DIR"
		GPROF_SAMPLE_MS=10 record "$B/integ/s_loop" $steps 2 sleep=20
		summary bandwidth
		[ "$(query '.bandwidth.rows[0].link_pct')" = null ] || break
	done
	holds '[.bandwidth.rows[] | select(.name | test("HtoD|DtoH"))] | length > 0 and
		all(.[]; .link_pct > 0 and .memory_pct == null)'
}
tap link "bandwidth: copies between host and GPU against the link"

# Kernels of operators with known shapes: 1 us for 3 x 4,000,000 bytes of an A100 (1,555 GB/s), and for 2 x 1000^3 FLOPs.
cat >"$T/ops.json" <<'JSON'
{"deviceProperties":[{"id":0,"name":"NVIDIA A100-SXM4-40GB","totalGlobalMem":42000000000,"computeMajor":8,"computeMinor":0,
"maxThreadsPerBlock":1024,"maxThreadsPerMultiprocessor":2048,"regsPerBlock":65536,"warpSize":32,"sharedMemPerBlock":49152,"numSms":108}],
"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::add","ts":0,"dur":50,"pid":1,"tid":1,"args":{"Input Dims":[[1000,1000],[1000,1000],[]],"Input type":["float","float","Scalar"]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","ts":10,"dur":5,"pid":1,"tid":1,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"add","ts":20,"dur":10,"pid":0,"tid":7,"args":{"device":0,"context":1,"stream":7,"correlation":1}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","ts":100,"dur":50,"pid":1,"tid":1,"args":{"Input Dims":[[1000,1000],[1000,1000]],"Input type":["c10::BFloat16","c10::BFloat16"]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","ts":110,"dur":5,"pid":1,"tid":1,"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"gemm","ts":120,"dur":10,"pid":0,"tid":7,"args":{"device":0,"context":1,"stream":7,"correlation":2}}
]}
JSON
kernels()
{
	"$REPORT" --view bandwidth,operator --format json "$T/ops.json" >"$T/json" 2>"$T/report.err"
	holds '.bandwidth.rows[] | select(.name == "aten::add") | .total_bytes == 12000000 and .busy_ns == 10000 and
		(.memory_pct - 100 * 12e6 / 1e-5 / 1555e9 | fabs) < 0.01' &&
		holds '.operator.rows[] | select(.name == "aten::mm") | .flops == 2e9 and
			(.flops_peak_pct - 100 * 2e9 / 1e-5 / 312e12 | fabs) < 0.01'
}
tap kernels "bandwidth, FLOP/s: kernels with known bytes and operations against the GPU's peaks"

rm -rf "$GPROF_DIR"
record "$B/prog/vector_add"
resources()
{
	summary kernel
	holds 'all(.kernel.rows[]; .occupancy_pct > 0 and .limit == "GRID" and .blocks_per_sm > 0)'
}
tap resources "kernels: blocks, occupancy and what limits it"
guided()
{
	summary advice --all
	same "nvvp-compute-utilization nvvp-copy-overlap nvvp-copy-throughput nvvp-divergence nvvp-kernel-concurrency nvvp-small-copies" \
		"$(query '[.advice.rows[] | select(.source | startswith("nvvp")).rule] | sort | join(" ")')" &&
		holds 'all(.advice.rows[] | select(.rule != ""); .evidence != null and .evidence != "")'
}
tap guided "guided analysis: nvvp's six rules, each with evidence"
timeline() { "$REPORT" timeline -o "$T/t.json" "$GPROF_DIR" && jq -e '[.traceEvents[] | select(.cat == "kernel")] | length == 16' "$T/t.json"; }
tap timeline "timeline: a slice for each kernel"
cpu()
{
	summary threads,utilization
	holds '.threads.rows | length > 0' && holds '[.utilization.rows[].name] | length > 0'
}
tap cpu "CPU: threads and utilization of the process"
exit $bad
