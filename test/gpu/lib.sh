# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the parts share; each sources this first. A part says what it `need`s, runs programs by
# `plain` and `ours`, and what it expects by `judge` or by check.py. What it prints is its result.
#
# BIN: what `make gpu` built, wherever it lies now. TRIAL=1: the simulated CUDA of build/sim stands
# in for the GPU, also under PyTorch, whose kernels then take time and compute nothing. KEEP=FOLDER:
# where the files of failed parts stay.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BIN=$(cd "${BIN:-$HERE/../../build/gpu}" 2>/dev/null && pwd) || {
	echo "SKIP there is no build (make gpu, or BIN=FOLDER)"
	exit 77
}
SIM=$(cd "$HERE/../../build/sim" 2>/dev/null && pwd)
TRIAL=${TRIAL:-}
REPORT=$BIN/gprof-report
T=$(mktemp -d "${TMPDIR:-/tmp}/gprof-gpu-XXXXXX")
trap 'kept; rm -rf "$T"' EXIT
failed=0
beside='' # libraries that a trial preloads for PyTorch

# What a failed part leaves, its dump too, stays in KEEP if that is set.
kept()
{
	[ $failed = 0 ] || [ -z "${KEEP:-}" ] || cp -r "$T" "$KEEP/$(basename "$0" .sh)"
}

# Settings of the caller must not leak in.
for name in $(compgen -e); do
	case $name in GPROF_* | SIM_* | CUDA_INJECTION64_PATH | NVTX_INJECTION64_PATH | RANK | LOCAL_RANK | WORLD_SIZE) unset "$name" ;; esac
done
unset LD_PRELOAD
export GPROF_DIR=$T/dump PYTHONDONTWRITEBYTECODE=1

skip()
{
	echo "SKIP $*"
	exit 77
}

# A part, or a line of it, that only a GPU can show.
only_real()
{
	[ -z "$TRIAL" ] || skip "$* (this is a trial without one)"
}

# PyTorch links libcudart and libcupti by paths of its own, so a trial preloads the simulator's; the
# names that the simulator's CUPTI lacks are refused.
trial_torch()
{
	local major here lib
	major=$("$TORCH" -c 'import torch; print(torch.version.cuda.split(".")[0])')
	here=$("$TORCH" -c 'import torch; print(torch.__path__[0])')/lib
	for lib in torch_cpu torch_cuda torch_python; do
		nm -D --undefined-only "$here/lib$lib.so"
	done | grep -oE '\bcupti[A-Za-z0-9_]+' | sort -u >"$T/needed"
	nm -D --defined-only "$SIM/libcupti.so.$major" | grep -oE '\bcupti[A-Za-z0-9_]+' | sort -u >"$T/there"
	comm -23 "$T/needed" "$T/there" | sed 's/.*/int &(void); int &(void) { return 27; }/' >"$T/missing.c"
	gcc -shared -fPIC -o "$T/libmissing.so" "$T/missing.c"
	beside="$T/libmissing.so:$SIM/libcudart.so.$major:$SIM/libcupti.so.$major:$SIM/libcuda.so.1"
	# PyTorch opens its own by path too, and that one wants a real driver.
	export GPROF_CUPTI_PATH=$SIM/libcupti.so.$major
}

# Looking takes seconds, so run does it once and hands TORCH_SEEN to all.
need_torch()
{
	local python
	if [ -n "${TORCH_SEEN:-}" ] && [ -z "$TRIAL" ]; then
		TORCH=$TORCH_SEEN
		return
	fi
	[ -z "$TRIAL" ] || export LD_LIBRARY_PATH=$SIM${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	for python in "${TORCH_PYTHON:-}" python3 /usr/bin/python3; do
		TORCH=$(command -v "${python:-none}") || continue
		if [ -n "$TRIAL" ]; then
			"$TORCH" -c 'import torch; assert torch.version.cuda' 2>"$T/torch.err" || continue
			trial_torch
		fi
		LD_PRELOAD=$beside "$TORCH" -c 'import torch; assert torch.cuda.is_available()' 2>"$T/torch.err" && return
	done
	skip "no python3 with a PyTorch that sees the GPU ($(tail -1 "$T/torch.err" 2>/dev/null))"
}

# The folders of CUPTI that pip brought, if it did.
pip_cupti()
{
	python3 -c 'import glob, nvidia
for path in nvidia.__path__:
	for file in sorted(glob.glob(path + "/*/lib/libcupti.so.*")):
		print(file.rpartition("/")[0], end=":")' 2>/dev/null
}

# The programs by nvcc. The machine's own CUDA comes first, then the runtime that they came with.
need_programs()
{
	local toolkit
	[ -x "$BIN/shared/vector_add" ] || skip "the programs are not built (make gpu needs nvcc)"
	toolkit=$(command -v nvcc || ls "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" 2>/dev/null)
	if [ -n "$TRIAL" ]; then
		LD_LIBRARY_PATH=$SIM
	else
		LD_LIBRARY_PATH=${toolkit:+${toolkit%/bin/nvcc}/lib64:${toolkit%/bin/nvcc}/extras/CUPTI/lib64:}$BIN/lib:$(pip_cupti)${LD_LIBRARY_PATH:-/usr/lib}
	fi
	export LD_LIBRARY_PATH
	"$BIN/shared/vector_add" >"$T/out" 2>&1 || skip "CUDA programs do not run here: $(tail -1 "$T/out")"
}

# need WHAT...: GPU, PYTHON, TORCH, PROGRAMS; else the part is skipped.
need()
{
	local what
	for what in "$@"; do
		case $what in
		GPU)
			if [ -n "$TRIAL" ]; then
				[ -e "$SIM/libcudart.so.13" ] || skip "a trial needs the simulator (make sim)"
			else
				nvidia-smi -L 2>/dev/null | grep -q GPU || skip "there is no GPU here (nvidia-smi lists none)"
			fi
			;;
		PYTHON) command -v python3 >/dev/null || skip "no python3" ;;
		TORCH) need_torch ;;
		PROGRAMS) need_programs ;;
		esac
	done
}

# plain COMMAND...: without us. Output in $T/plain.out and $T/plain.err; its status.
plain()
{
	LD_PRELOAD=$beside "$@" >"$T/plain.out" 2>"$T/plain.err"
}

# ours COMMAND...: the same with us; what was in $GPROF_DIR is gone. Output in $T/out and $T/err.
ours()
{
	rm -rf "$GPROF_DIR"
	LD_PRELOAD=$BIN/libgprof.so${beside:+:$beside} "$@" >"$T/out" 2>"$T/err"
}

# judge NAME STATUS [FIGURES]: a line of the result.
judge()
{
	if [ "$2" = 0 ]; then
		echo "ok      $1${3:+: $3}"
	else
		echo "failed  $1${3:+: $3}"
		failed=1
	fi
}

# Where the toolkit has its libcupti, for clients of it.
cupti_folder()
{
	dirname "$(find "${CUDA_HOME:-/usr/local/cuda}/" -name 'libcupti.so.1[2-9]' -print -quit 2>/dev/null)"
}

# ran NAME STATUS FILE: the program must have left with 0; if not, what it said on stderr, in FILE.
ran()
{
	judge "$1" "$2" "status $2"
	[ "$2" = 0 ] || grep -v '^gprof\[' "$3" | tail -5
}

# same NAME COMMAND...: plain and ours print the same and leave with the same status, 0.
same()
{
	local name=$1 plain_rc rc
	shift
	plain "$@"
	plain_rc=$?
	ours "$@"
	rc=$?
	[ $plain_rc = 0 ] && [ $rc = 0 ] && cmp -s "$T/plain.out" "$T/out"
	judge "$name: same output and status" $? "plain $plain_rc, ours $rc"
	[ $plain_rc = 0 ] || tail -3 "$T/plain.err"
	[ $rc = 0 ] || tail -3 "$T/err"
}

# check WHAT ARGUMENTS...: a check of check.py about $GPROF_DIR; it prints lines as judge does.
check()
{
	ROWS=$BIN/rows REPORT=$REPORT python3 "$HERE/check.py" "$1" "$GPROF_DIR" "${@:2}" || failed=1
}

# whole NAME: nothing is lost or damaged in the last dump.
whole()
{
	"$REPORT" check "$GPROF_DIR" >"$T/check" 2>&1
	judge "$1: streams are whole" $? "$(tail -1 "$T/check" | cut -c1-160)"
}

finish()
{
	exit $failed
}
