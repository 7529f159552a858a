#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Which of eight ranks the others wait for, why, and how long: what the ranks themselves measured.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

# By how much the slow rank's work was longer than the median of the others', us, after the first
# step, where all of them wait for memory and for each other's start.
measured()
{
	sort -k2n -k3n "$T/out" | awk '
		$2 == 0 { next }
		$1 == 5 { own[$2] = $3; next }
		{ others[$2, ++nr[$2]] = $3 }
		END {
			for (step in own) { sum += own[step] - others[step, 4]; n++ }
			printf "%d\n", sum / n
		}'
}

export GPROF_STEP=api:cudaDeviceSynchronize
# more VIEW NAME: what the last rank has of it beyond the median of all, a step; us.
more()
{
	summary "$1" --steps 1-4 --over-ranks --sort total_ns
	query ".$1.rows[] | select(.name | startswith(\"$2\")) | (.max_ns - .median_ns) / 4000"
}

while IFS=, read -r how cause evidence view name; do
	rm -rf "$GPROF_DIR"
	record "$B/integ/s_ranks" "$how"
	is 0 "$rc" "status of $how"
	summary stragglers --steps 1-4
	is "5 $cause" "$(query '.stragglers.rows[0] | "\(.rank) \(.cause)"')" "rank and cause of $how"
	is "4 1" "$(query '.stragglers.rows[0] | "\(.late_steps) \(.since_step)"')" "steps of $how"
	want=$(measured)
	is true "$(query ".stragglers.rows[0].delay_ns / 1000 / $want | . > 0.95 and . < 1.05")" "delay of $how, $want us"
	have=$(query ".stragglers.rows[0].$evidence / 1000")
	# Of the host only the clock of the ranks tells; of devices their own times do.
	if [ "$view" ]; then
		is true "$(jq -n "$have / $(more "$view" "$name") | . > 0.99 and . < 1.01")" "evidence of $how, $have us"
	else
		is true "$(jq -n "$have / $want | . > 0.9 and . < 1.1")" "evidence of $how, $have us"
	fi
	is 8 "$("$REPORT" summary --view steps "$GPROF_DIR" 2>/dev/null | grep -cE '^  rank +[0-7]  \|[-.+*#@]+\|$')" "ranks as signs, $how"
done <<'END'
data-host,host,idle_ns,,
pipeline-kernels,slow kernels,computation_ns,kernel,work_kernel
experts-copies,slow copies,copies_ns,memcpy,Memcpy HtoD
END
finish
