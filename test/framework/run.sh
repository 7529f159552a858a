#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Frameworks and libraries of PyPI, unmodified, on the simulator: they print and return what they do
# without us, and what can be seen of them is recorded. Each has a virtual environment of its own in
# build/framework; they are large, so only those are made that are named. Prints TAP.
#
#     test/framework/run.sh [NAME...]        names of versions.txt; default: those that are there
# shellcheck disable=SC2317 # functions that are called by name
. "$(dirname "$0")/../integ/lib.sh"
need SIM REPORT JQ
base=$ROOT/build/framework
n=0
any=0

# Loaders are of a PyTorch that is there.
make_venv()
{
	local packages venv=(python3 -m venv)
	packages=$(sed -n "s/^$1 //p" test/framework/versions.txt)
	if [ "$1" = loaders ]; then
		find_torch || { echo "loaders: no PyTorch" >&2; return 1; }
		venv=("$TORCH_PYTHON" -m venv --system-site-packages)
	fi
	# shellcheck disable=SC2086 # several packages
	[ -n "$packages" ] && "${venv[@]}" "$base/$1" && "$base/$1/bin/pip" install -q --disable-pip-version-check $packages && return
	rm -rf "${base:?}/$1"
	echo "$1 cannot be installed" >&2
	return 1
}

# run NAME [PROGRAM]: the program without us and with us. It has its module's name, hence -I.
run()
{
	local program=test/framework/${2:-$1}.py
	rm -rf "$GPROF_DIR"
	plain timeout 200 "$base/$1/bin/python" -I "$program"
	record timeout 200 "$base/$1/bin/python" -I "$program"
	is "$plain_rc $(cat "$T/plain.out")" "$rc $(cat "$T/out")" "status and output"
}

# unseen NAME: these have nothing of what we look at, and so no stream.
unseen()
{
	run "$1"
	is 0 "$(find "$GPROF_DIR" -type f 2>/dev/null | wc -l)" "streams"
	is 0 "$(grep -c gprof "$T/err")" "words of ours"
}

# jax_profile VENV COMMAND...: what gprof-report reads of a trace of JAX's own profiler is what JAX reads of it.
jax_profile()
{
	local venv=$1
	shift
	plain "$@" timeout 200 "$base/$venv/bin/python" -I test/framework/jax_profile.py trace "$T/profile"
	is 0 "$plain_rc" "a trace of $venv's profiler"
	plain env JAX_PLATFORMS=cpu timeout 200 "$base/$venv/bin/python" -I test/framework/jax_profile.py compare "$T/profile" "$REPORT"
	is equal "$(grep -o 'equal$' "$T/plain.out" || cat "$T/plain.out" "$T/plain.err")" "$venv: gprof-report and jax.profiler.ProfileData"
}

# What JAX compiles, by samples: in the steps and for the line that the program says, as long as its own events say. A busy machine
# leaves samples without frames, which may be of anything.
jax_compilations()
{
	local steps took events missed found
	rm -rf "$GPROF_DIR"
	plain timeout 200 "$base/jax/bin/python" -I test/framework/jax_compilations.py "$ROOT/report/python"
	GPROF_CPU_HZ=99 record timeout 200 "$base/jax/bin/python" -I test/framework/jax_compilations.py "$ROOT/report/python"
	is "$plain_rc $(cut -d ' ' -f 1 "$T/plain.out")" "$rc $(cut -d ' ' -f 1 "$T/out")" "steps that compile"
	read -r steps took events <"$T/out"
	summary compilations,cpu-lines,findings
	missed=$(query '.cpu_lines.note' | grep -oE '[0-9]+ of [0-9]+ samples' | cut -d ' ' -f 1 | grep . || echo 0)
	found=$(query '[.compilations.rows[] | select(.line | test("jax_compilations.py\\([0-9]+\\): main"))]')
	is "$steps jax.jit" "$(jq -r '"\([.[].step] | unique | join(",")) \([.[].name] | unique | join(","))"' <<<"$found")" "steps of gprof"
	found=$(jq '[.[].duration_ns] | add / 1000000 | round' <<<"$found")
	echo "# compilations: $found ms, by the program $took ms, by JAX's events $events ms; $missed samples without frames"
	[ "$found" -ge $((events * 7 / 10 - 240 - 20 * missed)) ] && [ "$found" -le $((took + 80)) ] ||
		mismatch "not as expected: compilations of $found ms, not $events to $took ms"
	ok grep -qE "^JAX compiles in 3 of [0-9]+ steps for jax_compi.*, about .* in each" \
		<<<"$(query '.findings.rows[] | select(.cause == "compilation").sentence')"
}

# loader KIND PATTERN STAGES: the finding names the line that the worker computes, if it has a CPU to do so, as the stages do;
# and these stages take what the program says, within 10 points and what has no frames, which a busy machine leaves.
loader()
{
	local share want unread
	rm -rf "$GPROF_DIR" "$T/loader"
	mkdir "$T/loader"
	HF_HUB_OFFLINE=1 HF_HOME=$T/loader GPROF_CPU_HZ=99 record timeout 200 "$base/loaders/bin/python" -I test/framework/loaders.py "$1" "$T/loader"
	is "0 20 steps" "$rc $(cat "$T/out")" "$1: status and output"
	summary loader-stages,findings
	ok grep -qE "^The loop waits for loader workers, which (run $2|lack a CPU) " <<<"$(query '.findings.rows[0].sentence')"
	ok grep -qE "^$2" <<<"$(query '.loader_stages.rows | max_by(.cpu_ns).line')"
	share=$(query "[.loader_stages.rows[] | select(.stage | test(\"^($3)\$\")).cpu_ns] | add")
	share=$(query "100 * $share / ([.loader_stages.rows[].cpu_ns] | add)")
	want=$(cat "$T/loader/share")
	unread=$(query '.loader_stages.note' | grep -oE 'frames of [0-9]+ samples' | grep -oE '[0-9]+' || echo 0)
	unread=$(query "100 * $unread / ([.loader_stages.rows[].samples] | add)")
	echo "# $1: $3 take $share % of the worker's CPU time, the program says $want; $unread % have no frames"
	ok jq -en "$share - $want | fabs < 10 + $unread"
}

try_loaders()
{
	loader webdataset 'PIL/ImageFile.py\([0-9]+\): load' 'transform|own code'
	loader datasets 'loaders.py\([0-9]+\): tokenize' 'own code'
}

try_jax()
{
	unseen jax
	jax_compilations
	jax_profile jax env JAX_PLATFORMS=cpu
}
try_tensorflow() { unseen tensorflow; }
try_mindspore() { unseen mindspore; }

try_cupy()
{
	run cupy
	summary nvtx
	is "6 marked
6 pushed
6 ranged" "$(query '.nvtx.rows[] | "\(.calls) \(.name)"' | sort)" "ranges"
}

# nccl NAME NOTICES: its functions are looked up by their addresses, so that no hook sees the calls.
nccl()
{
	run "$1" nccl
	summary nvtx,communication,notices
	is "1 NCCL:ncclCommInitAll" "$(query '.nvtx.rows[] | "\(.calls) \(.name)" | select(contains("Init"))')" "ranges"
	is "AllReduce 1 40
Broadcast 1 40
Send and Recv 2 80" "$(query '.communication.rows[] | "\(.name) \(.calls) \(.bytes)"' | sort)" "operations"
	is "$2" "$(query '.notices.rows[] | select(.cause == "NCCL'"'"'s ranges").cause' | wc -l)" "notices"
}

# The older one names no communicators.
try_nccl() { nccl nccl 1; }
try_nccl_old() { nccl nccl_old 2; }

# launched: every "launched N NAME" that the program prints has its kernels; kernels and launches are as many.
launched()
{
	local nr name want=0
	summary kernel,api,losses,notices
	while read -r _ nr name; do
		is "$nr" "$(query "[.kernel.rows[] | select(.name | test(\"\\\\b$name\\\\b\")).calls] | add")" "kernels called $name"
		want=$((want + nr))
	done < <(grep '^launched' "$T/out")
	is "$want $want" "$(query '"\([.kernel.rows[].calls] | add) \([.api.rows[] | select(.name | contains("Launch")).calls] | add)"')" \
		"kernels and launches"
	is "0 0" "$(query '"\(.losses.rows | length) \(.notices.rows | length)"')" "losses and notices"
}

# timed NAME PROGRAM: the program's own CUDA events around the kernel "timed" measure what the kernel takes.
timed()
{
	rm -rf "$GPROF_DIR"
	record timeout 200 "$base/$1/bin/python" -I "test/framework/$2.py" timed
	summary kernel
	is "events $(query '.kernel.rows[] | select(.name | test("\\btimed\\b")).min_ns') ns" "$(grep '^events' "$T/out")" "time by events"
}

try_numba()
{
	run numba
	launched
	timed numba numba
	run numba cuda_core
	launched
	timed numba cuda_core
}

# torch_cuda WHAT [PROFILE]: the program's command; its libraries over CUDA are stand-ins. Each compiles anew: what
# another run has left in a cache would not be tried out, which allocates.
torch_cuda()
{
	echo "env LD_LIBRARY_PATH=$SIM:$base/torch_cuda/stand_ins TORCHINDUCTOR_CACHE_DIR=$(mktemp -d "$T/compiled-XXXXXX") timeout 300 $base/torch_cuda/bin/python -I
		test/framework/torch_cuda.py $*"
}

# compare_profile WHAT FILE: kernels are those that PyTorch's own profiler saw in another run: as many of each name,
# and their times within 0.5 %, as it rounds each. Kernels that the CPU computes (libkernels.so) take as long as the CPU
# does, so their times differ between runs.
compare_profile()
{
	local computed='^$'
	[ "$1" != scaled ] || computed='FillFunctor|amp_update_scale'
	summary kernel,operator,losses,notices
	is "$(jq -c '[.kernels | to_entries[] | [.key, .value[0]]] | sort' "$2")" \
		"$(query '[.kernel.rows[] | [.name, .calls]] | sort | tojson')" "$1: kernels by name"
	is true "$(jq --slurpfile ours "$T/json" --arg computed "$computed" '
		([.kernels | to_entries[] | select(.key | test($computed) | not).value[1]] | add) as $want |
		([$ours[0].kernel.rows[] | select(.name | test($computed) | not).total_ns] | add) as $have |
		($want - $have) * 200 < $want and ($have - $want) * 200 < $want' "$2")" "$1: time of kernels"
	is "0 0" "$(query '"\(.losses.rows | length) \(.notices.rows | length)"')" "$1: losses and notices"
}

optimizer_steps()
{
	"$REPORT" summary --view steps --format json "$GPROF_DIR" 2>/dev/null |
		jq '[.steps.rows[] | select(.rule == "optimizer")] | length'
}

# The same program without us, under its own profiler, with us, and with both: what one of two clients of CUPTI
# misses, it knows.
torch_cuda_profiled()
{
	local program counted
	program=$(torch_cuda "$1")
	counted=$(torch_cuda "$1" "$T/both.json")
	rm -rf "$GPROF_DIR"
	plain $(torch_cuda "$1" "$T/profile.json")
	record $program
	is "$plain_rc $(cat "$T/plain.out")" "$rc $(cat "$T/out")" "$1: status and output"
	compare_profile "$1" "$T/profile.json"
	case $1 in
	cnn) is 6 "$(optimizer_steps)" "$1: steps" ;;
	scaled)
		# The scale doubles after two good steps. The fourth overflows: it halves, and the optimizer has no step.
		is "65536.0 131072.0 131072.0 65536.0 65536.0 131072.0" "$(sed -n 's/^scale //p' "$T/out" | xargs)" "$1: scale"
		is 5 "$(optimizer_steps)" "$1: steps"
		;;
	decode)
		summary api,memcpy
		is "6 6" "$(query '"\([.api.rows[] | select(.name == "cudaGraphLaunch").calls] | add) \([.memcpy.rows[] |
			select(.name | startswith("Memcpy DtoH")).calls] | add)"')" "$1: graphs launched, copies of tokens"
		;;
	esac
	[ "$1" = cnn ] || return
	is true "$(jq --slurpfile ours "$T/json" '(.operators["aten::conv2d"] // 0) == ([$ours[0].operator.rows[] |
		select(.name == "aten::conv2d").calls] | add)' "$T/profile.json")" "$1: convolutions"
	rm -rf "$GPROF_DIR"
	record $counted
	summary losses
	is "$(jq -c '[.kernels[][0]] | add' "$T/profile.json")" "$(jq -c '[.kernels[][0]] | add' "$T/both.json")" \
		"$1: kernels that its profiler sees beside us"
	is "$(jq '([.kernels[][0]] | add) + .copies' "$T/both.json")" "$(query '[.losses.rows[].count] | add')" "$1: lost to its profiler"
}

# Two processes, a GPU each.
torch_cuda_ranks()
{
	local rank port=$((20000 + RANDOM % 20000)) with
	rm -rf "$GPROF_DIR"
	for with in plain ours; do
		for rank in 0 1; do
			RANK=$rank MASTER_PORT=$port SIM_DEVICES=2 LD_PRELOAD=$([ $with = plain ] || preload) $(torch_cuda "$1") \
				>"$T/$with.$rank" 2>"$T/$with.$rank.err" &
		done
		wait
		port=$((port + 1))
	done
	is 0 "$(grep -c 'Error' "$T/plain.0.err")" "$1: errors"
	is "$(cat "$T/plain.0" "$T/plain.1")" "$(cat "$T/ours.0" "$T/ours.1")" "$1: output"
	summary communication,losses,notices,steps
	is "$2" "$(query '[.communication.rows[] | "\(.name) of \(.ranks) ranks: \(.calls)"] | sort | join(", ")')" "$1: collectives"
	is 0 "$(query '.losses.rows | length')" "$1: losses"
}

# Its allocator maps memory by the driver's functions, and its statistics stay those that it has without us.
torch_cuda_expandable_segments()
{
	export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
	rm -rf "$GPROF_DIR"
	plain $(torch_cuda cnn)
	record $(torch_cuda cnn)
	is "$plain_rc $(cat "$T/plain.out")" "$rc $(cat "$T/out")" "expandable segments: status and output"
	summary api,losses
	is "true 0" "$(query '"\([.api.rows[] | select(.name == "cuMemMap").calls] | add > 0) \(.losses.rows | length)"')" \
		"expandable segments: mapped memory, losses"
	unset PYTORCH_CUDA_ALLOC_CONF
}

# XLA keeps 8 bytes of the host for each 256 that it allocates of a GPU, so it does not take all memory here. The
# stand-ins of libraries have no versions to check, and algorithms of theirs cannot be compared.
jax_cuda_environment()
{
	echo "env LD_LIBRARY_PATH=$SIM:$base/jax_cuda/stand_ins SIM_DEVICES=4 JAX_PLATFORMS=cuda XLA_PYTHON_CLIENT_PREALLOCATE=false
		XLA_FLAGS=--xla_gpu_autotune_level=0 JAX_SKIP_CUDA_CONSTRAINTS_CHECK=1 PATH=/usr/local/cuda/bin:$PATH"
}

jax_cuda()
{
	echo "$(jax_cuda_environment) timeout 300 $base/jax_cuda/bin/python -I test/framework/jax_cuda.py $*"
}

# The same program under its own profiler, and with us: as many kernels, copies and memsets of each name, and each name's
# kernels take as long, to the nanosecond.
jax_cuda_profiled()
{
	rm -rf "$GPROF_DIR" "$T/profile"
	# shellcheck disable=SC2046 # words
	plain $(jax_cuda "$1" profile "$T/profile")
	# shellcheck disable=SC2046
	record $(jax_cuda "$1")
	is "$plain_rc $(cat "$T/plain.out")" "$rc $(cat "$T/out")" "$1: status and output"
	zcat "$T"/profile/plugins/profile/*/*.trace.json.gz | jq -c '
		([.traceEvents[] | select(.ph == "M" and .name == "process_name" and (.args.name | startswith("/device:GPU"))).pid]) as $gpus |
		[.traceEvents[] | select(.ph == "X" and (.pid | IN($gpus[])))] | group_by(.name) |
		map([.[0].name, length, ([.[].dur * 1000 | round] | add)])' >"$T/theirs"
	summary kernel,memcpy,memset,api,losses
	is "$(jq -c '[.[] | select(.[0] | startswith("Mem") | not)]' "$T/theirs")" \
		"$(query '[.kernel.rows[] | [.name, .calls, .total_ns]] | sort | tojson')" "$1: kernels by name, and their times"
	is "$(jq -c '[.[] | select(.[0] | startswith("Mem")) | .[1]] | add' "$T/theirs")" \
		"$(query '[(.memcpy.rows + .memset.rows)[].calls] | add')" "$1: copies and memsets"
	is 0 "$(query '.losses.rows | length')" "$1: losses"
}

# jax_cuda_launched WHAT KERNEL CALLS: every kernel has its launch.
jax_cuda_launched()
{
	is "$(query '[.kernel.rows[].calls] | add')" "$(query '[.api.rows[] | select(.name | startswith("cuLaunchKernel")).calls] | add')" \
		"$1: kernels and launches"
	is "$3" "$(query "[.kernel.rows[] | select(.name | startswith(\"$2\")).calls] | add")" "$1: kernels called $2"
}

# A kernel of each step ends between the moments at which the program began the step and had its loss; so the time from
# one to the next lies between what the program measured inside and outside of the two.
jax_cuda_steps()
{
	rm -rf "$GPROF_DIR"
	# shellcheck disable=SC2046
	GPROF_STEP=kernel:^loop_tanh record $(jax_cuda graphs times "$T/times")
	summary steps,api
	is "10 10" "$(query '"\(.steps.rows | length - 1) \([.api.rows[] | select(.name == "cuGraphLaunch").calls] | add)"')" \
		"graphs: steps, and graphs launched"
	is "[]" "$(jq -c --slurpfile times <(jq -R 'split(" ") | map(tonumber)' "$T/times") '[.steps.rows[1:-1] | to_entries[] |
		select(.value.duration_ns < $times[.key + 1][0] - $times[.key][1] or
			.value.duration_ns > $times[.key + 1][1] - $times[.key][0])]' "$T/json")" "graphs: time of steps"
}

try_jax_cuda()
{
	[ -e "$base/jax_cuda/stand_ins/libcublas.so.13" ] || {
		[ -e /usr/local/cuda/lib64/libcublas.so.13 ] || skip "JAX for CUDA: no names of cuBLAS and cuDNN to take over"
		mkdir -p "$base/jax_cuda/none"
		bash test/framework/stand_ins/make.sh "$base/jax_cuda/none" "$base/jax_cuda/stand_ins" /usr/local/cuda/lib64 || failed=1
	}
	jax_cuda_profiled train
	jax_cuda_launched train input_reduce_ 10
	jax_cuda_profiled pmap
	jax_cuda_launched pmap all_reduce 40
	jax_cuda_profiled graphs
	jax_cuda_steps
	# Both at once: the program is not disturbed.
	rm -rf "$GPROF_DIR" "$T/profile"
	# shellcheck disable=SC2046
	record $(jax_cuda graphs profile "$T/profile")
	is "0 $(cat "$T/plain.out")" "$rc $(cat "$T/out")" "graphs, under both profilers: status and output"
	# shellcheck disable=SC2046
	jax_profile jax_cuda $(jax_cuda_environment)
}

# TORCH_CUDA: some of its programs, by name.
try_torch_cuda()
{
	local what
	[ -e "$base/torch_cuda/stand_ins/libkernels.so" ] || bash test/framework/stand_ins/make.sh \
		"$base"/torch_cuda/lib/python3*/site-packages/torch/lib "$base/torch_cuda/stand_ins" || failed=1
	for what in ${TORCH_CUDA:-cnn transformer scaled graph decode compiled ddp fsdp expandable_segments}; do
		case $what in
		ddp) torch_cuda_ranks ddp "AllReduce of 2 ranks: 12, Broadcast of 2 ranks: 12" ;;
		fsdp) torch_cuda_ranks fsdp "AllGather of 2 ranks: 48, ReduceScatter of 2 ranks: 24" ;;
		expandable_segments) torch_cuda_expandable_segments ;;
		*) torch_cuda_profiled "$what" ;;
		esac
	done
}

# ranges NAME: how many ranges of operators of that name.
ranges()
{
	query "[.user_ranges.rows[] | select(.source == \"NVTX\" and (.name | startswith(\"$1, \"))).calls] | add"
}

try_torch()
{
	local name
	run torch
	summary user-ranges,operator --detail
	for name in aten::mm aten::sum MmBackward0; do
		is "$(query "[.operator.rows[] | select(.name == \"$name\").calls] | add")" "$(ranges $name)" \
			"ranges and operators called $name"
	done
	is 3 "$(query '[.user_ranges.rows[] | select(.name == "user").calls] | add')" "ranges of the user"
	# Each range lies in the operator that it is of.
	is 0 "$(query '[.user_ranges.rows[] | select(.source == "NVTX" and .name != "user") |
		select(.operator as $operator | .name | startswith($operator + ",") | not)] | length')" "ranges elsewhere"
	is true "$(query '[.user_ranges.rows[].operator] | contains(["aten::mm"])')" "operators of ranges"

	"$REPORT" timeline -o "$T/trace.json" "$GPROF_DIR" 2>"$T/report.err"
	is 9 "$(jq '[.traceEvents[] | select(.ph == "X")] as $all | [$all[] |
		select(.cat == "user_annotation" and (.name | startswith("aten::mm, "))) as $range | $all[] |
		select(.cat == "cpu_op" and .name == "aten::mm" and .tid == $range.tid and .ts <= $range.ts and
			.ts + .dur >= $range.ts)] | length' "$T/trace.json")" "ranges that begin in operators, on the timeline"

	# NVTX is what there is without the observer.
	rm -rf "$GPROF_DIR"
	GPROF_TORCH=off record "$base/torch/bin/python" -I test/framework/torch.py
	summary user-ranges,operator
	is 0 "$(query '.operator.rows | length')" "operators where they are off"
	is 9 "$(ranges aten::mm)" "ranges where operators are off"
}

for name in "$@"; do
	[ -x "$base/$name/bin/python" ] || make_venv "$name" || exit 1
done
for name in $(grep -o '^[a-z_]*' test/framework/versions.txt); do
	case " $* " in *" $name "* | '  ') ;; *) continue ;; esac
	if [ ! -x "$base/$name/bin/python" ]; then
		echo "ok $((++n)) - $name # SKIP not in build/framework; test/framework/run.sh $name puts it there"
		continue
	fi
	failed=0
	"try_$name"
	if [ $failed = 0 ]; then
		echo "ok $((++n)) - $name"
	else
		echo "not ok $((++n)) - $name"
		any=1
	fi
done
failed=$any
finish
