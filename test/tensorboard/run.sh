#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The views breakdown and gpu-use on real traces, against what the code of PyTorch's TensorBoard plugin
# (0.4.3) computes of them: averages of the steps in us, shares of GPUs in %, to the digits it prints.
# GPROF_TRACES is a folder with the traces; without it this is skipped.
set -u
cd "$(dirname "$0")/../.." || exit 1
report=${1:-${B:-build}/gprof-report}

if [ -z "${GPROF_TRACES:-}" ] || [ ! -r "$GPROF_TRACES/resnet50_nw0_v100.json.gz" ]; then
	echo "SKIP GPROF_TRACES names no folder with the traces"
	exit 77
fi
n=0 bad=0
trap 'rm -f "$rows" "$rows.json" "$rows.gprof"' EXIT
rows=$(mktemp) || exit 1

# load TRACE: "key value" of the average of its steps, or of all of it, and of its first GPU. The plugin leaves no step
# out, as we do not where steps are chosen.
load()
{
	local steps="--steps 0-"
	"$report" $steps --view steps --format csv "$GPROF_TRACES/$1.json.gz" 2>/dev/null | grep -q "^[0-9]" || steps=
	# In TensorBoard a GPU's use is also of the pauses between steps.
	# shellcheck disable=SC2086
	"$report" --style tensorboard --format csv --view overview $steps "$GPROF_TRACES/$1.json.gz" 2>/dev/null |
		awk -F, '/^[0-9]+,/ { print "utilization_pct", $5; print "sm_efficiency_pct", $6; exit }' >"$rows"
	# shellcheck disable=SC2086
	"$report" --format json --view breakdown,gpu-summary $steps --top 0 "$GPROF_TRACES/$1.json.gz" 2>/dev/null |
		sed -n -e '/"step": "\(average\|all\)"/p' -e '/"utilization_pct"/p' |
		grep -oE '"[a-z_]+": [0-9.]+' | tr -d '":' >>"$rows"
}

# is NAME WANTED TOLERANCE KEY[+KEY]...: times are compared in us
is()
{
	n=$((n + 1))
	if awk -v keys="$4" -v wanted="$2" -v tolerance="$3" '
		BEGIN { split(keys, list, "+"); for (i in list) { wants[list[i]] = 1; missing++ } }
		$1 in wants && !($1 in seen) { seen[$1] = 1; missing--; sum += $1 ~ /_ns$/ ? $2 / 1000 : $2 }
		END { off = sum - wanted; exit missing || (off < 0 ? -off : off) > tolerance + 1e-9 }' "$rows"; then
		echo "ok $n - $1 $4"
	else
		echo "not ok $n - $1 $4: not $2: $(tr '\n' ' ' <"$rows")"
		bad=1
	fi
}

device=kernel_ns+memcpy_ns+memset_ns+communication_ns
host=runtime_ns+dataloader_ns+cpu_exec_ns

# No communication, times in whole us: everything agrees. Of one launch that fits 22.5 % of the warps the
# profiler's float makes 22, and we 23; that is the 0.02 in the mean.
while read -r trace total kernel memcpy memset runtime loader cpu other util sm occupancy; do
	load "$trace"
	is "$trace" "$total" 0.05 total_ns
	is "$trace" "$kernel" 0.05 kernel_ns
	is "$trace" "$memcpy" 0.05 memcpy_ns
	is "$trace" "$memset" 0.05 memset_ns
	is "$trace" 0 0 communication_ns
	is "$trace" "$runtime" 0.05 runtime_ns
	is "$trace" "$loader" 0.05 dataloader_ns
	is "$trace" "$cpu" 0.05 cpu_exec_ns
	is "$trace" "$other" 0.05 other_ns
	is "$trace" "$util" 0.005 utilization_pct
	is "$trace" "$sm" 0.005 sm_efficiency_pct
	is "$trace" "$occupancy" 0.03 occupancy_pct
done <<'END'
resnet50_nw0_v100 177592.2 98588.7 1915.3 89.0 2907.5 59261.8 13674.2 1155.7 55.51 54.68 49.13
resnet50_nw4_v100 141068.0 99144.7 3159.8 97.7 10564.0 1186.2 22664.8 4250.8 70.27 69.22 48.91
END

# The plugin counts NCCL's kernels as Kernel, and as communication the operators nccl:* on the host: what the
# device, the host and nobody did agrees. Its occupancy is 0 above 48 KB of shared memory, which the A100's
# kernels have for 14 % of their time: 32.46 where it is 33.6. It also counts the calls of a thread that launches
# nothing (NCCL's, 310 in overlap_a100).
while read -r trace total on_device on_host other util sm occupancy; do
	load "$trace"
	is "$trace" "$total" 0.05 total_ns
	is "$trace" "$on_device" 0.15 $device
	is "$trace" "$on_host" 0.2 $host
	is "$trace" "$other" 0.25 other_ns
	is "$trace" "$util" 0.005 utilization_pct
	is "$trace" "$sm" 0.005 sm_efficiency_pct
	is "$trace" "$occupancy" 0.03 occupancy_pct
done <<'END'
ddp_v100_2ranks_rank1 347544.0 200122.6 136193.0 11228.4 56.27 34.12 31.95
overlap_a100_8ranks_rank3 77501.7 64764.5 12633.3 103.8 79.38 59.21 33.58
END

# Times in ns, absolute: the plugin's double keeps 0.25 us, some 6,000 times.
load fullqueue_v100
is fullqueue_v100 96703.6 0.15 total_ns
is fullqueue_v100 94492.4 2 $device
is fullqueue_v100 2038.1 2 $host
is fullqueue_v100 96.83 0.015 utilization_pct
is fullqueue_v100 94.92 0.005 sm_efficiency_pct
is fullqueue_v100 46.45 0.03 occupancy_pct

# No steps: the plugin's only one lasts from the host's first operator to its last, ours is all of the trace.
# 55 % of the kernels' time is above 48 KB: its occupancy is 12.69, and 28.5 without those kernels, while they
# fill the device least: 26.1 with them (whole percents of each launch: 26.0).
load eager_b200
is eager_b200 10793.6 0.05 kernel_ns+communication_ns
is eager_b200 802.8 0.05 memcpy_ns
is eager_b200 0 0 memset_ns
is eager_b200 26.07 0.1 occupancy_pct

# Whole pages, by the plugin itself where it is installed. In the DDP trace it finds no kernel's operator.
# shellcheck disable=SC2034 # what tap.sh says before each name
version=pages
# shellcheck source=test/tap.sh
. test/tap.sh
python=$(test/venvs.sh tensorboard torch-tb-profiler 2>/dev/null | head -1)
if [ -n "$python" ]; then
	tap "$python" test/tensorboard/pages.py "$report" "$GPROF_TRACES/resnet50_nw0_v100.json.gz" operator operator
	tap "$python" test/tensorboard/pages.py "$report" "$GPROF_TRACES/resnet50_nw0_v100.json.gz" kernel kernel
	tap "$python" test/tensorboard/pages.py "$report" "$GPROF_TRACES/ddp_v100_2ranks_rank1.json.gz" memory memory
	for name in resnet50_nw0_v100 ddp_v100_2ranks_rank1; do
		"$report" timeline -o "$rows.json" "$GPROF_TRACES/$name.json.gz" 2>/dev/null
		tap "$python" test/tensorboard/pages.py "$report" "$rows.json" loads "loads the timeline of $name"
	done
	# The plugin's own kernels and device times of operators, in a timeline made for it.
	for name in resnet50_nw0_v100 ddp_v100_2ranks_rank1; do
		"$report" timeline --compat tensorboard -o "$rows.json" "$GPROF_TRACES/$name.json.gz" 2>/dev/null
		tap "$python" test/tensorboard/pages.py "$report" "$rows.json" kernel "kernels of the timeline of $name"
	done
	"$report" timeline --compat tensorboard -o "$rows.json" "$GPROF_TRACES/resnet50_nw0_v100.json.gz" 2>/dev/null
	tap "$python" test/tensorboard/pages.py "$report" "$rows.json" operator "operators of the timeline of resnet50_nw0_v100"
	"${B:-build}/gen_stream" "$rows.gprof" ops && "$report" timeline -o "$rows.json" "$rows.gprof" 2>/dev/null
	tap "$python" test/tensorboard/pages.py "$report" "$rows.json" loads "loads the timeline of a stream"
else
	echo "ok $((n + 1)) - pages # SKIP no plugin; test/venvs.sh tensorboard torch-tb-profiler 0.4.3 installs it"
fi
exit $bad
