#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Flame graphs: each form against the tables and against the other forms; what cannot be drawn is said.
. "$(dirname "$0")/lib.sh"
need REPORT REPORT_ALONE PYTHON JQ
[ -x "$B/gen_stream" ] || skip "gen_stream is not built (make tests)"

mkdir "$T/files"
streams=()
for kind in ops "model 20000" python; do
	# shellcheck disable=SC2086 # words
	"$B/gen_stream" "$T/${kind%% *}.gprof" $kind
	streams+=("$T/${kind%% *}.gprof")
done
for stream in "${streams[@]}"; do
	is 0 "$(python3 test/integ/flame.py "$REPORT" "$T/files" "$stream" >"$T/out" 2>&1; echo $?)" \
		"$(basename "$stream"): $(head -3 "$T/out" | tr '\n' ';')"
done
if [ -d "${GPROF_TRACES:-}" ]; then
	for trace in qwen_h100.json.gz dlrm_v100_8ranks; do
		is 0 "$(python3 test/integ/flame.py "$REPORT" "$T/files" "$GPROF_TRACES/$trace" >"$T/out" 2>&1; echo $?)" \
			"$trace: $(head -3 "$T/out" | tr '\n' ';')"
	done
fi

# Google's own reader, where there is one.
if command -v go >/dev/null; then
	"$REPORT" flame -o "$T/x.pb.gz" "$T/ops.gprof"
	is "540us" "$(HOME=$T go tool pprof -top -sample_index=gpu "$T/x.pb.gz" 2>&1 | sed -nE 's/.* of (.*) total$/\1/p')" "pprof's total"
fi

# CPU samples: threads, then functions from the outermost one on. All samples of the tables are in the graph.
"$REPORT" flame --samples -o - test/golden/v2/cpu.gprof >"$T/folded" 2>"$T/err"
is 0 $? "status with CPU samples"
is "python;python3.12+0x1000;python3.12+0x2000;libdecode.so+0x500 120000000" "$(grep 'python;.*libdecode' "$T/folded")" "a native stack"
is "worker;libdecode.so+0x500;libdecode.so+0x500 40000000" "$(grep 'libdecode.*libdecode' "$T/folded")" "a recursive function"
is 230000000 "$(awk '{sum += $NF} END {print sum}' "$T/folded")" "ns of all samples"
"$REPORT" flame --samples -o "$T/cpu.speedscope.json" test/golden/v2/cpu.gprof 2>"$T/err"
is "CPU time by samples" "$(jq -r '.profiles[].name' "$T/cpu.speedscope.json")" "profiles of samples"

# Samples of waits: threads, Python's functions, and what they wait for.
"$REPORT" flame --waits -o - test/golden/v2/wait.gprof >"$T/folded" 2>"$T/err"
is 0 $? "status with samples of waits"
is "python;train.py(1): <module>;data.py(40): load;PIL/Image.py(3000): open;read of /data/train/*.jpg 500000000" "$(grep 'read of /data' "$T/folded")" "a read"
is "python;(unknown);read of pipe 100000000" "$(grep 'pipe' "$T/folded")" "a stack that could not be read"
is "server;epoll_wait 100000000" "$(grep '^server' "$T/folded")" "a thread without Python code"
is "$("$REPORT" sql --format csv 'SELECT sum(ns) FROM wait_sample' test/golden/v2/wait.gprof 2>"$T/err" | tail -1)" "$(awk '{sum += $NF} END {print sum}' "$T/folded")" "ns of all waits"
"$REPORT" flame --waits -o "$T/wait.speedscope.json" test/golden/v2/wait.gprof 2>"$T/err"
is "Waiting by samples" "$(jq -r '.profiles[].name' "$T/wait.speedscope.json")" "profiles of waits"

# Python stacks come first, in place of modules; the rest is left out, and said.
"$REPORT" flame --stacks --by cpu -o - "$T/python.gprof" >"$T/folded" 2>"$T/err"
is 0 $? "status with stacks"
is 0 "$(grep -c 'no Python stack)' "$T/folded")" "what has no stack is left out"
is 1 "$(grep -c 'the graph covers [0-9.]* %: the rest has no Python stack' "$T/err")" "and said"
is "" "$(grep -v 'py([0-9]*): ' "$T/folded")" "each line has Python frames"

# A training: the GPU time of each phase is that of the table of phases, and widths by phase add up to all.
python3 test/page/training.py "$T/training.json"
"$REPORT" summary --view model --format json "$T/training.json" >"$T/model.json" 2>"$T/err"
for weight in gpu cpu launches; do
	sum=0
	for phase in dataloader forward backward optimization others; do
		have=$("$REPORT" flame --by $weight --phase $phase -o - "$T/training.json" 2>"$T/err" | awk '{sum += $NF} END {print sum + 0}')
		sum=$((sum + have))
		want=$(jq -r --arg phase $phase '.model.rows[] | select((.name | ascii_downcase) == $phase).gpu_total_ns' "$T/model.json")
		[ $weight != gpu ] || is "$want" "$have" "GPU time of $phase"
	done
	is "$("$REPORT" flame --by $weight -o - "$T/training.json" 2>"$T/err" | awk '{sum += $NF} END {print sum}')" $sum "$weight of all phases"
done

# By time: siblings in the order in which they began first.
"$REPORT" flame --order time -o "$T/time.svg" "$T/training.json" 2>"$T/err"
is "gprof-report flame --order time, 6.238 ms" "$(sed -nE 's/.*>(gprof-report flame.*)<\/text>/\1/p' "$T/time.svg")" "the subtitle has the order"
is "transformer.wte transformer.h.0 transformer.h.1 transformer.h.2 transformer.h.3 transformer.h.4 transformer.h.5 lm_head" \
	"$(sed -nE 's/.* y="96".*<title>([^ ]*) \((Embedding|Block|Linear)\): .*/\1/p' "$T/time.svg" | tr '\n' ' ' | sed 's/ $//')" "modules by time"

# Names that break lines, lists and markup.
"$B/gen_stream" "$T/hostile.gprof" hostile "$T"
for form in svg speedscope.json folded pb.gz; do
	"$REPORT" flame -o "$T/h.$form" "$T/hostile.gprof" 2>"$T/err"
	is 3 $? "hostile names: status of $form"
done
is 0 "$(jq -e . "$T/h.speedscope.json" >"$T/out" 2>&1; echo $?)" "hostile names: JSON"
is 0 "$(python3 -c 'import sys, xml.dom.minidom as dom; dom.parse(sys.argv[1])' "$T/h.svg" >"$T/out" 2>&1; echo $?)" "hostile names: SVG"
is 0 "$(grep -c -P '\x1b|\xff' "$T/h.folded" "$T/h.svg" "$T/h.speedscope.json" | grep -vc ':0$')" "hostile names: no bytes of theirs"

# Selections, and the default file.
is "wrote flame.svg: 180.0 us of GPU time" "$(cd "$T/files" && "$REPORT" flame --steps 1 "$T/ops.gprof")" "flame.svg is the default"
is "" "$("$REPORT" flame -o - --steps 1 "$T/ops.gprof" | grep '^wrote')" "what goes to stdout is no file"
is "180.000 us" "$(sed -nE 's/.*flame, (.*)<\/text>/\1/p' "$T/files/flame.svg")" "one of three steps"

# refused STATUS TEXT OPTIONS...
refused()
{
	local status=$1 text=$2 have rc
	have=$("$REPORT" flame "${@:3}" 2>&1)
	rc=$?
	is "$status" $rc "status of ${*:3}"
	is 1 "$(grep -c -- "$text" <<<"$have")" "message of ${*:3}: $have"
}
refused 2 "does not end in .svg, .speedscope.json, .folded or .pb.gz" -o "$T/x.json" "$T/ops.gprof"
refused 2 "unknown weight 'time' (supported: gpu, cpu, launches)" --by time "$T/ops.gprof"
refused 2 "unknown phase 'forwards' (supported: dataloader, forward, backward, optimization, others, all)" --phase forwards "$T/ops.gprof"
refused 2 "unknown order 'name' (supported: weight, time)" --order name "$T/ops.gprof"
refused 1 "cannot draw 'gpu' of phase 'dataloader': the recording has none of it" --by gpu --phase dataloader "$T/training.json"
refused 1 "cannot draw Python stacks: none was recorded; set GPROF_PYTHON=stacks" --stacks -o "$T/x.svg" "$T/ops.gprof"
refused 1 'cannot draw CPU samples: none was recorded (GPROF_CPU_HZ); `gprof-report --view notices`' --samples -o "$T/x.svg" "$T/ops.gprof"
refused 2 "leave out --by, --phase and --stacks" --samples --by cpu "$T/ops.gprof"
refused 1 'cannot draw samples of waits: none was recorded (GPROF_CPU_HZ)' --waits -o "$T/x.svg" "$T/ops.gprof"
refused 2 "leave out --by, --phase and --stacks" --waits --stacks "$T/ops.gprof"
refused 1 "cannot write '$T/none/x.svg': No such file or directory" -o "$T/none/x.svg" "$T/ops.gprof"
refused 1 "cannot write '$T/none/x.pb.gz': No such file or directory" -o "$T/none/x.pb.gz" "$T/ops.gprof"
finish
