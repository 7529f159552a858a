# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What tests of jobs with a slow rank share; sourced after lib.sh. s_ranks.c says what the
# ranks print.

export GPROF_STEP=api:cudaDeviceSynchronize

# Of lines RANK STEP US: by how much that of rank 5 was longer than the median of the others', us, after
# the first step, where all of them wait for memory and for each other's start.
measured()
{
	sort -k2n -k3n | awk '
		$2 == 0 { next }
		$1 == 5 { own[$2] = $3; next }
		{ others[$2, ++nr[$2]] = $3 }
		END {
			for (step in own) { sum += own[step] - others[step, int((nr[step] + 1) / 2)]; n++ }
			printf "%d\n", sum / n
		}'
}

# RANK STEP US: how long each had waited when the last side of what it did with others came to that.
waits()
{
	awk '
		$1 == "all" { at = $3 }
		$1 == "send" { at = $2 " " $4 " " $3 }
		$1 == "receive" { at = $4 " " $2 " " $3 }
		/^[a-z]/ {
			last[at] = $5 > last[at] ? $5 : last[at]
			what[++nr] = at
			whose[nr] = $2 " " $3
			begin[nr] = $5
		}
		END {
			for (i = 1; i <= nr; i++) { us[whose[i]] += last[what[i]] - begin[i] }
			for (rank_step in us) { printf "%s %d\n", rank_step, us[rank_step] }
		}' "$T/out"
}

# All ranks but 5, us; after the first step.
waited()
{
	waits | awk '$1 != 5 && $2 { us += $3 } END { printf "%d\n", us }'
}

# more VIEW NAME STEPS: what the last rank has of it beyond the median of all, a step; us.
more()
{
	summary "$1" --steps "1-$3" --across-ranks --sort total_ns
	query ".$1.rows[] | select(.name | startswith(\"$2\")) | (.max_ns - .median_ns) / 1000 / $3"
}

# What advice calls the causes.
declare -A words=(["data loader"]="whose data loader takes longer" ["host"]="whose host takes longer"
	["slow kernels"]="whose kernels take longer" ["GPU clock"]="whose GPU clock is lower" ["slow copies"]="whose copies take longer")

# Is the delay that the report tells what the ranks themselves measured?
delay_is_measured()
{
	jq -en "$(query '.stragglers.rows[0].delay_ns / 1000') / $((-$(waits | measured))) | . > 0.95 and . < 1.05" >/dev/null
}

# evidence_is_measured EVIDENCE VIEW NAME LAST: what straggles wants of these. Of the host only the waits tell; of devices
# their own times do.
evidence_is_measured()
{
	local evidence=$1 view=$2 name=$3 last=$4 have
	summary stragglers --steps "1-$last"
	have=$(query ".stragglers.rows[0].$evidence / 1000")
	echo "evidence $evidence: $have us"
	if [ "$view" ]; then
		jq -en "$have / $(more "$view" "$name" "$last") | . > 0.99 and . < 1.01" >/dev/null
	else
		jq -en "$have / $((-$(waits | measured))) | . > 0.9 and . < 1.1" >/dev/null
	fi
}

# straggles HOW CAUSE EVIDENCE VIEW NAME LAST [PHASE]: what the report says of a job whose steps 0 to
# LAST `record` has just recorded, by what the ranks themselves measured. EVIDENCE is the column that
# the cause shows in; NAME is the row of VIEW that tells as much of it, if any does. PHASE is that of
# ranks that train.
straggles()
{
	local how=$1 cause=$2 evidence=$3 view=$4 name=$5 last=$6 phase=${7-} want have
	is 0 "$rc" "status of $how"
	summary stragglers,advice --all --steps "1-$last"
	is true "$(query '.advice.rows[] | select(.rule == "stragglers") | .rank == 5 and (.finding | startswith("Ranks wait for rank 5, '"${words[$cause]}"'"))')" \
		"advice on $how"
	is "5 $cause, $phase" "$(query '.stragglers.rows[0] | "\(.rank) \(.cause), \(.phase)"')" "rank, cause and phase of $how"
	is "$last 1" "$(query '.stragglers.rows[0] | "\(.late_steps) \(.since_step)"')" "steps of $how"
	want=$((-$(waits | measured))) # it waits less
	have=$(query '.stragglers.rows[0].delay_ns / 1000')
	is true "$(jq -n "$have / $want | . > 0.95 and . < 1.05")" "delay of $how, $have us, not $want"
	ok evidence_is_measured "$evidence" "$view" "$name" "$last"
	is 8 "$("$REPORT" summary --view steps "$GPROF_DIR" 2>/dev/null | grep -cE '^  rank +[0-7]  \|[-.+*#@]+\|$')" "ranks as signs, $how"
}
