#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Traces of XLA's profiler (JAX, TensorFlow), made by xspace.py with round times: every table, every command.
. "$(dirname "$0")/lib.sh"
need REPORT REPORT_ALONE JQ PYTHON
xspace() { python3 test/integ/xspace.py "$@"; }
# read FILE VIEW QUERY: what a view of a trace has.
read_view()
{
	"$REPORT" summary --format json --top 0 --view "$2" "$1" 2>"$T/err" | jq -r "$3" 2>&1
}

xspace "$T/gpu.xplane.pb"
xspace "$T/tpu.xplane.pb" tpu
xspace "$T/bare.xplane.pb" bare
gpu=$T/gpu.xplane.pb
tpu=$T/tpu.xplane.pb

is "7 500 5000, 8 5500 6000" "$(read_view "$gpu" steps '[.steps.rows[] | "\(.step) \(.start_ns + 500) \(.duration_ns)"] | join(", ")')" "steps"
is "add_fusion 1 1001, mul_fusion 1 1000, (CUDA graph 5 as a whole) 1 700" \
	"$(read_view "$gpu" kernel '[.kernel.rows[] | "\(.name) \(.calls) \(.total_ns)"] | join(", ")')" "kernels, rounded to the nanosecond"
is "Memcpy HtoD (Pinned -> Device) 65536, Memset (Device) 4096" \
	"$(read_view "$gpu" memcpy,memset '[(.memcpy, .memset).rows[] | "\(.name) \(.total_bytes)"] | join(", ")')" "copies and sets"
is "MemcpyH2D 1, Memset 1, cuGraphLaunch 1, kernel launch 2" \
	"$(read_view "$gpu" api '[.api.rows[] | "\(.name) \(.calls)"] | sort | join(", ")')" "calls"
is "PjitFunction(step) 5202, Wait 0, jit_step/add.1 1001, jit_step/mul.2 1000" \
	"$(read_view "$gpu" operator '[.operator.rows[] | "\(.name) \(.gpu_total_ns)"] | sort | join(", ")')" "operators and what they launched"
is "PjitFunction(step) 1 4000" "$(read_view "$gpu" operator '.operator.rows[] | select(.name == "PjitFunction(step)") | "\(.name) \(.calls) \(.total_ns)"')" \
	"a call that the trace has twice counts once"
is "train 2 5202" "$(read_view "$gpu" user-ranges '.user_ranges.rows[] | "\(.name) \(.calls) \(.gpu_total_ns)"')" "annotations of steps"
is "PjitFunction(step) GPU 0 256" "$(read_view "$gpu" memory '.memory.rows[] | "\(.name) \(.place) \(.total_bytes)"')" "allocations"
is "python 321 5, py_xla_execute 322 0" "$(read_view "$gpu" threads '[.threads.rows[] | "\(.name) \(.tid) \(.calls)"] | join(", ")')" "threads"
is "NVIDIA H200 0 3 1" "$(read_view "$gpu" device '.device.rows[] | "\(.name) \(.device) \(.kernels) \(.copies)"')" "devices"
is "GPU events dropped" "$(read_view "$gpu" notices '.notices.rows[].text')" "warnings of the profiler"
is "events of kind MemoryAlloc are not read, events of kind UM_CPU_PAGE_FAULT are not read, events of line _counters_ are not read" \
	"$(read_view "$gpu" losses '[.losses.rows[].cause] | join(", ")')" "what is not read"
is "32 128 2 1 64 1 1 1 7 4500,5501" "$("$REPORT" sql --format json "SELECT *, group_concat(start_ns) OVER () AS begins FROM kernel" "$gpu" 2>"$T/err" |
	jq -r '[.. | objects | select(.correlation == 12)][0] | "\(.registers) \(.grid_x) \(.grid_y) \(.grid_z) \(.block_x) \(.block_y) \(.block_z) \(.context) \(.stream) \(.begins)"')" \
	"details of a kernel, and times that touch"
"$REPORT" info "$gpu" >"$T/info" 2>"$T/err"
is "1 1 1" "$(grep -c 'node7' "$T/info") $(grep -c '2026-11-23' "$T/info") $(grep -c 'jax.version *0.10.2' "$T/info")" "host, time and versions"

is "fusion.2 2 3000, copy.3 1 1000" "$(read_view "$tpu" kernel '[.kernel.rows[] | "\(.name) \(.calls) \(.total_ns)"] | join(", ")')" \
	"operations of a TPU, without those that contain others"
is "TPU v4 1" "$(read_view "$tpu" device '.device.rows[] | "\(.name) \(.device)"')" "a TPU"
xspace "$T/overlap.xplane.pb" overlap
is "3 5000, 4 5000" "$(read_view "$T/overlap.xplane.pb" steps '[.steps.rows[] | "\(.step) \(.duration_ns)"] | join(", ")')" "steps of a device that overlap"
ok grep -q 'steps overlap: each ends where the next one begins' "$T/err"
is "3 5000, 4 5000" "$(read_view "$tpu" steps '[.steps.rows[] | "\(.step) \(.duration_ns)"] | join(", ")')" "steps of a device"
is "events of plane #Chip TPU Non-Core HLO are not read" "$(read_view "$tpu" losses '.losses.rows[].cause')" "planes that are not read"
is 0 "$(read_view "$T/bare.xplane.pb" steps '.steps.rows | length')" "no steps"

# Packed, and as JAX lays its files: the last run counts, and Chrome's copy of it does not.
mkdir -p "$T/log/plugins/profile/2026_01_01" "$T/log/plugins/profile/2026_01_02"
xspace "$T/log/plugins/profile/2026_01_01/node7.xplane.pb" tpu
gzip -c "$gpu" >"$T/log/plugins/profile/2026_01_02/node7.xplane.pb.gz"
echo '{"traceEvents": []}' >"$T/log/plugins/profile/2026_01_02/node7.trace.json"
is "$(read_view "$gpu" kernel .kernel.rows)" "$(read_view "$T/log" kernel .kernel.rows)" "a log directory"

# Cut anywhere, it is read as far as it goes, or refused; a wrong byte does no harm.
size=$(stat -c %s "$gpu")
for part in 1 2 3 5 8; do
	head -c $((size * part / 9)) "$gpu" >"$T/cut.xplane.pb"
	"$REPORT" --all "$T/cut.xplane.pb" >"$T/out" 2>"$T/err"
	is "1 or 3" "$(case $? in 1 | 3) echo "1 or 3" ;; *) head -1 "$T/err" ;; esac)" "$part of 9 parts"
done
grep -q 'truncated' "$T/err"
is 0 $? "what cutting is called"

# Every output, and a comparison with a trace of another format.
for format in json pftrace; do
	"$REPORT" timeline -o "$T/out.$format" "$gpu" 2>"$T/err"
	is 3 $? "timeline as $format"
done
is 1 "$(jq '[.traceEvents[] | select(.name == "jit_step/add.1" and .ph == "X")] | length' "$T/out.json")" "timeline"
is 1 "$(jq '[.traceEvents[] | select(.name == "add_fusion" and .cat == "kernel" and (.dur * 1000 | round) == 1001)] | length' "$T/out.json")" "kernels of the timeline"
"$REPORT" summary --view kernel --format json "$T/out.json" 2>"$T/err" | jq -c '[.kernel.rows[] | [.name, .total_ns]]' >"$T/again"
is '[["add_fusion",1001],["mul_fusion",1000],["CUDA graph 5",700]]' "$(sed 's/(CUDA graph 5 as a whole)/CUDA graph 5/' "$T/again")" "read again as Chrome JSON"
"$REPORT" html -o "$T/out.html" "$gpu" 2>"$T/err"
is 3 $? "page"
"$REPORT" diff --format json "$gpu" "$T/out.json" >"$T/diff" 2>"$T/err"
is 3 $? "comparison with Chrome JSON"
exit $failed
