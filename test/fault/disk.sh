#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # of lib.sh
# Places that cannot be written: full at any byte, read-only, gone, not a directory, not permitted,
# and a file system that does not answer.
. "$(dirname "$0")/lib.sh"
LOOP="$ROOT/$B/integ/s_loop"
mounted=
trap '[ -z "$mounted" ] || umount -l "$mounted"; rm -rf "$T"' EXIT

# well PROGRAM...: under the preload all is as in `plain` before, but for one line of ours; what is
# recorded can be read. In $why what is not so.
well()
{
	why=
	# Through pipes: a limit on files is not one on what the program prints.
	{
		{
			timeout -k 1 600 env LD_LIBRARY_PATH="$SIM" LD_PRELOAD="$(preload)" "$@" 3>&-
			echo $? >"$T/rc"
		} 2>&1 1>&3 | cat >"$T/err"
	} 3>&1 | cat >"$T/out"
	rc=$(cat "$T/rc")
	[ $rc = "$plain_rc" ] || why="exit status $rc"
	cmp -s "$T/plain.out" "$T/out" || why="$why; other output"
	grep -v '^gprof\[' "$T/err" | cmp -s "$T/plain.err" - || why="$why; other stderr"
	[ -z "$(grep -o '^gprof\[[0-9]*\]' "$T/err" | sort | uniq -d)" ] || why="$why; more than one line of ours"
	return 0
}

# counted CALLS: that many calls are in the stream, or counted as lost, or it is said why not.
counted()
{
	local state
	"$REPORT" check "$GPROF_DIR" >"$T/check" 2>&1
	state=$?
	[ $state -le 3 ] && [ $state != 2 ] || why="$why; check says $state"
	! grep -q 'rows damaged\|not defined' "$T/check" || why="$why; damaged stream: $(grep -m1 'damaged\|not defined' "$T/check")"
	summary api,losses
	kept=$(query '[.api.rows[]?.calls] | add // 0')
	lost=$(query '[.losses.rows[]?.count // 0] | add // 0')
	[[ $kept =~ ^[0-9]+$ ]] || kept=0
	[[ $lost =~ ^[0-9]+$ ]] || lost=0
	if [ $((kept + lost)) -lt "$1" ] && ! grep -q 'not recording' "$T/err"; then
		[ $report_rc = 3 ] && grep -q unfinished "$T/check" || why="$why; $kept kept and $lost lost of $1 calls ($(head -1 "$T/check"); $(grep '^gprof' "$T/err"))"
	fi
}

# Waits until the program waits for us, or for minutes.
held()
{
	for _ in $(seq 30000); do
		[ ! -e "$T/hold" ] || return 0
		sleep 0.01
	done
}

# say NAME: the line of TAP for $why.
say()
{
	tap "$([ -z "$why" ]; echo $?)" "$1" "$why"
}

# add_why SIZE: the same for one of many, in $all.
add_why()
{
	[ -z "$why" ] || all="$all $1:$why"
}

# ---- full at any byte ----

# Where it ends while it starts, and while it records; 20 rows of a page each, then larger steps.
sizes="0 1 63 64 65 127 128 129 $(seq 500 997 9000) 16384 30001 65536 100003 300007 1000003 33000001"
plain "$LOOP" 3 3000 exit=3
all=
for bytes in $sizes; do
	GPROF_DIR=$T/fsize-$bytes
	GPROF_CUPTI=0 well prlimit --fsize="$bytes" "$LOOP" 3 3000 exit=3
	counted 9005
	add_why "$bytes"
	rm -rf "$GPROF_DIR"
done
why=$all
say "files may not be larger than N bytes ($(echo "$sizes" | wc -w) sizes)"

# may_mount: a tmpfs of its own can be mounted.
may_mount()
{
	[ "$(id -u)" = 0 ] && mkdir -p "$T/tmpfs" && mount -t tmpfs -o size=64k tmpfs "$T/tmpfs" 2>/dev/null &&
		mounted="$T/tmpfs"
}

if may_mount; then
	plain "$LOOP" 4 10000 exit=3
	all=
	sizes="4 8 12 16 20 24 28 32 36 40 48 60 68 100 148 300 1000 5000 16900 33500 50000 65536"
	for kb in $sizes; do
		mount -o remount,size="${kb}k" "$T/tmpfs"
		GPROF_DIR=$T/tmpfs/dump
		well "$LOOP" 4 10000 exit=3
		counted 40006
		add_why "${kb}k"
		rm -rf "$GPROF_DIR"
	done
	why=$all
	say "a disk that gets full ($(echo "$sizes" | wc -w) sizes)"

	# Full, and later there is room again: goes on, and the hole is counted.
	plain "$LOOP" 4 10000 exit=3 hold
	mount -o remount,size=1m "$T/tmpfs"
	head -c 1000k /dev/zero >"$T/tmpfs/filler"
	GPROF_DIR=$T/tmpfs/dump
	(HOLD=$T/hold well "$LOOP" 4 10000 exit=3 hold; echo "$why" >"$T/why") &
	held
	rm "$T/tmpfs/filler"
	sleep 0.2
	rm "$T/hold"
	wait
	why=$(cat "$T/why")
	counted 40006
	[ "$kept" -gt 9000 ] || why="$why; only $kept calls kept"
	say "a disk that was full and is not any more"
	rm -rf "$GPROF_DIR"

	mkdir -p "$T/tmpfs/dump"
	mount -o remount,ro "$T/tmpfs"
	plain "$GUEST"
	well "$GUEST"
	grep -q 'not recording' "$T/err" || why="$why; not said that there is no recording"
	say "a read-only file system"
	mount -o remount,rw "$T/tmpfs"
	umount "$T/tmpfs"
	mounted=
else
	skipped "a disk that gets full" "no mount of tmpfs (not root)"
	skipped "a disk that was full and is not any more" "no mount of tmpfs (not root)"
	skipped "a read-only file system" "no mount of tmpfs (not root)"
fi

# ---- directories that go away ----

# vanish NAME COMMAND...: while the program waits before its last step.
vanish()
{
	local name=$1
	shift
	GPROF_DIR=$T/gone/dump
	mkdir -p "$T/gone"
	(HOLD=$T/hold well "$LOOP" 4 5000 exit=3 hold; echo "$why" >"$T/why") &
	held
	"$@"
	sleep 0.1
	rm "$T/hold"
	wait
	why=$(cat "$T/why")
	say "$name"
}

plain "$LOOP" 4 5000 exit=3 hold
vanish "the streams are removed while it records" rm -rf "$T/gone/dump"
vanish "their directory gets another name" mv "$T/gone" "$T/moved"
GPROF_DIR=$T/moved/dump
why=
counted 20006
say "and the stream there is whole"
rm -rf "$T/moved"
vanish "somebody cuts the stream to nothing" sh -c ": >'$T'/gone/dump/*.part"

# ---- names of directories ----

plain "$GUEST"
ln -s "$T/loop" "$T/loop"
mkfifo "$T/fifo"
touch "$T/file"
long=$(printf 'x%.0s' $(seq 300))
for dir in "$T/file" "$T/file/below" "$T/loop" "$T/loop/below" "$T/fifo" "$T/fifo/below" "$T/$long" \
	"$T/$(printf 'part/%.0s' $(seq 1000))" /dev/null /proc /proc/self/gprof /sys/gprof; do
	GPROF_DIR=$dir
	well "$GUEST"
	# One wrong name is refused at once, and the default taken, which is said too.
	grep -q "not recording\|default is used" "$T/err" || why="$why; not said that there is no recording: $(grep '^gprof' "$T/err")"
	rm -rf gprof-dump
	name=${dir#"$T"/}
	say "a directory like ${name:0:40}"
done
GPROF_DIR=
(cd "$T" && well "$GUEST"; echo "$why" >"$T/why")
why=$(cat "$T/why")
say "an empty name"

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$T"
	mkdir -m 700 "$T/private"
	GPROF_DIR=$T/private/dump
	well setpriv --reuid=65534 --regid=65534 --clear-groups "$GUEST"
	grep -q 'not recording' "$T/err" || why="$why; not said that there is no recording"
	say "a directory that is not permitted"
else
	skipped "a directory that is not permitted" "needs root and setpriv"
fi

# ---- stderr and the log ----

GPROF_DIR=$T/dump
# ends HOW COMMAND: the shell command, which runs "$@", leaves with 3.
ends()
{
	LD_LIBRARY_PATH=$SIM GPROF=$(preload) timeout -k 1 300 bash -c "$2" ends "$JOB" 20 10 1000
	rc=$?
	tap "$([ $rc = 3 ]; echo $?)" "$1" "exit status $rc"
	rm -rf "$GPROF_DIR"
}

ends "stderr is a pipe that nobody reads any more" \
	'{ LD_PRELOAD=$GPROF "$@" 2>&1 >/dev/null; echo $? >'"$T"'/rc; } | true; exit $(cat '"$T"'/rc)'
mkfifo "$T/full"
ends "stderr is a pipe that is full" \
	'exec 5<>'"$T"'/full; timeout 1 dd if=/dev/zero bs=64k count=1 >&5 2>/dev/null; LD_PRELOAD=$GPROF "$@" 2>&5 >/dev/null'
ends "stderr is closed" 'LD_PRELOAD=$GPROF "$@" 2>&- >/dev/null'
ends "stderr is a file at its limit" \
	'head -c 3000 /dev/zero >'"$T"'/errors; LD_PRELOAD=$GPROF prlimit --fsize=3000 "$@" 2>>'"$T"'/errors >/dev/null'
ends "stderr is a full device" 'LD_PRELOAD=$GPROF "$@" 2>/dev/full >/dev/null'
export GPROF_LOG=debug GPROF_LOG_FILE=$T/fifo
ends "the log is a FIFO without a reader" 'LD_PRELOAD=$GPROF "$@" >/dev/null 2>&1'
unset GPROF_LOG GPROF_LOG_FILE

# ---- a file system that does not answer ----

# over PID: waits until the program has left. Where the server has taken a request and stopped, the
# kernel keeps the thread that asked, and so what is left of the process, until there is an answer.
over()
{
	for _ in $(seq 60000); do
		case $(sed -n 's/^State:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null) in
		"" | Z* | X*) return ;;
		esac
		sleep 0.01
	done
	kill -KILL "$1"
}

# busy PID: waits until the program has used a quarter of a second of CPU more, or has left: by then
# it has filled the rings twice over, however busy the machine is.
busy()
{
	local ticks begin=
	for _ in $(seq 60000); do
		ticks=$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '$1 !~ /[ZX]/ { print $12 + $13 }')
		[ -n "$ticks" ] || return
		begin=${begin:-$ticks}
		[ $((ticks - begin)) -lt $(($(getconf CLK_TCK) / 4)) ] || return
		sleep 0.01
	done
}

# hang WHEN: from the start, from the middle, at the end, or for a while in the middle. The steps of
# the job take no longer, its first call 200 ms, its end 2 s, and its memory stays in bounds. No
# machine is so busy that it comes to LIMIT_MS; whoever waited for the server would wait for ten minutes.
LIMIT_MS=60000
hang()
{
	local when=$1 job server end
	mkdir -p "$T/below" "$T/mnt"
	bindfs -f "$T/below" "$T/mnt" >"$T/bindfs.log" 2>&1 &
	server=$!
	mounted=$T/mnt
	for _ in $(seq 30000); do
		mountpoint -q "$T/mnt" && break
		sleep 0.02
	done
	GPROF_DIR=$T/mnt/dump
	rm -f "$T/hold"
	[ "$when" != start ] || kill -STOP $server
	HOLD=$T/hold GPROF_FLUSH_MS=50 LD_LIBRARY_PATH=$SIM LD_PRELOAD=$(preload) \
		"$JOB" 300 40000 5000 light hold >"$T/job" 2>"$T/err" &
	job=$!
	held
	[[ $when != middle && $when != while ]] || kill -STOP $server
	rm -f "$T/hold"
	if [ "$when" = while ]; then
		busy $job
		kill -CONT $server
	fi
	if [ "$when" = end ]; then
		sleep 0.3
		kill -STOP $server
	fi
	over $job
	end=$(date +%s%N)
	kill -CONT $server
	wait $job
	rc=$?
	end=$(((end - $(value main_returns_ns "$T/job")) / 1000000))
	tap "$([ $rc = 3 ]; echo $?)" "hangs at $when: the program ends as it should" "exit status $rc"
	at_most ${LIMIT_MS}000 "$(value first_call_us "$T/job")" "hangs at $when: the first call (us)"
	at_most ${LIMIT_MS}000 "$(value longest_step_us "$T/job")" "hangs at $when: the longest step (us)"
	at_most $LIMIT_MS "$end" "hangs at $when: from the end of main to the end of the process (ms)"
	at_most 75000 "$(value peak_kb "$T/job")" "hangs at $when: memory (kB)"
	kill $server
	wait $server 2>/dev/null
	umount -l "$T/mnt" 2>/dev/null
	mounted=
	GPROF_DIR=$T/below/dump
	why=
	if [ "$when" != start ]; then
		counted "$(value calls "$T/job")"
		[ "$when" != while ] || [ "$lost" -gt 0 ] || why="$why; the rings did not get full"
		say "hangs at $when: what is missing is reported"
	fi
	rm -rf "$T/below"
}

if [ -w /dev/fuse ] && command -v bindfs >/dev/null && command -v mountpoint >/dev/null; then
	for when in start middle while end; do
		hang $when
	done
else
	skipped "a file system that hangs" "no /dev/fuse or no bindfs"
fi
exit "$failed"
