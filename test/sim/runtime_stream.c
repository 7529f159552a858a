/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's streams, events and waiting. */
#include "test/sim/runtime.h"

cudart_error api_cudaDeviceSynchronize(void)
{
	return runtime_driver.cuCtxSynchronize();
}

cudart_error api_cudaThreadSynchronize(void)
{
	return api_cudaDeviceSynchronize();
}

cudart_error api_cudaStreamSynchronize(cudart_stream stream)
{
	return runtime_driver.cuStreamSynchronize(stream);
}

cudart_error api_cudaStreamQuery(cudart_stream stream)
{
	return runtime_driver.cuStreamQuery(stream);
}

cudart_error api_cudaStreamWaitEvent(cudart_stream stream, cudart_event event, unsigned int flags)
{
	return runtime_driver.cuStreamWaitEvent(stream, event, flags);
}

cudart_error api_cudaStreamCreate(cudart_stream *p_stream)
{
	return runtime_driver.cuStreamCreate(p_stream, 0);
}

cudart_error api_cudaStreamCreateWithFlags(cudart_stream *p_stream, unsigned int flags)
{
	return runtime_driver.cuStreamCreate(p_stream, flags);
}

cudart_error api_cudaStreamCreateWithPriority(
	cudart_stream *p_stream, unsigned int flags, int priority)
{
	return runtime_driver.cuStreamCreateWithPriority(p_stream, flags, priority);
}

cudart_error api_cudaStreamDestroy(cudart_stream stream)
{
	return runtime_driver.cuStreamDestroy_v2(stream);
}

cudart_error api_cudaStreamAddCallback(
	cudart_stream stream, cudart_stream_callback callback, void *user_data, unsigned int flags)
{
	return runtime_driver.cuStreamAddCallback(stream, callback, user_data, flags);
}

cudart_error api_cudaStreamGetPriority(cudart_stream stream, int *priority)
{
	struct sim_stream *s = runtime_model->resolve(stream);

	if (!s || !priority) {
		return s ? SIM_INVALID_VALUE : SIM_INVALID_HANDLE;
	}
	*priority = s->priority;
	return SIM_OK;
}

cudart_error api_cudaStreamGetFlags(cudart_stream stream, unsigned int *flags)
{
	struct sim_stream *s = runtime_model->resolve(stream);

	if (!s || !flags) {
		return s ? SIM_INVALID_VALUE : SIM_INVALID_HANDLE;
	}
	*flags = s->flags;
	return SIM_OK;
}

cudart_error api_cudaStreamGetId(cudart_stream stream, unsigned long long *stream_id)
{
	struct sim_stream *s = runtime_model->resolve(stream);

	if (!s || !stream_id) {
		return s ? SIM_INVALID_VALUE : SIM_INVALID_HANDLE;
	}
	*stream_id = s->id;
	return SIM_OK;
}

cudart_error api_cudaEventCreate(cudart_event *event)
{
	return runtime_driver.cuEventCreate(event, 0);
}

cudart_error api_cudaEventCreateWithFlags(cudart_event *event, unsigned int flags)
{
	return runtime_driver.cuEventCreate(event, flags);
}

cudart_error api_cudaEventRecord(cudart_event event, cudart_stream stream)
{
	return runtime_driver.cuEventRecord(event, stream);
}

cudart_error api_cudaEventRecordWithFlags(
	cudart_event event, cudart_stream stream, unsigned int flags)
{
	return runtime_driver.cuEventRecordWithFlags(event, stream, flags);
}

cudart_error api_cudaEventQuery(cudart_event event)
{
	return runtime_driver.cuEventQuery(event);
}

cudart_error api_cudaEventSynchronize(cudart_event event)
{
	return runtime_driver.cuEventSynchronize(event);
}

cudart_error api_cudaEventDestroy(cudart_event event)
{
	return runtime_driver.cuEventDestroy_v2(event);
}

cudart_error api_cudaEventElapsedTime(float *ms, cudart_event start, cudart_event end)
{
	return runtime_driver.cuEventElapsedTime(ms, start, end);
}

cudart_error api_cudaEventElapsedTime_v2(float *ms, cudart_event start, cudart_event end)
{
	return runtime_driver.cuEventElapsedTime(ms, start, end);
}
