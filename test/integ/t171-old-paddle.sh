#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The report of Paddle's old profiler (paddle.fluid.profiler), each of its features: a line of TAP each. Figures are
# those of a trace that is written here and added up by hand, of simulated CUDA, and of a library that plays Paddle's.
# shellcheck disable=SC2317 # functions that tap calls
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
# shellcheck source=test/tap.sh
. test/tap.sh
version=old-paddle
n=0 bad=0

# ---- a trace: times in us ----

# event CATEGORY NAME BEGIN DURATION THREAD [CORRELATION]
event()
{
	local device=0
	[ "$5" -ge 50 ] || device=1
	printf '{"ph":"X","cat":"%s","name":"%s","ts":%s,"dur":%s,"pid":%s,"tid":%s,"args":{"correlation":%s%s}},\n' \
		"$1" "$2" "$3" "$4" "$((device ? 0 : 7))" "$5" "${6:-0}" \
		"$( ((device)) && echo ',"device":0,"context":1,"stream":7,"bytes":1000')"
}

{
	echo '{"traceEvents":['
	# Own time 20, 80 in addmm, which launches 50.
	event cpu_op aten::linear 0 100 100
	event cpu_op aten::addmm 10 80 100
	event cuda_runtime cudaLaunchKernel 20 10 100 1
	event kernel gemm 40 50 7 1
	# Own time 20, 80 in copy_, which copies for 30 by a call of 40.
	event cpu_op aten::to 200 100 100
	event cpu_op aten::copy_ 210 80 100
	event cuda_runtime cudaMemcpyAsync 220 40 100 2
	event gpu_memcpy 'Memcpy HtoD (Pageable -> Device)' 270 30 7 2
	# Three calls: 20, 30 and 40, each launches 10.
	for i in 1 2 3; do
		event cpu_op aten::relu $((300 + 100 * i)) $((10 + 10 * i)) 100
		event cuda_runtime cudaLaunchKernel $((305 + 100 * i)) 5 100 $((2 + i))
		event kernel relu $((320 + 100 * i)) 10 7 $((2 + i))
	done
	# Another thread: 40, with a copy for 5 by a call of 20.
	event cpu_op aten::item 100 40 200
	event cuda_runtime cudaMemcpy 110 20 200 9
	event gpu_memcpy 'Memcpy DtoH (Device -> Pageable)' 112 5 7 9
	echo '{"ph":"M","name":"process_name","pid":7,"args":{"name":"python"}}]}'
} >"$T/trace.json"

# old [OPTION]...: the report of the trace, in us.
old() { "$REPORT" --style paddle --view framework --unit us "$@" "$T/trace.json"; }

# events [OPTION]...: the rows of the Event Summary, blanks as one, without what lies in others.
events() { old "$@" | sed -n '/^Event  /,/^$/p' | sed '1d;/^$/d;/^ /d;s/  */ /g;s/ $//'; }

# names [OPTION]...: their names, in their order.
names() { events "$@" | sed 's/ .*//' | paste -sd' '; }

# same WANT HAVE
same() { [ "$1" = "$2" ] || { echo "want '$1', have '$2'"; false; }; }

# line PATTERN [OPTION]...: the report has such a line.
line()
{
	local pattern=$1
	shift
	old "$@" | sed 's/  */ /g' | grep -qxE -- "$pattern" || { old "$@"; false; }
}

head_of_report()
{
	line 'Place: All' && line 'Time unit: us' && line 'Sorted by total time in descending order in the same thread'
}

overhead()
{
	line 'Total time: 445 ?' && line ' Computation time Total: 405 Ratio: 91.0112%' &&
		line ' Framework overhead Total: 40 Ratio: 8.98876%'
}

copies()
{
	line 'GpuMemcpy Calls: 2 Total: 95 Ratio: 21.3483%' &&
		line ' GpuMemcpyAsync Calls: 1 Total: 70 Ratio: 15.7303%' &&
		line ' GpuMemcpySync Calls: 1 Total: 25 Ratio: 5.61798%'
}

columns()
{
	line 'Event Calls Total CPU Time \(Ratio\) GPU Time \(Ratio\) Min\. Max\. Ave\. Ratio\.' &&
		same "aten::relu 3 120 90.000000 (0.750000) 30.000000 (0.250000) 30 50 40 0.269663" "$(events | grep relu)"
}

nesting()
{
	line ' GpuMemcpyAsync:CPU->GPU 1 70 40.000000 \(0.571429\) 30.000000 \(0.428571\) 70 70 70 0.157303' &&
		line ' GpuMemcpySync:GPU->CPU 1 25 20.000000 \(0.800000\) 5.000000 \(0.200000\) 25 25 25 0.0561798'
}

# sorted KEY WANTED WORDS
sorted() { same "$2" "$(names --sort "$1")" && line "Sorted by $3 in descending order in the same thread" --sort "$1"; }

sorts()
{
	sorted total "aten::linear aten::to aten::relu aten::item" "total time" &&
		sorted max "aten::linear aten::to aten::relu aten::item" "maximum time" &&
		sorted min "aten::linear aten::to aten::item aten::relu" "minimum time" &&
		sorted ave "aten::linear aten::to aten::item aten::relu" "average time" &&
		same aten::relu "$(names --sort calls | cut -d' ' -f1)" &&
		line 'Sorted by number of calls in descending order in the same thread' --sort calls
}

# The overhead and the copies keep their order.
sections_stay() { same "$(old | sed -n '/Overhead/,/Event Summary/p')" "$(old --sort min | sed -n '/Overhead/,/Event Summary/p')"; }

threads()
{
	same "thread0::aten::linear thread0::aten::to thread0::aten::relu thread1::aten::item" "$(names --per-thread)" &&
		same "thread1::aten::item 1 45 40.000000 (0.888889) 5.000000 (0.111111) 45 45 45 1" \
			"$(events --per-thread | tail -1)" &&
		same "thread0::aten::relu thread1::aten::item" \
			"$(names --per-thread --sort calls | sed 's/ .* / /')" &&
		! line 'All threads merged\.' --per-thread >/dev/null && line 'All threads merged\.'
}

state_cpu()
{
	line 'Place: CPU' --state CPU && line 'Total time: 330 ?' --state cpu &&
		line 'Event Calls Total Min\. Max\. Ave\. Ratio\.' --state cpu &&
		same "aten::relu 3 90 20 40 30 0.272727" "$(events --state cpu | grep relu)"
}

state_gpu()
{
	line 'Place: CUDA' --state GPU && line 'Total time: 115 ?' --state gpu &&
		same "aten::linear 1 50 50 50 50 0.434783" "$(events --state gpu | head -1)"
}

state_other() { ! old --state both >"$T/o" 2>&1 && grep -q "choose one of all, cpu, gpu" "$T/o"; }

details()
{
	line ' aten::addmm 1 130 80.000000 \(0.615385\) 50.000000 \(0.384615\) 130 130 130 0.292135' --detail=op &&
		! line ' aten::addmm .*' >/dev/null
}

tap head_of_report "Profiling Report: place, unit and order"
tap overhead "Overhead Summary: total, computation, framework (PyTorch, by hand)"
tap line '.*Computation is estimated: .*' "Overhead Summary: an estimate is called one"
tap copies "GpuMemCpy Summary: calls, time, share; synchronous and not"
tap columns "Event Summary: columns and figures"
tap nesting "Event Summary: copies stand in their operator"
tap sorts "sorted_key: total, max, min, ave, calls"
tap sections_stay "sorted_key: only events are sorted"
tap threads "threads merged, and each by itself"
tap state_cpu "state CPU"
tap state_gpu "state GPU"
tap state_other "state: another word is refused"
tap details "tracer_option Default, OpDetail"

# ---- AllOpDetail and a second operator of a name: the reference stream of training steps ----

"$B/gen_stream" "$T/ops.gprof" ops
all_details()
{
	"$REPORT" --style paddle --view framework --detail=all "$T/ops.gprof" | sed 's/  */ /g' >"$T/o"
	grep -q '^ aten::mm0 3 ' "$T/o" && grep -q '^aten::mm 3 ' "$T/o" || { cat "$T/o" && false; }
}
tap all_details "tracer_option AllOpDetail: operators by their place in the step"

# ---- programs without a framework ----

record "$B/prog/vector_add"
summary framework,api,kernel,memcpy,memset
# Everything that was called, and what it launched; computation: launches and kernels.
plain_total()
{
	same "$(query '[.api.rows[], .kernel.rows[], .memcpy.rows[], .memset.rows[]] | map(.total_ns) | add')" \
		"$(query '.framework.rows[] | select(.name == "Total time").total_ns')"
}
plain_computation()
{
	same "$(query '([.api.rows[] | select(.name == "cudaLaunchKernel").total_ns] + [.kernel.rows[].total_ns]) | add')" \
		"$(query '.framework.rows[] | select(.name == "Computation time").total_ns')" &&
		same "$(query '[.framework.rows[] | select(.level == 1 and .section == "overhead").total_ns] | add')" \
			"$(query '.framework.rows[] | select(.name == "Total time").total_ns')"
}
plain_events() { same 8 "$(query '.framework.rows[] | select(.name == "vector_scale()").calls')"; }
tap plain_total "Overhead Summary: total of a CUDA program"
tap plain_computation "Overhead Summary: computation and overhead of a CUDA program"
tap plain_events "Event Summary: a CUDA program's events are named by kernels"
rm -rf "$GPROF_DIR"
GPROF_CUPTI=0 record "$B/prog/vector_add"
no_gpu()
{
	"$REPORT" --style paddle --view framework "$GPROF_DIR" 2>"$T/report.err" >"$T/o"
	grep -qx 'Place: CPU' "$T/o" && ! grep -q 'GPU Time' "$T/o" && ! grep -q 'Total: -' "$T/o" || { cat "$T/o"; false; }
}
tap no_gpu "Place: CPU where no GPU was recorded"

# ---- Paddle's stages, as it records them ----

if [ -x "$B/torch/fake_host" ] && [ -e "$B/paddle/TWO/libpaddle.so" ]; then
	rm -rf "$GPROF_DIR"
	record "$B/torch/fake_host" 3 "$PWD/$B/paddle/TWO/libpaddle.so"
	summary framework --detail=op
	stages()
	{
		same "$(query '[.framework.rows[] | select(.section == "event" and (.name | endswith("kernel launch"))).total_ns] | add')" \
			"$(query '.framework.rows[] | select(.name == "Computation time").total_ns')" &&
			same 3 "$(query '.framework.rows[] | select(.name == "matmul infer_meta").calls')"
	}
	tap stages "Overhead Summary: Paddle's compute stages are computation"
else
	n=$((n + 1))
	echo "ok $n - $version Overhead Summary: Paddle's compute stages # SKIP the libraries that play Paddle's are not built"
fi

# ---- start_profiler, stop_profiler, profile_path ----

rm -rf "$GPROF_DIR"
GPROF_STEP=nvtx:step GPROF_SCHEDULE='(2,8)' record "$B/integ/s_loop" 10 2 nvtx
summary steps,kernel
range() { same 12 "$(query '[.kernel.rows[].calls] | add')"; }
tap range "start_profiler at step 2, stop_profiler at step 8: six steps of two kernels"
timeline() { "$REPORT" timeline -o "$T/profile.json" "$GPROF_DIR" && jq -e '.traceEvents | length > 12' "$T/profile.json"; }
tap timeline "profile_path: a timeline"
exit $bad
