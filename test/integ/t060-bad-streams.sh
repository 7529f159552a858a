#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Streams that are cut, flipped, empty, foreign or too new: exit 3 or 1, never a crash.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

record "$B/integ/s_loop" 20 200
stream=$(ls "$GPROF_DIR"/*.gprof)
size=$(stat -c %s "$stream")
is 0 "$("$REPORT" check "$stream" >/dev/null 2>&1; echo $?)" "a good stream"

# try NAME ALLOWED-STATUS...
try()
{
	local name=$1 command status
	shift
	for command in check summary info; do
		timeout 300 "$REPORT" $command "$T/bad.gprof" >"$T/bad.out" 2>"$T/bad.err"
		status=$?
		case " $* " in
		*" $status "*) ;;
		*) echo "$command of $name: status $status"; head -3 "$T/bad.err"; failed=1 ;;
		esac
		if [ $status != 0 ]; then
			cat "$T/bad.err" "$T/bad.out" | grep -q . || { echo "$command of $name says nothing"; failed=1; }
		fi
	done
}

: >"$T/bad.gprof"; try "an empty file" 1
head -c 30 "$stream" >"$T/bad.gprof"; try "half a header" 1
echo "this is no stream, it is a text" >"$T/bad.gprof"; try "a text" 1
head -c 100000 /dev/urandom >"$T/bad.gprof"; try "noise" 1
for part in 10 30 50 70 90; do
	head -c $((size * part / 100)) "$stream" >"$T/bad.gprof"
	try "$part %" 3
done
python3 - "$stream" "$T/bad.gprof" <<'END'
import struct, sys, zlib
data = bytearray(open(sys.argv[1], "rb").read())
data[8:10] = struct.pack("<H", 999)
data[56:60] = struct.pack("<I", zlib.crc32(bytes(data[:56])))
open(sys.argv[2], "wb").write(data)
END
try "a newer version" 1
grep -qi 'version\|newer' "$T/bad.err" || { echo "it does not name the version"; cat "$T/bad.err"; failed=1; }
RANDOM=7
for round in 1 2 3 4 5 6 7 8 9 10 11 12; do
	cp "$stream" "$T/bad.gprof"
	at=$((64 + (RANDOM * 32768 + RANDOM) % (size - 64)))
	printf '\252\125\252' | dd of="$T/bad.gprof" bs=1 seek=$at conv=notrunc 2>/dev/null
	try "bytes changed at $at" 3 0
done

# What is no file is passed over in any command: whoever opens a FIFO waits for ever.
mkdir "$T/odd" "$T/odd/folder.gprof"
cp "$stream" "$T/odd/good.gprof"
mkfifo "$T/odd/fifo.gprof"
for command in check info summary "timeline -o $T/t.json" "html -o $T/t.html" "export -o $T/t.db" "reduce -o $T/t.sum" "diff $stream"; do
	timeout 20 "$REPORT" $command "$T/odd" >"$T/bad.out" 2>"$T/bad.err"
	is 3 $? "status of ${command%% *} beside a FIFO"
	is 1 "$(grep -c "fifo.gprof': not a regular file" "$T/bad.err")" "sentences of ${command%% *} on the FIFO"
done
for what in fifo folder; do
	timeout 20 "$REPORT" summary "$T/odd/$what.gprof" >"$T/bad.out" 2>"$T/bad.err"
	is 1 $? "status of the $what alone"
done
# Nothing to work on is a failure with one sentence, and nothing else, such as of a sanitizer.
timeout 20 "$REPORT" reduce -j 1 -o "$T/t.sum" "$T/odd/fifo.gprof" >"$T/bad.out" 2>"$T/bad.err"
is "1 1" "$? $(wc -l <"$T/bad.err")" "status and lines of reduce of the FIFO alone"
finish
