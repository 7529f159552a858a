#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Wrong names cost one line with what was probably meant, and nothing recorded one with what to do.
. "$(dirname "$0")/lib.sh"
need SIM REPORT
cd "$T" || exit 1

# says STATUS TEXT ARGUMENT...: one line on stderr with the text.
says()
{
	local status=$1 text=$2
	shift 2
	"$REPORT" "$@" >/dev/null 2>"$T/err"
	is "$status" $? "status of $*"
	is 1 "$(wc -l <"$T/err")" "lines of $*"
	grep -qF "$text" "$T/err" || { echo "$*: no '$text': $(cat "$T/err")"; failed=1; }
}

says 2 "no command and no file 'sumary' (did you mean summary?); try: gprof-report help" sumary
says 2 "no command and no file 'kernels' (did you mean --view kernel?)" kernels
says 2 "unknown command or view 'timelin' (did you mean timeline?)" help timelin
says 2 "unknown view 'kernl' (did you mean kernel?)" --view kernl
says 2 "unknown option '--sortt' (did you mean --sort?); try: gprof-report help summary" --sortt x
says 2 "unknown option '-Z'; try" -Z
says 2 "unknown option '--\x1b[31mred'" $'--\e[31mred'
says 2 "unknown option '-Z'; try" -wZ
says 2 "option --top needs a value: N" --top
says 2 "option --wide takes no value" --wide=1
says 2 "option '--st' is ambiguous" --st 3
says 2 "unknown --format 'jsn' (did you mean json?); choose one of text, csv, json, markdown" --format jsn
for each in timeline:--trakcs:--tracks html:--timelin-size:--timeline-size diff:--fail-no:--fail-on export:--formt:--format \
	sql:--formt:--format reduce:--shar:--share watch:--metrcs:--metrics whatif:--scael:--scale check:--hlep:--help \
	info:--hlep:--help env:--markdwn:--markdown; do
	IFS=: read -r command wrong right <<<"$each"
	# The beginning of one option is that option.
	[ "$wrong" = --shar ] || says 2 "unknown option '$wrong' (did you mean $right?); try: gprof-report help $command" "$command" "$wrong" 1
done

# Options that other tools have.
says 2 "unknown option '--csv' (did you mean --format csv?); try: gprof-report help summary" summary --csv x
says 2 "unknown option '--print-gpu-trace' (did you mean --view gpu-trace?); try: " summary --print-gpu-trace x
says 2 "unknown option '--log-file' (did you mean --output FILE?); try: " timeline --log-file=x x

# Nothing was recorded.
unset GPROF_DIR
says 1 "cannot read 'gprof-dump': it does not exist. A process that runs with libgprof.so and uses CUDA, NVTX, NCCL or a framework creates it; record with: LD_PRELOAD=${REPORT%/*}/libgprof.so PROGRAM"
says 1 "record with: GPROF_DIR=nothing LD_PRELOAD=" check nothing
says 1 "record with: GPROF_DIR='it'\\''s nothing' LD_PRELOAD=" "it's nothing"
says 1 "cannot read 'nothing.gprof': No such file or directory" nothing.gprof
mkdir empty
says 1 "cannot read 'empty': the directory has no streams (*.gprof) and no traces (*.json, *.xplane.pb, *.sqlite); record with: GPROF_DIR=empty LD_PRELOAD=" info empty
# CUPTI may be flushed meanwhile, which it reports as overhead.
GPROF_DIR=$T/none GPROF_FLUSH_MS=10 GPROF_CAPTURE=cudaprofiler record "$ROOT/$B/integ/s_loop" 4 5 sleep=50
says 0 "no events were recorded: GPROF_CAPTURE=cudaprofiler records only between cudaProfilerStart and cudaProfilerStop" none
GPROF_DIR=$T/late GPROF_SCHEDULE=100-110 GPROF_STEP=api:cudaStreamSynchronize record "$ROOT/$B/integ/s_loop" 2 5
says 0 "no events were recorded: GPROF_SCHEDULE=100-110 records only these steps" late

# A misspelt variable costs the one line of the process, and a notice.
GPROF_DIR=$T/misspelt GPROF_SCHEDUL=1-2 GPROF_API_KEY=1 record "$ROOT/$B/integ/s_loop" 2 5
is "GPROF_SCHEDUL is no variable of gprof and is ignored; did you mean GPROF_SCHEDULE?" "$(sed -n 's/^gprof\[[0-9]*\]: //p' "$T/err")" "line of a misspelt variable"
ok grep -q "did you mean GPROF_SCHEDULE" <("$REPORT" --view notices --format csv misspelt)
GPROF_SCHEDUL=1-2 says 0 "GPROF_SCHEDUL is no variable of gprof and is ignored; did you mean GPROF_SCHEDULE?" env
(unset GPROF_FLUSH_MS && "$REPORT" env) >"$T/out" 2>"$T/err"
is "0 0" "$(wc -c <"$T/err") $(awk 'length > 90' "$T/out" | wc -l)" "warnings of no variable, and long lines"

says 2 "no view has such a column for --sort: 'totl' (did you mean total?)" --view kernel --sort totl none

# Help wraps at the terminal.
for name in "" $("$REPORT" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p') kernel what-if advice distributed; do
	# shellcheck disable=SC2086
	widest=$(COLUMNS=80 "$REPORT" help $name | wc -L)
	[ "$widest" -le 80 ] || { echo "help $name has lines of $widest columns"; failed=1; }
done

# What shells complete by comes from the same lists.
complete_words()
{
	"$REPORT" completion bash >"$T/completion"
	bash -c '. "$1"; shift; COMP_WORDS=(gprof-report "$@"); COMP_CWORD=$#; _gprof_report; echo "${COMPREPLY[*]}"' - "$T/completion" "$@"
}
is "start stop steps" "$(complete_words control dump st)" "words of control"
is "bash zsh fish" "$(complete_words completion "")" "shells"
is "step_time" "$(complete_words diff --fail-on step)" "conditions"
is "total" "$(complete_words --sort total | tr ' ' '\n' | grep -x total)" "columns"
is "saved" "$(complete_words whatif --sort saved | tr ' ' '\n' | grep -x saved)" "columns of whatif"
is "kernel kernel-operator" "$(complete_words help kernel)" "views of help"
ok grep -q "'2:word:(start stop steps)'" <("$REPORT" completion zsh)
GPROF_DIR=$T/none # What was written, and the views that fit a run on the CPU.
printf '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 5}]}' >cpu.json
next()
{
	"$REPORT" "$1" 2>/dev/null | sed '1,/^More with/d' | awk '{print $1}' | paste -sd' '
}
is "advice steps breakdown data-loading operator-types" "$(next cpu.json)" "views for a run on the CPU"
is "advice steps breakdown idle api" "$(next misspelt)" "views for a run on a GPU"
is "wrote x.json: open it at https://ui.perfetto.dev" "$("$REPORT" timeline -o x.json cpu.json 2>/dev/null)" "what timeline writes"
is "wrote x: 1 event of 1 process" "$("$REPORT" export --format csv -o x cpu.json 2>/dev/null)" "what export writes"
finish
