#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Opens pages of `gprof-report html` in headless Chromium: of a made stream, of hostile names, of the
# demo's dump where it is, and of the traces in $GPROF_TRACES, of which `make test` takes two; some also in
# Firefox (Debian: firefox-esr), where it is. Prints TAP. Skipped without Chromium (Debian: chromium-headless-shell;
# chromium works as well and takes twice the time), and without playwright, which comes from PyPI once, as
# Firefox's marionette-driver does.
#
#     test/page/run.sh [GROUP]    pages, timelines or recordings, each in a browser of its own; else all, one beside the other
# shellcheck disable=SC2317 # tap and group call functions
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
lib=$(pwd)/$B/page-lib
T=$(mktemp -d "${TMPDIR:-/tmp}/gprof-page-XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
n=0
bad=0
version=page
# Each page is looked at in light. What the dark may spoil depends little on data, so a few pages are looked at in both;
# `make test` also tries the width of a telephone on these alone.
everything="light dark narrow"
how="light narrow"
[ "${TEST_TIER:-all}" = all ] || how=light

# not_run NAME WHY
not_run() {
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

skip() {
	echo "SKIP $1"
	exit 77
}

# shellcheck source=test/tap.sh
. test/tap.sh
chromium=$(command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no chromium"
fetch_lib "$lib" playwright==1.65.2 || skip "playwright is not to be had: $(tail -1 "$T/pip" | cut -c1-80)"
${MAKE:-make} -s --no-print-directory "$B/gprof-report" "$B/gen_stream" || exit 1

in_all() {
	[ "${TEST_TIER:-all}" = all ]
}

# open_browser: for what in_browser runs, until close_browser.
open_browser() {
	coproc { PYTHONPATH=$lib exec python3 test/page/session.py "$chromium"; }
	exec {ask}>&"${COPROC[1]}" {answer}<&"${COPROC[0]}"
}

close_browser() {
	local pid=$COPROC_PID
	eval "exec ${COPROC[1]}>&-"
	exec {ask}>&-
	wait "$pid"
}

# in_browser SCRIPT ARGUMENT...: test/page/SCRIPT.py
in_browser() {
	local IFS=$'\t' status
	echo "$T/said	$*" >&"$ask"
	# One that hangs ends all: its answer must not be taken for that of the next.
	read -r -t 1500 -u "$answer" status || { kill "$COPROC_PID" 2>/dev/null; status="no answer"; }
	cat "$T/said"
	[ "$status" = 0 ]
}

# write NAME PATH...: the page, and what it must show.
write() {
	local name=$1
	shift
	"$B/gprof-report" html --top 0 -o "$T/$name.html" "$@" 2>"$T/$name.err"
	case $? in 0 | 3) ;; *) cat "$T/$name.err"; return 1 ;; esac
	"$B/gprof-report" summary --format json --all "$@" >"$T/$name.json" 2>/dev/null
	return 0
}

# page NAME PATH...: writes it, and looks at it.
page() {
	write "$@" && in_browser look "$T/$1.html" "$T/$1.json" "$how" "${pictures:-}"
}

made() {
	"$B/gen_stream" "$T/$1.gprof" "$1" && "${2:-page}" "$1" "$T/$1.gprof"
}

# cut_off: a stream that ends in the middle: of its kernels only the launches are there.
cut_off() {
	head -c $(($(stat -c %s "$T/20000.gprof") / 2)) "$T/20000.gprof" >"$T/cut.gprof" && page cut "$T/cut.gprof" &&
		grep -q '"title": "Kernels"' "$T/cut.json" && grep -q 'Times are those of the launch calls on the host' "$T/cut.json"
}

# ranks_into NAME PIDS: traces of 18 of them, whose pids are so far apart (0: as in containers they are the same);
# steps are short, long, or not there, and two of them share a cell. Hosts communicate.
ranks_into() {
	local rank
	mkdir "$T/$1"
	for rank in {0..17}; do
		awk -v rank="$rank" -v pids="$2" 'BEGIN {
			printf "{\"distributedInfo\": {\"rank\": %d, \"world_size\": 18}, \"traceEvents\": [", rank
			for (at = 1000; step < 30; step++) {
				us = 100 * (rank == 7 ? 1.3 : rank == 2 ? .7 : 1) * (step == 16 ? 5 : step == 21 && rank > 9 ? 1.8 : step == 10 ? 3 : 1)
				if (step < 6 || step > 7 || rank != 4) {
					printf "%s{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#%d\", \"pid\": %d, \"tid\": 7, \"ts\": %d, \"dur\": %d}", (step ? ",\n" : ""), step < 29 ? step : 200, 100 + pids * rank, at, us + rank % 3
					printf ",{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"gloo:all_reduce\", \"pid\": %d, \"tid\": 7, \"ts\": %d, \"dur\": 9}", 100 + pids * rank, at + 5
				}
				at += us + 5
			}
			print "]}"
		}' >"$T/$1/rank$rank.json"
	done
	# Started again: some of its steps took the second process longer.
	sed 's/"pid": [0-9]*/"pid": 999/; 1,20s/"dur": /"dur": 1/' "$T/$1/rank3.json" >"$T/$1/rank3-again.json"
}

ranks() {
	ranks_into "$@" && page "$1" "$T/$1"
}

# helper: traces of a process with steps and of one that has none, as loader workers have.
helper() {
	local pid
	mkdir "$T/helper"
	for pid in 10 11; do
		awk -v pid="$pid" 'BEGIN {
			printf "{\"traceEvents\": [\n"
			for (i = 0; i < 12; i++) {
				if (pid == 10) {
					printf "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#%d\", \"pid\": 10, \"tid\": 10, \"ts\": %d, \"dur\": %d},\n", i, 1000 * i, i < 11 ? 1000 : 90000
				}
				printf "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": %d, \"tid\": %d, \"ts\": %d, \"dur\": 500}%s\n", pid, pid, 1000 * i + 100, i < 11 ? "," : "]}"
			}
		}' >"$T/helper/$pid.json"
	done
	page helper "$T/helper"
}

# collectives: traces of 4 ranks that communicate on GPUs; rank 2 comes late to every third collective.
collectives() {
	local rank
	mkdir "$T/collectives"
	for rank in {0..3}; do
		awk -v rank="$rank" 'BEGIN {
			printf "{\"distributedInfo\": {\"rank\": %d, \"world_size\": 4}, \"traceEvents\": [", rank
			for (i = 0; i < 20; i++) {
				at = 1000 + 1000 * i
				from = at + 20 + 7 * rank + (rank == 2 && i % 3 == 0 ? 300 + 10 * i : 0)
				printf "%s{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#%d\", \"pid\": %d, \"tid\": 7, \"ts\": %d, \"dur\": 990}", (i ? ",\n" : ""), i, 100 + rank, at
				printf ",{\"ph\": \"X\", \"cat\": \"cuda_driver\", \"name\": \"cuLaunchKernelEx\", \"pid\": %d, \"tid\": 7, \"ts\": %d, \"dur\": 2, \"args\": {\"correlation\": %d}}", 100 + rank, at + 5, i + 1
				printf ",{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel\", \"pid\": 0, \"tid\": 7, \"ts\": %d, \"dur\": %d, \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": %d, \"Collective name\": \"allreduce\", \"dtype\": \"Float\", \"In msg nelems\": 1000, \"Out msg nelems\": 1000, \"Group size\": 4, \"Process Group Name\": \"0\", \"Process Group Ranks\": \"[0, 1, 2, 3]\", \"Seq\": %d}}", from, at + 700 - from, i + 1, i
			}
			print "]}"
		}' >"$T/collectives/rank$rank.json"
	done
	page collectives "$T/collectives" && grep -q '"number": 20' "$T/collectives.json"
}

# timeline NAME: that of a page that is there, worked with; what it saves holds what `timeline` writes.
timeline() {
	local file=$T/$1.gprof part tracks=api,ops,nvtx,python,gpu,steps,marks
	[ "$1" != markup ] || file=test/page/hostile.json
	in_browser timeline "$T/$1.html" "$T/$1.json" "$T" "${pictures:-}" >"$T/timeline" ||
		{ cat "$T/timeline"; return 1; }
	part=$(sed -n 's/^part //p' "$T/timeline")
	[ -n "$part" ] || return 0
	"$B/gprof-report" timeline --tracks "$tracks" -o "$T/all.json" "$file" &&
		"$B/gprof-report" timeline --tracks "$tracks" --time "$part" -o "$T/part.json" "$file" &&
		python3 test/page/saved.py "$T/$1.saved.json" "$T/all.json" &&
		python3 test/page/saved.py "$T/$1-part.saved.json" "$T/part.json"
}

# flame NAME INPUT: the flame graphs of a page that is there, worked with.
flame() {
	in_browser flame "$T/$1.html" "$B/gprof-report" "$2" "${pictures:-}"
}

# form NAME: of a page that is there.
form() {
	in_browser form "$T/$1.html" "$T/$1.json"
}

# modules: the tree of modules of a training.
# opening: a trace of a program that prepares for a second, then has ten steps of 10 ms.
opening() {
	awk 'BEGIN {
		printf "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"import\", \"pid\": 5, \"tid\": 5, \"ts\": 100, \"dur\": 900000}"
		for (; step < 10; step++) {
			printf ",\n{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#%d\", \"pid\": 5, \"tid\": 5, \"ts\": %d, \"dur\": 10000},", step, 1000000 + 10000 * step
			printf "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 5, \"tid\": 5, \"ts\": %d, \"dur\": 8000}", 1000100 + 10000 * step
		}
		printf "]}\n"
	}' >"$T/opening.trace.json"
	write opening "$T/opening.trace.json" && in_browser timeline "$T/opening.html" "$T/opening.json" "${pictures:-}"
}

modules() {
	mkdir "$T/traces" && python3 test/page/training.py "$T/traces/training.json" && page training "$T/traces/training.json" || return 1
	in_browser modules "$T/training.html" "$T/training.json" "${pictures:-}"
}

# memory NAME: charts of memory and of the roofline of a page that is there.
memory() {
	in_browser memory "$T/$1.html" "$T/$1.json" "${pictures:-}"
}

# sums: a timeline with room for few slices.
sums() {
	"$B/gen_stream" "$T/many.gprof" model 100000 && "$B/gprof-report" summary --format json "$T/many.gprof" >"$T/many-sums.json" &&
		"$B/gprof-report" html --timeline-size 200k -o "$T/many-sums.html" "$T/many.gprof" && timeline many-sums
}

two() {
	"$B/gprof-report" html --top 0 -o "$T/diff.html" "$1" "$2" 2>"$T/diff.err"
	case $? in 0 | 3) ;; *) cat "$T/diff.err"; return 1 ;; esac
	"$B/gprof-report" diff --format json "$1" "$2" >"$T/diff.json" 2>/dev/null
	in_browser diff "$T/diff.html" "$T/diff.json" "$how" "$B/gprof-report" "${pictures:-}"
}

# two_timelines A B: those of the page of both, which is there.
two_timelines() {
	"$B/gprof-report" summary --format json "$1" >"$T/a.json" 2>/dev/null
	"$B/gprof-report" summary --format json "$2" >"$T/b.json" 2>/dev/null
	in_browser pair "$T/diff.html" runs "$T/a.json" "$T/b.json" "${pictures:-}"
}

# two_ranks NAME: of a page that is there.
two_ranks() {
	in_browser pair "$T/$1.html" ranks "$T/$1.json" "${pictures:-}"
}

made_two() {
	"$B/gen_stream" "$T/a.gprof" 20000 1 && "$B/gen_stream" "$T/b.gprof" 30000 7 && two "$T/a.gprof" "$T/b.gprof"
}

# reduced NAME PATH...: the page of their summary.
reduced() {
	local name=$1
	shift
	"$B/gprof-report" reduce -o "$T/$name.sum" "$@" 2>"$T/$name.err"
	"$B/gprof-report" html --top 0 -o "$T/$name.html" "$T/$name.sum" 2>"$T/$name.err"
	case $? in 0 | 3) ;; *) cat "$T/$name.err"; return 1 ;; esac
	"$B/gprof-report" summary --format json "$T/$name.sum" >"$T/$name.json" 2>/dev/null
	in_browser reduced "$T/$name.html" "$T/$name.json" "$how" "${pictures:-}"
}

made_reduced() {
	local rank
	mkdir "$T/job"
	for rank in {0..19}; do
		"$B/gen_stream" "$T/job/$rank.gprof" model 30000 "$rank" 20 || return 1
	done
	reduced reduced "$T/job"
}

# served FILE: the page that the server has of it, which asks for more.
served() {
	in_browser serve "$B/gprof-report" "$1" "$T" "${pictures:-}"
}

has_server() {
	printf '#include <microhttpd.h>\n' | gcc -E -x c - >/dev/null 2>&1
}

# Pages that ask a server, where there is one.
served_pages() {
	if ! has_server; then
		not_run "pages of a server" "no libmicrohttpd-dev"
		return
	fi
	"$B/gen_stream" "$T/served.gprof" model 60000 && python3 test/page/overlaps.py "$T/overlaps.json" || exit 1
	tap served "$T/served.gprof" "a page that asks its server for events"
	tap served "$T/overlaps.json" "a page that asks its server for events that overlap"
}

# in_firefox ARGUMENT...: of test/page/firefox.py
in_firefox() {
	mkdir -p "$T/firefox"
	HOME=$T/firefox PYTHONPATH=$lib-firefox timeout 1500 python3 test/page/firefox.py "$firefox" "$T/firefox" "$@" >"$T/firefox/out" 2>&1 ||
		{ cat "$T/firefox/out"; return 1; }
}

# serve FILE: in the background as $server, with little room for events, so that the page asks for more. Its address is $served.
serve() {
	"$B/gprof-report" serve --timeline-size 20k "$1" >"$T/serve.out" 2>"$T/serve.err" &
	server=$!
	until served=$(grep -som1 'http://[^ ]*' "$T/serve.out"); do
		kill -0 "$server" || return 1
		sleep .05
	done
}

# Pages that were made before.
firefox_pages() {
	firefox=$(command -v firefox-esr || command -v firefox) || { not_run "pages in Firefox" "no firefox"; return; }
	fetch_lib "$lib-firefox" marionette-driver==3.7.1 ||
		{ not_run "pages in Firefox" "marionette-driver is not to be had: $(tail -1 "$T/pip" | cut -c1-80)"; return; }
	local served='' server=''
	! has_server || serve "$T/20000.gprof" || exit 1
	tap in_firefox "$T/20000.html" "$T/ops.html" "$T/ranks.html" "$T/hostile.html" "$T/markup.html" "$T/diff.html" "$T/reduced.html" ${served:+"$served"} \
		"pages in Firefox, which reports one that throws"
	[ -z "$server" ] || kill "$server"
}

pages() {
	tap python3 test/page/colors.py report/html/page/palette.css report/html/page/page.css "colours can be told apart, and text can be read"
	tap made 20000 "20000 events"
	how=$everything tap made ops "operators"
	tap made gil "waits for Python's lock"
	tap made stall "a stalled process"
	tap made hostile "damaged streams"
	tap cut_off "a stream that was cut off"
	tap helper "steps of a process beside one without, one of them long"
	tap ranks ranks 1 "steps of 18 ranks"
	tap ranks containers 0 "steps of 18 ranks that have one pid"
	how=$everything tap collectives "collectives of 4 ranks"
	how=$everything tap made_two "two runs"
	tap two_timelines "$T/a.gprof" "$T/b.gprof" "timelines of two runs"
	tap two test/page/hostile.json test/page/hostile.json "names that are markup, two runs"
	how=$everything tap made_reduced "a summary of 20 ranks"
	tap reduced reduced-one "$T/hostile.gprof" "a summary of a damaged stream"
	tap reduced reduced-markup test/page/hostile.json "names that are markup, a summary"
	tap page markup test/page/hostile.json "names that are markup"
	tap form ops "form of a page"
	firefox_pages
}

# Work with a page, most of it with the timeline. In `make test` operators stand for the 20000 events, which have nothing that they lack.
timelines() {
	ranks_into ranks 1 && write ranks "$T/ranks" && made ops write && made hostile write && write markup test/page/hostile.json || exit 1
	tap timeline ops "timeline of operators"
	tap timeline hostile "timeline of damaged streams"
	tap timeline ranks "timeline of 19 processes"
	tap two_ranks ranks "timelines of two of 18 ranks"
	tap timeline markup "timeline of names that are markup"
	tap sums "timeline of 100000 events in 200 KB"
	tap flame markup test/page/hostile.json "flame graphs of names that are markup"
	tap opening "a timeline opens on the steps"
	tap modules "modules, phases and steps of a training"
	tap flame training "$T/traces/training.json" "flame graphs of a training"
	tap memory ops "memory by category and roofline"
	served_pages
	if in_all; then
		made 20000 write || exit 1
		tap timeline 20000 "timeline of 20000 events"
		tap flame 20000 "$T/20000.gprof" "flame graphs of 20000 events"
		tap flame ops "$T/ops.gprof" "flame graphs of operators"
	fi
}

recordings() {
	local trace
	[ ! -d "$B/demo/gprof-dump" ] || tap page demo "$B/demo/gprof-dump" "the demo"
	[ -z "${GPROF_TRACES:-}" ] || tap two "$GPROF_TRACES"/resnet50_nw0_v100.json.gz "$GPROF_TRACES"/resnet50_nw4_v100.json.gz "two real runs"
	for trace in $(real_traces); do
		tap page "$(basename "$trace" .json.gz)" "$trace" "$(basename "$trace")"
	done
	[ -z "${trace:-}" ] || ! in_all || tap form "$(basename "$trace" .json.gz)" "form of the page of $(basename "$trace")"
	if [ -z "${GPROF_TRACES:-}" ]; then
		not_run "page of real traces" "GPROF_TRACES is not set"
	fi
}

# group NAME FIRST: numbers of its results begin after FIRST.
group() {
	T=$T/$1
	n=$2
	mkdir "$T"
	open_browser
	"$1"
	close_browser
	exit $bad
}

case ${1:-} in
pages | timelines | recordings) group "$1" 0 ;;
"")
	nr=0
	for name in pages timelines recordings; do
		(group $name $nr) >"$T/$name.tap" &
		nr=$((nr + 100))
	done
	for job in $(jobs -p); do
		wait "$job" || bad=1
	done
	cat "$T"/*.tap
	exit $bad
	;;
*) echo "no group $1: pages, timelines, recordings" >&2; exit 2 ;;
esac
