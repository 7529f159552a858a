#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ncu and nsys beside us: they get what they want, the program does what it does, our calls are recorded.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON PROGRAMS
only_real "ncu and nsys have no simulator"
program=("$BIN/shared/at_end" 5)
nr=0

# with_tool NAME COMMAND...: with and without us; a tool that does not run here is no failure of ours.
with_tool()
{
	local name=$1 figures
	shift
	plain "$@" "${program[@]}" || {
		echo "        $name does not run here: $(tail -1 "$T/plain.out" | cut -c1-120)"
		return
	}
	nr=$((nr + 1))
	ours "$@" "${program[@]}"
	judge "$name: the same status" $?
	figures=$(grep -hc 'Profiling "fill' "$T/plain.out")
	[ "$figures" = "$(grep -hc 'Profiling "fill' "$T/out")" ]
	judge "$name: sees as many kernels" $? "$figures"
	launches=$("$REPORT" summary --view api --format csv --top 0 "$GPROF_DIR" 2>/dev/null | awk -F, '/cudaLaunchKernel/ { print $3 }')
	[ "$launches" = 5 ]
	judge "$name: our calls" $? "$launches launches; $("$REPORT" --view notices "$GPROF_DIR" 2>/dev/null | grep -im1 cupti | cut -c1-140)"
}

for tool in ncu nsys; do
	command -v $tool >/dev/null || {
		echo "        no $tool"
		continue
	}
	case $tool in
	ncu) with_tool ncu ncu --clock-control none ;;
	nsys) with_tool nsys nsys profile -o "$T/nsys" --force-overwrite true ;;
	esac
done
[ $nr != 0 ] || skip "neither ncu nor nsys"
finish
