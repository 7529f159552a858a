#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CUPTI's PM sampling: what is planted in the counters of a simulated GPU is found in kernels and steps; each refusal
# has its notice, and the program never notices.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
[[ $B != *san-thread ]] || skip "ThreadSanitizer does not support threads after a fork with threads"
export GPROF_CPU_HZ=0 GPROF_METRICS=pm SIM_PM=matmul:60

# run ARGUMENTS...: s_counters, which must not notice.
run()
{
	rm -rf "$GPROF_DIR"
	record "$B/integ/s_counters" "$@"
	is 0 "$rc" "exit status: $what"
	is "done" "$(tail -1 "$T/out")" "output: $what"
	is "" "$(grep simulated "$T/err")" "CUPTI's rules: $what"
	summary utilization,utilization-kernels,kernel,notices,losses
}

sql() { "$REPORT" sql "$1" --format csv "$GPROF_DIR" 2>/dev/null | tail -n +2; }

# Samples of counters that are at most a millisecond long: CUPTI's.
short() { sql "SELECT count(*) FROM sample s JOIN StringIds n ON n.id = s.metric WHERE n.value = 'gpu_means_ns' AND s.value < 1000000"; }

# kernel NAME COLUMN
kernel() { query ".utilization_kernels.rows[] | select(.name | startswith(\"$1\")) | .$2"; }

texts() { query '[.notices.rows[].text] | join("; ")'; }

# ---- what is planted ----

what=pm
run 8 wait=0
is 0 "$(query '[.notices.rows[], .losses.rows[]] | length')" "notices and losses: $(texts)"
is "8 8 160" "$(kernel matmul calls) $(kernel elementwise calls) $(kernel tiny calls)" "kernels"
is "true true" "$(query '.utilization_kernels.rows | map({(.name[0:4]): .}) | add |
	"\(.matm.tensor_active_pct | . > 59.9 and . < 60.1) \(.elem.tensor_active_pct < 0.1)"')" "tensor cores in each kernel"
for name in matmul elementwise; do
	is "100 true 40" "$(query ".utilization_kernels.rows[] | select(.name | startswith(\"$name\")) |
		\"\(.sm_active_pct | round) \(.sampled_pct > 50) \(.bandwidth_read_pct | round)\"")" "counters of $name"
done
# Kernels of microseconds have no sample, which is no 0 %.
is "0 null null" "$(kernel tiny sampled_pct) $(kernel tiny tensor_active_pct) $(kernel tiny sm_active_pct)" "a short kernel"
case $(query '[.utilization_kernels.notes[]?, .utilization_kernels.note?] | tostring') in
*"160 of 176 kernels are not sampled"*) ;;
*) is "160 of 176 kernels are not sampled" "$(query .utilization_kernels)" "the note" ;;
esac
# All that tensor cores did is in the samples: 60 % of the time of matmul, by CUPTI's records of it. The second witness.
integral=$(sql "SELECT sum(v.value * l.value) / 1e5 FROM sample v JOIN StringIds n ON n.id = v.metric AND n.value = 'gpu_tensor_milli_percent'
	JOIN sample l ON l.time_ns = v.time_ns AND l.device = v.device JOIN StringIds m ON m.id = l.metric AND m.value = 'gpu_means_ns'")
is true "$(query "(.kernel.rows[] | select(.name | startswith(\"matmul\")).total_ns) as \$ns | ($integral / \$ns) | . > 0.58 and . < 0.62")" \
	"share of tensor cores in the time of matmul: $integral"
# The same in each step but the first, with one matmul and its end between two samples.
is "7 true" "$(sql "WITH t AS (SELECT v.time_ns, v.value * l.value / 1e5 AS ns FROM sample v JOIN StringIds n ON n.id = v.metric AND
	n.value = 'gpu_tensor_milli_percent' JOIN sample l ON l.time_ns = v.time_ns AND l.device = v.device
	JOIN StringIds m ON m.id = l.metric AND m.value = 'gpu_means_ns'),
	k AS (SELECT k.start AS begin, k.end FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds n ON n.id = k.shortName WHERE n.value LIKE 'matmul%'),
	s AS (SELECT a.step, a.time_ns AS begin, b.time_ns AS finish FROM step a JOIN step b ON b.step = a.step + 1 WHERE a.step > 0)
	SELECT count(*), min(abs(share - 0.6) < 0.09) FROM (SELECT s.step, (SELECT sum(t.ns) FROM t WHERE t.time_ns > s.begin AND t.time_ns <= s.finish) /
	(SELECT sum(k.end - k.begin) FROM k WHERE k.begin >= s.begin AND k.end <= s.finish) AS share FROM s)" | sed 's/,1/ true/')" "share of tensor cores in each step"
is "100000 100000" "$(sql "SELECT min(s.value), max(s.value) FROM sample s JOIN StringIds n ON n.id = s.metric WHERE n.value = 'gpu_means_ns' AND s.value < 1000000" | tr , ' ')" "interval"
is 0 "$(sql "SELECT count(*) FROM sample s JOIN StringIds n ON n.id = s.metric JOIN (SELECT min(time_ns) AS first, max(time_ns) AS last FROM sample s
	JOIN StringIds n ON n.id = s.metric WHERE n.value = 'gpu_means_ns' AND s.value < 1000000) ON s.time_ns > first AND s.time_ns < last
	WHERE n.value = 'gpu_means_ns' AND s.value > 1000000")" "NVML's counters beside CUPTI's"

# ---- by operator, phase and step ----

what=operators
LD_LIBRARY_PATH=$ROOT/$B/torch/GOOD GPROF_TORCH=ops run 8 wait=0 operators
summary utilization-kernels,utilization-operators,utilization-phases,utilization-steps,kernel,kernel-operator
is "3 3 3 8" "$(query '[.utilization_kernels, .utilization_operators, .utilization_phases, .utilization_steps | .rows | length] | join(" ")')" "rows"
is "60 0 null" "$(query '.utilization_operators.rows | map({(.name): (.tensor_active_pct | if . then round else . end)}) | add |
	"\(."aten::mm") \(."aten::mul") \(."Optimizer.step#SGD.step")"')" "tensor cores by operator"
is "60 0 null" "$(query '.utilization_phases.rows | map({(.phase): (.tensor_active_pct | if . then round else . end)}) | add |
	"\(.Forward) \(.Backward) \(.Optimization)"')" "tensor cores by phase"
# Measured beside estimated, with the same samples: by name, and by operator.
for view in kernel kernel_operator; do
	is true "$(query "([.$view.rows[] | {name: .name[0:4], of: [.measured_tensor_pct, .measured_occupancy_pct, .sampled_pct]}] | sort) ==
		([.utilization_kernels.rows[] | {name: .name[0:4], of: [.tensor_active_pct, .achieved_occupancy_pct, .sampled_pct]}] | sort)")" "measured in $view"
done
# The second witness: all of it again from the tables.
is "" "$(python3 "$ROOT/test/integ/counters.py" "$REPORT" "$GPROF_DIR" "$T/json" 2>&1)" "computed from the tables"
# A selection of steps has the samples of these alone.
summary utilization-kernels,utilization-steps --steps 3-4
is "2 2 3,4" "$(kernel matmul calls) $(query '.utilization_steps.rows | "\(length) \(map(.step) | join(","))"')" "selected steps"

# ---- settings ----

what="off by default"
GPROF_METRICS=default run 3
is 0 "$(short)" "samples of CUPTI by default"
what="two names, 50 us"
GPROF_METRICS=sm__cycles_active,nvlrx__bytes GPROF_METRICS_US=50 run 3 wait=0
is "100 null" "$(kernel matmul sm_active_pct | cut -c1-3) $(kernel matmul tensor_active_pct)" "only what is named"
is 50000 "$(sql "SELECT max(s.value) FROM sample s JOIN StringIds n ON n.id = s.metric WHERE n.value = 'gpu_means_ns' AND s.value < 1000000")" "interval of 50 us"
what="a wrong name"
GPROF_METRICS=sm__cycles run 1
is 0 "$(short)" "samples of a metric that does not exist"
ok grep -q 'GPROF_METRICS=sm__cycles' "$T/err"
what="a window"
GPROF_SCHEDULE=20-80 run 100 wait=21
is "60 100" "$(kernel matmul calls) $(kernel matmul sm_active_pct | cut -c1-3)" "kernels in the window"
is 0 "$(query '[.losses.rows[]] | length')" "losses of a window"
what="GA100 counts clocks"
SIM_PM=chip:GA100,matmul:60 run 20 wait=0
ok test "$(short)" -gt 100

# ---- refusals ----

# refused SETTING TEXT: one notice with that text, and no samples of CUPTI.
refused()
{
	what=$1
	SIM_PM=$1 run "$steps" wait=0
	is "0 1" "$(short) $(query '[.notices.rows[] | select(.cause == "PM sampling refused")] | length')" "samples and notices: $what"
	case $(texts) in
	*"$2"*) ;;
	*) is "$2" "$(texts)" "notice: $what" ;;
	esac
	ok test "$(query '[.kernel.rows[].calls] | add')" -ge $((22 * steps))
}

steps=10
refused cuptiProfilerInitialize:999 "libnvperf_host.so and libnvperf_target.so must be beside libcupti"
refused cuptiPmSamplingGetCounterAvailability:35 "NVreg_RestrictProfilingToAdminUsers=0"
refused cuptiPmSamplingEnable:26 "dcgmi prof --pause"
refused cuptiPmSamplingEnable:33 "the GPU is virtualised"
refused cuptiPmSamplingEnable:41 "confidential-compute mode"
refused cuptiPmSamplingEnable:43 "MIG instances"
refused cuptiPmSamplingSetConfig:1 "cuptiPmSamplingSetConfig"
refused cuptiProfilerHostInitialize:46 "cannot sample this GPU"
steps=300 refused far "of another clock"
refused cuptiPmSamplingStart:9 "cuptiPmSamplingStart"
what="CUPTI too old"
SIM_CUPTI=12.4 run 300
case $(texts) in
*"since CUDA 12.6"*) ;;
*) is "CUPTI is too old ..." "$(texts)" "notice: $what" ;;
esac

# Some are left out, the others are sampled.
what="a metric that the GPU lacks"
SIM_PM=lacks:dram__,matmul:60 run 3 wait=0
is "60 null" "$(kernel matmul tensor_active_pct | cut -c1-2) $(kernel matmul bandwidth_pct)" "$what"
case $(texts) in
*"not sampled: dram__throughput, dram__read_throughput, dram__write_throughput (CUPTI does not know"*) ;;
*) is "three metrics" "$(texts)" "notice: $what" ;;
esac
what="more than one pass"
SIM_PM=passes:2,matmul:60 run 3 wait=0
is "100 null" "$(kernel matmul sm_active_pct | cut -c1-3) $(kernel matmul tensor_active_pct)" "$what"
case $(texts) in
*"do not fit in one pass"*) ;;
*) is "do not fit in one pass" "$(texts)" "notice: $what" ;;
esac
what="the clock falls"
SIM_NVML=falls run 300 wait=0
case $(texts) in
*"the SM clock fell from "*) ;;
*) is "the SM clock fell" "$(texts)" "notice: $what" ;;
esac

# The buffer of the hardware is too small: what is missing is counted, and it goes on.
what="overflow"
SIM_PM=room:50,matmul:60 run 30 wait=0
ok test "$(query '[.losses.rows[] | select(.cause | contains("hardware counters")).count] | add // 0')" -gt 50
ok test "$(short)" -gt 50

# ---- others ----

what=fork
run 8 wait=0 fork
is "child 5" "$(grep child "$T/out")" "the child"
is "8 60" "$(kernel matmul calls) $(kernel matmul tensor_active_pct | cut -c1-2)" "$what"
what="a client that profiles"
run 8 wait=0 profile
is "initialize 0 enable 0 disable 0" "$(head -3 "$T/out" | paste -sd' ')" "what CUPTI answers to it"
case $(texts) in
*"another CUPTI client of the process profiles counters"*) ;;
*) is "another client ..." "$(texts)" "notice: $what" ;;
esac
ok test "$(short)" -gt 20
export SIM_KERNEL_NS=200000
for with in "" "subscribe sessions=2" "finalize sessions=2"; do
	# shellcheck disable=SC2086
	plain "$B/integ/s_second_client" $with sleep=50
	rm -rf "$GPROF_DIR"
	# shellcheck disable=SC2086
	record "$B/integ/s_second_client" $with sleep=50
	is "$(cat "$T/plain.out")" "$(cat "$T/out")" "another client: $with"
	is "" "$(grep simulated "$T/err")" "CUPTI's rules with another client: $with"
done
finish
