#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints what gprof costs a launch, cudaGetDevice, an operator and the memory of a tensor, beside the budgets; most of it
# counted, since times of a machine with other work say little. Fails if a budget is exceeded.
# usage: test/bench/cold/cold.sh BUILD-FOLDER launches|operators|counted [FILE]
# counted: both, and nothing that is timed. FILE: lines `NAME VALUE` that were measured elsewhere.
set -u
cd "$(dirname "$0")/../../.." || exit 1
B=$1
what=$2
lib=$(realpath "$B")/libgprof.so
cold=$(realpath "$B")/bench/cold
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
# Under valgrind all calls take long: none has a stack.
export GPROF_QUIET=1 GPROF_DIR=$T/dump GPROF_SAMPLE_MS=0 GPROF_LAUNCH_STACKS=off
for tool in valgrind strace; do
	command -v $tool >/dev/null || { echo "cold: nothing is counted: no $tool"; exit 77; }
done

launches()
{
	rm -rf "$GPROF_DIR"
	LD_LIBRARY_PATH=$cold "$@"
}

# trace OUT [NAME=VALUE...]: instructions and cache lines. Long records, so that few of them fill a buffer. Without
# `rep stosb`, each byte of which valgrind counts.
trace()
{
	local out=$1
	shift
	launches env "$@" GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=1000000000 \
		RECORD_BYTES=1000 GPROF_FLUSH_MS=60000 valgrind --tool=lackey --trace-mem=yes --log-fd=9 \
		"$cold/launches" trace 2500 "$B/torch/MARKED/libtorch_cpu.so" 9>&1 2>"$T/err" | "$cold/trace" >"$out" ||
		{ cat "$T/err"; return 1; }
}

# The same calls without gprof are no cost of its.
count_instructions()
{
	trace "$T/without" A=1 && trace "$T/with" LD_PRELOAD="$lib" || return 1
	awk 'NR == FNR { without[$1] = $2; next }
		$1 == "launch.changes" { has_changes = $2 } $1 == "launch.change" && !has_changes { next }
		{ print $1, $1 ~ /\.(hook|callbacks|lines)$/ ? $2 - without[$1] : $2 }' "$T/without" "$T/with" >>"$T/have"
}

# kernel OUT [NAME=VALUE...]: page faults and system calls of the launching thread: faults, those that wake gprof's thread (by
# a futex and, where that waits for the kernel's samples, a signal), others.
kernel()
{
	local out=$1 nr_launches=100000
	shift
	launches env "$@" NO_TIMES=1 strace -f -qq -o "$T/strace" "$cold/launches" steady $nr_launches >"$T/steady" || return 1
	awk -v nr=$nr_launches -v faults="$(cut -d' ' -f1 "$T/steady")" '
		NR == 1 { thread = $1 }
		$1 != thread || / resumed>/ { next }
		$2 == "close(-1)" { is_in = !is_in; next }
		is_in && $2 ~ /^(futex|getpid|tgkill)\(/ { wakes++; next }
		is_in { others++ }
		END { printf "%.5f %.5f %d\n", faults / nr, wakes / nr, others }' "$T/strace" >>"$out"
}

# Of several runs the least: gprof's thread comes late where other work has the cores.
count_kernel()
{
	kernel "$T/kernel.without" A=1 || return 1
	for _ in 1 2 3 4 5; do
		kernel "$T/kernel" LD_PRELOAD="$lib" || return 1
		awk -v without="$(cut -d' ' -f3 "$T/kernel.without")" '
			NR == 1 || $1 < faults { faults = $1 }
			NR == 1 || $2 < wakes { wakes = $2 }
			NR == 1 || $3 < others { others = $3 }
			END { print "launch.faults", faults; print "launch.wakes", wakes
				print "launch.system_calls", others - without }' "$T/kernel" >"$T/least"
		check "$T/least" >/dev/null && break
	done
	cat "$T/least" >>"$T/have"
}

least()
{
	sort -g "$1" | head -1
}

# Least of rounds in turns.
time_calls()
{
	for _ in 1 2 3 4 5; do
		launches "$cold/launches" time device >>"$T/device.without"
		launches env LD_PRELOAD="$lib" "$cold/launches" time device >>"$T/device.with"
		launches env COLD_CODE=1 "$cold/launches" time launch >>"$T/launch.without"
		launches env COLD_CODE=1 LD_PRELOAD="$lib" "$cold/launches" time launch >>"$T/launch.with"
		launches env LD_PRELOAD="$lib" "$cold/launches" steady 100000 | cut -d' ' -f3 >>"$T/change"
	done
	{
		echo "change.us $(least "$T/change")"
		awk -v with="$(least "$T/device.with")" -v without="$(least "$T/device.without")" \
			'BEGIN { printf "device.ns %.1f\n", with - without }'
	} >>"$T/have"
	cold_ns="$(least "$T/launch.without") ns without gprof, $(least "$T/launch.with") with"
}

# check FILE: a row for each budget whose count is there; fails if one is exceeded.
check()
{
	awk -F'\t+' 'NR == FNR { split($0, words, " "); have[words[1]] = words[2]; next }
		/^#/ || !($1 in have) { next }
		{ is_over = have[$1] > $2 + 0; nr_over += is_over
			printf "%-52s%12s%12s  %s\n", $3, have[$1], $2, is_over ? "OVER" : "ok" }
		END { exit nr_over > 0 }' "$1" test/bench/cold/budgets
}

[ $# -lt 3 ] || cat "$3" >>"$T/have"
if ! count_instructions || { [ "$what" != operators ] && ! count_kernel; }; then
	echo "cold: a run has failed"
	exit 1
fi
[ "$what" != launches ] || time_calls
case $what in
operators) grep -E '^(operator|tensor)' "$T/have" ;;
launches) grep -vE '^(operator|tensor)' "$T/have" ;;
*) cat "$T/have" ;;
esac >"$T/rows"
printf '%-52s%12s%12s\n' 'what gprof adds' is 'at most'
check "$T/rows"
rc=$?
[ "$what" != launches ] || echo "a launch that runs cold code (least of 5 runs): $cold_ns"
exit $rc
