/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of NCCL 2.30 without a model: memory may be registered, which changes nothing here; the
 * others refuse, whatever the arguments.
 */
#include "test/sim/nccl_comm.h"

SIM_EXPORT int ncclCommRegister(void *comm, void *buffer, size_t bytes, void **handle);
SIM_EXPORT int ncclCommDeregister(void *comm, void *handle);

SIM_EXPORT int ncclCommRegister(void *comm, void *buffer, size_t bytes, void **handle)
{
	(void)bytes;
	if (!comm || !buffer || !handle) {
		return NCCL_INVALID_ARGUMENT;
	}
	*handle = buffer;
	return NCCL_OK;
}

SIM_EXPORT int ncclCommDeregister(void *comm, void *handle)
{
	return comm && handle ? NCCL_OK : NCCL_INVALID_ARGUMENT;
}

#define REST(name)                         \
	SIM_EXPORT int name(void);         \
	SIM_EXPORT int name(void)          \
	{                                  \
		return NCCL_INVALID_USAGE; \
	}
REST(ncclCommGetUniqueId)
REST(ncclCommGrow)
REST(ncclCommInitRankScalable)
REST(ncclCommMemStats)
REST(ncclCommResume)
REST(ncclCommRevoke)
REST(ncclCommShrink)
REST(ncclCommSuspend)
REST(ncclCommWindowDeregister)
REST(ncclCommWindowRegister)
REST(ncclDevCommCreate)
REST(ncclDevCommDestroy)
REST(ncclGetLsaMultimemDevicePointer)
REST(ncclGetPeerDevicePointer)
REST(ncclPutSignal)
REST(ncclRedOpCreatePreMulSum)
REST(ncclRedOpDestroy)
REST(ncclSignal)
REST(ncclWaitSignal)
REST(ncclWinGetUserPtr)
