#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Paddle programs, unmodified: what they print is as without us, and what is recorded is what Paddle's own profiler sees.
# Prints TAP. usage: test/paddle/run.sh [PYTHON...]; without, on libraries that play Paddle's, and on the virtual
# environments in build/paddle.
# shellcheck disable=SC2317 # functions that tap calls
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
T=$(mktemp -d "${TMPDIR:-/tmp}/gprof-paddle-XXXXXX")
trap 'rm -rf "$T"' EXIT
for name in $(compgen -e); do
	case $name in GPROF_* | LD_PRELOAD) unset "$name" ;; esac
done
export CUDA_VISIBLE_DEVICES='' OMP_NUM_THREADS=1
lib=$T/libgprof.so
version=played
n=0
bad=0

${MAKE:-make} -s --no-print-directory "$B/libgprof.so" "$B/gprof-report" paddle-programs || exit 1
cp "$B/libgprof.so" "$lib" # programs run for a while, and it may be made anew meanwhile

# shellcheck source=test/tap.sh
. test/tap.sh

check() { python3 test/paddle/check.py "$1" "$T/$2.ops" "${@:3}"; }
counted() { python3 test/count.py "$T/$1.ops" "${@:2}"; }

nothing_lost() { ! grep -aE '"kind": "(loss|notice)"' "$T/$1.ops"; }

# steps RUN NUMBER: so many were found, by the optimizer.
steps()
{
	local have
	have=$("$B/gprof-report" summary --view steps --top 0 --format csv "$T/$1.dump" | grep -c ',"optimizer"$')
	[ "$have" = "$2" ] || { echo "$have steps, $2 wanted"; false; }
}

# orderly RUN: each begins where the one before ends, and none is longer than the run; by the optimizer's name alone.
orderly()
{
	"$B/gprof-report" summary --view steps --top 0 --format json "$T/$1.dump" 2>/dev/null | tee "$T/$1.steps" |
		jq -e '.steps.rows | ([.[].start_ns] | . == sort) and
			all(.[:-1][]; .duration_ns != null and .duration_ns < 1e11)' >"$T/jq" &&
		"$B/gprof-report" summary --view steps --format markdown "$T/$1.dump" | grep -q ': every step of the optimizer' ||
		{ cat "$T/$1.steps" && return 1; }
}

# phases RUN: all of them take time.
phases()
{
	local phase
	"$B/gprof-report" summary --view model --format csv "$T/$1.dump" >"$T/$1.model"
	for phase in Dataloader Forward Backward Optimization; do
		grep -q "^\"$phase\",[1-9]" "$T/$1.model" || { cat "$T/$1.model"; return 1; }
	done
}

# ---- on what plays Paddle ----

# played RUN FAKE NR_STEPS [VARIABLE=VALUE]...: prints the same.
played()
{
	local program=("$B/torch/fake_host" "$3" "$PWD/$B/paddle/$2/libpaddle.so")
	"${program[@]}" >"$T/$1.plain" 2>&1 </dev/null
	env "${@:4}" GPROF_QUIET=1 GPROF_DIR="$T/$1.dump" LD_PRELOAD="$lib" "${program[@]}" >"$T/$1.out" 2>&1
	"$B/torch/ops" "$T/$1.dump"/*.gprof >"$T/$1.ops"
	diff "$T/$1.plain" "$T/$1.out" && grep -q "done" "$T/$1.out"
}

plays()
{
	tap played "$1" "$1" 3 "$1: prints the same"
	tap counted "$1" 'matmul dygraph=3' 'matmul infer_meta=3' 'fails dygraph=3' 'fails infer_meta=0' \
		Global_Grad=3 backward=3 'sgd_ dygraph=9' twice=3 detail=0 elsewhere=1 Optimizer.step#sgd=6 \
		MultiDeviceFeedReader::ReadNextList=3 "$1: operators and stages"
	tap check nests "$1" "$1: nesting"
	tap check inside "$1" 'sgd_ dygraph' Optimizer.step#sgd 9 "$1: what the optimizer runs"
	tap check inside "$1" 'sgd_ infer_meta' 'sgd_ dygraph' 3 "$1: and what that runs"
	tap check inside "$1" 'matmul kernel launch' 'matmul dygraph' 3 "$1: stages"
	tap steps "$1" 3 "$1: steps, also the last one"
	tap phases "$1" "$1: phases"
	tap check played "$1" "$1: allocations"
	tap grep -q '"no Paddle memory".*kind 99' "$T/$1.ops" "$1: memory of another kind"
}

# only_steps RUN NUMBER: nothing else is recorded.
only_steps() { steps "$1" "$2" && ! grep -E '"kind": "(op|alloc)"' "$T/$1.ops"; }

# only_times RUN NUMBER: nothing but steps, and the fetch from the data loader in each.
only_times()
{
	steps "$1" "$2" && counted "$1" "MultiDeviceFeedReader::ReadNextList=$2" &&
		! grep -E '"kind": "(op|alloc)"' "$T/$1.ops" | grep -v MultiDeviceFeedReader
}

# reads RUN: the table of Paddle's timer, with all of its rows.
reads()
{
	local row
	"$B/gprof-report" summary --style paddle --view benchmark "$T/$1.dump" >"$T/$1.table"
	for row in '^Reader Ratio: [0-9.]*%' '^|   reader_cost   |' '^|    batch_cost   |' '^|       ips       |'; do
		grep -q "$row" "$T/$1.table" || { cat "$T/$1.table"; return 1; }
	done
}

windows()
{
	tap played closed TWO 9 GPROF_SCHEDULE=4-6 "window: prints the same"
	tap counted closed 'matmul dygraph=2' 'sgd_ dygraph=6' MultiDeviceFeedReader::ReadNextList=2 \
		"window: operators of two steps"
	tap steps closed 9 "window: all steps"
	tap played stepping TWO 5 GPROF_PADDLE=steps "steps alone: prints the same"
	tap only_steps stepping 5 "steps alone"
	tap played timing TWO 5 GPROF_TIMER_ONLY=1 "timer: prints the same"
	tap only_times timing 5 "timer: steps and fetches alone"
	tap reads timing "timer: reader_cost"
	tap played off TWO 5 GPROF_PADDLE=off "off: prints the same"
	tap only_steps off 0 "off: nothing"
}

# no_phases RUN: the report does not guess any.
no_phases() { ! "$B/gprof-report" summary --view model --format csv "$T/$1.dump" | grep '^"Forward",[1-9]'; }

static()
{
	tap played static TWO 0 "static: prints the same"
	tap counted static StandaloneExecutor::run=3 pd_op.sgd_=3 Optimizer.step#sgd=0 "static: operators"
	tap steps static 3 "static: steps"
	tap no_phases static "static: no phases"
	tap played static_closed TWO 0 GPROF_SCHEDULE=1-2 "static, window: prints the same"
	tap counted static_closed pd_op.sgd_=1 "static, window: operators"
	tap steps static_closed 3 "static, window: steps"
}

# As under Paddle's own profiler, which marks optimizers.
marked()
{
	tap played MARKED MARKED 4 "marked: prints the same"
	tap counted MARKED 'Optimization Step=4' 'adam_ dygraph=8' Optimizer.step#adam=0 "marked: operators"
	tap steps MARKED 4 "marked: steps"
	tap orderly MARKED "marked: times of steps"
}

hard_cases()
{
	tap played STRANGE STRANGE 1 "strange: prints the same"
	tap grep -q '"no Paddle operators".*event strange' "$T/STRANGE.ops" "strange: a type of event"
	tap counted STRANGE strange=0 later=0 'matmul dygraph=1' "strange: nothing after it"
	tap played deep TWO 600 "deep: prints the same"
	tap counted deep nested=1020 "deep: operators up to the limit are kept"
	tap lost deep 180 "inside more than 510 others" "deep: the others are counted"
	tap played names TWO 40000 "names: prints the same"
	tap counted names 'name 1=1' 'name 30000=1' "names: the first"
	tap grep -q '"many names"' "$T/names.ops" "names: that there are more"
}

# lost RUN NUMBER TEXT: NUMBER losses of the cause that contains TEXT.
lost()
{
	"$B/gprof-report" summary --view losses --format json "$T/$1.dump" 2>/dev/null | tee "$T/$1.losses" |
		jq -e "[.losses.rows[] | select(.cause | contains(\"$3\")).count] == [$2]" >"$T/jq" || { cat "$T/$1.losses" && return 1; }
}

# ---- on Paddle ----

# without|within|profiled RUN PROGRAM [ARGUMENT]...: output and status in $T/RUN.*; warnings have times
without()
{
	timeout 600 "$python" "test/paddle/prog/$2.py" "${@:3}" >"$T/$1.plain" 2>"$T/$1.plain.err"
	echo $? >>"$T/$1.plain"
}

within()
{
	rm -rf "$T/$1.dump"
	GPROF_DIR=$T/$1.dump LD_PRELOAD=$lib \
		timeout 600 "$python" "test/paddle/prog/$2.py" "${@:3}" >"$T/$1.out" 2>"$T/$1.err"
	echo $? >>"$T/$1.out"
	"$B/torch/ops" "$T/$1.dump"/*.gprof >"$T/$1.ops"
}

profiled()
{
	timeout 600 "$python" test/paddle/profiled.py "$T/$1.json" "test/paddle/prog/$2.py" "${@:3}" \
		>/dev/null 2>"$T/$1.profiler.err"
}

same() { diff "$T/$1.plain" "$T/$1.out" || { tail -5 "$T/$1.err"; false; }; }

# trains RUN NR_STEPS PROGRAM [ARGUMENT]...
trains()
{
	without "$1" "${@:3}" &
	profiled "$1" "${@:3}"
	wait
	within "$1" "${@:3}"
	tap same "$1" "$1: prints the same"
	tap check counts "$1" "$T/$1.json" "$1: operators, stages and allocations"
	tap check nests "$1" "$1: nesting"
	tap steps "$1" "$2" "$1: steps"
	tap nothing_lost "$1" "$1: nothing lost"
}

# A program that profiles itself has the same result with us, and what it marks in Python is ours too.
profiles_itself()
{
	rm -rf "$T/itself.dump"
	export LD_PRELOAD=$lib GPROF_DIR=$T/itself.dump GPROF_QUIET=1
	profiled itself conv
	unset LD_PRELOAD GPROF_DIR GPROF_QUIET
	"$B/torch/ops" "$T/itself.dump"/*.gprof >"$T/itself.ops"
	tap python3 test/paddle/check.py profiles "$T/itself.json" "$T/conv.json" "paddle.profiler in the program: its result"
	tap check counts itself "$T/conv.json" "paddle.profiler in the program: our result"
	tap check marked itself "$T/conv.json" "paddle.profiler in the program: phases and ranges"
	tap steps itself 5 "paddle.profiler in the program: steps"
	tap orderly itself "paddle.profiler in the program: times of steps"
}

# beside MODE SCHEDULER WINDOW TABLE...: Paddle's own profiler prints its tables with us as without, and ours have the
# same rows and calls.
beside()
{
	local run=$1-$3 ranges
	without "$run" itself "$1" "$2"
	for ranges in ops ranges; do
		GPROF_PADDLE=$ranges GPROF_SCHEDULE=$3 within "$run" itself "$1" "$2"
		"$B/gprof-report" summary --style paddle "$T/$run.dump" >"$T/$run.tables"
		tap python3 test/paddle/check.py unchanged "$T/$run.out" "$T/$run.plain" \
			"$1, scheduler=$2, $ranges: Paddle's tables are as without us"
		tap python3 test/paddle/check.py tables "$T/$run.tables" "$T/$run.out" "${@:4}" \
			"$1, scheduler=$2, $ranges: ours have its rows and calls"
		tap nothing_lost "$run" "$1, scheduler=$2, $ranges: nothing lost"
	done
}

# remembers: its Memory Summary, beside ours.
remembers()
{
	GPROF_SCHEDULE=3-10 within memory itself dynamic '(3,10)' memory
	"$B/gprof-report" summary --style paddle --view memory "$T/memory.dump" >"$T/memory.tables"
	tap python3 test/paddle/check.py memory "$T/memory.tables" "$T/memory.out" "profile_memory: ours has its rows"
}

# timed: its timer alone, beside ours.
timed()
{
	without timed itself dynamic None timer
	GPROF_TIMER_ONLY=1 GPROF_BATCH_SIZE=4 within timed itself dynamic None timer
	tap python3 test/paddle/check.py unchanged "$T/timed.out" "$T/timed.plain" "timer_only: Paddle's table is as without us"
	tap reads timed "timer_only: ours has reader_cost, batch_cost and ips"
	tap steps timed 15 "timer_only: steps"
}

# old_report RUN: that of Paddle's old profiler. Computation is the stages that launch kernels, the rest overhead.
old_report()
{
	"$B/gprof-report" --view framework --detail=op --format json --top 0 "$T/$1.dump" 2>/dev/null | tee "$T/$1.old" |
		jq -e '.framework.rows as $rows | ($rows | map({(.name): .total_ns}) | add) as $ns |
			([$rows[] | select(.section == "event" and (.name | endswith("kernel launch"))).total_ns] | add) ==
				$ns["Computation time"] and
			$ns["Computation time"] + $ns["Framework overhead"] == $ns["Total time"] and
			any($rows[]; .name == "conv2d kernel launch" and .level == 1)' >"$T/jq" || { cat "$T/$1.old"; return 1; }
	"$B/gprof-report" --style paddle --view framework "$T/$1.dump" 2>/dev/null | grep -qx 'Place: CPU'
}

# What Paddle marks in Python, though no profiler is there; optimizers it wraps only when one is made.
ranges()
{
	GPROF_PADDLE=ranges within ranges conv
	cp "$T/conv.plain" "$T/ranges.plain"
	tap same ranges "ranges: prints the same"
	tap check counts ranges "$T/conv.json" "ranges: operators, stages and allocations"
	tap check marked ranges "$T/conv.json" Optimization "ranges: phases and ranges of the user"
	tap phases ranges "ranges: phases"
	tap steps ranges 5 "ranges: steps"
	tap orderly ranges "ranges: times of steps"
	tap nothing_lost ranges "ranges: nothing lost"
}

real()
{
	python=$1
	version=$("$python" -c 'import paddle; print(paddle.__version__)' 2>/dev/null) || {
		n=$((n + 1))
		echo "ok $n - $python # SKIP no Paddle in it"
		return
	}
	trains conv 5 conv
	tap phases conv "conv: phases"
	tap old_report conv "conv: the report of Paddle's old profiler"
	trains accumulate 4 accumulate
	tap check allocated accumulate "accumulate: totals of memory"
	trains workers 5 conv 2
	profiles_itself
	ranges
	case $version in
	2.*) ;; # its tables have other rows
	*)
		beside dynamic '(3,10)' 3-10 Overview Model Operator UserDefined
		beside dynamic None all Operator UserDefined
		beside static '(3,10)' 3-10 Operator
		beside static None all Operator UserDefined
		remembers
		;;
	esac
	timed
}

if [ $# = 0 ]; then
	plays TWO
	plays ONE
	windows
	static
	marked
	hard_cases
	for python in "$B"/paddle/*/bin/python; do
		[ ! -x "$python" ] || set -- "$@" "$python"
	done
	[ $# != 0 ] || {
		n=$((n + 1))
		echo "ok $n - versions of PyPI # SKIP large; test/paddle/versions.sh makes environments"
	}
fi
for python in "$@"; do
	real "$python"
done
echo "1..$n"
exit $bad
