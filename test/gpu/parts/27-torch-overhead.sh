#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The time of a training step without and with us, paired, 5 runs, medians; it is measured, not judged.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
train=("$TORCH" "$HERE/train.py" ${TRIAL:+--elementwise} --steps 300 --width 256)
for _ in 1 2 3 4 5; do
	plain "${train[@]}" --times "$T/time" && cat "$T/time" >>"$T/plain.times"
	ours "${train[@]}" --times "$T/time" && cat "$T/time" >>"$T/ours.times"
done
[ "$(wc -l <"$T/plain.times")" = 5 ] && [ "$(wc -l <"$T/ours.times")" = 5 ]
judge "5 pairs ran" $?
paste "$T/plain.times" "$T/ours.times" | awk '{ printf "        step: %s us without, %s us with: %+.1f %%\n", $1, $2, ($2 / $1 - 1) * 100 }'
paste "$T/plain.times" "$T/ours.times" | awk '{ print ($2 / $1 - 1) * 100 }' | sort -n | sed -n '3s/.*/        median: & %/p'
finish
