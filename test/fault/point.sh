#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # set by lib.sh
# One fault: runs the guest with it and looks whether the host noticed and whether the streams hold
# what they say. usage: point.sh FUNCTION:N[+] [ERRNO]; prints "FUNCTION:N[+] ERRNO ok|bad why".
# What a run without gprof prints is in $PLAIN.out and $PLAIN.err, its number of calls in $CALLS.
. "$(dirname "$0")/../integ/lib.sh"
point=$1
code=${2:-}
export GPROF_DIR=$T/dump GPROF_FLUSH_MS=10 GPROF_CONFIG=$PLAIN.env
# The log's file is where calls fail too; else what we warn of comes on stderr.
case $point in
open*+) ;; # it could not be opened either
open:* | write:* | close:*) export GPROF_LOG=debug GPROF_LOG_FILE=$T/log ;;
esac

# Rings that a killed child left in shared memory, for want of room beside its stream, go too.
leave()
{
	local stream
	for stream in "$T/dump"/*.gprof*; do
		stream=${stream##*/}
		rm -f "/dev/shm/${stream%%.gprof*}.gprof.rings"
	done
	echo "$point ${code:--} $*"
	exit 0
}

bad()
{
	leave bad "$@"
}

timeout -k 1 600 env FAULT="$point" ${code:+FAULT_ERRNO="$code"} FAULT_COUNTS="$T/counts" \
	LD_LIBRARY_PATH="$SIM" LD_PRELOAD="$ROOT/$B/fault/libgprof.so" "$B/fault/guest" >"$T/out" 2>"$T/err"
rc=$?

[ $rc != 124 ] || bad "it hangs"
[ $rc = 3 ] || bad "exit status $rc: $(tail -1 "$T/err")"
# A descriptor that cannot be moved out of the way, or be looked at before it is closed, stays.
if [[ $point =~ ^(fcntl|syscall): ]]; then
	nr_fds=$(sed -n 's/^descriptors \([0-9]*\),.*/\1/p' "$PLAIN.out")
	sed -i "s/^descriptors $((nr_fds + 1)),/descriptors $nr_fds,/" "$T/out"
fi
cmp -s "$PLAIN.out" "$T/out" || bad "output: $(diff "$PLAIN.out" "$T/out" | grep '^[<>]' | head -2 | tr '\n' ' ')"
grep -v '^gprof\[' "$T/err" | cmp -s "$PLAIN.err" - || bad "stderr: $(head -1 "$T/err")"
[ -z "$(grep -o '^gprof\[[0-9]*\]' "$T/err" | sort | uniq -d)" ] || bad "more than a line of ours: $(cat "$T/err")"

# A process that does not record leaves no stream, but where it cannot remove one.
if [[ $point != unlink:* ]]; then
	for pid in $(sed -n 's/^gprof\[\([0-9]*\)\]: not recording.*/\1/p' "$T/err"); do
		[ -z "$(find "$T/dump" -name "*-$pid-*.gprof*" 2>/dev/null)" ] || bad "$pid does not record, but left a stream"
	done
fi

# The reader: nothing there, or what is there is sound.
"$REPORT" check "$T/dump" >"$T/check" 2>&1
check_rc=$?
case $check_rc in
0 | 3) ;;
1) [ -z "$(find "$T/dump" -name '*.gprof*' -size +0 2>/dev/null)" ] || bad "not readable: $(tail -1 "$T/check")" ;;
*) bad "check says $check_rc" ;;
esac
! grep -q 'rows damaged\|not defined' "$T/check" || bad "damaged: $(grep -m1 'damaged\|not defined' "$T/check")"

# Each call is in a stream, or counted as lost, or the stream says that it is unfinished, or the
# host knows that there is none.
summary api,losses
read -r kept lost <<<"$(query '"\([.api.rows[]?.calls] | add // 0) \([.losses.rows[]?.count // 0] | add // 0)"')"
[[ $kept =~ ^[0-9]+$ ]] || kept=0
[[ $lost =~ ^[0-9]+$ ]] || lost=0
if [ $((kept + lost)) -lt "$CALLS" ]; then
	if grep -q ', unfinished' "$T/check"; then
		[ $report_rc != 0 ] || bad "unfinished, $kept calls and $lost lost of $CALLS, and the report is content"
	elif ! { grep -hs '^gprof\[' "$T/err" "$T/log" | grep -v 'view with: gprof-report'
		"$REPORT" info "$T/dump" 2>&1 | grep 'children are not'
	} | grep -q . && [[ ! $point =~ ^(write|poll): ]]; then
		bad "$kept calls and $lost lost of $CALLS, and nobody says why"
	fi
fi
leave ok
