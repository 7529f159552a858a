#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench_python.sh BUILD: what it costs to sample a busy Python program 99 times a second of CPU time, by gprof, perf and
# py-spy, in turns. CPU time of all processes, since other work on the machine does not change it much; instructions
# where the machine counts them. RUNS=N rounds, ROUNDS=N of the program.
set -u
B=$1
runs=${RUNS:-5}
rounds=${ROUNDS:-500000}
version=0.4.1
here=$PWD/$B
bench=$PWD/test/bench
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

ways=(none gprof)
command -v perf >/dev/null && perf record -q -F 99 -o "$work/perf" true 2>/dev/null && ways+=(perf)
spy=$(test/venvs.sh py-spy py-spy $version 2>"$work/err") && spy=${spy%/python}/py-spy && ways+=(py-spy)
skipped=$((4 - ${#ways[@]}))

# The command of a way, in `under`.
under()
{
	case $1 in
	none) under=() ;;
	gprof) under=("$here/gprof-record" --cpu -o "$work/dump") ;;
	perf) under=(perf record -q -F 99 -o "$work/perf" --) ;;
	py-spy) under=("$spy" record -r 99 -f raw -o "$work/spy" --) ;;
	esac
}

samples()
{
	case $1 in
	gprof) "$here/gprof-report" sql --format csv "SELECT count(*) FROM cpu_sample" "$work/dump" 2>/dev/null | tail -1 ;;
	perf) perf script -F time -i "$work/perf" 2>/dev/null | wc -l ;;
	py-spy) awk '{ nr += $NF } END { print nr }' "$work/spy" ;;
	*) echo - ;;
	esac
}

# Instructions of a way and its children in millions, "n/a" where the machine does not count them.
instructions()
{
	perf stat -x, -e instructions -o "$work/stat" -- "$@" >/dev/null 2>&1 || { echo n/a; return; }
	awk -F, '/instructions/ { print ($1 ~ /^[0-9]+$/) ? sprintf("%.0f", $1 / 1e6) : "n/a"; exit }' "$work/stat"
}

# The median of a column.
median() { sort -g -k"$2,$2" "$1" | awk -v c="$2" '{ v[NR] = $c } END { printf "%s", v[int((NR + 1) / 2)] }'; }

for threads in 1 8; do
	rm -f "$work"/*.times
	for ((i = 0; i < runs; i++)); do
		for way in "${ways[@]}"; do
			rm -rf "$work/dump"
			under "$way"
			python3 "$bench/tree_cost.py" "${under[@]}" python3 "$bench/busy.py" $threads "$rounds" >>"$work/$way.times" || exit 1
			samples "$way" >"$work/$way.samples"
		done
	done
	base=$(median "$work/none.times" 5)
	printf '\n%-24s%10s%10s%10s%12s%12s%10s%16s\n' "$threads thread(s), ms of CPU" all user system "program's" "profiler's" samples "M instructions"
	for way in "${ways[@]}"; do
		rm -rf "$work/dump"
		under "$way"
		printf '%-24s%10.0f%10.0f%10.0f%12.0f%12.0f%10s%16s\n' "$way" "$(median "$work/$way.times" 1)" "$(median "$work/$way.times" 2)" \
			"$(median "$work/$way.times" 3)" "$(median "$work/$way.times" 4)" \
			"$(awk -v a="$(median "$work/$way.times" 5)" -v b="$base" 'BEGIN { print a - b }')" "$(cat "$work/$way.samples")" \
			"$(instructions "${under[@]}" python3 "$bench/busy.py" $threads "$rounds")"
	done
done
[ $skipped = 0 ] || echo "SKIP $skipped of perf and py-spy: not installed or not permitted ($(tail -1 "$work/err"))"
