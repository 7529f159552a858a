#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# PyTorch programs, unmodified: what they print is as without us, and the operators recorded are
# those that PyTorch's own profiler sees. Prints TAP. usage: test/torch/run.sh [PYTHON [PART...]],
# parts being the functions below, like threads; in `make test` those of few.
# shellcheck disable=SC2317 # functions that tap calls
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
python=${1:-/usr/bin/python3}
T=$(mktemp -d "${TMPDIR:-/tmp}/gprof-torch-XXXXXX")
# The rings of a killed process are in memory.
clean_up()
{
	find "$T" -name '*.gprof.part' -printf '/dev/shm/%f\n' | sed 's/part$/rings/' | xargs -r rm -f
	rm -rf "$T"
}
trap clean_up EXIT
for name in $(compgen -e); do
	case $name in GPROF_* | LD_PRELOAD) unset "$name" ;; esac
done
lib=$T/libgprof.so
n=0
bad=0

version=$("$python" -c 'import torch; print(torch.__version__)' 2>/dev/null) || {
	echo "SKIP no PyTorch in $python"
	exit 77
}
${MAKE:-make} -s --no-print-directory "$B/libgprof.so" torch-programs || exit 1
cp "$B/libgprof.so" "$lib" # programs run for a minute, and it may be made anew meanwhile

# shellcheck source=test/tap.sh
. test/tap.sh

# Of PyTorch's warnings.
without_times() { sed -i -E 's/^([EIW])[0-9]{4} [0-9:.]+ [0-9]+ /\1 /' "$1"; }

# without|within|profiled RUN PROGRAM [ARGUMENT]...: output and status in $T/RUN.*
without()
{
	timeout 900 "$python" "test/torch/prog/$2.py" "${@:3}" >"$T/$1.plain" 2>"$T/$1.plain.err"
	echo $? >>"$T/$1.plain"
	without_times "$T/$1.plain.err"
}

within()
{
	GPROF_LOG=info GPROF_LOG_FILE=$T/$1.log GPROF_DIR=$T/$1.dump LD_PRELOAD=$lib \
		timeout 900 "$python" "test/torch/prog/$2.py" "${@:3}" >"$T/$1.out" 2>"$T/$1.err"
	echo $? >>"$T/$1.out"
	sed -i '/^gprof\[[0-9]*\]: recorded [0-9]* events (/d' "$T/$1.err"
	without_times "$T/$1.err"
	find "$T/$1.dump" -name '*.gprof' -exec "$B/torch/ops" {} + \
		-o -name '*.gprof.part' -exec "$B/torch/ops" {} + >"$T/$1.ops"
}

profiled()
{
	timeout 900 "$python" test/torch/profiled.py "$T/$1.json" "test/torch/prog/$2.py" "${@:3}" \
		>/dev/null 2>"$T/$1.profiler.err"
}

# The last line is the status; 124: out of time.
same()
{
	diff "$T/$1.plain" "$T/$1.out" && diff "$T/$1.plain.err" "$T/$1.err" &&
		[ "$(tail -1 "$T/$1.plain")" != 124 ]
}

check() { python3 test/torch/check.py "$1" "$T/$2.ops" "${@:3}"; }
counted() { python3 test/count.py "$T/$1.ops" "${@:2}"; }

nothing_lost() { ! grep -aE '"kind": "(loss|notice)"' "$T/$1.ops"; }

skipped()
{
	n=$((n + 1))
	echo "ok $n - $version $1 # SKIP $2"
}

# judge RUN steps|total: the operators of a training, beside those that PyTorch's profiler saw.
judge()
{
	tap same "$1" "$1: prints the same"
	tap check "$2" "$1" "$T/$1.json" "$1: operators of the $2"
	tap check nests "$1" "$1: nesting"
	tap check forward "$1" "$1: from backward to forward"
	tap nothing_lost "$1" "$1: nothing lost"
}

# A step ends where the next one starts (to the rounding of a nanosecond), also the first one, which
# starts with its first phase.
steps_touch()
{
	"$B/gprof-report" summary --view steps --format json "$T/$1.dump" 2>&1 | tee "$T/steps" |
		jq -e '[.steps.rows as $r | range(1; $r | length) |
			$r[.].start_ns - $r[. - 1].start_ns - $r[. - 1].duration_ns] |
			length > 3 and all(-1 <= . and . <= 1)' >"$T/jq" || { cat "$T/steps" && return 1; }
}

# Does it run here at all? The last line is its status.
has_run() { [ "$(tail -1 "$T/$1.plain")" = 0 ]; }

# trains RUN PROGRAM [ARGUMENT]...: one that PyTorch's profiler can follow.
trains()
{
	local what=steps
	[ "$1" != forked ] || what=total
	without "$@" &
	profiled "$@"
	wait
	# On a busy machine a short child may find its recorder not yet started; then there is another try.
	for _ in 1 2 3; do
		rm -rf "$T/$1.dump"
		within "$@"
		grep -qa '"kind": "loss".*call while the recorder was starting' "$T/$1.ops" || break
	done
	judge "$1" "$what"
}

# pair RUN PROGRAM [ARGUMENT]...: two processes of one training, RUN0 and RUN1.
pair()
{
	local how rank
	for how in without profiled within; do
		for rank in 0 1; do
			"$how" "$1$rank" "$2" "$T/$1.$how" "$rank" "${@:3}" &
		done
		wait
		has_run "${1}0" || {
			skipped "$1" "it does not run: $(tail -1 "$T/${1}0.plain.err")"
			return
		}
	done
	judge "${1}0" steps
	judge "${1}1" steps
}

# A program that profiles itself has the same result with us.
profiles_itself()
{
	export LD_PRELOAD=$lib GPROF_DIR=$T/itself.dump GPROF_QUIET=1
	profiled itself conv
	unset LD_PRELOAD GPROF_DIR GPROF_QUIET
	"$B/torch/ops" "$T/itself.dump"/*.gprof >"$T/itself.ops"
	tap check steps itself "$T/conv.json" "torch.profiler in the program: our result"
	tap python3 test/torch/check.py profiles "$T/itself.json" "$T/conv.json" \
		"torch.profiler in the program: its result"
}

# What was found of this version's layout.
print_probes() { sed -n "s/.* torch: /# $version: found by trying: /p" "$T/$1.log"; }

# Shapes, or a notice that this version has none; also while torch.compile traces.
shapes()
{
	GPROF_TORCH=shapes within shapes transformer
	GPROF_TORCH=shapes within traced script
	cp "$T/script.plain" "$T/traced.plain"
	cp "$T/script.plain.err" "$T/traced.plain.err"
	tap same traced "shapes: prints the same"
	if grep -q '"no PyTorch shapes".*no aoti_torch' "$T/shapes.ops"; then
		tap check steps shapes "$T/transformer.json" "shapes: without them, and said"
	else
		tap check shapes shapes "$T/transformer.json" "shapes: as PyTorch's profiler has them"
		print_probes shapes | grep inputs
	fi
}

# predicts OPTIONS ARGUMENTS TEXT: what whatif says of the loop of whatif.py, beside what it takes with those arguments,
# within 10 %. Both are times of work on the CPU, so this part is for a quiet machine: it runs only if it is named.
predicts()
{
	local ratio=null try
	for try in 1 2 3 4 5; do
		rm -rf "$T/whatif.dump"
		within whatif whatif 20 32
		# shellcheck disable=SC2086 # words
		without changed whatif $2
		# shellcheck disable=SC2086
		ratio=$("$B/gprof-report" whatif --steps 5- --format json $1 "$T/whatif.dump" |
			jq ".what_if.rows[0].predicted_ns / $(head -1 "$T/changed.plain")" 2>&1)
		jq -ne "$ratio > 0.9 and $ratio < 1.1" >/dev/null 2>&1 && break
	done
	echo "# $3: $ratio of what it then takes, try $try"
	tap jq -ne "$ratio > 0.9 and $ratio < 1.1" "whatif: $3, predicted within 10 %"
}

predictions()
{
	predicts "--remove loader" "0 32" "the loader's sleep taken out"
	predicts "--scale op:aten::bmm=0.5" "20 16" "an operator of half the work"
}

# compare_averages DUMP PROFILE WHAT
compare_averages()
{
	python3 test/torch/averages.py "$B/gprof-report" "$T/$1.dump" "$T/$2.json" "$3"
}

# CPU memory and FLOPs of a list of operators, as key_averages of PyTorch's profiler has them.
operators()
{
	local try
	without operators operators
	GPROF_TORCH=shapes within operators operators
	tap same operators "operators: prints the same"
	for try in 1 2 3 4 5 6; do
		rm -rf "$T/both.dump"
		GPROF_QUIET=1 GPROF_DIR=$T/both.dump LD_PRELOAD=$lib "$python" test/torch/prog/operators.py "$T/both.json" \
			2>"$T/both.err"
		compare_averages both both memory >"$T/both.out" && break
	done
	echo "# memory beside profile_memory: try $try"
	tap compare_averages both both memory "operators: CPU memory beside profile_memory in the program"
	for try in 1 2 3 4 5 6; do
		"$python" test/torch/prog/operators.py "$T/operators.json" 2>"$T/operators.profiler.err"
		compare_averages operators operators memory >"$T/both.out" && break
	done
	tap compare_averages operators operators memory \
		"operators: CPU memory as profile_memory has it"
	if grep -q '"no PyTorch shapes"' "$T/operators.ops"; then
		skipped "operators: FLOPs" "this version has no shapes"
	else
		tap compare_averages operators operators flops \
			"operators: FLOPs as with_flops has them"
	fi
}

threads()
{
	without threads threads &
	within threads threads
	wait
	tap same threads "threads: prints the same"
	tap counted threads 'thread 0=50' 'thread 3=50' aten::cumsum=200 aten::mul=20 \
		aten::neg=5 "threads: all of all threads"
	tap check nests threads "threads: nesting"
	tap check elsewhere threads "ends elsewhere" "threads: asynchronous ranges"
	tap nothing_lost threads "threads: nothing lost"
}

names()
{
	without names names &
	within names names
	wait
	tap same names "names: prints the same"
	tap counted names "$(printf 'x%.0s' {1..4096})=1" 'name 1=1' 'name 99999=1' aten::asin=1 \
		$'tab\there\nline\x1b[31m=1' "names: long, strange and many"
}

family()
{
	without family family &
	within family family
	wait
	tap same family "family: prints the same"
	tap counted family aten::sinh=1 aten::cosh=5 aten::tan=1 "family: all of all processes"
}

# The first process waits 0.1 s for the other one in each of its steps, also if some of these are outliers on a busy machine.
waits_in_backward()
{
	"$B/gprof-report" summary --view model --format json "$T/ddp0.dump" 2>&1 | tee "$T/model" |
		jq -e '[.model.rows[] | select(.name == "Backward").avg_ns] | add > 4e7' >"$T/jq" ||
		{ cat "$T/model" && return 1; }
}

ddp()
{
	pair ddp ddp
	tap waits_in_backward "ddp: waiting for the other process is Backward"
}

fsdp()
{
	pair fsdp fsdp wrap
	pair fully_shard fsdp shard
}

# Two workers an epoch; the loop's waiting and its work are two things.
told_apart()
{
	"$B/gprof-report" summary --view data-loading --format json "$T/forked.dump" 2>&1 | tee "$T/dataprep" |
		jq -e '.data_loading.rows | (map(select(.role == "loop")) | length == 1 and .[0].batches == 14 and
			.[0].wait_ns > 0 and .[0].wait_ns + .[0].operators_ns <= .[0].span_ns) and
			(.[0].pid as $loop | map(select(.parent == $loop and .operators_ns > 0)) | length == 4)' \
			>"$T/jq" || { cat "$T/dataprep" && return 1; }
}

# numbered RUN: two workers of each of two epochs, by their numbers, in the timeline too.
numbered()
{
	"$B/gprof-report" summary --view data-loading --format json "$T/$1.dump" 2>&1 | tee "$T/dataprep" |
		jq -e '[.data_loading.rows[] | select(.role == "loader worker").worker] | sort == [0, 0, 1, 1]' >"$T/jq" ||
		{ cat "$T/dataprep" && return 1; }
	"$B/gprof-report" timeline -o "$T/timeline.json" "$T/$1.dump" &&
		[ "$(jq '[.traceEvents[] | select(.name == "process_name") | .args.name |
			select(test("^loader worker [01]$"))] | length' "$T/timeline.json")" = 4 ] &&
		"$B/gprof-report" timeline -o "$T/timeline.pftrace" "$T/$1.dump" &&
		[ "$(grep -ao 'loader worker [01]' "$T/timeline.pftrace" | sort | uniq -c | tr -s ' ' | tr -d '\n')" = \
			" 2 loader worker 0 2 loader worker 1" ]
}

# trainers_only RUN: only the loop has steps, in tables and in the timeline; its workers have none.
trainers_only()
{
	"$B/gprof-report" summary --view steps,data-loading --steps 0- --format json "$T/$1.dump" 2>/dev/null | tee "$T/steps" |
		jq -e '(.data_loading.rows | map(select(.role == "loop"))[0].pid) as $loop |
			([.steps.rows[].pid] | unique) == [$loop] and
			([.selection.rows[] | select(.pid == $loop).steps] | all(. > 0)) and
			([.selection.rows[] | select(.pid != $loop).steps] | length > 0 and all(. == null))' >"$T/jq" ||
		{ cat "$T/steps" && return 1; }
	"$B/gprof-report" timeline -o "$T/timeline.json" "$T/$1.dump" &&
		[ "$(jq '[.traceEvents[] | select(.name | tostring | startswith("ProfilerStep#")).pid] | unique | length' "$T/timeline.json")" = 1 ]
}

# Workers that stay for both epochs, beside that of a second loader.
persistent()
{
	without two two &
	within two two
	wait
	tap same two "two loaders: prints the same"
	tap two_loaders "two loaders: their workers"
}

two_loaders()
{
	"$B/gprof-report" info "$T/two.dump" | grep -o ', loader worker .*' | sort | tr -d '\n' | tee "$T/workers" |
		grep -qx ', loader worker 0 of 1, loader worker 0 of 2, loader worker 1 of 2' ||
		{ cat "$T/workers" && return 1; }
}

# Processes that compile may outlive the program, so their recordings are not complete.
compiled_calls()
{
	"$B/gprof-report" sql --format json "SELECT DISTINCT file, line, name, operators, nodes FROM compiled_call" \
		"$T/compiled-calls.dump" >"$T/calls.json" 2>"$T/calls.err"
	"$python" test/torch/compiled_calls.py "$T/calls.json" "$T/inductor"
}

# torch.compile's own backend: compiled with us, and then, as under the profiler, what there is.
compiled()
{
	export TORCHINDUCTOR_CACHE_DIR=$T/inductor
	without compiled compiled
	if has_run compiled; then
		profiled compiled compiled
		within compiled compiled
		judge compiled steps
		rm -rf "$T/inductor"
		within compiled compiled
		tap same compiled "compiled with us: prints the same"
		tap nothing_lost compiled "compiled with us: nothing lost"
		GPROF_PYTHON=stacks GPROF_PYTHON_HZ=0 within compiled-calls compiled
		tap compiled_calls "compiled: what its calls stand for"
	else
		skipped compiled "it does not run: $(tail -1 "$T/compiled.plain.err")"
	fi
	unset TORCHINDUCTOR_CACHE_DIR
}

# As many steps as PyTorch itself counts compile again, and most of their time is that. Waits for a CPU are this machine's.
compiles_again()
{
	local nr ns
	read -r nr ns <"$T/recompiles.out"
	"$B/gprof-report" --view findings,compilations --format json "$T/recompiles.dump" 2>&1 | tee "$T/found" |
		jq -e --argjson nr "$nr" --argjson ns "$ns" '[.findings.rows[] | select(.cause != "cpu_wait")][0] as $first |
			([.compilations.rows[] | select(.step > 0) | .step] | unique) as $steps |
			([.compilations.rows[] | select(.step > 0).duration_ns] | add) as $all |
			$first.cause == "compilation" and ($steps | length) == $nr and ($first.sentence | contains(" in \($nr) of 15 steps")) and
			([.compilations.rows[] | select(.step > 0 and .code != "").code | split("/")[1] | tonumber] | max) as $version |
			$all > 0.8 * $ns and $all < $ns and ($version == null or $version >= $nr)' >/dev/null ||
		{ cat "$T/found" && return 1; }
}

recompiles()
{
	TORCHINDUCTOR_CACHE_DIR=$T/inductor within recompiles recompiles
	if [ "$(tail -1 "$T/recompiles.out")" = 0 ]; then
		tap compiles_again "recompiles: the first finding, and its steps"
	else
		skipped recompiles "it does not run: $(tail -1 "$T/recompiles.err")"
	fi
}

dies()
{
	without dies dies &
	within dies dies
	wait
	tap same dies "dies of an exception: prints the same"
	tap counted dies Optimizer.step#SGD.step=2 'my step=3' aten::linear=3 \
		"dies of an exception: all until then"
}

# PyTorch is there, and nothing is done with it.
idle()
{
	without idle idle &
	within idle idle
	wait
	tap same idle "no steps: prints the same"
	tap "$B/gprof-report" summary "$T/idle.dump" "no steps: reports"
}

# A C++ program, where there are headers.
links()
{
	local torch abi
	torch=$("$python" -c 'import torch; print(torch.__path__[0])')
	abi=$("$python" -c 'import torch; print(int(torch._C._GLIBCXX_USE_CXX11_ABI))')
	if [ ! -e "$torch/include/ATen/ops/ones.h" ] || ! command -v g++ >/dev/null; then
		skipped "C++ program" "no headers of PyTorch, or no g++"
		return
	fi
	tap g++ -std=c++20 -w "-D_GLIBCXX_USE_CXX11_ABI=$abi" -I "$torch/include" \
		-o "$T/linked" test/torch/prog/linked.cpp -L "$torch/lib" "-Wl,-rpath,$torch/lib" \
		-ltorch_cpu -lc10 "C++ program: builds"
	"$T/linked" >"$T/linked.plain" 2>"$T/linked.plain.err"
	GPROF_QUIET=1 GPROF_DIR=$T/linked.dump LD_PRELOAD=$lib "$T/linked" >"$T/linked.out" 2>"$T/linked.err"
	find "$T/linked.dump" -name '*.gprof' -exec "$B/torch/ops" {} + >"$T/linked.ops"
	tap same linked "C++ program: prints the same"
	tap counted linked aten::sinh=5 aten::ones=5 "C++ program: operators"
}

# played FAKE...: libraries that play PyTorch's, opened as Python opens them.
played()
{
	local host=$B/torch/fake_host fake
	local libraries=()
	for fake in "$@"; do
		[ "${fake:0:1}" = / ] || fake=$PWD/$B/torch/$fake
		libraries+=("$fake")
	done
	rm -rf "$T/played.dump"
	"$host" 3 "${libraries[@]}" >"$T/played.plain" 2>&1
	GPROF_QUIET=1 GPROF_DIR=$T/played.dump LD_PRELOAD=$lib "$host" 3 "${libraries[@]}" \
		>"$T/played.out" 2>&1
	"$B/torch/ops" "$T/played.dump"/*.gprof >"$T/played.ops"
	diff "$T/played.plain" "$T/played.out"
}

# Nothing is made in a program without PyTorch.
no_torch()
{
	GPROF_DIR=$T/none.dump LD_PRELOAD=$lib "$B/torch/fake_host" 3 2>&1 | diff <(echo "done") - &&
		[ ! -e "$T/none.dump" ]
}

# The path of libtorch is longer than notices show.
far_away()
{
	local folder _
	folder=$(for _ in 1 2 3 4 5 6; do printf '%0200d/' 0; done)
	mkdir -p "$T/far/$folder" && cp "$B/torch/GOOD/libtorch_cpu.so" "$T/far/$folder" &&
		played "$T/far/${folder}libtorch_cpu.so" && counted played fake::op=3
}

# refused FAKE WHY: no operators, and a notice with the reason.
refused()
{
	played "$1/libtorch_cpu.so" && grep -q "\"no PyTorch operators\".*$2" "$T/played.ops" &&
		! grep '"kind": "op"' "$T/played.ops"
}

# linked FAKE WHAT: a program that was linked with it; WHAT as in fake_linked.c.
linked()
{
	rm -rf "$T/played.dump"
	LD_LIBRARY_PATH=$B/torch/$1 "$B/torch/fake_linked" "$2" >"$T/played.plain" 2>&1
	LD_LIBRARY_PATH=$B/torch/$1 GPROF_QUIET=1 GPROF_DIR=$T/played.dump LD_PRELOAD=$lib \
		"$B/torch/fake_linked" "$2" >"$T/played.out" 2>&1
	find "$T/played.dump" -name '*.gprof' -exec "$B/torch/ops" {} + >"$T/played.ops"
	diff "$T/played.plain" "$T/played.out"
}

linked_with() { linked "$@" && counted played fake::op=3; }

# Windows open and close meanwhile, for which the observer is switched on and off.
forks_meanwhile()
{
	export GPROF_STEP=interval:10 GPROF_SCHEDULE=closed=8,ready=0,record=1
	linked SLOW forks
	local rc=$?
	unset GPROF_STEP GPROF_SCHEDULE
	return "$rc"
}

# A window of one step opens, and closes, before the observer is switched on; or its operator is recorded.
late_window()
{
	export GPROF_SCHEDULE=closed=3000,ready=0,record=1
	linked SLOW late
	local rc=$?
	unset GPROF_SCHEDULE
	[ "$rc" = 0 ] && { grep '"late window".*operators may be missing' "$T/played.ops" || counted played fake::op=1; }
}

# Every name is recorded, or counted as lost.
million_names()
{
	GPROF_CPU_HZ=0 linked GOOD names && LC_ALL=C awk -F '"' '
		/"kind": "loss"/ { sub(/.*"count": /, ""); nr += $0 + 0 }
		/"name": "name / && !seen[$(NF - 1)]++ { nr++ }
		END { print nr; exit nr != 1000000 }' "$T/played.ops"
}

two_of_them()
{
	played GOOD/libtorch_cpu.so OTHER/libtorch_cpu.so && counted played fake::op=3 &&
		grep '"several PyTorch".*only the operators of .*GOOD' "$T/played.ops"
}

# The look of one thread may be over, or at work, when another has opened the second one.
second_beside()
{
	rm -rf "$T/played.dump"
	GPROF_QUIET=1 GPROF_DIR=$T/played.dump GPROF_SCHEDULE=closed=9,ready=0,record=1 LD_PRELOAD=$lib \
		"$B/torch/fake_host" beside "$PWD/$B/torch/SLOW/libtorch_cpu.so" "$PWD/$B/torch/OTHER/libtorch_cpu.so" &&
		"$B/torch/ops" "$T/played.dump"/*.gprof >"$T/played.ops" && grep '"several PyTorch".*only the operators of .*SLOW' "$T/played.ops"
}

allocator()
{
	played libc10_cuda.so && python3 test/torch/check.py allocations "$T/played.ops"
}

# The function that the real allocator calls is one that we stand in for.
allocator_name()
{
	local name
	name=$(nm -D --undefined-only "$1" | grep -o '[^ ]*reportMemoryUsageToProfiler[^ ]*') &&
		nm -D --defined-only "$lib" | grep -q " $name\$"
}

# libc10 calls the two functions of its CPU allocator's reporter so that ours come first.
cpu_allocator_names()
{
	[ "$(readelf -rW "$1" | grep -c 'R_.*_JUMP_SLOT* .*25ProfiledCPUMemoryReporter\(3NewEPvm\|6DeleteEPv\) ')" = 2 ]
}

played_torch()
{
	local folder
	folder=$("$python" -c 'import torch; print(torch.__path__[0])')/lib
	tap no_torch "no PyTorch: nothing"
	tap played GOOD/libtorch_cpu.so "played: prints the same"
	tap counted played fake::op=3 "played: operators"
	tap far_away "played, with a long path: operators"
	tap played LONG/libtorch_cpu.so "played, longer observers: prints the same"
	tap counted played fake::op=3 "played, longer observers: operators"
	tap refused LACKS "it exports no known form of before()" "refused: a hidden symbol"
	tap refused SILENT "its callback was not called" "refused: no callbacks"
	tap refused MOVED "the sequence number was not found" "refused: another layout"
	tap refused FRONT "its list of observers has another layout" "refused: observers of another layout"
	tap refused WIDE "the handle was not found" "refused: observers of more scopes"
	tap refused NEWER "it is newer than 2.15" "refused: a later version"
	tap refused SMALL "the handle was not found" "refused: no handle"
	tap two_of_them "two of them in one process"
	tap second_beside "two of them, the second opened by another thread meanwhile"
	tap linked_with GOOD ops "linked with it: operators"
	tap linked_with LATE thread "linked with it, ready later: operators"
	tap late_window "a window that opens too early: its operator is recorded, or a notice says so"
	tap million_names "a million names: all told, in bounded memory"
	tap forks_meanwhile "forked while the observer is switched: the child inherits no lock"
	tap allocator "allocator: reports go on and are recorded"
	if [ -e "$folder/libc10_cuda.so" ]; then
		tap allocator_name "$folder/libc10_cuda.so" "allocator: calls that very function"
	fi
	tap cpu_allocator_names "$folder/libc10.so" "CPU allocator: calls those very functions"
}

# By processes that are forked.
forked()
{
	trains forked loader 2 fork
	tap check workers forked aten::stack aten::sum "forked: workers"
	tap told_apart "forked: workers' work and the loop's waiting"
	tap numbered forked "forked: workers' numbers"
	tap trainers_only forked "forked: steps are the loop's alone"
}

# categories MODEL OPTIMIZER: memory by category, as PyTorch's memory profiler has it in the same process.
categories()
{
	local name=memory-$1-$2
	"$python" -c 'import torch.profiler._memory_profiler' 2>/dev/null || {
		skipped "$name: categories" "PyTorch 2.1 and later have a memory profiler"
		return
	}
	within "$name" memory "$1" "$2" "$T/$name.json"
	tap python3 test/torch/categories.py "$B/gprof-report" "$T/$name.dump" "$T/$name.json" \
		"$name: memory by category beside PyTorch's memory profiler"
}

all_categories()
{
	local model optimizer
	for model in cnn transformer; do
		for optimizer in sgd momentum adam; do
			categories "$model" "$optimizer"
		done
	done
}

# What `make test` runs: a training, one with a loader's processes, and threads.
few()
{
	played_torch
	trains conv conv
	print_probes conv
	operators
	categories transformer adam
	forked
	threads
}

all()
{
	played_torch
	trains conv conv
	print_probes conv
	trains lstm lstm
	trains transformer transformer
	trains script script
	trains loader loader 0 fork
	tap steps_touch loader "loader: each step ends where the next one starts"
	forked
	# One after the other: workers that get no core for five seconds are killed, and Python says what they leave, with gprof or
	# without. What gprof itself changed would show in all tries.
	for _ in 1 2 3 4 5; do
		rm -rf "$T/spawned.dump"
		without spawned loader 2 spawn
		within spawned loader 2 spawn
		! same spawned >"$T/spawned.same" || break
	done
	tap same spawned "spawned: prints the same"
	tap check total spawned "$T/forked.json" "spawned: operators of the total"
	tap check workers spawned aten::stack aten::sum "spawned: workers"
	tap numbered spawned "spawned: workers' numbers"
	persistent
	profiles_itself
	shapes
	operators
	all_categories
	threads
	names
	family
	dies
	idle
	links
	ddp
	fsdp
	compiled
	recompiles
}

parts=("${@:2}")
if [ ${#parts[@]} = 0 ]; then
	case ${TEST_TIER:-all} in all) parts=(all) ;; *) parts=(few) ;; esac
fi
for part in "${parts[@]}"; do
	"$part"
done
if [ $# = 0 ]; then
	n=$((n + 1))
	echo "ok $n - versions of PyPI # SKIP large; test/torch/versions.sh runs them"
fi
echo "1..$n"
exit $bad
