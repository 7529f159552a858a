#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gprof-record: sets what the recorder needs and runs the program, or says why it cannot.
. "$(dirname "$0")/lib.sh"
need SIM REPORT PLAIN JQ PYTHON
RECORD=$ROOT/$B/gprof-record
S_LOOP=$ROOT/$B/integ/s_loop
export -n GPROF_DIR
cd "$T" || exit 1

# run ARGUMENT...: gprof-record on the simulator; its output is $T/out and $T/err, its status rc.
run()
{
	LD_LIBRARY_PATH=$SIM "$RECORD" "$@" >"$T/out" 2>"$T/err"
	rc=$?
}

# refuses STATUS TEXT ARGUMENT...: one line on stderr with the text, and nothing is run.
refuses()
{
	local status=$1 text=$2
	shift 2
	run "$@"
	is "$status 1" "$rc $(wc -l <"$T/err")" "status, lines of $*"
	grep -qF -- "$text" "$T/err" || { echo "$*: no '$text': $(cat "$T/err")"; failed=1; }
	[ ! -e ran ] || { echo "$* ran"; failed=1; }
}

# ---- every variable has an option, and it arrives in the target ----
given="--dir d --run exp7 --config c.env --step none --schedule 4-10 --capture cudaprofiler --timer-only --no-cupti --cupti-path x --driver --calls all --graph graph
--torch steps --python modules,stacks --python-hz 7 --python-filter torch/nn --paddle off --no-nvtx --nccl channels --sample-ms 20 --metrics default,pm --metrics-us 50 --cpu-hz 50 --sched on --launch-stacks all --os-min-ns 500 --hang-timeout-s 60
--batch-size 3 --buffer-mb 9 --cupti-gpu-mb 17 --max-mb 5 --flush-ms 11 --quiet --log info --log-file l.txt"
# shellcheck disable=SC2086 # words
"$RECORD" --print-env=docker $given >env.docker
"$REPORT" env --markdown | sed -n 's/^| \(GPROF[\\_A-Z]*\).*/\1/p' | tr -d '\\' | grep -v ENABLE | sort >names
is "" "$(sed -n 's/^\(GPROF[^=]*\)=.*/\1/p' env.docker | sort | diff names -)" "variables without an option"
# shellcheck disable=SC2086
"$RECORD" $given sh -c 'env' 2>/dev/null | grep ^GPROF | sed "s,=$PWD/,=," | sort >env.got
is "" "$(grep ^GPROF env.docker | sort | diff - env.got)" "environment of the program"
is "GPROF_HANG_TIMEOUT_S=60 GPROF_SCHEDULE=10-20 GPROF_TORCH=shapes" \
	"$("$RECORD" --print-env=docker --hang-timeout 60 --steps 10-20 --shapes | grep ^GPROF | sort | tr '\n' ' ' | sed 's/ $//')" "short forms"

# ---- the launcher's forms ----
export LD_PRELOAD=
"$RECORD" --print-env -o "it's here" >env.sh
is "it's here|$ROOT/$B/libgprof.so" "$(unset LD_PRELOAD; sh -c '. ./env.sh; x=$LD_PRELOAD; unset LD_PRELOAD; echo "$GPROF_DIR|$x"' 2>/dev/null)" "shell commands"
"$RECORD" --print-env=kubernetes -o 'a "b"' >env.yaml
is '- name: LD_PRELOAD|  value: "'"$ROOT/$B/libgprof.so"'"|- name: GPROF_DIR|  value: "a \"b\""' "$(paste -sd'|' env.yaml)" "Kubernetes"
unset LD_PRELOAD

# ---- it records, and changes nothing else ----
run -o dump "$S_LOOP" 3 2
is "0" "$rc" "status"
"$REPORT" --view kernel --format json dump 2>/dev/null >json
is 6 "$(jq '[.kernel.rows[].calls] | add' json)" "kernels"
LD_LIBRARY_PATH=$SIM "$S_LOOP" 3 2 >plain
is "" "$(diff plain out)" "output"
run -- sh -c 'exit 7'
is 7 "$rc" "exit status of the program"
run sh -c 'kill -TERM $$'
is 143 "$rc" "a signal that kills the program"
run sh -c 'echo $0 "$@"' -o x --help
is "-o x --help" "$(cat out)" "the program's own options"
# The library goes behind what is preloaded already, once.
LD_PRELOAD=libc.so.6 "$RECORD" sh -c 'echo "$LD_PRELOAD"' >out 2>/dev/null
is "libc.so.6:$ROOT/$B/libgprof.so" "$(cat out)" "LD_PRELOAD"
"$RECORD" "$RECORD" sh -c 'echo "$LD_PRELOAD"' >out 2>/dev/null
is "$ROOT/$B/libgprof.so" "$(cat out)" "LD_PRELOAD of gprof-record in gprof-record"
# Children that work elsewhere write into the same folder.
mkdir -p elsewhere
(cd elsewhere && run -o here sh -c "cd / && $S_LOOP 1 1")
is 1 "$(find elsewhere/here -name '*.gprof' | wc -l)" "streams of a child that works elsewhere"

# ---- the report ----
run --report -o dump "$S_LOOP" 4 3
is 0 "$rc" "status with a report"
is "" "$(LD_LIBRARY_PATH=$SIM "$S_LOOP" 4 3 | diff - out)" "output with a report"
ok grep -q '^gprof' err
ok grep -q 's_loop' err
is 2 "$(find dump -name '*.gprof' | wc -l)" "streams of both runs"
is 0 "$(grep -c 'several jobs' err)" "the report is of this run alone"
run --report -o none sh -c 'exit 3'
is 3 "$rc" "status with a report"
ok grep -q "nothing was recorded in '$T/none': the program ended with status 3 before it used CUDA" err
# The statuses of a shell whose command a signal ended, of sys.exit(-1), and of a last command that is not there.
for status in 126 127 137 255; do
	run --report -o "ended-$status" sh -c "$S_LOOP 4 3; exit $status"
	is $status "$rc" "status with a report"
	ok grep -q '^Step ' err
done
run --report -o none sh -c 'exit 137'
ok grep -q "the program ended with status 137 before it used CUDA" err
# Of a Python script that imports a framework: why that fails, also where the script goes on.
mkdir -p broken/torch
echo 'raise OSError("libcudart.so.99: cannot open shared object file")' >broken/torch/__init__.py
printf 'import sys\ntry:\n    import torch\nexcept Exception:\n    pass\nsys.exit(int(sys.argv[1]))\n' >imports.py
printf 'import sys\nsys.exit(4)\n' >plain.py
why="'import torch' fails: OSError: libcudart.so.99: cannot open shared object file"
PYTHONPATH=$T/broken run --report -o none python3 -u imports.py 5
is 5 "$rc" "status of a script"
ok grep -qF "the program ended with status 5 before it used CUDA, NVTX, NCCL, PyTorch or Paddle; $why" err
PYTHONPATH=$T/broken run --report -o none python3 imports.py 0
ok grep -qF "the program used no CUDA, NVTX, NCCL, PyTorch or Paddle; $why" err
PYTHONPATH=$T/broken run --report -o none python3 plain.py
is "4 0" "$rc $(grep -c 'import torch' err)" "status, and words on an import, of a script without one"
echo pass >broken/torch/__init__.py
PYTHONPATH=$T/broken run --report -o none python3 imports.py 5
is "5 0" "$rc $(grep -c 'fails' err)" "status, and words on an import that works"
# What could not run says so itself.
run --report -o none sh -c 'exec ./no-such-program'
is "127 0" "$rc $(grep -c 'nothing was recorded' err)" "status, and words on a recording, of what did not run"
# Who looks on sees it without asking; scripts and launchers do not.
on_terminal()
{
	LD_LIBRARY_PATH=$SIM python3 -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
		"$RECORD" "$@" </dev/null >terminal 2>&1
}
on_terminal -o seen sh -c "$S_LOOP 4 3; exit 3"
is 3 $? "status on a terminal"
ok grep -q '^Step ' terminal
on_terminal --no-report -o seen "$S_LOOP" 4 3
is 0 "$(grep -c '^Step ' terminal)" "reports with --no-report"
run -o seen "$S_LOOP" 4 3
is 0 "$(grep -c '^Step ' err)" "reports where there is no terminal"
run --report sh -c 'kill -TERM $$'
is 143 "$rc" "a signal that kills the program, with a report"
# A signal to gprof-record reaches the program, and its end is what gprof-record ends with.
LD_LIBRARY_PATH=$SIM "$RECORD" --report sh -c 'trap "exit 9" USR1; echo ready; while :; do sleep 0.05; done' >ready 2>err &
child=$!
while ! grep -q ready ready; do sleep 0.05; done
kill -USR1 $child
wait $child
is 9 $? "a signal that is passed on"
# It is the parent, so it knows the signal.
READY=$T/outside LD_LIBRARY_PATH=$SIM "$RECORD" --report -o ended "${S_LOOP%loop}end" outside >/dev/null 2>err &
child=$!
for ((i = 0; i < 6000; i++)); do [ -e "$T/outside" ] && break; sleep 0.05; done
kill -TERM $child
wait $child
is 143 $? "status after SIGTERM"
ok grep -q '^INCOMPLETE: stopped by SIGTERM$' err
rm -f "/dev/shm/$(basename "$(ls ended/*.part)" .part).rings"

# ---- what it refuses ----
printf '#!/bin/sh\ntouch ran\n' >script && chmod +x script
cp script notexec && chmod -x notexec
refuses 125 "which program? usage: gprof-record"
refuses 125 "unknown or ambiguous option '--samplems' (did you mean --sample-ms?)" --samplems 1 ./script
refuses 125 "unknown or ambiguous option '--p'; try" --p 1 ./script
refuses 125 "option '--sample-ms' needs a value" --sample-ms
refuses 125 "option '--driver' takes no value" --driver=1 ./script
refuses 125 "--sample-ms takes 0 to 60000, not '9999999'" --sample-ms 9999999 ./script
refuses 125 "--python takes off|stacks|modules|functions|gc, not 'stack'" --python stack ./script
refuses 125 "--schedule takes all|FIRST-END|" --steps 20-10 ./script
refuses 125 "--print-env takes sh, docker or kubernetes, not 'slurm'" --print-env=slurm
refuses 125 "there is no library 'nowhere.so'" --library nowhere.so ./script
refuses 127 "there is no program 'no-such-program' in PATH" no-such-program
refuses 127 "there is no program './no-such-program'" ./no-such-program
refuses 126 "'./notexec' is not an executable file" ./notexec
refuses 126 "is not an executable file" /tmp
mkdir "with blank" && cp "$ROOT/$B/libgprof.so" "with blank/"
refuses 125 "the loader splits LD_PRELOAD at blanks and colons" --library "with blank/libgprof.so" ./script
mkdir other && cp "$ROOT/$B/libgprof.so" other/
LD_PRELOAD=$T/other/libgprof.so refuses 125 "LD_PRELOAD has another libgprof.so" ./script
printf 'int main(void) { return 0; }\n' >x.c
if gcc -static -o static x.c 2>/dev/null; then
	refuses 125 "is statically linked" ./static
	printf '#!%s/static\n' "$T" >by-static && chmod +x by-static
	refuses 125 "'$T/static' is statically linked" ./by-static
fi
# For another machine, and with musl: the bytes that say so.
gcc -o program x.c && chmod +x program
{ head -c 18 program; printf '\xf3\x00'; tail -c +21 program; } >foreign && chmod +x foreign
refuses 125 "is a program for RISC-V and cannot load" ./foreign
sed 's,/lib64/ld-linux-x86-64.so.2,/lib64/ld-musl-x86_64.so.1,; s,/lib/ld-linux-aarch64.so.1,/lib/ld-musl-aarch64.so.,' program >musl && chmod +x musl
refuses 125 "uses the C library musl" ./musl
printf '#!/usr/bin/env -S A=1 ./musl -u\n' >by-env && chmod +x by-env
refuses 125 "'./musl' uses the C library musl" ./by-env
# What changes a program's loader appends its name, far from the begin of the file; the program runs all the same.
python3 - program appended <<'PYTHON'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at, size, nr = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
for place in range(at, at + size * nr, size):
    if struct.unpack_from("<I", data, place)[0] == 3:  # PT_INTERP
        offset, nr_bytes = struct.unpack_from("<Q", data, place + 8)[0], struct.unpack_from("<Q", data, place + 32)[0]
        struct.pack_into("<Q", data, place + 8, len(data) + 8192)
        data += bytes(8192) + data[offset : offset + nr_bytes]
open(sys.argv[2], "wb").write(data)
PYTHON
chmod +x appended
run ./appended
is 0 "$rc" "a program whose loader stands at its end: $(cat err)"
# One that may be executed but not read.
if command -v setpriv >/dev/null && [ "$(id -u)" = 0 ]; then
	chmod 711 program && chmod 755 .
	setpriv --reuid 65534 --clear-groups "$RECORD" -o /dev/null/none ./program 2>err
	is 0 $? "a program that may not be read: $(cat err)"
	# Set-user-ID, of root: it counts for a program, readable or not, and not for a script.
	printf '#!/bin/sh\nexit 5\n' >rights-script && chmod 4755 rights-script
	setpriv --reuid 65534 --clear-groups "$RECORD" -o /dev/null/none ./rights-script 2>err
	is 5 $? "a script with the bit of set-user-ID: $(cat err)"
	for mode in 4755 4711; do
		chmod $mode program
		setpriv --reuid 65534 --clear-groups "$RECORD" -o /dev/null/none ./program 2>err
		is "125 1" "$? $(grep -c 'runs with more rights than its caller' err)" "a program of mode $mode: $(cat err)"
	done
fi
run ./script
is "0 yes" "$rc $([ -e ran ] && echo yes)" "a script"
finish
