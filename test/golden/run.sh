#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh [GPROF_REPORT]: what the reporter prints for the streams of each format version must stay as it
# stands in the .out files. ACCEPT=1 takes what it prints now as right. Old streams are never made anew.

root=$(realpath "$(dirname "$0")/../..") || exit 2
report=$(realpath "${1:-$root/${B:-build}/gprof-report}") || exit 2
cd "$root/test/golden" || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0
passed=0

# golden NAME COMMAND...: stdout, stderr and status of a command against NAME.out, in v1 unless NAME has a folder
golden() {
	case $1 in
	*/*) expected=$1.out ;;
	*) expected=v1/$1.out ;;
	esac
	shift
	{
		"$@" 2>"$work/err"
		echo "status $?"
		sed 's/^/stderr: /' "$work/err"
	} | sed -e 's/"gprof_report": "[^"]*"/"gprof_report": "VERSION"/' \
		-e 's/"version": "[^"]*"/"version": "VERSION"/' >"$work/out"
	if [ -n "$ACCEPT" ]; then
		cp "$work/out" "$expected"
	fi
	if cmp -s "$work/out" "$expected"; then
		passed=$((passed + 1))
	else
		echo "golden: $expected differs:"
		diff -u "$expected" "$work/out" | head -40
		failed=$((failed + 1))
	fi
}

# The tables of a run, and the first screen.
tables=model,steps,operator,device,communication,hang,missing-collectives,kernel,memcpy,memset,api,nvtx,python,module,losses,notices
for stream in v1/*.gprof; do
	name=$(basename "$stream")
	golden "$name.check" "$report" check "$stream"
	golden "$name.summary" "$report" --wide --view $tables "$stream"
	golden "$name.first" "$report" "$stream"
done
for stream in v2/*.gprof; do
	golden "$stream.check" "$report" check "$stream"
	golden "$stream.summary" "$report" --wide --view $tables "$stream"
done
# Text fits a line of 80 columns, or of as many as COLUMNS says; notes on stderr do not count.
views=$("$report" help summary | sed -n '/^Views/,/^$/ s/^  \([a-z-]*\).*/\1/p' | paste -sd, -)
for stream in v1/*.gprof v2/*.gprof v1/job7.sum; do
	for width in 80 132; do
		case $stream in
		*.sum) set -- "$report" "$stream" ;;
		*) set -- "$report" --view "$views" "$stream" ;;
		esac
		[ $width -eq 80 ] || set -- env COLUMNS=$width "$@"
		longest=$("$@" 2>/dev/null | LC_ALL=C.UTF-8 wc -L)
		if [ "$longest" -le $width ]; then
			passed=$((passed + 1))
		else
			echo "golden: $stream has lines of $longest columns where $width fit"
			failed=$((failed + 1))
		fi
	done
done
# A finding of the first screen takes two lines at most.
for input in v1/*.gprof v2/*.gprof traces/*.json; do
	if long=$("$report" "$input" 2>/dev/null | awk '/^$/ { exit } /^[^ ]/ { nr = 0 } /^[0-9]\. / { nr = 1; first = $0; next }
			nr && ++nr > 2 { print first; is_long = 1 } END { exit !is_long }'); then
		echo "golden: $input has a finding of more than two lines: $long"
		failed=$((failed + 1))
	else
		passed=$((passed + 1))
	fi
done
# What 2.0 renamed changes nothing of what is printed.
for name in small ops python worker; do
	for command in "--format json" "timeline -o -"; do
		"$report" $command v1/$name.gprof 2>&1 | sed 's,v1/,v2/,' >"$work/v1"
		"$report" $command v2/$name.gprof >"$work/v2" 2>&1
		if cmp "$work/v1" "$work/v2"; then
			passed=$((passed + 1))
		else
			echo "golden: $command of $name differs between v1 and v2"
			failed=$((failed + 1))
		fi
	done
done
# Of other profilers: PyTorch's before Kineto, and Ascend's.
for trace in traces/*.json; do
	golden "$trace.first" "$report" "$trace"
	golden "$trace.tables" "$report" --wide --detail=all --view steps,breakdown,operator,kernel,memcpy,api,python,losses,notices "$trace"
done
golden v2/cpu.tables "$report" --view cpu,cpu-threads --wide --all v2/cpu.gprof
golden v2/cpu.chains "$report" sql --wide --format csv "SELECT c.symbol, c.module, c.stackDepth, count(*) FROM COMPOSITE_EVENTS e JOIN SAMPLING_CALLCHAINS c USING (id) GROUP BY 1, 2, 3" v2/cpu.gprof
golden v2/cpu_python.tables "$report" --view cpu-lines,cpu,cpu-threads --wide --all v2/cpu_python.gprof
golden v2/cpu_python.json "$report" --view cpu-lines,cpu,cpu-threads --format json v2/cpu_python.gprof
golden v2/cpu_python.first "$report" v2/cpu_python.gprof
golden v2/cpu.json "$report" --view cpu,cpu-threads --format json v2/cpu.gprof
small=v1/small.gprof
golden small.info "$report" info $small
golden small.json "$report" --format json $small
golden small.advice "$report" --view advice --all --format json $small
golden small.csv "$report" --format csv --view kernel,api,memcpy,memset,sync,nvtx $small
golden small.markdown "$report" --format markdown --view $tables $small
golden ops.markdown "$report" --format markdown v1/ops.gprof
golden ops.at-step "$report" --view memory-blocks --at step=1 v1/ops.gprof
golden ops.at-time "$report" --view memory-blocks --at 1.645ms v1/ops.gprof
golden ops.at-none "$report" --view memory-blocks --at step=9 v1/ops.gprof
golden ops.at-bad "$report" --view memory-blocks --at soon v1/ops.gprof
golden small.nvprof "$report" --style nvprof $small
golden small.nvprof.csv "$report" --style nvprof --format csv $small
golden small.nvprof.traces "$report" --style nvprof --view gpu-trace,api-trace $small
golden small.nvprof.traces.csv "$report" --style nvprof --view gpu-trace,api-trace --format csv $small
golden small.nsys "$report" --style nsys $small
# Tables take the events that views have kept for them, also where a report is named twice.
golden small.nsys.twice "$report" --report cuda_gpu_trace,cuda_api_trace,cuda_gpu_trace,cuda_api_trace $small
golden small.nsys.csv "$report" --style nsys --format csv $small
golden small.reports "$report" --report cuda_gpu_trace,cuda_api_trace,cuda_kern_exec_sum:base,cuda_kern_exec_trace $small
golden small.ranges "$report" --report nvtx_pushpop_trace,nvtx_kern_sum,nvtx_gpu_proj_sum --format json $small
golden small.traces "$report" --view gpu-trace,api-trace --wide --sort duration $small
golden small.rules "$report" --report cuda_memcpy_sync,cuda_api_sync,gpu_gaps,gpu_time_util $small
golden small.reports.ms "$report" --report cuda_gpu_sum,cuda_api_trace --unit ms $small
golden bad.report "$report" --report cuda_api_sum:base $small
golden small.mangled "$report" --mangled --sort calls --top 1 --unit us --view kernel,api $small
golden small.timeline "$report" timeline -o - $small
ops=v1/ops.gprof
golden ops.views "$report" --view steps,user-ranges,memory,benchmark,data-loading,utilization $ops
golden ops.detail "$report" --view operator --detail --per-thread --format csv $ops
golden ops.torch "$report" --style torch --detail $ops
golden ops.paddle "$report" --style paddle $ops
golden ops.paddle.old "$report" --style paddle --view framework --detail=op --per-thread $ops
golden ops.levels "$report" --view overview,operator,framework,memops --detail=all --format json $ops
golden ops.json "$report" --format json $ops
golden ops.advice "$report" --view advice --all --format json $ops
golden ops.timeline "$report" timeline -o - $ops
python=v1/python.gprof
nested=v2/nested.gprof
golden v2/nested.api "$report" --view api,api-trace,kernel --format csv $nested
golden v2/nested.nvprof "$report" --style nvprof $nested
golden v2/nested.timeline "$report" timeline -o - $nested
# Calls that are only counted; streams and events that only handles name.
for name in gc gc_rare; do
	golden v2/$name.views "$report" --wide --top 3 --view headline,gc,budget,breakdown,advice,idle-gaps,critical-path v2/$name.gprof
	golden v2/$name.sql "$report" sql --format csv "SELECT generation, count(*), sum(dur_ns), sum(collected), sum(uncollectable), min(step), max(step) FROM py_gc GROUP BY 1" v2/$name.gprof
done
golden v2/inside.views "$report" --wide --view communication,arrivals,nccl-channels v2/inside0.gprof v2/inside1.gprof
golden v2/inside.sql "$report" sql --format csv "SELECT o.rank, o.op, o.kind, o.algorithm, o.channels, count(*), sum(gpu_ns), sum(c.own_gpu_ns), sum(c.data_ns) FROM nccl_op o JOIN nccl_channel c ON c.op = o.op AND c.process = o.process GROUP BY 1, 2" v2/inside0.gprof v2/inside1.gprof
golden v2/network.views "$report" --wide --view nccl-network v2/network.gprof
golden v2/network.json "$report" --view nccl-network --format json v2/network.gprof
golden v2/network.sql "$report" sql --format csv "SELECT comm, network, device, what, count(*), sum(requests), sum(bytes), sum(busy_ns), min(least_ns), max(most_ns) FROM nccl_net GROUP BY 1, 2, 3, 4" v2/network.gprof
golden v2/measured.views "$report" --wide --view headline,findings,budget,communication,arrivals,distributed,nccl-channels v2/measured.gprof
golden v2/measured_network.views "$report" --view headline,findings,budget v2/measured_network.gprof
golden v2/measured_early.views "$report" --view headline,findings,stragglers,budget v2/measured_early.gprof
"$report" reduce -o "$work/measured.sum" v2/measured.gprof 2>/dev/null
golden v2/measured.sum "$report" "$work/measured.sum"
golden v2/cpu-wait.views "$report" --view headline,findings,cpu-waits,budget v2/cpu-wait.gprof
golden v2/cpu-wait.json "$report" --view findings,cpu-waits --format json v2/cpu-wait.gprof
golden v2/sched.views "$report" --wide --view headline,cpu-waits,off-cpu,findings v2/sched.gprof
golden v2/sched.json "$report" --view cpu-waits --format json --steps 20-29 v2/sched.gprof
golden v2/sched.sql "$report" sql --format csv "SELECT cpu, isSchedIn, globalTid & 0xffffff, threadState, count(*), min(start), max(start) FROM SCHED_EVENTS GROUP BY 1, 2, 3, 4" v2/sched.gprof
golden v2/sched.timeline "$report" timeline -o - v2/sched.gprof
"$report" export -o "$work/sched.sqlite" v2/sched.gprof >/dev/null 2>&1
states="SELECT task, name, cpu, state, switches, count(*), sum(dur_ns), min(start_ns), max(start_ns) FROM thread_state GROUP BY 1, 2, 3, 4, 5"
golden v2/sched.states "$report" sql --format csv "$states" v2/sched.gprof
golden v2/sched.states "$report" sql --format csv "$states" "$work/sched.sqlite"
golden v2/placement.views "$report" --wide --view headline,findings,advice,cpu-waits,device,data-loading,utilization v2/placement.gprof
golden v2/placement.json "$report" --view cpu-waits,device,data-loading --format json v2/placement.gprof
golden v2/placement.sql "$report" sql --format csv "SELECT cpu, cpu_khz, migrations, major_faults, known FROM thread_cpu UNION ALL SELECT metric, device, value, 0, 0 FROM sample" v2/placement.gprof
golden v2/wait.views "$report" --view headline,findings,wait-lines,budget v2/wait.gprof
golden v2/wait.json "$report" --view findings,wait-lines --format json v2/wait.gprof
golden v2/wait.sql "$report" sql --format csv "SELECT kind, syscall, object, python_stack, name, count(*), sum(ns), min(time_ns), min(step), max(step) FROM wait_sample GROUP BY 1, 2, 3, 4, 5" v2/wait.gprof
golden v2/gil.views "$report" --wide --top 3 --view headline,gil,gil-holders,locks,budget,breakdown,advice,idle-gaps v2/gil.gprof
golden v2/gil.json "$report" --view gil,gil-holders,findings --format json v2/gil.gprof
golden v2/gil.timeline "$report" timeline -o - v2/gil.gprof
"$report" reduce -o "$work/gil.sum" v2/gil.gprof 2>/dev/null
golden v2/gil.sum "$report" "$work/gil.sum"
golden v2/compiled.views "$report" --wide --view headline,compiled-kernels,kernel-operator,python v2/compiled.gprof
golden v2/compiled.steps "$report" --view compiled-kernels --steps 2-3 --format json v2/compiled.gprof
golden v2/compiled.timeline "$report" timeline -o - v2/compiled.gprof
golden v2/compiled.sql "$report" sql --format csv "SELECT file, line, name, operators, nodes, count(*) FROM compiled_call GROUP BY 1, 2, 3, 4, 5" v2/compiled.gprof
golden v2/compile.views "$report" --wide --view headline,compilations,budget,breakdown,advice,steps v2/compile.gprof
golden v2/compile.json "$report" --view compilations,findings --format json v2/compile.gprof
golden v2/compile_samples.views "$report" --view headline,compilations,budget,idle,findings,advice v2/compile_samples.gprof
golden v2/compile_samples.json "$report" --view compilations,findings --format json v2/compile_samples.gprof
"$report" reduce -o "$work/compile.sum" v2/compile.gprof 2>/dev/null
golden v2/compile.sum "$report" "$work/compile.sum"
golden v2/os.views "$report" --wide --top 4 --view headline,os-runtime,io,locks,budget,api,threads,idle-gaps v2/os.gprof
golden v2/os.chains "$report" sql --wide --format csv "SELECT n.value, c.stackDepth, s.value, m.value, c.originalIP, count(*) FROM OSRT_API o JOIN StringIds n ON n.id = o.nameId LEFT JOIN OSRT_CALLCHAINS c ON c.id = o.callchainId LEFT JOIN StringIds s ON s.id = c.symbol LEFT JOIN StringIds m ON m.id = c.module GROUP BY 1, 2 ORDER BY 1, 2" v2/os.gprof
golden v2/os.sql "$report" sql --format csv "SELECT step, start_ns, dur_ns, tid, name, result, returned, bytes, object, file, path FROM os_call WHERE step IS NULL OR step < 2 ORDER BY start_ns" v2/os.gprof
golden v2/stacks.views "$report" --wide --view headline,findings,budget v2/stacks.gprof
golden v2/stacks.flame "$report" flame -o - v2/stacks.gprof
golden v2/stacks.chains "$report" sql --wide --format csv "SELECT r.nameId, c.symbol, c.module, c.stackDepth, c.originalIP, count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME r LEFT JOIN CUDA_CALLCHAINS c ON c.id = r.callchainId GROUP BY r.nameId, r.callchainId, c.stackDepth" v2/stacks.gprof
golden v2/stacks.sql "$report" sql --wide --format csv "SELECT name, stack, count(*) FROM api_sync GROUP BY 2 UNION ALL SELECT name, stack, count(*) FROM api_copy GROUP BY 2 UNION ALL SELECT name, stack, count(*) FROM api_launch GROUP BY 2" v2/stacks.gprof
golden v2/os.timeline "$report" timeline -o - v2/os.gprof
golden v2/gc_rare.timeline "$report" timeline -o - v2/gc_rare.gprof

counted=v2/counted.gprof
golden v2/counted.path "$report" --wide --view critical-path,what-if $counted
golden v2/counted.nvprof "$report" --style nvprof $counted
golden v2/counted.nvprof-csv "$report" --style nvprof --format csv $counted
golden v2/counted.nsys "$report" --report cuda_api_sum $counted
golden v2/counted.steps "$report" --wide --view api --steps 1-3 $counted
# CUPTI has used up its 32 bits: each kernel is of its own launch, not of that 2^32 calls earlier.
wrapped=v2/wrapped.gprof
golden v2/wrapped.traces "$report" --wide --view gpu-trace,api-trace,launch-latency,critical-path --top 0 $wrapped
golden v2/wrapped.steps "$report" --view kernel --steps 2-3 $wrapped
golden v2/wrapped.timeline "$report" timeline -o - $wrapped
golden v2/wrapped.sql "$report" sql --format csv "SELECT k.correlation, k.step, k.start_ns - c.start_ns FROM kernel k JOIN api_launch c USING (process, correlation) ORDER BY 1" $wrapped
# Launches of CUDA graphs belong to the operators that captured them.
graph=v2/graph.gprof
golden v2/graph.views "$report" --wide --view graphs,graph-operators,operator,kernel-operator,user-ranges,module,python,single-operators,operator-stacks,roofline,bandwidth,launch-latency $graph
golden v2/graph.detail "$report" --wide --view operator,framework --detail $graph
golden v2/graph.steps "$report" --wide --view operator,kernel-operator,module,graphs --steps 2-3 $graph
golden v2/graph.torch "$report" --style torch $graph
golden v2/graph.sql "$report" sql --format csv "SELECT node, original, graph, kind FROM graph_node ORDER BY 1" $graph
# What launchers say makes one run of ranks on two hosts.
golden v2/launched.runs env TZ=UTC0 "$report" runs --wide v2/launched0.gprof v2/launched1.gprof
golden python.detail "$report" --view python --detail --format csv $python
golden python.singles "$report" --view single-operators,timeline-summary --format json $python
golden python.timeline "$report" timeline -o - $python
golden worker.info "$report" info v1/worker.gprof
golden worker.timeline "$report" timeline -o - v1/worker.gprof
golden nccl.both "$report" --view communication --format json v1/nccl0.gprof v1/nccl1.gprof
golden nccl.distributed "$report" --view distributed --format json v1/nccl0.gprof v1/nccl1.gprof
golden nccl.tensorboard "$report" --style tensorboard --view distributed --format csv v1/nccl0.gprof v1/nccl1.gprof
golden hang.views "$report" --view hang,missing-collectives --format json v1/stall.gprof
golden hang.frames "$report" --view hang --format json v1/stall_frames.gprof
golden nccl.over "$report" --view kernel,api --across-ranks --sort calls v1/nccl0.gprof v1/nccl1.gprof
# job.sum is of version 1, job2.sum of version 2 and so on; all but the last are never made anew. A summary that comes
# out otherwise than job7.sum is of another version, or of views that changed: then that is made anew.
"$report" reduce -o "$work/job7.sum" v1/nccl0.gprof v1/nccl1.gprof $ops $small v1/hostile.gprof 2>/dev/null
if [ -n "$ACCEPT" ]; then
	cp "$work/job7.sum" v1/job7.sum
fi
if cmp v1/job7.sum "$work/job7.sum"; then
	passed=$((passed + 1))
else
	failed=$((failed + 1))
fi
golden sum7.text "$report" --wide --top 5 v1/job7.sum
golden sum6.text "$report" --wide --top 5 v1/job6.sum
golden sum5.text "$report" --wide --top 5 v1/job5.sum
golden sum4.text "$report" --wide --top 5 v1/job4.sum
# Launches without activities: their process has no idle time.
golden lost.reduce "$report" reduce -o "$work/lost.sum" v1/bad_missing.gprof
golden lost.sum "$report" "$work/lost.sum"
golden sum3.text "$report" --wide --top 5 v1/job3.sum
golden sum.text "$report" --wide v1/job.sum
golden sum.json "$report" --format json v1/job.sum
golden sum.steps "$report" --format csv --view steps --detail v1/job.sum
golden sum2.text "$report" --wide --top 5 v1/job2.sum
golden sum2.json "$report" --format json --view breakdown,memory,communication,distributed v1/job2.sum
golden sum2.over "$report" --across-ranks --view breakdown,communication,kernel,steps v1/job2.sum
golden both.pid "$report" --pid 1 $small
golden bad.view "$report" --view nothing $small
golden bad.view.close "$report" --view kernel,memcopy $small
golden bad.style "$report" --style nvproff $small
golden bad.sort "$report" --sort nothing $small
golden bad.path "$report" v1/not-there.gprof
golden dir "$report" --view losses,notices --run all v1

for file in small.json small.timeline ops.json ops.timeline python.timeline worker.timeline; do
	sed '/^status\|^stderr/d' "v1/$file.out" >"$work/$file"
done
if command -v python3 >/dev/null; then
	for file in small.json small.timeline ops.json ops.timeline python.timeline worker.timeline; do
		if python3 -m json.tool "$work/$file" >/dev/null; then
			passed=$((passed + 1))
		else
			echo "golden: $file is not JSON"
			failed=$((failed + 1))
		fi
	done
else
	echo "golden: SKIP 6 checks with a JSON parser: no python3"
fi
echo "golden: $passed passed, $failed failed"
[ $failed -eq 0 ]
