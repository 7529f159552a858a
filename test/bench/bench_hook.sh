#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a hooked call costs over the direct one: every way in turn, several times, medians.
set -eu
B=${1:-build}
here=$PWD/$B
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export LD_LIBRARY_PATH="$here/bench" GPROF_DIR="$out/dump" GPROF_QUIET=1

run() { # name, environment and arguments
	name=$1
	shift
	rm -rf "$out/dump"
	env "$@" >>"$out/$name"
}

for i in 1 2 3 4 5; do
	for what in plain launch; do
		run "direct.$what" "$here/bench/hook_calls" $what
		run "nop.$what" LD_PRELOAD="$here/bench/libnop.so" "$here/bench/hook_calls" $what
		run "closed.$what" LD_PRELOAD="$here/libgprof.so" \
			GPROF_SCHEDULE=skip_first=1000000000,record=1 "$here/bench/hook_calls" $what
		run "recorded.$what" LD_PRELOAD="$here/libgprof.so" PAUSE_US=2000 "$here/bench/hook_calls" $what
		run "recorded2.$what" LD_PRELOAD="$here/libgprof.so" PAUSE_US=2000 "$here/bench/hook_calls" $what 2
	done
	run tsc "$here/bench/hook_calls" tsc
done

median() { sort -n "$out/$1" | sed -n 3p; }

printf '%-34s%12s%12s\n' 'ns per call (median of 5 runs)' plain launch
for way in direct nop closed recorded recorded2; do
	case $way in
	direct) text='direct call' ;;
	nop) text='bare pass-through' ;;
	closed) text='hook, closed' ;;
	recorded) text='hook, recorded' ;;
	recorded2) text='hook, recorded, two threads' ;;
	esac
	printf '%-34s%12s%12s\n' "$text" "$(median $way.plain)" "$(median $way.launch)"
done
printf '%-34s%12s\n' 'direct call between two tsc reads' "$(median tsc)"
