#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is large: ten thousand streams with files for few of them, and a trace of 2 GB in less memory than that.
# `GPROF_BIG=1 bash test/integ/t152-big.sh` runs it: 3 GB in $TMPDIR and some minutes, so not among the others.
big=${GPROF_BIG:-}
. "$(dirname "$0")/lib.sh"
need REPORT JQ PYTHON PLAIN
[ -n "$big" ] || skip "GPROF_BIG=1 bash $0 runs it (3 GB of disk, minutes)"
STREAMS=10000
FILES=64    # that may be open at once
MOST_KB=1000000 # of address space, which is more than memory

# few COMMAND...: with so few files
few()
{
	(ulimit -n $FILES && "$@")
}

mkdir "$T/job"
for ((rank = 0; rank < STREAMS; rank++)); do
	"$B/gen_stream" "$T/job/$rank.gprof" model 1 $rank $STREAMS || exit 1
done
few "$REPORT" reduce -o "$T/job.sum" "$T/job"
is 0 $? "exit status of reduce"
"$REPORT" --format json --top 0 "$T/job.sum" >"$T/sum.json"
is 0 $? "exit status of the summary"
is $STREAMS "$(jq '[.processes.rows[] | select(.state == "complete")] | length' "$T/sum.json")" "processes"
is $((STREAMS - 1)) "$(jq '.processes.rows | map(.rank) | max' "$T/sum.json")" "the last rank"
few "$REPORT" --view kernel,api --format json --top 0 "$T/job" >"$T/job.json"
is 0 $? "exit status of the tables of all streams"
for view in kernel api; do
	rows=".$view.rows | map([.name, .calls, .total_ns, .min_ns, .max_ns]) | sort"
	ok cmp <(jq -c "$rows" "$T/job.json") <(jq -c "$rows" "$T/sum.json")
done
rm -r "$T/job"

read -r kernels ns < <(python3 test/integ/big_trace.py "$T/trace.json" 2000)
ok test "$(stat -c %s "$T/trace.json")" -ge 2000000000
(ulimit -v $MOST_KB && "$REPORT" --view kernel,operator --format json --top 0 "$T/trace.json") >"$T/trace.out"
is 0 $? "exit status of a trace of 2 GB"
is "[$kernels,$ns]" "$(jq -c '[([.kernel.rows[].calls] | add), ([.kernel.rows[].total_ns] | add)]' "$T/trace.out")" "kernels and their time"
is "$kernels" "$(jq '[.operator.rows[].calls] | add' "$T/trace.out")" "operators"
is "[64,64]" "$(jq -c '[.kernel, .operator | .rows | length]' "$T/trace.out")" "names"
finish
