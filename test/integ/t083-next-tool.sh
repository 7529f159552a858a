#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Another tool already has CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH: it and we both work, in
# the process and in its children; one that is missing or broken costs a notice.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
export GPROF_CPU_HZ=0 # CPU samples are events, too, and a busy machine may lose some
case $B in *san-thread) skip "a tool that is built without the sanitizer" ;; esac

tool=$T/tool.so
export TOOL_OUT=$T/tool
ok gcc -shared -fPIC -I. -o "$tool" test/integ/l_tool.c -ldl

# NVTX, with a child that inherits the variables.
export NVTX_INJECTION64_PATH=$tool
plain "$B/integ/s_nvtx" child
mv "$TOOL_OUT" "$T/plain.tool"
record "$B/integ/s_nvtx" child
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "what the calls returned"
is "$(cat "$T/plain.tool")" "$(cat "$TOOL_OUT")" "what the tool saw"
is 2 "$(grep -c ' 0 wrong' "$TOOL_OUT")" "the tool's handles, in both processes"
is 14 "$(grep -c '^push 100$' "$T/out")" "levels come from the tool"
is 2 "$(grep -c '^schemas 77 77$' "$T/out")" "ids of schemas come from the tool"
summary nvtx,notices
cp "$T/json" "$T/nvtx.json"
is 0 "$(query '[.notices.rows[] | select(.cause == "another tool")] | length')" "notices"

# The same without the tool: our stream is the same.
rm -rf "$GPROF_DIR"
unset NVTX_INJECTION64_PATH
record "$B/integ/s_nvtx" child
summary nvtx
is "$(query '[.nvtx.rows[] | "\(.calls) \(.name)"] | sort | .[]')" \
	"$(jq -r '[.nvtx.rows[] | "\(.calls) \(.name)"] | sort | .[]' "$T/nvtx.json")" "our ranges with the tool and without"
is "2 extended:popped with more
2 extended:(payload)" "$(query '.nvtx.rows[] | select(.name | startswith("extended:")) | "\(.calls) \(.name)"' | sort -r)" "our ranges of the extension"
is null "$(query .nvtx.note)" "ranges without an end"
is "2 2" "$(grep -c '^extension: yes, enumerations: no$' "$T/out") $(grep -c '^schemas 5 0$' "$T/out")" "what we take of the extension"
is "12 outer" "$(query '.nvtx.rows[] | select(.name == "outer") | "\(.calls) \(.name)"')" "our ranges"

# A forked child goes on with its parent's domains and strings, by the tool's handles and by ours.
for path in "" "$tool"; do
	rm -rf "$GPROF_DIR"
	NVTX_INJECTION64_PATH=$path record "$B/integ/s_nvtx" fork
	summary nvtx
	is "1 kept:by the parent 0" "$(query '.nvtx.rows[] | select(.name | contains("parent")) | "\(.calls) \(.name)"')" "ranges of a forked child"
	is 0 "$(query '[.nvtx.rows[] | select(.name == "")] | length')" "ranges without a name"
done
# It has all names, however many there are.
rm -rf "$GPROF_DIR"
NVTX_INJECTION64_PATH= record "$B/integ/s_nvtx" fork 20000
summary nvtx,losses
is "kept:by the parent 19999 kept:by the parent 999" "$(query '[.nvtx.rows[] | select(.name | contains("parent")).name] | sort | join(" ")')" "names of a forked child"
is 0 "$(query '[.losses.rows[].count] | add // 0')" "losses of a forked child"

# gprof keeps a limited number of the tool's handles; further strings have no name and are counted.
rm -rf "$GPROF_DIR"
NVTX_INJECTION64_PATH=$tool record "$B/integ/s_nvtx" fork 80000
"$B/gprof-report" summary --view losses --format json "$GPROF_DIR" >"$T/json"
is true "$(query '([.losses.rows[] | select(.cause | startswith("NVTX domain or string of another tool")).count] | add) >= 80000 - 65536')" "strings without a name"

# A notice reports too many strings with the step's name, and too many open ranges of the tool that end a step.
for nr in 16 20; do
	for path in "" "$tool"; do
		rm -rf "$GPROF_DIR"
		GPROF_STEP="nvtx:my step" NVTX_INJECTION64_PATH=$path record "$B/integ/s_nvtx" steps $nr
		summary steps,notices
		# A row more than ends of steps: the last one goes on.
		said=$(query '[.notices.rows[] | select(.cause == "steps").text | split(" ")[:4] | join(" ")] | sort | join(", ")')
		case $nr,$path in
		16,*) is "33 " "$(query '.steps.rows | length') $said" "steps" ;;
		20,) is "37 more than 16 registered" "$(query '.steps.rows | length') $said" "steps with our ids" ;;
		20,*) is "33 more than 16 NVTX, more than 16 registered" "$(query '.steps.rows | length') $said" "steps with the tool's ids" ;;
		esac
	done
done

# It does not want NVTX; it leads back to us; we do not want NVTX.
export NVTX_INJECTION64_PATH=$tool
rm -rf "$GPROF_DIR" "$TOOL_OUT"
TOOL_NVTX=refuse record "$B/integ/s_nvtx"
is 1 "$(grep -c 'nvtx 2: 0 pushes' "$TOOL_OUT")" "a tool that refuses is asked each time, and left alone"
is "1 1" "$(grep -c '^extension: yes, enumerations: no$' "$T/out") $(grep -c '^schemas 5 0$' "$T/out")" "what a tool leaves that refuses the extension"
summary nvtx
is 6 "$(query '.nvtx.rows[] | select(.name == "outer").calls')" "our ranges with one that refuses"
rm -rf "$GPROF_DIR" "$TOOL_OUT"
TOOL_NEXT=$ROOT/$B/libgprof.so record "$B/integ/s_nvtx"
is 1 "$(grep -c ' 20 pushes.* 0 wrong' "$TOOL_OUT")" "a tool that leads back to us"
summary nvtx
is 6 "$(query '.nvtx.rows[] | select(.name == "outer").calls')" "our ranges with one that leads back"
rm -rf "$GPROF_DIR" "$TOOL_OUT"
GPROF_NVTX=0 record "$B/integ/s_nvtx" child
is "$(cat "$T/plain.tool")" "$(cat "$TOOL_OUT")" "what the tool saw when we do not want NVTX"
rm -rf "$GPROF_DIR" "$TOOL_OUT"
GPROF_ENABLE=0 record "$B/integ/s_nvtx" child
is "$(cat "$T/plain.tool")" "$(cat "$TOOL_OUT")" "what the tool saw when we are off"

# The driver's injection call.
unset NVTX_INJECTION64_PATH
export CUDA_INJECTION64_PATH=$tool
rm -rf "$GPROF_DIR" "$TOOL_OUT"
record "$B/integ/s_loop" 3 4
is 1 "$(grep -c '^cuda 1 ' "$TOOL_OUT")" "the tool was called by the driver"
summary kernel
is 12 "$(query '[.kernel.rows[].calls] | add')" "our kernels beside it"
rm -rf "$GPROF_DIR" "$TOOL_OUT"
record bash -c "$B/integ/s_loop 3 4 && $B/integ/s_loop 3 4"
is 2 "$(grep -c '^cuda 1 ' "$TOOL_OUT")" "and in children"

# One that has CUPTI itself, found by dlsym: it keeps it, and we say who it is.
rm -rf "$GPROF_DIR"
CUDA_INJECTION64_PATH=$ROOT/$B/test/sim/client.so record "$B/integ/s_loop" 3 4
is 1 "$(grep -c '^subscribe=0 kernels=12 ' "$T/err")" "the tool's kernels"
summary api,notices
is 12 "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')" "our calls beside it"
is 39 "$(query '.notices.rows[] | select(.cause == "CUPTI refused").code')" "that it has CUPTI"

# The other tool is missing, broken, at a path that nobody can open, or gprof itself.
touch "$T/broken.so"
for path in "$T/none.so" "$T/broken.so" "$SIM/libnvidia-ml.so.1" "$(printf '/%04096d.so' 0)"; do
	rm -rf "$GPROF_DIR"
	CUDA_INJECTION64_PATH=$path NVTX_INJECTION64_PATH=$path record "$B/integ/s_loop" 3 4 nvtx
	is 0 "$rc" "exit status with $path"
	summary kernel,nvtx,notices
	is 12 "$(query '[.kernel.rows[].calls] | add')" "our kernels with $path"
	is 3 "$(query '.nvtx.rows[] | select(.name == "step").calls')" "our ranges with $path"
	is 2 "$(query '[.notices.rows[] | select(.cause == "another tool")] | length')" "notices of $path"
done
rm -rf "$GPROF_DIR"
CUDA_INJECTION64_PATH=$ROOT/$B/libgprof.so NVTX_INJECTION64_PATH=$ROOT/$B/libgprof.so record "$B/integ/s_loop" 3 4 nvtx
summary nvtx,notices
is 3 "$(query '.nvtx.rows[] | select(.name == "step").calls')" "our ranges with ourselves"
is 0 "$(query '[.notices.rows[] | select(.cause == "another tool")] | length')" "no notice of ourselves"

# An environment of any size stays whole and has our variables: few lines, a page of them, and more than we have room for.
unset CUDA_INJECTION64_PATH
for nr in 1 500 2000; do
	# shellcheck disable=SC2046
	env $(printf 'LINE_%d=1 ' $(seq "$nr")) CUDA_INJECTION64_PATH="$tool" LD_PRELOAD="$(preload)" sh -c 'exec env' >"$T/out" 2>"$T/err"
	is 0 $? "exit status with $nr lines"
	is "$nr" "$(grep -c '^LINE_' "$T/out")" "lines of $nr"
	for variable in "CUDA_INJECTION64_PATH=$ROOT/$B/libgprof.so" "NVTX_INJECTION64_PATH=$ROOT/$B/libgprof.so" "GPROF_NEXT_CUDA_INJECTION=$tool"; do
		is 1 "$(grep -cxF "$variable" "$T/out")" "$variable among $nr lines"
	done
done

# Another copy of gprof is no other tool: only the first of two installations records, also where a
# constructor that runs before ours makes the first call.
cp "$B/libgprof.so" "$T/libgprof.so"
echo 'int cudaMalloc(void **at, unsigned long size); __attribute__((constructor)) static void begin(void) { void *at; cudaMalloc(&at, 64); }' >"$T/early.c"
ok gcc -shared -fPIC -o "$T/early.so" "$T/early.c"
for lib in "" ":$T/libgprof.so" ":$T/libgprof.so:$T/early.so"; do
	rm -rf "$GPROF_DIR"
	LD_LIBRARY_PATH=$SIM CUDA_INJECTION64_PATH=$T/libgprof.so NVTX_INJECTION64_PATH=$T/libgprof.so LD_PRELOAD=$(preload)$lib \
		"$B/integ/s_loop" 5 10 nvtx >"$T/out" 2>"$T/err"
	is "1 stream, 1 line" "$(ls "$GPROF_DIR" | wc -l) stream, $(grep -c '^gprof' "$T/err") line" "of two copies"
	summary api,kernel,nvtx,notices
	is "50 50 5 0" "$(query '(.api.rows[] | select(.name == "cudaLaunchKernel").calls), ([.kernel.rows[].calls] | add), .nvtx.rows[0].calls, (.notices.rows | length)' | paste -sd' ')" \
		"launches, kernels, ranges and notices with two copies"
done
finish
