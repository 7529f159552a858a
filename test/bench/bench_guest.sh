#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What it costs a process to have gprof in it, each figure beside its peers, which take turns.
set -eu
B=${1:-build}
here=$PWD/$B
bench=$here/bench/bench_guest
ours=$here/libgprof.so
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export LD_LIBRARY_PATH="$here/bench" GPROF_DIR="$out/dump" GPROF_QUIET=1 GPROF_CUPTI=0

# The median of a file's numbers.
median() { sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

echo 'start-up and end of a process that does nothing (us, median of 600)'
"$bench" startup "none=" "empty=$here/bench/libempty.so" "gprof=$ours" | awk '
	{ t[$1] = $2 }
	END { printf "%-34s%12.1f\n%-34s%12.1f\n%-34s%12.1f\n%-34s%12.1f\n", "no preload", t["none"],
		"an empty library", t["empty"], "gprof", t["gprof"], "gprof over the empty library",
		t["gprof"] - t["empty"] }'

printf '\n%-34s%12s%12s%12s\n' 'us each (median)' without untouched recording
for what in forks threads; do
	for _ in 1 2 3; do
		"$bench" $what touch >>"$out/$what.without"
		LD_PRELOAD=$ours "$bench" $what >>"$out/$what.untouched"
		LD_PRELOAD=$ours "$bench" $what touch >>"$out/$what.recording"
		rm -rf "$out/dump"
	done
	case $what in
	forks) text='fork and wait' ;;
	threads) text='pthread_create and join' ;;
	esac
	printf '%-34s%12s%12s%12s\n' "$text" "$(median "$out/$what.without")" \
		"$(median "$out/$what.untouched")" "$(median "$out/$what.recording")"
done

# On a core of its own threads, gprof's among them. The machine must have nothing else to do.
for _ in 1 2 3 4 5 6 7; do
	taskset -c 0 "$bench" longest 2000 >>"$out/longest.without"
	rm -rf "$out/dump"
	LD_PRELOAD=$ours taskset -c 0 "$bench" longest 2000 >>"$out/longest.with"
done
printf '\n%-34s%12s%12s\n' 'ms (median of 7)' without recording
printf '%-34s%12s%12s\n' 'longest call, pinned to one core' "$(median "$out/longest.without")" \
	"$(median "$out/longest.with")"

# lost: the share of events that the stream says are missing, in %.
lost()
{
	"$here/gprof-report" summary --view losses --format json "$out/dump" 2>/dev/null |
		sed -n 's/.*"events": \([0-9]*\), "missing": \([0-9]*\).*/\1 \2/p' |
		awk '{ printf "%.2f", 100 * $2 / ($1 + $2) }'
}

printf '\n%-34s%12s%12s%12s\n' 'calls of one thread for 2 s' 'reached M/s' 'CPU %' 'lost %'
for mb in 64 8; do
	for rate in 1 2 5 10 20; do
		rm -rf "$out/dump"
		result=$(GPROF_BUFFER_MB=$mb LD_PRELOAD=$ours "$bench" rate ${rate}e6 2000)
		printf '%-34s%12s%12s%12s\n' "$rate M/s, GPROF_BUFFER_MB=$mb" "${result% *}" \
			"${result#* }" "$(lost)"
	done
done

# The demo has device times, so CUPTI too.
export LD_LIBRARY_PATH="$here/sim" GPROF_CUPTI=1
for _ in 1 2 3 4 5; do
	"$bench" end "$here/demo/train" >>"$out/end.without"
	rm -rf "$out/dump"
	"$bench" end /usr/bin/env LD_PRELOAD="$ours" "$here/demo/train" >>"$out/end.with"
	"$here/gprof-report" info "$out/dump" 2>/dev/null | awk '
		$1 == "overhead.drain_cpu_ns" { cpu = $2 } $1 == "duration" { seconds = $2 }
		END { printf "%.1f\n", cpu / seconds / 1e7 }' >>"$out/share"
done
printf '\n%-34s%12s%12s\n' 'the demo (median of 5)' without gprof
printf '%-34s%12s%12s\n' 'last line to the end (ms)' "$(median "$out/end.without")" "$(median "$out/end.with")"
printf '%-34s%12s%12s\n' "gprof's thread, % of a core" - "$(median "$out/share")"
