#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares our declarations of CUDA and CUPTI with the headers and libraries of an installed toolkit:
#   layouts and values   by static assertions (layout.c, layout_cupti.c)
#   prototypes           by the compiler, one assertion a hooked function, with the real types
#   names                against the libraries' exports; removed.txt lists those of other versions
#   callback ids         against the headers' enumerations
#   metrics              of PM sampling: the library's own answer whether it knows them (pm_passes.c)
# Exit status: 0 all agree, 1 something does not, 77 no toolkit here.
set -u
cd "$(dirname "$0")/../.." || exit 1
CC=${CC:-gcc}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
	echo "FAIL test_abi: $*"
	failed=1
}

# Folders that may hold a toolkit, or the parts of one that pip installs.
candidates() {
	[ -n "${CUDA_HOME:-}" ] && echo "$CUDA_HOME"
	nvcc=$(command -v nvcc) && dirname "$(dirname "$(readlink -f "$nvcc")")"
	echo /usr/local/cuda
	python3 -c 'import site
for p in site.getsitepackages(): print(p)' 2>/dev/null | while read -r p; do
		ls -d "$p"/nvidia/* 2>/dev/null
	done
}

flags=
include=
for c in $(candidates); do
	if [ -f "$c/include/cuda_runtime_api.h" ] && [ -f "$c/include/cuda.h" ]; then
		include=$c/include
		break
	fi
done
if [ -z "$include" ]; then
	echo "SKIP test_abi: no CUDA toolkit"
	exit 77
fi
root=$(dirname "$include")
flags="-std=gnu11 -I. -isystem $include"
[ -d "$root/extras/CUPTI/include" ] && flags="$flags -isystem $root/extras/CUPTI/include"
for c in $(candidates); do
	[ -f "$c/include/cupti.h" ] && flags="$flags -isystem $c/include"
done
version=$(sed -n 's/^#define CUDA_VERSION //p' "$include/cuda.h")
if [ "$version" -lt 13000 ]; then
	echo "SKIP test_abi: CUDA $version; the declarations are those of 13.0"
	exit 77
fi

# Layouts and values.
$CC $flags -Wall -Wextra -Werror -c test/abi/layout.c -o "$work/l.o" || fail "layout of CUDA's types"
if echo '#include <cupti.h>' | $CC $flags -E - >/dev/null 2>&1; then
	$CC $flags -Wall -Wextra -Werror -c test/abi/layout_cupti.c -o "$work/c.o" ||
		fail "layout of CUPTI's types"
	# It asks for <string> of C++, and uses nothing of it.
	: >"$work/string"
	$CC $flags -isystem "$work" -Wall -Wextra -Werror -c test/abi/layout_pm.c -o "$work/p.o" ||
		fail "layout of CUPTI's PM sampling"
	$CC -std=gnu11 -I. -Wall -Wextra -Werror test/abi/pm_passes.c -o "$work/pm_passes" -ldl || fail "pm_passes.c"
	for library in "$root/lib64/libcupti.so" "$root/lib/libcupti.so" "$root/extras/CUPTI/lib64/libcupti.so"; do
		[ -f "$library" ] || continue
		"$work/pm_passes" "$library" || [ $? = 77 ] || fail "metrics of PM sampling, by $library"
		break
	done
else
	echo "note test_abi: no cupti.h, CUPTI not compared"
fi

# A toolkit of parts may lack nvml.h, which PyPI has.
nvml=build/nvml-dev-12.9.79
if ! echo '#include <nvml.h>' | $CC $flags -E - >/dev/null 2>&1; then
	[ -d $nvml ] || { mkdir -p build && python3 -m pip install -q --no-deps --target "$work/nvml" \
		nvidia-nvml-dev-cu12==12.9.79 >/dev/null 2>&1 && mv "$work/nvml" $nvml; }
	flags="$flags -isystem $nvml/nvidia/nvml_dev/include"
fi
if echo '#include <nvml.h>' | $CC $flags -E - >/dev/null 2>&1; then
	$CC $flags -Wall -Wextra -Wcast-function-type -Werror -c test/abi/layout_nvml.c -o "$work/n.o" ||
		fail "NVML's types and functions"
else
	echo "note test_abi: no nvml.h, NVML not compared"
fi

if echo '#include <nccl.h>' | $CC $flags -E - >/dev/null 2>&1; then
	$CC $flags -Wall -Wextra -Werror -c test/abi/layout_nccl.c -o "$work/nccl.o" ||
		fail "NCCL's types and functions"
else
	echo "note test_abi: no nccl.h, NCCL not compared"
fi

if echo '#include <nvtx3/nvToolsExtPayload.h>' | $CC $flags -E - >/dev/null 2>&1; then
	$CC $flags -Wall -Wextra -Werror -c test/abi/layout_nvtx.c -o "$work/nvtx.o" ||
		fail "NVTX's types and values"
else
	echo "note test_abi: no nvtx3/nvToolsExtPayload.h, NVTX not compared"
fi

# One line a hooked function: name|return type|parameters.
{
	echo '#define HOOK(api, need, ret, name, params, args, facts) @name|ret|params|api'
	echo '#define HOOK_MANUAL(api, need, ret, name, params, args)'
	echo '#include "preload/hook/hooks.def"'
} | $CC -E -P -I. -x c - | tr '\n' ' ' | sed 's/@ */\n/g' | sed 's/ *$//' | grep . >"$work/hooks"

# The headers in three forms: as is, with a default stream per thread, and with every version.
rt='#include <cuda_runtime_api.h>'
echo "$rt" >"$work/rt.c"
printf '#define CUDA_API_PER_THREAD_DEFAULT_STREAM\n%s\n' "$rt" >"$work/pt.c"
printf '#define __CUDA_API_VERSION_INTERNAL\n#include <cuda.h>\n' >"$work/drv.c"
for unit in rt pt drv; do
	$CC $flags -E -P "$work/$unit.c" | tr '\n' ' ' | tr -s ' ' |
		grep -o '\(cudaError_t\|CUresult\) \(__\)\?cu[A-Za-z0-9_]* \?([^;{}]*)' >"$work/$unit.decls"
	sed 's/^[A-Za-z_]* \([A-Za-z0-9_]*\).*/\1/' "$work/$unit.decls" | sort -u >"$work/$unit.names"
	{
		cat "$work/$unit.c"
		[ $unit = drv ] && echo "$rt"
		[ $unit = drv ] || echo '#include <cuda.h>'
		echo '#define TYPE(ours, real) typedef real ours;'
		echo '#include "test/abi/types.def"'
		echo '#define SAME(name, ret, params) \'
		echo ' _Static_assert(__builtin_types_compatible_p(__typeof__(&name), ret (*) params), #name);'
	} >"$work/$unit.check.c"
done

nr_compared=0
nr_words=0
while IFS='|' read -r name ret params api; do
	unit=
	for u in rt pt drv; do
		grep -qx "$name" "$work/$u.names" && unit=$u && break
	done
	if [ -z "$unit" ]; then
		grep -qx "$name" test/abi/removed.txt test/abi/undeclared.txt ||
			fail "$name is in no header"
		continue
	fi
	case $params in
	*'unsigned long long w0'*)
		# Forwarded as words: as many as the longest form has, and never fewer than here.
		ours=$(echo "$params" | tr -cd , | wc -c)
		real=$(grep " $name \?(" "$work/$unit.decls" | head -1 | sed 's/[^(]*//' | tr -cd , | wc -c)
		[ "$ours" -ge "$real" ] || fail "$name forwards too few words"
		nr_words=$((nr_words + 1))
		;;
	*)
		echo "SAME($name, $ret, $params)" >>"$work/$unit.check.c"
		nr_compared=$((nr_compared + 1))
		;;
	esac
done <"$work/hooks"
for unit in rt pt drv; do
	$CC $flags -Wno-deprecated-declarations -Werror -c "$work/$unit.check.c" -o "$work/$unit.o" 2>"$work/errors" || {
		grep error "$work/errors" | head -20
		fail "prototypes ($unit)"
	}
done

# Names, against the libraries.
nr_names=0
for pair in RT:libcudart.so DRV:stubs/libcuda.so; do
	api=${pair%%:*}
	library=
	for folder in lib64 lib targets/x86_64-linux/lib targets/sbsa-linux/lib; do
		[ -f "$root/$folder/${pair#*:}" ] && library=$root/$folder/${pair#*:} && break
	done
	[ -n "$library" ] || continue
	nm -D --defined-only "$library" | sed 's/.* //; s/@.*//' | sort -u >"$work/exports"
	for name in $(grep "|$api\$" "$work/hooks" | cut -d'|' -f1); do
		if grep -qx "$name" "$work/exports"; then
			nr_names=$((nr_names + 1))
			grep -qx "$name" test/abi/removed.txt && fail "$name is not removed"
		else
			grep -qx "$name" test/abi/removed.txt || fail "$name is not exported"
		fi
	done
done

# Callback ids.
nr_cbids=0
for header in cupti_runtime_cbid.h cupti_driver_cbid.h; do
	[ -f "$include/$header" ] || continue
	case $header in *runtime*) domain=RT ;; *) domain=DRV ;; esac
	sed -n 's/^ *CUPTI_[A-Z]*_TRACE_CBID_\([A-Za-z0-9_]*\) *= *\([0-9]*\),.*/\1 \2/p' "$include/$header" |
		sed 's/_v[0-9]\{4,5\} / /' >"$work/cbids"
	for list in collector/cupti/cupti_cbid.def test/sim/sim_cbid.def; do
		sed -nE "s/^CBID(_MORE)?\\($domain, ([0-9]*), ([A-Za-z0-9_]*)\\)/\\3 \\2/p" $list >"$work/ours"
		nr_cbids=$((nr_cbids + $(wc -l <"$work/ours")))
		grep -vxFf "$work/cbids" "$work/ours" >"$work/wrong" &&
			fail "$list: $(tr '\n' ' ' <"$work/wrong")"
	done
done

[ $failed = 0 ] || exit 1
echo "PASS test_abi: $nr_compared prototypes, $nr_words forwarded as words, $nr_names names," \
	"$nr_cbids callback ids, CUDA $version"
