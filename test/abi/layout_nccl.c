/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of NCCL against nccl.h; it only compiles. */
#include <nccl.h>

/* Those of our own under other names, since the hooks are to be compared with the real types. */
#define nccl_comm      ours_comm
#define nccl_config    ours_config
#define nccl_sim_info  ours_sim_info
#define nccl_type      ours_type
#define nccl_redop     ours_redop
#define nccl_unique_id ours_unique_id
#include "preload/abi/nccl_abi.h"
#undef nccl_comm
#undef nccl_config
#undef nccl_sim_info
#undef nccl_type
#undef nccl_redop
#undef nccl_unique_id

#define VALUE(ours, real) _Static_assert((int)(ours) == (int)(real), #ours)

VALUE(NCCL_SUCCESS, ncclSuccess);
VALUE(NCCL_SYSTEM_ERROR, ncclSystemError);
VALUE(NCCL_IN_PROGRESS, ncclInProgress);
VALUE(NCCL_NR_REDOPS, ncclNumOps);
_Static_assert(sizeof(ours_unique_id) == sizeof(ncclUniqueId), "unique id");
_Static_assert(sizeof(ours_type) == sizeof(ncclDataType_t), "data type");
_Static_assert(sizeof(ours_redop) == sizeof(ncclRedOp_t), "reduction");
_Static_assert(sizeof(int) == sizeof(ncclResult_t), "result");
#ifdef NCCL_SPLIT_NOCOLOR
VALUE(NCCL_SPLIT_NO_COLOR, NCCL_SPLIT_NOCOLOR);
#endif

/* The hooks are those of 2.28; earlier headers lack some. */
#if NCCL_VERSION_CODE >= 22800
typedef struct ncclComm nccl_comm;
typedef ncclConfig_t nccl_config;
typedef ncclSimInfo_t nccl_sim_info;
typedef ncclDataType_t nccl_type;
typedef ncclRedOp_t nccl_redop;
typedef ncclUniqueId nccl_unique_id;
typedef cudaStream_t cudart_stream;

#define HOOK(api, need, ret, name, params, args, facts)
#define HOOK_MANUAL(api, need, ret, name, params, args)
#define NCCL_HOOK(name, params, args, facts) \
	_Static_assert(                      \
		__builtin_types_compatible_p(__typeof__(&name), ncclResult_t(*) params), #name);
#include "preload/hook/hooks.def"
#endif
