/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of types, structures and values against the real headers; it only compiles. */
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "test/sim/cuda_abi.h"

/* Opaque types are void with us; of the rest, size and class (pointer, number, structure) agree. */
#define IS_VOID(ours)	  __builtin_types_compatible_p(ours, void)
#define OURS_OR(ours, or) __typeof__(__builtin_choose_expr(IS_VOID(ours), (or *)0, (ours *)0))
#define CLASS(t)	  (__builtin_classify_type(*(t)0) == 3 ? 1 : __builtin_classify_type(*(t)0))
#define TYPE(ours, real)                                                              \
	_Static_assert(IS_VOID(ours) || sizeof(ours) == sizeof(real), #ours " size"); \
	_Static_assert(CLASS(OURS_OR(ours, real)) == CLASS(real *), #ours " class");
#include "test/abi/types.def"

#define SIZE(ours, real) _Static_assert(sizeof(ours) == sizeof(real), #ours)
#define AT(ours, field, real, real_field)                                                     \
	_Static_assert(offsetof(ours, field) == offsetof(real, real_field) &&                 \
			       sizeof(((ours *)0)->field) == sizeof(((real *)0)->real_field), \
		#ours "." #field)
#define VALUE(ours, real) _Static_assert((int)(ours) == (int)(real), #ours)

VALUE(CUDA_CODE_SUCCESS, cudaSuccess);
VALUE(CUDA_CODE_NOT_FOUND, cudaErrorSymbolNotFound);
VALUE(CUDA_CODE_NOT_FOUND, CUDA_ERROR_NOT_FOUND);
VALUE(CUDA_CODE_NOT_READY, cudaErrorNotReady);
VALUE(CUDA_COPY_H2H, cudaMemcpyHostToHost);
VALUE(CUDA_COPY_H2D, cudaMemcpyHostToDevice);
VALUE(CUDA_COPY_D2H, cudaMemcpyDeviceToHost);
VALUE(CUDA_COPY_D2D, cudaMemcpyDeviceToDevice);
VALUE(CUDA_COPY_DEFAULT, cudaMemcpyDefault);
VALUE(CU_MEMORY_HOST, CU_MEMORYTYPE_HOST);
VALUE(CU_MEMORY_DEVICE, CU_MEMORYTYPE_DEVICE);
VALUE(CU_MEMORY_ARRAY, CU_MEMORYTYPE_ARRAY);
VALUE(CU_MEMORY_UNIFIED, CU_MEMORYTYPE_UNIFIED);
VALUE((intptr_t)CUDA_STREAM_LEGACY, (intptr_t)cudaStreamLegacy);
VALUE((intptr_t)CUDA_STREAM_PER_THREAD, (intptr_t)cudaStreamPerThread);
VALUE((intptr_t)CUDA_STREAM_PER_THREAD, (intptr_t)CU_STREAM_PER_THREAD);

SIZE(cudart_pos, struct cudaPos);
AT(cudart_pitched_ptr, ptr, struct cudaPitchedPtr, ptr);
AT(cudart_pitched_ptr, pitch, struct cudaPitchedPtr, pitch);
AT(cudart_pitched_ptr, xsize, struct cudaPitchedPtr, xsize);
AT(cudart_pitched_ptr, ysize, struct cudaPitchedPtr, ysize);
AT(cudart_extent, width, struct cudaExtent, width);
AT(cudart_extent, height, struct cudaExtent, height);
AT(cudart_extent, depth, struct cudaExtent, depth);
AT(cudart_mem_location, type, struct cudaMemLocation, type);
AT(cudart_mem_location, id, struct cudaMemLocation, id);
AT(cudart_channel_format_desc, x, struct cudaChannelFormatDesc, x);
AT(cudart_channel_format_desc, w, struct cudaChannelFormatDesc, w);
AT(cudart_channel_format_desc, format, struct cudaChannelFormatDesc, f);

AT(cudart_memcpy3d_parms, src_array, struct cudaMemcpy3DParms, srcArray);
AT(cudart_memcpy3d_parms, src_pos, struct cudaMemcpy3DParms, srcPos);
AT(cudart_memcpy3d_parms, src_ptr, struct cudaMemcpy3DParms, srcPtr);
AT(cudart_memcpy3d_parms, dst_array, struct cudaMemcpy3DParms, dstArray);
AT(cudart_memcpy3d_parms, dst_pos, struct cudaMemcpy3DParms, dstPos);
AT(cudart_memcpy3d_parms, dst_ptr, struct cudaMemcpy3DParms, dstPtr);
AT(cudart_memcpy3d_parms, extent, struct cudaMemcpy3DParms, extent);
AT(cudart_memcpy3d_parms, kind, struct cudaMemcpy3DParms, kind);
AT(cudart_memcpy3d_peer_parms, src_array, struct cudaMemcpy3DPeerParms, srcArray);
AT(cudart_memcpy3d_peer_parms, src_ptr, struct cudaMemcpy3DPeerParms, srcPtr);
AT(cudart_memcpy3d_peer_parms, src_device, struct cudaMemcpy3DPeerParms, srcDevice);
AT(cudart_memcpy3d_peer_parms, dst_array, struct cudaMemcpy3DPeerParms, dstArray);
AT(cudart_memcpy3d_peer_parms, dst_ptr, struct cudaMemcpy3DPeerParms, dstPtr);
AT(cudart_memcpy3d_peer_parms, dst_device, struct cudaMemcpy3DPeerParms, dstDevice);
AT(cudart_memcpy3d_peer_parms, extent, struct cudaMemcpy3DPeerParms, extent);

AT(cudart_launch_config, grid, cudaLaunchConfig_t, gridDim);
AT(cudart_launch_config, block, cudaLaunchConfig_t, blockDim);
AT(cudart_launch_config, shared_bytes, cudaLaunchConfig_t, dynamicSmemBytes);
AT(cudart_launch_config, stream, cudaLaunchConfig_t, stream);
AT(cudart_launch_config, attrs, cudaLaunchConfig_t, attrs);
AT(cudart_launch_config, nr_attrs, cudaLaunchConfig_t, numAttrs);

AT(cudart_kernel_node_params, func, struct cudaKernelNodeParams, func);
AT(cudart_kernel_node_params, grid, struct cudaKernelNodeParams, gridDim);
AT(cudart_kernel_node_params, block, struct cudaKernelNodeParams, blockDim);
AT(cudart_kernel_node_params, shared_bytes, struct cudaKernelNodeParams, sharedMemBytes);
AT(cudart_kernel_node_params, args, struct cudaKernelNodeParams, kernelParams);
AT(cudart_kernel_node_params, extra, struct cudaKernelNodeParams, extra);
AT(cudart_memset_params, dst, struct cudaMemsetParams, dst);
AT(cudart_memset_params, pitch_bytes, struct cudaMemsetParams, pitch);
AT(cudart_memset_params, value, struct cudaMemsetParams, value);
AT(cudart_memset_params, element_bytes, struct cudaMemsetParams, elementSize);
AT(cudart_memset_params, width, struct cudaMemsetParams, width);
AT(cudart_memset_params, height, struct cudaMemsetParams, height);
AT(cudart_host_node_params, fn, struct cudaHostNodeParams, fn);
AT(cudart_host_node_params, user_data, struct cudaHostNodeParams, userData);
AT(cudart_mem_alloc_node_params, nr_access_descs, struct cudaMemAllocNodeParams, accessDescCount);
AT(cudart_mem_alloc_node_params, bytes, struct cudaMemAllocNodeParams, bytesize);
AT(cudart_mem_alloc_node_params, dptr, struct cudaMemAllocNodeParams, dptr);
AT(cudart_pointer_attributes, type, struct cudaPointerAttributes, type);
AT(cudart_pointer_attributes, device, struct cudaPointerAttributes, device);
AT(cudart_pointer_attributes, device_ptr, struct cudaPointerAttributes, devicePointer);
AT(cudart_pointer_attributes, host_ptr, struct cudaPointerAttributes, hostPointer);
AT(cudart_func_attributes, shared_bytes, struct cudaFuncAttributes, sharedSizeBytes);
AT(cudart_func_attributes, nr_regs, struct cudaFuncAttributes, numRegs);
AT(cudart_func_attributes, binary_version, struct cudaFuncAttributes, binaryVersion);
AT(cudart_func_attributes, max_dynamic_shared_bytes, struct cudaFuncAttributes,
	maxDynamicSharedSizeBytes);

AT(cu_memcpy2d, src_type, CUDA_MEMCPY2D, srcMemoryType);
AT(cu_memcpy2d, src_host, CUDA_MEMCPY2D, srcHost);
AT(cu_memcpy2d, src_device, CUDA_MEMCPY2D, srcDevice);
AT(cu_memcpy2d, src_array, CUDA_MEMCPY2D, srcArray);
AT(cu_memcpy2d, src_pitch_bytes, CUDA_MEMCPY2D, srcPitch);
AT(cu_memcpy2d, dst_type, CUDA_MEMCPY2D, dstMemoryType);
AT(cu_memcpy2d, dst_host, CUDA_MEMCPY2D, dstHost);
AT(cu_memcpy2d, dst_device, CUDA_MEMCPY2D, dstDevice);
AT(cu_memcpy2d, dst_array, CUDA_MEMCPY2D, dstArray);
AT(cu_memcpy2d, dst_pitch_bytes, CUDA_MEMCPY2D, dstPitch);
AT(cu_memcpy2d, width_bytes, CUDA_MEMCPY2D, WidthInBytes);
AT(cu_memcpy2d, height, CUDA_MEMCPY2D, Height);
AT(cu_memcpy3d, src_type, CUDA_MEMCPY3D, srcMemoryType);
AT(cu_memcpy3d, src_host, CUDA_MEMCPY3D, srcHost);
AT(cu_memcpy3d, src_device, CUDA_MEMCPY3D, srcDevice);
AT(cu_memcpy3d, src_array, CUDA_MEMCPY3D, srcArray);
AT(cu_memcpy3d, src_pitch_bytes, CUDA_MEMCPY3D, srcPitch);
AT(cu_memcpy3d, dst_type, CUDA_MEMCPY3D, dstMemoryType);
AT(cu_memcpy3d, dst_host, CUDA_MEMCPY3D, dstHost);
AT(cu_memcpy3d, dst_device, CUDA_MEMCPY3D, dstDevice);
AT(cu_memcpy3d, dst_array, CUDA_MEMCPY3D, dstArray);
AT(cu_memcpy3d, width_bytes, CUDA_MEMCPY3D, WidthInBytes);
AT(cu_memcpy3d, height, CUDA_MEMCPY3D, Height);
AT(cu_memcpy3d, depth, CUDA_MEMCPY3D, Depth);
AT(cu_memcpy3d_peer, src_context, CUDA_MEMCPY3D_PEER, srcContext);
AT(cu_memcpy3d_peer, dst_context, CUDA_MEMCPY3D_PEER, dstContext);
AT(cu_memcpy3d_peer, dst_type, CUDA_MEMCPY3D_PEER, dstMemoryType);
AT(cu_memcpy3d_peer, depth, CUDA_MEMCPY3D_PEER, Depth);

_Static_assert(offsetof(cu_launch_config, grid) == offsetof(CUlaunchConfig, gridDimX), "grid");
_Static_assert(offsetof(cu_launch_config, block) == offsetof(CUlaunchConfig, blockDimX), "block");
AT(cu_launch_config, shared_bytes, CUlaunchConfig, sharedMemBytes);
AT(cu_launch_config, stream, CUlaunchConfig, hStream);
AT(cu_launch_config, attrs, CUlaunchConfig, attrs);
AT(cu_launch_config, nr_attrs, CUlaunchConfig, numAttrs);
AT(cu_array_descriptor, width, CUDA_ARRAY_DESCRIPTOR, Width);
AT(cu_array_descriptor, format, CUDA_ARRAY_DESCRIPTOR, Format);
AT(cu_array_descriptor, nr_channels, CUDA_ARRAY_DESCRIPTOR, NumChannels);
AT(cu_array3d_descriptor, depth, CUDA_ARRAY3D_DESCRIPTOR, Depth);
AT(cu_array3d_descriptor, format, CUDA_ARRAY3D_DESCRIPTOR, Format);
AT(cu_array3d_descriptor, nr_channels, CUDA_ARRAY3D_DESCRIPTOR, NumChannels);
AT(cu_array3d_descriptor, flags, CUDA_ARRAY3D_DESCRIPTOR, Flags);
VALUE(0x01, CU_AD_FORMAT_UNSIGNED_INT8);
VALUE(0x10, CU_AD_FORMAT_HALF);
VALUE(0x20, CU_AD_FORMAT_FLOAT);

#if CUDART_VERSION >= 12040
SIZE(struct cuda_conditional_node, struct cudaGraphNodeParams);
SIZE(struct cuda_conditional_node, CUgraphNodeParams);
AT(struct cuda_conditional_node, type, CUgraphNodeParams, type);
AT(struct cuda_conditional_node, handle, CUgraphNodeParams, conditional.handle);
AT(struct cuda_conditional_node, condition, CUgraphNodeParams, conditional.type);
AT(struct cuda_conditional_node, nr_bodies, CUgraphNodeParams, conditional.size);
AT(struct cuda_conditional_node, bodies, CUgraphNodeParams, conditional.phGraph_out);
AT(struct cuda_conditional_node, handle, struct cudaGraphNodeParams, conditional.handle);
AT(struct cuda_conditional_node, condition, struct cudaGraphNodeParams, conditional.type);
AT(struct cuda_conditional_node, nr_bodies, struct cudaGraphNodeParams, conditional.size);
AT(struct cuda_conditional_node, bodies, struct cudaGraphNodeParams, conditional.phGraph_out);
VALUE(CUDA_NODE_CONDITIONAL, cudaGraphNodeTypeConditional);
VALUE(CUDA_NODE_CONDITIONAL, CU_GRAPH_NODE_TYPE_CONDITIONAL);
VALUE(CUDA_CONDITION_IF, cudaGraphCondTypeIf);
VALUE(CUDA_CONDITION_WHILE, cudaGraphCondTypeWhile);
VALUE(CUDA_CONDITION_ASSIGN_DEFAULT, cudaGraphCondAssignDefault);
#endif
