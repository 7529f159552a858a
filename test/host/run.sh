#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A good guest: programs, probes and families of processes run as they do without us. Prints TAP.
#
#     test/host/run.sh [GROUP...]
#
# Two groups at a time.
set -u
cd "$(dirname "$0")" || exit 1
out=$(mktemp -d "${TMPDIR:-/tmp}/gprof-hosts-XXXXXX")
trap 'rm -rf "$out"' EXIT
groups=("$@")
[ $# != 0 ] || groups=(probes-cuda programs python families kinds probes-plain cost)

printf '%s\n' "${groups[@]}" | xargs -P 2 -I{} sh -c "bash ./{}.sh >$out/{}.out 2>$out/{}.err"

# One numbering over all; what a shell says of a program that was killed is no result.
for group in "${groups[@]}"; do
	cat "$out/$group.out"
	grep -q '^ok\|^not ok' "$out/$group.out" || echo "not ok 0 - $group: prints no results"
	sed "s/^/# $group: /" "$out/$group.err" | head -40
done | awk '/^ok/ {n++; sub(/[0-9]+/, n)} /^not ok/ {n++; bad++; sub(/[0-9]+/, n)} {print} END {exit bad > 0}'
