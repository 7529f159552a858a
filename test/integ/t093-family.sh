#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `info` shows which process came from which: forked, started through a shell that records nothing,
# outliving its parent, with a pid that had been somebody else's; and hundreds of them.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
# Its launches are read together.
export GPROF_RUN=one
[[ $B != *san-thread ]] || skip "ThreadSanitizer does not support threads after a fork with threads"

# tree PATTERN WHAT: one line of the tree, with the lines joined by nothing else
tree()
{
	is 1 "$(grep -cE "$1" "$T/info")" "$2"
}

# Workers of a launcher that records: through a shell in between, which does not.
record "$B/integ/s_family" spawn sh -c "$B/integ/s_family return; :"
is 0 $rc "status of the launcher"
"$REPORT" info "$GPROF_DIR" >"$T/info" 2>/dev/null
tree '^2 processes$' "processes"
tree '^  [0-9]+ +[^ ]*s_family spawn .*exited with status 0$' "the launcher"
tree '^    [0-9]+ +spawn [^ ]*s_family return .*exited with status 0$' "its worker"
tree '^  began .* started by process [0-9]+ \([^/]*\.gprof\)$' "the worker's begin"

# A child that outlives its parent, and a grandchild.
rm -rf "$GPROF_DIR"
record "$B/integ/s_family" orphan
for ((i = 0; i < 6000; i++)); do
	[ "$(find "$GPROF_DIR" -name '*.gprof' | wc -l)" = 3 ] && break
	sleep 0.05
done
"$REPORT" info "$GPROF_DIR" >"$T/info" 2>/dev/null
tree '^3 processes$' "processes with an orphan"
tree '^    [0-9]+ +fork  .*exited with status 4$' "the orphan"
tree '^      [0-9]+ +fork  .*ended by _exit with status 5$' "its child"
is 2 "$(grep -cE '^  began .* forked from process [0-9]+ \([^/]*\.gprof\)$' "$T/info")" "begins of forked children"

# The parent's stream is gone: said so.
parent=$(awk '/^\// { path = $0 } /^  began / && !/ from | by / { print path }' "$T/info")
is 1 "$(wc -l <<<"$parent")" "the first process, of which nothing is missing"
mv "$parent" "$T/elsewhere"
"$REPORT" info "$GPROF_DIR" >"$T/info" 2>/dev/null
tree '^  began .* forked from the process of [^/]*\.gprof, which is not among the inputs$' "begin without the parent"

# The same pid twice: two processes, told apart by their start.
if unshare -p --fork true 2>/dev/null; then
	rm -rf "$GPROF_DIR"
	for i in 1 2; do
		record unshare -p --fork --mount-proc "$B/integ/s_family" return
	done
	"$REPORT" info "$GPROF_DIR" >"$T/info" 2>/dev/null
	is 2 "$(grep -cE '^  1 +[^ ]*s_family return .*exited with status 0$' "$T/info")" "processes with pid 1"
	is 0 "$(grep -cE 'spawn|exec  |fork  ' "$T/info")" "kinship by pid alone"
fi

# A child of a parent that never used CUDA, where the driver's own exit handler runs before ours; and
# the usual case, where it runs after.
for way in late return; do
	rm -rf "$GPROF_DIR"
	SIM_TEARDOWN=1 record "$B/integ/s_family" $way
	is "$([ $way = late ] && echo 6 || echo 0)" $rc "status of $way with the driver's teardown"
	"$REPORT" info "$GPROF_DIR" >"$T/info" 2>/dev/null
	tree '^  end +exited' "end of $way with the driver's teardown"
done
for _ in $(seq 20); do # while records are taken all the time
	GPROF_FLUSH_MS=10 SIM_TEARDOWN=1 record "$B/integ/s_family" late
	is 6 $rc "status of late with the driver's teardown while records are taken"
done

# Hundreds of streams, where a process may usually have few files open.
stream=$(find "$GPROF_DIR" -name '*.gprof' | head -1)
python3 - "$stream" "$GPROF_DIR" <<'END'
import struct, sys, zlib
data = bytearray(open(sys.argv[1], "rb").read())
for i in range(400):  # with ids of their own: a recording that is there twice counts once
    data[16:24] = struct.pack("<Q", i + 1)
    data[56:60] = struct.pack("<I", zlib.crc32(bytes(data[:56])))
    open(f"{sys.argv[2]}/copy-{i}.gprof", "wb").write(data)
END
(ulimit -Sn 64; timeout 300 "$REPORT" info "$GPROF_DIR" >"$T/info" 2>"$T/report.err")
is 0 $? "status for hundreds of streams"
is "$(find "$GPROF_DIR" -name '*.gprof' | wc -l) processes" "$(head -1 "$T/info")" "processes of hundreds"
finish
