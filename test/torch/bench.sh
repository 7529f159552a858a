#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What recording an operator costs: rounds with one process of every kind, one after the other, and the least of each
# kind; the budgets are for what gprof takes more than an empty observer, both in one process; then what is counted
# (test/bench/cold). Fails if a budget is exceeded.
# usage: test/torch/bench.sh BUILD-FOLDER [PYTHON [ROUNDS]]
set -u
cd "$(dirname "$0")/../.." || exit 1
B=$1
lib=$(realpath "$B")/libgprof.so
python=${2:-/usr/bin/python3}
rounds=${3:-9}
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
export GPROF_QUIET=1 GPROF_DIR=$T/dump

least()
{
	sort -g "$T/$1" | head -1
}

# round KIND [NAME=VALUE...] [ARGUMENT-OF-BENCH.PY...]
round()
{
	local kind=$1 settings=()
	shift
	while [[ ${1:-} == *=* ]]; do
		settings+=("$1")
		shift
	done
	rm -rf "$T/dump"
	env "${settings[@]}" "$python" test/torch/bench.py "$@" >>"$T/$kind" 2>/dev/null
}

# show WHAT TITLE KIND...
show()
{
	local what=$1 kind
	echo "$2: ns of CPU a call (least of $rounds rounds; all)"
	for kind in "${@:3}"; do
		awk -v kind="$kind" -v have="$(least "$what.$kind")" -v plain="$(least "$what.plain")" -v all="$(sort -g "$T/$what.$kind" | paste -sd' ')" \
			'BEGIN {printf "  %-9s %8.1f  over plain %8.1f   %s\n", kind, have, have - plain, all}'
	done
}

# beside WHAT: one more process in which the empty observer, gprof's, and its records of memory take turns; checks that
# gprof has recorded all calls
beside()
{
	local empty operators all calls have
	rm -rf "$T/dump"
	read -r empty operators all calls < <(
		LD_PRELOAD=$T/empty.so:$lib "$python" test/torch/bench.py "$1" beside "$T/empty.so" 2>/dev/null
	)
	have=$("$B/gprof-report" --format csv --view operator --top 0 "$T/dump" 2>/dev/null |
		awk -F, '$NF ~ /"aten::add_?"/ { print $4 }')
	if [ -z "$calls" ] || [ "$have" != "$calls" ]; then
		echo "bench-torch: gprof recorded ${have:-none} of ${calls:-the} calls"
		return 1
	fi
	echo "$empty" >>"$T/$1.beside.empty"
	echo "$operators" >>"$T/$1.beside.operators"
	echo "$all" >>"$T/$1.beside.all"
}

# differences WHAT LESS MORE: how much longer one kind takes than another, in each process; the least first
differences()
{
	paste "$T/$1.beside.$2" "$T/$1.beside.$3" | awk '{ printf "%.1f\n", $2 - $1 }' | sort -g
}

# is_over NAME NS: is that more than its budget?
is_over()
{
	awk -v name="$1" -v ns="$2" '$1 == name ".ns" { is_over = ns > $2 } END { exit !is_over }' test/bench/cold/budgets
}

# show_beside NAME median|least WHAT LESS MORE TITLE: that of the differences, for the budgets, too
show_beside()
{
	differences "$3" "$4" "$5" |
		awk -v name="$1" -v which="$2" -v title="$6" -v have="$T/have" '
			{ ns[NR] = $1; all = all " " $1 }
			END { taken = ns[which == "median" ? int((NR + 1) / 2) : 1]
				printf "%s: %.1f ns (%s of%s)\n", title, taken, which, all; printf "%s.ns %.0f\n", name, taken >>have }'
}

# clock_calls WHAT: a call, alone (plain) or between two reads of the CPU's clock (tsc), ns
clock_calls()
{
	local i
	for ((i = 0; i < 5; i++)); do
		LD_LIBRARY_PATH=$B/bench "$B/bench/hook_calls" "$1"
	done | sort -g | head -1
}

times()
{
	local what version
	version=$("$python" -c 'import torch; print(torch.__version__)' 2>/dev/null) || {
		echo "bench-torch: nothing is timed: no PyTorch in $python"
		return 0
	}
	${CC:-gcc} -O2 -shared -fPIC -I. -o "$T/empty.so" test/torch/empty.c || return 1
	for ((i = 0; i < rounds; i++)); do
		for what in in-place add; do
			round $what.plain $what
			round $what.empty $what empty "$T/empty.so"
			round $what.gprof LD_PRELOAD="$lib" $what
			round $what.profiler $what profiler
			beside $what || return 1
		done
		round add.shapes LD_PRELOAD="$lib" GPROF_TORCH=shapes add
		round add.off LD_PRELOAD="$lib" GPROF_TORCH=off add
		round add.closed LD_PRELOAD="$lib" GPROF_SCHEDULE=900000-900001 add
	done
	show in-place "torch $version, add_ of 1-element tensors, the operator alone" plain empty gprof profiler
	show add "torch.add of the same, with a new tensor" plain empty gprof profiler shapes off closed
	awk -v calls="$(clock_calls plain)" -v both="$(clock_calls tsc)" \
		'BEGIN { printf "two reads of the clock, as an operator needs and as the memory of a tensor does: %.1f ns\n", both - calls }'
	show_beside operator median in-place empty operators "an operator, over an empty observer in the same process"
	# Its atomic instruction waits for all stores before it, so other work on the machine makes it slower: the least of up
	# to three times as many processes.
	for ((i = 0; i < 2 * rounds; i++)); do
		is_over tensor "$(differences add operators all | head -1)" || break
		beside add || return 1
	done
	show_beside tensor least add operators all "memory of its new tensor, over PyTorch's own reports in the same process"
}

times || exit 1
test/bench/cold/cold.sh "$B" operators "$T/have"
rc=$?
[ $rc = 77 ] || exit $rc
