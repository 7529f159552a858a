# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the integration tests share; each sources this first. A test makes its files in $T, runs
# programs by `record`, looks at the streams by `query`, and says what it expects by `is`.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
B=${B:-build}
ROOT=$PWD
REPORT=$ROOT/$B/gprof-report
# Under ThreadSanitizer the recorder is tried; the report has threads in a few commands only, see `need`.
[[ $B != *san-thread ]] || REPORT=$ROOT/build/gprof-report
SIM=$ROOT/$B/sim
T=$(mktemp -d "${TMPDIR:-/tmp}/gprof-integ-XXXXXX")
# The rings of what was killed and not read are in memory.
clean_up()
{
	[ -z "$slow" ] || fusermount3 -u "$slow" || fusermount -u "$slow"
	find "$T" -name '*.gprof.part' -printf '/dev/shm/%f\n' 2>/dev/null | sed 's/part$/rings/' | xargs -r rm -f
	rm -rf "$T"
}
trap clean_up EXIT
slow= # mounted by slow_files
failed=0

# Settings of the caller must not leak in.
for name in $(compgen -e); do
	case $name in GPROF_* | SIM_* | CUDA_INJECTION64_PATH | NVTX_INJECTION64_PATH | RANK | LOCAL_RANK | WORLD_SIZE) unset "$name" ;; esac
done
export GPROF_DIR=$T/dump GPROF_FLUSH_MS=50

skip()
{
	echo "SKIP $*"
	exit 77
}

# A python that has PyTorch, in TORCH_PYTHON.
find_torch()
{
	for TORCH_PYTHON in "${TORCH_PYTHON:-/usr/bin/python3}" python3; do
		"$TORCH_PYTHON" -c 'import torch' 2>/dev/null && return
	done
	return 1
}

# slow_files RATE: $slow has the files of $T/files, and reads so many bytes a second; false if that cannot be mounted here.
slow_files()
{
	mkdir "$T/slow-files"
	bindfs --read-rate="$1" "$T/files" "$T/slow-files" 2>/dev/null && slow=$T/slow-files
}

# need WHAT...: SIM, REPORT, NVCC, PYTHON, JQ, TORCH, GPU; else the test is skipped. PLAIN: sanitizers would show
# nothing. REPORT_ALONE: records no program and does not test the report's threads. REPORT_THREADS: tests the report's
# threads, so ThreadSanitizer checks the report.
need()
{
	local what
	for what in "$@"; do
		case $what in
		SIM) [ -e "$SIM/libcudart.so.13" ] || skip "the simulator is not built (make sim)" ;;
		REPORT) [ -x "$REPORT" ] || skip "gprof-report is not built" ;;
		REPORT_ALONE) [[ $B != *san-thread ]] || skip "no threads: without ThreadSanitizer is enough" ;;
		REPORT_THREADS) REPORT=$ROOT/$B/gprof-report ;;
		NVCC) command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || skip "no nvcc" ;;
		PYTHON) command -v python3 >/dev/null || skip "no python3" ;;
		JQ) command -v jq >/dev/null || skip "no jq" ;;
		TORCH) find_torch || skip "no PyTorch" ;;
		GPU) [ -e /dev/nvidia0 ] || skip "no GPU" ;;
		PLAIN) case $B in *san-*) skip "without sanitizers is enough" ;; esac ;;
		esac
	done
}

# AddressSanitizer's library wants to come first; ThreadSanitizer's must not be preloaded.
preload()
{
	local lib=
	case $B in
	*san-address) lib=$(gcc -print-file-name=libasan.so) ;;
	esac
	echo "${lib:+$lib:}$ROOT/$B/libgprof.so"
}

# A program that a test compiles has ThreadSanitizer in it, whose library cannot be loaded later.
sanitize=()
[[ $B != *san-thread ]] || sanitize=(-fsanitize=thread)

# was_late: what `record` ran had to go on before its recorder could start. A program waits for that
# for moments only, however busy the machine is; then its first calls are lost, which is said.
was_late()
{
	grep -q '^gprof\[.*not recorded: the process ended before' "$T/err" ||
		"$REPORT" summary --wide --view losses "$GPROF_DIR" 2>&1 | grep -q 'while the recorder was starting'
}

# record PROGRAM...: runs it on the simulator under the preload, again if it was late. Its output is $T/out and $T/err.
record()
{
	local times older name
	for times in 1 2 3; do
		older=$(ls "$GPROF_DIR" 2>/dev/null)
		LD_LIBRARY_PATH="$SIM${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" LD_PRELOAD=$(preload) "$@" \
			>"$T/out" 2>"$T/err"
		rc=$?
		[ "$times" != 3 ] && grep -qE '^gprof\[.*(ended before|\([0-9]+ lost)' "$T/err" && was_late || break
		for name in "$GPROF_DIR"/*; do
			grep -qxF "${name##*/}" <<<"$older" || rm -rf "$name"
		done
	done
	return $rc
}

# plain PROGRAM...: the same without gprof.
plain()
{
	LD_LIBRARY_PATH="$SIM${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@" >"$T/plain.out" 2>"$T/plain.err"
	plain_rc=$?
	return $plain_rc
}

# summary VIEWS [OPTIONS]: the JSON of those views in $T/json; its exit status in report_rc.
summary()
{
	local views=$1
	shift
	"$REPORT" summary --view "$views" --format json --top 0 "$@" "$GPROF_DIR" >"$T/json" 2>"$T/report.err"
	report_rc=$?
	return 0
}

# query JQ-EXPRESSION: its value in what `summary` gave.
query()
{
	jq -r "$1" "$T/json" 2>&1
}

# kill_ranks PROCESS: kills the ranks that it has started and that still run, whereupon it ends, and takes
# away where they met, which they would have done at their end. The status is that of the process.
kill_ranks()
{
	local pid met
	for pid in $(pgrep -P "$1"); do
		met=$(grep -oE -m1 '/dev/shm/ncclsim-[0-9a-f]+' "/proc/$pid/maps" 2>/dev/null) && rm -f "$met"-*
		kill -9 "$pid" 2>/dev/null
	done
	wait "$1"
}

# fetch_wheel FOLDER PACKAGE VERSION: the folder of its files; false, with the reason in $T/pip, if it
# cannot be had. It is kept in FOLDER.
fetch_wheel()
{
	local dir=$1/$2-$3
	if [ ! -d "$dir" ]; then
		rm -rf "$dir.new" && mkdir -p "$dir.new"
		python3 -m pip download -q --no-deps --only-binary :all: -d "$dir.new" "$2==$3" >"$T/pip" 2>&1 &&
			(cd "$dir.new" && python3 -m zipfile -e ./*.whl . && rm -f ./*.whl) || return 1
		mv "$dir.new" "$dir"
	fi
	echo "$PWD/$dir"
}

# make_package wheel|deb: makes that package and copies it into $T; tests that run at once take turns.
make_package()
{
	flock "$B/packages.lock" sh -c 'make -s "$1" && cp "$2/$1/"*gprof?profiler*[lb] "$3"' - "$1" "$B" "$T"
}

# mismatch WHAT: says so, and once more at the end of the log, which is all that a long run shows.
mismatch()
{
	echo "$1" | tee -a "$T/mismatches"
	failed=1
}

# is WANT HAVE WHAT
is()
{
	[ "$1" = "$2" ] || mismatch "not as expected: $3: want '$1', have '$2'"
}

# ok COMMAND...: the command must succeed.
ok()
{
	"$@" || mismatch "failed: $*"
}

finish()
{
	if [ $failed != 0 ]; then
		head -c 2000 "$T/err" 2>/dev/null
		ls -la "$GPROF_DIR" 2>/dev/null
		head -c 3000 "$T/json" 2>/dev/null
		echo
		cat "$T/mismatches" 2>/dev/null
	fi
	exit $failed
}
