#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A job of four ranks, damaged as a folder of streams may be: a sentence says so, views that compare
# ranks say so too, and the status is 3.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ PYTHON
# What is mixed here is taken for one launch.
export GPROF_RUN=one

export GPROF_STEP=api:cudaStreamSynchronize
VIEWS=communication,distributed,stragglers,pipeline,moe-balance

# run HOW NAME: four ranks, recorded to that folder of $T; again where a busy machine cost them their first calls.
run()
{
	for _ in 1 2 3 4 5; do
		rm -rf "${T:?}/$2"
		GPROF_DIR=$T/$2 record "$B/prog/collectives" "$1" 4
		GPROF_DIR=$T/$2 was_late || break
	done
	is 0 "$rc" "status of the ranks of $2"
}

# stream_of RANK FOLDER
stream_of()
{
	"$REPORT" summary --view device --format json "$2" 2>/dev/null | jq -r ".processes.rows[] | select(.rank == $1).file"
}

# look FOLDER STATUS: what the views say of it.
look()
{
	GPROF_DIR=$T/$1
	summary $VIEWS
	is "$2" "$report_rc" "status of $1: $(cat "$T/report.err")"
}

# says SENTENCE: it is printed once.
says()
{
	is 1 "$(grep -c "$1" "$T/report.err")" "sentences '$1', not: $(cat "$T/report.err")"
}

# notes TEXT: the note of each view has it.
notes()
{
	local view
	for view in ${VIEWS//,/ }; do
		is true "$(query ".${view//-/_}.note | contains(\"$1\")")" "$1 in the note of $view"
	done
}

# waits VALUE: is the waiting of all collectives known?
waits()
{
	is "$1" "$(query '[.communication.rows[] | .waiting_ns != null] | unique | join(" ")')" "known waiting of $GPROF_DIR"
}

run ranks good
run ranks other
stream=$(stream_of 3 "$T/good")
other=$(stream_of 3 "$T/other")
look good 0
is "" "$(cat "$T/report.err")" "sentences of a good job"
is 2 "$(query '.communication.rows | length')" "rows of a good job"
waits true

# damage NAME: a copy of the good job without the stream of rank 3, whose place is $bad.
damage()
{
	cp -r "$T/good" "$T/$1"
	bad=$T/$1/$(basename "$stream")
	rm "$bad"
}

damage missing
look missing 3
says 'missing ranks: 3 (of 4)$'
notes 'Covers 3 of 4 ranks.'
waits false

# In the middle of its first block of NCCL's calls. What is left of it says which rank it is.
damage cut
python3 - "$stream" "$bad" <<'END'
import struct, sys
data = open(sys.argv[1], "rb").read()
TABLE_NCCL = 45
at, table = struct.unpack_from("<I", data, 12)[0], 0
while table != TABLE_NCCL:
    begin = at
    table, nr_columns, nr_rows, payload_bytes = struct.unpack_from("<HHII", data, begin + 4)
    at = begin + (56 + 16 * nr_columns + payload_bytes + 7) // 8 * 8
open(sys.argv[2], "wb").write(data[: (begin + at) // 2])
END
look cut 3
says "$bad': block [0-9]* at byte [0-9]* is damaged: truncated$"
says "$bad' is unfinished: "
notes '1 process is incomplete'
waits false

damage foreign
cp "$other" "$T/foreign"
look foreign 3
says "$(basename "$other")': rank 3, process [0-9]*: shares no NCCL communicator with the other ranks: another job"
notes '1 process shares no communicator with the others'
waits false
is 4 "$(query '.communication.rows | length')" "rows of two communicators"
for command in info "html -o $T/page.html" "timeline -o $T/trace.json"; do
	# shellcheck disable=SC2086
	"$REPORT" $command "$T/foreign" >/dev/null 2>"$T/report.err"
	is 3 $? "status of ${command%% *} of a foreign stream"
	says "shares no NCCL communicator with the other ranks"
done

# Without it the job is one rank short. With one rank of each job none is at home.
"$REPORT" summary --rank 0-2 "$T/foreign" >/dev/null 2>"$T/report.err"
is 0 $? "status of the chosen ranks"
mkdir "$T/strangers"
cp "$(stream_of 0 "$T/good")" "$other" "$T/strangers"
look strangers 3
notes '2 processes share no communicator with the others'

damage version
python3 - "$stream" "$bad" <<'END'
import struct, sys, zlib
data = bytearray(open(sys.argv[1], "rb").read())
data[8:10] = struct.pack("<H", 999)
data[56:60] = struct.pack("<I", zlib.crc32(bytes(data[:56])))
open(sys.argv[2], "wb").write(data)
END
look version 3
says "cannot read '$bad': .*999"
says 'missing ranks: 3 (of 4)$'
notes 'Covers 3 of 4 ranks.'
waits false

damage twice
cp "$stream" "$bad"
cp "$stream" "$T/twice/again.gprof"
look twice 3
says 'is the same recording as .* and is ignored: name it once'
is "$(query .communication.rows)" "$(GPROF_DIR=$T/good; summary communication; query .communication.rows)" "communication with a stream that is there twice"

run wrong differing
look differing 3
says 'error in the program: ranks call different operations in 2 collectives; the first is number 1 of .* on rank 0 and .* on rank 3$'
waits false
finish
