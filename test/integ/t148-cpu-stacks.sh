#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CPU samples of a program without frame pointers have whole stacks: through aligned frames, frames of any size, the C
# library's qsort, and threads. perf is the witness, which unwinds by another library.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
[[ $B != *san-thread ]] || skip "ThreadSanitizer changes what calls what"
export GPROF_CPU_HZ=99
work=800000
# With AddressSanitizer the functions have the same callers, and its library's beside them.
outer='(^|;)(_start|__clone3?|clone)(;|$)'

# run ARGUMENT...: s_deep with gprof in a clean folder; its samples in $T/folded, "main;level_one;...;work_deep COUNT".
run()
{
	rm -rf "$GPROF_DIR"
	record "$B/integ/s_deep" "$@"
	is 0 "$rc" "exit status of s_deep $*"
	summary cpu,notices
	"$REPORT" flame --samples -o - "$GPROF_DIR" >"$T/folded" 2>"$T/flame.err"
}

# weight PATTERN...: of the stacks that match all patterns.
weight()
{
	local pattern lines
	lines=$(cat "${folded:-$T/folded}")
	for pattern in "$@"; do
		lines=$(grep -E "$pattern" <<<"$lines")
	done
	awk '{ n += $NF } END { print n + 0 }' <<<"$lines"
}

# share FUNCTION CALLERS: of the stacks whose innermost function it is, those with these callers, in percent.
share()
{
	awk -v all="$(weight ";$1 [0-9]+$")" -v whole="$(weight ";$1 [0-9]+$" "$2")" \
		'BEGIN { print all ? 100 * whole / all : -1 }'
}

fact() { "$REPORT" info "$GPROF_DIR" 2>/dev/null | awk -v name="cpu_samples.$1" '$1 == name { print $2 }'; }

is_above() { awk -v have="$2" -v least="$1" 'BEGIN { exit !(have > least) }' || mismatch "not as expected: $3: want over $1 %, have $2 %"; }

run $work
refusal=$(query '[.notices.rows[] | select(.cause == "CPU samples refused").code] | join(" ")')
[ -z "$refusal" ] || skip "the kernel refuses perf_event_open: error $refusal"
plain "$B/integ/s_deep" $work
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output"
[ "$(fact stack_bytes)" != 0 ] || skip "the system refuses process_vm_readv, the kernel does not copy stacks, or little memory may be locked"
[ "$(fact threads_without_copies)" = 0 ] || skip "the memory that may be locked is too little for two threads"

deep='[;]main;level_one;level_two;level_three;level_four;work_deep '
is_above 95 "$(share work_deep "$deep")" "samples of work_deep with all its callers"
is_above 95 "$(share work_deep "$outer")" "samples of work_deep that lead to the outermost function"
is_above 95 "$(share compare '[;]main;sort_all;[^;]+;.*compare ')" "samples of compare with the C library between"
is_above 95 "$(share compare "$outer")" "samples of compare that lead to the outermost function"
is_above 95 "$(share work_thread "$outer.*;run_thread;work_thread ")" "samples of work_thread that lead to the thread's start"
is false "$(query '.cpu.note | contains("frame pointers")')" "a note on frame pointers"

# ---- the witness ----
if [[ $B != *san-* ]] && LD_LIBRARY_PATH=$SIM perf record -q -e task-clock:u -c 4000000 --call-graph dwarf -o "$T/perf.data" "$B/integ/s_deep" $work >/dev/null 2>&1; then
	perf script -i "$T/perf.data" -F ip,sym 2>/dev/null | grep -v inlined |
		awk 'NF { stack = ";" $2 stack; next } stack { print stack " 1"; stack = "" }' >"$T/perf"
	# chain FILE FUNCTION: of most of its stacks; of the C library's functions each has names of its own.
	chain()
	{
		sed -nE "s/^.*;((main|run_thread)(;.*)?;$2) [0-9]+$/\1/p" "$1" | tr ';' '\n' |
			awk -v innermost="$2" '/^(main|run_thread|level_[a-z]+|sort_all)$/ { stack = stack $0 ";" }
				$0 == innermost { nr[stack $0]++; stack = "" }
				END { for (at in nr) if (nr[at] > most) { most = nr[at]; best = at } print best }'
	}
	for function in work_deep compare work_thread; do
		is "$(chain "$T/perf" $function)" "$(chain "$T/folded" $function)" "the chain of $function as perf has it"
		ok test -n "$(chain "$T/perf" $function)"
	done
else
	echo "# no perf that works"
fi

# ---- where descriptions of frames cannot be read ----
run $work unreadable
is 0 "$(fact stack_bytes)" "bytes of stacks that are copied, without process_vm_readv"
ok test "$(query '[.cpu.rows[] | select(.name == "work_deep").samples] | add')" -gt 20
is true "$(query '.cpu.note | contains("Callers are known where code has frame pointers.")')" "a note on frame pointers without process_vm_readv"
[[ $B == *san-* ]] || is 0 "$(weight "$deep")" "samples of work_deep with all callers by frame pointers"
finish
