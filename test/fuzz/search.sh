#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Searches with libFuzzer: search.sh BUILD "TARGET CORPUS MORE..."... Each target runs for FUZZ_SECONDS, with one
# process, and goes on behind what it finds. What reaches something new lies in BUILD/corpus, from where the
# next search goes on; inputs that fail lie in BUILD/found/TARGET. At the end a line for each target.
#
# With FUZZ_MERGE=1 it searches nothing: the checked-in corpus becomes the fewest and smallest of all
# inputs that are there, which still reach all that these reach.
set -u
build=$1
shift
bin=$build/fuzz
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:handle_abort=1:allocator_may_return_null=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

# seeds CORPUS MORE...: a folder of the inputs that are no part of the checked-in corpus.
seeds()
{
	local dir=$build/seeds/$1
	shift
	mkdir -p "$dir"
	[ $# = 0 ] || cp -u "$@" "$dir/"
	echo "$dir"
}

# words CORPUS: the option for its dictionary, if it has one. That of settings is the list of variables.
words()
{
	local dict=test/fuzz/$1.dict
	case $1 in
	settings | config)
		dict=$build/$1.dict
		sed -nE 's/^CONFIG\(([A-Z_]+),.*/"GPROF_\1="/p' collector/util/config.def >"$dict"
		grep -oE '"[a-zA-Z|:=,-]+"' collector/util/config.def | tr -d '"' | sed 's/[|,]/\n/g' | sort -u | sed -n 's/..*/"&"/p' >>"$dict"
		;;
	esac
	[ ! -e "$dict" ] || echo "-dict=$dict"
}

# search TARGET CORPUS MORE...: libFuzzer ends at each finding, and begins again until the time is over.
search()
{
	local target=$1 corpus=$2 found=$build/found/$1 log=$build/$1.log end=$((SECONDS + ${FUZZ_SECONDS:-60})) more runs
	shift 2
	mkdir -p "$found" "$build/corpus/$corpus" "test/fuzz/corpus/$corpus"
	more=$(seeds "$corpus" "$@")
	: >"$log"
	while [ $SECONDS -lt $end ]; do
		# shellcheck disable=SC2046
		"$bin/fuzz_$target" -timeout=${FUZZ_TIMEOUT:-25} -report_slow_units=${FUZZ_TIMEOUT:-25} -rss_limit_mb=3072 -max_len=65536 -max_total_time=$((end - SECONDS)) \
			-print_final_stats=1 -artifact_prefix="$found/" $(words "$corpus") \
			"$build/corpus/$corpus" "test/fuzz/corpus/$corpus" "$more" >>"$log" 2>&1
		[ "$(find "$found" -type f | wc -l)" -lt 100 ] || break # the same one, over and over
	done
	runs=$(awk '/^stat::number_of_executed_units:/ { sum += $2 } END { print sum + 0 }' "$log")
	printf '%-10s %9s executions  %6s edges  %4s findings\n' "$target" "$runs" \
		"$(sed -nE 's/.* cov: ([0-9]+) .*/\1/p' "$log" | sort -n | tail -1)" "$(find "$found" -type f | wc -l)"
	[ "$runs" != 0 ] || tail -20 "$log"
	[ "$runs" != 0 ] && [ -z "$(find "$found" -type f)" ]
}

# All targets of one corpus fill the same folder, which then takes the place of the checked-in one.
merge()
{
	local target=$1 corpus=$2 new=$build/merged/$2 counters=1
	shift 2
	mkdir -p "$new" "$build/corpus/$corpus" "test/fuzz/corpus/$corpus"
	# Large inputs only for each edge, not for how often it is taken as well.
	case $corpus in stream | rings | summary | json | xplane | config) counters=0 ;; esac
	# shellcheck disable=SC2046
	"$bin/fuzz_$target" -merge=1 -use_counters=$counters -timeout=25 -rss_limit_mb=3072 -max_len=65536 "$new" \
		"$build/corpus/$corpus" "test/fuzz/corpus/$corpus" "$(seeds "$corpus" "$@")" >"$build/$target.merge.log" 2>&1
}

# most_bytes CORPUS: of all together 2 MB are checked in.
most_bytes()
{
	case $1 in
	stream) echo 800000 ;;
	rings | json) echo 300000 ;;
	*) echo 120000 ;;
	esac
}

bad=0
if [ -n "${FUZZ_MERGE:-}" ]; then
	rm -rf "$build/merged"
	for line in "$@"; do
		# shellcheck disable=SC2086 # names, and patterns
		merge $line || { echo "merge of ${line%% *} failed, see $build/${line%% *}.merge.log"; bad=1; }
	done
	[ $bad = 0 ] || exit 1
	for new in "$build"/merged/*; do
		corpus=test/fuzz/corpus/${new##*/}
		# What once failed stays.
		mkdir -p "$corpus" && find "$corpus" -type f ! -name 'found-*' -delete
		used=0
		while read -r bytes file; do
			# What lies elsewhere in the repository is not needed twice; the largest do without a place.
			cmp -s "$file" "$build/seeds/${new##*/}/$(basename "$file")" && continue
			used=$((used + bytes))
			[ $used -le "$(most_bytes "${new##*/}")" ] || break
			cp "$file" "$corpus/$(basename "$file" | cut -c1-12)"
		done < <(find "$new" -type f -printf '%s %p\n' | sort -n)
		echo "${new##*/}: $(find "$corpus" -type f | wc -l) inputs, $(du -sb "$corpus" | cut -f1) bytes"
	done
	exit 0
fi
for line in "$@"; do
	# shellcheck disable=SC2086
	search $line || bad=1
done
[ $bad = 0 ] || echo "inputs that fail are in $build/found; fuzz/fuzz_TARGET FILE of $build runs one"
exit $bad
