#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Stand-ins for the libraries over CUDA (cuBLAS, cuDNN, ...) that a framework wants, for the simulator. What they
# export is what the framework's own libraries import; blas.c launches kernels, everything else returns 0. libkernels.so
# computes what a few of PyTorch's kernels do.
#
#     test/framework/stand_ins/make.sh FOLDER_OF_THE_FRAMEWORKS_LIBRARIES OUT_FOLDER [FOLDER_OF_THE_REAL_ONES]
#
# A framework that looks functions up by name imports nothing: then the names are those that the real libraries export.
set -eu
from=$1 out=$2 real=${3:-}
here=$(dirname "$0")
sim=$here/../../../${B:-build}/sim
mkdir -p "$out"

# LIBRARY SYMBOL for each import from a library that is not here; unversioned imports go by their prefix.
imports()
{
	local library
	for library in "$from"/*.so; do
		[ ! -e "$library" ] || nm -D --undefined-only "$library"
	done | awk '{print $NF}' | sort -u | sed -nE '
		s/^(.*)@+(lib(cublas|cublasLt|cudnn|cufft|cusolver|cusparse|nvrtc)\.so\.[0-9]+)$/\2 \1/p
		s/^cuFile[A-Za-z0-9_]*$/libcufile.so.0 &/p
		s/^cusparseLt[A-Za-z0-9_]*$/libcusparseLt.so.0 &/p
		s/^(nvshmem[A-Za-z0-9_]*)@+NVSHMEM$/libnvshmem_host.so.3 \1/p'
}

exports()
{
	local name
	for name in libcublas.so.13 libcublasLt.so.13 libcudnn.so.9 libcufft.so.12 libcusolver.so.12 libcusparse.so.12; do
		nm -D --defined-only "$real/$name" | sed -nE "s/^.* [TW] (cu[A-Za-z0-9_]+)(@.*)?$/$name \\1/p" | sort -u
	done
}

{
	imports
	[ -z "$real" ] || exports
} | sort -u >"$out/imports"
cut -d' ' -f1 "$out/imports" | sort -u | while read -r name; do
	written=
	case $name in libcublas.so.* | libcublasLt.so.*) written=$here/blas.c ;; esac
	{
		echo 'int stand_in(void);'
		echo 'int stand_in(void) { return 0; }'
		[ "$name" != libcudnn.so.9 ] || cat "$here/cudnn.c"
		sed -n "s/^$name //p" "$out/imports" | while read -r symbol; do
			# What is written by hand has a name before its parameters.
			case $symbol in cudnnGetVersion | cudnnGetProperty | cudnnCreate) continue ;; esac
			if [ -z "$written" ] || ! grep -qE "\b$symbol\(|WRITTEN.*\b$symbol\b" "$written"; then
				echo "int $symbol(void) __attribute__((alias(\"stand_in\")));"
			fi
		done
	} >"$out/$name.c"
	# The node of the versions has the library's name, but for one.
	echo "$(sed 's/^libnvshmem.*/NVSHMEM/' <<<"$name") { global: *; };" >"$out/$name.map"
	# shellcheck disable=SC2086 # none or one file
	gcc -O1 -shared -fPIC -w -I"$here/../../.." -o "$out/$name" "$out/$name.c" $written -Wl,-soname,"$name" \
		-Wl,--version-script="$out/$name.map" "$sim/libcudart.so.13"
done
gcc -O1 -shared -fPIC -I"$here/../../.." -o "$out/libkernels.so" "$here/kernels.c" -ldl
