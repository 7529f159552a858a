#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Python module: the command's figures as data frames, also in a notebook; marks of the program.
. "$(dirname "$0")/lib.sh"
need SIM REPORT PLAIN
PYTHON=/usr/bin/python3
"$PYTHON" -c 'import pandas, nbclient, ipykernel' 2>/dev/null || skip "no pandas, nbclient or ipykernel"
export PYTHONPATH=$ROOT/report/python PYTHONDONTWRITEBYTECODE=1 PYDEVD_DISABLE_FILE_VALIDATION=1 PATH=/usr/bin:$PATH

GPROF_STEP=api:cudaDeviceSynchronize record "$B/integ/s_loop" 6 3
is 0 $? "recording"
# One that lost its end.
mkdir "$T/cut"
for stream in "$GPROF_DIR"/*.gprof; do
	head -c "$(($(stat -c %s "$stream") - 100))" "$stream" >"$T/cut/$(basename "$stream")"
done
is "" "$(cd "$T" && HOME=$T "$PYTHON" "$ROOT/test/integ/module.py" "$REPORT" "$GPROF_DIR" "$T/cut" 2>&1)" "the module"

# Steps and ranges of a program that marks them; another dump, found by the variable.
export GPROF_DIR=$T/marks
cat >"$T/marked.py" <<'PROGRAM'
import gprof

@gprof.range("load")
def load():
    pass

for _ in range(5):
    with gprof.range("träin"):
        load()
    gprof.step()
print(gprof.is_recorded())
PROGRAM
record "$PYTHON" "$T/marked.py"
is "0 True" "$rc $(cat "$T/out")" "a marked program"
summary steps,nvtx
is "gprof_step() 6" "$(query '.steps.rows | (.[-1].rule + " " + (length | tostring))')" "steps by marks"
is "load 5 träin 5" "$(query '[.nvtx.rows[] | .name, .calls] | map(tostring) | join(" ")' | tr ' ' '\n' | paste -d' ' - - | sort | paste -sd' ')" "ranges by marks"
GPROF_NVTX=0 GPROF_DIR=$T/no record "$PYTHON" "$T/marked.py"
is "0 True" "$rc $(cat "$T/out")" "a marked program without NVTX"
finish
