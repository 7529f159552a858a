#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whatever CUPTI refuses with: the hooks work on, and the stream says why.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

for code in 15 999 35 33 39; do
	rm -rf "$GPROF_DIR"
	unset SIM_CUPTI_INIT SIM_CUPTI_TAKEN
	if [ $code = 39 ]; then
		export SIM_CUPTI_TAKEN=1
	else
		export SIM_CUPTI_INIT=$code
	fi
	plain "$B/prog/vector_add"
	record "$B/prog/vector_add"
	is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output with $code"
	summary api,kernel,memcpy,notices
	is 16 "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')" "launches with $code"
	is $code "$(query '.notices.rows[] | select(.cause == "CUPTI refused").code')" "code in the stream"
	is 16 "$(query '[.kernel.rows[].calls] | add')" "launches by kernel with $code"
	is "131072 16384" "$(query '[.memcpy.rows[].total_bytes] | sort | reverse | join(" ")')" "bytes with $code"
done
unset SIM_CUPTI_INIT SIM_CUPTI_TAKEN
rm -rf "$GPROF_DIR"
GPROF_CUPTI_PATH=/nowhere/libcupti.so record "$B/prog/vector_add"
summary notices,api
is "no CUPTI" "$(query '.notices.rows[0].cause')" "library that is not there"
is 16 "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')" "launches without CUPTI"

# gprof finds the libcupti beside the runtime, as pip installs them, however long the path is.
part=$(printf 'x%.0s' {1..240})
long=$T/$part/$part/$part/$part/nvidia
mkdir -p "$long/cuda_runtime/lib" "$long/cuda_cupti/lib"
cp "$SIM"/libcuda.so.1 "$SIM"/libnvidia-ml.so.1 "$SIM"/libcudart.so.* "$long/cuda_runtime/lib"
cp "$SIM/libcupti.so.13" "$long/cuda_cupti/lib"
rm -rf "$GPROF_DIR"
SIM=$long/cuda_runtime/lib record "$B/prog/vector_add"
is 0 $rc "exit status with a long path"
summary notices
is 0 "$(query '.notices.rows | length')" "notices with a long path"
is "$long/cuda_runtime/lib/../../cuda_cupti/lib/libcupti.so.13" \
	"$("$REPORT" info "$GPROF_DIR" 2>/dev/null | awk '$1 == "cupti.path" { print $2 }')" "which library it is"
finish
