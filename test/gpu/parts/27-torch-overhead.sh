#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The time of a training step without and with us, paired, medians; then with parts of us alone, and under torch.profiler.
# It is measured, not judged. PAIRS=N.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
train=("$TORCH" "$HERE/train.py" ${TRIAL:+--elementwise} --steps 300 --width 256)
PAIRS=${PAIRS:-5}
for ((i = 0; i < PAIRS; i++)); do
	plain "${train[@]}" --times "$T/time" && cat "$T/time" >>"$T/plain.times"
	ours "${train[@]}" --times "$T/time" && cat "$T/time" >>"$T/ours.times"
done
[ "$(wc -l <"$T/plain.times")" = "$PAIRS" ] && [ "$(wc -l <"$T/ours.times")" = "$PAIRS" ]
judge "$PAIRS pairs ran" $?
paste "$T/plain.times" "$T/ours.times" | awk '{ printf "        step: %s us without, %s us with: %+.1f %%\n", $1, $2, ($2 / $1 - 1) * 100 }'
paste "$T/plain.times" "$T/ours.times" | awk '{ print ($2 / $1 - 1) * 100 }' | sort -n | sed -n "$(((PAIRS + 1) / 2))s/.*/        median: & %/p"
GPROF_CUPTI=0 ours "${train[@]}" --times "$T/time" && echo "        step without CUPTI: $(cat "$T/time") us"
GPROF_TORCH=off ours "${train[@]}" --times "$T/time" && echo "        step without operators: $(cat "$T/time") us"
plain "${train[@]}" --times "$T/time" --profile "$T/profile.json" && echo "        step under torch.profiler: $(cat "$T/time") us"
finish
