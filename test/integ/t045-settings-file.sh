#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Files of settings that are none, names and values that a terminal would obey, directories that take
# their time: the program is recorded and ends as without us, and one sentence says what is wrong.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

launches()
{
	summary api,notices
	query '[.api.rows[]? | select(.name == "cudaLaunchKernel").calls] | add // 0'
}

# refused PATH SENTENCE: GPROF_CONFIG names it; all is recorded, and the sentence is printed and noted.
refused()
{
	rm -rf "$GPROF_DIR"
	GPROF_CONFIG=$1 record timeout 60 "$B/integ/s_loop" 3 5
	is 0 $rc "exit status with $1"
	is 1 "$(grep -c '^gprof\[' "$T/err")" "lines on stderr with $1"
	is 1 "$(grep -cE "^gprof\[.*: GPROF_CONFIG=$1 $2" "$T/err")" "lines that tell of $1"
	is 15 "$(launches)" "launches with $1"
	is 1 "$(query "[.notices.rows[] | select(.text | test(\"GPROF_CONFIG=$1 $2\"))] | length")" "notices of $1"
}

mkfifo "$T/fifo"
mkdir "$T/folder"
: >"$T/nothing"
printf 'GPROF_SCHEDULE=2-4\n\0\n' >"$T/binary"
{ echo GPROF_STEP=auto; yes '# filler' | head -5000; echo GPROF_SCHEDULE=2-4; } >"$T/large"
none="none of its settings are used; name a text file of lines NAME=value"
refused "$T/fifo" "is not a regular file but a pipe, a socket or a device: $none"
refused /proc/kmsg "is empty .its size is 0.: $none"
refused "$T/folder" "is a directory: $none"
refused "$T/nothing" "is empty .its size is 0.: $none"
refused "$T/binary" "is not text .line 2 contains a zero byte.: $none"
refused "$T/large" "is longer than 32768 bytes: its settings after line [0-9]+ are not used; shorten it"
refused "$T/absent" "cannot be read .error 2, there is no such file.: $none"

printf '\xef\xbb\xbfGPROF_SCHEDULE=2-4\r\n' >"$T/marked"
rm -rf "$GPROF_DIR"
GPROF_CONFIG=$T/marked record "$B/integ/s_loop" 10 5 call
is 10 "$(launches)" "launches by a schedule behind a byte order mark"

# Raw, these clear the screen and hide the line.
for set in "GPROF_DIR=$T/red"$'\e[31m\e[2J\x07' "GPROF_GRAPH="$'\e[2Jnode\r\xc2\x9b8m'; do
	record env "$set" "$B/integ/s_loop" 3 5
	is 1 "$(grep -c '^gprof\[.*\\x1b\[2J' "$T/err")" "lines that show the value"
	is 0 "$(LC_ALL=C grep -caP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$T/err")" "harmful lines on stderr"
done

# A long path is printed wholly: the command that the line suggests must run.
long=$T/$(printf 'a%.0s' {1..200})/$(printf 'b%.0s' {1..200})/$(printf 'c%.0s' {1..200})
GPROF_DIR=$long record "$B/integ/s_loop" 3 5
ok "$REPORT" "$(sed -n 's/^gprof.*view with: gprof-report //; s/, or gprof-report html .*//p' "$T/err")" >"$T/out"
is 1 "$(grep -c "^gprof\[.* to $long/.*\.gprof, .*; view with: gprof-report $long, or gprof-report html $long\$" "$T/err")" "whole lines with a long path"

ok gcc -shared -fPIC -O1 -D_GNU_SOURCE -o "$T/slow.so" test/integ/l_slow.c -ldl

# slow NAME US PROGRAM...: recorded, with what has the name in its path slow.
slow()
{
	local name=$1 us=$2
	shift 2
	SLOW_NAME=$name SLOW_US=$us LD_LIBRARY_PATH=$SIM \
		LD_PRELOAD=$(preload | sed "s,[^:]*libgprof.so,$T/slow.so:&,") "$@" >"$T/out" 2>"$T/err"
	rc=$?
}

# Each folder takes a moment, but there is one folder after another: the program waits for them, unless
# the machine is so busy that it has to go on.
for try in 1 2 3 4 5; do
	export GPROF_DIR=$T/deep$try/deep/$(yes d | head -130 | paste -sd/)
	slow /deep/ 2000 "$B/integ/s_loop" 3 5
	was_late || break
done
is 0 $rc "exit status with 130 new folders"
is 15 "$(launches)" "launches with 130 new folders"
export GPROF_DIR=$T/dump

# One that does not answer at all is named.
echo GPROF_STEP=auto >"$T/stuck"
GPROF_CONFIG=$T/stuck slow stuck 5000000 "$B/integ/s_loop" 3 5
is 0 $rc "exit status with a file that cannot be opened in time"
is 1 "$(grep -c "^gprof\[.*: not recorded: .*(the file system of GPROF_CONFIG is too slow: $T/stuck); [0-9]* events* lost\$" \
	"$T/err")" "lines that blame the file of settings"
finish
