#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Summaries add up: whoever reduces what and in which order, the file is the same; it has the sums
# of the streams, and says what is missing of the job.
. "$(dirname "$0")/lib.sh"
need REPORT_THREADS REPORT JQ
RANKS=6
mkdir "$T/job" "$T/parts"
for ((rank = 0; rank < RANKS; rank++)); do
	"$B/gen_stream" "$T/job/$rank.gprof" model 9000 $rank $RANKS || exit 1
done

# reduce STATUS OUTPUT ARGUMENT...: what it says is in $T/err
reduce()
{
	local wanted=$1 output=$2
	shift 2
	"$REPORT" reduce -o "$output" "$@" 2>"$T/err"
	is "$wanted" "$?" "exit status of reduce $*"
}

# same FILE WHAT: the summary of all
same()
{
	cmp -s "$T/all.sum" "$1" && return
	echo "not the same: $2"
	failed=1
}

reduce 0 "$T/all.sum" -j 1 "$T/job"
for jobs in 2 3 9; do
	reduce 0 "$T/jobs.sum" --jobs $jobs "$T/job"
	same "$T/jobs.sum" "with $jobs jobs"
done
reduce 0 "$T/parts/a" "$T/job/5.gprof" "$T/job/0.gprof"
reduce 0 "$T/parts/b" "$T/job/3.gprof"
reduce 0 "$T/parts/c" "$T/job/4.gprof" "$T/job/1.gprof" "$T/parts/b"
reduce 0 "$T/parts/d" "$T/parts/c" "$T/job/2.gprof" "$T/parts/a"
same "$T/parts/d" "from parts"
reduce 0 "$T/parts/d" -j 1 "$T/parts/d"
same "$T/parts/d" "written over itself"

# As the tasks of a batch system share them; there may be more tasks than streams.
for tasks in 4 8; do
	rm -f "$T"/parts/task.*
	for ((task = 0; task < tasks; task++)); do
		reduce 0 "$T/parts/task.$task.sum" --share $task/$tasks "$T/job"
	done
	reduce 0 "$T/tasks.sum" "$T"/parts/task.*.sum
	same "$T/tasks.sum" "of $tasks tasks of an array"
done

# The numbers are those of the streams.
"$REPORT" --format json "$T/all.sum" >"$T/sum.json"
is 0 "$?" "exit status of the summary"
"$REPORT" --format json "$T/job" --view kernel,api,operator,collectives,memcpy,nvtx >"$T/job.json" 2>/dev/null
for view in kernel api operator collectives memcpy nvtx; do
	rows=".$view.rows | map([.name, .calls, .total_ns, .min_ns, .max_ns]) | sort"
	is "$(jq -c "$rows" "$T/job.json")" "$(jq -c "$rows" "$T/sum.json")" "rows of $view"
done
averages='map(select(.step == "average") | [.rank, .total_ns, .kernel_ns, .communication_ns, .runtime_ns, .other_ns])'
"$REPORT" --format json "$T/job" --view breakdown >"$T/job.json" 2>/dev/null
is "$(jq -c ".breakdown.rows | $averages" "$T/job.json")" \
	"$(jq -c ".breakdown.rows | map(.step = \"average\") | $averages" "$T/sum.json")" "breakdown of each rank"
is $RANKS "$(jq '[.memory.rows[] | select(.allocated_bytes == 1073741824)] | length' "$T/sum.json")" "peaks of memory"
is $RANKS "$(jq '.breakdown_over_processes.rows[] | select(.name == "Kernel").processes' "$T/sum.json")" "processes with a breakdown"

# The first screen: as that of the streams, but for shares, where steps that warm up count.
"$REPORT" --format json "$T/job" --view headline >"$T/job.json" 2>/dev/null
run='[.headline.rows[] | .program, .processes, .helpers, .ranks, .hosts, .span_ns, .steps, .warm_up_steps, .median_ns, .mean_ns, .p99_ns, .trend_pct, .incomplete]'
is "$(jq -c "$run" "$T/job.json")" "$(jq -c "$run" "$T/sum.json")" "headline"
is true "$(jq '[.headline.rows[0] | to_entries[] | select(.key | test("^(computing|exposed|idle).*_pct")).value] | length == 18 and (add - 100 | fabs < 0.1)' "$T/sum.json")" "shares of time"
is "$("$REPORT" "$T/job" 2>/dev/null | grep "^Step")" "$("$REPORT" "$T/all.sum" | sed -n 2p)" "the second line"

# And so are those over ranks; only medians come from a sketch.
extremes='[.name, .min_ns, .min_rank, .max_ns, .max_rank]'
for view in kernel api operator; do
	"$REPORT" --format json "$T/job" --view $view --across-ranks --sort total >"$T/over.json" 2>/dev/null
	"$REPORT" --format json "$T/all.sum" --view $view --across-ranks --sort total >"$T/oversum.json" 2>"$T/err"
	is 0 "$?" "exit status of $view over ranks"
	is "$(jq -c ".$view.rows | map(.min_rank |= tostring | .max_rank |= tostring | $extremes) | sort" "$T/over.json")" \
		"$(jq -c ".$view.rows | map($extremes) | sort" "$T/oversum.json")" "$view over ranks"
	is true "$(jq -n "[inputs.$view.rows | sort_by(.name, .min_ns)] | transpose |
		map((.[0].median_ns / .[1].median_ns - 1 | fabs) < 0.017) | all" "$T/over.json" "$T/oversum.json")" "medians of $view"
done
"$B/gen_stream" "$T/nccl0.gprof" nccl 0 && "$B/gen_stream" "$T/nccl1.gprof" nccl 1 || exit 1
reduce 0 "$T/nccl.sum" "$T/nccl0.gprof" "$T/nccl1.gprof"
rows='.communication.rows | map([.name, .communicator, .ranks, .calls, .bytes, .time_ns]) | sort'
is "$("$REPORT" --format json --view communication "$T/nccl0.gprof" "$T/nccl1.gprof" | jq -c "$rows")" \
	"$("$REPORT" --format json --view communication "$T/nccl.sum" | jq -c "$rows")" "operations of NCCL"

# Those of version 1 lack what it has not; they add up with others.
reduce 0 "$T/mixed.sum" test/golden/v1/job.sum "$T/job/3.gprof" "$T/job/4.gprof"
"$REPORT" --format json "$T/mixed.sum" >"$T/mixed.json" 2>"$T/err"
is 3 "$?" "exit status of a summary with one of version 1"
is 2 "$(jq '[.breakdown.rows[] | select(.total_ns)] | length' "$T/mixed.json")" "processes with a breakdown beside others"
is 7 "$(jq '.processes.rows | length' "$T/mixed.json")" "processes of both versions"
launches="$("$REPORT" --format json --view api --across-ranks "$T/mixed.sum" 2>/dev/null |
	jq -c '[.api.rows[] | select(.name == "cudaLaunchKernel" or .name == "cudaGetLastError") | [.name, .processes, .median_ns != null]] | sort')"
is '[["cudaGetLastError",2,true],["cudaLaunchKernel",4,false]]' "$launches" "medians where each process is known, alone"

is $RANKS "$(jq '[.processes.rows[] | select(.state == "complete")] | length' "$T/sum.json")" "processes"
is true "$(jq "[.steps.rows[:2][] | .processes == $RANKS and .min_ns <= .median_ns and .median_ns <= .max_ns] | all" "$T/sum.json")" "steps over processes"
is 1 "$("$REPORT" --view steps --detail --format csv "$T/all.sum" | grep -c '^3,4242,"node7",1,')" "rows of a step of a rank"
is 3 "$("$REPORT" "$T/all.sum" --view kernel --top 2 --format csv | grep -c ,)" "rows of --top 2, with the titles"

# What is not there is said; a share that is missing as well.
rm "$T/parts/task.6.sum" && reduce 0 "$T/tasks.sum" "$T"/parts/task.*.sum
"$REPORT" "$T/tasks.sum" >/dev/null 2>"$T/err"
is 0 "$?" "exit status without a share of nothing"
rm "$T/parts/task.2.sum" && reduce 0 "$T/tasks.sum" "$T"/parts/task.*.sum
"$REPORT" "$T/tasks.sum" >/dev/null 2>"$T/err"
is 3 "$?" "exit status without a share"
is 1 "$(grep -c '1 of 6 ranks are missing: 2' "$T/err")" "sentence about the rank of a share that is missing"
reduce 0 "$T/some.sum" "$T/job/1.gprof" "$T/job/2.gprof" "$T/job/4.gprof"
"$REPORT" "$T/some.sum" >/dev/null 2>"$T/err"
is 3 "$?" "exit status of a part of a job"
is 1 "$(grep -c '3 of 6 ranks are missing: 0,3,5' "$T/err")" "sentence about ranks that are missing"
"$B/gen_stream" "$T/far.gprof" model 9000 7 4611686018427387904 || exit 1
reduce 0 "$T/far.sum" "$T/far.gprof"
"$REPORT" "$T/far.sum" >/dev/null 2>"$T/err"
is 1 "$(grep -c '4611686018427387903 of 4611686018427387904 ranks are missing: 0-6,8-20,...' "$T/err")" "sentence about many ranks"
"$B/gen_stream" "$T/other.gprof" nccl 1 || exit 1
reduce 0 "$T/again.sum" "$T/all.sum" "$T/other.gprof"
"$REPORT" "$T/again.sum" >/dev/null 2>"$T/err"
is 3 "$?" "exit status of two processes of a rank"
is 1 "$(grep -c 'more than one process has rank 1,' "$T/err")" "sentence about a rank that is there twice"
head -c 20000 "$T/job/0.gprof" >"$T/cut.gprof"
reduce 3 "$T/cut.sum" "$T/cut.gprof" "$T/job/1.gprof"
is 1 "$(grep -c "cut.gprof' is unfinished" "$T/err")" "sentence about the stream that was cut"
"$REPORT" "$T/cut.sum" >/dev/null 2>"$T/err"
is 3 "$?" "exit status of a summary of data that are incomplete"
is 1 "$(grep -c 'the data of 1 of 2 processes are incomplete' "$T/err")" "sentence about incomplete data"
mv "$T/cut.sum" "$T/kept-cut.sum"
head -c 500 "$T/all.sum" >"$T/cut.sum"
reduce 1 "$T/none.sum" "$T/cut.sum"
reduce 3 "$T/one.sum" "$T/cut.sum" "$T/job/1.gprof"
is 1 "$(grep -c "cut.sum': the summary is truncated" "$T/err")" "sentence about a summary that was cut"
reduce 3 "$T/one.sum" "$T/gone" "$T/job/1.gprof"

# Nothing counts twice.
reduce 1 "$T/twice.sum" "$T/all.sum" "$T/job/3.gprof"
is 1 "$(grep -c '(rank 3) is there twice' "$T/err")" "sentence about a process that is there twice"
reduce 1 "$T/twice.sum" -j 2 "$T/job/3.gprof" "$T/job/3.gprof"
[ ! -e "$T/twice.sum" ] || { echo "a summary was written nevertheless"; failed=1; }

# What cannot be asked.
"$REPORT" info "$T/job/1.gprof" "$T/all.sum" >/dev/null 2>"$T/err"
is 3 "$?" "exit status of info with a summary"
is 1 "$(grep -c "all.sum': it is a summary written by reduce; only summary, html" "$T/err")" "sentence about it"
for arguments in "--view kernel --across-ranks --sort avg" "--view critical" "--steps 3" "--rank 1" "--style nsys" "--sort nonsense" "--detail=op"; do
	# shellcheck disable=SC2086
	"$REPORT" "$T/all.sum" $arguments >/dev/null 2>"$T/err"
	is 2 "$?" "exit status of $arguments"
	is 1 "$(wc -l <"$T/err")" "lines about $arguments"
done
for arguments in "--svg steps" "--rank 1" "--steps 3" "$T/all.sum"; do
	# shellcheck disable=SC2086
	"$REPORT" html -o "$T/none.html" "$T/all.sum" $arguments >/dev/null 2>"$T/err"
	is 2 "$?" "exit status of html with $arguments"
	is 1 "$(wc -l <"$T/err")" "lines about html with $arguments"
done
ok test ! -e "$T/none.html"

# The page of a summary; test/page opens such.
"$REPORT" html -o "$T/all.html" "$T/all.sum"
is 0 "$?" "exit status of html"
ok grep -q '"is_reduced": true' "$T/all.html"
"$REPORT" html -o "$T/cut.html" "$T/kept-cut.sum" 2>"$T/err"
is 3 "$?" "exit status of html of data that are incomplete"
is 1 "$(grep -c 'the data of 1 of 2 processes are incomplete' "$T/err")" "sentence about incomplete data of html"
ok grep -q '"processes": 2, "incomplete": 1, ' "$T/cut.html"
"$REPORT" --view steps "$T/all.sum" >"$T/out"
is "$(seq 0 $((RANKS - 1)) | sed 's/.*/rank &/')" "$(sed -n 's/^  rank  *\([0-9]*\)  |.*|$/rank \1/p' "$T/out")" "ranks of the field"
reduce 2 "$T/none.sum"
reduce 2 "$T/none.sum" -j 0 "$T/job"
for share in 4/4 1 1/ /4 x/4 -1/4; do
	reduce 2 "$T/none.sum" --share $share "$T/job"
done
"$REPORT" reduce "$T/job" 2>/dev/null
is 2 "$?" "exit status without -o"
reduce 1 "$T/gone/x.sum" "$T/job"

finish
