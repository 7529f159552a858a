#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every program of this folder on the simulator, against its expected output (NAME.out); the same
# built by nvcc, where there is one, and those of nvcc/, with the runtime in them. TAP. ACCEPT=1 writes new expected outputs.
set -u
cd "$(dirname "$0")/../.." || exit 1
make=${MAKE:-make}
$make --no-print-directory prog >/dev/null || exit 1
B=build
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$PWD/$B/sim
number=0
failed=0

# check FOLDER NAME [EXPECTED]
check()
{
	local label=${1##*/}_$2 expected=${3:-test/prog/$2.out} code
	number=$((number + 1))
	timeout 300 "$1/$2" >"$work/out" 2>"$work/err"
	code=$?
	[ -z "${ACCEPT:-}" ] || cp "$work/out" "$expected"
	if [ $code = 0 ] && [ ! -s "$work/err" ] && diff "$expected" "$work/out" >"$work/diff"; then
		echo "ok $number - $label: Passed"
	else
		echo "not ok $number - $label: exit status $code"
		cat "$work/err" "$work/diff"
		failed=1
	fi
}

for source in test/prog/*.c; do
	check $B/prog "$(basename "$source" .c)"
done
nvcc=
[ -x "${CUDA_HOME:-/nowhere}/bin/nvcc" ] && nvcc=$CUDA_HOME/bin/nvcc
[ -n "$nvcc" ] || nvcc=$(command -v nvcc) || { [ -x /usr/local/cuda/bin/nvcc ] && nvcc=/usr/local/cuda/bin/nvcc; }
if [ -z "$nvcc" ]; then
	number=$((number + 1))
	echo "ok $number - programs_built_by_nvcc # SKIP no nvcc"
elif ! $make --no-print-directory prog-nvcc prog-static NVCC="$nvcc" NVCCFLAGS=-arch=sm_90 >"$work/log" 2>&1; then
	number=$((number + 1))
	echo "not ok $number - programs_built_by_nvcc: they do not build"
	tail -5 "$work/log"
	failed=1
else
	for program in $B/prog-nvcc/*; do
		case $program in *.so) continue ;; esac
		check $B/prog-nvcc "${program##*/}"
	done
	for source in test/prog/nvcc/*.cu; do
		check $B/prog-static "$(basename "$source" .cu)" "${source%.cu}.out"
	done
fi
exit $failed
