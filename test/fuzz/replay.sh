#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs each target over its corpus, and over a few changed copies of it: replay.sh BUILD MUTATIONS
# "TARGET CORPUS MORE..."... A line of TAP for each target; all are run, whichever fails.
build=$1 mutations=$2 failed=0 nr=0
shift 2
for line in "$@"; do
	read -r target corpus more <<<"$line"
	# shellcheck disable=SC2206 # patterns
	files=(test/fuzz/corpus/"$corpus"/* $more)
	nr=$((nr + 1))
	[ "$target" != views ] || files+=("$build"/fuzz/wild*.gprof)
	if out=$("$build/fuzz/fuzz_$target" "$mutations" "${files[@]}" 2>&1); then
		echo "ok $nr - $target over ${#files[@]} files, $mutations mutations each"
	else
		echo "not ok $nr - $target: $(grep -aE 'runtime error|ERROR|^driver' <<<"$out" | head -1)"
		head -c 20000 <<<"$out" | sed 's/^/# /'
		failed=1
	fi
done
exit $failed
