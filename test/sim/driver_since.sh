#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The forms that cuGetProcAddress chooses from, as SINCE("name", version, "symbol"): read from a toolkit's cudaTypedefs.h and cuda.h. A function's newest form has the highest number
# that cuda.h knows (NAME_v4), and each older one the number before it.
#
#     test/sim/driver_since.sh [INCLUDE_FOLDER]
#
# Without a toolkit: the forms from CUDA 3.2 on that our own programs and the simulated runtime ask for.
set -eu
echo '/* Made by test/sim/driver_since.sh. */'
if [ ! -f "${1:-}/cudaTypedefs.h" ]; then
	while read -r name version symbol; do
		echo "SINCE(\"$name\", $version, \"$symbol\")"
	done <<'FORMS'
cuCtxCreate 3020 cuCtxCreate_v2
cuCtxCreate 11040 cuCtxCreate_v3
cuCtxCreate 12050 cuCtxCreate_v4
cuCtxGetDevice 2000 cuCtxGetDevice
cuCtxGetDevice 13000 cuCtxGetDevice_v2
cuCtxSynchronize 2000 cuCtxSynchronize
cuCtxSynchronize 13000 cuCtxSynchronize_v2
cuDeviceGetUuid 9020 cuDeviceGetUuid
cuDeviceGetUuid 11040 cuDeviceGetUuid_v2
cuDeviceTotalMem 3020 cuDeviceTotalMem_v2
cuEventDestroy 4000 cuEventDestroy_v2
cuEventElapsedTime 2000 cuEventElapsedTime
cuEventElapsedTime 12080 cuEventElapsedTime_v2
cuGetProcAddress 11030 cuGetProcAddress
cuGetProcAddress 12000 cuGetProcAddress_v2
cuGraphAddKernelNode 10000 cuGraphAddKernelNode
cuGraphAddKernelNode 12000 cuGraphAddKernelNode_v2
cuGraphAddNode 12020 cuGraphAddNode
cuGraphAddNode 12030 cuGraphAddNode_v2
cuGraphExecUpdate 10020 cuGraphExecUpdate
cuGraphExecUpdate 12000 cuGraphExecUpdate_v2
cuMemAdvise 8000 cuMemAdvise
cuMemAdvise 12020 cuMemAdvise_v2
cuMemAlloc 3020 cuMemAlloc_v2
cuMemFree 3020 cuMemFree_v2
cuMemGetInfo 3020 cuMemGetInfo_v2
cuMemHostRegister 6050 cuMemHostRegister_v2
cuMemPrefetchAsync 8000 cuMemPrefetchAsync
cuMemPrefetchAsync 12020 cuMemPrefetchAsync_v2
cuMemcpy2D 3020 cuMemcpy2D_v2
cuMemcpy2DAsync 3020 cuMemcpy2DAsync_v2
cuMemcpy3D 3020 cuMemcpy3D_v2
cuMemcpy3DAsync 3020 cuMemcpy3DAsync_v2
cuMemcpy3DBatchAsync 12080 cuMemcpy3DBatchAsync
cuMemcpy3DBatchAsync 13000 cuMemcpy3DBatchAsync_v2
cuMemcpyBatchAsync 12080 cuMemcpyBatchAsync
cuMemcpyBatchAsync 13000 cuMemcpyBatchAsync_v2
cuMemcpyDtoD 3020 cuMemcpyDtoD_v2
cuMemcpyDtoDAsync 3020 cuMemcpyDtoDAsync_v2
cuMemcpyDtoH 3020 cuMemcpyDtoH_v2
cuMemcpyDtoHAsync 3020 cuMemcpyDtoHAsync_v2
cuMemcpyHtoD 3020 cuMemcpyHtoD_v2
cuMemcpyHtoDAsync 3020 cuMemcpyHtoDAsync_v2
cuMemsetD2D8 3020 cuMemsetD2D8_v2
cuMemsetD8 3020 cuMemsetD8_v2
cuModuleGetGlobal 3020 cuModuleGetGlobal_v2
cuStreamBeginCapture 10000 cuStreamBeginCapture
cuStreamBeginCapture 10010 cuStreamBeginCapture_v2
cuStreamDestroy 4000 cuStreamDestroy_v2
cuStreamGetCaptureInfo 10010 cuStreamGetCaptureInfo
cuStreamGetCaptureInfo 11030 cuStreamGetCaptureInfo_v2
cuStreamGetCaptureInfo 12030 cuStreamGetCaptureInfo_v3
FORMS
	exit
fi
{
	grep -oE '\<cu[A-Z][A-Za-z0-9]*_v[0-9]+\>' "$1/cuda.h" | sort -u | sed 's/_v/ /; s/^/number /'
	sed -nE 's/^ *typedef .*PFN_(cu[A-Za-z0-9]+)_v([0-9]+)\)\(.*/form \1 \2/p' \
		"$1/cudaTypedefs.h" "$1/cudaProfilerTypedefs.h" | sort -k2,2 -k3,3nr
} | awk '
	function since(name, version, symbol)
	{
		printf "SINCE(\"%s\", %d, \"%s\")\n", name, version, symbol
	}
	$1 == "number" { number[$2] = $3 > number[$2] ? $3 : number[$2]; next }
	$2 != last { form = number[$2] ? number[$2] : 1; last = $2 }
	form > 0 { since($2, $3, $2 (form > 1 ? "_v" form : "")); form-- }
	END { since("cuGraphInstantiate", 12000, "cuGraphInstantiateWithFlags") } # a #define since 12
'
