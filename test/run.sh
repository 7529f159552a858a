#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests and counts them. usage: test/run.sh check|test|all; test/README.md says which are in which.
#
# A test is a command. It passes with exit status 0, is skipped with 77 and a line "SKIP why", and
# fails otherwise; one that prints TAP lines ("ok 1 - name", "not ok 2 - name", "ok 3 - name # SKIP
# why") is counted line by line. Logs are in build/test/log; the last line of output is the sum.
#
# Tests wait more than half of their time, so there are twice as many at once as there are cores, and one
# more, or twice as many again while the cores are idle for a fifth of the time; those that take longest come first. Hence no test may take what another uses: files are in a folder of its own, ports are asked
# for, and what several need is built before. For the same reason none may judge by the clock. What records nothing leaves the cores
# to what does, whose threads depend on when they run.
set -u
cd "$(dirname "$0")/.." || exit 1

export TEST_TIER=${1:-check}
NR_CORES=$(nproc)
NR_AT_ONCE=$((2 * NR_CORES + 1))
NR_WHILE_IDLE=$((2 * NR_AT_ONCE))
LOG=build/test/log
RESULTS=build/test/results
MAKE=${MAKE:-make}
# Where python3 is a script that looks for the real one (pyenv), each call takes ten times as long.
real=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) && [ "${real##*/}" = python3 ] &&
	[ "$real" != "$(command -v python3)" ] && PATH=${real%/*}:$PATH
# jq of Debian 12 takes 25 ms to start, and is started thousands of times; gojq takes 4, and counts nanoseconds without rounding.
BIN=$PWD/build/test/bin
mkdir -p "$BIN"
! gojq=$(command -v gojq) || ln -sfn "$gojq" "$BIN/jq"
PATH=$BIN:$PATH
# The options of the make that called must not reach the builds of other folders.
unset MAKEFLAGS MAKELEVEL MFLAGS
mkdir -p "$LOG"
: >"$RESULTS"

# result STATUS NAME [WHY]
result()
{
	printf '%s\t%s\t%s\n' "$1" "$2" "${3:-}" >>"$RESULTS"
	case $1 in
	FAIL) printf 'FAIL  %s  %s\n' "$2" "${3:-}" ;;
	SKIP) printf 'SKIP  %s  %s\n' "$2" "${3:-}" ;;
	esac
}

# Counts the TAP lines of a log; false if there are none.
count_tap()
{
	local name=$1 log=$2 rc=$3 line text found=1 bad=0
	while IFS= read -r line; do
		found=0
		text=${line#*- }
		text=${text##*.c:}
		case $line in
		not*) bad=1; result FAIL "$name: ${text%%:*}" "${text#*: }" ;;
		*'# SKIP'*) result SKIP "$name: ${text%% #*}" "${text#*# SKIP }" ;;
		*) result PASS "$name: $text" ;;
		esac
	done < <(grep -aE '^(not )?ok [0-9]+' "$log" | grep -av 'Plan:')
	if [ $found = 0 ] && [ "$rc" != 0 ] && [ $bad = 0 ]; then
		result FAIL "$name" "exit status $rc"
	fi
	return $found
}

# judge NAME LOG STATUS
judge()
{
	local name=$1 log=$2 rc=$3
	[ "$rc" != 124 ] || echo "timed out" >>"$log"
	if count_tap "$name" "$log" "$rc"; then
		[ "$rc" = 0 ] || tail -25 "$log" | sed 's/^/      | /'
	elif [ "$rc" = 0 ]; then
		result PASS "$name"
	elif [ "$rc" = 77 ]; then
		result SKIP "$name" "$(grep -a '^SKIP' "$log" | tail -1 | sed 's/^SKIP *//')"
	else
		result FAIL "$name" "exit status $rc, see $log$(grep -aE '^(not as expected|failed): ' "$log" | head -1 | cut -c1-300 | sed 's/^/: /')"
		tail -25 "$log" | sed 's/^/      | /'
	fi
}

# niceness NAME: builds and tests that only read leave others most of the time, but not all of it, or they would not end on a
# busy machine; browsers have time limits of their own.
niceness()
{
	case $1 in
	'build product') echo 0 ;; # all wait for it
	build\ * | check_* | corpus | abi | averages | export | fuzz | golden | hta | oracle | pftrace | tensorboard | timeline | traces | verdict)
		echo 10
		;;
	page-*) echo 5 ;;
	*) echo 0 ;;
	esac
}

# run NAME COMMAND...: a test. The limit ends what hangs, and is no judge of what is slow: a build has taken 25 minutes
# for 10 seconds on a core.
run()
{
	local name=$1 log rc times TIMEFORMAT='%R %U %S'
	shift
	log=$LOG/${name//\//_}.log
	times=$({ time nice -n "$(niceness "$name")" timeout -k 5 "${TEST_TIMEOUT:-3000}" "$@" >"$log" 2>&1 </dev/null; } 2>&1)
	rc=$?
	# In one piece, whatever runs beside it.
	printf '%s\n' "$(
		judge "$name" "$log" $rc
		awk -v name="$name" '{ printf "      %s  %.1f s, %.1f s of them on a core\n", name, $1, $2 + $3 }' <<<"${times##*$'\n'}"
	)"
}

# Nothing is ever written to it, so that reading it with a time limit takes that time, and no process.
exec {never}<> <(:)

# cores_are_idle: for a fifth of the next half second.
cores_are_idle()
{
	local before after sum=0 i
	read -ra before </proc/stat
	read -rt 0.5 -u "$never"
	read -ra after </proc/stat
	for i in {1..8}; do
		((sum += after[i] - before[i]))
	done
	((5 * (after[4] - before[4]) >= sum))
}

# beside COMMAND...: as soon as there is room for it.
beside()
{
	local running
	while mapfile -t running < <(jobs -rp); [ ${#running[@]} -ge $NR_AT_ONCE ]; do
		if [ ${#running[@]} -lt $NR_WHILE_IDLE ]; then
			! cores_are_idle || break
		else
			wait -n
		fi
	done
	"$@" &
}

# passed NAME: has it?
passed()
{
	grep -qxF "PASS	$1	" "$RESULTS"
}

# build NAME ARGUMENTS OF MAKE...; counts as a test itself.
build()
{
	local name="build $1"
	shift
	run "$name" $MAKE --no-print-directory "-j$NR_CORES" "$@"
	passed "$name"
}

# unit FOLDER [PREFIX]
unit()
{
	local test
	for test in "$1"/test/unit/test_*; do
		case $test in *.o | *.d | *.c) continue ;; esac
		[ ! -x "$test" ] || CK_TAP_LOG_FILE_NAME=- CK_VERBOSITY=silent CK_RUN_MODE=fork \
			beside run "${2:-}${test##*/}" ${EMULATOR:-} "$test"
	done
}

# These tests take longest, 20 to 65 s, so they start first.
LONGEST='/(t022|t024|t028|t029|t030|t051|t110|t131)-'

# These run other people's programs or make packages: a third of the time of all, so the quick tests leave them out.
OTHERS='/(t110|t114|t117|t119|t137|t192|t193|t196)-'

# integ FOLDER [PREFIX]
integ()
{
	local test tests
	tests=$(ls test/integ/t*.sh)
	[ "$TEST_TIER" != check ] || tests=$(grep -vE "$OTHERS" <<<"$tests")
	for test in $(grep -E "$LONGEST" <<<"$tests") $(grep -vE "$LONGEST" <<<"$tests"); do
		B=$1 beside run "${2:-}$(basename "$test" .sh)" bash "$test"
	done
}

# parts NAME...: folders that have a run.sh, or FOLDER-GROUP, those that take longest first.
parts()
{
	local name folder group
	for name in "$@"; do
		IFS=- read -r folder group <<<"$name"
		beside run "$name" "test/$folder/run.sh" ${group:+"$group"}
	done
}

# Those that are not named: they are short, or the framework that they try is not here.
other_parts()
{
	local run name
	for run in test/*/run.sh; do
		name=${run#test/}
		name=${name%/run.sh}
		case " $* demo fuzz gpu " in # gpu by hand, where one is
		*" $name "*) ;;
		*) parts "$name" ;;
		esac
	done
}

checks()
{
	local check
	for check in test/check_*.sh; do
		beside run "$(basename "$check" .sh)" bash "$check"
	done
}

# What a newcomer waits for.
short()
{
	local long="page-pages page-timelines torch python host fault timeline pftrace kill page-recordings verdict-planted verdict-torch"
	run demo "$MAKE" --no-print-directory demo # page opens what it has recorded
	# shellcheck disable=SC2086 # several names
	{
		parts $long
		[ "$TEST_TIER" != all ] || parts hta # DevTools and Perfetto's schema judge timelines in any case
		integ build
		beside run corpus "$MAKE" --no-print-directory fuzz-replay FUZZ_MUTATIONS=0
		other_parts page $long hta
	}
	checks
	unit build
	# What takes longest may go on beside what comes next.
	[ "$TEST_TIER" = all ] || wait
}

# In the time that the short tests leave.
builds()
{
	build asan SAN=address,undefined all sim tests
	build tsan SAN=thread all sim tests
	if bash test/cross.sh prepare >"$LOG/cross-prepare.log" 2>&1; then
		run "build aarch64" bash test/cross.sh build
	else
		result SKIP "build aarch64" "$(tail -1 "$LOG/cross-prepare.log")"
	fi
}

# built NAME: waits for one of them. Is it there?
built()
{
	until grep -qE "^[A-Z]+	build $1	" "$RESULTS"; do
		sleep 1
	done
	passed "build $1"
}

# The rest.
long()
{
	if built asan; then
		parts fuzz # takes what that has built
		integ build/san-address asan/
		unit build/san-address asan/
	fi
	if built aarch64; then # takes half a minute on one core, so it is not the last
		EMULATOR="qemu-aarch64 -L /usr/aarch64-linux-gnu" CC=aarch64-linux-gnu-gcc B=build/aarch64 \
			beside run aarch64/t022-routes bash test/integ/t022-routes.sh
		EMULATOR="qemu-aarch64 -L /usr/aarch64-linux-gnu" unit build/aarch64 aarch64/
		B=build/aarch64 beside run aarch64/exports bash test/check_exports.sh
		B=build/aarch64 beside run aarch64/torch bash test/torch/aarch64.sh
	fi
	if built tsan; then
		integ build/san-thread tsan/
		unit build/san-thread tsan/
	fi
	wait
}

summary()
{
	local passed failed skipped
	passed=$(grep -c '^PASS' "$RESULTS")
	failed=$(grep -c '^FAIL' "$RESULTS")
	skipped=$(grep -c '^SKIP' "$RESULTS")
	echo
	[ "$skipped" = 0 ] || { echo "skipped:"; sed -n 's/^SKIP\t\(.*\)\t\(.*\)/  \1: \2/p' "$RESULTS"; }
	[ "$failed" = 0 ] || { echo "failed:"; sed -n 's/^FAIL\t\(.*\)\t\(.*\)/  \1: \2/p' "$RESULTS"; }
	echo "$passed passed, $failed failed, $skipped skipped" | tee build/test/summary
	[ "$failed" = 0 ] && [ "$passed" != 0 ]
}

export B=build
export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=0:detect_leaks=1:handle_abort=1:handle_sigill=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=0:exitcode=66}

if build product all sim tests build/gen_stream fuzz-targets; then
	case $TEST_TIER in
	check)
		checks
		integ build
		unit build
		wait
		;;
	test) short ;;
	all)
		builds &
		short
		long
		;;
	esac
fi
echo "      $SECONDS s in all"
summary
