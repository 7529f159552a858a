#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs: what one launch starts is one; a folder of several shows the newest, and lists, compares and deletes them.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ PLAIN
RECORD=$ROOT/$B/gprof-record
S_LOOP=$ROOT/$B/integ/s_loop
S_END=$ROOT/$B/integ/s_end
export LD_LIBRARY_PATH=$SIM
cd "$T" || exit 1

# preloaded COMMAND...: as a shell does it, into the folder $to.
preloaded()
{
	GPROF_DIR=$T/$to GPROF_QUIET=1 LD_PRELOAD=$(preload) "$@" >out 2>err
}

# recorded COMMAND...: by gprof-record, into the folder $to.
recorded()
{
	GPROF_QUIET=1 "$RECORD" --no-report -o "$to" "$@" >out 2>err
}

# processes [OPTION]... PATH...: the pids that the summary is of, and then the lines on stderr.
processes()
{
	"$REPORT" --view headline --format json "$@" 2>err | jq '.processes.rows | length' 2>/dev/null
}

# rows JQ-EXPRESSION [PATH]: of the rows of `runs`.
rows()
{
	"$REPORT" runs --format json "${2:-$to}" 2>err | jq -r ".runs.rows | $1"
}

# ---- each launch is a run ----
to=two
recorded "$S_LOOP" 4 3
recorded "$S_LOOP" 9 3
is 1 "$(processes two)" "processes of the newest run"
is "gprof-report: 1 older run in two: --run 1; gprof-report runs two lists it" "$(cat err)" "what is left out"
is 27 "$("$REPORT" --view kernel --format json two 2>/dev/null | jq '[.kernel.rows[].calls] | add')" "kernels of the newest run"
is "12 0" "$("$REPORT" --view kernel --format json --run 1 two 2>err | jq '[.kernel.rows[].calls] | add') $(wc -l <err)" "kernels of run 1"
is "2 0" "$(processes --run all two) $(wc -l <err)" "all runs"
is "1 s_loop 4 3,2 s_loop 9 3" "$(rows 'map("\(.run) \(.command)") | join(",")')" "the list"
is "complete complete" "$(rows 'map(.state) | join(" ")')" "states"
is "16 16" "$(rows 'map(.id | length) | join(" ")')" "digits of their IDs"
is 27 "$("$REPORT" --view kernel --format json --run "$(rows '.[1].id')" two 2>/dev/null | jq '[.kernel.rows[].calls] | add')" "a run by its ID"
is 1 "$("$REPORT" runs --top 1 --format csv two | grep -c s_loop)" "the newest one of the list"
"$REPORT" --run 3 two >out 2>err
is "1 gprof-report: no run matches --run 3; there are runs 1 to 2" "$? $(cat err)" "a run that is not there"
"$REPORT" --run 3-1 two >out 2>err
is 2 $? "status of --run 3-1"
is 2 "$(processes two/*.gprof)" "streams that are named themselves"
# A file of settings or a launcher may name the run; a launch within a launch is a part of it.
to=named
GPROF_RUN=exp7 recorded "$S_LOOP" 4 3
recorded --run exp7 "$S_LOOP" 4 3
recorded "$RECORD" --no-report sh -c "'$S_LOOP' 4 3; '$S_LOOP' 4 3"
is "2 2" "$(rows 'map(.processes) | join(" ")')" "processes of runs with IDs"
is 2 "$(processes --run exp7 named)" "processes with that ID"

# ---- under the preload ----
to=plain
preloaded "$S_LOOP" 4 3
preloaded "$S_LOOP" 4 3
printf '#!/bin/sh\n"$1" 4 3\n"$1" 4 3\n' >script && chmod +x script
preloaded ./script "$S_LOOP"
is "1 1 2" "$(rows 'map(.processes) | join(" ")')" "processes of runs from a shell, and of a script"
(export LD_PRELOAD; LD_PRELOAD=$(preload); GPROF_DIR=$T/shell "$S_LOOP" 4 3 && GPROF_DIR=$T/shell "$S_LOOP" 4 3) >out 2>err
is "1 1" "$(rows 'map(.processes) | join(" ")' shell)" "runs of a shell that exports the preload"
# Ranks that are there together, without a launcher that says so; then they end by a signal.
to=ranks
for rank in 0 1; do
	RANK=$rank WORLD_SIZE=2 READY=$T/ready$rank GPROF_DIR=$T/ranks LD_PRELOAD=$(preload) "$S_END" outside >/dev/null 2>&1 &
done
for ((i = 0; i < 6000; i++)); do [ -e ready0 ] && [ -e ready1 ] && break; sleep 0.05; done
# A rank is known once the drain has written the facts of its process.
for ((i = 0; i < 600; i++)); do [ "$(rows '.[0].ranks')" = 2 ] && break; sleep 0.05; done
is "1 2 2 running" "$(rows 'map("\(.run) \(.processes) \(.ranks) \(.state)") | join(",")')" "a run of two ranks"
"$REPORT" runs --delete 1 ranks >out 2>err
is 1 $? "status where a run is to be deleted that runs"
ok grep -q 'still runs; nothing was deleted' err
is 2 "$(find ranks -name '*.part' | wc -l)" "streams of it"
ok "$REPORT" watch --once ranks >out 2>err
ok grep -q ' 2/2 running' out
# shellcheck disable=SC2046 # pids
kill $(jobs -p)
wait
is "killed by a signal" "$(rows '.[0].state')" "a run that was killed"
recorded "$S_LOOP" 4 3
"$REPORT" watch --once ranks >out 2>err
ok grep -q ' 0/1 running' out
"$REPORT" runs --delete 1 ranks >out 2>err
is 0 $? "status of --delete"
is "1 run is left, which is run 1 now" "$(tail -1 out)" "its new number"
is "1 s_loop 4 3" "$(rows 'map("\(.run) \(.command)") | join(",")')" "what is left"
is 1 "$(find ranks -type f | wc -l)" "files that are left"
is 0 "$(find /dev/shm -name "$(basename "$(sed -n 's/^deleted \(.*\)\.gprof.*/\1/p' out | head -1)")*" 2>/dev/null | wc -l)" "rings in memory"

to=states
READY=$T/outside GPROF_QUIET=1 "$RECORD" --report -o states "$S_END" outside >/dev/null 2>&1 &
child=$!
for ((i = 0; i < 6000; i++)); do [ -e outside ] && break; sleep 0.05; done
kill -TERM $child
wait $child
is "stopped by SIGTERM" "$(rows '.[-1].state')" "a run that was stopped"

# ---- the history of a command ----
to=history
for ns in 1000000 1000000 20000000; do
	SIM_KERNEL_NS=$ns GPROF_STEP=api:cudaDeviceSynchronize recorded "$S_LOOP" 24 2
	recorded "$S_LOOP" 4 3
done
SIM_KERNEL_NS=1000000 GPROF_STEP=api:cudaDeviceSynchronize recorded "$S_LOOP" 24 2
"$REPORT" runs --trend --format json history >json 2>err
is "1 3 5 7" "$(jq -r '.history.rows | map(.run) | join(" ")' json)" "runs of the newest one's command"
is "slower faster" "$(jq -r '.history.rows | map(.significance) | .[2:] | join(" ")' json)" "what changed"
is true "$(jq '.history.rows | .[2].change_pct > 100 and .[3].change_pct < -50 and .[0].change_pct == null' json)" "by how much"
is true "$(jq '.history.rows | all(.peak_memory_bytes > 0 and .exposed_communication_pct == 0)' json)" "memory and communication"
is "5 7" "$("$REPORT" runs --trend --top 2 --format json history | jq -r '.history.rows | map(.run) | join(" ")')" "the last two"
is "$(jq -r '.history.rows[2].median_ns' json)" "$("$REPORT" --view headline --format json --run 5 history 2>/dev/null | jq -r '.headline.rows[0].median_ns')" "the median of the first screen"

# The page of the newest run has them, too, and that of a folder with one run of its command none.
page_history()
{
	"$REPORT" html -o page.html "$1" >/dev/null 2>err
	sed -n '/<script type="application\/json" id="data">/,/^<\/script>/p' page.html |
		sed 's/^<script type="application\/json" id="data">//; /^<\/script>$/d' | jq -c '.history.rows'
}
is "$(jq -c '.history.rows' json)" "$(page_history history)" "the history on the page"
mkdir single
cp history/"$(ls -t history | head -1)" single
is "null" "$(page_history single)" "the history of one run"

# ---- all commands ----
"$REPORT" diff --run 1 --run 2 two >out 2>err
is 0 $? "status of diff of two runs"
ok grep -q 'two, run 1' out
ok grep -q 'two, run 2' out
is "" "$(cat err)" "what diff of two runs says"
"$REPORT" diff --run 1 two >out 2>err
is 2 $? "status of diff of one run"
"$REPORT" --run 1 --run 2 two >out 2>err
is 2 $? "status of summary with --run twice"
ok "$REPORT" html --run 1 --run 2 -o page.html two 2>err
ok "$REPORT" html --run 1 -o page.html two 2>err
is "" "$(cat err)" "what html of one run says"
is 1 "$("$REPORT" info --run 1 two | grep -c '^  command ')" "processes of info --run 1"
is 1 "$("$REPORT" info two 2>/dev/null | grep -c '^  command ')" "processes of info"
is "2 1" "$("$REPORT" check two | grep -c passed) $("$REPORT" check --run 2 two | grep -c passed)" "streams that check reads"
"$REPORT" reduce -o newest.sum two 2>err && "$REPORT" reduce --run all -o all.sum two && "$REPORT" reduce --run 1 -o first.sum two
ok grep -q '^gprof-report: 1 older run in two: --run 1' err
is "27 39 12" "$(for sum in newest all first; do "$REPORT" --view kernel --format json $sum.sum | jq '[.kernel.rows[].calls] | add'; done | paste -sd' ')" "kernels in summaries"
is 12 "$("$REPORT" timeline --run 1 -o - two 2>/dev/null | grep -c '"cat": *"kernel"')" "kernels of a timeline"
is 3 "$(processes two named)" "processes of two folders: the newest run of each"
is "deleted 2 files" "$("$REPORT" runs --delete 1 named | sed -n 's/^deleted run 1: \(2 files\),.*/deleted \1/p')" "what --delete says"
"$REPORT" runs --delete all named >out 2>err
is 2 $? "status of --delete all"
finish
