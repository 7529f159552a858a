# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the groups of test/host share. A group runs commands without and with the preload, each time
# in the same empty directory, and prints a TAP line for each:
#
#     same NAME COMMAND...          a program that is not ours to record: nothing differs, nothing is made
#     recorded NAME COMMAND...      it calls CUDA: nothing differs but our line, and every call is in the streams
#     skip NAME WHY
#
# Settings, for one call each, by assignment before it: EDIT, a sed script for what differs from run
# to run (times, process ids); AFTER, a command that looks at the directory after each run; LIMIT, in
# seconds; WHO, preloads around ours ("a.so:%:b.so", % is ours); STREAMS, LINKS, CHECK, CALLS: what
# `recorded` expects. GUEST is another library in place of ours: a bad one shows that tests can fail.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
ROOT=$PWD
B=${B:-build}
[[ $B = /* ]] || B=$ROOT/$B
LIB=$B/libgprof.so
REPORT=$B/gprof-report
export HOST=$B/host
T=$(mktemp -d "${TMPDIR:-/tmp}/gprof-host-XXXXXX")
chmod 755 "$T"
trap 'rm -rf "$T"' EXIT
nr_tests=0

# Settings of the caller must not leak in.
for name in $(compgen -e); do
	case $name in GPROF_* | SIM_* | PROBE_* | INTERPOSER_* | CUDA_INJECTION64_PATH | NVTX_INJECTION64_PATH | LD_PRELOAD | MAKE* | MFLAGS | LC_* | LANG | PYTHON*) unset "$name" ;; esac
done
export GPROF_DIR=$T/dump GPROF_FLUSH_MS=50 HOME=$T/home LC_ALL=C.UTF-8 PROBE_COUNT=$T/count
mkdir "$HOME"

tap()
{
	nr_tests=$((nr_tests + 1))
	echo "$1 $nr_tests - $2"
}

skip()
{
	tap ok "$1 # SKIP $2"
}

# has PROGRAM...: are they there?
has()
{
	local program
	for program in "$@"; do
		command -v "$program" >/dev/null || return 1
	done
}

# Waits until nobody works in the directory any more: daemons, orphans.
settle()
{
	local i unseen=0
	for ((i = 0; i < 15000; i++)); do
		# One that forks and exits meanwhile is missed, with its child.
		if find /proc -maxdepth 2 -name cwd -printf '%l\n' 2>/dev/null | grep -q "^$T/run"; then
			unseen=0
			sleep 0.02
		elif ((++unseen == 2)); then
			return
		fi
	done
}

# run_one KIND COMMAND...: one run; its output, status and files are in $T/KIND.*
run_one()
{
	local kind=$1 preload=
	shift
	rm -rf "$T/run" "$T/count"
	mkdir "$T/run"
	truncate -s 16 "$T/count"
	chmod 666 "$T/count"
	preload=${WHO:-%}
	if [ "$kind" = guest ]; then
		preload=${preload//%/${GUEST:-$LIB}}
	else
		preload=${preload//%/}
	fi
	(
		cd "$T/run" || exit
		exec timeout -k 2 "${LIMIT:-300}" env ${preload:+"LD_PRELOAD=$preload"} "$@"
	) >"$T/$kind.out" 2>"$T/$kind.err" </dev/null
	echo "status $?" >"$T/$kind.rc"
	settle
	if [ -n "${AFTER:-}" ]; then
		(cd "$T/run" && eval "$AFTER") >>"$T/$kind.out" 2>&1
	fi
	(cd "$T/run" && find . -printf '%y %m %p %l\n' | sort) >"$T/$kind.files"
	if [ -n "${EDIT:-}" ]; then
		sed -i -E "$EDIT" "$T/$kind.out" "$T/$kind.err"
	fi
}

# twice COMMAND...: false, with the differences in $T/why, if the preload changes anything.
twice()
{
	local what
	rm -rf "$GPROF_DIR" "$T/why"
	run_one plain "$@"
	run_one guest "$@"
	cp "$T/guest.err" "$T/guest.err.all"
	if grep -qE '^status (99|12[4-7])$' "$T/plain.rc"; then
		{ echo "it does not run without us either"; tail -3 "$T/plain.err"; } >"$T/why"
		return 1
	fi
	sed -i -E '/^gprof\[[0-9]+\]: /d' "$T/guest.err"
	for what in out err rc files; do
		if ! cmp -s "$T/plain.$what" "$T/guest.$what"; then
			echo "$what differs:"
			diff "$T/plain.$what" "$T/guest.$what" | head -20
		fi
	done >"$T/why"
	[ ! -s "$T/why" ]
}

# result NAME: passes if $T/why is empty.
result()
{
	if [ -s "$T/why" ]; then
		tap "not ok" "$1: $(head -3 "$T/why" | tr '\n' ' ')"
		sed 's/^/# /' "$T/why"
		sed 's/^/# stderr: /' "$T/guest.err.all" | head -5
	else
		tap ok "$1"
	fi
}

same()
{
	local name=$1
	shift
	twice "$@"
	if grep -aq '^gprof\[' "$T/guest.err.all"; then
		echo "we said something" >>"$T/why"
	fi
	if [ -e "$GPROF_DIR" ]; then
		{ echo "we made files"; ls -A "$GPROF_DIR"; } >>"$T/why"
	fi
	result "$name"
}

# is WANT HAVE WHAT
is()
{
	[ "$1" = "$2" ] || echo "$3: want $1, have $2" >>"$T/why"
}

# recorded NAME COMMAND...: STREAMS is their number (1), LINKS of them name a parent's (STREAMS - 1),
# CHECK is the status of gprof-report check (0); "any" asks nothing, nor does CALLS=any of the calls.
# A machine too busy to start us in the moment that a host waits costs its first calls, and says so;
# then it is tried again.
recorded()
{
	local name=$1 sure maybe calls lines streams links rc try
	shift
	for try in 1 2 3; do
		twice "$@"
		{
			"$REPORT" summary --wide --view losses "$GPROF_DIR" 2>/dev/null
			"$REPORT" check "$GPROF_DIR" 2>&1
		} | grep -aqE "was starting|no room in the kernel's buffer" || break
		echo "# $name: too busy to start, or to read samples, in time, try $try"
	done
	read -r sure maybe < <(od -A n -t u8 "$T/count")
	streams=$(find "$GPROF_DIR" -name '*.gprof' -o -name '*.gprof.part' 2>/dev/null | wc -l)
	lines=$(grep -ac '^gprof\[' "$T/guest.err.all")
	[ "$lines" -le $((streams > 0 ? streams : 1)) ] || is "at most $streams" "$lines" "lines of ours"
	[ "${STREAMS:-1}" = any ] || is "${STREAMS:-1}" "$streams" streams
	"$REPORT" check "$GPROF_DIR" >"$T/check" 2>&1
	rc=$?
	[ "${CHECK:-0}" = any ] || is "${CHECK:-0}" "$rc" "status of check ($(tail -1 "$T/check"))"
	"$REPORT" summary --view api,losses --format json --top 0 "$GPROF_DIR" >"$T/json" 2>"$T/report.err"
	[ -s "$T/json" ] || echo '{}' >"$T/json"
	calls=$(jq '[.api.rows[]? | select(.name == "cudaGetDevice").calls] | add // 0' "$T/json" 2>&1)
	if [ "${CALLS:-}" = any ]; then
		:
	elif [ "${calls//[0-9]/}" != "" ] || [ -z "$calls" ] || [ "$calls" -lt "$sure" ] || [ "$calls" -gt $((sure + maybe)) ]; then
		is "$sure to $((sure + maybe))" "$calls" "calls recorded"
		jq -c '.losses.rows[]' "$T/json" >>"$T/why" 2>&1
	fi
	links=$("$REPORT" info "$GPROF_DIR" 2>/dev/null | grep -c 'parent_stream')
	[ "${LINKS:-any}" = any ] || is "$LINKS" "$links" "streams with a parent"
	result "$name"
}
