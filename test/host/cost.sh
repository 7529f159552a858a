#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What we cost a process that is none of our business: what it asks of the kernel, and its start.
# shellcheck source=test/host/lib.sh
. "$(dirname "$0")/lib.sh"

# The start of a process over that with an empty library, in instructions, which no clock and no other
# process disturbs; `make bench` has its time.
MAX_INSTRUCTIONS=${MAX_INSTRUCTIONS:-100000}
: >"$T/why"
: >"$T/guest.err.all"
mapfile -t steps < <("$HOST/steps" /bin/true "$HOST/empty.so" "$LIB" 2>"$T/steps.err"; echo "status $?")
if [ "${steps[*]}" = "status 77" ]; then
	skip "start-up in instructions" "no process may be traced"
else
	echo "# instructions of /bin/true: ${steps[0]} with an empty library, ${steps[1]} with ours"
	if [ ${#steps[@]} != 3 ] || [ "${steps[0]}" -le 0 ] || [ "${steps[1]}" -le 0 ]; then
		{ echo "${steps[*]}"; cat "$T/steps.err"; } >"$T/why"
	elif [ $((steps[1] - steps[0])) -gt "$MAX_INSTRUCTIONS" ]; then
		is "at most $MAX_INSTRUCTIONS" "$((steps[1] - steps[0]))" "instructions over an empty library"
	fi
	result "start-up in instructions"
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
