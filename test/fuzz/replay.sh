#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs each target over its corpus, and over a few changed copies of it: replay.sh BUILD MUTATIONS
# "TARGET CORPUS MORE..."... A target that fails names the input; the rest are run nevertheless.
build=$1 mutations=$2 failed=0
shift 2
for line in "$@"; do
	read -r target corpus more <<<"$line"
	# shellcheck disable=SC2206 # patterns
	files=(test/fuzz/corpus/"$corpus"/* $more)
	[ "$target" != views ] || files+=("$build"/fuzz/wild*.gprof)
	if out=$("$build/fuzz/fuzz_$target" "$mutations" "${files[@]}" 2>&1); then
		echo "ok - $target: $(tail -1 <<<"$out")"
	else
		echo "not ok - $target"
		head -c 20000 <<<"$out"
		failed=1
	fi
done
exit $failed
