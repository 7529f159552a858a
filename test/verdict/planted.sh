#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs with one trouble each, on the simulator: the first finding names it. Prints TAP.
. "$(dirname "$0")/../integ/lib.sh"
. test/verdict/says.sh
need SIM REPORT PYTHON PLAIN
export GPROF_SAMPLE_MS=0 # what else this machine does is not what is planted
export GPROF_STEP=api:cudaStreamQuery GPROF_TORCH=ops LD_LIBRARY_PATH=$ROOT/$B/torch/GOOD PYTHONDONTWRITEBYTECODE=1
planted=$B/verdict/planted whatif=$B/integ/s_whatif slow_calls=$ROOT/$B/verdict/planted_slow.so
TRIES=4

# with LIBRARY PROGRAM...: preloads that library, too.
with()
{
	local words="${*:2}"
	record sh -c 'LD_PRELOAD="$LD_PRELOAD:$0" exec $1' "$1" "$words"
}

# with_slow PROGRAM...: some calls of CUDA take long.
with_slow() { with "$slow_calls" "$@"; }

# Each makes the recording of that name; what it plants is said in planted.tsv.
plant()
{
	local us=1000
	case $1 in
	loader) SIM_KERNEL_NS=$((1000 * us)) record "$whatif" "loader_ms=40 kernels=20" ;;
	sync) SIM_KERNEL_NS=$((300 * us)) record "$planted" sync ;;
	handover) SIM_KERNEL_NS=$((300 * us)) record "$planted" handover ;;
	readback) SIM_KERNEL_NS=$((300 * us)) record "$planted" readback ;;
	alloc) SIM_KERNEL_NS=$((300 * us)) SLOW_MEMORY_US=3000 with_slow "$planted" alloc ;;
	alloc-[123]) SIM_KERNEL_NS=$((300 * us)) SLOW_MEMORY_US=22000 with_slow "$planted" alloc "${1#alloc-}" ;;
	startup) SIM_KERNEL_NS=$((100 * us)) SLOW_FIRST_US=300000 GPROF_STEP=none with_slow "$planted" none ;;
	startup-steps) SIM_KERNEL_NS=$((1000 * us)) SLOW_FIRST_US=300000 with_slow "$planted" none ;;
	startup-[123]) SIM_KERNEL_NS=$((1000 * us)) SLOW_FIRST_US=300000 with_slow "$planted" none "${1#startup-}" ;;
	small) SIM_KERNEL_NS=$((2 * us)) record "$planted" small ;;
	small-no-steps) SIM_KERNEL_NS=$((2 * us)) GPROF_STEP=none record "$planted" small ;;
	upload) SIM_KERNEL_NS=$((300 * us)) record "$planted" upload ;;
	comm) SIM_KERNEL_NS=$((1000 * us)) SIM_NCCL_GBPS=0.0002 record "$whatif" "ranks=2 kernels=20" ;;
	straggler) SIM_KERNEL_NS=$((1000 * us)) SLOW_NS=$((2000 * us)) SIM_NCCL_GBPS=0.01 record "$whatif" "ranks=2 kernels=20" ;;
	code) SIM_KERNEL_NS=$((300 * us)) record "$planted" code ;;
	lock) SIM_KERNEL_NS=$((300 * us)) with "$ROOT/$B/libgprof-os.so" "$planted" lock ;;
	gpu-bound) SIM_KERNEL_NS=$((2000 * us)) record "$planted" none ;;
	nothing) SIM_KERNEL_NS=$((3000 * us)) record "$whatif" "copy=overlapped loader_ms=2 kernels=20" ;;
	*) return 1 ;;
	esac
}

# judge NAME: what is wrong with that recording.
judge()
{
	python3 test/verdict/verdict.py "$REPORT" test/verdict/planted.tsv "$T" "$1"
	python3 test/verdict/budgets.py "$REPORT" "$T/$1"
	python3 test/verdict/same.py "$REPORT" "$T/$1"
	case $1 in
	lock) says "$1" "The GPU waits for OS calls, (9[0-9.]+|100.0) % of that for a lock held by writer \\([0-9]+\\); waiting less can save at most" ;;
	esac
}

# try NAME: the lines of its last try. On a busy machine a program's greatest trouble may be that machine; a wrong
# finding fails all the tries.
try()
{
	local times
	for ((times = 1; times <= TRIES; times++)); do
		GPROF_DIR=$T/$1
		rm -rf "$GPROF_DIR"
		plant "$1" && judge "$1" >"$T/tap" || echo "not ok 1 - $1: runs: $(tail -c 200 "$T/err" | tr '\n' ' ')" >>"$T/tap"
		grep -q "^not ok" "$T/tap" && ! grep -q "^not ok.*views: " "$T/tap" || break
		echo "# $1: try $times: $(grep -m1 '^not ok' "$T/tap")"
	done
	cat "$T/tap"
}

{
	python3 test/verdict/self.py || echo "not ok 1 - self: all is well" # it may have ended early
	python3 test/verdict/turns.py "$REPORT" || echo "not ok 1 - turns: all is well"
	python3 test/verdict/same.py "$REPORT" test/golden/v*/*.gprof
	python3 test/verdict/planted_ranks.py "$T/ranks"
	python3 test/verdict/budgets.py "$REPORT" "$T/ranks"
	python3 test/verdict/same.py "$REPORT" "$T/ranks"
	for name in $(tail -n +2 test/verdict/planted.tsv | cut -f 1); do
		[ $# != 0 ] && [[ " $* " != *" $name "* ]] || try "$name"
	done
} | awk '/^1\.\./ { next } /^(not )?ok [0-9]+ - / { sub(/[0-9]+/, ++number) } { print } /^not ok/ { failed = 1 } END { exit failed }'
