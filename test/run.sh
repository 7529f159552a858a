#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests and counts them. usage: test/run.sh quick|full
#
# A test is a command. It passes with exit status 0, is skipped with 77 and a line "SKIP why", and
# fails otherwise; one that prints TAP lines ("ok 1 - name", "not ok 2 - name", "ok 3 - name # SKIP
# why") is counted line by line. Logs are in build/test/log; the last line of output is the sum.
set -u
cd "$(dirname "$0")/.." || exit 1

tier=${1:-quick}
LOG=build/test/log
RESULTS=build/test/results
MAKE=${MAKE:-make}
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

# run NAME COMMAND...
run()
{
	local name=$1 rc log start=$EPOCHREALTIME
	shift
	log=$LOG/${name//\//_}.log
	timeout -k 5 "${TEST_TIMEOUT:-240}" "$@" >"$log" 2>&1 </dev/null
	rc=$?
	if count_tap "$name" "$log" $rc; then
		[ $rc = 0 ] || tail -25 "$log" | sed 's/^/      | /'
	elif [ $rc = 0 ]; then
		result PASS "$name"
	elif [ $rc = 77 ]; then
		result SKIP "$name" "$(grep -a '^SKIP' "$log" | tail -1 | sed 's/^SKIP *//')"
	else
		[ $rc = 124 ] && echo "timed out" >>"$log"
		result FAIL "$name" "exit status $rc, see $log"
		tail -25 "$log" | sed 's/^/      | /'
	fi
	printf '      %s  %.1f s\n' "$name" "$(echo "$EPOCHREALTIME $start" | awk '{print $1 - $2}')"
}

# build NAME ARGUMENTS OF MAKE...; counts as a test itself.
build()
{
	local name=$1
	shift
	TEST_TIMEOUT=1200 run "build $name" $MAKE --no-print-directory -j2 "$@"
	[ "$(tail -1 "$RESULTS" | cut -f1)" = PASS ]
}

# beside COMMAND...: as soon as there are less than two of these.
beside()
{
	[ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n
	"$@" &
}

# Those of the reporter two at a time, as they look at no clock.
unit()
{
	local test
	for test in "$B"/test/unit/test_*; do
		case $test in *.o | *.d | *.c) continue ;; esac
		[ -x "$test" ] || continue
		case $test in
		*/test_report_*) beside unit_one "$1" "$test" ;;
		*) unit_one "$1" "$test" ;;
		esac
	done
	wait
}

unit_one()
{
	CK_TAP_LOG_FILE_NAME=- CK_VERBOSITY=silent CK_RUN_MODE=fork \
		run "$1${2##*/}" ${EMULATOR:-} "$2"
}

# Sanitized ones, which are waited for longer, two at a time.
integ()
{
	local test
	for test in test/integ/t*.sh; do
		${1:+beside} run "$1$(basename "$test" .sh)" bash "$test"
	done
	wait
}

part()
{
	TEST_TIMEOUT=600 run "$1" "test/$1/run.sh"
}

# What looks at no clock, and waits for browsers, beside what waits for the network.
parts()
{
	local name
	{
		part fuzz
		part page
	} &
	for name in test/*/run.sh; do
		name=$(basename "$(dirname "$name")")
		case $name in
		demo) run demo "$MAKE" --no-print-directory demo ;;
		gpu) ;; # by hand, where a GPU is
		fuzz | page) ;;
		*) part "$name" ;;
		esac
	done
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

sanitized()
{
	local san=$1 short=$2
	build "$short" "SAN=$san" all sim tests || return
	export B=build/san-${san%%,*}
	unit "$short/"
	integ "$short/"
	export B=build
}

cross()
{
	if ! bash test/cross.sh prepare >"$LOG/cross-prepare.log" 2>&1; then
		result SKIP "aarch64" "$(tail -1 "$LOG/cross-prepare.log")"
		return
	fi
	run "build aarch64" bash test/cross.sh build
	[ "$(tail -1 "$RESULTS" | cut -f1)" = PASS ] || return
	export B=build/aarch64
	EMULATOR="qemu-aarch64 -L /usr/aarch64-linux-gnu" unit aarch64/
	run aarch64/exports bash test/check_exports.sh
	run aarch64/torch bash test/torch/aarch64.sh
	EMULATOR="qemu-aarch64 -L /usr/aarch64-linux-gnu" CC=aarch64-linux-gnu-gcc \
		run aarch64/t022-routes bash test/integ/t022-routes.sh
	export B=build
}

export B=build
export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=0:detect_leaks=1:handle_abort=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=0:exitcode=66}

if build product all sim tests build/gen_stream; then
	for check in test/check_*.sh; do
		run "$(basename "$check" .sh)" bash "$check"
	done
	unit ""
	integ ""
	if [ "$tier" = full ]; then
		sanitized address,undefined asan
		parts # of which fuzz takes what that has built
		sanitized thread tsan
		cross
	fi
fi
summary
