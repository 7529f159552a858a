#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Samples of GPUs through NVML: of those that the process uses, and what NVML does not tell is said.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
[[ $B != *san-thread ]] || skip "ThreadSanitizer does not support threads after a fork with threads"
export GPROF_SAMPLE_MS=50 SIM_DEVICES=16

# run ARGUMENTS...: s_sample; its child is of no interest here.
run_ms=800
run()
{
	rm -rf "$GPROF_DIR"
	record "$B/integ/s_sample" "$run_ms" "$@"
	is 0 "$rc" "exit status"
	is "child 3" "$(cat "$T/out")" "output"
	summary notices
}

# samples: their number in the stream that has most, which is the parent's.
samples()
{
	local stream
	for stream in "$GPROF_DIR"/*.gprof; do
		"$REPORT" info "$stream" | awk '$1 == "sample" {n += $3} END {print n + 0}'
	done | sort -n | tail -1
}

# notices CAUSE: how many, and the texts.
notices()
{
	query "[.notices.rows[] | select(.cause == \"$1\")] | length"
}

texts()
{
	query "[.notices.rows[] | select(.cause == \"$1\").text] | join(\"; \")"
}

# A machine so busy that gprof looks at GPUs less than four times in a run gives all runs more time.
for run_ms in 800 3200 12800; do
	SIM_NVML=costly run 0
	looks=$("$REPORT" sql "SELECT count(*) FROM sample s JOIN StringIds n ON n.id = s.metric WHERE n.value = 'gpu_power_mw'" --format csv "$GPROF_DIR" 2>/dev/null | tail -1)
	[ "$looks" -lt 4 ] || break
done
one=$(samples)
for cause in "no NVML" "NVML refused" MIG MPS; do
	is 0 "$(notices "$cause")" "notices of $cause"
done
ok grep -q '^  gpu 0 .*, PCIe 5 x16$' <<<"$("$REPORT" info "$GPROF_DIR" 2>/dev/null)"
# The readings are those of NVML, which has some that stay: WHAT and the value, in its unit.
summary utilization
for reading in "SM clock=1980" "memory clock=3201" "memory in use=1.049" "throttled=0"; do
	what=${reading%=*} value=${reading#*=}
	is "$value $value" "$(query ".utilization.rows[] | select(.device == \"GPU 0\" and .metric == \"$what\") |
		\"\(.min) \(.max)\"")" "$what"
done
# These move together: power from 75 W by 5 W, temperature from 35 C by a third.
for what in "busy, sampled" "memory busy" power temperature; do
	is true "$(query "[.utilization.rows[] | select(.device == \"GPU 0\" and .metric == \"$what\")] |
		length == 1 and .[0].samples > 0")" "$what"
done
is true "$(query '[.utilization.rows[] | select(.device == "GPU 0")] | map({(.metric): .max}) | add |
	(.power - 75 - 5 * ."busy, sampled" | fabs) < 5.1 and (.temperature - 35 - (."busy, sampled" / 3 | floor) | fabs) < 1.1')" "the wave"
# Hardware counters: means over 0.15 s or more, whose rates are constant here.
for reading in "SM active=62.5" "SM occupancy=31.25" "tensor cores active=12.5" "memory bandwidth=43.75" \
	"FP64 units active=0" "FP32 units active=8" "FP16 units active=2" "PCIe, sent=0.105" "PCIe, received=2.097" \
	"NVLink, sent=0.268" "NVLink, received=0.537"; do
	what=${reading%=*} value=${reading#*=}
	is true "$(query ".utilization.rows[] | select(.device == \"GPU 0\" and .metric == \"$what\") |
		(.min - $value | fabs) < 0.001 and (.max - $value | fabs) < 0.001 and .samples > 0")" "$what"
done
is true "$(query '.utilization.rows[] | select(.metric == "power, by energy") | .avg > 200 and .avg < 450')" "power by the energy counter"
means=$("$REPORT" sql "SELECT count(*), min(s.value) >= 150000000 FROM sample s JOIN StringIds n ON n.id = s.metric WHERE n.value = 'gpu_means_ns'" --format csv "$GPROF_DIR" 2>/dev/null | tail -1)
is 1 "${means#*,}" "time between two looks at the counters"
ok test "${means%,*}" -ge 2
# What NVML costs at first keeps no readings off: there would be one in seconds, else.
ok test "$(query '.utilization.rows[] | select(.device == "GPU 0" and .metric == "busy, sampled").samples')" -gt 3
# Of both processes: memory, threads, waits, CPU.
for what in "memory, resident" threads waits preemptions "CPU(Process)"; do
	is 2 "$(query "[.utilization.rows[] | select(.metric == \"$what\" and .samples > 0)] | map(.pid) | unique | length")" "$what"
done

# With 12 GPUs a round has 96 samples more, or 8 with one: on a busy machine too that is seen.
many="0 2 3 4 5 6 7 8 9 10 12 15"
# shellcheck disable=SC2086
run $many
all=$(samples)
ok test "$all" -gt "$one"
SIM_NVML=nvmlInit_v2:9 run 0
none=$(samples)
is 1 "$(notices "NVML refused")" "notices where NVML does not begin"
ok test "$all" -gt $((2 * none))
SIM_NVML=nvmlDeviceGetHandleByUUID:6 run 0
is 1 "$(notices "NVML refused")" "notices where NVML does not know the GPU"

SIM_NVML=slow run 0
summary utilization
is 100 "$(query '.utilization.rows[] | select(.metric == "throttled").min')" "throttled"
case $(query .utilization.note) in
*"GPU 0 was throttled: power cap"*) ;;
*) is "GPU 0 was throttled: power cap" "$(query .utilization.note)" "why it is throttled" ;;
esac
# What is refused is refused once for each GPU, and the rest is there.
SIM_NVML=nvmlDeviceGetPowerUsage:3,nvmlDeviceGetTemperature:4 run 0 2
is 4 "$(notices "NVML refused")" "notices of refused readings"
case $(texts "NVML refused") in
*"GPU 0: NVML does not report its power"*"GPU 2: NVML does not report its temperature"*) ;;
*) is "GPU 0's power ... GPU 2's temperature" "$(texts "NVML refused")" "what is refused" ;;
esac
ok test "$(samples)" -gt 0
# The link to the host need not be known to anybody.
SIM_NVML=nvmlDeviceGetMaxPcieLinkWidth:3 run 0
is 0 "$(notices "NVML refused")" "notices where NVML does not tell the link"
ok test "$("$REPORT" info "$GPROF_DIR" 2>/dev/null | grep -c PCIe)" = 0
SIM_NVML=mig,mps run 0 2
is 2 "$(notices MIG)" "notices of divided GPUs"
is 2 "$(notices MPS)" "notices of shared GPUs"

# counters: the samples of the hardware's counters.
counters()
{
	"$REPORT" sql "SELECT count(*) FROM sample s JOIN StringIds n ON n.id = s.metric WHERE n.value LIKE 'gpu_sm_active%'" --format csv "$GPROF_DIR" 2>/dev/null | tail -1
}

SIM_NVML=part run 0
ok test "$(counters)" -ge 2
is 1 "$(notices MIG)" "notices of a part of a GPU"
case $(texts MIG) in
*"GPU 0 is a MIG instance"*) ;;
*) is "GPU 0 is a MIG instance" "$(texts MIG)" "what it is" ;;
esac

# Where there are no counters, or they are not wanted, nothing is said; where NVML refuses them, that is.
SIM_NVML=old run 0
is "0 0" "$(counters) $(notices "NVML refused")" "counters and notices of an older GPU"
GPROF_METRICS=off run 0
is "0 0" "$(counters) $(notices "NVML refused")" "counters and notices with GPROF_METRICS=off"
SIM_NVML=nvmlGpmSampleGet:4 run 0
is "0 1" "$(counters) $(notices "NVML refused")" "counters and notices without permission"
case $(texts "NVML refused") in
*"hardware counters"*"NVreg_RestrictProfilingToAdminUsers"*) ;;
*) is "the counters ..." "$(texts "NVML refused")" "why there are no counters" ;;
esac
SIM_NVML=nvmlGpmMetricsGet:999 run 0
is "0 1" "$(counters) $(notices "NVML refused")" "counters and notices where NVML fails later"

# More GPUs than can be sampled: all have facts, and a notice says which are not sampled.
SIM_DEVICES=70 run 0
is 1 "$(notices "many GPUs")" "notices of too many GPUs"
is "the process sees 70 GPUs; the first 64 can be sampled, the others are not" "$(texts "many GPUs")" "the notice"
is 70 "$("$REPORT" info "$GPROF_DIR" 2>/dev/null | awk '/^  gpu .* multiprocessors/ { print $2 }' | sort -u | wc -l)" "GPUs with facts"
ok test "$(samples)" -gt 0

# Without the library everything else is sampled.
mkdir "$T/sim"
cp -a "$SIM"/. "$T/sim"
rm "$T/sim"/libnvidia-ml*
SIM=$T/sim run 0
is 1 "$(notices "no NVML")" "notices where there is no NVML"
ok test "$(samples)" -gt 0
GPROF_SAMPLE_MS=0 SIM=$T/sim run 0
is 0 "$(notices "no NVML")" "notices where nothing is sampled"
finish
