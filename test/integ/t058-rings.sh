#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The rings are in memory: no call waits for the disk under GPROF_DIR. After a kill they are where the stream
# is, once somebody has read it.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ PLAIN
# Its launches are read together.
export GPROF_RUN=one
[ "$(stat -fc %T /dev/shm)" = tmpfs ] || skip "/dev/shm is not a tmpfs"
mounted=
trap '[ -z "$mounted" ] || { fsfreeze -u "$mounted" 2>/dev/null; umount -l "$mounted"; }; clean_up' EXIT

# held WHAT: waits until the program holds.
held()
{
	for _ in $(seq 600); do
		[ ! -e "$T/hold" ] || return 0
		kill -0 $job 2>/dev/null || break
		sleep 0.05
	done
	echo "the program does not come $1"
	failed=1
	return 1
}

# rings: the ring files of the dump's streams, in shared memory.
rings()
{
	local part
	for part in "$GPROF_DIR"/*.part; do
		part=${part##*/}
		ls "/dev/shm/${part%.part}.rings" 2>/dev/null
	done
}

# hold_until_moved FILE: a program that holds until those rings have left the memory; its status in held_rc.
hold_until_moved()
{
	HOLD=$T/hold record "$B/integ/s_loop" 2 5 hold &
	job=$!
	held "to its last step"
	for _ in $(seq 400); do
		[ -e "$1" ] || break
		sleep 0.05
	done
	rm -f "$T/hold"
	wait $job
	held_rc=$?
	ok test ! -e "$1"
}

launches()
{
	summary api
	query '.api.rows[] | select(.name == "cudaLaunchKernel").calls'
}

HOLD=$T/hold record "$B/integ/s_loop" 4 10 hold &
job=$!
held "to its last step"
is 1 "$(rings | wc -l)" "ring files in memory"
is 0 "$(find "$GPROF_DIR" -name '*.rings*' | wc -l)" "ring files on the disk"
before=$(rings)
is 30 "$(launches)" "launches while it runs"
is "$before" "$(rings)" "ring files of a process that runs, after they were read"
rm "$T/hold"
wait $job
ok test ! -e "$before"
rm -rf "$GPROF_DIR"

GPROF_FLUSH_MS=60000 record "$B/integ/s_loop" 30 100 kill
is 137 $rc "exit status"
left=$(rings)
ok test -n "$left"
echo half >"$GPROF_DIR/${left##*/}.new"
# A part of a whole pool: only what was used has memory.
ok test $(($(stat -c %b "$left") * 512)) -lt 8000000
for time in first second; do
	is 2900 "$(launches)" "launches by the $time reader"
	is "" "$(rings)" "rings left in memory by the $time reader"
done
is 1 "$(find "$GPROF_DIR" -name '*.gprof.rings' | wc -l)" "rings beside the stream"
is 2 "$(find "$GPROF_DIR" -type f | wc -l)" "files in the dump"
mv "$GPROF_DIR" "$T/elsewhere"
GPROF_DIR=$T/elsewhere
is 2900 "$(launches)" "launches of the dump elsewhere"

# The next process that records into the same directory does it, too.
GPROF_DIR=$T/dump
GPROF_FLUSH_MS=60000 record "$B/integ/s_loop" 30 100 kill
left=$(rings)
ok test -n "$left"
GPROF_DIR=$T/other record "$B/integ/s_loop" 2 5 sleep=200
ok test -e "$left"
# Also where another one was killed while it did.
echo half >"$GPROF_DIR/${left##*/}.new"
touch -d '2 minutes ago' "$GPROF_DIR/${left##*/}.new"
hold_until_moved "$left"
ok test -e "$GPROF_DIR/${left##*/}"
ok test ! -e "$GPROF_DIR/${left##*/}.new"
is $((2900 + 10)) "$(launches)" "launches of both"

# A file that claims to be larger than any file of rings stays where it is.
GPROF_DIR=$T/claims
GPROF_FLUSH_MS=60000 record "$B/integ/s_loop" 3 5 kill
left=$(rings)
printf '\xff\xff\xff\xff' | dd of="$left" bs=1 seek=28 conv=notrunc status=none
GPROF_FLUSH_MS=60000 record "$B/integ/s_loop" 3 5 kill
sound=$(rings | grep -vxF "$left")
hold_until_moved "$sound"
is 0 $held_rc "exit status beside such a file"
ok test -e "$left"
is "${sound##*/}" "$(find "$GPROF_DIR" -name '*.rings*' -printf '%f\n')" "what was moved"
rm -f "$left"

# However large a file is, what the program does comes first: nothing finds its small rings full while gprof reads that.
GPROF_DIR=$T/large
GPROF_FLUSH_MS=60000 record "$B/integ/s_loop" 3 5 kill
left=$(rings)
printf '\x00\x00\x20' | dd of="$left" bs=1 seek=28 conv=notrunc status=none # 32 GiB in chunks, holes but for the first
if truncate -s $((4096 + (2 << 20) * 16384)) "$left" 2>/dev/null; then
	GPROF_BUFFER_MB=8 GPROF_CUPTI=0 record "$B/integ/s_loop" 40 5000 sleep=20
	is 0 $rc "exit status beside a large file"
	is "" "$(grep -o '([0-9]* lost' "$T/err")" "events that found no room meanwhile"
fi
rm -f "$left"

# A program that another one replaces in the same process leaves its rings; the next one moves them, however
# short it is.
GPROF_DIR=$T/stages
for how in execv execve execlp; do
	record "$B/integ/s_end" $how
done
is 3 "$(find "$GPROF_DIR" -name '*.gprof.part' | wc -l)" "programs that were replaced"
is "" "$(rings)" "their rings in memory"
is $((3 * 14)) "$(launches)" "launches of all programs"

# A file system on which a store into a mapped file waits: one that is frozen. What is in its pages was
# written back, so that the next store asks.
if [ "$(id -u)" = 0 ] && command -v fsfreeze >/dev/null && command -v mkfs.ext4 >/dev/null &&
	truncate -s 128M "$T/image" && mkfs.ext4 -q "$T/image" && mkdir "$T/slow" &&
	mount -o loop "$T/image" "$T/slow" 2>/dev/null; then
	mounted=$T/slow
	GPROF_DIR=$T/slow/dump
	HOLD=$T/hold record "$B/integ/s_loop" 40 100 hold=3,39 &
	job=$!
	if held "to its third step"; then
		sync -f "$T/slow"
		fsfreeze -f "$T/slow"
		rm "$T/hold"
		held "any further: a call waits for the disk"
		fsfreeze -u "$T/slow"
	fi
	rm -f "$T/hold"
	for _ in $(seq 200); do
		[ ! -e "$T/hold" ] || rm -f "$T/hold"
		kill -0 $job 2>/dev/null || break
		sleep 0.05
	done
	wait $job
	is 4000 "$(launches)" "launches on a disk that did not answer"
	umount -l "$mounted"
	mounted=
fi

# A file system that copies on write has no reserved space: where it is full, a store into a mapped file raises SIGBUS.
# So the rings are in the memory of the process where /dev/shm has no room for them.
if [ "$(id -u)" = 0 ] && command -v mkfs.btrfs >/dev/null && [ -z "$mounted" ] &&
	rm -f "$T/image" && truncate -s 256M "$T/image" && mkfs.btrfs -q "$T/image" >"$T/out" 2>&1 && mkdir -p "$T/slow" &&
	mount -o loop "$T/image" "$T/slow" 2>/dev/null; then
	mounted=$T/slow
	GPROF_DIR=$T/slow/dump
	cat >"$T/small" <<-END
		#!/bin/sh
		mount -t tmpfs -o size=16m none /dev/shm && exec "\$@"
	END
	chmod +x "$T/small"
	# Two full rounds of the rings, one before and one behind the time at which the disk gets full.
	HOLD=$T/hold GPROF_CUPTI=0 record unshare -m "$T/small" "$B/integ/s_loop" 40 20000 hold=20,39 &
	job=$!
	if held "to its step in the middle"; then
		sync -f "$T/slow"
		dd if=/dev/zero of="$T/slow/fill" bs=1M 2>/dev/null
		sync -f "$T/slow"
		rm "$T/hold"
		held "any further on a full disk"
	fi
	rm -f "$T/hold"
	wait $job
	is 0 $? "status on a full disk that copies on write"
	is 0 "$(find "$GPROF_DIR" -name '*.rings' | wc -l)" "rings on a disk that copies on write"
fi
finish
