/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's streams, events and waiting. */
#include "test/sim/runtime.h"

cudart_error api_cudaDeviceSynchronize(void)
{
	return RUNTIME_NESTED(cuCtxSynchronize, runtime_model->device_sync());
}

cudart_error api_cudaThreadSynchronize(void)
{
	return api_cudaDeviceSynchronize();
}

cudart_error api_cudaStreamSynchronize(cudart_stream stream)
{
	return RUNTIME_NESTED(cuStreamSynchronize, runtime_model->stream_sync(stream));
}

cudart_error api_cudaStreamQuery(cudart_stream stream)
{
	return runtime_model->stream_query(stream);
}

cudart_error api_cudaStreamWaitEvent(cudart_stream stream, cudart_event event, unsigned int flags)
{
	(void)flags;
	return RUNTIME_NESTED(cuStreamWaitEvent, runtime_model->stream_wait(stream, event));
}

cudart_error api_cudaStreamCreate(cudart_stream *p_stream)
{
	return runtime_model->stream_create(p_stream, 0, 0);
}

cudart_error api_cudaStreamCreateWithFlags(cudart_stream *p_stream, unsigned int flags)
{
	return runtime_model->stream_create(p_stream, flags, 0);
}

cudart_error api_cudaStreamCreateWithPriority(
	cudart_stream *p_stream, unsigned int flags, int priority)
{
	return runtime_model->stream_create(p_stream, flags, priority);
}

cudart_error api_cudaStreamDestroy(cudart_stream stream)
{
	return runtime_model->stream_destroy(stream);
}

cudart_error api_cudaStreamAddCallback(
	cudart_stream stream, cudart_stream_callback callback, void *user_data, unsigned int flags)
{
	return flags ? SIM_INVALID_VALUE
		     : runtime_model->stream_callback(stream, callback, user_data);
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
	return runtime_model->event_create(event, 0);
}

cudart_error api_cudaEventCreateWithFlags(cudart_event *event, unsigned int flags)
{
	return runtime_model->event_create(event, flags);
}

cudart_error api_cudaEventRecord(cudart_event event, cudart_stream stream)
{
	return runtime_model->event_record(event, stream);
}

cudart_error api_cudaEventRecordWithFlags(
	cudart_event event, cudart_stream stream, unsigned int flags)
{
	(void)flags;
	return runtime_model->event_record(event, stream);
}

cudart_error api_cudaEventQuery(cudart_event event)
{
	return runtime_model->event_query(event);
}

cudart_error api_cudaEventSynchronize(cudart_event event)
{
	return RUNTIME_NESTED(cuEventSynchronize, runtime_model->event_sync(event));
}

cudart_error api_cudaEventDestroy(cudart_event event)
{
	return runtime_model->event_destroy(event);
}

cudart_error api_cudaEventElapsedTime(float *ms, cudart_event start, cudart_event end)
{
	return runtime_model->event_elapsed(ms, start, end);
}

cudart_error api_cudaEventElapsedTime_v2(float *ms, cudart_event start, cudart_event end)
{
	return runtime_model->event_elapsed(ms, start, end);
}
