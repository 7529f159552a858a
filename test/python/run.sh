#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# GPROF_PYTHON, and what is read of data loaders, on every CPython from 3.8 to 3.15 that is here or that debian.sh gets, on the
# simulator (`make test`: the system's, 3.8 and 3.13): what is recorded is what Python says of itself, and programs see
# nothing of us. Prints TAP.
# usage: test/python/run.sh [PYTHON...]
# shellcheck disable=SC2317 # functions that tap calls
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
T=$(mktemp -d "${TMPDIR:-/tmp}/gprof-python-XXXXXX")
trap 'rm -rf "$T"' EXIT
for name in $(compgen -e); do
	case $name in GPROF_* | LD_PRELOAD | PYTHON*) unset "$name" ;; esac
done
${MAKE:-make} -s --no-print-directory all sim python-programs || exit 1
lib=$T/libgprof.so
cp "$B/libgprof.so" "$lib" # it may be made anew meanwhile
export LD_LIBRARY_PATH=$PWD/$B/sim PYTHONHASHSEED=1 GPROF_QUIET=1
n=0
bad=0

# shellcheck source=test/tap.sh
. test/tap.sh

within() { rm -rf "$T/dump"; GPROF_DIR=$T/dump LD_PRELOAD=$lib "$@"; }

# On a busy machine the first call may find the recorder not yet started, which is counted, or all operators are over before
# gprof's thread has asked for them; then there is another try.
within_from_the_start()
{
	local _ rc
	for _ in 1 2 3 4 5; do
		within "$@" >"$T/within.out" 2>"$T/within.err"
		rc=$?
		[ $rc = 0 ] && "$B/gprof-report" summary --view losses --format json "$T/dump" 2>&1 |
			grep -q 'while the recorder was starting\|"events": 0,' || break
	done
	cat "$T/within.out"
	cat "$T/within.err" >&2
	return $rc
}

# view NAME: its JSON in $T/NAME.json
view() { "$B/gprof-report" summary --view "$1" --format json --top 0 "$T/dump" >"$T/$1.json"; }

# ---- without Python ----

version=none

# played WANTED-OUTPUT WANTED-NOTICE VERSION [VARIABLE...]
played()
{
	local out
	out=$(within env "${@:4}" "$B/python/fake_python" "$3") || return 1
	[ "$out" = "$1" ] || { echo "it says: $out"; return 1; }
	view notices
	if [ -n "$2" ]; then
		grep -F "$2" "$T/notices.json" >/dev/null || { cat "$T/notices.json"; return 1; }
	else
		! grep -F '"cause": ' "$T/notices.json"
	fi
}

# by_file SETTING: which counts in the environment only.
by_file()
{
	echo "$1" >"$T/file"
	played "no audit hook" "works only as an environment variable" 3.11.0 GPROF_CONFIG="$T/file"
}

tap played "no audit hook" "" 3.11.0 "off: no audit hook"
tap played "no audit hook" "" 3.11.0 GPROF_PYTHON=off "off by name: no audit hook"
tap played "no audit hook" "is not allowed" 3.11.0 GPROF_PYTHON=stakcs "a wrong value: no audit hook"
tap played "no audit hook" "" 3.11.0 GPROF_PYTHON=stacks GPROF_ENABLE=0 "switched off: no audit hook"
tap played "an audit hook" "this version is not known" 3.16.0 GPROF_PYTHON=stacks "an unknown version"
tap played "an audit hook" "this version is not known" "3.14.0 free-threading build (main)" GPROF_PYTHON=stacks "a build without the GIL"
tap played "an audit hook" "its frames cannot be read" 3.12.0 GPROF_PYTHON=stacks "another layout"
tap by_file GPROF_PYTHON=stacks "asked for by a file"
tap played "an audit hook" "this version is not known" 3.16.0 GPROF_PYTHON=gc "collections: an unknown version"
tap played "no audit hook" "" 3.11.0 GPROF_HANG_TIMEOUT_S=0 "hangs: off, no audit hook"
tap played "an audit hook" "this version is not known (3.8 to 3.15 are, with the GIL); hangs are reported without them" 3.16.0 GPROF_HANG_TIMEOUT_S=1 \
	"hangs: an unknown version"
tap played "an audit hook" "its frames cannot be read; hangs are reported without them" 3.12.0 GPROF_HANG_TIMEOUT_S=1 "hangs: another layout"
tap by_file GPROF_HANG_TIMEOUT_S=1 "hangs: asked for by a file"
tap played "no audit hook" "" 3.11.0 GPROF_CPU_HZ=0 "samples: off, no audit hook"
tap played "an audit hook" "this version is not known (3.8 to 3.15 are, with the GIL); CPU samples have native stacks alone" 3.16.0 GPROF_CPU_HZ=9 \
	"samples: an unknown version"
tap played "no audit hook" "Python 3.16.0: this version is not known (3.8 to 3.15 are, with the GIL); CPU samples have native stacks alone" 3.16.0 \
	"samples: an unknown version, which nobody asked for"

# ---- with Python ----

# What has nothing to do with the version is tried on the first.
is_first() { [ "$python" = "${pythons[0]}" ]; }

# The stacks that are recorded are those that the program saw.
stacks()
{
	GPROF_PYTHON=stacks GPROF_PYTHON_HZ=0 within "$python" test/python/places.py "$T/want" || return 1
	view python 2>/dev/null
	python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["python"]["rows"]
print("\n".join(sorted(row["stack"] for row in rows)))' "$T/python.json" >"$T/have" || return 1
	sort -o "$T/want" "$T/want"
	sort "$T/have" | diff "$T/want" - | cut -c1-250 | head -20 | grep . && return 1
	[ "$(wc -l <"$T/want")" -gt 40 ]
}

# lost_alone COUNT TEXT: COUNT losses of the cause that contains TEXT, and no other loss or notice.
lost_alone()
{
	view losses 2>/dev/null && view notices 2>/dev/null
	jq -e "[.losses.rows[] | .count] == [$1] and (.losses.rows[0].cause | contains(\"$2\"))" "$T/losses.json" >/dev/null &&
		! grep '"cause": ' "$T/notices.json" || { cat "$T/losses.json" && return 1; }
}

# More files and functions than gprof keeps: it counts functions without a file and calls without a stack.
files()
{
	GPROF_PYTHON=stacks GPROF_PYTHON_HZ=0 within_from_the_start "$python" test/python/files.py 17000 || return 1
	view python 2>/dev/null && view losses 2>/dev/null && python3 - "$T" <<-'END'
		import json, sys
		rows = json.load(open(sys.argv[1] + "/python.json"))["python"]["rows"]
		lost = {row["cause"]: row["count"] for row in json.load(open(sys.argv[1] + "/losses.json"))["losses"]["rows"]}
		stacks = sum(n for cause, n in lost.items() if cause.startswith("Python stack"))
		files = sum(n for cause, n in lost.items() if cause.startswith("Python function in a file"))
		launches = sum(row["launches"] for row in rows)
		unknown = sum(row["launches"] for row in rows if "(unknown)" in row["stack"])
		print(launches, unknown, lost)
		# Each launch is from a file of its own, and from two functions in it.
		sys.exit(not (stacks > 0 and launches + stacks == 17000 and 12000 < unknown == files / 2 and len(lost) == 2))
	END
}

# More stacks than gprof keeps: it counts the missing ones. Each launch has two frames of its own.
many_stacks()
{
	GPROF_PYTHON=stacks GPROF_PYTHON_HZ=0 within_from_the_start "$python" test/python/files.py 700 100 || return 1
	view python 2>/dev/null && view losses 2>/dev/null
	local kept lost
	kept=$(jq '[.python.rows[] | select(.stack | contains("<made ")).launches] | add' "$T/python.json")
	lost=$(jq '[.losses.rows[] | select(.cause | contains("beyond 130,000")).count] | add' "$T/losses.json")
	echo "$kept kept, $lost lost"
	[ $((kept + lost)) = 70000 ] && [ "$kept" -gt 65000 ] && [ "$lost" -gt 4000 ]
}

nothing_said()
{
	view losses && view notices && ! grep -h '"cause": ' "$T/losses.json" "$T/notices.json"
}

# tracers PARTS
tracers()
{
	"$python" test/python/tracers.py >"$T/plain" 2>&1
	GPROF_PYTHON=$1 within "$python" test/python/tracers.py >"$T/out" 2>&1
	diff "$T/plain" "$T/out"
}

# monitors TOOL: each event that a tool of the program sees; what is not recorded from there on is said.
monitors()
{
	"$python" test/python/monitors.py "$1" >"$T/plain" 2>&1
	GPROF_PYTHON=functions,modules within "$python" test/python/monitors.py "$1" >"$T/out" 2>&1
	diff "$T/plain" "$T/out" | head -20 | grep . && return 1
	case $version,$1 in
	3.[89].*,* | 3.1[01].*,* | *,setprofile) nothing_said ;;
	*) view notices && grep '"cause": "Python is traced"' "$T/notices.json" >/dev/null ;;
	esac
}

timeline() { "$B/gprof-report" timeline -o "$T/timeline.json" "$T/dump"; }

functions()
{
	GPROF_PYTHON=functions GPROF_PYTHON_FILTER=no/such,calls.py within_from_the_start "$python" test/python/calls.py 10 &&
		timeline && python3 test/python/calls_check.py "$T/timeline.json"
}

# Others than those that are wanted: none.
filtered()
{
	GPROF_PYTHON=functions GPROF_PYTHON_FILTER=threading within_from_the_start "$python" test/python/calls.py 10 && timeline &&
		grep '"name": "[^"]*threading.py' "$T/timeline.json" >/dev/null &&
		! grep '"python_function", "name": "[^"]*calls.py' "$T/timeline.json"
}

# Python's calls are as deep as without us.
deep()
{
	"$python" test/python/deep.py >"$T/plain" 2>&1
	GPROF_PYTHON=functions,modules within "$python" test/python/deep.py >"$T/out" 2>&1
	diff "$T/plain" "$T/out"
}

# small PARTS: threads keep enough of their stacks.
small()
{
	"$python" test/python/small.py >"$T/plain" 2>&1 || return 1
	GPROF_PYTHON=$1 GPROF_PYTHON_HZ=0 within "$python" test/python/small.py >"$T/out" 2>&1
	diff "$T/plain" "$T/out"
}

# Calls that a jump left are counted, and those after them recorded, however many there were.
left()
{
	local count name
	for _ in 1 2 3 4 5; do # a machine too busy to start us in time costs the first calls, and says so
		[ "$(GPROF_PYTHON=functions GPROF_PYTHON_FILTER=left.py within "$python" test/python/left.py "$PWD/$B/python/left.so")" = 400 ] ||
			return 1
		view losses 2>/dev/null
		grep -q 'was starting' "$T/losses.json" || break
	done
	timeline 2>/dev/null
	for name in inside after; do
		count=$(grep -c "\"name\": \"[^\"]*: ${name}_20" "$T/timeline.json")
		[ "$count" = 20 ] || { echo "$name: $count"; return 1; }
	done
	lost_alone 400 "cut short"
}

# gprof counts calls when a thread has too many open; from 3.14 on Python allows one stack per thread.
elsewhere()
{
	local have missing want
	case $version in 3.1[4-9].*) return 0 ;; esac
	want=$(GPROF_CPU_HZ=0 GPROF_PYTHON=functions GPROF_PYTHON_FILTER=elsewhere.py within_from_the_start "$python" test/python/elsewhere.py \
		"$PWD/$B/python/left.so")
	timeline 2>/dev/null
	have=$(grep -c '"python_function", "name": "[^"]*elsewhere.py' "$T/timeline.json")
	missing=$(view losses 2>/dev/null; jq '[.losses.rows[] | select(.cause | contains("nested too deep")).count] | add' "$T/losses.json")
	echo "$have in the timeline, $missing lost of $want"
	[ $((have + missing)) = "$want" ] && [ "$missing" -gt 100 ]
}

# The child's stream knows its own calls, and those that it was forked in by nobody's name.
forks()
{
	[ "$(GPROF_PYTHON=functions,stacks within "$python" test/python/forks.py)" = "status 0" ] && timeline &&
		[ "$(grep -c '"name": "[^"]*: in_child"' "$T/timeline.json")" = 1 ] &&
		[ "$(grep -c '"name": "[^"]*: forks"' "$T/timeline.json")" = 1 ] &&
		! grep 'unknown' "$T/timeline.json"
}

# Python counts the threads of a process that forks; ours is none of them.
warns()
{
	local nr
	for nr in 1 2 10; do
		"$python" test/python/warns.py $nr >"$T/plain" 2>&1
		within "$python" test/python/warns.py $nr >"$T/out" 2>&1
		diff "$T/plain" "$T/out" || return 1
	done
}

# Threads that are still in our functions when the interpreter ends.
daemons()
{
	[ "$(GPROF_PYTHON=functions,stacks GPROF_PYTHON_HZ=0 within timeout 300 "$python" test/python/daemons.py 1)" = "done 1" ]
}

# Every collection is recorded as the program itself sees it, and the program sees nothing of that.
garbage()
{
	"$python" test/python/garbage.py >"$T/plain" 2>&1
	GPROF_PYTHON=gc within_from_the_start "$python" test/python/garbage.py >"$T/out" 2>&1
	diff <(head -1 "$T/plain") <(head -1 "$T/out") || return 1
	"$B/gprof-report" sql --format csv "SELECT generation, dur_ns, collected, tid FROM py_gc ORDER BY start_ns" "$T/dump" >"$T/rows" &&
		"$python" test/python/garbage_check.py "$T/out" "$T/rows"
}

# Python's own tests of its collector.
own_tests()
{
	"$python" -c 'import test.test_gc' 2>/dev/null || return 0 # Debian packs them apart
	GPROF_PYTHON=gc within "$python" -m test test_gc >"$T/out" 2>&1 || { tail -5 "$T/out"; return 1; }
}

# What is beyond the rate is counted.
lost()
{
	local have missing
	GPROF_CPU_HZ=0 GPROF_PYTHON=functions GPROF_PYTHON_FILTER=calls.py within "$python" test/python/calls.py 400000 || return 1
	timeline 2>/dev/null
	have=$(grep -c '"name": "[^"]*: many"' "$T/timeline.json")
	missing=$(view losses 2>/dev/null; sed -n 's/.*"count": \([0-9]*\), "cause": "call of a Python function beyond 200.*/\1/p' "$T/losses.json")
	echo "$have in the timeline, $missing lost"
	[ $((have + missing)) = 400000 ] && [ "$have" -ge 199000 ]
}

by_rate()
{
	local seconds
	GPROF_PYTHON=stacks GPROF_PYTHON_HZ=1 within "$python" test/python/places.py "$T/want" || return 1
	view python
	seconds=$(jq '.processes.rows[0].duration_ns / 1e9 | ceil' "$T/python.json")
	[ "$(grep -c '"stack":' "$T/python.json")" -le $((3 * seconds)) ] # of the three threads, in each second
}

# Which worker of a data loader a process is: read where it can be, and no code of the program's is run.
workers()
{
	local fake=$PWD/$B/torch/GOOD/libtorch_cpu.so
	rm -f "$T/who"
	"$python" -W ignore test/python/workers.py "$fake" "$T/who" >"$T/plain" 2>&1
	# A process that ended before its recorder could start, on a busy machine, says so.
	for _ in 1 2 3 4 5; do
		rm -f "$T/who"
		GPROF_QUIET=0 within "$python" -W ignore test/python/workers.py "$fake" "$T/who" >"$T/out" 2>"$T/err"
		grep -q '^gprof\[.*not recorded: the process ended before' "$T/err" || break
	done
	grep -v '^gprof\[' "$T/err" >>"$T/out"
	diff "$T/plain" "$T/out" || return 1
	"$B/gprof-report" info "$T/dump" | sed -nE 's/^  process +([0-9]+) on [^,]*(, loader worker )?(.*)/\1 \3/p' |
		sort >"$T/have"
	"$B/gprof-report" info "$T/dump" | sed -nE '2s/^ +([0-9]+).*/\1 /p' >>"$T/who" # the parent of all
	sort "$T/who" | diff - "$T/have" && [ "$(wc -l <"$T/have")" -gt 20 ]
}

# tries COMMAND...: on a busy machine many samples have no frames, mostly those of short functions; then there is another try, of
# twice the CPU time.
try_s=1
tries() { try_s=1 "$@" >/dev/null || try_s=2 "$@" >/dev/null || try_s=4 "$@"; }

# CPU samples have the lines in their known shares, also of code that the line calls; a program sees nothing of us.
samples()
{
	"$python" test/python/samples.py 0.1 >"$T/plain" 2>&1
	GPROF_CPU_HZ=99 within "$python" test/python/samples.py "$try_s" >"$T/out" 2>&1
	diff "$T/plain" "$T/out" && have_shares
}

# samples_of COMMAND...: in a program that calls CUDA.
samples_of()
{
	rm -rf "$T/dump"
	GPROF_DIR=$T/dump "$@" "$python" test/python/samples.py "$try_s" gpu >"$T/out" 2>&1 && diff "$T/plain" "$T/out"
}

# Where nobody asks for them nothing gets into the interpreter: its frames are read from outside. The same with a file's
# setting.
samples_from_outside()
{
	echo GPROF_CPU_HZ=99 >"$T/file"
	! is_first || { samples_of env LD_PRELOAD="$lib" && have_shares; } || return 1
	samples_of env LD_PRELOAD="$lib" GPROF_CONFIG="$T/file" && have_shares || return 1
	within "$python" test/python/samples.py 0.1 # uses no GPU, so it is not recorded
	[ ! -e "$T/dump" ]
}

# are_refused VARIABLE...
are_refused()
{
	samples_of "$python" test/python/no_perf.py env LD_PRELOAD="$lib" "$@" && has_shares &&
		grep '"cause": "CPU samples refused"' "$T/notices.json" >/dev/null
}

# Where the kernel refuses samples, gprof looks at Python's threads itself, by default and where samples are asked for.
samples_refused()
{
	! is_first || { are_refused && are_refused GPROF_CPU_HZ=99; } || return 1
	echo GPROF_CPU_HZ=99 >"$T/file"
	are_refused GPROF_CONFIG="$T/file"
}

# What the main thread waits for, by default: each function as long as it measures itself, but for time in which it is ready to
# run and has no CPU: it looks after the lock every 5 ms. On a busy machine another try.
waits()
{
	local try
	for try in 1 2 3; do
		within "$python" test/python/waits.py >"$T/out" 2>"$T/err" || return 1
		"$B/gprof-report" sql --format json "SELECT substr(python_stack, instr(python_stack, ': ') + 2) AS stack,
			CASE WHEN kind = 15 THEN 'GIL' WHEN syscall LIKE '%select%' THEN 'select' ELSE syscall END AS syscall, object, holder_stack AS holder,
			sum(ns) / 1000000 AS ms FROM wait_sample WHERE task = pid GROUP BY 1, 2, 3, 4" "$T/dump" >"$T/waits.json" 2>"$T/err" || return 1
		python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["result"]["rows"]
for line in open(sys.argv[2]):
    function, syscall, ms, ready = line.split()
    have = sum(row["ms"] for row in rows if row["stack"].startswith(function) and row["syscall"] == syscall)
    error = 0.15 * int(ms) + 60
    if not int(ms) - int(ready) - error <= have <= int(ms) + error:
        sys.exit(f"{function} in {syscall}: {have} ms instead of {ms}, {ready} of them without a CPU")
assert [row["object"] for row in rows if row["syscall"] == "read"] == ["pipe"]
held = sum(row["ms"] for row in rows if row["syscall"] == "GIL" and "keeping" in (row["holder"] or ""))
gil = sum(row["ms"] for row in rows if row["syscall"] == "GIL")
if held < 0.8 * gil:
    sys.exit(f"held in keeping for {held} of {gil} ms")' "$T/waits.json" "$T/out" && return 0
	done
	return 1
}

# Who holds the lock, by samples, for the shares that the program measures. Twice the margin is 4 standard errors.
gil_holders()
{
	GPROF_CPU_HZ=99 within "$python" test/python/gil_shares.py 4 >"$T/out" || return 1
	view gil-holders
	python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["gil_holders"]["rows"]
own = [line.split() for line in open(sys.argv[2])]
all_ms = int(own[-1][2])
for function, tid, ms in own[:-1]:
    row = next(row for row in rows if row["tid"] == int(tid))
    print(function, row["share_pct"], 100 * int(ms) / all_ms, row["margin_pct"], row["place"])
    assert abs(row["share_pct"] - 100 * int(ms) / all_ms) <= 2 * row["margin_pct"]
    assert function in row["place"], row["place"]
assert sum(row["samples"] for row in rows) > 50' "$T/gil-holders.json" "$T/out"
}

have_shares()
{
	has_shares || grep '"cause": "CPU samples refused"' "$T/notices.json" >/dev/null # by this machine
}

has_shares()
{
	view notices
	view cpu-lines 2>/dev/null
	jq -e 'def share(f): [.cpu_lines.rows[] | select(.function == f).total_share_pct] | add // 0;
		def near(a; b): (a - b | fabs) < 12;
		([.cpu_lines.rows[].samples] | add) >= 60 and near(share("decode"); 60) and near(share("augment"); 30) and
		near(share("collate"); 10) and share("work") > 90' "$T/cpu-lines.json" >/dev/null ||
		{ jq -c '.cpu_lines.rows[:8][] | [.name, .samples, .total_samples]' "$T/cpu-lines.json"; return 1; }
}

# Waits for Python's lock: those that the program measures itself, where another thread has it. On a busy machine its
# own clock also counts time in which it does not run; then there is another try.
gil()
{
	local try own have
	for try in 1 2 3 4 5; do
		LD_LIBRARY_PATH= LD_PRELOAD="$lib:$PWD/$B/libgprof-os.so" GPROF_DIR="$T/gil$try" "$python" test/python/gil.py 50 >"$T/out" || return 1
		own=$(cut -d ' ' -f 1 "$T/out")
		have=$("$B/gprof-report" --view gil --format json "$T/gil$try" 2>"$T/err" | jq '[.gil.rows[].total_ns] | max')
		echo "it measures $own ns, gprof $have ns"
		[ "$have" -le $((own + own / 10 + 10000000)) ] && [ "$have" -ge $((own - own / 5)) ] && [ "$own" -ge 50000000 ] && break
		own=
	done
	[ -n "$own" ] || return 1
	LD_LIBRARY_PATH= LD_PRELOAD="$lib:$PWD/$B/libgprof-os.so" GPROF_DIR="$T/alone" "$python" test/python/gil.py 50 alone >"$T/out" || return 1
	# A thread alone may lose its CPU in the call that takes the lock.
	[ "$("$B/gprof-report" --view gil --format json "$T/alone" 2>"$T/err" | jq '[.gil.rows[].total_ns] | add // 0')" -lt $((own / 5)) ]
}

# The GPU waits for a thread that waits for the lock, and the finding names the line that holds it: by samples of waits, or by CPU
# samples, which are more, where the thread that is there was on a CPU for more than half of the time. On a busy machine it may not
# have been, and then a finding without a line is right.
gil_gpu()
{
	local _ share finding
	for _ in 1 2 3 4 5; do
		rm -rf "$T/dump"
		GPROF_SAMPLE_MS=0 GPROF_CPU_HZ=199 GPROF_DIR=$T/dump LD_PRELOAD="$lib:$PWD/$B/libgprof-os.so" "$python" test/python/gil.py 120 gpu >"$T/out" || return 1
		share=$(cut -d ' ' -f 2 "$T/out")
		view notices 2>/dev/null
		grep '"cause": "CPU samples refused"' "$T/notices.json" >/dev/null && return 0 # the machine refuses them
		view findings 2>/dev/null
		finding=$(jq -r '.findings.rows[0] | "\(.cause): \(.sentence)"' "$T/findings.json")
		[[ $finding =~ ^gil:.*"held at gil.py("[0-9]+"): hog;" ]] && return 0
		[[ $finding =~ ^gil:.*"threads run gil.py("[0-9]+"): hog;" ]] && return 0
		[[ $finding == gil:*", which other threads hold;"* ]] && [ "$share" -lt 60 ] && return 0
	done
	echo "on a CPU for $share %"
	jq -c '.findings.rows[]' "$T/findings.json"
	return 1
}

# hang ARGUMENT...: begins hangs.py, which is $program, and waits until one of its hangs is recorded.
hang()
{
	rm -rf "$T/dump" "$T/hang.json" "$T/want" "$T/go"
	mkfifo "$T/go"
	GPROF_HANG_TIMEOUT_S=1 GPROF_FLUSH_MS=50 GPROF_DIR=$T/dump LD_PRELOAD=$lib \
		"$python" -W ignore test/python/hangs.py "$T/want" "$@" <"$T/go" &
	program=$!
	exec 3>"$T/go"
	until view hang 2>/dev/null; grep -qs '"what": "hang"' "$T/hang.json"; do
		kill -0 $program || return 1
		sleep 0.1
	done
}

# hangs [HOW]: each thread that waits is where Python says that it is, and the others get on.
hangs()
{
	local program rc
	hang "$@"
	exec 3>&-
	wait $program
	rc=$?
	view hang
	[ $rc = 0 ] && view notices && ! grep '"no Python' "$T/notices.json" && python3 - "$T" <<'END'
import json, sys
rows = json.load(open(sys.argv[1] + "/hang.json"))["hang"]["rows"]
want, have = {}, {}
for line in open(sys.argv[1] + "/want", encoding="utf-8"):
    tid, row = line.rstrip("\n").split(" ", 1)
    want.setdefault("thread " + tid, []).append(row)
for before, row in zip(rows, rows[1:]):
    if row["what"] == "Python":
        assert before["where"] == row["where"], row  # behind its thread
        have.setdefault(row["where"], []).append(row["name"])
assert len(want) >= 5
for thread in want:
    assert have.get(thread) == want[thread], (have.get(thread), want[thread])
for thread in set(have) - set(want):  # the one that moves, if it waited for the lock of Python
    assert [row for row in have[thread] if "_bootstrap" in row or "more frames" in row], have[thread]
END
}

# Nothing is recorded of an interpreter that has ended.
ended()
{
	local program
	hang ended
	kill -9 $program
	{ wait $program; } 2>/dev/null
	view hang 2>/dev/null
	grep '"returned from", .*"cudaStreamCreate"' "$T/hang.json" >/dev/null && ! grep '"Python"' "$T/hang.json"
}

# With PyTorch, which lets go of the GIL around its operators.
torch_stacks()
{
	local program=$PWD/test/python/torch_places.py line op LD_LIBRARY_PATH=
	"$1" "$program" >"$T/plain" 2>"$T/plain.err"
	GPROF_PYTHON=stacks GPROF_PYTHON_HZ=0 within "$1" "$program" >"$T/out" 2>"$T/err"
	diff "$T/plain" "$T/out" || return 1
	"$B/gprof-report" summary --view python --detail --format csv --top 0 "$T/dump" >"$T/csv"
	while IFS=: read -r line op; do
		grep -F "\"$op\",\"$program($line): " "$T/csv" >/dev/null || {
			echo "$op is not from line $line"
			grep -F "$op" "$T/csv"
			return 1
		}
	done < <(sed -n '/  # aten/{=;s/.*# //p}' "$program" | paste -d: - -)
}

modules()
{
	local program=$PWD/test/python/torch_places.py LD_LIBRARY_PATH=
	"$1" "$program" >"$T/plain" 2>"$T/plain.err"
	GPROF_PYTHON=modules within "$1" "$program" >"$T/out" 2>"$T/err"
	diff "$T/plain" "$T/out" || return 1
	"$B/gprof-report" summary --view module,operator --format json --top 0 "$T/dump" >"$T/json"
	python3 - "$T/json" <<'END'
import json, sys
views = json.load(open(sys.argv[1]))
rows = {row["path"]: row for row in views["module"]["rows"]}
print(rows)
assert set(rows) == {"Outer_0", "Outer_0/Net_0", "Outer_0/ReLU_0", "Net_0"}, rows.keys()
assert [rows[path]["calls"] for path in ("Outer_0", "Outer_0/Net_0", "Outer_0/ReLU_0", "Net_0")] == [2, 4, 2, 4]
outer = rows["Outer_0"]
inside = rows["Outer_0/Net_0"]["total_ns"] + rows["Outer_0/ReLU_0"]["total_ns"]
assert abs(outer["total_ns"] - outer["self_ns"] - inside) < 10, outer
assert rows["Net_0"]["name"] == "Net_0" and rows["Outer_0"]["name"] == "Outer_0"
assert rows["Outer_0/Net_0"]["name"] == "net" and rows["Outer_0/ReLU_0"]["name"] == "parts.0.relu"
assert [rows[path]["class"] for path in ("Outer_0", "Outer_0/Net_0", "Outer_0/ReLU_0")] == ["Outer", "Net", "ReLU"]
assert not [row for row in views["operator"]["rows"] if "Module" in row["name"]]
END
}

# Modules of which none gets a dict because somebody looks for its place.
module_places()
{
	local program=$PWD/test/python/module_places.py
	"$python" "$program" >"$T/plain"
	GPROF_PYTHON=modules within "$python" "$program" >"$T/out" 2>"$T/err"
	diff "$T/plain" "$T/out" || return 1
	view module
	jq -e '[.module.rows[] | "\(.path) \(.name)"] | sort ==
		["Outer_0 Outer_0", "Outer_0/Leaf_2 leaf", "Outer_0/Leaf_3 parts.1", "Outer_0/Outer_1 inner",
			"Outer_0/Outer_1/Leaf_0 inner.first", "Outer_0/Outer_1/Leaf_1 inner.0"]' "$T/module.json" >/dev/null || { jq -c '.module.rows[] | [.path, .name]' "$T/module.json"; return 1; }
}

# module_bounds CASE LOST [NAME [TEXT]]: so many are lost for that cause, and the last one that is called has that name.
module_bounds()
{
	local program=$PWD/test/python/module_bounds.py
	local fake=$PWD/$B/torch/GOOD/libtorch_cpu.so
	"$python" "$program" "$1" "$fake" >"$T/plain"
	GPROF_PYTHON=modules within_from_the_start "$python" "$program" "$1" "$fake" >"$T/out" 2>"$T/err"
	diff "$T/plain" "$T/out" || return 1
	if [ "$2" = 0 ]; then
		nothing_said || return 1
	else
		lost_alone "$2" "${4:-PyTorch module without its path}" || return 1
	fi
	view module 2>/dev/null
	jq -e "any(.module.rows[]; .class == \"Leaf\" and .name == \"${3:-Leaf_0}\")" "$T/module.json" >"$T/jq" || {
		jq -c '.module.rows[] | [.path, .name]' "$T/module.json"
		return 1
	}
}

# Each call of a module has the name that named_modules() has for it, and all of them add up.
module_names()
{
	local program=$PWD/test/python/module_names.py LD_LIBRARY_PATH=
	"$1" -W ignore "$program" "$T/want" >"$T/plain" 2>"$T/plain.err"
	GPROF_PYTHON=modules GPROF_TORCH=shapes within "$1" -W ignore "$program" >"$T/out" 2>"$T/err"
	diff "$T/plain" "$T/out" || return 1
	view module
	python3 test/python/module_names_check.py "$T/want" "$T/module.json" "${version#* }"
}

# deep_modules LOST DEPTH...: so many modules lie too deep to be seen; all others are there, and without any nothing is lost.
deep_modules()
{
	local program=$PWD/test/python/torch_deep.py LD_LIBRARY_PATH= want=$1
	[ "$(GPROF_PYTHON=modules within "$torch" "$program" "${@:2}" 2>"$T/err")" = "done" ] || return 1
	"$B/gprof-report" summary --view module,losses --format json --top 0 "$T/dump" >"$T/json" 2>"$T/err"
	jq -e "([.losses.rows[] | select(.cause | contains(\"too deep\")).count] | add // 0) == $want and
		([.losses.rows[]?] | length) == ($want | if . > 0 then 1 else 0 end) and
		[.module.rows[] | .calls] == [$# - $want]" "$T/json" || { cat "$T/json" && return 1; }
}

pythons=("$@")
if [ $# = 0 ]; then
	pythons=(/usr/bin/python3)
	minor_here=$(/usr/bin/python3 -c 'import sys; print(sys.version_info[1])')
	minors="8 9 10 11 12 13 14 15"
	[ "${TEST_TIER:-all}" = all ] || minors="8 13" # the oldest and the newest
	for minor in $minors; do
		[ "$minor" != "$minor_here" ] || continue
		for python in "$(command -v python3.$minor)" "${PYENV_ROOT:-$HOME/.pyenv}/versions/3.$minor".*/bin/python3; do
			[ -x "$python" ] && "$python" -c 'import ctypes' 2>/dev/null && pythons+=("$python") && continue 2
		done
		if [ $minor -ge 14 ] && python=$(test/python/debian.sh $minor 2>"$T/why"); then
			pythons+=("$python")
			continue
		fi
		n=$((n + 1))
		echo "ok $n - CPython 3.$minor # SKIP there is none: $(tail -1 "$T/why" 2>/dev/null)"
	done
fi
for python in "${pythons[@]}"; do
	version=$("$python" -c 'import platform; print(platform.python_version())') || continue
	tap stacks "stacks: as Python reports them"
	tap lost_alone 5 "shortened in the middle" "stacks: only the middle of long names is lost"
	tap files "stacks: functions in too many files are counted"
	tap many_stacks "stacks: too many stacks are counted"
	tap by_rate "stacks: not more than asked for"
	tap tracers stacks "stacks: tracers and profilers of the program"
	tap tracers functions,modules "functions: tracers and profilers of the program"
	for tool in settrace setprofile monitoring; do
		tap monitors $tool "functions: what sys.$tool sees"
	done
	tap functions "functions: each call"
	tap filtered "functions: those that are wanted"
	tap deep "functions: deep recursion"
	tap small functions,modules "functions: threads with small stacks"
	tap small stacks "stacks: threads with small stacks"
	tap module_places "modules: the attributes that lead to them, read without a change"
	tap module_bounds near 0 a.b.c.d.e.f.g.h.i "modules: at the greatest depth that is searched, and in no place"
	tap module_bounds frames 0 far "modules: many calls of functions inside another one"
	tap module_bounds callers 0 at.last "modules: inside many others"
	tap module_bounds cells 0 far "modules: behind many variables"
	tap module_bounds operators 1 Leaf_0 "nested too deep" "modules: too deep, and far from their operators"
	tap module_bounds deep 1 "modules: too deep below another one"
	tap module_bounds names 1 "modules: too long a path"
	tap module_bounds classes 1 "modules: too long a class"
	tap module_bounds looks 1 l1.leaf "modules: among too many"
	tap module_bounds paths 645 "modules: too many paths"
	tap module_bounds many 618 "modules: too many"
	tap left "functions: calls that a jump leaves"
	tap elsewhere "functions: more open calls than are kept"
	tap forks "functions: a child that is forked in them"
	tap warns "what Python says at a fork"
	tap daemons "functions: threads at the end of the interpreter"
	tap lost "functions: calls over the limit are counted"
	tap garbage "collections: as the program sees them, which sees nothing of us"
	tap own_tests "collections: Python's own tests"
	tap gil "the lock: as long as the program measures"
	tap gil_gpu "the lock: a GPU waits for it"
	tap tries gil_holders "the lock: who holds it"
	tap workers "workers of data loaders"
	tap hangs "hangs: stacks of all threads as Python reports them"
	tap hangs child "hangs: in a child that another thread forked"
	tap ended "hangs: after the end of the interpreter"
	tap tries samples "samples: lines in known shares"
	tap tries samples_from_outside "samples: the same from outside"
	tap tries samples_refused "samples: the same where the kernel refuses them"
	tap waits "waits: where, in which call and how long"
done
torch=$(command -v "${TORCH_PYTHON:-/usr/bin/python3}")
version=$("$torch" -c 'import torch; print("PyTorch " + torch.__version__)' 2>/dev/null) || version=
if [ -n "$version" ]; then
	tap torch_stacks "$torch" "stacks: operators are from their lines"
	tap modules "$torch" "modules: their tree"
	tap module_names "$torch" "modules: their names and sums"
	tap deep_modules 0 "modules: deep recursion without them loses nothing"
	tap deep_modules 0 100 250 "modules: in many others"
	tap deep_modules 2 100 800 900 "modules: too deep to be seen"
else
	n=$((n + 1))
	echo "ok $n - stacks of operators # SKIP no PyTorch"
fi
echo "1..$n"
exit $bad
