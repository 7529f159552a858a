#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What we cost a process that is none of our business: what it asks of the kernel, and its start.
# shellcheck source=test/host/lib.sh
. "$(dirname "$0")/lib.sh"

# Start-up over that of an empty library, in turns, so that whatever else runs hits both; the least
# of two figures, the least times and the medians.
MAX_US=${MAX_US:-100}
MAX_INSTRUCTIONS=${MAX_INSTRUCTIONS:-300000}
"$HOST/startup" 400 /bin/true - "$HOST/empty.so" "$LIB" >"$T/startup" 2>&1
: >"$T/why"
: >"$T/guest.err.all"
if [ "$(wc -l <"$T/startup")" = 3 ]; then
	read -r none_least none_median _ < <(sed -n 1p "$T/startup")
	read -r empty_least empty_median _ < <(sed -n 2p "$T/startup")
	read -r our_least our_median _ < <(sed -n 3p "$T/startup")
	echo "# start of /bin/true in us, least and median of 400: $none_least $none_median without," \
		"$empty_least $empty_median with an empty library, $our_least $our_median with ours"
	cost=$((our_least - empty_least))
	if [ $((our_median - empty_median)) -lt $cost ]; then
		cost=$((our_median - empty_median))
	fi
	[ $cost -lt "$MAX_US" ] || is "less than $MAX_US" "$cost" "microseconds over an empty library"
else
	cat "$T/startup" >"$T/why"
fi
result "start-up over an empty library is under $MAX_US us"

# What no clock disturbs: instructions.
instructions()
{
	LD_PRELOAD=$1 valgrind --tool=none --log-file=/dev/null true >/dev/null 2>&1
	LD_PRELOAD=$1 valgrind --tool=callgrind --callgrind-out-file=/dev/null /bin/true 2>&1 |
		sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
if has valgrind; then
	: >"$T/why"
	empty=$(instructions "$HOST/empty.so")
	ours=$(instructions "$LIB")
	echo "# instructions of /bin/true: ${empty:-none} with an empty library, ${ours:-none} with ours"
	if [ -z "$empty" ] || [ -z "$ours" ] || [ $((ours - empty)) -gt "$MAX_INSTRUCTIONS" ]; then
		is "at most $MAX_INSTRUCTIONS" "$((${ours:-0} - ${empty:-0}))" "instructions over an empty library"
	fi
	result "start-up in instructions"
else
	skip "start-up in instructions" "no valgrind"
fi

# The system calls of an untouched program: beside loading us, none that makes or opens anything.
calls()
{
	strace -f -qq -o "$T/strace" -E "LD_PRELOAD=$1" "$HOST/plain" say 0 0 >/dev/null 2>&1
	grep -oE '^[0-9]+ +[a-z0-9_]+\(' "$T/strace" | grep -oE '[a-z0-9_]+\($' | sort | uniq -c |
		awk '{print $2, $1}' | sort
}
if has strace && strace -o /dev/null true 2>/dev/null; then
	calls "$HOST/empty.so" >"$T/empty.calls"
	calls "$LIB" >"$T/our.calls"
	diff "$T/empty.calls" "$T/our.calls" | sed 's/^/# system calls: /'
	grep -E '(openat|open|creat|mkdir|clone3?|fork|vfork|socket|pipe2?|write|unlink|memfd_create)\(' \
		"$T/strace" | grep -vE "O_RDONLY|write\(1,|$PROBE_COUNT" >"$T/why"
	grep -E '/proc/|/sys/' "$T/strace" >>"$T/why"
	result "an untouched program makes and opens nothing of ours"
	# libgprof itself, and libdl where that is a file of its own.
	: >"$T/why"
	before=$(awk '{n += $2} END {print n}' "$T/empty.calls")
	after=$(awk '{n += $2} END {print n}' "$T/our.calls")
	[ $((after - before)) -le 25 ] || is "at most 25" "$((after - before))" "system calls over an empty library"
	result "system calls of an untouched program"
else
	skip "an untouched program makes and opens nothing of ours" "no strace"
	skip "system calls of an untouched program" "no strace"
fi
